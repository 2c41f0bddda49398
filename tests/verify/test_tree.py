"""Trees: who sees whom, which path stands, and that what comes out has the target's law, however the siblings were drawn."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.theory.enumeration import exact_law
from specdec_lab.verify import tree_mask, verify_greedy, verify_sampling, verify_tree_greedy, verify_tree_sampling
from tests.support import ScriptedRng, assert_same_law, ids

TREES = st.integers(0, 12).flatmap(lambda m: st.tuples(*(st.integers(-1, i - 1) for i in range(m))))
FULL = (-1, -1, 0, 0, 1, 1)  # two children each


def ancestors(parents, node):
    return {node} | (ancestors(parents, parents[node]) if parents[node] >= 0 else set())


@given(TREES)
def test_a_node_sees_itself_and_its_ancestors(parents):
    mask = tree_mask(parents)
    assert mask.dtype == torch.bool and mask.shape == (len(parents), len(parents))
    assert [set(row.nonzero().flatten().tolist()) for row in mask] == [ancestors(parents, i) for i in range(len(parents))]


def test_a_chain_is_a_tree():
    chain = (-1, 0, 1, 2)
    assert torch.equal(tree_mask(chain), torch.ones(4, 4).tril().bool())
    for target in itertools.product(range(2), repeat=5):
        path, following = verify_tree_greedy(ids(0, 1, 0, 1), chain, ids(*target))
        assert (len(path), following) == verify_greedy(ids(0, 1, 0, 1), ids(*target)) and path == list(range(len(path)))


def test_a_chain_is_verified_as_one_when_sampling():
    p, q = torch.rand(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).softmax(-1)
    for draft in torch.cartesian_prod(torch.arange(4), torch.arange(4)):
        as_tree = exact_law(lambda rng, d=draft: run(verify_tree_sampling(p, q[:2], d, (-1, 0), rng)))
        as_chain = exact_law(lambda rng, d=draft: verify_sampling(p, q[:2], d, rng))
        assert_same_law({(len(path), token): w for (path, token), w in as_tree.items()}, as_chain)


def run(verdict):
    path, token = verdict
    return tuple(path), token


def test_greedy_takes_the_child_that_the_target_says_at_each_step():
    draft = ids(5, 6, 7, 8, 9, 4)  # under 5: 7, 8; under 6: 9, 4
    says = {-1: 6, 0: 7, 1: 4, 5: 2}
    target = ids(*(says.get(node, 0) for node in range(-1, 6)))
    assert verify_tree_greedy(draft, FULL, target) == ([1, 5], 2)
    assert verify_tree_greedy(draft, FULL, ids(3, *target[1:].tolist())) == ([], 3)
    assert verify_tree_greedy(ids(), (), ids(3)) == ([], 3)


def test_a_match_on_another_branch_counts_for_nothing():
    assert verify_tree_greedy(ids(5, 6, 7, 8, 9, 4), FULL, ids(5, 9, 9, 9, 9, 9, 9)) == ([0], 9)


def every_draw(rng, law, children, replace):
    """The first level of a tree: `children` tokens drawn from a law, and the laws they were drawn from."""
    tokens, laws = [], []
    for _ in range(children):
        laws.append(law)
        tokens.append(rng.draw(law))
        if not replace:
            left = law.index_fill(0, ids(tokens[-1]), 0.0)
            if not float(left.sum()) > 0:
                break
            law = left / left.sum()
    return torch.tensor(tokens), torch.stack(laws)


@pytest.mark.parametrize("replace", [True, False], ids=["independent siblings", "without replacement"])
@pytest.mark.parametrize("children", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_siblings_keep_the_targets_law(seed, children, replace):
    p, q = (torch.randn(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 1.5).softmax(-1)
    if seed == 0:
        q = torch.tensor([0.5, 0.5, 0.0, 0.0], dtype=torch.float64)  # it runs out of siblings

    def emitted(rng):
        draft, laws = every_draw(rng, q, children, replace)
        path, token = verify_tree_sampling(p.expand(len(draft) + 1, 4), laws, draft, (-1,) * len(draft), rng)
        return int(draft[path[0]]) if path else token

    assert_same_law(exact_law(emitted), dict(enumerate(p.tolist())))


def test_more_siblings_are_accepted_more_often_and_never_beyond_certainty():
    p, q = (torch.tensor(law, dtype=torch.float64) for law in ((0.5, 0.3, 0.2), (0.2, 0.5, 0.3)))

    def accepted(rng, children):
        draft, laws = every_draw(rng, q, children, replace=False)
        return len(verify_tree_sampling(p.expand(children + 1, 3), laws, draft, (-1,) * children, rng)[0])

    rates = [exact_law(lambda rng, c=c: accepted(rng, c)).get(1, 0.0) for c in (1, 2, 3)]
    assert rates[0] == pytest.approx(0.7) and rates[0] < rates[1] < rates[2]
    assert rates[2] == pytest.approx(1.0)  # all three tokens are there: one of them has to be it


def test_eagle_183_ranked_children_are_not_drawn_ones():
    """The two most likely tokens of q, tested as what they are keep p, tested against q they do not."""
    p, q = (torch.tensor(law, dtype=torch.float64) for law in ((0.5, 0.3, 0.2), (0.2, 0.5, 0.3)))
    draft, one_hot = ids(1, 2), torch.eye(3, dtype=torch.float64)

    def emitted(rng, laws):
        path, token = verify_tree_sampling(p.expand(3, 3), laws, draft, (-1, -1), rng)
        return int(draft[path[0]]) if path else token

    assert_same_law(exact_law(lambda rng: emitted(rng, one_hot[draft])), dict(enumerate(p.tolist())))
    wrong = exact_law(lambda rng: emitted(rng, torch.stack([q, q])))
    assert abs(wrong[1] - 0.3) > 0.2


def test_the_siblings_share_no_uniform():
    p, q = torch.full((3, 2), 0.5, dtype=torch.float64), torch.tensor([[0.9, 0.1], [0.1, 0.9]], dtype=torch.float64)
    rng = ScriptedRng(0.6, 0.2)
    assert verify_tree_sampling(p, q, ids(0, 1), (-1, -1), rng)[0] == [1] and rng.left == 0
