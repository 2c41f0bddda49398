"""The view of a tree: what became of each node, and who sees whom, in words and not by colour alone."""

import re

import torch

from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.heads import MedusaHeads
from specdec_lab.models.reduced import reduced_head
from specdec_lab.verify import tree_mask
from specdec_lab.widgets import tree_player, tree_view
from specdec_lab.widgets.tree import _rows, statuses
from tests.support import ids, tiny_llama

PARENTS = (-1, -1, 0, 0, 2, 1)
WORDS = ["the", "a", " cat", "dog", "\n", "<b>"]


def test_what_became_of_each_node():
    """Siblings are tested one after another until one stands; what hangs on a failed one never is."""
    assert statuses(PARENTS, (1,)) == ["rejected", "accepted", "never tested", "never tested", "never tested", "rejected"]
    assert statuses(PARENTS, (0, 2, 4)) == ["accepted", "never tested", "accepted", "never tested", "accepted", "never tested"]
    assert statuses(PARENTS, ()) == ["rejected", "rejected"] + ["never tested"] * 4
    assert statuses((), ()) == []


def test_the_view_marks_nodes_draws_the_path_and_shows_the_mask():
    page = tree_view("said", WORDS, PARENTS, (0, 2), tree_mask(PARENTS)).data
    texts = re.findall(r"<text[^>]*>(.*?)</text>", page)
    assert texts == ["said", "0 ✓ the", "1 · a", "2 ✓ ␣cat", "3 · dog", "4 ✗ ⏎", "5 · &lt;b&gt;"]
    assert page.count('stroke-width="5"') == 2, "the path is thick"
    assert page.count("stroke-dasharray") == 3, "and what nobody tested is dashed"
    cells = ["".join("■" if "■" in c else "·" for c in re.findall(r"<td.*?</td>", row)) for row in page.split("<tr>")[2:]]
    assert cells == ["".join("■" if seen else "·" for seen in row) for row in tree_mask(PARENTS)]
    assert "<b>" not in page
    assert 'aria-label="A tree of 6 nodes, of which 2 stood"' in page


def test_without_a_mask_there_is_no_table_and_without_nodes_no_error():
    page = tree_view("said", WORDS, PARENTS).data
    assert "<table" not in page
    assert not set("✓✗·") & set(page) and "dasharray" not in page, "before the verdict nothing has stood or failed"
    assert "said" in tree_view("said", [], []).data


def test_no_two_boxes_of_a_depth_share_a_row():
    rows = _rows(PARENTS)
    for level in ([0, 1], [2, 3, 5]):
        places = [rows[i] for i in level]
        assert len(set(places)) == len(places) and places == sorted(places)
    assert rows[0] == (rows[2] + rows[3]) / 2


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return " ".join(f"w{i}" for i in token_ids)


def test_the_player_steps_through_the_rounds_that_drafted_trees():
    model = tiny_llama(0)
    torch.manual_seed(1)
    heads = MedusaHeads(32, 16, 4).double()
    heads.output = reduced_head(torch.arange(64), model)
    run = generate(model, ids(1, 2, 3), MedusaDrafter(heads, full(2, 2)), 2, stopping=Stopping(12))
    asked = []
    controls, view = tree_player(run, Words(), lambda parents: asked.append(parents) or tree_mask(parents)).children
    back, forward, number = controls.children
    trees = [r for r in run.rounds if r.parents is not None]
    assert number.max == len(trees) and asked == [trees[0].parents]
    assert f"{len(trees[0].drafted)} nodes, {trees[0].accepted} stood" in view.value
    assert trees[0].rejected and "the correction" in view.value and "bonus" not in view.value
    back.click()
    assert number.value == 1
    forward.click()
    assert number.value == 2 and f"{trees[1].accepted} stood" in view.value
    number.value = len(trees)
    forward.click()
    assert number.value == len(trees)


def test_a_run_without_trees_says_so():
    run = generate(tiny_llama(0), ids(1, 2, 3), stopping=Stopping(3))
    assert "No round drafted a tree" in tree_player(run, Words(), tree_mask).children[1].value
