"""The verdict explorer in JupyterLab: the map, the crossing and the table follow the controls; it measures batches live."""

from __future__ import annotations

import pytest

from specdec_lab.theory.closed_forms import speedup
from tests.browser.lab import Lab, Sheet
from tests.measure.batches import ALPHAS, PRICES

MAKE = """
import sys; sys.path.insert(0, "..")
from types import SimpleNamespace
from specdec_lab.widgets import verdict, verdict_explorer
from tests.measure.batches import ALPHAS, BOUNDS, PRICES
from tests.support import ids, tiny_llama
pair = SimpleNamespace(target=tiny_llama(1), draft=tiny_llama(1, 0.02))
prompts = {kind: [ids(1, 2), ids(3)] for kind in ("json", "question-answering")}
verdict_explorer(ALPHAS, PRICES, bounds=BOUNDS, pair=pair, prompts=prompts)
"""
KIND, K = "kind of text", "k, tokens drafted a round"


def assert_shows(sheet: Sheet, kind: str, t: float, k: int) -> None:
    alpha = next(a for a in ALPHAS if (a.workload, a.temperature) == (kind, t)).alpha
    lines = {trace["name"]: trace["y"] for trace in sheet.plot(0, 1)["data"]}
    assert lines["expected, from bare passes"] == pytest.approx([float(speedup(k, alpha, p.c, p.v(k + 1))) for p in PRICES])
    assert sheet.plot(0, 1)["layout"]["title"]["text"].startswith(f"{kind} at temperature {t:g}, k = {k}: expected to")
    (frame,) = sheet.plot(0, 0)["layout"]["shapes"]
    assert round((frame["y0"] + frame["y1"]) / 2) == ["json", "question-answering"].index(kind)
    assert f"{kind} at temperature {t:g}: alpha {alpha:.2f}" in sheet.text(0)


def test_a_place_on_the_map_is_chosen_by_keyboard_and_measured(lab: Lab):
    sheet = lab.notebook(MAKE, name="verdict")
    assert sheet.errors() == [] and sheet.unseen(0) == []
    assert_shows(sheet, "json", 0.0, 4)
    sheet.set_slider(K, 2)
    assert_shows(sheet, "json", 0.0, 2)
    sheet.choose(KIND, "question-answering")
    assert_shows(sheet, "question-answering", 0.0, 2)
    sheet.press("Measure this machine")
    sheet.output(0).get_by_role("status").filter(has_text="Measured.").wait_for(timeout=60_000)
    measured = next(trace for trace in sheet.plot(0, 1)["data"] if trace["name"] == "measured")
    assert measured["x"] == [p.batch for p in PRICES]
    sheet.shot("verdict_explorer", 0)
    assert sheet.axe(0) == []
    with sheet.dark():
        sheet.shot("verdict_explorer_dark", 0)
        assert sheet.axe(0) == []


def test_an_error_is_shown(lab: Lab):
    sheet = lab.notebook(MAKE, "verdict.crossover_figure = lambda *_: 1 / 0", name="verdict-broken")
    sheet.set_slider(K, 3)
    alert = sheet.output(0).get_by_role("alert")
    assert "ZeroDivisionError" in alert.inner_text() and "Run the cell again" in alert.inner_text()
