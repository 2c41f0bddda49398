"""The explorer of chapter 3 in a browser: sliders by keyboard, the rules' laws, draws that arrive, Cancel, errors, accessibility."""

from __future__ import annotations

import pytest

from specdec_lab.theory.rules import law_of, rules
from tests.browser.lab import Lab, Sheet

SETUP = "import sys; sys.path.insert(0, '..')\nfrom specdec_lab.widgets import rejection_explorer\nrejection_explorer()"
FAILING = """from specdec_lab.verify import verify_sampling
def verify(p, q, draft, rng):
    if float(p[0, 0]) > 0.9:
        raise ZeroDivisionError("on purpose")
    return verify_sampling(p, q, draft, rng)
rejection_explorer(["a", "b"], verify=verify)"""
SLOW = """import time
from specdec_lab.verify import verify_sampling
def verify(*laws):
    time.sleep(0.001)
    return verify_sampling(*laws)
rejection_explorer(verify=verify)"""
ABOVE, BELOW, STOOD, OWN, EXACT = 0, 1, 1, 2, 3


def bars(sheet: Sheet, picture: int, trace: int) -> list[float]:
    return sheet.plot(0, picture)["data"][trace]["y"]


def title(sheet: Sheet, picture: int) -> str:
    return sheet.plot(0, picture)["layout"]["title"]["text"]


def test_what_is_moved_is_what_theory_says(lab: Lab):
    sheet = lab.notebook(SETUP)
    assert sheet.errors() == [] and sheet.unseen(0) == []
    assert bars(sheet, ABOVE, 0) == pytest.approx([0.5, 0.3, 0.2])
    sheet.set_slider("draft: left", 25)
    sheet.set_slider("temperature of both", 0.7)
    p, q = law_of([50, 30, 20], 0.7), law_of([25, 50, 30], 0.7)
    assert bars(sheet, ABOVE, 0) == pytest.approx(p.tolist()) and bars(sheet, ABOVE, 1) == pytest.approx(q.tolist())
    sheet.choose("rule", "redraw from p")
    assert bars(sheet, BELOW, EXACT)[::3] == pytest.approx(rules()["redraw from p"].law(p, q).law)
    sheet.choose("laws", "two tokens, transformers#32867")
    sheet.set_slider("temperature of both", 1.0)
    sheet.choose("rule", "greedy draft, states its softmax")
    assert bars(sheet, BELOW, EXACT)[::3] == pytest.approx([0.75, 0.25, 0])
    assert "TV 0.150 away" in title(sheet, BELOW)
    sheet.press("Draw 10,000")
    sheet.output(0).get_by_text("Drawn.").wait_for()
    drawn = [a + b for a, b in zip(bars(sheet, BELOW, STOOD), bars(sheet, BELOW, OWN), strict=True)]
    assert drawn == pytest.approx([0.75, 0.25, 0], abs=0.02) and "(10,000 drawn)" in title(sheet, BELOW)
    assert sheet.axe(0) == []
    sheet.shot("rejection_explorer", 0)
    with sheet.dark():
        assert sheet.axe(0) == []
        sheet.shot("rejection_explorer_dark", 0)


def test_draws_arrive_one_by_one_and_cancel_stops_them(lab: Lab):
    sheet = lab.notebook(SETUP.replace("\nrejection_explorer()", f"\n{SLOW}"))
    sheet.press("Draw 10,000")
    assert "drawn" in title(sheet, BELOW) and "(10,000 drawn)" not in title(sheet, BELOW)
    sheet.press("Cancel")
    sheet.output(0).get_by_text("Cancelled. So far").wait_for()
    assert 0 < sum(bars(sheet, BELOW, STOOD)) < 1 and "(10,000 drawn)" not in title(sheet, BELOW)


def test_a_rule_that_fails_says_so(lab: Lab):
    sheet = lab.notebook(SETUP.replace("\nrejection_explorer()", ""), FAILING)
    assert sheet.errors() == []
    sheet.set_slider("temperature of both", 0.1)
    sheet.output(1).get_by_text("ZeroDivisionError: on purpose").wait_for()
