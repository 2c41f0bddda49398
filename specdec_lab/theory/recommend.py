"""Shall this workload be decoded speculatively? By rule of thumb, before anything is measured; then from what was measured.

Where the answer is yes, a number of tokens to draft comes with it. Costs are in plain decoding steps, as in `closed_forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from specdec_lab.errors import UserError
from specdec_lab.theory import closed_forms

Verdict = Literal["enable", "skip", "benchmark", "bigger batch"]
Goal = Literal["latency", "throughput"]
PREDICTABLE = ("code", "json", "structured", "extraction")  # a workload whose name has one of these in it
COOL, HOT = 0.3, 0.9  # temperatures up to and from


def rule_of_thumb(workload: str, temperature: float) -> tuple[Verdict, int]:
    """The verdict, and how many tokens to draft at first: what is often advised, from a name and a temperature alone."""
    if temperature <= COOL and any(kind in workload for kind in PREDICTABLE):
        return "enable", 5
    if temperature >= HOT:
        return "skip", 0
    return "benchmark", 3


def route(workload: str, temperature: float, goal: Goal) -> Verdict:
    """Where to send a workload, by rule of thumb. goal: "latency", one text soon; or "throughput", many texts an hour."""
    verdict, _ = rule_of_thumb(workload, temperature)
    if verdict == "enable":
        return "enable"
    return "bigger batch" if goal == "throughput" else "benchmark"


class Recommendation(NamedTuple):
    """k: tokens to draft, 0 for plain decoding. speedup: predicted for this k; 1 for plain decoding."""

    verdict: Verdict
    k: int
    speedup: float
    reason: str


def recommend(
    alpha: float,
    c: float,
    verify: Callable[[int], float],
    overhead: float = 0.0,
    error: float = 0.0,
    k_max: int = 8,
    goal: Goal = "latency",
) -> Recommendation:
    """What the measured numbers say: the best k up to k_max, and whether it wins at both edges of the doubt about alpha.

    verify(n): the price of a pass over n tokens of each text, such as `CostCurve.v` of the batch that you run; asked up to
    k_max + 1. error: the standard error of alpha, two of which either way are the doubt. "benchmark": one edge says yes, the
    other no. Raises UserError for numbers that cannot be.
    """
    low, k, high = (int(closed_forms.optimal_k(p, c, k_max, verify, overhead)) for p in doubt(alpha, error))
    k = k or high  # where alpha itself says no, what its upper edge would try
    gain = float(closed_forms.speedup(k, alpha, c, verify(k + 1), overhead)) if k else 1.0
    if low:
        return Recommendation("enable", k, gain, f"Even an alpha of {doubt(alpha, error)[0]:.2f} would win.")
    if high:
        return Recommendation("benchmark", k, gain, f"Alpha is {alpha:.2f}, give or take {2 * error:.2f}: one end wins, the other loses.")
    return Recommendation(_instead(goal), 0, 1.0, _why_not(alpha, c, verify, overhead, k_max))


def doubt(alpha: float, error: float) -> tuple[float, float, float]:
    """Alpha less two standard errors, alpha, and alpha plus two; within 0 and 1."""
    if not error >= 0:
        raise UserError(f"error is {error}, but a standard error is 0 or more.")
    return max(alpha - 2 * error, 0.0), alpha, min(alpha + 2 * error, 1.0)


def _instead(goal: Goal) -> Verdict:
    if goal not in ("latency", "throughput"):
        raise UserError(f"goal is {goal!r}, but it is latency or throughput.")
    return "bigger batch" if goal == "throughput" else "skip"


def _why_not(alpha: float, c: float, verify: Callable[[int], float], overhead: float, k_max: int) -> str:
    if k_max < 1:
        return "Nothing may be drafted."
    needed, k = min((float(closed_forms.break_even(k, c, verify(k + 1), overhead)), k) for k in range(1, k_max + 1))
    if needed > 1:
        return f"At these prices not even a perfect draft of up to {k_max} tokens would win."
    return f"Alpha is {alpha:.2f}, and {needed:.2f} would be needed, with k = {k}."
