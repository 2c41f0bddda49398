"""The checks of chapter 4: every wrong turn people take gets its own reason."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch

from specdec_lab.checks import check_expected_tokens, check_optimal_k, check_speedup
from specdec_lab.checks.speedup import OPTIMAL_CASES, SPEEDUP_CASES, TOKENS_CASES
from specdec_lab.theory import closed_forms
from specdec_lab.theory.closed_forms import expected_tokens, optimal_k, speedup

CHECKS = {check_expected_tokens: expected_tokens, check_speedup: speedup, check_optimal_k: optimal_k}


def one(n):
    return 1.0


def stands(k, p):
    return sum(p**i for i in range(1, k + 1))


# --- expected_tokens ---


def no_denominator_guard(k, p):
    return (1 - p ** (k + 1)) / (1 - p)


def one_at_certainty(k, p):
    return 1.0 if p == 1 else no_denominator_guard(k, p)


def k_at_certainty(k, p):
    return k if p == 1 else no_denominator_guard(k, p)


def nan_at_certainty(k, p):
    return float("nan") if p == 1 else no_denominator_guard(k, p)


def only_rounds_with_a_rejection(k, p):
    return sum((i + 1) * p**i * (1 - p) for i in range(k))


TOKENS_WRONG = {
    "accepted only": (stands, "target's own token comes on top"),
    "the last guess left out": (lambda k, p: sum(p**i for i in range(k)), "ends at p^(k-1)"),
    "one guess too many": (lambda k, p: sum(p**i for i in range(k + 2)), "ends at p^(k+1)"),
    "an endless draft": (lambda k, p: 1 / (1 - p), "That is 1/(1 - p), a draft that never ends"),
    "an endless draft alone": (lambda k, p: p / (1 - p), "That is p/(1 - p)"),
    "p times k": (lambda k, p: p * k, "if every guess were tested"),
    "p times k and one": (lambda k, p: 1 + p * k, "lets each guess stand by itself"),
    "half a fraction": (lambda k, p: 1 - p ** (k + 1), "Divide by 1 - p"),
    "the last guess only": (lambda k, p: 1 + p**k, "counts the last guess only"),
    "all or nothing": (lambda k, p: 1 + k * p**k, "All or nothing?"),
    "no full round": (only_rounds_with_a_rejection, "those that accept all k are missing"),
    "rounded": (lambda k, p: round(stands(k, p) + 1, 2), "That is rounded"),
    "0/0": (no_denominator_guard, "ZeroDivisionError"),
    "1 at p = 1": (one_at_certainty, "its value is no longer 1"),
    "k at p = 1": (k_at_certainty, "the bonus comes behind them"),
    "not a number at p = 1": (nan_at_certainty, "It returns nan"),
    "0 at p = 0": (lambda k, p: stands(k, p) + 1 if p else 0.0, "Even if no guess ever stands"),
    "0 at k = 0": (lambda k, p: stands(k, p) + 1 if k else 0.0, "a plain step writes a token"),
    "fails at k = 0": (lambda k, p: p * 0 / k + stands(k, p) + 1, "With k = 0 a round is a plain step: one token"),
    "a text": (lambda k, p: str(stands(k, p) + 1), "one number is wanted"),
    "an array": (lambda k, p: np.array([stands(k, p) + 1]), "Return the plain number, please: its .item()"),
    "a tensor of one": (lambda k, p: torch.tensor([stands(k, p) + 1]), "tensor([3.3616]), an array with one number in it"),
    "to the power, in another language": (lambda k, p: (1 - p ^ (k + 1)) / (1 - p), "In Python a power is written p**k"),
    "a misspelt name": (lambda k, p: no_such_name + p, "stopped with NameError: name 'no_such_name' is not defined, on 4, 0.8."),  # noqa: F821
    "no k": (lambda p: 1 / (1 - p), "Keep the stub's arguments and defaults"),
    "all the terms": (lambda k, p: [p**i for i in range(k + 1)], "one number is wanted"),
    "right for short drafts": (lambda k, p: stands(min(k, 8), p) + 1, "is right."),
}

# --- speedup ---

SPEEDUP_WRONG = {
    "upside down": (lambda k, p, c, v=1.0, o=0.0: (v + k * c + o) / expected_tokens(k, p), "upside down"),
    "the cost": (lambda k, p, c, v=1.0, o=0.0: v + k * c + o, "That is what a round costs"),
    "the tokens": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p), "as if it cost one plain step"),
    "the target for nothing": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (k * c + o), "the target's is not"),
    "drafts k + 1": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (v + (k + 1) * c + o), "pays for k + 1 drafted"),
    "drafts once": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (v + c + o), "pays for one drafted token"),
    "a pass a token": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / ((k + 1) * v + k * c + o), "verify for each token"),
    "a pass a guess": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (k * (v + c) + o), "verify for each guess"),
    "no own token": (lambda k, p, c, v=1.0, o=0.0: stands(k, p) / (v + k * c + o), "The target's own token is missing"),
    "acceptance times k": (lambda k, p, c, v=1.0, o=0.0: p * k, "Speedup is not acceptance times k"),
    "acceptance times k over cost": (lambda k, p, c, v=1.0, o=0.0: p * k / (v + k * c + o), "p k counts guesses"),
    "every guess right": (lambda k, p, c, v=1.0, o=0.0: (k + 1) / (v + k * c + o), "only if all guesses stand"),
    "a difference": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) - (v + k * c + o), "That is a difference"),
    "by how much": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v, o) - 1, "not by how much more"),
    "no verify": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, 1.0, o), "verify was ignored"),
    "verify on top": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v if v == 1 else 1 + v, o), "the whole price"),
    "verify times all": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (v * (1 + k * c) + o), "do not get dearer"),
    "no overhead": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v), "overhead was ignored"),
    "overhead a guess": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v, k * o), "pays overhead for each guess"),
    "overhead a token": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v, (k + 1) * o), "pays overhead for each token"),
    "overhead off the speedup": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v) - o, "under the fraction line"),
    "overhead saves": (lambda k, p, c, v=1.0, o=0.0: expected_tokens(k, p) / (v + k * c - o), "makes a round dearer"),
    "never below 1": (lambda k, p, c, v=1.0, o=0.0: max(1.0, speedup(k, p, c, v, o)), "It can be below 1"),
    "no defaults": (lambda k, p, c, v, o: speedup(k, p, c, v, o), "Keep the stub's arguments and defaults"),
    "tokens not called": (lambda k, p, c, v=1.0, o=0.0: expected_tokens / (v + k * c + o), "call it, expected_tokens(k, p)"),
    "a pair": (lambda k, p, c, v=1.0, o=0.0: (expected_tokens(k, p), v + k * c + o), "one number is wanted"),
    "right for short drafts": (lambda k, p, c, v=1.0, o=0.0: speedup(k, p, c, v, o) if k < 9 else 1.0, "is right."),
}

# --- optimal_k ---


def gains(p, c, k_max, v, o):
    return [float(speedup(k, p, c, v(k + 1), o)) for k in range(1, k_max + 1)]


def plain_first(p, c, k_max=31, v=one, o=0.0):
    return [1.0, *gains(p, c, k_max, v, o)]


def first_best(all_gains):
    return all_gains.index(max(all_gains))


def an_index(p, c, k_max=31, v=one, o=0.0):
    return first_best(gains(p, c, k_max, v, o))


def never_none(p, c, k_max=31, v=one, o=0.0):
    return first_best(gains(p, c, k_max, v, o)) + 1


def most_tokens(p, c, k_max=31, v=one, o=0.0):
    return max(range(k_max + 1), key=lambda k: float(expected_tokens(k, p)))


def stops_early(p, c, k_max=31, v=one, o=0.0):
    all_gains = plain_first(p, c, k_max, v, o)
    for k in range(k_max):
        if all_gains[k + 1] < all_gains[k]:
            return k
    return k_max


def asks_for_k(p, c, k_max=31, v=one, o=0.0):
    return first_best([1.0, *(float(speedup(k, p, c, v(k), o)) for k in range(1, k_max + 1))])


def hands_verify_on(p, c, k_max=31, verify=one, o=0.0):
    return first_best([1.0, *(float(speedup(k, p, c, verify, o)) for k in range(1, k_max + 1))])


def one_beyond(p, c, k_max=31, v=one, o=0.0):
    return first_best(plain_first(p, c, k_max + 1, v, o)[: k_max + 1])


def plain_with_overhead(p, c, k_max=31, v=one, o=0.0):
    return first_best([1 / (1 + o), *gains(p, c, k_max, v, o)])


OPTIMAL_WRONG = {
    "an index": (an_index, "Is that an index into a list whose first entry belongs to k = 1"),
    "one too many": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max, v, o) + 1, "One too many"),
    "most tokens": (most_tokens, "each guess is paid for"),
    "pays its own price": (lambda p, c, k_max=31, v=one, o=0.0: sum(p**k > c for k in range(1, k_max + 1)), "earns its own price"),
    "the speedup": (lambda p, c, k_max=31, v=one, o=0.0: max(plain_first(p, c, k_max, v, o)), "That is the speedup"),
    "k and speedup": (lambda p, c, k_max=31, v=one, o=0.0: (6, 2.47), "one number is wanted"),
    "no draft": (lambda p, c, k_max=31, v=one, o=0.0: 0, "It says that no draft helps"),
    "never none": (never_none, "k = 0, which has speedup 1, is among the choices"),
    "minus one for none": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max, v, o) or -1, "draft nothing"),
    "short of k_max": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max - 1, v, o), "ends one short of it"),
    "beyond k_max": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max + 1, v, o), "The choices end with k_max"),
    "no k_max": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, 31, one, o), "k_max was ignored"),
    "no verify": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max, one, o), "verify was ignored"),
    "hands verify on": (hands_verify_on, "verify is a function here: pass its price, verify(k + 1)"),
    "hands verify to a sum": (lambda p, c, k_max=31, verify=one, o=0.0: verify + c, "verify is a function here"),
    "asks for k": (asks_for_k, "It asks verify(k)"),
    "asks for k + 2": (one_beyond, "has not been measured"),
    "stops early": (stops_early, "It stops at the first k"),
    "no overhead": (lambda p, c, k_max=31, v=one, o=0.0: optimal_k(p, c, k_max, v), "overhead was ignored"),
    "plain with overhead": (plain_with_overhead, "Plain decoding has no overhead"),
    "right up to 8": (lambda p, c, k_max=31, v=one, o=0.0: min(8, optimal_k(p, c, k_max, v, o)), "is right."),
}

WRONG = [
    *((check_expected_tokens, name, *wrong) for name, wrong in TOKENS_WRONG.items()),
    *((check_speedup, name, *wrong) for name, wrong in SPEEDUP_WRONG.items()),
    *((check_optimal_k, name, *wrong) for name, wrong in OPTIMAL_WRONG.items()),
]


@pytest.mark.parametrize(("check", "name", "attempt", "reason"), WRONG, ids=[f"{c.__name__}-{n}" for c, n, *_ in WRONG])
def test_a_wrong_turn_gets_its_reason(check, name, attempt, reason, capsys):
    assert check(attempt) is CHECKS[check]
    printed = " ".join(capsys.readouterr().out.split())
    assert reason in printed and "✗" in printed and "★" not in printed, printed
    assert f"package's own {CHECKS[check].__name__}" in printed


@pytest.mark.parametrize("check", CHECKS)
def test_the_reasons_differ(check, capsys):
    mine = [attempt for owner, _, attempt, _ in WRONG if owner is check]
    reasons = []
    for attempt in mine:
        check(attempt)
        reasons.append(capsys.readouterr().out)
    assert len(set(reasons)) == len(mine)


def test_no_known_mistake_gives_the_right_answer():
    """Its reason would then never be seen: one number stood for both."""
    for case in (*TOKENS_CASES, *SPEEDUP_CASES, *OPTIMAL_CASES):
        assert case.right not in case.wrong, case.arguments
        assert all(isinstance(why, str) and why for why in case.wrong.values())


def test_the_answers_of_the_checks_are_the_packages_own():
    for cases, reference in ((TOKENS_CASES, expected_tokens), (SPEEDUP_CASES, speedup), (OPTIMAL_CASES, optimal_k)):
        for case in cases:
            assert float(reference(*case.arguments)) == pytest.approx(case.right, rel=1e-8), case.arguments


# --- right, in another style ---


def tokens_in_a_loop(k, p):
    total, alive = 1, 1
    for _ in range(k):
        alive *= p
        total += alive
    return total


def tokens_by_the_fraction(k, p):
    return k + 1 if p == 1 else (1 - p ** (k + 1)) / (1 - p)


def tokens_by_ends(k, p):
    """Each way a round can end, with its probability."""
    return sum((i + 1) * p**i * (1 - p) for i in range(k)) + (k + 1) * p**k


def tokens_in_torch(k, p):
    return torch.full((k + 1,), p, dtype=torch.float64).pow(torch.arange(k + 1)).sum()


def tokens_in_numpy(k, p):
    return np.sum(p ** np.arange(k + 1))


def tokens_in_an_array_without_axes(k, p):
    return np.array(tokens_in_a_loop(k, p))


def tokens_in_32_bits(k, p):
    return torch.full((k + 1,), p).pow(torch.arange(k + 1)).sum()


def tokens_by_the_fraction_in_32_bits(k, p):
    p = np.float32(p)
    return float(k + 1 if p == 1 else (1 - p ** np.float32(k + 1)) / (1 - p))


def speedup_in_parts(k, p, c, verify=1.0, overhead=0.0):
    tokens = sum(p**i for i in range(k + 1))
    return 1 / ((verify + overhead + k * c) / tokens)


def speedup_in_32_bits(k, p, c, verify=1.0, overhead=0.0):
    return tokens_in_32_bits(k, p) / (verify + k * c + overhead)


def speedup_in_torch(k, p, c, verify=1.0, overhead=0.0):
    return torch.tensor(tokens_in_a_loop(k, p), dtype=torch.float64) / (verify + k * c + overhead)


def best_by_key(p, c, k_max=31, verify=one, overhead=0.0):
    def gain(k):
        return speedup_in_parts(k, p, c, verify(k + 1), overhead) if k else 1.0

    return max(range(k_max + 1), key=gain)


def best_so_far(p, c, k_max=31, verify=one, overhead=0.0):
    best, greatest = 0, 1.0
    for k in range(1, k_max + 1):
        gain = speedup(k, p, c, verify(k + 1), overhead)
        if gain > greatest:
            best, greatest = k, gain
    return best


def best_in_numpy(p, c, k_max=31, verify=one, overhead=0.0):
    return np.argmax(plain_first(p, c, k_max, verify, overhead))


RIGHT = [
    *((check_expected_tokens, f) for f in (tokens_in_a_loop, tokens_by_the_fraction, tokens_by_ends, tokens_in_torch, tokens_in_numpy)),
    (check_expected_tokens, tokens_in_an_array_without_axes),
    *((check_expected_tokens, f) for f in (tokens_in_32_bits, tokens_by_the_fraction_in_32_bits)),
    *((check_speedup, f) for f in (speedup_in_parts, speedup_in_torch, speedup_in_32_bits)),
    *((check_optimal_k, f) for f in (best_by_key, best_so_far, best_in_numpy)),
]


@pytest.mark.parametrize(("check", "right"), RIGHT, ids=lambda f: f.__name__)
def test_any_right_answer_is_the_one_that_runs(check, right, capsys):
    assert check(right) is right
    assert capsys.readouterr().out.count("✓") == 3


def test_a_wrong_number_in_32_bits_gets_the_reason_of_that_number(capsys):
    check_expected_tokens(lambda k, p: np.float32(stands(k, p)))
    assert "gives 2.3616, but 3.3616 is right. Those are the guesses that stand." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("right", [tokens_in_torch, tokens_in_32_bits, tokens_in_numpy, tokens_in_an_array_without_axes])
def test_what_passes_can_be_printed_as_the_chapter_does(right):
    assert f"{check_expected_tokens(right)(4, 0.8):.2f}" == "3.36"


@pytest.mark.parametrize("check", CHECKS)
def test_the_stubs_arguments_are_asked_for_only_where_they_are_missing(check, capsys):
    for owner, _, attempt, reason in WRONG:
        if owner is check:
            check(attempt)
            printed = " ".join(capsys.readouterr().out.split())
            assert ("stub's arguments" in printed) == ("stub's arguments" in reason)


@pytest.mark.parametrize("check", CHECKS)
def test_not_attempted_goes_on_with_the_packages_own(check, capsys):
    def stub(*args): ...

    assert check(stub) is CHECKS[check]
    assert "not attempted yet" in capsys.readouterr().out
    assert check(CHECKS[check]) is CHECKS[check]
    assert "★" not in capsys.readouterr().out


def test_the_signatures_that_the_checks_call_by_position():
    assert list(inspect.signature(closed_forms.speedup).parameters) == ["k", "p", "c", "verify", "overhead"]
    assert list(inspect.signature(closed_forms.optimal_k).parameters) == ["p", "c", "k_max", "verify", "overhead"]
