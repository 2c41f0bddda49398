"""Predicted against measured, on models whose passes take a known time."""

import sys
import time

import pytest

from specdec_lab.drafters import ModelDrafter, NgramDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.measure import compare, timer
from specdec_lab.measure.compare import milliseconds_per_token
from specdec_lab.models.toy import scripted_lm
from specdec_lab.theory.closed_forms import speedup
from specdec_lab.verify import verify_greedy
from tests.measure.clock import Clock, PacedDrafter, PacedModel
from tests.measure.toys import comparison
from tests.support import SAMPLED, ids, tiny_llama

PROMPT = ids(7, 8, 9)
TEXT = [1, 2, 3, 4, 5, 1, 3, 5, 2, 4]
K = 4


def v(n):
    """Milliseconds a pass, with a bump where a real CPU has one."""
    return 0.040 if n == 1 else 0.070 if n == 2 else 0.048


def target(clock, seconds=v):
    return PacedModel(scripted_lm(TEXT, 10, start=len(PROMPT)), clock, seconds)


def truth(context, k):
    at = len(context) - len(PROMPT)
    return [TEXT[i % len(TEXT)] for i in range(at, at + k)]


def spoilt(context, k):
    """Right but for every third token of the text."""
    at = len(context) - len(PROMPT)
    return [0 if (at + i) % 3 == 2 else token for i, token in enumerate(truth(context, k))]


def tokens(n):
    return lambda: Stopping(max_new_tokens=n)


def keep_time(monkeypatch, pace=lambda now: 1.0):
    clock = Clock(pace)
    for module in ("specdec_lab.engine.loop", "specdec_lab.measure.compare"):
        monkeypatch.setattr(sys.modules[module], "perf_counter", clock)
    monkeypatch.setattr(timer, "perf_counter", clock)
    return clock


@pytest.fixture
def clock(monkeypatch):
    return keep_time(monkeypatch)


def test_prediction_and_measurement_agree_where_nothing_is_hidden(clock):
    result = compare(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004, commit=0.012), K, stopping=tokens(47))
    assert result.identical_to_baseline is True
    drafted, rounds = result.metrics.drafted, result.metrics.rounds  # what a drafter does after the verdict is drafting too
    assert result.c == pytest.approx(0.1 + 0.3 * rounds / drafted) and result.overhead == pytest.approx(0, abs=1e-12)
    assert 1.2 < result.verify < 1.3  # 1.2 for a pass over 5 tokens, 1 and 1.75 for those of a last, short draft
    assert result.baseline_tokens_per_second == pytest.approx(25)
    seconds = sum(v(len(r.drafted) + 1) + 0.004 * len(r.drafted) + 0.012 for r in result.speculative.rounds)
    assert result.speedup == pytest.approx(47 * 0.040 / seconds)
    assert result.predicted_speedup == pytest.approx(result.speedup)
    assert result.efficiency == pytest.approx(1)


def test_where_every_round_drafts_k_tokens_it_is_the_closed_form(clock):
    result = compare(target(clock), PROMPT, PacedDrafter(truth, clock, draft=0.004, commit=0.012), K, stopping=tokens(40))
    assert result.predicted_speedup == pytest.approx(speedup(K, 1.0, result.c, result.verify, result.overhead))
    assert result.predicted_speedup == pytest.approx(5 / (1.2 + 4 * 0.1 + 0.3))


def test_drafts_of_every_length_none_included(clock):
    drafter = PacedDrafter(lambda context, k: spoilt(context, min(k, len(context) % 5)), clock, draft=0.004)
    result = compare(target(clock), PROMPT, drafter, K, stopping=tokens(60))
    assert {len(r.drafted) for r in result.speculative.rounds} == {0, 1, 2, 3, 4}
    assert result.efficiency == pytest.approx(1)
    iid = speedup(K, result.metrics.alpha, result.c, result.verify, result.overhead)
    assert abs(float(iid) / result.speedup - 1) > 0.1  # the closed form knows nothing of short drafts


