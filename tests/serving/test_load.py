"""Load on a server, and what is read of it."""

from __future__ import annotations

import threading
import time

import pytest

from specdec_lab.errors import UserError
from specdec_lab.serving import load, server
from specdec_lab.serving.recordings import ServedRun
from specdec_lab.serving.setup import DraftModel, Medusa, Ngram, NoDrafter, Setup

SETUP = Setup("owner/model", Ngram(), k=5)
PROMPTS = ["one two three", "seven", "four five"]


@pytest.fixture
def running(fake):
    with server.start(SETUP) as found:
        yield found


def test_answers_in_order_counters_and_speed(running):
    done: list[int] = []
    run = load.run(running, PROMPTS, max_tokens=12, workload="chat", on_answer=done.append)
    assert isinstance(run, ServedRun)
    assert [answer.prompt for answer in run.answers] == PROMPTS
    assert [answer.tokens[0] for answer in run.answers] == [3, 5, 4] and all(len(answer.tokens) == 12 for answer in run.answers)
    assert (run.name, run.concurrency, run.setup, run.answers[0].workload) == ("n-gram", 1, running.setup, "chat")
    acceptance = run.acceptance  # of these three alone: pieces of 1, 3, 6 and 2 tokens, each a round that drafted 5
    assert (acceptance.rounds, acceptance.drafted, acceptance.accepted) == (12, 60, 24)
    assert acceptance.acceptance_rate == 0.4 and acceptance.mean_acceptance_length == 3
    assert acceptance.marginal == (0.75, 0.5, 0.25, 0.25, 0.25)
    assert run.tokens == 36 and run.tokens_per_second == pytest.approx(36 / run.seconds)
    assert 0 < run.median_time_per_token < run.median_time_to_first_token < run.seconds
    assert done == [1, 2, 3]


def test_token_ids_as_they_are(running):
    (answer,) = load.run(running, [[9, 8]], max_tokens=3).answers
    assert answer.tokens == (9, 8, 9) and answer.prompt == "9 8"


def test_several_at_a_time_are_under_way_together(fake, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.05")
    with server.start(SETUP) as running:
        one, four = load.sweep(running, ["one"] * 4, (1, 4), max_tokens=12)
    assert (one.concurrency, four.concurrency) == (1, 4)
    assert four.seconds < one.seconds / 2
    assert one.acceptance == four.acceptance


def test_mistakes(running):
    with pytest.raises(UserError, match="no prompts"):
        load.run(running, [])
    with pytest.raises(UserError, match="concurrency is 0"):
        load.run(running, PROMPTS, concurrency=0)


def test_what_one_is_refused_ends_all(running):
    with pytest.raises(UserError, match="max_tokens=3000"):
        load.run(running, PROMPTS, max_tokens=3000)


def test_ctrl_c_leaves_no_request_under_way(fake, monkeypatch):
    monkeypatch.setenv("FAKE_PAUSE", "0.05")

    def interrupted(futures) -> None:
        time.sleep(0.3)
        raise KeyboardInterrupt

    monkeypatch.setattr(load, "as_completed", interrupted)
    with server.start(SETUP) as running:
        with pytest.raises(KeyboardInterrupt):
            load.run(running, ["one"] * 6, concurrency=4, max_tokens=1000)  # a quarter of a minute each
        deadline = time.monotonic() + 5
        while [t for t in threading.enumerate() if t.name.startswith("request")]:
            assert time.monotonic() < deadline, "a request is under way"
            time.sleep(0.02)
        assert running.healthy


def test_names():
    drafters = (NoDrafter(), Ngram(), DraftModel("m"), Medusa("h"))
    assert [load.name_of(each) for each in drafters] == ["plain", "n-gram", "draft model", "medusa"]
