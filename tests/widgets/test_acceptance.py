"""The acceptance explorer: the numbers of the chosen run, in pictures and words, are those of metrics and theory."""

from __future__ import annotations

import re

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure import CostCurve, Pass
from specdec_lab.theory.closed_forms import acceptance_rate, optimal_k, speedup
from specdec_lab.widgets import acceptance_explorer
from specdec_lab.widgets.acceptance import advice_figure, alpha_map, positions_figure
from tests.measure.toys import comparison

SPENT = [(0.01, 0.05, 0.07)] * 4
CURVE = CostCurve.of([Pass(1, 0.05), Pass(2, 0.06), Pass(3, 0.06), Pass(5, 0.10)])
RUNS = {
    ("code", 0.0): comparison(*SPENT, accepted=2, k=3, plain=20.0, speed=35.0),
    ("code", 1.0): comparison(*SPENT, accepted=1, k=3, plain=20.0, speed=22.0),
    ("story", 0.0): comparison(*SPENT, accepted=0, k=3, plain=20.0, speed=12.0),
    ("story", 1.0): comparison(*SPENT, accepted=0, k=0, plain=20.0, speed=14.0),  # nothing was ever drafted
}
DONE = {at: run for at, run in RUNS.items() if at != ("story", 1.0)}


def text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def traces(figure) -> dict:
    return {trace.name: trace for trace in figure.data}


def test_the_map_has_alpha_and_its_error_in_every_cell_and_frames_the_chosen_one():
    figure = alpha_map(RUNS, ("code", 1.0))
    (cells,) = figure.data
    assert list(cells.x) == ["0", "1"] and list(cells.y) == ["code", "story"]
    m = RUNS["code", 1.0].metrics
    assert list(map(list, cells.text)) == [["0.67 ± 0.14", f"{m.alpha:.2f} ± {m.alpha_error:.2f}"], ["0.00 ± 0.00", "none"]]
    assert cells.z[0][1] == m.alpha == 0.5 and cells.z[1][1] is None
    (frame,) = figure.layout.shapes
    assert frame.x0 < 1 < frame.x1 and frame.y0 < 0 < frame.y1 and frame.x1 - frame.x0 < 1
    assert "from 0.00 to 0.67" in figure.layout.title.text


def test_a_run_that_is_missing_leaves_its_cell_empty():
    (cells,) = alpha_map(DONE, ("code", 0.0)).data
    assert list(cells.text[1]) == ["0.00 ± 0.00", ""]
    assert "not measured" in positions_figure(DONE, ("story", 1.0)).layout.title.text


def test_positions_are_those_of_the_metrics_with_their_counts_beside_equal_alphas():
    found = traces(positions_figure(RUNS, ("code", 0.0)))
    m = RUNS["code", 0.0].metrics
    marginal, conditional = (
        found[f"{name}: stood, out of all {what}"] for name, what in (("marginal", "drafted"), ("conditional", "tested"))
    )
    assert marginal.y == m.marginal == (1.0, 1.0, 0.0) and marginal.text == ("4 of 4", "4 of 4", "0 of 4")
    assert conditional.y == m.conditional and marginal.x == conditional.x == (1, 2, 3)
    fewer = traces(positions_figure(RUNS, ("code", 1.0)))["conditional: stood, out of all tested"]
    assert fewer.y == (1.0, 0.0, None) and fewer.text == ("4 of 4", "0 of 4", "0 of 0")
    of_all, of_tested = (found[f"if each stood with alpha: out of all {what}"] for what in ("drafted", "tested"))
    assert of_all.y == pytest.approx([m.alpha, m.alpha**2, m.alpha**3]) and of_tested.y == (m.alpha,) * 3


