"""The recorder goes on where it stopped, keeps no path, and tells a server what it says it told it. Its server is none here."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure import record_served
from specdec_lab.serving import coin_flip
from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.metrics import Counters
from specdec_lab.serving.recordings import Recording, Served, ServedRun, load_recording
from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup


class Servers:
    """What was started and asked: (set-up, [(concurrency, prompts, what the coin knew)])."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.started: list[tuple[Setup, list]] = []
        monkeypatch.setattr(record_served.server, "start", self.start)
        monkeypatch.setattr(record_served.load, "run", self.run)
        monkeypatch.setattr(record_served, "embedded_model", lambda: folder / "target")
        monkeypatch.setattr(record_served, "exported_draft", lambda: folder / "draft")
        monkeypatch.setattr(record_served, "exported_random_draft", lambda: folder / "random")
        monkeypatch.setattr(record_served, "encode", lambda text: list(text.encode()))
        monkeypatch.setattr(record_served, "new", lambda command: Recording("m", "d", "c", {}, command, (), ()))

    @contextmanager
    def start(self, setup: Setup):
        self.started.append((setup, []))
        yield replace(setup, port=8123)

    def run(self, running: Setup, prompts: list[str], concurrency: int, max_tokens: int, name: str) -> ServedRun:
        coin = json.loads(Path(os.environ[coin_flip.FILE]).read_text()) if "CoinFlip" in str(running.drafter) else None
        self.started[-1][1].append((concurrency, len(prompts), coin))
        answers = tuple(Served("", prompt, (1, 2), "x", 0.1, 0.2, "stop") for prompt in prompts)
        counts = None if isinstance(running.drafter, NoDrafter) else Counters(1, 2, 1, (1,))
        return ServedRun(name, running, concurrency, 1.0, answers, counts, counts)


@pytest.fixture
def servers(monkeypatch, tmp_path) -> Servers:
    monkeypatch.setenv(coin_flip.FILE, "")
    monkeypatch.setenv("PYTHONPATH", "")
    return Servers(monkeypatch, tmp_path)


def test_what_is_there_is_not_made_again(servers, tmp_path):
    file = tmp_path / "one.json"
    record_served.main(file, ["plain", "n-gram"])
    assert [type(setup.drafter) for setup, _ in servers.started] == [NoDrafter, Ngram]
    users = list(record_served.USERS)
    assert [asked[0] for asked in servers.started[0][1]] == [1, *users], "a first answer, then one sweep"
    made = load_recording(file)
    assert [run.concurrency for run in made.sweep("plain")] == users
    made = replace(made, runs=made.runs[:-1])  # stopped before the last
    made.save(file)
    record_served.main(file, ["plain", "n-gram"])
    assert len(servers.started) == 3 and [asked[0] for asked in servers.started[2][1]] == [1, users[-1]]
    record_served.main(file, ["plain", "n-gram"])
    assert len(servers.started) == 3


def test_no_path_and_no_port_is_kept(servers, tmp_path):
    file = tmp_path / "one.json"
    record_served.main(file, ["draft-model", "random-draft", "float32", "tensor-parallel"])
    assert str(tmp_path) not in file.read_text() and "8123" not in file.read_text()
    made = load_recording(file)
    assert made.run("draft model").setup.drafter == DraftModel("the course's draft")
    assert made.run("random draft").setup.drafter == DraftModel("a draft of random weights")
    assert made.run("draft model", dtype="float32").setup.target == "SmolLM2-135M-Instruct"
    assert made.run("tensor parallel", dtype="float32").setup.parallel.tensor == 3
    assert {answer.workload for answer in made.run("draft model").answers} == {"code-edit", "json", "story"}


def test_the_coins_are_told_before_they_are_asked(servers, tmp_path):
    file = tmp_path / "one.json"
    record_served.main(file, ["float32"])
    servers.started[:-1] = []
    record_served.main(file, ["coin-flip"])
    flips = load_recording(file).coin_flips()
    assert {(run.setup.k, run.p) for run in flips if not run.draft_seconds} == {(k, p) for k, ps in record_served.COINS.items() for p in ps}
    assert [(run.setup.k, run.p) for run in flips if run.draft_seconds] == [(record_served.K, p) for p in record_served.COSTLY]
    known = [coin for _, asked in servers.started[1:] for *_, coin in asked[1:]]  # the first of each server is not timed
    assert {setup.dtype for setup, _ in servers.started} == {"float32"}
    made = [run for run in load_recording(file).runs if run.p is not None]
    assert [(coin["p"], coin["seconds"]) for coin in known] == [(run.p, run.draft_seconds) for run in made]
    assert all(run.draft_seconds in (0, pytest.approx(0.15 * 0.1)) for run in flips)
    assert known[0]["texts"][0][-2:] == [1, 2], "the plain answer is what is known"
    count = len(servers.started)
    record_served.main(file, ["coin-flip"])
    assert len(servers.started) == count


def test_any_few_prompts_are_of_all_workloads():
    every = record_served.prompts()
    assert len(every) == 16 and len(set(every)) == 16
    assert [name for name, _ in record_served.prompts(6)] == ["code-edit", "json", "story"] * 2


def test_the_reason_of_a_refusal_is_its_last_line(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'usage: many words' >&2; echo 'api_server.py: error: unrecognized arguments: --x' >&2; exit 2\n")
    python.chmod(0o755)
    form = record_served.LEGACY["server, n-gram"]
    assert record_served.refusal(form, python) == "api_server.py: error: unrecognized arguments: --x"
    python.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(UserError, match="did not refuse"):
        record_served.refusal(form, python)


def test_an_unknown_stage(tmp_path):
    with pytest.raises(UserError, match="no stage 'ngram'; the stages are plain, n-gram"):
        record_served.main(tmp_path / "one.json", ["ngram"])


def test_the_versions_are_those_of_vllms_own_python(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 3.11.7 2.13.0 5.19.0\n")
    python.chmod(0o755)
    assert record_served.versions(Vllm(python, "0.32.0", "cpu")) == {
        "vllm": "0.32.0",
        "build": "cpu",
        "python": "3.11.7",
        "torch": "2.13.0",
        "transformers": "5.19.0",
    }
