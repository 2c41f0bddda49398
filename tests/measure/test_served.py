"""A server's counters beside our engine's numbers, on toys: the server is our engine once more, its tokens and counters written down."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine import Metrics, Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.measure import served
from specdec_lab.measure.served import compare_served, same_drafter
from specdec_lab.serving.metrics import Counters
from specdec_lab.serving.recordings import Served, ServedRun
from specdec_lab.serving.setup import DraftModel, Eagle3, Ngram, NoDrafter, Setup
from tests.measure.toys import toy_pair
from tests.support import ids

K, LENGTH = 3, 24
PROMPTS = {"one": ids(1, 2, 3), "two": ids(4, 5), "three": ids(7)}


@pytest.fixture
def pair():
    made = toy_pair(drift=0.5)
    made.encode = PROMPTS.__getitem__
    return made


def server_run(pair, drafter=None, setup: Setup | None = None) -> ServedRun:
    """What vLLM would answer and count: it leaves out rounds that drafted nothing."""
    drafter = drafter or ModelDrafter(pair.draft, pair.target.vocab_size)
    runs = [generate(pair.target, prompt, drafter, K, stopping=Stopping(LENGTH)) for prompt in PROMPTS.values()]
    rounds = [each for run in runs for each in run.rounds if each.drafted]
    m = Metrics.of(rounds)
    after = Counters(100 + len(rounds), 300 + m.drafted, 50 + m.accepted, tuple(10 + at for at in m.accepted_at))
    answers = tuple(Served("", text, run.tokens, "", 0.1, 1.0, "length") for text, run in zip(PROMPTS, runs, strict=True))
    setup = setup or Setup("target", DraftModel("draft"), k=K)
    return ServedRun("draft model", setup, 1, 3.0, answers, Counters(100, 300, 50, (10,) * len(m.accepted_at)), after)


@pytest.fixture
def drafters(monkeypatch):
    """The ladder's draft model asks a loaded pair for more than a toy has."""
    monkeypatch.setattr(served, "drafter_of", lambda name, pair: ModelDrafter(pair.draft, pair.target.vocab_size))


def test_the_same_engine_gives_the_same_numbers_and_tokens(pair, drafters):
    run = server_run(pair)
    done: list[int] = []
    found = compare_served(run, pair, on_prompt=done.append)
    assert found.identical and not found.partings and len(found.generations) == 3 and done == [1, 2, 3]
    names = [row.name for row in found.rows]
    assert names[:3] == ["acceptance rate", "alpha", "mean acceptance length"] and names[-1] == f"acceptance at position {K}"
    for row in found.rows:
        assert row.server == pytest.approx(row.ours, abs=0.03 if row.name == "alpha" else 1e-12), row
    assert 0 < found.row("acceptance rate").ours < 1
    json.dumps(found.as_dict())


def test_rounds_that_drafted_nothing_are_no_rounds_to_the_server(pair):
    run = server_run(pair, served.NgramDrafter(), Setup("target", Ngram(), k=K))
    found = compare_served(run, pair)
    assert any(not r.drafted for g in found.generations for r in g.rounds)
    drafted = found.row("mean acceptance length of rounds that drafted")
    assert drafted.server == pytest.approx(drafted.ours)
    assert drafted.ours > found.row("mean acceptance length").ours == pytest.approx(found.row("mean acceptance length").server)
    assert found.row("acceptance at position 1").server == pytest.approx(found.row("acceptance at position 1").ours)


def test_alpha_of_a_server(pair):
    """Of 10 rounds that drafted 3, 4 stood to the end: 6 rejections."""
    run = replace(server_run(pair), before=Counters(0, 0, 0, (0, 0, 0)), after=Counters(10, 30, 18, (8, 6, 4)))
    assert compare_served(run, pair, drafter=served.NgramDrafter()).row("alpha").server == 18 / (18 + 6)


def test_where_the_tokens_part(pair, drafters):
    run = server_run(pair)
    changed = list(run.answers[1].tokens)
    changed[5] = (changed[5] + 1) % 12
    shorter = replace(run.answers[2], tokens=run.answers[2].tokens[:7])
    found = compare_served(replace(run, answers=(run.answers[0], replace(run.answers[1], tokens=tuple(changed)), shorter)), pair)
    (parting,) = found.partings
    assert (parting.prompt, parting.at, parting.server) == (1, 5, changed[5])
    assert parting.ours == run.answers[1].tokens[5] == parting.gap.best[0]
    assert not parting.near_tie and "prompt 2 parts at token 6" in str(parting)
    scores = pair.target._next_logits((4, 5, *run.answers[1].tokens[:5]))
    assert parting.gap.scores == pytest.approx(tuple(sorted(scores.tolist())[:-3:-1]))
    json.dumps(found.as_dict())


def test_at_a_near_tie_the_two_took_our_two_best_a_few_steps_apart(pair, drafters):
    run = server_run(pair)
    second = int(pair.target._next_logits((1, 2, 3)).topk(2).indices[1])
    wrong = replace(run.answers[0], tokens=(second, *run.answers[0].tokens[1:]))
    (parting,) = compare_served(replace(run, answers=(wrong, *run.answers[1:])), pair).partings
    assert not parting.near_tie
    in_bf16, in_fp32 = 0.125, 2.0**-19  # the steps at a score of 20
    for step, steps, near in ((in_bf16, 4, True), (in_bf16, 5, False), (in_fp32, 60, True), (in_fp32, 70, False), (in_fp32, 0, True)):
        close = replace(parting, gap=parting.gap._replace(scores=(20.0, 20.0 - steps * step), step=step))
        assert close.near_tie is near, (step, steps)
        assert replace(close, server=close.ours, ours=close.server).near_tie is near  # read again, the two may have changed places
        assert not replace(close, server=99).near_tie


def test_an_answer_that_went_on_behind_our_end(pair, drafters):
    run = server_run(pair)
    pair.eos = frozenset({run.answers[0].tokens[4]})
    at = run.answers[0].tokens.index(run.answers[0].tokens[4]) + 1
    parting = compare_served(run, pair).partings[0]
    assert (parting.at, parting.ours, parting.server) == (at, None, run.answers[0].tokens[at])


def test_without_speculation_there_is_nothing_of_the_server(pair):
    plain = replace(server_run(pair), setup=Setup("target", NoDrafter(), k=0), before=None, after=None)
    found = compare_served(plain, pair)
    assert found.identical and found.row("acceptance rate").server is found.row("alpha").server is None
    assert found.row("mean acceptance length").server == found.row("mean acceptance length").ours == 1


def test_drafters_of_our_own(pair):
    drafter = same_drafter(Setup("t", Ngram(2, 3)), pair)
    assert (drafter.n_min, drafter.n_max) == (2, 3)
    assert same_drafter(Setup("t", NoDrafter(), k=0), pair) is None
    with pytest.raises(UserError, match="no drafter like Eagle3"):
        same_drafter(Setup("t", Eagle3("h")), pair)


def test_other_prompts_than_the_answers(pair):
    with pytest.raises(UserError, match="2 prompts, but the run has 3"):
        compare_served(server_run(pair), pair, prompts=["one", "two"])
