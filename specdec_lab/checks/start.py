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
        {
            3: "Those 3 were drafted. What does the target add of its own?",
            2: "One fewer than were accepted? They all stand; the target takes none of them back.",
            5: "Only one token of a pass is the target's own.",
            6: "Each was counted twice: an accepted token goes into the text once, however many models agree on it.",
        },
        "Count what the pass added.",
    ),
    Case((0,), 1, {0: "The pass was not for nothing: the target's own token comes out."}, "Think of a useless draft."),
    Case((10,), 11, {}, "It has to hold for every number of accepted tokens."),
]


def _returns_int(function: Callable[[int], int]) -> None:
    answer = attempt(function, (2,))
    if type(answer) is not int:
        raise Finding(f"On 2 it returns {answer!r}, but a number of tokens is an int.")


def _depends_on_accepted(function: Callable[[int], int]) -> None:
    answers = [attempt(function, (accepted,)) for accepted in (0, 3, 10)]
    if answers.count(answers[0]) == len(answers):
        why = {
            1: "That is the target's own token alone; the accepted ones go into the text too.",
            5: "That is k + 1 for a draft of 4, the most that a pass can bring; it brings less when a drafted token is rejected.",
        }.get(answers[0], "The more is accepted, the more goes into the text.")
        raise Finding(f"It gives {answers[0]} for 0, 3 and 10 accepted tokens alike. {why}")


def _counts(function: Callable[[int], int]) -> None:
    _depends_on_accepted(function)
    run_cases(function, _CASES)


def check_tokens_emitted(function: Callable[[int], int]) -> Callable[[int], int]:
    """Check the learner's `tokens_emitted(accepted)`."""
    stages = [
        Stage("shape", "it returns a whole number", _returns_int),
        Stage("mechanism", "the accepted tokens and one more", _counts),
    ]
    return check(function, tokens_emitted, stages, (2,))
