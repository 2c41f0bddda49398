"""The check of chapter 0's exercise, where check, hint and reveal are learnt."""

from __future__ import annotations

from collections.abc import Callable

from specdec_lab.checks.stages import Case, Finding, Stage, attempt, check, run_cases


def tokens_emitted(accepted: int) -> int:
    """Tokens that a round puts into the text when `accepted` drafted tokens stand: those, and the target's own."""
    return accepted + 1


_CASES = [
    Case(
        (3,),
        4,
        {3: "Those 3 were drafted. What does the target add of its own?", 5: "Only one token of a pass is the target's own."},
        "Count what the pass added.",
    ),
    Case((0,), 1, {0: "The pass was not for nothing: the target's own token comes out."}, "Think of a useless draft."),
    Case((10,), 11, {}, "It has to hold for every number of accepted tokens."),
]


def _returns_int(function: Callable[[int], int]) -> None:
    answer = attempt(function, (2,))
    if type(answer) is not int:
        raise Finding(f"On 2 it returns {answer!r}, but a number of tokens is an int.")


def check_tokens_emitted(function: Callable[[int], int]) -> Callable[[int], int]:
    """Check the learner's `tokens_emitted(accepted)`."""
    stages = [
        Stage("shape", "it returns a whole number", _returns_int),
        Stage("mechanism", "the accepted tokens and one more", lambda f: run_cases(f, _CASES)),
    ]
    return check(function, tokens_emitted, stages, (2,))
