"""The second check of chapter 6: every wrong mask gets its own reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from specdec_lab import verify
from specdec_lab.checks import check_tree_mask
from specdec_lab.checks.tree import EXAMPLE, wrong_masks


def empty(parents):
    return torch.zeros(len(parents), len(parents), dtype=torch.bool)


def depth(parents, node) -> int:
    return 1 if parents[node] < 0 else 1 + depth(parents, parents[node])


def not_attempted(parents): ...


def one_chain(parents):
    return torch.ones(len(parents), len(parents), dtype=torch.bool).tril()


def parents_alone(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            mask[i, parent] = True
    return mask


def two_steps_up(parents):
    mask = parents_alone(parents)
    for i, parent in enumerate(parents):
        if parent >= 0 and parents[parent] >= 0:
            mask[i, parents[parent]] = True
    return mask


def not_itself(parents):
    return verify.tree_mask(parents) & ~torch.eye(len(parents), dtype=torch.bool)


def transposed(parents):
    return verify.tree_mask(parents).T


def inside_out(parents):
    return ~verify.tree_mask(parents)


def minus_one_as_an_index(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        mask[i] |= mask[parent]
    return mask


def walks_over_minus_one(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i in range(len(parents)):
        node = i
        while node != -1:
            node = parents[node]
            mask[i, node] = True
    return mask


def siblings_too(parents):
    mask = verify.tree_mask(parents)
    for i, mine in enumerate(parents):
        for j, other in enumerate(parents):
            mask[i, j] |= mine == other
    return mask


def everybody(parents):
    return torch.ones(len(parents), len(parents), dtype=torch.bool)


def the_levels_above(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i in range(len(parents)):
        for j in range(len(parents)):
            mask[i, j] |= depth(parents, j) < depth(parents, i)
    return mask


def itself_alone(parents):
    return torch.eye(len(parents), dtype=torch.bool)


def a_row_for_the_context(parents):
    mask = torch.zeros(len(parents) + 1, len(parents) + 1, dtype=torch.bool)
    mask[1:, 1:] = verify.tree_mask(parents)
    mask[:, 0] = True
    return mask


def whole_numbers(parents):
    return verify.tree_mask(parents).int()


def fractions(parents):
    return verify.tree_mask(parents).float()


def lists_of_ancestors(parents):
    return [row.nonzero()[:, 0].tolist() for row in verify.tree_mask(parents)]


def one_row(parents):
    return verify.tree_mask(parents)[-1]


def never_stops_at_the_context(parents):
    def line(node):
        return [node, *line(parents[node])]

    return torch.tensor([[j in line(i) for j in range(len(parents))] for i in range(len(parents))])


def fails_on_no_nodes(parents):
    return torch.stack(list(verify.tree_mask(parents)))


def right_on_small_trees(parents):
    mask = verify.tree_mask(parents)
    return mask if len(parents) < 8 else mask & one_chain(parents).triu(-3)


WRONG = {
    one_chain: "mask of one long chain",
    parents_alone: "but not the parent's parent",
    two_steps_up: "two steps up and no further",
    not_itself: "has to see itself as well",
    transposed: "Rows and columns are swapped",
    inside_out: "inside out",
    minus_one_as_an_index: "as the *last* one",
    walks_over_minus_one: "as the *last* one",
    siblings_too: "Siblings see each other",
    everybody: "Everybody sees everybody",
    the_levels_above: "all that are less deep",
    itself_alone: "Each node sees itself alone",
    a_row_for_the_context: "The context needs no row",
    whole_numbers: "numbers (int32)",
    lists_of_ancestors: "a table of m rows",
    one_row: "row i says which nodes",
    never_stops_at_the_context: "and no node: stop there",
    fails_on_no_nodes: "A tree of no nodes",
    right_on_small_trees: "on its way to the context are nodes",
}


@pytest.mark.parametrize("attempt", [*WRONG, fractions], ids=lambda attempt: attempt.__name__)
def test_a_wrong_turn_gets_its_reason(attempt, capsys):
    assert check_tree_mask(attempt) is verify.tree_mask
    printed = " ".join(capsys.readouterr().out.split())
    assert WRONG.get(attempt, "numbers (float32)") in printed and "✗" in printed and "★" not in printed
    assert "package's own tree_mask" in printed


def test_the_known_wrong_masks_differ_from_the_right_one_and_from_each_other():
    deep = (*EXAMPLE, 4)
    masks = [tuple(mask.flatten().tolist()) for mask in (verify.tree_mask(deep), *wrong_masks(deep).values())]
    assert len(set(masks)) == len(masks)


def test_not_attempted_goes_on_with_the_packages_own(capsys):
    assert check_tree_mask(not_attempted) is verify.tree_mask
    assert "not attempted yet" in capsys.readouterr().out


def with_a_walk(parents):
    mask = empty(parents)
    for i in range(len(parents)):
        node = i
        while node >= 0:
            mask[i, node] = True
            node = parents[node]
    return mask


def as_lists(parents):
    return with_a_walk(parents).tolist()


def as_an_array(parents):
    return np.array(with_a_walk(parents).tolist(), dtype=bool).reshape(len(parents), len(parents))


def by_powers(parents):
    step = torch.zeros(len(parents), len(parents))
    for i, parent in enumerate(parents):
        if parent >= 0:
            step[i, parent] = 1
    reach = torch.eye(len(parents))
    for _ in parents:
        reach = (torch.eye(len(parents)) + reach @ step).clamp(max=1)
    return reach.bool()


@pytest.mark.parametrize("right", [with_a_walk, as_lists, as_an_array, by_powers], ids=lambda f: f.__name__)
def test_any_right_answer_is_the_one_that_runs(right, capsys):
    assert check_tree_mask(right) is right, capsys.readouterr().out
    assert capsys.readouterr().out.count("✓") == 3


def test_a_second_run_of_the_check_does_not_praise_the_packages_own(capsys):
    check_tree_mask(check_tree_mask(one_chain))
    assert "★" not in capsys.readouterr().out
