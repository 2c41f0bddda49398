"""Batches: what the parts of a round add up to, and where drafting begins to cost, on models whose passes take a known time."""

import sys
from itertools import pairwise

import pytest

from specdec_lab.drafters import NgramDrafter
from specdec_lab.engine.metrics import Metrics
from specdec_lab.errors import UserError
from specdec_lab.measure import timer
from specdec_lab.measure.cost import bare_passes
from specdec_lab.measure.crossover import BatchPoint, crossover
from specdec_lab.models.batched import OneByOne
from specdec_lab.models.toy import markov_lm, scripted_lm
from tests.measure.clock import Clock
from tests.support import SAMPLED, always, ids, rounds, tiny_llama

K = 4
RIDGE = 16  # tokens that a pass checks for free
TEXT = [1, 2, 3, 4, 5, 1, 3, 5, 2, 4]
PROMPTS = [ids(7, 8, 9), ids(8, 8, 9), ids(9, 9, 9)]


def pass_seconds(tokens: int, name: str) -> float:
    """A roofline: flat to the ridge, then in proportion. The draft takes a tenth."""
    return (0.1 if "draft" in name else 1.0) * 0.040 * max(1.0, tokens / RIDGE)


class Paced:
    """A toy whose bare passes over a batch take their time on a clock."""

    def __init__(self, toy, clock: Clock, name: str) -> None:
        self._toy, self._clock, self.name = toy, clock, name

    def __getattr__(self, name: str):
        return getattr(self._toy, name)

    def __call__(self, input_ids, cache, logits_to_keep=0, mask=None):
        self._clock.work(pass_seconds(input_ids.numel(), self.name))
        return self._toy(input_ids, cache, logits_to_keep, mask)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in ("specdec_lab.engine.loop", "specdec_lab.engine.batch", "specdec_lab.measure.crossover"):
        monkeypatch.setattr(sys.modules[module], "perf_counter", clock)
    monkeypatch.setattr(timer, "perf_counter", clock)

    def feed(self, calls):
        """As one pass over all rows, each as long as the longest, would."""
        clock.work(pass_seconds(len(calls) * max(call.tokens for call in calls), self._model.name))
        return [self._model._toy(call.input_ids, call.cache, call.logits_to_keep, call.mask) for call in calls]

    monkeypatch.setattr(OneByOne, "feed", feed)
    return clock


def pair(clock, drift=0.0):
    """A target, and a draft that says the same but for `drift`."""
    target = markov_lm(3, 12)
    return Paced(target, clock, "target"), Paced(markov_lm(4, 12, like=target, drift=drift), clock, "draft")


def test_a_perfect_draft_wins_alone_and_loses_past_the_ridge(clock):
    points = {p.batch: p for p in crossover(*pair(clock), PROMPTS, K, batches=(1, 2, 4, 16, 64))}
    for batch, point in points.items():
        plain = max(1.0, batch / RIDGE)
        expected = 5 * plain / (max(1.0, 5 * batch / RIDGE) + K * 0.1 * plain)
        # behind a draft that stood throughout, the draft is fed two tokens, which past the ridge take longer than one
        assert point.speedup == pytest.approx(expected, rel=0.03)
        assert point.predicted_speedup == pytest.approx(expected) and point.identical is True
        assert point.v == pytest.approx(max(1.0, 5 * batch / RIDGE) / plain)
        assert point.metrics.alpha == 1 and point.tokens_per_second == pytest.approx(point.speedup * point.plain_tokens_per_second)
    assert points[1].speedup > 3 and points[64].speedup < 1
    speedups = [point.speedup for point in points.values()]
    assert all(small >= large - 1e-9 for small, large in pairwise(speedups))


def test_a_draft_that_errs_gives_the_same_texts(clock):
    for point in crossover(*pair(clock, drift=0.8), PROMPTS, K, batches=(1, 3, 7)):
        assert point.identical is True and 0 < point.metrics.alpha < 1
        assert point.efficiency == pytest.approx(1.0, abs=0.05)
        assert point.verify == pytest.approx(pass_seconds(5 * point.batch, "target") / 0.040, rel=0.01)


def test_every_row_has_as_many_rounds_and_all_are_counted(clock):
    (point,) = crossover(*pair(clock, drift=0.8), PROMPTS, K, batches=(6,), steps=12)
    assert point.metrics.rounds % 6 == 0 and point.metrics.drafted == K * point.metrics.rounds


