from itertools import islice

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure import CostCurve, Pass, cost_curve, time_passes, timer
from specdec_lab.models.toy import scripted_lm
from tests.measure.clock import Clock, PacedModel
from tests.support import tiny_llama


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timer, "perf_counter", clock)
    return clock


def paced(clock, seconds=lambda n: 0.010 + 0.002 * n, max_context=4096):
    toy = scripted_lm([1, 2], 5, start=0)
    toy.max_context = max_context
    return PacedModel(toy, clock, seconds)


def test_milliseconds_of_each_length(clock):
    curve = cost_curve(paced(clock), lengths=(4, 8), context=10)
    assert curve.milliseconds == pytest.approx({1: 12, 4: 18, 8: 26})  # 1 is always measured: v needs it
    assert curve.v(1) == 1
    assert curve.v(8) == pytest.approx(26 / 12)


def test_between_measured_lengths_lies_a_line(clock):
    curve = cost_curve(paced(clock, lambda n: 0.010 * n * n), lengths=(2, 4))
    assert curve.t(3) == pytest.approx((40 + 160) / 2)
    assert curve.v(3) == pytest.approx(10)


def test_no_figure_that_nobody_measured(clock):
    curve = cost_curve(paced(clock), lengths=(2, 4))
    for n in (0, 5):
        with pytest.raises(UserError, match=f"Passes of 1 to 4 tokens were measured, none of {n}"):
            curve.v(n)


def test_lengths_are_taken_in_turn_on_a_cache_of_the_context_after_one_untimed_sweep(clock):
    model = paced(clock)
    passes = list(time_passes(model, lengths=(4, 2), context=10, repeats=2))
    assert [p.tokens for p in passes] == [1, 2, 4] * 2
    assert model.passes == [(0, 10)] + [(10, 1), (10, 2), (10, 4)] * 3


def test_the_first_sweep_does_not_count(clock):
    model = paced(clock, lambda n: 9.0 if len(model.passes) <= 1 + 2 else 1.0)
    assert {p.seconds for p in time_passes(model, lengths=(2,))} == {1.0}


def test_a_machine_that_slows_down_slows_all_lengths_alike(monkeypatch):
    clock = Clock(pace=lambda now: 1.0 + 2.0 * (now > 0.5))  # a third of the speed from half way on
    monkeypatch.setattr(timer, "perf_counter", clock)
    curve = cost_curve(paced(clock, lambda n: 0.010 + 0.002 * n), lengths=(4, 8), context=0, repeats=9)
    assert curve.v(8) == pytest.approx(26 / 12, rel=0.02)


def test_points_arrive_one_at_a_time(clock):
    model = paced(clock)
    stream = time_passes(model, lengths=(2, 4), context=0)
    first = next(stream)
    assert first == Pass(1, pytest.approx(0.012)) and len(model.passes) == 3 + 1  # the warm-up sweep, and this one
    assert CostCurve.of([first, *islice(stream, 1)]).milliseconds == pytest.approx({1: 12, 2: 14})


def test_a_real_cache_is_rolled_back_after_every_pass():
    model = tiny_llama(0)
    caches = []
    watched = PacedModel(model, Clock(), lambda n: 0.0)
    watched.new_cache = lambda: caches.append(model.new_cache()) or caches[-1]
    curve = cost_curve(watched, lengths=(3,), context=7, repeats=2)
    assert [len(c) for c in caches] == [7]
    assert watched.passes == [(0, 7)] + [(7, 1), (7, 3)] * 3
    assert min(curve.milliseconds.values()) > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"lengths": (0, 2)}, "lengths"),
        ({"lengths": (2,), "repeats": 0}, "repeats 0"),
        ({"lengths": (2,), "context": -1}, "context -1"),
        ({"lengths": (2, 30), "context": 40}, "40 \\+ 30 tokens do not fit the context of 64 tokens of script"),
    ],
)
def test_bad_values_are_named(clock, arguments, says):
    with pytest.raises(UserError, match=says):
        cost_curve(paced(clock, max_context=64), **arguments)