def test_the_prediction_is_not_read_off_the_run(monkeypatch):
    """A pass right after drafting takes twice as long, as if the draft had pushed the target out of the cache."""
    clock = keep_time(monkeypatch)
    just_drafted = []

    def propose(context, k):
        just_drafted.append(1)
        return truth(context, k)

    model = target(clock, lambda n: v(n) * (2 if just_drafted and just_drafted.pop() else 1))
    result = compare(model, PROMPT, PacedDrafter(propose, clock, draft=0.004), K, stopping=tokens(40))
    assert result.predicted_speedup == pytest.approx(5 / (1.2 + 0.4))
    assert result.speedup == pytest.approx(5 / (2.4 + 0.4))
    assert result.efficiency == pytest.approx(1.6 / 2.8)


def test_a_machine_that_slows_down_does_not_decide_the_comparison(monkeypatch):
    def run(pace):
        clock = keep_time(monkeypatch, pace)
        return compare(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004), K, stopping=tokens(60))

    steady, slowing = run(lambda now: 1.0), run(lambda now: 1.0 if now < 2.5 else 3.0)
    assert slowing.baseline_tokens_per_second < 0.7 * steady.baseline_tokens_per_second
    assert slowing.speedup == pytest.approx(steady.speedup, rel=0.05)
    assert slowing.predicted_speedup == pytest.approx(steady.predicted_speedup, rel=0.05)


def test_medians_over_the_repeats(monkeypatch):
    """One repeat of three at a fifth of the speed changes nothing."""
    made = []

    def stopping():
        made.append(1)
        return Stopping(max_new_tokens=20)

    def run(repeats, slow=range(0)):
        made.clear()
        clock = keep_time(monkeypatch, lambda now: 5.0 if len(made) in slow else 1.0)
        return compare(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004, commit=0.01), K, stopping=stopping, repeats=repeats)

    once = run(1)
    each = len(made)
    thrice = run(3, slow=range(each + 1, 2 * each + 1))
    assert thrice.as_dict() == pytest.approx(once.as_dict())
    assert run(1, slow=range(1, each + 1)).tokens_per_second == pytest.approx(once.tokens_per_second / 5)  # it was slow


def test_with_nothing_drafted_nothing_is_gained(clock):
    result = compare(target(clock), PROMPT, PacedDrafter(lambda context, k: [], clock, draft=1.0), K, stopping=tokens(12))
    assert result.c is None and result.metrics.alpha is None
    assert (result.speedup, result.predicted_speedup) == pytest.approx((1, 1))
    assert compare(target(clock), PROMPT, None, stopping=tokens(12)).speedup == pytest.approx(1)


def test_finding_nothing_costs_time_too(clock):
    class Searching(PacedDrafter):
        def propose(self, context, k, params, rng):
            self._clock.work(0.008)
            return super().propose(context, k, params, rng)

    result = compare(target(clock), PROMPT, Searching(lambda context, k: [], clock, draft=0.0), K, stopping=tokens(12))
    assert result.speedup == pytest.approx(12 / (11 * 1.2 + 1)) and result.efficiency == pytest.approx(1)


def test_bare_passes_are_as_long_as_the_drafts_and_stand_in_the_middle_of_the_text(clock):
    model = target(clock)
    result = compare(model, PROMPT, PacedDrafter(spoilt, clock, draft=0.004), K, stopping=tokens(40))
    before = model.passes.index((0, len(PROMPT) + 20))  # where their cache was filled
    bare = [n for held, n in model.passes[before:] if held == len(PROMPT) + 20]
    lengths = [len(r.drafted) + 1 for r in result.speculative.rounds]
    there = [1, *(n for r, n in zip(result.speculative.rounds, lengths, strict=True) if r.context_length == len(PROMPT) + 21)]
    assert sorted(bare) == sorted(lengths + there)  # the plain run and perhaps a round pass there too


