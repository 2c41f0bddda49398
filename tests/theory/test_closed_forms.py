"""The tables of the literature and of the course, then what holds for every k, p and c."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.engine import Metrics
from specdec_lab.errors import UserError
from specdec_lab.theory.closed_forms import (
    acceptance_probability,
    acceptance_rate,
    break_even,
    expected_accepted,
    expected_tokens,
    extra_operations,
    optimal_k,
    round_cost,
    speedup,
    tokens_from_marginals,
)
from tests.support import rounds

ks = st.integers(1, 40)
ps = st.floats(0.0, 1 - 1e-6) | st.just(1.0)
costs = st.floats(0.0, 2.0)


# --- numbers ---


def test_the_seeds_tables():
    assert np.round(expected_accepted(4, [0.5, 0.8, 0.95]), 2).tolist() == [0.94, 2.36, 3.52]
    assert np.round(speedup(5, [0.4, 0.7, 0.9], 0.15), 2).tolist() == [0.95, 1.68, 2.68]


LEVIATHAN = {
    (0.6, 2): (1.96, 1.53),
    (0.7, 3): (2.53, 1.58),
    (0.8, 2): (2.44, 1.23),
    (0.8, 5): (3.69, 1.63),
    (0.9, 2): (2.71, 1.11),
    (0.9, 10): (6.86, 1.60),
}


@pytest.mark.parametrize(("at", "known"), LEVIATHAN.items())
def test_table_1_of_leviathan(at, known):
    p, k = at
    assert (round(float(expected_tokens(k, p)), 2), round(float(extra_operations(k, p, 0.0)), 2)) == known


def test_extra_operations_count_those_of_the_draft():
    assert extra_operations(5, 0.8, 0.1) == pytest.approx((5 * 0.1 + 6) * (1 - 0.8) / (1 - 0.8**6), rel=1e-12)


BEST = {
    0.02: {0.6: (6, 2.17), 0.7: (8, 2.76), 0.8: (11, 3.82), 0.9: (19, 6.37)},
    0.05: {0.6: (4, 1.92), 0.7: (6, 2.35), 0.8: (8, 3.09), 0.9: (13, 4.67)},
    0.10: {0.6: (3, 1.67), 0.7: (4, 1.98), 0.8: (6, 2.47), 0.9: (10, 3.43)},
    0.20: {0.6: (2, 1.40), 0.7: (3, 1.58), 0.8: (4, 1.87), 0.9: (7, 2.37)},
}


@pytest.mark.parametrize(("c", "p", "known"), [(c, p, known) for c, row in BEST.items() for p, known in row.items()])
def test_the_best_k(c, p, known):
    k = optimal_k(p, c)
    assert (int(k), round(float(speedup(k, p, c)), 2)) == known


def test_the_best_k_of_a_whole_grid_at_once():
    grid = optimal_k([[p] for p in (0.6, 0.7, 0.8, 0.9)], [0.02, 0.05, 0.1, 0.2])
    assert grid.tolist() == [[BEST[c][p][0] for c in (0.02, 0.05, 0.1, 0.2)] for p in (0.6, 0.7, 0.8, 0.9)]


def test_the_puzzle_of_chapter_4():
    m = Metrics.of(rounds(4, 0, 2, 4, 1, k=4))
    assert (m.acceptance_rate, m.alpha, m.mean_acceptance_length) == pytest.approx((11 / 20, 11 / 14, 16 / 5))
    assert m.marginal == pytest.approx((0.8, 0.6, 0.4, 0.4))
    assert m.conditional == pytest.approx((0.8, 0.75, 2 / 3, 1.0))
    assert tokens_from_marginals(m.marginal) == pytest.approx(m.mean_acceptance_length)  # no i.i.d. needed
    assert expected_tokens(4, m.alpha) != pytest.approx(m.mean_acceptance_length, rel=0.01)  # the i.i.d. form is off


def test_acceptance_rate_and_p_are_two_numbers():
    assert acceptance_rate(5, 0.8) == pytest.approx(0.8 * (1 - 0.8**5) / (5 * (1 - 0.8)))
    assert round(float(acceptance_rate(5, 0.8)), 2) == 0.54


def test_high_acceptance_and_no_speedup_has_a_cause():
    assert round(float(speedup(5, 0.8, 0.1)), 2) == 2.46
    assert round(float(speedup(5, 0.8, 0.1, verify=1.2, overhead=0.3)), 2) == 1.84


def test_averages_mislead():
    halves = expected_tokens(5, [0.95, 0.3])
    assert (round(float(halves.mean()), 2), round(float(expected_tokens(5, 0.625)), 2)) == (3.36, 2.51)
    mixed = (0.95 ** np.arange(1, 6) + 0.3 ** np.arange(1, 6)) / 2
    assert tokens_from_marginals(mixed) == pytest.approx(halves.mean())
    assert tokens_from_marginals([[0.5, 0.25], [1.0, 1.0]]).tolist() == [1.75, 3.0]


def test_the_ends_are_exact():
    assert expected_accepted([0, 1, 7], 1).tolist() == [0, 1, 7]
    assert expected_accepted([0, 1, 7], 0).tolist() == [0, 0, 0]
    assert expected_tokens(3, [0, 1]).tolist() == [1, 4]
    assert acceptance_rate(3, [0.0, 1.0]).tolist() == [0, 1]
    assert speedup(4, 1, 0.25) == 2.5


def test_break_even_at_one_token_is_c():
    c = np.array([0.0, 0.02, 0.15, 0.5, 0.999])
    assert break_even(1, c) == pytest.approx(c, abs=1e-14)
    assert break_even(1, 0.15, verify=1.2, overhead=0.1) == pytest.approx(0.45)
    assert break_even([2, 4, 8], 0.5).tolist() == sorted(break_even([2, 4, 8], 0.5))  # a longer draft has to be better
    assert break_even(1, [1.0, 3.0]).tolist() == [np.inf, np.inf]
    assert break_even(5, 0.0, verify=0.9) == 0  # compiled, a pass over 6 tokens can be cheaper than over 1


def test_no_k_where_none_helps():
    assert optimal_k([0.1, 0.1, 0.3], [0.1, 0.2, 0.2]).tolist() == [0, 0, 1]
    assert optimal_k(0.8, 0.1, overhead=10.0) == 0
    assert optimal_k(0.8, 0.1, k_max=0) == 0
    assert optimal_k(1.0, 0.1, k_max=12) == 12  # more would be better still


def test_the_best_k_on_a_measured_curve():
    def step(n):  # as a tile of 4 rows: passes over 1 to 4 tokens cost the same, then twice as much
        return 1.0 if n <= 4 else 2.0

    assert optimal_k(0.8, 0.1, verify=step) == 3
    assert optimal_k(0.8, 0.1, verify=lambda n: 1.0) == optimal_k(0.8, 0.1)
    asked = []
    optimal_k(0.8, 0.1, k_max=3, verify=lambda n: asked.append(n) or 1.0)
    assert asked == [2, 3, 4]  # passes over k + 1 tokens


def test_shapes_broadcast():
    assert expected_tokens(np.arange(5)[:, None], np.linspace(0, 1, 7)).shape == (5, 7)
    assert speedup(3, 0.5, np.zeros((2, 1)), np.ones(4)).shape == (2, 4)
    assert break_even(np.arange(1, 4)[:, None], np.zeros(2)).shape == (3, 2)


# --- what always holds ---


@given(ks, ps)
def test_the_closed_form_is_the_sum(k, p):
    assert expected_accepted(k, p) == pytest.approx(sum(p**i for i in range(1, k + 1)), rel=1e-8)
    assert expected_tokens(k, p) == pytest.approx(sum(p**i for i in range(k + 1)), rel=1e-8)
    assert tokens_from_marginals(p ** np.arange(1, k + 1)) == pytest.approx(expected_tokens(k, p), rel=1e-8)


@given(ks, ps, ps)
def test_more_tokens_with_p_and_with_k_but_never_above_k_plus_1(k, p, q):
    low, high = sorted((p, q))
    few, many = expected_tokens(k, [low, high])
    assert 1 <= few <= many * (1 + 1e-9) and many <= (k + 1) * (1 + 1e-9)
    assert expected_tokens(k, p) <= expected_tokens(k + 1, p) * (1 + 1e-9)
    assert acceptance_rate(k + 1, p) <= acceptance_rate(k, p) * (1 + 1e-9) <= (p + 1e-12) * (1 + 1e-8)


@given(ps, st.floats(0.0, 1.0))
def test_some_k_helps_if_and_only_if_p_exceeds_c(p, c):
    if abs(p - c) > 1e-9:
        assert (optimal_k(p, c) > 0) == (p > c)


@given(ks, costs, st.floats(0.5, 3.0), costs)
def test_at_break_even_nothing_is_won(k, c, v, overhead):
    p = float(break_even(k, c, v, overhead))
    if np.isinf(p):
        assert speedup(k, 1.0, c, v, overhead) <= 1
    elif p == 0:
        assert round_cost(k, c, v, overhead) <= 1 + 1e-12
    else:
        assert speedup(k, p, c, v, overhead) == pytest.approx(1, rel=1e-9)


@given(ps, costs, costs)
def test_no_other_k_is_better(p, c, overhead):
    best = int(optimal_k(p, c, k_max=12, overhead=overhead))
    gains = [1.0, *(float(speedup(k, p, c, 1.0, overhead)) for k in range(1, 13))]
    assert gains[best] == max(gains)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: expected_accepted(4, 1.2), "p is 1.2"),
        (lambda: expected_tokens(4, [0.5, -0.1]), "p is -0.1"),
        (lambda: expected_tokens(4, float("nan")), "p is nan"),
        (lambda: expected_tokens(-1, 0.5), "k is -1"),
        (lambda: expected_tokens(2.5, 0.5), "k is 2.5"),
        (lambda: acceptance_rate(0, 0.5), "k is 0"),
        (lambda: speedup(4, 0.5, -0.1), "c is -0.1"),
        (lambda: speedup(4, 0.5, 0.1, verify=-1.0), "verify is -1.0"),
        (lambda: speedup(4, 0.5, 0.1, overhead=float("inf")), "overhead is inf"),
        (lambda: extra_operations(4, 0.5, -1), "c_ops is -1"),
        (lambda: tokens_from_marginals([0.5, 55]), "p is 55"),
    ],
)
def test_bad_values_are_named(call, says):
    with pytest.raises(UserError, match=says):
        call()


def test_the_best_k_by_default_asks_a_measured_curve_for_no_more_than_it_has():
    def curve(n: int) -> float:
        assert n <= 32, "measure.time_passes ends there"
        return 1.0

    assert optimal_k(0.8, 0.1, verify=curve) == 6


# --- two laws ---


def test_the_overlap_of_the_worked_example():
    p, q = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
    assert acceptance_probability(p, q) == pytest.approx(0.7)
    assert acceptance_probability([p, p, [1, 0, 0]], [q, p, [0, 1, 0]]).tolist() == pytest.approx([0.7, 1, 0])
    assert acceptance_probability(p, q) == pytest.approx(1 - np.abs(np.subtract(p, q)).sum() / 2)


def test_logits_are_no_laws():
    with pytest.raises(UserError, match="a probability lies in"):
        acceptance_probability([2.0, -1.0], [0.5, 0.5])
