"""Rejection sampling: each rule alone, the worked example of chapter 3, and exact laws of random pairs."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.theory.enumeration import exact_law
from specdec_lab.verify import residual, verify_sampling
from tests.support import ScriptedRng, assert_same_law, ids

P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
Q = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
ONE_HOT = torch.eye(3, dtype=torch.float64)


def law_of_round(p: torch.Tensor, q: torch.Tensor) -> tuple[dict, dict]:
    """Draft k tokens from the laws q `[k, vocab]`, verify: the laws of the first emitted token and of the accepted count."""

    def run(rng):
        draft = [rng.draw(row) for row in q]
        accepted, next_token = verify_sampling(p, q, ids(*draft), rng)
        return (*draft[:accepted], next_token)[0], accepted

    first, count = {}, {}
    for (token, accepted), weight in exact_law(run).items():
        first[token] = first.get(token, 0.0) + weight
        count[accepted] = count.get(accepted, 0.0) + weight
    return first, count


@pytest.mark.parametrize(
    "p, q, wanted",
    [
        (P, Q, [1, 0, 0]),
        (Q, P, [0, 2 / 3, 1 / 3]),
        (P, ONE_HOT[0], [0, 0.6, 0.4]),  # a deterministic proposal: p with it removed
        (ONE_HOT[1], Q, [0, 1, 0]),
        (P, P, P.tolist()),  # nothing is above: rounding alone leads here, and p is the answer, not 0/0
    ],
)
def test_the_residual_is_what_p_has_above_q(p, q, wanted):
    assert residual(p, q).tolist() == pytest.approx(wanted, abs=1e-15)


def test_a_residual_of_rounding_size_is_still_a_law():
    q = P + torch.tensor([1e-16, -1e-16, 0], dtype=torch.float64)
    assert residual(P, q).tolist() == [0, 1, 0]


def test_the_worked_example_accepts_seven_tenths_and_keeps_the_law():
    first, count = law_of_round(torch.stack([P, P]), Q[None])
    assert_same_law(first, {0: 0.5, 1: 0.3, 2: 0.2})
    assert_same_law(count, {1: 0.7, 0: 0.3})


def test_two_positions_accept_one_after_the_other():
    first, count = law_of_round(torch.stack([P, Q, P]), torch.stack([Q, P]))
    assert_same_law(first, {0: 0.5, 1: 0.3, 2: 0.2})
    assert_same_law(count, {0: 0.3, 1: 0.7 * 0.3, 2: 0.49})


laws = st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.0, 7.0]), min_size=4, max_size=4).filter(any)


@given(p=laws, q=laws)
@settings(deadline=None, max_examples=60)
def test_the_law_is_p_and_the_acceptance_the_overlap_for_any_pair(p, q):
    p, q = (torch.tensor(x, dtype=torch.float64) / sum(x) for x in (p, q))
    first, count = law_of_round(torch.stack([p, p]), q[None])
    assert_same_law(first, dict(enumerate(p.tolist())))
    assert count.get(1, 0.0) == pytest.approx(float(torch.minimum(p, q).sum()), abs=1e-12)


def test_a_uniform_of_exactly_zero_does_not_accept_the_impossible():
    rng = ScriptedRng(0.0)
    assert verify_sampling(torch.stack([ONE_HOT[1], P]), ONE_HOT[:1], ids(0), rng) == (0, 1)


def test_equal_laws_accept_whatever_the_uniform():
    rng = ScriptedRng(1 - 2**-53, 1 - 2**-53)
    accepted, _ = verify_sampling(torch.stack([P, Q, P]), torch.stack([P, Q]), ids(2, 2), rng)
    assert accepted == 2


def test_the_threshold_is_p_over_q():
    # p(1) / q(1) = 0.6
    for u, accepted in ((0.5999, 1), (0.6001, 0)):
        assert verify_sampling(torch.stack([P, P]), Q[None], ids(1), ScriptedRng(u))[0] == accepted


def test_one_fresh_uniform_a_tested_position_and_none_behind_a_rejection():
    p, q = torch.stack([P, P, P, P]), torch.stack([Q, Q, Q])
    rng = ScriptedRng(0.1, 0.9, 0.0)
    assert verify_sampling(p, q, ids(1, 1, 1), rng)[0] == 1
    assert rng.left == 1


def test_correction_and_bonus_are_drawn_from_the_laws_of_their_own_positions():
    p, q = torch.stack([P, Q, ONE_HOT[2]]), torch.stack([Q, P])
    rejected_at_1, all_accepted = ScriptedRng(0.0, 0.99), ScriptedRng(0.0, 0.0)
    assert verify_sampling(p, q, ids(0, 0), rejected_at_1) == (1, 1)
    assert rejected_at_1.drawn[0].tolist() == pytest.approx([0, 2 / 3, 1 / 3])  # (Q - P)+, that of position 1
    assert verify_sampling(p, q, ids(0, 0), all_accepted) == (2, 2)
    assert all_accepted.drawn[0].tolist() == [0, 0, 1]


def test_an_empty_draft_draws_from_the_target():
    rng = ScriptedRng()
    assert verify_sampling(P[None], torch.empty(0, 3), ids(), rng) == (0, 0)
    assert torch.equal(rng.drawn[0], P)


def test_float32_laws_accept_the_overlap_to_float32():
    torch.manual_seed(0)
    p, q = torch.randn(2, 50).softmax(-1)
    first, count = law_of_round(torch.stack([p, p]), q[None])
    assert_same_law(first, dict(enumerate(p.tolist())), tolerance=1e-6)
    assert count[1] == pytest.approx(float(torch.minimum(p, q).sum()), abs=1e-6)
