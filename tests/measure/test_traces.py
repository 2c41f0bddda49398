"""Traces: what is saved is what is loaded, and what cannot be read says why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.record import record
from specdec_lab.measure.traces import Bounds, DraftStep, Measured, TargetPass, Trace, cost_ratio, curve_of, load_trace, recorded

EVENTS = (
    TargetPass(1, 0.050),
    TargetPass(2, 0.060),
    DraftStep(0.004),
    TargetPass(1, 0.054),
    DraftStep(0.006),
    DraftStep(0.005),
    TargetPass(2, 0.090, batch=4),
    Measured("synthetic", 3, None, 1.5, 1.2),
    Measured("real", 3, 0.6, 1.4, 0.9),
)


def trace(**changes) -> Trace:
    fields = dict(
        device="a box, 2 cores", date="2026-11-30", commit="abc", versions={"torch": "2"}, command="record", pair="toy", dtype="float32"
    )
    return Trace(**{**fields, "p": 0.8, "bounds": Bounds(1e6, 4, 1e9, 1e11), "events": EVENTS, **changes})


def test_what_is_saved_is_what_is_loaded(tmp_path):
    file = tmp_path / "new" / "one.json"
    trace().save(file)
    assert load_trace(file) == trace()
    assert json.loads(file.read_text())["version"] == 1
    assert trace().label == "recorded on a box, 2 cores, 2026-11-30"


def test_curves_by_batch_and_the_price_of_drafting():
    assert curve_of(EVENTS).milliseconds == pytest.approx({1: 52, 2: 60})
    assert curve_of(EVENTS, batch=4).milliseconds == pytest.approx({2: 90})
    assert cost_ratio(EVENTS) == pytest.approx(5 / 52)
    assert cost_ratio(EVENTS[:2]) is None and cost_ratio([DraftStep(1.0)]) is None
    assert EVENTS[-1].efficiency == pytest.approx(0.9 / 1.4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no json", "no trace that can be read"),
        ("[]", "no trace that can be read"),
        ("{}", "no trace that can be read"),
        ('{"version": 1, "events": [["Nonsense", 1]]}', "no trace that can be read"),
        ('{"version": 99}', "format 99, but this package reads format 1"),
    ],
)
def test_what_cannot_be_read_says_so_and_names_the_way_out(tmp_path, text, says):
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(UserError, match=re.escape(says)) as error:
        load_trace(file)
    assert "record it again: python -m specdec_lab.measure.record" in str(error.value)


def test_an_unknown_trace_names_those_there_are():
    with pytest.raises(UserError, match=f"no trace nonsense; recorded are: {', '.join(recorded())}"):
        load_trace("nonsense")


@pytest.mark.parametrize("name", recorded())
def test_the_courses_traces_say_where_they_come_from(name):
    found = load_trace(name)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.date) and found.device and found.commit and found.command
    assert {"python", "torch", "transformers", "specdec_lab"} <= found.versions.keys()
    assert set(range(1, 10)) <= set(curve_of(found.events).timings) and 0 < cost_ratio(found.events) < 1
    assert {e.acceptance for e in found.events if isinstance(e, Measured)} == {"synthetic", "real"}
    assert len({e.batch for e in found.events if isinstance(e, TargetPass)}) > 3
    assert found.bounds.bandwidth > 1e9 and found.bounds.flop_rate > 1e9


def test_there_is_one():
    assert recorded()


def test_recording_measures_everything_the_explorers_ask(cpu_pair_fp32, monkeypatch):
    module = record.__globals__
    monkeypatch.setitem(module, "time_pair", lambda pair, p: iter([TargetPass(1, 0.05), None, DraftStep(0.01)]))
    monkeypatch.setitem(module, "BATCHES", (1, 2))
    monkeypatch.setitem(module, "LENGTHS", (1, 2))
    monkeypatch.setitem(module, "measure_flop_rate", lambda dtype, device: 1e11)
    monkeypatch.setitem(module, "measure_bandwidth", lambda device: 1e10)
    made = record(cpu_pair_fp32, "the command")
    assert made.events[:2] == (TargetPass(1, 0.05), DraftStep(0.01))
    assert {(e.tokens, e.batch) for e in made.events[2:]} == {(1, 2), (2, 2)} and all(e.seconds > 0 for e in made.events)
    assert (made.bounds.bytes_per_parameter, made.dtype, made.pair, made.command) == (4, "float32", "cpu-default", "the command")
    assert made.bounds.parameters == pytest.approx(134.5e6, rel=0.01)
    assert Path(__file__).parts[1] not in json.dumps(made.versions)
