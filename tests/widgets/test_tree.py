"""The view of a tree: what became of each node, and who sees whom, in words and not by colour alone."""

import dataclasses
import re
from base64 import b64decode

import pytest
import torch

from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Generation, Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.heads import MedusaHeads
from specdec_lab.models.reduced import reduced_head
from specdec_lab.verify import tree_mask
from specdec_lab.widgets import tree_explorer, tree_view
from specdec_lab.widgets.tree import _rows, saved_by_sibling, statuses
from tests.support import ids, rounds, tiny_llama

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
    assert cells(page) == ["".join("■" if seen else "·" for seen in row) for row in tree_mask(PARENTS)]
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


@pytest.fixture(scope="module")
def run():
    model = tiny_llama(0)
    torch.manual_seed(1)
    heads = MedusaHeads(32, 16, 4).double()
    heads.output = reduced_head(torch.arange(64), model)
    return generate(model, ids(1, 2, 3), MedusaDrafter(heads, full(2, 2)), 2, stopping=Stopping(12))


def shown(explorer) -> str:
    return explorer.parts[-1].value


def cells(page: str) -> list[str]:
    return [
        "".join("■" if "■" in c else "·" for c in re.findall(r"<td.*?</td>", row)) for row in re.findall(r"<tr data-node.*?</tr>", page)
    ]


def test_it_steps_through_the_rounds_that_drafted_trees(run):
    asked = []
    explorer = tree_explorer(run, Words(), lambda parents: asked.append(parents) or tree_mask(parents))
    buttons, number, _, view = explorer.parts
    back, forward, _ = buttons.children
    trees = [r for r in run.rounds if r.parents]
    assert number.max == len(trees) and set(asked) <= {r.parents for r in trees}
    assert f"{len(trees[0].drafted)} nodes, {trees[0].accepted} stood" in view.value
    assert trees[0].rejected and "the correction" in view.value and "bonus" not in view.value
    back.click()
    assert number.value == 1
    forward.click()
    assert number.value == 2 and f"{trees[1].accepted} stood" in view.value
    number.value = len(trees)
    forward.click()
    assert number.value == len(trees)


def test_a_chosen_node_shows_its_row_and_what_it_reads(run):
    explorer = tree_explorer(run, Words(), tree_mask)
    _, number, node, _ = explorer.parts
    drafted = run.rounds[0].drafted
    assert node.index == 0, "`none` is chosen, and seen to be"
    assert [value for _, value in node.options] == [-1, *range(len(drafted))]
    assert "chosen" not in re.sub("<style.*?</style>", "", shown(explorer)) and "It reads" not in shown(explorer)
    node.value = 2  # a child of node 0
    last, page = run.prompt[-1], re.sub("<style.*?</style>", "", shown(explorer))
    assert f"Node 2 sees nodes 0, 2. It reads <code>… w{last}w{drafted[0]}w{drafted[2]}</code>" in page
    assert re.findall(r'<tr data-node="(\d)" style="outline:2px', page) == ["2"]
    assert page.count('class="frame chosen"') == 3, "the context, its parent and itself"
    number.value = 2
    assert node.index == 0 and "It reads" not in shown(explorer), "the nodes of another round are others"


def test_the_mask_that_is_shown_is_the_one_that_was_passed(run):
    """A learner's wrong mask is to be seen as such."""
    explorer = tree_explorer(run, Words(), lambda parents: torch.ones(len(parents), len(parents)).tril().bool())
    explorer.parts[2].value = 1
    assert cells(shown(explorer))[:3] == ["■·····"[: len(run.rounds[0].drafted)], "■■····", "■■■···"]
    assert "Node 1 sees nodes 0, 1" in shown(explorer), "its rival too"


def test_pointing_at_a_node_frames_what_it_sees(run):
    page = tree_view("said", WORDS, PARENTS, None, tree_mask(PARENTS)).data
    frames = {node: seen.split() for node, seen in re.findall(r'<g data-node="(\d)">.*?data-for="([\d ]+)"', page)}
    assert frames == {str(j): [str(i) for i in range(6) if tree_mask(PARENTS)[i][j]] for j in range(6)}
    (name,) = set(re.findall(r"tree-[0-9a-f]{32}", page))
    assert f'.{name}:has([data-node="4"]:hover) .frame[data-for~="4"]{{visibility:visible}}' in page
    assert 'visibility="visible"' not in page
    assert "data-for" not in tree_view("said", WORDS, PARENTS).data, "without a mask nobody is said to see anybody"


def test_the_third_button_goes_to_a_round_that_a_chain_would_have_lost():
    assert saved_by_sibling(PARENTS, (1,)) and saved_by_sibling(PARENTS, (0, 3))
    assert not saved_by_sibling(PARENTS, (0, 2, 4)) and not saved_by_sibling(PARENTS, ())
    base = rounds(0, 1, 1, 0, k=2)[0]
    made = [
        dataclasses.replace(base, context_length=2 + n, accepted=len(path), path=path, parents=(-1, -1), emitted=(9,))
        for n, path in enumerate([(), (1,), (0,), (1,)])
    ]
    explorer = tree_explorer(Generation((1, 2), (9,) * 4, tuple(made), "length", None, 0.0), Words(), tree_mask)
    rescue, number = explorer.parts[0].children[2], explorer.parts[1]
    seen = []
    for _ in range(3):
        rescue.click()
        seen.append(number.value)
    assert seen == [2, 4, 2]
    assert "1 stood" in explorer._still and "<img" in explorer._still and "1 ✓" in drawing(explorer._still)


def drawing(page: str) -> str:
    (found,) = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)
    return b64decode(found).decode()


def test_without_such_a_round_it_says_so(run):
    explorer = tree_explorer(run, Words(), tree_mask)
    assert not any(saved_by_sibling(r.parents, r.path) for r in run.rounds if r.parents)
    explorer.parts[0].children[2].click()
    assert explorer.parts[1].value == 1 and "In no round" in explorer.status.value


def test_a_run_without_trees_is_refused():
    run = generate(tiny_llama(0), ids(1, 2, 3), stopping=Stopping(3))
    with pytest.raises(UserError, match="No round of this run drafted a tree"):
        tree_explorer(run, Words(), tree_mask)