def test_bookkeeping_is_paid_in_every_round_and_in_every_plain_step(clock):
    class Slow(Stopping):
        def take(self, run):
            clock.work(0.010)
            return super().take(run)

    drafter = PacedDrafter(truth, clock, draft=0.004, commit=0.005)
    result = compare(target(clock), PROMPT, drafter, K, stopping=lambda: Slow(40))
    assert result.baseline_tokens_per_second == pytest.approx(1 / 0.050)
    assert result.overhead == pytest.approx(0.010 / 0.050)
    assert result.predicted_speedup == pytest.approx(5 * 0.050 / (0.048 + 4 * 0.004 + 0.005 + 0.010))
    assert result.efficiency == pytest.approx(1)


# --- the two texts ---


def test_a_corrupt_verifier_is_reported_with_the_place(clock):
    def accepts_all(draft, said):
        if len(draft) == 0:
            return 0, 0
        accepted, token = verify_greedy(draft, said)
        return (len(draft), token) if accepted == len(draft) - 1 else (accepted, token)  # a wrong last token stands

    drafter = PacedDrafter(spoilt, clock, draft=0.004)
    result = compare(target(clock), PROMPT, drafter, 3, stopping=tokens(30), verify=accepts_all)
    assert result.identical_to_baseline is False and result.as_dict()["identical_to_baseline"] is False
    assert result.first_difference == 2
    assert result.speculative.tokens[:2] == result.baseline.tokens[:2] and result.speculative.tokens[2] != result.baseline.tokens[2]
    assert result.baseline.tokens == generate(target(clock), PROMPT, stopping=Stopping(30)).tokens  # the plain run has none of it


def test_a_text_that_ends_early_differs_where_it_ends(clock):
    def stops(draft, said):
        return 0, 6 if len(draft) else int(said[0])

    drafter = PacedDrafter(lambda context, k: truth(context, k) if len(context) == 8 else [], clock, draft=0.004)
    result = compare(target(clock), PROMPT, drafter, K, stopping=lambda: Stopping(30, frozenset({6})), verify=stops)
    assert result.speculative.tokens == (*result.baseline.tokens[:5], 6) and result.first_difference == 5
    short = Stopping(5)
    assert generate(target(clock), PROMPT, stopping=short).tokens == result.baseline.tokens[:5]


def test_one_text_the_start_of_the_other(clock):
    lengths = iter([30, 30, 30, 20, 30])  # two warm-ups, the plain run, the speculative one, the bare passes

    result = compare(target(clock), PROMPT, PacedDrafter(truth, clock, draft=0.004), K, stopping=lambda: Stopping(next(lengths)))
    assert result.first_difference == 20 and result.identical_to_baseline is False


def test_when_sampling_there_is_no_identity(clock):
    drafter = PacedDrafter(spoilt, clock, draft=0.004)
    assert compare(target(clock), PROMPT, drafter, K, SAMPLED, tokens(30)).identical_to_baseline is None


def test_same_seed_same_text():
    model, draft = tiny_llama(0), tiny_llama(0, noise=0.02)
    a, b, c = (compare(model, PROMPT, ModelDrafter(draft, 64), 3, SAMPLED, tokens(12), seed=s) for s in (1, 1, 2))
    assert a.speculative.tokens == b.speculative.tokens != c.speculative.tokens


# --- the report ---


def test_the_words_of_the_report(clock):
    result = compare(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004), K, stopping=tokens(47))
    run = generate(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004), K, stopping=Stopping(47))
    m = run.metrics
    assert result.as_dict() == pytest.approx(
        {
            "tokens": 47,
            "rounds": m.rounds,
            "drafted": m.drafted,
            "accepted": m.accepted,
            "acceptance_rate": m.acceptance_rate,
            "alpha": m.alpha,
            "mean_acceptance_length": m.mean_acceptance_length,
            "tokens_per_second": run.tokens_per_second,
            "baseline_tokens_per_second": 25.0,
            "speedup": run.tokens_per_second / 25,
            "predicted_speedup": run.tokens_per_second / 25,
            "efficiency": 1.0,
            "identical_to_baseline": True,
        }
    )
    assert [r.emitted for r in result.speculative.rounds] == [r.emitted for r in run.rounds]


