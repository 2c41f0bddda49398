"""Chapter 1's pictures show the numbers they are given, in the units of their axes."""

from __future__ import annotations

import pytest

from specdec_lab.measure import CostCurve, Pass
from specdec_lab.widgets import batch_figure, pass_figure, ridge_figure, roofline, watch_passes

PASSES = [Pass(1, 0.010), Pass(8, 0.014), Pass(64, 0.050)]
BOUND = {1: 0.002, 8: 0.002, 64: 0.006}


def named(figure):
    return {trace.name: dict(zip(trace.x, trace.y, strict=True)) for trace in figure.data}


def test_passes_and_bound_in_milliseconds():
    figure = pass_figure(BOUND, CostCurve.of(PASSES), {1: 5, 8: 0, 64: 70}, {1: 0.008})
    drawn = named(figure)
    assert drawn["measured"] == pytest.approx({1: 10, 8: 14, 64: 50})
    assert drawn["bound"] == pytest.approx({1: 2, 8: 2, 64: 6})
    assert drawn["your prediction"] == {1: 5, 64: 70}, "0 is no prediction"
    assert drawn["matrix products alone"] == pytest.approx({1: 8})
    assert "8 tokens takes 1.4 times" in figure.layout.title.text


def test_what_was_not_given_is_not_in_the_legend():
    assert set(named(pass_figure(BOUND, CostCurve.of(PASSES), {1: 0}))) == {"bound", "measured"}


def test_batches():
    figure = batch_figure(5, {1: 1.0, 64: 5.0}, {1: 1.1, 64: 2.0}, {1: 0.0, 64: 1.0})
    assert named(figure) == {"predicted": {1: 1.0, 64: 5.0}, "measured": {1: 1.1, 64: 2.0}, "your prediction": {64: 1.0}}
    assert "Checking 4 guesses costs 1.1 steps for 1 text, and 2.0 for 64 texts" in figure.layout.title.text


def test_machines_differ_by_more_than_colour():
    figure = ridge_figure({"this machine": {1: 1.0, 2: 2.0}, "H200": {1: 1.0, 2: 1.0}}, {"this machine": 1.4, "H200": 206.0}, "Predicted")
    assert [trace.name for trace in figure.data] == ["this machine: flat up to 1 tokens", "H200: flat up to 206 tokens"]
    assert len({trace.line.dash for trace in figure.data}) == 2


def test_the_curve_is_drawn_after_every_sweep_and_each_picture_replaces_the_last(monkeypatch):
    events = []
    monkeypatch.setattr(roofline, "clear_output", lambda wait: events.append("clear"))
    monkeypatch.setattr(roofline, "display", events.append)
    monkeypatch.setattr(roofline, "sleep", lambda seconds: events.append("rest"))
    slow = [Pass(n, 3 * seconds) for n, seconds in PASSES]
    curve = watch_passes(iter([*PASSES, *slow, *slow]), lambda curve: len(curve.timings[64].seconds))
    assert events == ["clear", 1, "rest", "clear", 2, "rest", "clear", 3, "rest"]
    assert curve.milliseconds == pytest.approx({1: 30, 8: 42, 64: 150})


def test_sweeps_over_a_single_length_are_told_apart(monkeypatch):
    drawn = []
    monkeypatch.setattr(roofline, "_replace", drawn.append)
    watch_passes(iter([Pass(1, 0.010)] * 3), lambda curve: len(curve.timings[1].seconds))
    assert drawn == [1, 2, 3]
