"""Asking a server, one request at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from specdec_lab.errors import UserError
from specdec_lab.serving import client, server
from specdec_lab.serving.processes import free_port
from specdec_lab.serving.setup import Ngram, Setup
from tests.serving.support import one_sentence

SETUP = Setup("owner/model", Ngram())


@pytest.fixture
def running(fake):
    with server.start(SETUP) as found:
        yield found


def ask(found, prompt, **options):
    return client.ask(found.url, found.model, prompt, **{"max_tokens": 6, **options})


def test_messages_a_text_and_ids(running):
    as_chat = ask(running, [{"role": "user", "content": "one three two"}])
    assert as_chat.text == " one three two one three two" and as_chat.tokens == (3, 5, 3, 3, 5, 3)
    assert as_chat.prompt == (3, 5, 3) and as_chat.finish_reason == "length"
    assert ask(running, "one three two").tokens == as_chat.tokens
    assert ask(running, [7, 8]).tokens == (7, 8, 7, 8, 7, 8)


def test_times_and_pieces(running):
    pieces: list[str] = []
    answer = ask(running, "one three two", on_token=pieces.append)
    assert pieces == [" one", " three two one", " three two"]
    assert 0 < answer.time_to_first_token < answer.seconds < 1


def test_what_on_token_raises_ends_the_request(running):
    def enough(piece: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        ask(running, "one", max_tokens=1000, on_token=enough)
    assert running.healthy


@pytest.mark.parametrize("call", ["get", "ask"])
def test_no_server(call):
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(client.Gone, match=r"No server answers.*refused") as error:
        client.get(url) if call == "get" else client.ask(url, "m", "one", 2)
    assert one_sentence(error.value)


def test_what_the_server_refuses_is_said_in_its_words(running):
    with pytest.raises(UserError, match=r"refused .*\(400\): max_tokens=3000 cannot be greater") as error:
        ask(running, "one", max_tokens=3000)
    assert not isinstance(error.value, client.Gone) and one_sentence(error.value)


def test_an_empty_prompt(running):
    for nothing in ("", [], ()):
        with pytest.raises(UserError, match="empty"):
            ask(running, nothing)


def test_an_engine_that_died_is_said(fake):
    with server.start(SETUP, fake("broken")) as found, pytest.raises(client.Gone, match=r"\(500\).*EngineCore") as error:
        ask(found, "one")
    assert one_sentence(error.value)


def test_killed_in_the_middle(fake, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.02")
    with server.start(SETUP) as found:
        pieces: list[str] = []

        def kill(piece: str) -> None:
            pieces.append(piece)
            if len(pieces) == 2:
                os.kill(fake.ids("server")[0], signal.SIGKILL)

        with pytest.raises(client.Gone, match="in the middle") as error:
            ask(found, "one", max_tokens=500, on_token=kill)
        assert one_sentence(error.value) and len(pieces) < 20


def test_a_server_without_token_ids_is_said(fake):
    """At its start already, which ends in a first request."""
    with pytest.raises(UserError, match="sent no token ids"):
        server.start(SETUP, fake("silent"))


def test_no_proxy_is_asked(running):
    code = f"from specdec_lab.serving import client; client.get({running.url + '/health'!r})"
    environment = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"} | {"http_proxy": "http://127.0.0.1:1"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
