"""Against a hub of this test's own making, so that every error is the one that the hub's client really raises."""

import errno
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import ClassVar

import pytest
import torch
from huggingface_hub import constants
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from specdec_lab.models import hub
from specdec_lab.models.hub import HubError, fetch

KINDS = pytest.mark.parametrize("kind", [AutoModelForCausalLM, AutoTokenizer])


class Hub(BaseHTTPRequestHandler):
    """Knows `some/model`, which is one file, and `gated/model`, whose files it does not give; `broken/...` makes it fail.

    `faults` come first, in their order: (method, status, headers) for a request of that method.
    """

    faults: ClassVar[list[tuple[str, int, dict[str, str]]]] = []
    asked: ClassVar[list[str]] = []

    def answer(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        status, headers, body = self.what()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def what(self) -> tuple[int, dict[str, str], bytes]:
        if self.faults and self.faults[0][0] == self.command:
            _, status, headers = self.faults.pop(0)
            return status, headers, b""
        if "broken/" in self.path:
            return 400, {}, b""
        if "some/" in self.path:
            if self.path.endswith("/config.json"):
                return 200, {"X-Repo-Commit": "a" * 40, "ETag": '"one"'}, b'{"model_type": "llama", "vocab_size": 77}'
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": "a" * 40}, b""
        if "gated/" not in self.path:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        if "/api/models/" in self.path:
            return 200, {}, b'{"id": "gated/model", "gated": "manual", "siblings": []}'
        return 403, {"X-Error-Code": "GatedRepo"}, b""

    do_GET = do_HEAD = answer

    def log_message(self, *args) -> None:
        pass


def ask(monkeypatch, tmp_path, endpoint: str) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "_silent", {})
    monkeypatch.setattr(Hub, "faults", [])
    monkeypatch.setattr(Hub, "asked", [])


