"""The roofline explorer in JupyterLab: moved by keyboard it shows theory's numbers, and points arrive; and on a page without a kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from specdec_lab.measure.traces import Bounds
from specdec_lab.theory.roofline import free_guesses, free_texts, pass_time, ridge
from specdec_lab.widgets import roofline_explorer
from tests.browser.lab import SHOTS, Lab, Sheet
from tests.support import tiny_llama

BOUNDS = Bounds(134.5e6, 4, 20e9, 100e9)  # ridge at 10 tokens
NUMBERS = (BOUNDS.parameters, BOUNDS.bytes_per_parameter, BOUNDS.bandwidth, BOUNDS.flop_rate)
CELL = """
import sys; sys.path.insert(0, "..")
from tests.browser.test_roofline_explorer import BOUNDS
from tests.support import tiny_llama
from specdec_lab.widgets import roofline_explorer
"""
EXPLORER = "roofline_explorer(tiny_llama(1), BOUNDS)"
BROKEN = "from specdec_lab.widgets import roofline\nroofline.roofline_figure = lambda *_: 1 / 0"
K, B = "k, guesses checked for each text", "B, texts in the pass"


def points(sheet: Sheet) -> int:
    return sum(len(trace["x"]) for trace in sheet.plot(1)["data"] if trace["name"].startswith("measured"))


def assert_shows(sheet: Sheet, k: int, batch: int) -> None:
    n, at, shown = (k + 1) * batch, ridge(4, 20e9, 100e9), sheet.text(1)
    price = pass_time(n, *NUMBERS) / pass_time(batch, *NUMBERS)
    assert f"v({k + 1})" in shown and f"at least {price:.2f} plain steps of the same {batch} text" in shown
    assert re.search(rf"{free_texts(k, at)} texts? with k = {k}, or k = {free_guesses(batch, at)} with {batch} text", shown)
    drawn = {trace["name"]: trace for trace in sheet.plot(1)["data"]}
    assert drawn[f"with k = {k} guesses"]["x"] == [n]
    assert drawn[f"with k = {k} guesses"]["y"] == pytest.approx([pass_time(n, *NUMBERS) * 1000])


def test_every_control_moves_the_numbers_and_measured_points_arrive(lab: Lab):
    sheet = lab.notebook(CELL, EXPLORER)
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert_shows(sheet, 4, 1)
    sheet.set_slider(B, 3)
    assert_shows(sheet, 4, 3)
    sheet.set_slider(K, 2)
    assert_shows(sheet, 2, 3)
    sheet.press("Measure this machine")
    expect(sheet.output(1)).to_contain_text(re.compile(r"\d of 42 passes"))
    assert 0 < points(sheet) < 14, "the first points show before the last are measured"
    sheet.press("Cancel")
    expect(sheet.output(1)).to_contain_text("Cancelled. So far")
    sheet.press("Measure this machine")
    expect(sheet.output(1)).to_contain_text("Measured: every point", timeout=30_000)
    assert points(sheet) == 14
    sheet.choose("machine", "H200, data sheet")
    assert "predicted, not measured" in sheet.text(1) and "ridge, 206.0 tokens" in sheet.text(1) and points(sheet) == 0
    sheet.shot("roofline_explorer", 1)
    assert sheet.axe(1) == []
    with sheet.dark():
        sheet.shot("roofline_explorer_dark", 1)
        assert sheet.axe(1) == []


def test_an_error_is_shown(lab: Lab):
    sheet = lab.notebook(CELL, EXPLORER, BROKEN)
    assert sheet.errors() == []
    sheet.set_slider(B, 2)
    alert = sheet.output(1).get_by_role("alert")
    assert "ZeroDivisionError" in alert.inner_text() and "Run the cell again" in alert.inner_text()


def test_two_on_a_page_that_has_modules_of_its_own_get_their_sliders(lab: Lab, tmp_path: Path):
    """An older plotly.js gives itself to require.js where there is one, and then is nowhere to be found."""
    modules = "<script>function define() { window.asked = true }; define.amd = {}</script>"
    both = [roofline_explorer(tiny_llama(1), BOUNDS, device=device)._still for device in ("this machine", "H200, data sheet")]
    file = tmp_path / "exported.html"
    file.write_text(f"<!doctype html><title>exported</title>{modules}{''.join(both)}", encoding="utf-8")
    page = lab.context.new_page()
    try:
        page.goto(file.as_uri())
        plots = page.locator(".js-plotly-plot")
        expect(plots).to_have_count(2)
        expect(page.locator("img")).to_have_count(0)
        expect(plots.first).to_contain_text("1 text, 4 guesses each: 5 tokens, within the ridge of 10")
        rail = plots.first.locator(".slider-rail-touch-rect")
        rail.click(position={"x": rail.bounding_box()["width"] - 2, "y": 5})
        expect(plots.first.locator(".slider-label").first).to_have_text("B, texts in the pass: 64")
        expect(plots.first).to_contain_text("64 texts, 4 guesses each: 320 tokens, past the ridge of 10")
        drawn = {trace["name"]: trace["x"] for trace in plots.first.evaluate("plot => plot.data.map(({name, x}) => ({name, x}))")}
        assert drawn["with k = 4 guesses"] == [320]
        expect(plots.nth(1)).to_contain_text("1 text, 4 guesses each: 5 tokens, within the ridge of 206")
        assert not page.evaluate("window.asked")
        page.screenshot(path=SHOTS / "roofline_explorer_exported.png", full_page=True)
    finally:
        page.close()
