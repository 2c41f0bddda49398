import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.drafters.shapes import Growth, best, chain, depths, full, levels, siblings
from specdec_lab.sampling import SamplingParams, SeededRng, laws
from specdec_lab.theory.enumeration import exact_law
from tests.support import SAMPLED, ids

CONTEXT = ids(0, 2)


def test_the_shapes():
    assert chain(3) == (-1, 0, 1) and chain(0) == ()
    assert full(2, 2) == (-1, -1, 0, 0, 1, 1) and full(1, 1, 1) == chain(3) and full() == ()
    assert depths(full(2, 1, 2)) == [1, 1, 2, 2, 3, 3, 3, 3]
    assert levels(full(2, 1, 2), 2) == [[0, 1], [2, 3]] and levels((), 4) == []


def expected(shape, accuracy):
    """The expected number of accepted tokens: the sum over nodes of the chance that all on the way stand."""
    chances, born = [], {}
    for parent in shape:
        rank = born[parent] = born.get(parent, -1) + 1
        depth = 0 if parent < 0 else depths(shape)[parent]
        chances.append((1.0 if parent < 0 else chances[parent]) * accuracy[depth][rank])
    return sum(chances)


ACCURACY = st.lists(
    st.lists(st.floats(0.01, 0.5), min_size=3, max_size=3).map(lambda row: sorted(row, reverse=True)), min_size=2, max_size=3
)


@settings(max_examples=40, deadline=None)
@given(ACCURACY, st.integers(1, 5))
def test_the_best_shape_expects_the_most(accuracy, nodes):
    found = best(accuracy, nodes)
    assert len(found) == nodes
    others = itertools.product(*(range(-1, i) for i in range(nodes)))
    fitting = [s for s in others if max(depths(s)) <= len(accuracy) and all(s.count(p) <= 3 for p in s)]
    assert expected(found, accuracy) == pytest.approx(max(expected(s, accuracy) for s in fitting))


def test_the_best_shape_ends_where_there_is_nothing_to_add():
    assert best([[0.5, 0.3]], 7) == (-1, -1)


def test_greedy_siblings_are_the_most_likely_tokens_and_were_not_drawn():
    tokens, drawn_from = siblings(torch.tensor([0.0, 3.0, 1.0, 2.0]), 3, SamplingParams(), CONTEXT, SeededRng())
    assert tokens == [1, 3, 2] and drawn_from is None
    tokens, _ = siblings(torch.tensor([0.0, 3.0, 2.9, 2.0]), 1, SamplingParams(repetition_penalty=1.5), ids(1), SeededRng())
    assert tokens == [2]


def test_a_token_that_cannot_be_said_is_no_sibling():
    tokens, _ = siblings(torch.tensor([0.0, 3.0, -torch.inf, -torch.inf]), 4, SamplingParams(), CONTEXT, SeededRng())
    assert tokens == [1, 0]


@pytest.mark.parametrize("params", [SAMPLED, SamplingParams(0.7, top_k=3, repetition_penalty=1.5)], ids=str)
def test_drawn_siblings_differ_and_state_the_law_they_came_from(params):
    logits = torch.tensor([0.3, 1.0, -0.5, 0.8], dtype=torch.float64)
    law = laws(logits[None], params, CONTEXT)[0]

    def drawn(rng):
        tokens, drawn_from = siblings(logits, 4, params, CONTEXT, rng)
        seen = torch.zeros(4, dtype=torch.bool)
        for token, stated in zip(tokens, drawn_from, strict=True):
            left = law.masked_fill(seen, 0.0)
            assert torch.allclose(stated, left / left.sum(), atol=1e-12) and not seen[token]
            seen[token] = True
        return tuple(tokens)

    found = exact_law(drawn)
    possible = int((law > 0).sum())
    assert {len(tokens) for tokens in found} == {possible} and sum(found.values()) == pytest.approx(1)


def test_a_draft_grows_only_as_deep_as_asked_and_where_there_are_tokens():
    growth = Growth(full(2, 2), 1, CONTEXT, SamplingParams(), SeededRng())
    growth.grow(0, -1, torch.tensor([0.0, 1.0, 2.0]))
    draft = growth.draft()
    assert len(growth.levels) == 1 and draft.tokens.tolist() == [2, 1] and draft.parents == (-1, -1)

    growth = Growth(full(2, 2), 2, CONTEXT, SamplingParams(1.0, top_k=1), SeededRng())
    for level in range(2):
        for node in growth.branches(level):
            growth.grow(level, node, torch.tensor([0.0, 1.0, 2.0]))
    draft = growth.draft()
    assert draft.tokens.tolist() == [2, 2] and draft.parents is None, "one child each is a chain"
    assert growth.path(2).tolist() == [2, 2]


def test_the_nodes_know_their_branch():
    growth = Growth(full(2, 1), 2, CONTEXT, SamplingParams(), SeededRng())
    growth.grow(0, -1, torch.tensor([0.0, 1.0, 2.0]))
    growth.grow(1, 1, torch.tensor([5.0, 1.0, 2.0]))
    growth.grow(1, 0, torch.tensor([0.0, 9.0, 2.0]))
    assert growth.path(3).tolist() == [1, 0] and growth.path(2).tolist() == [2, 1]
    assert growth.draft().parents == (-1, -1, 1, 0)
