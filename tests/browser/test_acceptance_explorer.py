"""The acceptance explorer in JupyterLab: another run is chosen by keyboard, and every number on the page is that run's."""

from __future__ import annotations

import pytest

from specdec_lab.measure import Comparison, CostCurve, Pass
from specdec_lab.theory.closed_forms import optimal_k, speedup
from tests.browser.lab import Lab, Sheet
from tests.measure.toys import comparison

RUNS_CELL = """
import sys; sys.path.insert(0, "..")
from tests.browser.test_acceptance_explorer import CURVE, runs
from specdec_lab.widgets import acceptance_explorer
found = runs()
"""
EXPLORER = "acceptance_explorer(found, CURVE)"
CURVE = CostCurve.of([Pass(1, 0.05), Pass(2, 0.06), Pass(3, 0.06), Pass(5, 0.10)])


def runs() -> dict[tuple[str, float], Comparison]:
    return {
        (text, t): comparison(*[(0.01, 0.05, 0.07)] * 4, accepted=accepted - int(t), k=3)
        for text, accepted in (("code", 3), ("story", 1))
        for t in (0.0, 1.0)
    }


def assert_shows(sheet: Sheet, at: tuple[str, float]) -> None:
    run, shown = runs()[at], sheet.text(1)
    m = run.metrics
    assert f"{m.accepted} / {m.drafted}\t{m.acceptance_rate:.2f}" in shown and f"{m.alpha:.2f} ± {m.alpha_error:.2f}" in shown
    positions, advice = sheet.plot(1, 1), sheet.plot(1, 2)
    by_name = {trace["name"]: trace for trace in positions["data"]}
    assert by_name["marginal: stood, out of all drafted"]["y"] == pytest.approx(list(m.marginal))
    assert by_name["marginal: stood, out of all drafted"]["text"] == [f"{a} of 4" for a in m.accepted_at]
    best = int(optimal_k(m.alpha, run.c, 4, CURVE.v, run.overhead))
    expected = [1.0, *(float(speedup(k, m.alpha, run.c, CURVE.v(k + 1), run.overhead)) for k in range(1, 5))]
    by_name = {trace["name"]: trace for trace in advice["data"]}
    assert by_name["expected"]["y"] == pytest.approx(expected) and by_name["best k expected"]["x"] == [best]
    assert (f"draft k = {best}, and expect {expected[best]:.2f}x" if best else "draft nothing here") in shown
    (frame,) = sheet.plot(1, 0)["layout"]["shapes"]
    assert round((frame["x0"] + frame["x1"]) / 2) == at[1] and round((frame["y0"] + frame["y1"]) / 2) == ["code", "story"].index(at[0])


def test_another_run_is_chosen_by_keyboard(lab: Lab):
    sheet = lab.notebook(RUNS_CELL, EXPLORER)
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert_shows(sheet, ("code", 0.0))
    texts = sheet.page.get_by_label("kind of text", exact=True)
    texts.focus()
    texts.press("ArrowDown")
    sheet.answered(2)
    assert_shows(sheet, ("story", 0.0))
    sheet.choose("temperature", "1")
    assert_shows(sheet, ("story", 1.0))
    sheet.shot("acceptance_explorer", 1)
    assert sheet.axe(1) == []
    with sheet.dark():
        sheet.shot("acceptance_explorer_dark", 1)
        assert sheet.axe(1) == []
    sheet.restart_and_run_all()
    assert_shows(sheet, ("code", 0.0))


def test_an_error_is_shown(lab: Lab):
    broken = 'found["story", 0.0] = None\nfrom specdec_lab.widgets import acceptance\nacceptance.alpha_map = lambda *_: 1 / 0'
    sheet = lab.notebook(RUNS_CELL, EXPLORER, broken)
    sheet.choose("kind of text", "story")
    alert = sheet.output(1).get_by_role("alert")
    assert "ZeroDivisionError" in alert.inner_text() and "Run the cell again" in alert.inner_text()
