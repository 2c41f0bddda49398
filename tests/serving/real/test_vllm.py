"""A real vLLM on the embedded model: started, asked, measured, compared token by token with our engine, and ended.

`make test-serving` runs it. The servers are few, as each takes half a minute to start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.served import ServedComparison, compare_served
from specdec_lab.measure.workloads import workload
from specdec_lab.models.export import exported_draft
from specdec_lab.serving import client, environment, load, presets, server, state
from specdec_lab.serving.processes import port_is_free
from specdec_lab.serving.recordings import ServedRun
from specdec_lab.serving.server import Server
from specdec_lab.serving.setup import Setup

pytestmark = pytest.mark.vllm
K, TOKENS = 5, 48


@pytest.fixture(scope="module")
def vllm() -> environment.Vllm:
    found = environment.find()
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("vLLM is not installed: run `make vllm`")
    return found


def served(setup: Setup, vllm: environment.Vllm) -> Iterator[Server]:
    """A server for a module's tests; afterwards nothing of it is left."""
    with server.start(replace(setup, dtype="float32"), vllm) as running:
        group = running.processes()
        assert len(group) >= 3, "supervisor, server, engine"
        yield running
    assert not running.processes() and port_is_free(running.port)
    assert not [p for p in group if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def ngram(embedded, vllm) -> Iterator[Server]:
    yield from served(presets.embedded_ngram(str(embedded), K), vllm)


@pytest.fixture(scope="module")
def ngram_run(ngram) -> ServedRun:
    return load.run(ngram, [p.text for p in workload("code-edit").prompts[:3]], max_tokens=TOKENS)


@pytest.fixture(scope="module")
def compared(ngram_run, cpu_pair_fp32) -> ServedComparison:
    return compare_served(ngram_run, cpu_pair_fp32)


def assert_plausible(run: ServedRun) -> None:
    acceptance = run.acceptance
    assert 0 < acceptance.accepted < acceptance.drafted <= K * acceptance.rounds
    assert len(acceptance.marginal) == K and list(acceptance.marginal) == sorted(acceptance.marginal, reverse=True)
    assert 1 < acceptance.mean_acceptance_length <= K + 1
    emitted = acceptance.accepted + acceptance.rounds
    assert emitted <= run.tokens + K * len(run.answers), "a round emits what it accepted and one token more"


def assert_same_tokens(run: ServedRun, found: ServedComparison) -> None:
    """In fp32 the two engines round alike but for the order of their sums, so that only a near-tie may part them."""
    assert len(found.generations) == len(run.answers)
    assert all(parting.near_tie for parting in found.partings), [str(parting) for parting in found.partings]
    assert len(found.partings) < len(run.answers), "all texts part"


def test_ngram_is_measured(ngram_run):
    assert all(len(answer.tokens) <= TOKENS and answer.text.strip() for answer in ngram_run.answers)
    assert ngram_run.tokens_per_second > 1 and ngram_run.median_time_per_token < ngram_run.median_time_to_first_token
    assert_plausible(ngram_run)


def test_ngram_writes_the_tokens_of_our_engine(ngram_run, compared):
    assert_same_tokens(ngram_run, compared)


def test_ngram_accepts_about_what_ours_does(compared):
    """Which of two equally long matches is taken differs, so a copy may be found elsewhere."""
    for row in compared.rows:
        assert row.server == pytest.approx(row.ours, abs=1.0 if "length" in row.name else 0.25), row


def test_the_prompt_is_the_one_our_engine_reads(ngram, cpu_pair_fp32):
    said = "Count from one to ten."
    answer = client.ask(ngram.url, ngram.model, [{"role": "user", "content": said}], max_tokens=4)
    assert list(answer.prompt) == cpu_pair_fp32.encode(said).tolist()
    assert client.ask(ngram.url, ngram.model, answer.prompt, max_tokens=4).tokens == answer.tokens


def test_the_end_token_ends_an_answer_unless_it_is_to_be_ignored(ngram, cpu_pair_fp32):
    messages = [{"role": "user", "content": "Repeat: a b c"}]
    answer = client.ask(ngram.url, ngram.model, messages, max_tokens=60)
    assert answer.finish_reason == "stop" and answer.tokens[-1] in cpu_pair_fp32.eos
    longer = client.ask(ngram.url, ngram.model, messages, max_tokens=60, ignore_eos=True)
    assert longer.finish_reason == "length" and len(longer.tokens) == 60 and longer.tokens[: len(answer.tokens)] == answer.tokens


def test_several_at_a_time(ngram):
    (run,) = load.sweep(ngram, [p.text for p in workload("chat").prompts[:4]], (4,), max_tokens=16)
    assert run.concurrency == 4 and len(run.answers) == 4 and run.acceptance.rounds > 0
    assert sum(answer.seconds for answer in run.answers) > 1.5 * run.seconds, "they were not under way together"


def test_what_vllm_refuses_is_said_in_its_words(ngram):
    with pytest.raises(UserError, match=r"\(400\).*max_tokens"):
        client.ask(ngram.url, ngram.model, "one", max_tokens=100_000)
    with pytest.raises(UserError, match=r"\(404\).*does not exist"):
        client.ask(ngram.url, "another", "one", max_tokens=2)


def test_a_draft_model_is_measured_and_its_engine_killed(embedded, vllm, cpu_pair_fp32):
    """Both in one test, as the second ends the server."""
    setup = replace(presets.embedded_draft(str(embedded), str(exported_draft()), K), dtype="float32")
    with server.start(setup, vllm) as running:
        run = load.run(running, [p.text for p in workload("code-completion").prompts[:3]], max_tokens=TOKENS)
        assert_plausible(run)
        assert run.acceptance.drafted == K * run.acceptance.rounds, "a draft model always has something to say"
        engine = next(p for p in running.processes() if "EngineCore" in p.name() + " ".join(p.cmdline()))

        def kill(done: int) -> None:
            engine.kill()

        with pytest.raises(UserError, match="stopped in the middle of its work") as error:
            load.run(running, ["Write a story."] * 6, max_tokens=100, on_answer=kill)
        assert str(running.log) in str(error.value) and "\n" not in str(error.value)
    assert not running.processes() and port_is_free(running.port)
    found = compare_served(run, cpu_pair_fp32)
    assert_same_tokens(run, found)
    for row in found.rows:
        assert row.server == pytest.approx(row.ours, abs=0.4 if "length" in row.name else 0.08), row


def test_a_start_that_fails_says_why(embedded, vllm):
    setup = Setup(str(embedded), presets.embedded_ngram(str(embedded)).drafter, max_model_len=1_000_000)
    with pytest.raises(UserError, match=r"stopped before it was ready: User-specified max_model_len \(1000000\)"):
        server.start(setup, vllm)


@pytest.fixture
def own_notes(tmp_path, monkeypatch, embedded):
    """Notes and logs apart from the user's, who may have a server running."""
    monkeypatch.setattr(state, "file", lambda: tmp_path / "server.json")


def test_the_command_line_measures_both_servers_and_our_engine(embedded, vllm, tmp_path, own_notes, monkeypatch, capsys):
    from specdec_lab import cli

    file = tmp_path / "figures.json"
    words = ["--drafter", "draft-model", "--workload", "json", "--prompts", "2", "--max-new-tokens", "32", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["specdec-lab", "serve", "bench", *words])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out = capsys.readouterr()
    assert not stopped.value.code, out.err
    assert "speedup" in out.out and "acceptance rate" in out.out and "our engine" in out.out
    figures = json.loads(file.read_text())
    assert [run["name"] for run in figures["runs"]] == ["draft model", "plain"]
    assert all(run["tokens_per_second"] > 1 for run in figures["runs"])
    assert figures["comparison"]["identical"] is (not figures["comparison"]["partings"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_or_killed_in_its_start_nothing_is_left(embedded, vllm, number):
    process = subprocess.Popen(
        [sys.executable, "-m", "specdec_lab.cli", "serve", "start", "--port", str(server.free_port())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    shell = psutil.Process(process.pid)
    deadline = time.monotonic() + 60
    while len(shell.children(recursive=True)) < 3:  # supervisor, server, and the first that the server starts
        assert time.monotonic() < deadline and process.poll() is None, process.communicate()
        time.sleep(0.2)
    children = shell.children(recursive=True)
    process.send_signal(number)
    err = process.communicate(timeout=30)[1]
    _, left = psutil.wait_procs(children, timeout=20)
    assert not [p for p in left if p.status() != psutil.STATUS_ZOMBIE], left
    if number == signal.SIGINT:
        assert process.returncode == 130 and err.strip().endswith("what it started has ended.")
