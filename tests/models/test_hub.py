"""Against a hub of this test's own making, so that every error is the one that the hub's client really raises."""

import errno
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from huggingface_hub import constants
from transformers import AutoModelForCausalLM, AutoTokenizer

from specdec_lab.models import hub
from specdec_lab.models.hub import HubError, fetch

KINDS = pytest.mark.parametrize("kind", [AutoModelForCausalLM, AutoTokenizer])


class Hub(BaseHTTPRequestHandler):
    """Knows `gated/model`, whose files it does not give, and nothing else; `broken/...` makes it fail."""

    def answer(self) -> None:
        body = b""
        if "broken/" in self.path:
            self.send_response(400)
        elif "gated/" not in self.path:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
        elif "/api/models/" in self.path:
            self.send_response(200)
            body = b'{"id": "gated/model", "gated": "manual", "siblings": []}'
        else:
            self.send_response(403)
            self.send_header("X-Error-Code", "GatedRepo")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_GET = do_HEAD = answer

    def log_message(self, *args) -> None:
        pass


def ask(monkeypatch, tmp_path, endpoint: str) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))


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

    monkeypatch.setattr(hub, "_out_of_reach", lambda name: False)
    with pytest.raises(HubError, match=r"The disk has no room for some/model; .*HF_HOME"):
        fetch(Full, "some/model")
