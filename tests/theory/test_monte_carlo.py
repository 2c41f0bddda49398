from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.errors import UserError
from specdec_lab.theory.closed_forms import expected_tokens, tokens_from_marginals
from specdec_lab.theory.monte_carlo import AT_ONCE, simulate, tokens_per_round


def test_ten_million_rounds_a_second():
    simulate(5, 0.8, AT_ONCE)
    rates = []
    for _ in range(3):
        began = perf_counter()
        simulate(5, 0.8, 2_000_000)
        rates.append(2.0 / (perf_counter() - began))
    print(f"{max(rates):.0f} million rounds a second")
    assert max(rates) >= 10


@settings(max_examples=25)
@given(st.integers(1, 12), st.floats(0.0, 1.0), st.integers(0, 2**32))
def test_agrees_with_the_closed_form(k, p, seed):
    mean, error = tokens_per_round(simulate(k, p, 200_000, seed))
    rare = (1 + k * k) * 10 / 200_000  # near p = 0 or 1 hardly a round differs, and the error cannot be estimated
    assert abs(mean - expected_tokens(k, p)) <= 5 * error + rare


@pytest.mark.parametrize(("k", "p"), [(1, 0.5), (4, 0.8), (5, 0.95)])
def test_every_count_has_its_binomial_spread(k, p):
    n = 1_000_000
    counts = simulate(k, p, n, seed=1)
    share = np.array([*(p**i * (1 - p) for i in range(k)), p**k])
    assert np.all(np.abs(counts - n * share) <= 5 * np.sqrt(n * share * (1 - share)))


def test_each_position_has_its_own_chance():
    chances = np.array([0.9, 0.2, 0.7])
    mean, error = tokens_per_round(simulate(3, chances, 1_000_000))
    assert abs(mean - tokens_from_marginals(np.cumprod(chances))) <= 5 * error
    assert simulate(3, [1, 1, 0], 1000).tolist() == [0, 0, 1000, 0]
    assert simulate(3, [0, 1, 1], 1000).tolist() == [1000, 0, 0, 0]


def test_every_round_is_counted_once_and_the_ends_are_exact():
    for n in (1, AT_ONCE - 1, AT_ONCE, 3 * AT_ONCE + 7):
        counts = simulate(4, 0.6, n)
        assert counts.shape == (5,) and counts.sum() == n and counts.min() >= 0
        assert simulate(4, 1.0, n).tolist() == [0, 0, 0, 0, n]
        assert simulate(4, 0.0, n).tolist() == [n, 0, 0, 0, 0]


def test_what_cannot_stand_never_does():
    """A float32 uniform is 0 once in 2^24 times, and 0 is not below 0."""
    assert simulate(1, 0.0, 100_000_000).tolist() == [100_000_000, 0]


def test_same_seed_same_rounds():
    assert simulate(4, 0.6, 10_000, 3).tolist() == simulate(4, 0.6, 10_000, 3).tolist()
    assert simulate(4, 0.6, 10_000, 3).tolist() != simulate(4, 0.6, 10_000, 4).tolist()


def test_blocks_do_not_repeat_their_coins():
    """Equal blocks would all have the same counts: those of many rounds would then be a multiple."""
    block, both = simulate(4, 0.6, AT_ONCE, 5), simulate(4, 0.6, 2 * AT_ONCE, 5)
    assert both.tolist() != (2 * block).tolist()


def test_the_standard_error_is_that_of_the_sample():
    counts = np.array([3, 0, 2, 5])
    sample = np.repeat([1, 2, 3, 4], counts)
    assert tokens_per_round(counts) == pytest.approx((sample.mean(), sample.std(ddof=1) / np.sqrt(10)))


def test_the_truth_is_within_two_standard_errors_in_95_of_100():
    inside = 0
    for seed in range(400):
        mean, error = tokens_per_round(simulate(5, 0.7, 500, seed))
        inside += abs(mean - expected_tokens(5, 0.7)) <= 2 * error
    assert 0.92 <= inside / 400 <= 0.98


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: simulate(0, 0.5, 10), "k is 0"),
        (lambda: simulate(3, 0.5, 0), "rounds 0"),
        (lambda: simulate(3, 1.5, 10), "p is 1.5"),
        (lambda: simulate(3, [0.5, 0.5], 10), "has to be one number or 3"),
        (lambda: tokens_per_round([1, 0]), "There are 1 rounds"),
    ],
)
def test_bad_values_are_named(call, says):
    with pytest.raises(UserError, match=says):
        call()
