"""Every check of an exercise knows at least five typical wrong turns, and has words of its own for each.

The wrong attempts are listed beside the tests of the check: the attempt, or its name, with a part of the sentence it gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from specdec_lab import checks
from tests.checks import (
    test_advice,
    test_cache,
    test_choice,
    test_distillation,
    test_lookup,
    test_roofline,
    test_sampling_checks,
    test_speedup,
    test_tokens_emitted,
    test_tree_mask,
    test_verify_greedy,
    test_zoo,
)

WRONG: dict[str, Mapping[Any, Any]] = {
    "check_arithmetic_intensity": test_roofline.WRONG_INTENSITY,
    "check_choose_setup": test_choice.WRONG,
    "check_distillation_loss": test_distillation.LOSS_WRONG,
    "check_expected_tokens": test_speedup.TOKENS_WRONG,
    "check_lookup": test_lookup.WRONG,
    "check_optimal_k": test_speedup.OPTIMAL_WRONG,
    "check_pass_time": test_roofline.WRONG,
    "check_recommend": test_advice.WRONG_RECOMMEND,
    "check_repair": test_zoo.WRONG,
    "check_residual": test_sampling_checks.WRONG_RESIDUAL,
    "check_rollback": test_cache.WRONG_ROLLBACK,
    "check_route": test_advice.WRONG_ROUTE,
    "check_rule_of_thumb": test_advice.WRONG_RULE,
    "check_speculative_round": test_cache.WRONG_ROUND,
    "check_speedup": test_speedup.SPEEDUP_WRONG,
    "check_tokens_emitted": test_tokens_emitted.WRONG,
    "check_total_variation_loss": test_distillation.TV_WRONG,
    "check_tree_mask": test_tree_mask.WRONG,
    "check_verify_greedy": test_verify_greedy.WRONG,
    "check_verify_sampling": test_sampling_checks.WRONG_VERIFY,
}


def attempts(name: str) -> list[Callable[..., Any]]:
    return [key if callable(key) else value[0] for key, value in WRONG[name].items()]


def test_no_check_is_left_out():
    assert set(WRONG) == set(checks.__all__)


@pytest.mark.parametrize("name", checks.__all__)
def test_each_wrong_turn_is_told_something_else(name: str, capsys):
    """In words: sentences that differ in their numbers alone are one. A few of a list may be one mistake in two ways of writing."""
    told = set()
    for attempt in attempts(name):
        assert getattr(checks, name)(attempt) is not attempt
        told.add(re.sub(r"[-\d.]+", "#", " ".join(capsys.readouterr().out.split())))
    assert len(told) >= max(5, 0.9 * len(WRONG[name]))
