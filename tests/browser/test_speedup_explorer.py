"""The speedup explorer in JupyterLab: keyboard, live measurement, Cancel, errors, recorded points, both themes."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from specdec_lab.theory.closed_forms import optimal_k, speedup
from tests.browser.lab import Lab, Sheet

MAKE = """
import sys; sys.path.insert(0, "..")
from specdec_lab.widgets import speedup_explorer
from tests.measure.toys import toy_pair
speedup_explorer(pair=toy_pair({target}, {draft}, drift=0.3))
"""
P, K, C = "p, a tested guess stands", "k, tokens drafted", "c, a drafted token"


def gain(sheet: Sheet) -> float:
    found = re.search(r"(\d+\.\d\d)x, ", sheet.text(0))
    assert found, sheet.text(0)
    return float(found[1])


def points(sheet: Sheet, name: str) -> int:
    (found,) = (trace for trace in sheet.plot(0)["data"] if trace["name"].startswith(name))
    return len(found["x"])


@pytest.fixture(scope="module")
def sheet(lab: Lab):
    opened = lab.notebook(MAKE.format(target=0.01, draft=0.002), name="speedup")
    yield opened
    opened.close()


def test_it_is_shown_and_can_be_read_aloud(sheet):
    assert not sheet.errors() and not sheet.unseen(0) and not sheet.axe(0)
    assert sheet.output(0).get_by_role("group", name="speedup explorer").count() == 1
    figures = sheet.output(0).get_by_role("figure")
    assert figures.count() == 2 and "Speedup against draft length. At p = 0.80" in figures.first.get_attribute("aria-label")


def test_the_keyboard_moves_the_numbers_to_those_of_theory(sheet):
    sheet.set_slider(K, 8)
    assert gain(sheet) == pytest.approx(float(speedup(8, 0.8, 0.1)), abs=0.005)
    sheet.set_slider(P, 0.9)
    assert gain(sheet) == pytest.approx(float(speedup(8, 0.9, 0.1)), abs=0.005)
    assert sheet.plot(0)["layout"]["title"]["text"].startswith(f"At p = 0.90 and c = 0.1 the best k is {optimal_k(0.9, 0.1, 20)}:")
    sheet.set_slider(P, 0.8)


def test_points_arrive_before_the_run_ends_and_cancel_works_at_once(sheet):
    sheet.press("Measure this machine")
    status = sheet.output(0).get_by_role("status")
    counts = set()
    deadline = time.monotonic() + 60
    while points(sheet, "measured, coin flips at p") < 2:
        counts.add(status.inner_text())
        assert time.monotonic() < deadline, status.inner_text()
    assert len(counts) > 2 and points(sheet, "measured, the draft itself") == 0, "all points came together, at the end"
    assert sheet.output(0).get_by_role("button", name="Measure this machine").is_disabled()
    sheet.press("Cancel")
    status.filter(has_text="Cancelled").wait_for(timeout=2000)
    assert sheet.output(0).get_by_role("button", name="Measure this machine").is_enabled()
    seen = points(sheet, "measured, coin flips at p")
    assert 2 <= seen <= 3 and points(sheet, "measured, the draft itself") == 0
    assert "Measured: this machine" in sheet.text(0) and sheet.slider(C).get_attribute("aria-valuenow") != "0.1"


def test_recorded_points_are_labelled_as_recorded(sheet):
    option = sheet.output(0).locator("option", has_text="recorded on").first.inner_text()
    sheet.choose("measured points", option)
    assert "Measured: recorded on" in sheet.text(0)
    assert points(sheet, "measured, coin flips at p") == points(sheet, "measured, the draft itself") == 4
    sheet.shot("speedup_explorer", 0)
    with sheet.dark():
        assert not sheet.axe(0)
        sheet.shot("speedup_explorer_dark", 0)
    sheet.choose("measured points", "none yet")
    expect(sheet.output(0).locator("select").first.locator("option:checked")).to_have_text("flat: the slider below")


def test_a_callback_that_fails_is_not_silent(sheet):
    sheet.choose("verify, the target's pass", "v(k + 1) as measured")
    expect(sheet.output(0).get_by_role("alert")).to_contain_text("No pass has been measured yet")


def test_the_kernel_can_be_restarted_and_everything_run_again(sheet):
    sheet.restart_and_run_all()
    assert not sheet.errors() and not sheet.unseen(0) and gain(sheet) == 2.46
