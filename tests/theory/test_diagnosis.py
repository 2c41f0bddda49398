"""Each cause by the numbers that give it away, and by none that would give away another."""

from dataclasses import replace

import pytest

from specdec_lab.theory.closed_forms import expected_tokens, round_cost
from specdec_lab.theory.diagnosis import Signature, diagnose


def a_run(k=4, alpha=0.8, verify=1.2, c=0.05, overhead=0.05, **known):
    """A run that is as the formulas have it."""
    length = float(expected_tokens(k, alpha))
    fields = {"conditional": (alpha,) * k, "length": length, "speedup": length / float(round_cost(k, c, verify, overhead)), **known}
    return Signature(k=k, alpha=alpha, verify=verify, c=c, overhead=overhead, **fields)


HEALTHY = a_run(usual=0.8, cool=0.8, alone=2.2)
RUNS = {
    "healthy": HEALTHY,
    "mismatch": a_run(alpha=0.1, usual=0.8, cool=0.12),
    "temperature": a_run(alpha=0.3, usual=0.8, cool=0.78),
    "drift": replace(a_run(alpha=0.5, usual=0.8), conditional=(0.8, 0.3, 0.2, 0.1), tested=(100, 80, 24, 5)),
    "k too large": a_run(k=20, alpha=0.6, c=0.1, verify=1.6),
    "batch": a_run(verify=4.0, alone=2.0),
    "drafting": a_run(alpha=0.7, c=0.8, k=2),
    "pass": a_run(verify=4.0),
    "overhead": a_run(overhead=4.0),
    "unseen": replace(HEALTHY, speedup=1.1, alone=None),
    "text": a_run(alpha=0.05, verify=1.3, c=0.1, overhead=0.3, k=1),
}


@pytest.mark.parametrize("cause", RUNS)
def test_each_cause_by_its_signature(cause):
    found = diagnose(RUNS[cause])
    assert found.cause == cause
    assert found.reason.endswith((".", "!")) and found.repair.endswith(".")


def test_a_low_alpha_at_temperature_0_is_no_temperature():
    assert diagnose(a_run(alpha=0.2, usual=0.8, cool=0.2)).cause == "mismatch"


def test_without_a_usual_alpha_a_low_one_is_not_called_a_mismatch():
    assert diagnose(a_run(alpha=0.1, c=0.2)).cause not in ("mismatch", "temperature")


def test_a_draft_length_that_is_off_by_one_or_two_is_left_alone():
    """The top of the curve is flat: chapter 4."""
    assert diagnose(a_run(k=8, alpha=0.8, c=0.1)).cause == "healthy"


def test_k_too_large_shows_even_in_a_run_that_wins():
    run = a_run(k=20, alpha=0.8, c=0.1, verify=1.3)
    assert run.speedup > 1
    found = diagnose(run)
    assert found.cause == "k too large" and "at most 5.00" in found.reason


def test_where_every_k_loses_k_is_blamed_only_for_guesses_that_hardly_ever_matter():
    found = diagnose(a_run(k=4, alpha=0.3, c=0.5))
    assert found.cause == "k too large" and "expected to lose less" in found.repair
    assert diagnose(a_run(k=4, alpha=0.8, c=1.0)).cause == "drafting"


def test_a_batch_is_blamed_rather_than_guesses_that_pay_where_a_text_is_alone():
    """At 32 texts fewer guesses lose less, but that is not why this lost: alone, the same k wins."""
    run = a_run(alpha=0.3, verify=3.2, c=0.3)
    assert diagnose(run).cause == "k too large" and diagnose(replace(run, alone=1.3)).cause == "batch"


def test_a_batch_is_blamed_only_if_one_text_gains():
    assert diagnose(a_run(verify=4.0, alone=0.9)).cause == "pass"


def test_a_run_that_lost_as_its_parts_say_blames_the_dearest_of_them():
    found = diagnose(RUNS["drafting"])
    assert "drafting: 1.60 steps" in found.reason


def test_positions_that_nothing_reached_say_nothing():
    assert diagnose(replace(HEALTHY, conditional=(0.8, None, None, None))).cause == "healthy"
    assert diagnose(replace(HEALTHY, conditional=())).cause == "healthy"


def test_a_place_that_few_reached_is_no_drift():
    assert diagnose(replace(RUNS["drift"], tested=(20, 16, 5, 1), usual=None)).cause != "drift"


def test_a_perfect_draft_has_no_limit_to_saturate():
    assert diagnose(a_run(k=4, alpha=1.0)).cause == "healthy"
