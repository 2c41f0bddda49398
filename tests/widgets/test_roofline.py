"""Chapter 1's pictures show the numbers they are given, in the units of their axes; the explorer those of theory/ and of the clock."""

from __future__ import annotations

import re
from html import unescape

import ipywidgets
import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure import CostCurve, Pass
from specdec_lab.measure.traces import Bounds, TargetPass, Trace
from specdec_lab.theory.roofline import arithmetic_intensity, free_guesses, free_texts, pass_time, ridge
from specdec_lab.widgets import pass_figure, roofline, roofline_explorer
from specdec_lab.widgets.live import Picture
from tests.support import tiny_llama

PASSES = [Pass(1, 0.010), Pass(8, 0.014), Pass(64, 0.050)]
BOUND = {1: 0.002, 8: 0.002, 64: 0.006}
BOUNDS = Bounds(134.5e6, 4, 20e9, 100e9)  # ridge at 10 tokens
NUMBERS = (BOUNDS.parameters, BOUNDS.bytes_per_parameter, BOUNDS.bandwidth, BOUNDS.flop_rate)
TRACE = Trace("Card", "2026-11-30", "abc", {}, "", "pair", "bfloat16", 0.8, Bounds(8e9, 2, 1e12, 1e14), (TargetPass(5, 0.5, 3),))


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


class Parts:
    """The explorer's parts by what they are."""

    def __init__(self, explorer) -> None:
        self.explorer = explorer
        self.k, self.batch, self.machine, self._picture, self._numbers, buttons = explorer.parts
        self.measure, self.cancel = buttons.children[0].children

    @property
    def figure(self):
        assert isinstance(self._picture, Picture)
        return self._picture.figure

    @property
    def numbers(self) -> dict[str, str]:
        assert isinstance(self._numbers, ipywidgets.HTML)
        rows = re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", self._numbers.value)
        return {name: unescape(text) for name, text in rows}

    @property
    def points(self) -> dict[str, dict[int, float]]:
        return {name: there for name, there in named(self.figure).items() if name.startswith("measured")}


@pytest.fixture
def parts() -> Parts:
    return Parts(roofline_explorer(tiny_llama(1), BOUNDS))


@pytest.mark.parametrize(("k", "batch"), [(4, 1), (4, 2), (4, 3), (0, 10), (15, 64), (1, 64)])
def test_every_number_is_that_of_the_theory(parts, k, batch):
    parts.k.value, parts.batch.value = k, batch
    n = (k + 1) * batch
    drawn, numbers = named(parts.figure), parts.numbers
    assert drawn[f"with k = {k} guesses"] == pytest.approx({n: pass_time(n, *NUMBERS) * 1000})
    assert drawn[f"plain step, B = {batch}"] == pytest.approx({batch: pass_time(batch, *NUMBERS) * 1000})
    assert drawn["bound"] == pytest.approx({at: pass_time(at, *NUMBERS) * 1000 for at in drawn["bound"]})
    assert drawn["reading the weights"][1024] == pytest.approx(134.5e6 * 4 / 20e9 * 1000)
    assert drawn["arithmetic"][1] == pytest.approx(2 * 134.5e6 / 100e9 * 1000)
    assert 10 in drawn["bound"], "the corner is a point of its own"
    assert numbers["reads"] == "538 MB in 26.9 ms"
    assert numbers["computes"] == f"{2 * 134.5e6 * n / 1e9:,.2f} GFLOP in {2 * 134.5e6 * n / 100e9 * 1000:.3g} ms"
    assert numbers["intensity"].startswith(
        f"{arithmetic_intensity(n, 4):,.1f} FLOP a byte; arithmetic sets the time from 5.0 on: the ridge, 10.0"
    )
    assert f"at least {pass_time(n, *NUMBERS) / pass_time(batch, *NUMBERS):.2f} plain steps" in numbers[f"v({k + 1})"]
    at = ridge(4, 20e9, 100e9)
    assert re.match(rf"{free_texts(k, at)} texts? with k = {k}, or k = {free_guesses(batch, at)} with {batch} text", numbers["free up to"])


def test_the_title_says_whether_the_guesses_are_free(parts):
    parts.batch.value = 2
    assert parts.figure.layout.title.text == "2 texts, 4 guesses each: 10 tokens, within the ridge of 10, they are free"
    parts.batch.value = 4
    assert parts.figure.layout.title.text == "4 texts, 4 guesses each: 20 tokens, past the ridge of 10, they make it 2.0 steps"


