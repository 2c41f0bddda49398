"""A pair timed a little at a time: everything is found, in order, and each step is short."""

from __future__ import annotations

import pytest

from specdec_lab.measure.pair import time_pair
from specdec_lab.measure.traces import DraftStep, Measured, TargetPass, cost_ratio, curve_of
from tests.measure.toys import toy_pair


def test_parts_first_then_runs_with_coins_then_with_the_draft():
    events = list(time_pair(toy_pair(), 0.8, lengths=(1, 3), tokens=24, repeats=2))
    found = [event for event in events if event is not None]
    kinds = [type(event) for event in found]
    assert kinds == [*[TargetPass] * 4, DraftStep] * 2 + [Measured] * 4
    assert [e.tokens for e in found if isinstance(e, TargetPass)] == [1, 2, 3, 4] * 2
    runs = found[-4:]
    assert [(run.acceptance, run.k) for run in runs] == [("synthetic", 1), ("synthetic", 3), ("real", 1), ("real", 3)]
    assert all(run.predicted > 0 and run.measured > 0 for run in runs)
    assert events.count(None) > 60, "the runs do not give way between their rounds"


def test_coins_fall_with_the_chance_asked_for_and_the_draft_is_itself():
    """The toy draft is the target: it is always right, and coins are as right as they are told to be."""
    for p, alpha in ((1.0, 1.0), (0.0, 0.0)):
        runs = [e for e in time_pair(toy_pair(), p, lengths=(3,), tokens=24, repeats=1) if isinstance(e, Measured)]
        assert {run.acceptance: run.alpha for run in runs} == {"synthetic": alpha, "real": 1.0}


@pytest.mark.parametrize("seconds", [0.004])
def test_the_prices_are_those_of_the_models(seconds):
    """A target whose pass takes 4 ms and a draft that takes 1: sleep never returns early, and the scheduler adds a little."""
    events = [e for e in time_pair(toy_pair(seconds, seconds / 4), 0.8, lengths=(3,), tokens=8, repeats=5) if e is not None]
    assert all(ms >= 1000 * seconds for ms in curve_of(events).milliseconds.values())
    assert 0.2 < cost_ratio(events) < 0.5
