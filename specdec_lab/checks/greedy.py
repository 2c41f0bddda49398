"""The check of chapter 2's exercise, `verify_greedy(draft, target)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.stages import Case, Finding, Stage, attempt, check, run_cases, shown
from specdec_lab.verify import verify_greedy

Verify = Callable[[Tensor, Tensor], tuple[int, int]]


def ids(*tokens: int) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long)


EXAMPLE = (ids(5, 7, 9), ids(5, 7, 8, 4))
MATCH_AFTER_MISMATCH = "A match after the first disagreement was counted; the target said 9 after reading the wrong 1, so it means nothing."
ONE_LATE = "5 and 7 agree, yet nothing was accepted: the draft was compared one place late. target[0] belongs to draft[0]."

CASES = [
    Case(
        EXAMPLE,
        (2, 8),
        {
            (8, 2): "The two are in the wrong order: return accepted first, then the token.",
            (3, 8): "accepted counts drafted tokens only; the target's own 8 is not one of them.",
            (2, 9): "That is the draft's token, just rejected. At the first disagreement the target's own is emitted.",
            (2, 4): "4 is what the target says after the rejected 9. Take its prediction at the disagreement.",
            (3, 4): "9 was accepted although the target said 8 there.",
            (1, 7): "The prefix that agrees is 5, 7: two tokens. Do not stop one early.",
            (0, 5): "5 and 7 agree, yet nothing was accepted. Compare draft[i] with target[i], not one place late.",
            (0, 7): ONE_LATE,
            (0, 8): ONE_LATE,
        },
        "Compare draft[i] with target[i], and stop at the first disagreement.",
    ),
    Case(
        (ids(5, 1, 9), ids(5, 7, 9, 4)),
        (1, 7),
        {
            (2, 9): MATCH_AFTER_MISMATCH,
            (2, 4): MATCH_AFTER_MISMATCH,
            (3, 4): "The 1 was accepted although the target said 7 there.",
            (1, 1): "That is the draft's rejected token; emit the target's.",
        },
        "Nothing behind the first disagreement can be kept, not even a match.",
    ),
    Case(
        (ids(5, 7), ids(5, 7, 3)),
        (2, 3),
        {
            (1, 7): "All of the draft stands, so accepted is 2. The pass also predicted what follows: emit that too, the bonus token.",
            (2, 7): "7 was drafted and accepted already; the bonus token is the prediction behind it, target[2].",
            (2, None): "The whole draft stands, and target[2] says what comes after it: the bonus token.",
        },
        "When the whole draft stands, the next token is the last prediction: the bonus token.",
    ),
    Case(
        (ids(8, 5, 7), ids(5, 5, 7, 3)),
        (0, 5),
        {
            (2, 3): "The 8 was skipped. The first drafted token decides first: it is wrong, so nothing stands.",
            (2, 7): "Matches after the wrong 8 were counted.",
            (0, 8): "That is the draft's rejected token; emit the target's.",
        },
        "If the first drafted token is wrong, nothing stands, and the target's own first prediction comes out.",
    ),
    Case(
        (ids(7, 3), ids(5, 7, 3)),
        (0, 5),
        {
            (2, 3): "It was compared one place late: target[0] is the prediction for the place of draft[0], with no shift left to make.",
            (2, 5): "The draft was compared one place late: target[1:] is shifted one place too far.",
        },
        "target[0] is the prediction for the place of draft[0].",
    ),
    Case((ids(), ids(4)), (0, 4), {}, "An empty draft is a plain step: nothing to accept, and the target's one prediction comes out."),
]


def _plain(answer: Any) -> Any:
    """Tensors of one element count as numbers; anything but whole numbers (or no token at all) is shown as it is."""
    try:
        pair = tuple(value.item() if isinstance(value, Tensor) else value for value in answer)
    except (TypeError, RuntimeError):
        return str(answer)
    return pair if all(value is None or type(value) is int for value in pair) else str(answer)


def _shape(function: Verify) -> None:
    try:
        answer = attempt(function, EXAMPLE)
    except Finding as finding:
        raise Finding(f"{finding} target has one entry more than draft: compare with target[:-1], or entry by entry.") from finding
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Finding(f"On {shown(EXAMPLE)} it returns {answer!r}, but a pair is wanted: return accepted, next_token.")
    if isinstance(_plain(answer), str):
        raise Finding(f"On {shown(EXAMPLE)} it returns {answer!r}, but two whole numbers are wanted: a count and a token id.")


def _reference(function: Verify) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(1000):
        k = int(torch.randint(0, 8, (), generator=generator))
        target = torch.randint(0, 3, (k + 1,), generator=generator)
        wrong = torch.rand(k, generator=generator) < 0.25
        draft = torch.where(wrong, (target[:k] + 1) % 3, target[:k])
        if (answer := _plain(attempt(function, (draft, target)))) != (right := verify_greedy(draft, target)):
            raise Finding(f"On {shown((draft, target))} it gives {answer}, but {right} is right.")


def check_verify_greedy(function: Verify) -> Verify:
    """Check the learner's `verify_greedy(draft [k], target [k + 1]) -> (accepted, next_token)`."""
    stages = [
        Stage("shape", "it returns a pair", _shape),
        Stage("mechanism", "prefix, correction, bonus, empty draft", lambda f: run_cases(f, CASES, _plain)),
        Stage("reference", "it agrees with the package's function on 1000 random rounds", _reference),
    ]
    return check(function, verify_greedy, stages, EXAMPLE)
