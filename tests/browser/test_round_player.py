"""The round player in JupyterLab: what it shows is what the review says, by buttons and by keyboard, and it does not fail in silence."""

from __future__ import annotations

import re

from tests.browser.lab import Lab, Sheet
from tests.widgets.test_rounds import reviewed

RUN = """
from tests.widgets.test_rounds import Words, reviewed
from specdec_lab.widgets import round_player, rounds
run, found = reviewed()
"""
PLAYER = "round_player(run, Words(), found)"


def assert_shows(sheet: Sheet, number: int) -> None:
    """Round `number` of `reviewed()`, to the last number."""
    run, found = reviewed()
    r, verdicts, text = run.rounds[number - 1], found.verdicts[number - 1], sheet.text(1)
    n = r.context_length
    assert f"Context: {n} → {n + r.accepted + 1} tokens" in text
    assert f"The target's cache: {n - 1} → {n + len(r.drafted)} after the pass → {n + r.accepted} kept" in text
    tests = re.findall(r"(\d\.\d\d) ([<≥]) (\d+\.\d\d)", text)
    assert tests == [(f"{v.uniform:.2f}", "<" if v.accepted else "≥", f"{v.p / v.q:.2f}") for v in verdicts]
    assert text.count("✓") == r.accepted and text.count("✗") == r.rejected
    assert ("correction" in text) == r.rejected and ("bonus" in text) != r.rejected


def test_step_scrub_and_jump(lab: Lab):
    sheet = lab.notebook(RUN, PLAYER)
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert_shows(sheet, 1)
    sheet.press("next ▶")
    assert_shows(sheet, 2)
    sheet.set_slider("round", 5)
    assert_shows(sheet, 5)
    sheet.press("◀ back")
    assert_shows(sheet, 4)
    sheet.press("next rejection")
    rejected = [i for i, r in enumerate(reviewed()[0].rounds, 1) if r.rejected]
    assert_shows(sheet, next(i for i in rejected if i > 4))
    sheet.shot("round_player", 1)
    assert sheet.axe(1) == []
    with sheet.dark():
        sheet.shot("round_player_dark", 1)
        assert sheet.axe(1) == []


def test_it_plays_and_says_what_went_wrong(lab: Lab):
    sheet = lab.notebook(RUN, PLAYER, "rounds._table = lambda rows: 1 / 0")
    sheet.press("play")
    alert = sheet.output(1).get_by_role("alert")
    alert.wait_for()
    assert "ZeroDivisionError" in alert.inner_text()
    assert sheet.slider("round").get_attribute("aria-valuenow") != "1.0"