def test_two_rounds_of_each_are_a_warm_up(clock):
    model = target(clock, lambda n: 9.0 if len(model.passes) <= 2 * (1 + 2) else v(n))
    result = compare(model, PROMPT, PacedDrafter(truth, clock, draft=0.004), K, stopping=tokens(40))
    assert result.baseline_tokens_per_second == pytest.approx(25) and result.efficiency == pytest.approx(1)


def test_prompt_reading_is_kept_apart(clock):
    result = compare(target(clock, lambda n: 3.0 if n == len(PROMPT) - 1 else v(n)), PROMPT, None, stopping=tokens(12))
    assert result.baseline.prefill_seconds == pytest.approx(3.0)
    assert result.baseline.decode_seconds == pytest.approx(12 * 0.040)


# --- edges ---


@pytest.mark.parametrize("k", [1, 8, 9, 20, 200])
def test_any_k_up_to_the_very_end_of_the_context(clock, k):
    model = target(clock)
    model._model.max_context = len(PROMPT) + 30
    result = compare(model, PROMPT, PacedDrafter(spoilt, clock, draft=0.004), k, stopping=tokens(30))
    assert result.metrics.tokens == 30 and result.efficiency == pytest.approx(1)


def test_a_single_token(clock):
    result = compare(target(clock), PROMPT, PacedDrafter(truth, clock, draft=0.004), K, stopping=tokens(1))
    assert result.metrics.drafted == 0 and result.speedup == pytest.approx(1)


@pytest.mark.parametrize(("arguments", "says"), [({"repeats": 0}, "repeats is 0"), ({"k": 0}, "k is 0")])
def test_bad_values_are_named(clock, arguments, says):
    with pytest.raises(UserError, match=says):
        compare(target(clock), PROMPT, PacedDrafter(truth, clock, draft=0.0), stopping=tokens(5), **arguments)


# --- a real clock ---


def test_a_tiny_llama():
    model, draft = tiny_llama(0), tiny_llama(0, noise=0.02)
    for drafter in (ModelDrafter(draft, 64), NgramDrafter()):
        result = compare(model, PROMPT, drafter, 4, stopping=tokens(24))
        assert result.identical_to_baseline is True
        assert result.speedup > 0 and result.predicted_speedup > 0
        assert result.efficiency == pytest.approx(result.speedup / result.predicted_speedup)


class Sleep(Clock):
    def work(self, seconds):
        time.sleep(seconds)


def test_on_the_real_clock_they_agree_within_a_few_percent():
    clock = Sleep()
    found = []
    for _ in range(3):  # a busy machine may oversleep; it takes one quiet run of three
        result = compare(target(clock, lambda n: v(n) / 4), PROMPT, PacedDrafter(spoilt, clock, draft=0.001), K, stopping=tokens(20))
        found.append(result.efficiency)
        if found[-1] == pytest.approx(1, abs=0.05):
            return
    pytest.fail(f"measured over predicted speedup: {found}")


def test_the_parts_are_spread_over_the_tokens_and_add_up_to_the_run():
    run = comparison((0.01, 0.05, 0.07), (0.03, 0.05, 0.09))  # 2 tokens each
    parts = milliseconds_per_token(run)
    assert parts == pytest.approx({"target": 25.0, "drafting": 10.0, "bookkeeping": 5.0, "plain": 50.0})
    assert parts["target"] + parts["drafting"] + parts["bookkeeping"] == pytest.approx(1000 / run.speculative.tokens_per_second)
