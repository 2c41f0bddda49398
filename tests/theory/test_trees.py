"""What a tree yields, against a count of all the ways its places can fall out."""

from itertools import product

import pytest

from specdec_lab.drafters.shapes import best, chain, full
from specdec_lab.theory.closed_forms import expected_tokens
from specdec_lab.theory.trees import tree_tokens

ACCURACY = [[0.5, 0.2, 0.1], [0.4, 0.3, 0.1], [0.6, 0.1, 0.1]]


def played(parents, accuracy) -> float:
    """The mean over every way in which ranks can be the right ones at each depth: the deeper, the longer the path."""
    total = 0.0
    for ranks in product(range(4), repeat=len(accuracy)):  # rank 3: none of the three
        chance, here, length, alive = 1.0, -1, 1, True
        for depth, rank in enumerate(ranks):
            chance *= (*accuracy[depth], 1 - sum(accuracy[depth]))[rank]
            children = [i for i, parent in enumerate(parents) if parent == here]
            alive = alive and rank < len(children)
            if alive:
                here, length = children[rank], length + 1
        total += chance * length
    return total


@pytest.mark.parametrize("parents", [(), chain(3), full(3), full(2, 2, 1), (-1, 0, 0, -1, 3, 1), best(ACCURACY, 7)])
def test_it_is_the_mean_over_all_ways(parents):
    assert tree_tokens(parents, ACCURACY) == pytest.approx(played(parents, ACCURACY))


def test_a_chain_is_the_formula_of_chapter_4():
    assert tree_tokens(chain(4), [[0.7]] * 4) == pytest.approx(float(expected_tokens(4, 0.7)))


@pytest.mark.parametrize("nodes", [1, 2, 4, 7])
def test_no_tree_of_as_many_nodes_yields_more_than_the_best(nodes):
    trees = [t for t in product(range(-1, nodes - 1), repeat=nodes) if all(p < i for i, p in enumerate(t))] if nodes <= 4 else [full(7)[:3]]
    ranked = [t for t in trees if max((t.count(p) for p in t), default=0) <= 3 and _deep(t) <= 3]
    assert max(tree_tokens(t, ACCURACY) for t in ranked) <= tree_tokens(best(ACCURACY, nodes), ACCURACY) + 1e-12


def _deep(parents) -> int:
    depth: list[int] = []
    for parent in parents:
        depth.append(1 if parent < 0 else depth[parent] + 1)
    return max(depth)