def test_the_learners_functions_draw_the_lines():
    asked = []

    def mine(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
        asked.append(n)
        return 1.0 * n

    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS, mine, lambda n, bytes_per_parameter: 77.0 * n))
    assert asked and named(parts.figure)["with k = 4 guesses"] == {5: 5000.0} and parts.numbers["intensity"].startswith("385.0 FLOP")


def test_a_machine_of_a_data_sheet_is_not_measured(parts):
    parts.machine.value = "H200, data sheet"
    assert "predicted, not measured" in parts.figure.layout.yaxis.title.text and parts.numbers["machine"] == "predicted, not measured"
    assert all(not points for points in parts.points.values()) and "ridge, 206.0 tokens" in parts.numbers["intensity"]
    assert parts.numbers["free up to"].startswith("41 texts with k = 4")


def test_a_recorded_machine_is_labelled_so(monkeypatch):
    monkeypatch.setattr(roofline, "recorded", lambda: ["card"])
    monkeypatch.setattr(roofline, "load_trace", lambda name: TRACE)
    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS, device="Card, recorded"))
    assert parts.numbers["machine"] == "recorded on Card, 2026-11-30" and "recorded on Card" in parts.figure.layout.yaxis.title.text
    assert parts.points["measured, more"] == {15: 500.0} and "ridge, 100.0" in parts.numbers["intensity"]


def test_a_machine_that_is_not_listed_is_refused():
    with pytest.raises(UserError, match=r"no 'H300'.*this machine, .*H200, data sheet"):
        roofline_explorer(tiny_llama(1), BOUNDS, device="H300")


def test_points_that_were_measured_before_are_there_with_their_spread():
    passes = [TargetPass(n, n * s / 1000, batch) for batch in (1, 4) for n in (1, 5) for s in (10, 12, 20)]
    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS, passes=passes))
    assert parts.points["measured, 1 token a text"] == {1: 12.0, 4: 12.0} and parts.points["measured, more"] == {5: 60.0, 20: 60.0}
    (bars,) = (trace.error_y for trace in parts.figure.data if trace.name == "measured, 1 token a text")
    assert list(bars.array) == pytest.approx([4, 4]) and list(bars.arrayminus) == pytest.approx([1, 1])
    assert parts.numbers["v(5)"].endswith("; measured 5.00")
    parts.batch.value = 2
    assert "measured" not in parts.numbers["v(5)"]


def test_points_arrive_one_by_one(monkeypatch):
    monkeypatch.setattr(roofline, "BATCHES", (1, 2))
    seen = []
    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS))
    monkeypatch.setattr(roofline, "sleep", lambda _: seen.append((sum(map(len, parts.points.values())), parts.explorer.status.value)))
    parts.machine.value = "T4, data sheet"
    parts.k.value = 2
    parts.measure.click()
    assert [points for points, _ in seen] == [1, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4]
    assert "11 of 12 passes: 2 x 1 tokens took" in seen[-1][1]
    assert "Measured" in parts.explorer.status.value and parts.machine.value == roofline.HERE
    assert parts.points["measured, 1 token a text"].keys() == {1, 2} and parts.points["measured, more"].keys() == {3, 6}


def test_without_guesses_only_plain_steps_are_measured(monkeypatch):
    monkeypatch.setattr(roofline, "BATCHES", (1, 2))
    monkeypatch.setattr(roofline, "sleep", lambda _: None)
    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS))
    parts.k.value = 0
    parts.measure.click()
    assert parts.points["measured, 1 token a text"].keys() == {1, 2} and not parts.points["measured, more"]


def test_cancel_keeps_what_was_measured(monkeypatch):
    parts = Parts(roofline_explorer(tiny_llama(1), BOUNDS))
    monkeypatch.setattr(roofline, "sleep", lambda _: parts.cancel.click())
    parts.measure.click()
    assert "Cancelled. So far: 1 of 42 passes" in parts.explorer.status.value
    assert sum(map(len, parts.points.values())) == 1


def test_what_goes_wrong_is_said(parts, monkeypatch):
    monkeypatch.setattr(roofline, "roofline_figure", lambda *_: 1 / 0)
    parts.k.value = 3
    assert "ZeroDivisionError" in parts.explorer.status.value


def test_a_reader_without_a_kernel_has_a_slider_over_the_texts_and_the_numbers(parts):
    html = parts.explorer._still
    assert "<img src=" in html and "v(5)" in html and '"prefix":"B, texts in the pass: "' in html
    assert all(f'"name":"{batch}"' in html for batch in roofline.BATCHES)
    assert len(html) < 100_000