def test_advice_is_the_formula_s_at_the_measured_prices():
    at = ("code", 0.0)
    run, figure = RUNS[at], advice_figure(RUNS, at, CURVE)
    found = traces(figure)
    expected = [1.0, *(float(speedup(k, run.metrics.alpha, run.c, CURVE.v(k + 1), run.overhead)) for k in range(1, 5))]
    assert found["expected"].y == pytest.approx(expected) and list(found["expected"].x) == [0, 1, 2, 3, 4]
    best = int(optimal_k(run.metrics.alpha, run.c, 4, CURVE.v, run.overhead))
    assert best == 2, "a pass over three tokens is cheap here, and one over five is not"
    assert found["best k expected"].x == (2,) and found["best k expected"].y == pytest.approx([max(expected)])
    assert found["measured"].x == (3,) and found["measured"].y == (run.speedup,)
    band = found["alpha a standard error off"].y
    assert all(band[-1 - k] <= expected[k] <= band[k] for k in range(5)) and band[4] > band[5]
    assert f"k = 2 is expected to be best, {max(expected):.2f}x" in figure.layout.title.text
    assert "no k is expected to help" in advice_figure(RUNS, ("story", 0.0), CURVE).layout.title.text


def test_choosing_changes_all_of_it():
    explorer = acceptance_explorer(RUNS, CURVE)
    overview, workload, temperature, positions, words, advice = explorer.parts
    assert "Of 12 drafted tokens 0 were never tested" in text(words.value)
    temperature.value = 1.0
    assert explorer.status.value == ""
    assert overview.figure == alpha_map(RUNS, ("code", 1.0)) and positions.figure == positions_figure(RUNS, ("code", 1.0))
    assert advice.figure == advice_figure(RUNS, ("code", 1.0), CURVE)
    shown, m = text(words.value), RUNS["code", 1.0].metrics
    assert "accepted / drafted 4 / 12 0.33" in shown and "accepted / tested 4 / 8 0.50 ± 0.18" in shown
    assert "tokens / target passes 8 / 4 2.00" in shown and "Of 12 drafted tokens 4 were never tested" in shown
    assert f"the rate at k = 3 would be {float(acceptance_rate(3, m.alpha)):.2f}" in shown
    workload.value = "story"
    assert "Nothing was drafted" in words.value and explorer.status.value == ""


def test_the_doubt_about_alpha_is_a_doubt_about_k():
    run, words = RUNS["code", 0.0], acceptance_explorer(RUNS, CURVE).parts[4].value
    alpha, error = run.metrics.alpha, run.metrics.alpha_error
    low, best, high = (int(optimal_k(a, run.c, 4, CURVE.v, run.overhead)) for a in (alpha - error, alpha, alpha + error))
    assert f"draft k = {best}, and expect" in words
    assert f"a standard error lower the best k would be {low}, a standard error higher {high}." in words


def test_a_best_k_at_the_end_of_the_curve_is_not_called_the_best_of_all():
    flat = CostCurve.of([Pass(1, 0.05), Pass(5, 0.05)])
    sure = {("code", 0.0): comparison(*SPENT, accepted=3, k=3)}
    assert "No pass over more than 5 tokens was timed" in acceptance_explorer(sure, flat).parts[4].value
    assert "was timed; a longer" not in acceptance_explorer(RUNS, CURVE).parts[4].value


def test_without_a_curve_there_is_no_advice_beyond_what_was_run():
    explorer = acceptance_explorer(RUNS, at=("code", 1.0))
    assert len(explorer.parts) == 5
    run, words = RUNS["code", 1.0], explorer.parts[4].value
    expected = float(speedup(3, run.metrics.alpha, run.c, run.verify, run.overhead))
    assert f"alpha leads to expect {expected:.2f} times" in words and "Only k = 3 was run" in words
    assert explorer.parts[1].value == "code" and explorer.parts[2].value == 1.0


def test_a_reader_without_a_kernel_gets_pictures_and_words():
    page = acceptance_explorer(RUNS)._still
    assert page.count("<img") == 2 and "Of 12 drafted tokens" in page
    assert '"method":"animate"' in page and '"label":"story"' in page


def test_no_run_is_an_error_with_a_way_out():
    with pytest.raises(UserError, match="run the cell that fills the table first"):
        acceptance_explorer({})


def test_an_unfinished_table_can_be_looked_at():
    explorer = acceptance_explorer(DONE, CURVE)
    explorer.parts[1].value = "story"
    explorer.parts[2].value = 1.0
    assert "has not been measured" in explorer.parts[4].value and explorer.status.value == ""
