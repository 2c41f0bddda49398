"""The pictures of chapter 5: every run is in them, and the titles say what was found."""

import re

import pytest

from specdec_lab.widgets import acceptance_figure, prediction_figure, runs_table, time_figure
from tests.measure.test_workloads import comparison

SPENT = [(0.01, 0.05, 0.07)] * 3
RUNS = {
    ("code", 0.0): comparison(*SPENT, accepted=2, plain=20.0, speed=35.0),
    ("code", 1.0): comparison(*SPENT, accepted=1, plain=20.0, speed=22.0),
    ("story", 0.0): comparison(*SPENT, accepted=0, plain=20.0, speed=12.0),
    ("story", 1.0): comparison(*SPENT, accepted=0, k=0, plain=20.0, speed=14.0),  # nothing was ever drafted
}


def text(cell: str) -> str:
    return re.sub("<[^>]+>", "", cell)


def test_a_row_a_run_and_losers_are_marked():
    rows = [[text(cell) for cell in re.findall(r"<td.*?</td>", row)] for row in runs_table(RUNS).data.split("<tr>")[2:]]
    assert [row[:2] for row in rows] == [["code", "0"], ["code", "1"], ["story", "0"], ["story", "1"]]
    assert [row[9] for row in rows] == ["1.75", "1.10", "✗ 0.60", "✗ 0.70"]
    assert rows[1][3:5] == ["0.50", "0.50 ± 0.20"] and rows[3][3:5] == ["none", "none"]


def test_the_table_can_be_empty_and_names_every_column():
    page = runs_table({}).data
    assert page.count("<th") == 11 and page.count("<tr>") == 1 and "speedup, by the clock" in page


def test_acceptance_is_a_bar_a_run_with_its_error():
    figure = acceptance_figure(RUNS)
    bars = {(x, bar.name): (y, error) for bar in figure.data for x, y, error in zip(bar.x, bar.y, bar.error_y.array, strict=True)}
    assert bars["code", "temperature 0"] == (1.0, 0.0)
    assert bars["code", "temperature 1"] == pytest.approx((0.5, (0.25 / 6) ** 0.5))
    assert bars["story", "temperature 0"] == (0.0, 0.0) and ("story", "temperature 1") not in bars
    assert "alpha goes from 0.00 to 1.00" in figure.layout.title.text, "and no text is said to be the best"
    assert len({bar.marker.pattern.shape for bar in figure.data}) == 2, "told apart by more than shade"


def test_the_stack_adds_up_and_stands_beside_plain_decoding():
    figure = time_figure(RUNS)
    *stack, plain = figure.data
    assert [bar.name for bar in stack] == ["target passes and verdicts", "drafting", "bookkeeping"]
    assert sum(bar.y[0] for bar in stack) == pytest.approx(70 / 3) and sum(bar.y[2] for bar in stack) == pytest.approx(70)
    assert list(plain.y) == [50.0] * 4 and figure.layout.barmode == "stack"
    assert "2 of 4 runs took longer" in figure.layout.title.text


def test_predicted_against_measured_lies_on_axes_that_hold_every_run():
    figure = prediction_figure(RUNS)
    diagonal, *points = figure.data
    assert list(diagonal.x) == list(diagonal.y)
    shown = [(x, y) for series in points for x, y in zip(series.x, series.y, strict=True)]
    assert sorted(shown) == sorted((run.predicted_speedup, run.speedup) for run in RUNS.values())
    assert all(diagonal.x[0] < value < diagonal.x[1] for point in shown for value in point)
    apart = sorted(abs(run.efficiency - 1) for run in RUNS.values())
    assert f"all within {apart[-1]:.0%}" in figure.layout.title.text
    assert f"within {(apart[1] + apart[2]) / 2:.0%} of" in figure.layout.title.text
    assert len({series.marker.symbol for series in points}) == len(points)
    assert points[0].marker.color == ("rgba(0,0,0,0)", "rgba(0,0,0,1)"), "temperatures are told apart"
