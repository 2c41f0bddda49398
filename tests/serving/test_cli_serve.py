"""`specdec-lab serve` on a vLLM that is none. The fixture `fake` sees to it that nothing is left of any server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from specdec_lab import cli
from specdec_lab.cli import serve as cli_serve
from specdec_lab.models import embedded as embedded_module
from specdec_lab.serving import state
from specdec_lab.serving.processes import free_port, port_is_free
from tests.cli.test_generate import Done

BENCH = ["bench", "--no-ours", "--prompts", "2", "--max-new-tokens", "12"]


@pytest.fixture
def model(monkeypatch, cache):
    """The embedded model, which the fake does not look at."""
    (cache / "model").mkdir()
    monkeypatch.setattr(embedded_module, "embedded_model", lambda: cache / "model")
    return cache / "model"


@pytest.fixture
def run(fake, model, monkeypatch, capsys):
    """Call the command line in this process; the port is a free one."""
    monkeypatch.setattr(cli_serve, "console", Console(width=200))

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["specdec-lab", "serve", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        assert "Traceback" not in out.err
        return Done(stopped.value.code or 0, out.out, out.err)

    yield call
    if (left := state.noted()) is not None:
        left.stop()


@pytest.fixture
def port() -> str:
    return str(free_port())


def test_start_status_stop(run, fake, port, model):
    started = run("start", "--port", port, "--k", "3")
    assert started.returncode == 0, started.stderr
    assert f"http://127.0.0.1:{port}" in started.stdout and str(model) in started.stdout and "serve stop" in started.stdout
    assert fake.running
    arguments = fake.started[0]["arguments"]
    config = json.loads(arguments[arguments.index("--speculative-config") + 1])
    assert (config["method"], config["num_speculative_tokens"]) == ("ngram", 3)
    assert arguments[arguments.index("--dtype") + 1] == "bfloat16"

    seen = run("status")
    assert seen.returncode == 0 and "model with n-gram, k=3, in bfloat16 answers at" in seen.stdout
    assert "so far   3 rounds drafted 15 tokens" in seen.stdout and "--speculative-config" in seen.stdout

    again = run("start", "--port", port)
    assert again.returncode == 2 and "runs already" in again.stderr and "serve stop" in again.stderr

    ended = run("stop")
    assert ended.returncode == 0 and "has ended" in ended.stdout
    assert not fake.running and port_is_free(int(port)) and not state.file().exists()


def test_nothing_runs(run):
    seen = run("status")
    assert seen.returncode == 1 and "serve start" in seen.stdout
    assert run("stop").returncode == 0


@pytest.mark.parametrize("drafter, method", [("none", None), ("draft-model", "draft_model")])
def test_other_drafters(run, fake, port, drafter, method, monkeypatch, tmp_path):
    from specdec_lab.models import export

    monkeypatch.setattr(export, "exported_draft", lambda: tmp_path / "draft")
    assert run("start", "--port", port, "--drafter", drafter, "--dtype", "fp32").returncode == 0
    arguments = fake.started[0]["arguments"]
    if method is None:
        assert "--speculative-config" not in arguments
        assert "so far" not in run("status").stdout
    else:
        config = json.loads(arguments[arguments.index("--speculative-config") + 1])
        assert (config["method"], config["model"]) == (method, str(tmp_path / "draft"))
    run("stop")


def test_a_note_of_a_server_that_has_gone(run, fake, port):
    run("start", "--port", port)
    os.kill(fake.ids("server")[0], signal.SIGKILL)
    fake.wait_gone()
    seen = run("status")
    assert seen.returncode == 1 and "no longer runs: it was killed by signal 9" in seen.stdout and "its log is" in seen.stdout
    assert "had ended before" in run("stop").stdout
    assert "No server runs" in run("status").stdout


def test_a_note_of_before_the_machine_was_restarted_does_not_hinder_a_start(run, fake, port):
    run("start", "--port", port)
    run_once = state.noted()
    os.kill(fake.ids("server")[0], signal.SIGKILL)
    fake.wait_gone()
    fields = json.loads(state.file().read_text()) | {"pid": os.getpid(), "started": run_once.started - 1e5}
    state.file().write_text(json.dumps(fields))  # the number is that of another process now: this one
    assert run("status").returncode == 1
    assert run("start", "--port", port).returncode == 0
    run("stop")


def test_when_the_supervisor_was_killed_stop_ends_the_rest(run, fake, port):
    run("start", "--port", port)
    os.kill(state.noted().pid, signal.SIGKILL)
    time.sleep(0.3)
    assert fake.running
    assert "some of its processes are left" in run("status").stdout
    run("stop")
    assert not fake.running


def test_a_damaged_note_is_one_sentence(run, cache):
    state.file().parent.mkdir(exist_ok=True)
    state.file().write_text('{"port": 1')
    done = run("status")
    assert done.returncode == 2 and "delete the file" in done.stderr
    state.file().unlink()


def test_bench_starts_measures_and_ends(run, fake, tmp_path):
    file = tmp_path / "figures.json"
    done = run(*BENCH, "--concurrency", "1,2", "--workload", "chat", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert not fake.running and len(fake.started) == 2
    for word in ("n-gram", "plain", "speedup", "acceptance rate 0.400, mean acceptance length 3.000"):
        assert word in done.stdout
    said = json.loads(file.read_text())
    assert [(each["name"], each["concurrency"]) for each in said["runs"]] == [("n-gram", 1), ("n-gram", 2), ("plain", 1), ("plain", 2)]
    first = said["runs"][0]
    assert first["acceptance_rate"] == 0.4 and len(first["answers"]) == 2 and len(first["answers"][0]["tokens"]) == 12
    assert first["answers"][0]["workload"] == "chat" and first["before"]["drafts"] == 3 and first["after"]["drafts"] == 11
    assert said["runs"][2]["acceptance_rate"] is None


def test_bench_takes_the_server_that_runs_and_leaves_it(run, fake, port):
    run("start", "--port", port, "--k", "2")
    done = run(*BENCH, "--no-plain")
    assert done.returncode == 0, done.stderr
    assert len(fake.started) == 1 and fake.running
    refused = run(*BENCH, "--drafter", "none")
    assert refused.returncode == 2 and "leave out --drafter" in refused.stderr
    run("stop")


def test_bench_without_a_drafter(run, fake):
    done = run(*BENCH, "--drafter", "none")
    assert done.returncode == 0, done.stderr
    assert len(fake.started) == 1 and "acceptance" not in done.stdout


BAD = {
    "unknown workload": (["bench", "--workload", "poems"], "workloads are"),
    "unknown pair": (["start", "--pair", "cpu-defualt"], "cpu-default"),
    "no concurrency": (["bench", "--concurrency", "1,x"], "1,4,16"),
    "a concurrency of 0": (["bench", "--concurrency", "0"], "from 1 on"),
    "k of 0": (["start", "--k", "0"], "k is 0"),
    "a context too short": (["start", "--max-model-len", "3"], "max_model_len"),
    "a file nowhere": (["bench", "--json", "/no/such/folder/x.json"], "folder"),
    "unknown drafter": (["start", "--drafter", "eagle"], "ngram"),
    "no answers": (["bench", "--max-new-tokens", "1"], "2"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_sentence_and_exit_code_2(run, fake, name):
    arguments, word = BAD[name]
    done = run(*arguments)
    assert done.returncode == 2 and word in done.stderr, done
    assert not done.stdout and not fake.ids()


def test_without_vllm(run, monkeypatch):
    from specdec_lab.serving import environment

    monkeypatch.setattr(environment, "find", lambda: None)
    done = run("bench")
    assert done.returncode == 2 and "make vllm" in done.stderr


def test_a_taken_port(run, port):
    run("start", "--port", port)
    taken = state.file().read_text()
    state.forget()
    done = run("start", "--port", port)
    assert done.returncode == 2 and f"Port {port} is taken" in done.stderr
    state.file().write_text(taken)
    run("stop")


def test_a_server_killed_under_bench(fake, run, monkeypatch):
    from specdec_lab.serving import load

    ask = load.client.ask

    def kill(*arguments, **options):
        os.kill(fake.ids("server")[0], signal.SIGKILL)
        return ask(*arguments, **options)

    monkeypatch.setattr(load.client, "ask", kill)
    done = run(*BENCH)
    assert done.returncode == 2 and "killed by signal 9" in done.stderr


def command(*arguments: str) -> subprocess.Popen:
    """In a process of its own, so that it can be interrupted."""
    code = (
        "from specdec_lab.models import embedded; embedded.embedded_model = lambda: '/models/none'; from specdec_lab import cli; cli.main()"
    )
    words = [sys.executable, "-c", code, "serve", *arguments]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize("when", ["starting", "asking"])
@pytest.mark.parametrize("what", ["bench", "start"])
def test_ctrl_c_leaves_no_process_and_one_sentence(fake, monkeypatch, when, what):
    if when == "starting":
        fake("mute")
    elif what == "start":
        monkeypatch.setenv("FAKE_PAUSE", "4")  # in the first request
    else:
        monkeypatch.setenv("FAKE_PAUSE", "0.1")
    arguments = [*BENCH[:-1], "500"] if what == "bench" else ["start", "--port", str(free_port())]
    process = command(*arguments)
    fake.wait_started()
    time.sleep(2 if when == "asking" else 0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert err.strip().splitlines()[-1] == "specdec-lab: Interrupted; what it started has ended." and "Traceback" not in err
    fake.wait_gone()
    assert not state.file().exists()


def test_it_stays_when_the_command_that_started_it_has_ended(fake, run):
    process = command("start", "--port", str(free_port()))
    assert process.wait(60) == 0, process.communicate()
    process.communicate()
    time.sleep(0.5)  # the supervisor looks ten times a second
    assert run("status").returncode == 0 and len(fake.running) == 2
    assert "has ended" in run("stop").stdout


@pytest.mark.parametrize("what", ["bench", "start"])
def test_a_killed_command_leaves_no_process(fake, what):
    fake("mute")
    process = command(what)
    fake.wait_started()
    process.kill()
    process.communicate()
    fake.wait_gone()
