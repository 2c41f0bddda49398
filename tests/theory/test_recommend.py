"""The rule of thumb's three sentences, then a recommendation that says what the closed forms say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.errors import UserError
from specdec_lab.theory.closed_forms import optimal_k, speedup
from specdec_lab.theory.recommend import doubt, recommend, route, rule_of_thumb


def flat(n):
    return 1.0


# --- the rule of thumb ---


@pytest.mark.parametrize(
    ("workload", "temperature", "known"),
    [
        ("code", 0.1, ("enable", 5)),
        ("story", 1.0, ("skip", 0)),
        ("chat", 0.5, ("benchmark", 3)),
        ("code-completion", 0.3, ("enable", 5)),
        ("json", 0.0, ("enable", 5)),
        ("structured output", 0.2, ("enable", 5)),
        ("extraction", 0.0, ("enable", 5)),
        ("code", 0.31, ("benchmark", 3)),
        ("code", 0.9, ("skip", 0)),
        ("story", 0.0, ("benchmark", 3)),
        ("chat", 0.89, ("benchmark", 3)),
    ],
)
def test_the_rule_of_thumb(workload, temperature, known):
    assert rule_of_thumb(workload, temperature) == known


@pytest.mark.parametrize(
    ("workload", "temperature", "goal", "known"),
    [
        ("code-completion", 0.1, "latency", "enable"),
        ("code-completion", 0.1, "throughput", "enable"),
        ("creative-writing", 1.0, "throughput", "bigger batch"),
        ("creative-writing", 1.0, "latency", "benchmark"),
        ("chat", 0.5, "latency", "benchmark"),
        ("chat", 0.5, "throughput", "bigger batch"),
    ],
)
def test_the_routing(workload, temperature, goal, known):
    assert route(workload, temperature, goal) == known


# --- from measured numbers ---


def test_a_good_draft_is_recommended_at_its_best_k():
    r = recommend(0.8, 0.1, flat)
    assert (r.verdict, r.k) == ("enable", 6)
    assert r.speedup == pytest.approx(2.47, abs=0.005)


def test_a_doubt_that_reaches_over_the_break_even_calls_for_a_benchmark():
    """With v = 1 and no overhead some k helps if and only if alpha > c."""
    assert recommend(0.25, 0.2, flat, error=0.02).verdict == "enable"
    r = recommend(0.25, 0.2, flat, error=0.03)
    assert (r.verdict, r.k) == ("benchmark", 1)
    assert "0.06" in r.reason


def test_a_benchmark_that_alpha_itself_is_against_tries_what_the_upper_edge_would():
    r = recommend(0.18, 0.2, flat, error=0.2)
    assert (r.verdict, r.k) == ("benchmark", int(optimal_k(0.58, 0.2, 8)))
    assert r.speedup < 1


def test_what_cannot_win_is_skipped_and_the_reason_says_what_would_be_needed():
    r = recommend(0.1, 0.2, flat)
    assert (r.verdict, r.k, r.speedup) == ("skip", 0, 1.0)
    assert "0.20 would be needed, with k = 1" in r.reason
    assert recommend(0.1, 0.2, flat, goal="throughput").verdict == "bigger batch"


def test_prices_that_no_draft_can_win_against():
    """A pass that costs a step for each of its tokens: the batch past the ridge."""
    r = recommend(0.99, 0.1, float)
    assert r.verdict == "skip" and "not even a perfect draft" in r.reason


def test_the_price_of_the_pass_is_asked_at_k_plus_1():
    asked = []
    recommend(0.5, 0.1, lambda n: asked.append(n) or 1.0, k_max=4)
    assert set(asked) == {2, 3, 4, 5}


def test_nothing_may_be_drafted():
    assert recommend(0.9, 0.1, flat, k_max=0)[:3] == ("skip", 0, 1.0)


@pytest.mark.parametrize(
    "bad", [{"alpha": 1.2}, {"alpha": -0.1}, {"c": -1.0}, {"error": -0.1}, {"error": float("nan")}, {"overhead": -1}, {"overhead": -1.0}]
)
def test_numbers_that_cannot_be(bad):
    with pytest.raises(UserError):
        recommend(**{"alpha": 0.5, "c": 0.1, "verify": flat, **bad})


def test_an_unknown_goal_is_named():
    with pytest.raises(UserError, match="goal is 'speed'"):
        recommend(0.1, 0.2, flat, goal="speed")


def test_the_doubt_stays_within_0_and_1():
    assert doubt(0.05, 0.1) == (0.0, 0.05, pytest.approx(0.25))
    assert doubt(0.95, 0.1)[2] == 1.0


@given(
    alpha=st.floats(0, 1), c=st.floats(0.0, 0.5), overhead=st.floats(0, 0.5), error=st.floats(0, 0.2),
    prices=st.lists(st.floats(0.8, 2.5), min_size=8, max_size=8),
)  # fmt: skip
def test_every_verdict_is_what_the_edges_say(alpha, c, overhead, error, prices):
    def verify(n):
        return prices[n - 2]

    def best(p):
        return max([1.0, *(float(speedup(k, p, c, verify(k + 1), overhead)) for k in range(1, 9))])

    r = recommend(alpha, c, verify, overhead, error)
    low, high = best(doubt(alpha, error)[0]), best(doubt(alpha, error)[2])
    assert r.verdict == ("enable" if low > 1 else "benchmark" if high > 1 else "skip")
    assert (r.k == 0) == (r.verdict == "skip")
    if r.verdict == "enable":
        assert np.isclose(r.speedup, best(alpha))