@pytest.fixture
def reachable(monkeypatch, tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    ask(monkeypatch, tmp_path, f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    server.server_close()


@pytest.fixture
def unreachable(monkeypatch, tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as closed:
        port = closed.server_port
    ask(monkeypatch, tmp_path, f"http://127.0.0.1:{port}")


@KINDS
def test_a_licence_gate(reachable, kind):
    with pytest.raises(HubError, match=r"gated/model is behind a licence gate; accept the licence .* or use the pair cpu-default"):
        fetch(kind, "gated/model")


@KINDS
@pytest.mark.parametrize("name", ["no/model", "not a name"])
def test_no_such_model(reachable, kind, name):
    with pytest.raises(HubError, match=f"The hub has no model '{name}'; check the spelling"):
        fetch(kind, name)


@KINDS
def test_no_hub_is_said_without_waiting_for_it(unreachable, kind):
    began = time.monotonic()
    with pytest.raises(HubError, match=r"some/model is not on this machine, and the model hub does not answer; .*cpu-default"):
        fetch(kind, "some/model")
    assert time.monotonic() - began < 5  # the hub's client alone tries for 23 s


def test_a_hub_that_comes_back_is_asked_again(unreachable, request):
    """Connect, and run the cell once more: no restart is needed."""
    with pytest.raises(HubError, match="does not answer"):
        fetch(AutoTokenizer, "gated/that-came-back")
    request.getfixturevalue("reachable")
    with pytest.raises(HubError, match="licence gate"):
        fetch(AutoTokenizer, "gated/that-came-back")


def test_an_error_without_words_is_named():
    class Silent:
        @staticmethod
        def from_pretrained(name, **options):
            raise RuntimeError

    with pytest.raises(HubError, match=r"cannot be loaded \(RuntimeError\)"):
        fetch(Silent, "some/model")


def test_no_hub_wanted(reachable, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match="gated/model is not on this machine, and HF_HUB_OFFLINE is set"):
        fetch(AutoTokenizer, "gated/model")


def test_a_hub_that_fails(reachable):
    with pytest.raises(HubError, match="broken/model is not on this machine, and the model hub does not answer"):
        fetch(AutoTokenizer, "broken/model")


def test_a_folder_that_holds_no_model(tmp_path):
    with pytest.raises(HubError, match=r"cannot be loaded \(Unrecognized model"):
        fetch(AutoModelForCausalLM, str(tmp_path))


def test_no_room(monkeypatch):
    class Full:
        @staticmethod
        def from_pretrained(name, **options):
            try:
                raise OSError(errno.ENOSPC, "No space left on device")
            except OSError as error:
                raise RuntimeError("download failed") from error

    monkeypatch.setattr(hub, "_ask", lambda name: None)
    with pytest.raises(HubError, match=r"The disk has no room for some/model; .*HF_HOME"):
        fetch(Full, "some/model")


@pytest.fixture
def slept(monkeypatch):
    """The seconds that would have been slept."""
    seconds = []
    monkeypatch.setattr(hub, "sleep", seconds.append)
    return seconds


def head(status: int, **headers: str) -> tuple[str, int, dict[str, str]]:
    return "HEAD", status, {name.replace("_", "-"): value for name, value in headers.items()}


def test_a_hub_that_answers_is_asked_once(reachable, slept):
    assert fetch(AutoConfig, "some/model").vocab_size == 77
    assert slept == []


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_hub_that_is_busy_is_asked_again(reachable, slept, capsys, status):
    Hub.faults[:] = [head(status), head(status)]
    assert fetch(AutoConfig, "some/model").vocab_size == 77
    assert slept == [2.0, 8.0]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [f"The model hub is busy or failed; trying some/model again in {s} s." for s in (2, 8)]


def test_a_hub_that_keeps_failing(reachable, slept):
    Hub.faults[:] = [head(503)] * 50
    with pytest.raises(HubError, match=r"some/model is not on this machine, and the model hub fails \(HTTP 503\); .* cpu-default"):
        fetch(AutoConfig, "some/model")
    assert slept == [2.0, 8.0, 30.0]
    assert len(Hub.faults) == 46, "one question each time, and no other"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "7"}, 8),
        ({"Retry_After": formatdate(time.time() + 3600 * 24 * 365)}, None),
        ({"Retry_After": "soon"}, 2),
        ({"RateLimit": '"resolvers";r=0;t=55'}, 56),
        ({"RateLimit": '"resolvers";r=0;t=240', "Retry_After": "3"}, 4),
        ({}, 2),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(reachable, slept, headers, wait):
    Hub.faults[:] = [head(429, **headers)]
    if wait is None:
        with pytest.raises(HubError, match="limits downloads"):
            fetch(AutoConfig, "some/model")
        assert slept == []
    else:
        fetch(AutoConfig, "some/model")
        assert slept == [wait]


def test_a_rate_limit_of_an_hour_is_said_at_once(reachable, slept):
    Hub.faults[:] = [head(429, Retry_After="3600")]
    with pytest.raises(HubError) as caught:
        fetch(AutoConfig, "some/model")
    assert str(caught.value) == (
        "The model hub limits downloads from this address; wait 60 minutes, log in with `hf auth login`, or use the pair cpu-default, "
        "which needs no hub."
    )
    assert slept == [] and len(Hub.asked) == 1


def test_patience_ends(reachable, monkeypatch):
    """Not before the first failure: what was downloaded until then may have taken an hour."""
    clock, tries = SimpleNamespace(now=0.0), []
    monkeypatch.setattr(hub.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(hub, "sleep", lambda seconds: None)

    class Slow:
        @staticmethod
        def from_pretrained(name, **options):
            clock.now += tries.pop()
            raise TimeoutError("timed out")

    for took, left in (([100, 100, 100, 3600], [100]), ([1, 1, 1, 3600], [])):
        tries[:] = took
        with pytest.raises(HubError, match="timed out"):
            fetch(Slow, "some/model")
        assert tries == left


def test_a_rate_limit_without_a_word_of_how_long(reachable, slept):
    Hub.faults[:] = [head(429)] * 50
    with pytest.raises(HubError, match="limits downloads from this address; wait some minutes, log in"):
        fetch(AutoConfig, "some/model")
    assert slept == [2.0, 8.0, 30.0]


def test_what_is_on_the_disk_needs_no_leave_of_the_hub(reachable, slept):
    fetch(AutoConfig, "some/model")
    for status in (429, 503):
        Hub.faults[:] = [head(status, Retry_After="3600")]
        assert fetch(AutoConfig, "some/model").vocab_size == 77
    assert slept == []


def test_a_download_that_fails_in_the_middle_is_taken_up_again(reachable, slept):
    Hub.faults[:] = [("GET", 503, {})]
    assert fetch(AutoConfig, "some/model").vocab_size == 77
    assert slept == [2.0]


@pytest.mark.parametrize("fault", [ConnectionResetError(104, "Connection reset by peer"), TimeoutError("timed out")])
def test_a_connection_that_is_reset(reachable, slept, fault):
    class Reset:
        faults: ClassVar = [fault]

        @classmethod
        def from_pretrained(cls, name, **options):
            if cls.faults:
                raise RuntimeError("download failed") from cls.faults.pop()
            return "a model"

    assert fetch(Reset, "some/model") == "a model"
    assert slept == [2.0]


@KINDS
def test_what_another_try_cannot_change_is_not_tried_again(reachable, slept, kind):
    for name in ("gated/model", "no/model", "broken/model"):
        with pytest.raises(HubError):
            fetch(kind, name)
    assert slept == []


def test_a_silent_hub_is_not_asked_four_times_for_a_pair(reachable, slept, monkeypatch):
    """Where packets are dropped, every question takes its ten seconds."""
    monkeypatch.setattr(hub, "ASK_SECONDS", 0.3)
    monkeypatch.setattr(Hub, "answer", lambda self: time.sleep(0.6))
    monkeypatch.setattr(Hub, "do_HEAD", lambda self: (self.asked.append(self.path), time.sleep(0.6)))
    for _ in range(4):
        with pytest.raises(HubError, match="some/model is not on this machine, and the model hub does not answer"):
            fetch(AutoConfig, "some/model")
    assert len(Hub.asked) == 1
    later = time.monotonic() + hub.SILENCE_SECONDS + 1
    monkeypatch.setattr(hub.time, "monotonic", lambda: later)
    with pytest.raises(HubError):
        fetch(AutoConfig, "some/model")
    assert len(Hub.asked) == 2


def test_memory_that_runs_out_is_no_fault_of_the_hub(reachable):
    class Large:
        @staticmethod
        def from_pretrained(name, **options):
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        fetch(Large, "some/model")
