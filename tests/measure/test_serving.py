"""What is read off a server's runs, on a made-up server whose law is known; and our verdict on a text that somebody else wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.measure.serving import Expected, Serving, Steps, gain, only, partings, passes, replay, round_price, silent, tokens_a_pass
from specdec_lab.models.toy import markov_lm
from specdec_lab.serving.recordings import Served, ServedRun
from specdec_lab.serving.setup import DraftModel, Setup
from tests import served
from tests.measure.toys import toy_pair
from tests.served import CONCURRENCIES, DRAFTING, K, recording, step
from tests.support import ids

RECORDING = recording()
PLAIN = RECORDING.sweep("plain")
SPECULATIVE = ("n-gram", "draft model")


def test_passes_are_tokens_less_accepted_ones():
    run = RECORDING.run("n-gram")
    assert run.tokens == 16 * 33 and run.acceptance.accepted == 240 and run.acceptance.rounds == 96
    assert passes(run) == 528 - 240 and silent(run) == 528 - 240 - 96
    assert tokens_a_pass(run) == pytest.approx(528 / 288)
    assert run.acceptance.mean_acceptance_length == pytest.approx(1 + 240 / 96), "what a log says: the silent passes left out"
    assert passes(PLAIN[0]) == silent(PLAIN[0]) == PLAIN[0].tokens and tokens_a_pass(PLAIN[0]) == 1


@pytest.mark.parametrize("name", SPECULATIVE)
def test_price_times_gain_is_what_a_pass_brings(name):
    for run, plain in zip(RECORDING.sweep(name), PLAIN, strict=True):
        assert round_price(run, plain) * gain(run, plain) == pytest.approx(tokens_a_pass(run))
    assert gain(PLAIN[0], PLAIN[0]) == 1


def test_one_workload_of_a_run():
    run = RECORDING.run("n-gram")
    chat = only(run, "chat")
    assert [answer.prompt for answer in chat.answers] == [f"Prompt {i}" for i in range(1, 16, 2)]
    assert chat.acceptance is None and gain(chat, PLAIN[0]) == gain(run, PLAIN[0])


def test_a_plain_step_of_many_is_a_pass_over_many():
    steps = Steps.of(PLAIN[::-1])
    assert list(steps.seconds) == list(CONCURRENCIES)
    for n in (1, 3, 4, 5, 11, 16):
        assert steps.t(n) == pytest.approx(step(n))
    assert steps.t(80) == pytest.approx(step(80)), "beyond what was measured, the last line goes on"
    assert steps.v(5, 1) == pytest.approx(step(5) / step(1)) and steps.v(5, 16) == pytest.approx(step(80) / step(16))


def test_a_busy_moment_is_not_believed():
    """Eight at a time took longer than sixteen: something else ran."""
    busy = served.run("plain", served.PLAIN, 8)
    slow = tuple(replace(answer, seconds=10.0) for answer in busy.answers)
    steps = Steps.of([*PLAIN[:3], replace(busy, answers=slow), PLAIN[4]])
    assert steps.t(8) == steps.t(16) == pytest.approx(step(16)) and steps.t(4) == pytest.approx(step(4))
    assert steps.t(80) == steps.t(16)


def test_a_curve_takes_two_points():
    with pytest.raises(UserError, match="at least two"):
        Steps.of(PLAIN[:1])


@pytest.mark.parametrize("name", SPECULATIVE)
def test_one_at_a_time_says_what_many_do(name):
    """The made-up server keeps the law that `Expected` assumes."""
    expected = Expected.of(RECORDING.run(name), PLAIN)
    for run, plain in zip(RECORDING.sweep(name), PLAIN, strict=True):
        assert expected.speedup(run.concurrency) == pytest.approx(gain(run, plain))
    assert expected.drafted == K
    assert expected.rest_of_a_round == pytest.approx(DRAFTING[name], abs=1e-9)
    assert expected.speedup(1) > 1 > expected.speedup(16)


def test_nothing_is_expected_of_a_run_without_drafts():
    with pytest.raises(UserError, match="plain has drafted nothing"):
        Expected.of(PLAIN[0], PLAIN)


def test_a_recording_answers_in_the_servers_place():
    source = Serving(RECORDING)
    assert source.where == "recorded on a made-up CPU, 2026-01-01"
    setup = Setup("the-target", served.NGRAM, K)
    said = list[str]()
    assert list(source.runs("n-gram", setup, (1, 16, 99), 32, said.append)) == [RECORDING.run("n-gram", n) for n in (1, 16)]
    assert said == []
    assert source.prompts[:2] == (("code-edit", "Prompt 0"), ("chat", "Prompt 1")) and len(source.prompts) == 16
    assert source.sample(5) == source.prompts[:2] and source.sample(1) == source.prompts[:1]


def test_our_verdict_on_a_text_that_the_target_wrote():
    """The same as if the target had been there: behind the first token, which comes out of the prompt's pass."""
    target = markov_lm(0, 8, order=2)
    draft = markov_lm(1, 8, order=2, like=target, drift=1.0)
    prompt = ids(0, 1)
    answers, rounds = [], []
    for last in (1, 2, 3):
        start = torch.cat([prompt, ids(last)])
        text = generate(target, start, stopping=Stopping(40)).tokens
        answers.append(Served("", str(last), text, "", 0.1, 1.0, "length"))
        first = torch.cat([start, torch.tensor(text[:1])])
        rounds += generate(target, first, ModelDrafter(draft, 8), 3, stopping=Stopping(39)).rounds
    run = ServedRun("draft model", Setup("t", DraftModel("d"), k=3), 1, 1.0, tuple(answers))
    found = replay(run, lambda text: torch.cat([prompt, ids(int(text))]), ModelDrafter(draft, 8), 8)
    assert found == type(found).of(rounds)
    assert 0 < found.accepted < found.drafted


def test_where_two_servers_part_and_how_sure_the_target_was():
    pair = toy_pair()
    plain = RECORDING.run("plain")
    texts = [(1, 2, 3), (1, 2), (4, 5, 6)]
    others = [(1, 2, 3), (1, 2, 7), (9, 5, 6)]
    a, b = (
        replace(plain, answers=tuple(Served("", f"{i}", t, "", 0.1, 1.0, "stop") for i, t in enumerate(tokens)))
        for tokens in (texts, others)
    )
    ends, differs = partings(a, b, pair)
    assert (ends.prompt, ends.at, ends.server, ends.ours) == (1, 2, None, 7)
    assert (differs.prompt, differs.at, differs.server, differs.ours) == (2, 0, 4, 9)
    seen = [*pair.encode("1").tolist(), 1, 2]
    scores = pair.target(torch.tensor([seen]), pair.target.new_cache())[0, -1]
    assert ends.gap.best == tuple(scores.topk(2).indices.tolist())
    assert partings(a, a, pair) == []
