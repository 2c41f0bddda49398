"""The check of chapter 7's `recommend`."""

from __future__ import annotations

import random
from math import isclose
from typing import Any

from specdec_lab.checks.advice import VERDICTS, Function, agrees, k_of, parts_of, returns, right_on, verdict_of
from specdec_lab.checks.numbers import number
from specdec_lab.checks.speedup import FLAT, Prices
from specdec_lab.checks.stages import Case, Stage, check
from specdec_lab.theory import recommend as package
from specdec_lab.theory.closed_forms import speedup

RECOMMEND_EXAMPLE = (0.8, 0.1, FLAT)
DIGITS = 5  # to which speedups are compared
STEP = Prices([1.0, 1.0, 1.0, 1.0, 1.9, 1.9, 1.9, 1.9, 1.9])
DEAR = Prices([float(n) for n in range(1, 10)])


def _digits(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _gain(k: int, p: float, c: float, v: float = 1.0, overhead: float = 0.0) -> float:
    return _digits(float(speedup(k, p, c, v, overhead)))


FIRST = "Is the goal asked first? It matters only where the other answer would be skip."
PLAIN = "Plain decoding has speedup 1: that is what skip, with k = 0, comes to."
RECOMMEND_CASES = [
    Case(
        RECOMMEND_EXAMPLE,
        ("enable", 6, _gain(6, 0.8, 0.1)),
        {
            ("enable", 6, 1.0): "The third thing is the speedup predicted for this k: speedup(k, alpha, c, verify(k + 1), overhead).",
            ("benchmark", 6, _gain(6, 0.8, 0.1)): "error is 0 here, so there is no doubt, and this is more than 1: enable.",
            ("skip", 6, _gain(6, 0.8, 0.1)): "A speedup above 1 is a gain: enable.",
            ("enable", 8, _gain(8, 0.8, 0.1)): "That is k_max. The best k is the one with the greatest speedup: optimal_k finds it.",
            ("enable", 5, _gain(5, 0.8, 0.1)): "5 is the rule of thumb's k. Here it is chosen: optimal_k finds the best one.",
        },
        "The best k is that of optimal_k, with alpha for p.",
    ),
    Case(
        (0.8, 0.1, STEP),
        ("enable", 3, _gain(3, 0.8, 0.1)),
        {
            ("enable", 6, _gain(6, 0.8, 0.1)): "verify was ignored: from 5 tokens on a pass costs 1.9 steps.",
            ("enable", 6, _gain(6, 0.8, 0.1, 1.9)): "verify was ignored in choosing k: hand the function to optimal_k.",
            ("enable", 4, _gain(4, 0.8, 0.1)): "It asks verify(k). The pass reads one token more than was drafted: verify(k + 1).",
            ("enable", 4, _gain(4, 0.8, 0.1, 1.9)): "k was chosen with verify(k). The pass reads one token more than was drafted.",
        },
        "The pass reads k + 1 tokens and costs verify(k + 1), also while k is being chosen.",
    ),
    Case(
        (0.7, 0.1, FLAT, 0.3),
        ("enable", 5, _gain(5, 0.7, 0.1, 1.0, 0.3)),
        {
            ("enable", 4, _gain(4, 0.7, 0.1)): "overhead was ignored: each round pays 0.3 steps more.",
            (
                "enable",
                4,
                _gain(4, 0.7, 0.1, 1.0, 0.3),
            ): "overhead was ignored in choosing k: more tokens of a longer draft share it.",
            ("enable", 5, _gain(5, 0.7, 0.1)): "overhead is missing in the speedup.",
        },
        "Each round pays overhead once, in choosing k and in the speedup.",
    ),
    Case(
        (0.1, 0.2, FLAT),
        ("skip", 0, 1.0),
        {
            ("skip", 0, 0.0): PLAIN,
            ("skip", 0, _gain(1, 0.1, 0.2)): PLAIN,
            (
                "skip",
                1,
                _gain(1, 0.1, 0.2),
            ): "Where drafting is off nothing is drafted: k is 0, and the speedup is 1.",
            ("enable", 0, 1.0): "The best k is 0 here: draft nothing. That is no enable.",
            ("benchmark", 0, 1.0): "The best k is 0 at every alpha within the doubt, for error is 0: no benchmark is needed.",
        },
        "No k helps, so skip, k = 0, and speedup 1.",
    ),
    Case(
        (0.25, 0.2, FLAT, 0.0, 0.08),
        ("benchmark", 1, _gain(1, 0.25, 0.2)),
        {
            ("enable", 1, _gain(1, 0.25, 0.2)): "error was ignored: alpha may as well be 0.25 - 2 * 0.08 = 0.09, and then every k loses.",
            ("skip", 0, 1.0): "At 0.25 + 2 * 0.08 = 0.41 drafting wins. Where the two edges disagree, benchmark.",
            ("benchmark", 1, 1.0): "The speedup is that of alpha itself, at the k that is returned.",
        },
        "At alpha - 2 error no k wins, and at alpha + 2 error one does: benchmark.",
    ),
    Case(
        (0.25, 0.2, FLAT, 0.0, 0.03),
        ("benchmark", 1, _gain(1, 0.25, 0.2)),
        {
            (
                "enable",
                1,
                _gain(1, 0.25, 0.2),
            ): "One standard error leaves out a third of the cases. The doubt is two of them, either way."
        },
        "The doubt is two standard errors, either way.",
    ),
    Case(
        (0.22, 0.25, FLAT, 0.0, 0.1),
        ("benchmark", 1, _gain(1, 0.22, 0.25)),
        {
            ("skip", 0, 1.0): "alpha itself is against it, but at 0.22 + 2 * 0.1 = 0.42 drafting wins: that is a doubt.",
            ("benchmark", 0, 1.0): "To benchmark, something has to be drafted. Where alpha's best k is 0, take the one of the upper edge.",
            ("benchmark", 1, _gain(1, 0.42, 0.25)): "That is the speedup at the upper edge. Wanted is the one at alpha.",
        },
        "alpha's own best k is 0, and that of its upper edge is not: benchmark with the latter.",
    ),
    Case(
        (0.6, 0.2, FLAT, 0.0, 0.15),
        ("enable", 2, _gain(2, 0.6, 0.2)),
        {
            ("benchmark", 2, _gain(2, 0.6, 0.2)): "At the lower edge, 0.3, k = 2 loses, but k = 1 wins: an edge loses if no k wins there.",
            ("enable", 7, _gain(7, 0.6, 0.2)): "That is the best k of the upper edge. The k wanted is the one of alpha.",
            ("enable", 1, _gain(1, 0.6, 0.2)): "That is the best k of the lower edge. The k wanted is the one of alpha.",
        },
        "Each edge has a best k of its own, and loses only if that is 0.",
    ),
    Case((0.05, 0.2, FLAT, 0.0, 0.04), ("skip", 0, 1.0), {}, "alpha - 2 error is below 0 here, but no probability is: max(..., 0)."),
    Case(
        (0.95, 0.1, FLAT, 0.0, 0.04),
        ("enable", 8, _gain(8, 0.95, 0.1)),
        {},
        "alpha + 2 error rises above 1 here, but a probability does not: min(..., 1).",
    ),
    Case(
        (0.95, 0.1, FLAT, 0.0, 0.0, 4),
        ("enable", 4, _gain(4, 0.95, 0.1)),
        {
            ("enable", 8, _gain(8, 0.95, 0.1)): "k_max was ignored: no more than 4 may be drafted here, and no longer pass is priced.",
            ("enable", 3, _gain(3, 0.95, 0.1)): "k_max itself is among the choices.",
        },
        "No more than k_max may be drafted.",
    ),
    Case(
        (0.1, 0.2, FLAT, 0.0, 0.0, 8, "throughput"),
        ("bigger batch", 0, 1.0),
        {("skip", 0, 1.0): "goal was ignored: where drafting does not help throughput, more texts at once do."},
        "Where it would be skip, and throughput is the goal: bigger batch.",
    ),
    Case((0.8, 0.1, FLAT, 0.0, 0.0, 8, "throughput"), ("enable", 6, _gain(6, 0.8, 0.1)), {("bigger batch", 0, 1.0): FIRST}, FIRST),
    Case(
        (0.25, 0.2, FLAT, 0.0, 0.08, 8, "throughput"),
        ("benchmark", 1, _gain(1, 0.25, 0.2)),
        {("bigger batch", 0, 1.0): "A doubt is no loss: benchmark, whatever the goal."},
        "A doubt is no loss: benchmark, whatever the goal.",
    ),
    Case((0.99, 0.1, DEAR), ("skip", 0, 1.0), {}, "A pass that costs a step a token: not even a perfect draft wins."),
]


def _recommendation(answer: Any) -> tuple[str, int, float]:
    verdict, k, gain = parts_of(answer, "a verdict, k and the predicted speedup", 3)[:3]
    return verdict_of(verdict, VERDICTS), k_of(k), _digits(float(number(gain)))


def _same(one: tuple[str, int, float], other: tuple[str, int, float]) -> bool:
    return one[:2] == other[:2] and isclose(one[2], other[2], rel_tol=3 * 10**-DIGITS)


def _measured(rng: random.Random) -> tuple[Any, ...]:
    curve = Prices([1.0, *(round(rng.uniform(0.9, 2.0), 2) for _ in range(8))])
    numbers = round(rng.random(), 3), round(rng.uniform(0.01, 0.4), 3), curve, round(rng.random() / 4, 3), round(rng.random() / 5, 3)
    return (*numbers, rng.randrange(1, 9), rng.choice(("latency", "throughput")))


def check_recommend(function: Function) -> Function:
    """Check the learner's `recommend(alpha, c, verify, overhead=0.0, error=0.0, k_max=8, goal="latency")`."""
    stages = [
        Stage("shape", "it returns a verdict, k and a speedup", returns(_recommendation, RECOMMEND_EXAMPLE)),
        Stage("mechanism", "the best k, its speedup, both edges of the doubt, the goal", right_on(RECOMMEND_CASES, _recommendation)),
        Stage(
            "reference", "it agrees with the package's on 200 random settings", agrees(package.recommend, _recommendation, _measured, _same)
        ),
    ]
    return check(function, package.recommend, stages, RECOMMEND_EXAMPLE)
