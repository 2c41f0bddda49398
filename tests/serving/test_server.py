"""A server's life: its start, what can go wrong in it, and that nothing of it is left. The fixture `fake` looks after each test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from specdec_lab.errors import UserError
from specdec_lab.serving import load, server
from specdec_lab.serving.processes import HOST, members, port_is_free
from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup
from tests.serving.support import one_sentence

NGRAM = Setup("owner/model", Ngram(), k=5, max_model_len=2048)
LOGS = Path(__file__).parent / "logs"


def say(error) -> str:
    assert one_sentence(error.value), str(error.value)
    return str(error.value)


def test_it_starts_answers_counts_and_ends(fake, cache):
    told: list[str] = []
    with server.start(NGRAM, progress=told.append) as running:
        assert running.alive and running.healthy and running.speculates
        assert running.url == f"http://127.0.0.1:{running.port}" and running.model == "owner/model"
        assert running.log.parent == cache / "serving" and "Resolved architecture" in running.log.read_text()
        assert {p.pid for p in running.processes()} == {running.pid, *fake.ids()}
        assert all(os.getpgid(pid) == running.pid for pid in fake.ids())
        assert running.counters().drafts == 3  # of the first request, 8 tokens
    assert not running.alive and not running.healthy and not running.processes()
    assert port_is_free(running.port) and not fake.running
    assert told[0].startswith("0 s: ") and "first request" in told[-1]
    running.stop()  # a second time


def test_the_default_vllm_is_the_one_that_is_found(fake):
    with server.start(NGRAM):
        assert len(fake.started) == 1


def test_what_vllm_is_given(fake, monkeypatch):
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    with server.start(NGRAM, fake("whole")) as running:
        (given,) = fake.started
        assert given["arguments"][:2] == ["-m", "vllm.entrypoints.openai.api_server"]
        assert given["arguments"][-2:] == ["--host", "127.0.0.1"], "only this machine may ask it"
        assert "--enforce-eager" in given["arguments"] and running.setup.enforce_eager
        assert str(running.port) in given["arguments"]
        assert given["environment"]["VLLM_CPU_KVCACHE_SPACE"] == "2"
        assert "HF_HUB_OFFLINE" not in given["environment"], "a model of the hub may have to be downloaded"


def test_a_user_knows_better_and_local_models_need_no_hub(fake, monkeypatch, tmp_path):
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "7")
    with server.start(Setup(str(tmp_path), DraftModel(str(tmp_path)), k=2)):
        environment = fake.started[0]["environment"]
        assert (environment["VLLM_CPU_KVCACHE_SPACE"], environment["HF_HUB_OFFLINE"]) == ("7", "1")


def test_the_set_ups_port_is_the_default_and_a_free_one_without(fake):
    port = server.free_port()
    with server.start(Setup("owner/model", Ngram(), port=port)) as first, server.start(NGRAM) as second:
        assert first.port == port != second.port


@pytest.mark.parametrize("name, words", [("badflag", "unrecognized arguments"), ("nomem", "Available memory"), ("nomodel", "Repo id")])
def test_a_start_that_fails_says_why(fake, monkeypatch, name, words):
    monkeypatch.setenv("FAKE_LOG", str(LOGS / f"{name}.log"))
    began = time.monotonic()
    with pytest.raises(UserError, match=words) as error:
        server.start(NGRAM, fake("error"))
    said = say(error)
    assert said.startswith("vLLM stopped before it was ready") and Path(said.split("its log is ")[1].rstrip(".")).exists()
    assert time.monotonic() - began < 10


def test_a_python_that_cannot_be_run(cache, tmp_path):
    with pytest.raises(UserError, match=r"stopped before it was ready: .*No such file") as error:
        server.start(NGRAM, server.Vllm(tmp_path / "none", "0.32.0", "cpu"))
    say(error)


def test_never_healthy(fake):
    with pytest.raises(UserError, match=r"not ready after 1 s, and 'Resolved architecture.*allow it more time") as error:
        server.start(NGRAM, fake("mute"), timeout=1)
    say(error)


def test_slow_is_not_never(fake, monkeypatch):
    monkeypatch.setenv("FAKE_DELAY", "1.5")
    told: list[str] = []
    with server.start(NGRAM, progress=told.append):
        assert "1 s: Resolved architecture: LlamaForCausalLM" in told
    assert len(told) <= 4, "one line a second"


def test_a_taken_port_is_said_before_anything_is_started(fake):
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=rf"Port {port} is taken by .*process {os.getpid()}\): give another") as error:
            server.start(NGRAM, port=port)
    say(error)
    assert not fake.ids()


def test_a_log_that_cannot_be_kept(fake, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="SPECDEC_LAB_CACHE") as error:
        server.start(NGRAM)
    say(error)


def test_old_logs_go(fake, cache):
    folder = cache / "serving"
    folder.mkdir()
    for i in range(20):
        (folder / f"vllm-old-{i}.log").touch()
    with server.start(NGRAM) as running:
        assert len(list(folder.glob("*.log"))) == server.LOGS and running.log.exists()


@pytest.mark.parametrize("mood, words", [("plain", "without speculation"), ("bare", "disable-log-stats")])
def test_metrics_that_are_missing(fake, mood, words):
    with server.start(NGRAM, fake(mood)) as running:
        with pytest.raises(UserError, match=words):
            running.counters()
        with pytest.raises(UserError, match=words):
            load.run(running, ["one"])
        assert "vllm:spec" not in running.metrics()


def test_a_server_without_a_drafter_is_not_asked_for_them(fake):
    with server.start(Setup("owner/model", NoDrafter(), k=0), fake("plain")) as running:
        assert load.run(running, ["one two"], max_tokens=4).acceptance is None


@pytest.mark.parametrize("who", ["server", "engine"])
def test_killed_from_outside(fake, who):
    """The API server alone, and its engine, whose end the real API server follows; the fake one lives on, and is ended."""
    with server.start(NGRAM) as running:
        os.kill(fake.ids(who)[0], signal.SIGKILL)
        if who == "server":
            with pytest.raises(UserError, match=r"killed by signal 9.*its log is") as error:
                running.metrics()
            say(error)
            fake.wait_gone(5)


def test_killed_in_the_middle_of_an_answer(fake, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.02")
    with server.start(NGRAM) as running:

        def kill(done: int) -> None:
            if done == 1:
                os.kill(fake.ids("server")[0], signal.SIGKILL)

        with pytest.raises(UserError, match=r"stopped in the middle of its work: it was killed by signal 9") as error:
            load.run(running, ["one two"] * 6, concurrency=2, max_tokens=60, on_answer=kill)
        say(error)
        fake.wait_gone(5)


def test_the_supervisor_killed(fake):
    running = server.start(NGRAM)
    os.kill(running.pid, signal.SIGKILL)
    running.process.wait()
    assert not running.alive and fake.running
    running.stop()
    assert not fake.running


def test_who_does_not_heed_is_killed(fake, monkeypatch):
    monkeypatch.setattr(server, "GRACE", 0.5)
    with server.start(NGRAM, fake("stubborn")) as running:
        assert len(fake.running) == 2
    assert not members(running.pid, running.started)


def test_an_error_in_the_block_ends_it(fake):
    with pytest.raises(ZeroDivisionError), server.start(NGRAM):
        _ = 1 / 0
    assert fake.ids() and not fake.running


def test_ctrl_c_while_it_waits_ends_it(fake):
    def interrupt(line: str) -> None:
        fake.wait_started()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.start(NGRAM, fake("mute"), progress=interrupt)
    assert fake.ids() and not fake.running


STARTER = """
import sys, time
from specdec_lab.serving import server
from specdec_lab.serving.setup import Ngram, Setup
server.GRACE = 0.5
running = server.start(Setup("owner/model", Ngram()), timeout=60)
{then}
print("ready", flush=True)
time.sleep(120)
"""


def starter(then: str = "") -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", STARTER.format(then=then)], stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_goes_with_its_starter(fake, number):
    process = starter()
    assert process.stdout.readline() == "ready\n"
    assert fake.running
    process.send_signal(number)
    process.wait(20)
    fake.wait_gone()
    process.stdout.close()


def test_it_goes_with_a_starter_killed_while_it_waits(fake):
    fake("mute")
    process = starter()
    fake.wait_started()
    process.kill()
    process.wait()
    fake.wait_gone()
    process.stdout.close()


def test_one_that_does_not_heed_goes_with_its_starter_too(fake):
    fake("stubborn")
    process = starter()
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    fake.wait_gone()
    process.stdout.close()


def test_released_it_stays_until_it_is_stopped(fake):
    process = starter("print(running.pid, running.started, running.port, flush=True); running.release()")
    pid, started, port = process.stdout.readline().split()
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    process.stdout.close()
    time.sleep(0.5)
    left = server.Server(NGRAM, int(port), int(pid), float(started), Path("log"), ())
    assert left.alive and left.healthy and len(left.processes()) == 3
    left.stop()
    assert not left.alive and not left.processes()


def test_a_number_given_to_another_process_is_not_ours(fake):
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        born = psutil.Process(stranger.pid).create_time()
        old = server.Server(NGRAM, 1, stranger.pid, born - 100, Path("log"), ())
        assert not old.alive and not old.processes()
        old.stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
