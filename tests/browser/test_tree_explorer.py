"""The tree explorer in JupyterLab: rounds by button and slider, a node by its list or by pointing, with the row of its mask."""

from __future__ import annotations

import torch

from specdec_lab.engine import Generation, Stopping, generate
from specdec_lab.models.toy import markov_lm
from specdec_lab.verify import tree_mask
from specdec_lab.widgets.tree import saved_by_sibling
from tests.browser.lab import Lab, Sheet
from tests.support import TreeDrafter, ids

RUN = """
import sys; sys.path.insert(0, "..")
from tests.browser.test_tree_explorer import Words, run
from specdec_lab.verify import tree_mask
from specdec_lab.widgets import tree_explorer
"""
EXPLORER = "tree_explorer(run(), Words(), tree_mask)"


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return "".join(f" w{i}" for i in token_ids)


def run() -> Generation:
    target = markov_lm(0, 8, order=2)
    draft = markov_lm(1, 8, order=2, like=target, drift=1.5)
    return generate(target, ids(0, 1), TreeDrafter(draft, (-1, -1, 0, 0, 2, 1)), 3, stopping=Stopping(30))


def assert_shows(sheet: Sheet, number: int, node: int | None = None) -> None:
    """Round `number`, and of the chosen node the row of the mask."""
    r, shown = run().rounds[number - 1], sheet.text(1)
    assert f"{len(r.drafted)} nodes, {r.accepted} stood, then the target's own ' w{r.next_token}'" in shown
    rows = sheet.output(1).locator("tr[data-node]").all()
    assert [row.locator("td").all_inner_texts() for row in rows] == [["■" if seen else "·" for seen in row] for row in tree_mask(r.parents)]
    lined = [i for i, row in enumerate(rows) if row.evaluate("row => getComputedStyle(row).outlineStyle") == "solid"]
    assert lined == ([] if node is None else [node])
    assert framed(sheet) == (set() if node is None else {-1, *seen_by(r, node)})


def seen_by(r, node: int) -> set[int]:
    return set(torch.as_tensor(tree_mask(r.parents))[node].nonzero().flatten().tolist())


def framed(sheet: Sheet) -> set[int]:
    """The nodes with a frame that is to be seen, -1 the context."""
    script = """frames => frames.filter(frame => getComputedStyle(frame).visibility === "visible")
      .map(frame => Number(frame.parentElement.dataset.node ?? -1))"""
    return set(sheet.output(1).locator(".frame").evaluate_all(script))


def test_step_scrub_jump_choose_and_point(lab: Lab):
    found = run()
    saved = [n for n, r in enumerate(found.rounds, 1) if r.parents and saved_by_sibling(r.parents, r.path)]
    sheet = lab.notebook(RUN, EXPLORER)
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert_shows(sheet, 1)
    sheet.press("next ▶")
    assert_shows(sheet, 2)
    sheet.set_slider("round", 4)
    assert_shows(sheet, 4)
    sheet.press("next second choice that stood")
    number = next((n for n in saved if n > 4), saved[0])
    assert_shows(sheet, number)
    nodes = sheet.page.get_by_label("node", exact=True)
    assert nodes.evaluate("list => list.selectedOptions[0].text") == "none"
    nodes.focus()
    for _ in range(5):
        nodes.press("ArrowDown")
        sheet.answered(2)
    assert_shows(sheet, number, 4)
    numbers = sorted(seen_by(found.rounds[number - 1], 4))
    assert f"Node 4 sees nodes {', '.join(map(str, numbers))}." in sheet.text(1)
    sheet.shot("tree_explorer", 1)
    assert sheet.axe(1) == []
    sheet.output(1).locator("g[data-node='3']").hover()
    assert framed(sheet) == {-1, *seen_by(found.rounds[number - 1], 3)}, "pointing goes before choosing"
    sheet.output(1).locator("tr[data-node='1'] th").hover()
    assert framed(sheet) == {-1, 1}
    with sheet.dark():
        sheet.shot("tree_explorer_dark", 1)
        assert sheet.axe(1) == []


def test_a_mask_that_fails_says_so(lab: Lab):
    mask = "broken = []\ndef mine(parents):\n    return 1 / 0 if broken else tree_mask(parents)"
    sheet = lab.notebook(RUN + mask, EXPLORER.replace("tree_mask", "mine"), "broken.append(True)")
    assert sheet.errors() == []
    sheet.press("next ▶")
    assert "ZeroDivisionError" in sheet.output(1).get_by_role("alert").inner_text()