def test_bookkeeping_is_what_no_pass_took(clock):
    """A drafter without a model that takes its time: all of it is overhead, and the prediction knows."""
    target, _ = pair(clock)

    class Slow(NgramDrafter):
        def propose(self, *args):
            clock.work(0.010)
            return always([1, 2, 3, 4]).propose(*args)

    (point,) = crossover(target, None, PROMPTS, K, batches=(2,), drafter=lambda target, draft: Slow())
    assert point.overhead_seconds == pytest.approx(0.020) and point.overhead == pytest.approx(0.5)
    assert point.draft_seconds == 0 == point.c
    assert point.efficiency == pytest.approx(1.0)


def test_a_drafter_that_drafts_nothing_has_no_price_of_a_token(clock):
    target, _ = pair(clock)
    (point,) = crossover(target, None, PROMPTS, K, batches=(2,), drafter=lambda target, draft: always([]))
    assert point.c is None and point.metrics.alpha is None and point.speedup == pytest.approx(1.0)


def test_a_drafter_that_does_not_ask_the_draft_does_not_pay_for_it(clock):
    (point,) = crossover(*pair(clock), PROMPTS, K, batches=(2,), drafter=lambda target, draft: NgramDrafter())
    assert point.draft_seconds == 0


def test_a_target_that_drafts_for_itself(clock):
    target, _ = pair(clock)
    (point,) = crossover(target, target, PROMPTS, K, batches=(2,))
    assert point.c == pytest.approx(1.0) and point.predicted_speedup == pytest.approx(1.0)


def test_a_row_that_writes_something_else_is_seen(clock):
    """The toy of a row that is no longer alone errs, as a batch with a bug would."""
    target, draft = pair(clock)
    honest = OneByOne.feed

    def wrong(self, calls):
        logits = honest(self, calls)
        return [row.roll(1, -1) for row in logits] if len(calls) > 1 and calls[0].tokens > 2 and self._model is target else logits

    OneByOne.feed, kept = wrong, OneByOne.feed
    try:
        assert [p.identical for p in crossover(target, draft, PROMPTS, K, batches=(1, 2))] == [True, False]
    finally:
        OneByOne.feed = kept


def test_medians_over_the_repeats(clock):
    """The machine stalls in one of three repeats."""
    (calm,) = crossover(*pair(clock), PROMPTS, K, batches=(2,), repeats=3)
    stalled = Clock(lambda now: 9.0 if 0.5 < now < 1.0 else 1.0)
    clock.now, clock._pace = 0.0, stalled._pace
    (point,) = crossover(*pair(clock), PROMPTS, K, batches=(2,), repeats=3)
    assert point.speedup == pytest.approx(calm.speedup, rel=0.05)


def test_the_bare_passes_see_as_much_text_as_the_longest_row(clock, monkeypatch):
    """A batch is a rectangle: its passes cost what the longest text costs, not the mean one."""
    seen = []

    def noted(model, context, batch):
        seen.append(context)
        return bare_passes(model, context, batch)

    monkeypatch.setattr(sys.modules[crossover.__module__], "bare_passes", noted)
    list(crossover(*pair(clock), [ids(7, 8, 9), ids(*range(9))], K, batches=(2,), steps=4))
    assert seen == [9 + 2, 9 + 2]


def test_when_sampling_draws_are_not_compared(clock):
    (point,) = crossover(*pair(clock, drift=0.3), PROMPTS, K, batches=(3,), params=SAMPLED)
    assert point.identical is None and point.metrics.tokens > 0


def test_real_caches_and_a_script():
    target, draft = tiny_llama(0), tiny_llama(0, noise=0.02)
    for point in crossover(target, draft, PROMPTS, K, batches=(1, 4), steps=8):
        assert point.identical is True and point.predicted_speedup > 0 and point.v > 0
    script = scripted_lm(TEXT, 10, start=3)
    (point,) = crossover(script, None, PROMPTS, K, batches=(2,), drafter=lambda target, draft: NgramDrafter())
    assert point.identical is True


@pytest.mark.parametrize("wrong", [{"batches": (0,)}, {"repeats": 0}, {"steps": 0}])
def test_what_cannot_be_measured_is_said(wrong):
    with pytest.raises(UserError, match="at least 1 each"):
        next(crossover(markov_lm(3, 12), None, PROMPTS, K, **wrong))
    with pytest.raises(UserError, match="no prompt"):
        next(crossover(markov_lm(3, 12), None, [], K))


def test_the_parts_of_a_point():
    m = Metrics.of(rounds(4, 2, 0, k=4))
    point = BatchPoint(8, 4, m, 0.05, 0.15, 0.10, 0.04, 0.01, 2.0, True)
    assert (point.batch, point.k, point.verify, point.overhead) == (8, 4, pytest.approx(2.0), pytest.approx(0.2))
    assert point.c == pytest.approx(0.2) and point.speedup == pytest.approx(1.0) == point.efficiency
    assert point.plain_tokens_per_second == pytest.approx(160)
