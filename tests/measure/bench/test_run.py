"""A bench on toys, stopped in every way: what is done stays, what is missing is measured, and nothing is measured twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specdec_lab.drafters.ladder import FOR_EVERY_PAIR
from specdec_lab.errors import UserError
from specdec_lab.measure.bench import Store, bench, run, summarise
from tests.measure.bench.toys import BOUNDS, plan, toy_pair

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "tests.measure.bench.toys"]
SMALL = ["bench", "--workloads", "json,chat", "--drafters", "model,ngram", "--prompts", "2", "--max-new-tokens", "6", "--batch", "1,2"]
TASKS = 2 * 2 * 2 + 2 * 2  # workloads, drafters, prompts; batches, drafters


@pytest.fixture(autouse=True)
def bounds(monkeypatch):
    monkeypatch.setattr(run, "measure_bandwidth", lambda device: BOUNDS[0])
    monkeypatch.setattr(run, "measure_flop_rate", lambda dtype, device: BOUNDS[1])


def store(folder, made):
    return Store(folder, made.as_dict(), {})


def keys(folder: Path) -> list[str]:
    lines = (folder / "measurements.jsonl").read_bytes().split(b"\n")
    return [json.loads(line)["key"] for line in lines[1:] if line]


def measured(folder: Path) -> list[str]:
    return [key for key in keys(folder) if not key.startswith("pair/")]


def test_every_task_is_measured_and_written_down_at_once(tmp_path):
    made = plan()
    with store(tmp_path, made) as held:
        for i, done in enumerate(bench(made, held, toy_pair), 1):
            assert measured(tmp_path) == [task.key for task in made.tasks[:i]]
            assert done.task == made.tasks[i - 1] and done.seconds > 0
    assert measured(tmp_path) == [task.key for task in made.tasks]


def test_it_goes_on_where_it_stopped_and_loads_only_what_it_needs(tmp_path):
    made, loaded = plan(dtypes=("fp32", "bf16"), batches=()), list[str]()

    def load(dtype):
        loaded.append(dtype)
        return toy_pair(dtype)

    with store(tmp_path, made) as held:
        going = bench(made, held, load)
        for _ in range(len(made.tasks) // 2 + 1):
            next(going)
        going.close()
    assert loaded == ["fp32", "bf16"]
    with store(tmp_path, made) as held:
        rest = [done.task for done in bench(made, held, load)]
    assert rest == made.tasks[len(made.tasks) // 2 + 1 :]
    assert loaded == ["fp32", "bf16", "bf16"]
    assert measured(tmp_path) == [task.key for task in made.tasks]
    with store(tmp_path, made) as held:
        assert list(bench(made, held, load)) == [] and len(loaded) == 3


def test_greedy_texts_are_those_of_plain_decoding_and_draws_are_not_compared(tmp_path):
    made = plan(repeats=2)
    with store(tmp_path, made) as held:
        list(bench(made, held, toy_pair))
        results = summarise(made, held.records)
    assert results.complete and len(results.cells) == 2 * 2 * 2
    for cell in results.cells:
        assert {run.identical for run in cell.runs} == ({True} if cell.workload == "letters" else {True, None})
        assert cell.spread("speedup").median > 0 and len(cell.runs) == 4
    letters = next(c for c in results.cells if c.workload == "letters")
    assert letters.metrics.tokens == 2 * 6, "the second repeat of a greedy text says nothing new about acceptance"
    assert all(batch.runs[0].identical for batch in results.batches)
    assert results.ridge("auto") == pytest.approx(16)
    assert {(b.batch, b.k): b.past_ridge for b in results.batches} == dict.fromkeys([(1, 2), (1, 3), (2, 2), (2, 3)], False)


def test_batches_of_every_drafter_without_trained_parts(tmp_path):
    made = plan(drafters=tuple(FOR_EVERY_PAIR), batches=(1, 5), prompts=1, k=(3,))
    with store(tmp_path, made) as held:
        list(bench(made, held, toy_pair))
        batches = summarise(made, held.records).batches
    assert len(batches) == 8 and all(batch.runs[0].identical for batch in batches)
    asked = {batch.drafter for batch in batches if batch.spread("drafting").median > 0}
    assert asked == {"model", "cascade"}, "the others ask no draft model"


def test_sampled_repeats_are_other_draws(tmp_path):
    made = plan(repeats=2, temperatures=(2.0,), drafters=("model",), batches=(), prompts=3)
    with store(tmp_path, made) as held:
        list(bench(made, held, toy_pair))
        cells = summarise(made, held.records).cells
    assert all(cell.metrics.tokens == 6 * 6 and cell.same == "sampled" for cell in cells)
    assert any(cell.runs[0].metrics != cell.runs[len(cell.runs) // 2].metrics for cell in cells)


def test_another_pair_than_before_is_refused(tmp_path):
    made = plan()
    with store(tmp_path, made) as held:
        next(bench(made, held, toy_pair))
        held.records["pair/auto"]["pair"] = "another"
        with pytest.raises(UserError, match=r"measured with another, but now qwen2.5-3b was loaded; name one with --pair"):
            next(bench(made, held, toy_pair))


def test_a_drafter_that_the_pair_does_not_have_is_said_before_anything_is_measured(tmp_path):
    made = plan(drafters=("model", "medusa"))
    with store(tmp_path, made) as held, pytest.raises(UserError, match="no drafter 'medusa' for qwen"):
        next(bench(made, held, toy_pair))
    assert keys(tmp_path) == []


# --- the command itself, in a process of its own ---


def start(folder: Path, seconds: float = 0.01, *more: str) -> subprocess.Popen:
    command = [*COMMAND, str(seconds), *SMALL, "--out", str(folder), *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def wait_for(folder: Path, lines: int, process: subprocess.Popen) -> None:
    """Until so many measurements are in the file."""
    file = folder / "measurements.jsonl"
    for _ in range(18_000):
        if file.exists() and file.read_bytes().count(b"\n") >= lines + 2:  # the first line, and that of the pair
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("nothing is measured")


def test_killed_in_the_middle_it_loses_nothing_and_measures_nothing_twice(tmp_path):
    folder, before = tmp_path / "bench", list[bytes]()
    for upto in (2, 7):
        process = start(folder)
        wait_for(folder, upto, process)
        process.kill()
        process.communicate()
        file = folder / "measurements.jsonl"
        lines = file.read_bytes().splitlines(keepends=True)
        assert lines[: len(before)] == before
        before = lines
        file.write_bytes(b"".join(lines) + b'{"key": "text/auto/js')  # and as if it had been writing
    process = start(folder)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    found = measured(folder)
    assert len(found) == len(set(found)) == TASKS
    assert (folder / "measurements.jsonl").read_bytes().splitlines(keepends=True)[: len(before)] == before
    assert "are there already" in err and "Traceback" not in err
    kept = {file.name for file in folder.iterdir()} - {".lock"}  # which filelock removes, depending on its version
    assert kept == {"measurements.jsonl", "results.json", "cells.csv", "batches.csv", "report.html"}
    assert "report.html" in out and json.loads((folder / "results.json").read_text())["complete"] is True


def test_ctrl_c_is_one_sentence_and_the_same_command_goes_on(tmp_path):
    folder = tmp_path / "bench"
    process = start(folder)
    wait_for(folder, 3, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)
    done = len(measured(folder))
    assert process.returncode == 130 and 3 <= done < TASKS
    assert f"Stopped, {done} of {TASKS} done; run the same command to go on." in err
    assert "Traceback" not in err and not out
    so_far = json.loads((folder / "results.json").read_text())
    assert so_far["complete"] is False and f"{done} of {TASKS} measurements" in (folder / "report.html").read_text()
    process = start(folder, 0.0)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and len(set(measured(folder))) == len(measured(folder)) == TASKS
    process = start(folder, 0.0, "--repeats", "2")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 2 and "repeats: 1 then, 2 now" in err and "--out" in err and not out
