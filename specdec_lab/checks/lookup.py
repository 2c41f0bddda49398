"""The check of chapter 6's first exercise: `lookup`, the drafter that only copies."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import index
from typing import Any

from specdec_lab.checks.stages import Case, Finding, Stage, attempt, check, run_cases, shown
from specdec_lab.drafters.ngram import lookup

Lookup = Callable[[list[int], int, int, int], list[int]]


class Ids(tuple[int, ...]):
    """Ids that are written as a list and can be looked up."""

    def __repr__(self) -> str:
        return str(list(self))


def ids(*tokens: int) -> Ids:
    return Ids(tokens)


EXAMPLE: tuple[Any, ...] = ([3, 5, 7, 9, 4, 5, 7], 2, 1, 2)
LATEST: tuple[Any, ...] = ([5, 7, 1, 5, 7, 2, 5, 7], 1, 1, 2)
LONGEST: tuple[Any, ...] = ([5, 7, 1, 6, 7, 2, 5, 7], 1, 1, 2)
SHORTER: tuple[Any, ...] = ([7, 1, 6, 7], 1, 1, 3)
SELF = "The ending was found where it stands itself, at the very end, and nothing comes behind that. Look for an earlier place."
ONE_PLACE_OFF = "The copy is off by one: the match ends where the next token begins, start + n."
MATCH_TOO = "That starts with the match itself, which the text has just said. Return what stands behind it: from start + n on."
CASES = [
    Case(
        EXAMPLE,
        ids(9, 4),
        {
            (): SELF,
            (5, 7): MATCH_TOO,
            (5, 7, 9, 4): MATCH_TOO,
            (7, 9): ONE_PLACE_OFF,
            (4, 5): ONE_PLACE_OFF,
            (9, 4, 5): "That is more than k tokens: the copy ends at start + n + k, and every token too many is paid for.",
            (9, 4, 5, 7): "That is everything up to the end of the text. At most k tokens are wanted.",
            (9,): "One token only. Up to k may be copied, as long as there are so many.",
            (4, 9): "These are the right tokens, in the wrong order.",
        },
        "The ending 5 7 stood at the start too, and 9 4 came behind it.",
    ),
    Case(
        LATEST,
        ids(2),
        {
            (1,): "5 7 stands in two earlier places. That is what followed the first of them; the most recent one is wanted. Search "
            "from the right.",
            (): SELF,
        },
        "5 7 stands in two earlier places; the most recent one is wanted.",
    ),
    Case(
        LONGEST,
        ids(1),
        {
            (2,): "That is what followed the last 7 alone. 5 7 is longer and stood at the start, so it says more: try long endings first.",
        },
        "5 7 is the longest ending that stood before.",
    ),
    Case(
        (LONGEST[0], 1, 1, 1),
        ids(2),
        {(1,): "n_max is 1 here, so only the last token may be compared: 7, which was followed by 2 most recently."},
        "n_max is 1, so only the last token is compared.",
    ),
    Case(
        SHORTER,
        ids(1),
        {
            (): "No ending of 3 or 2 tokens stood before, but the 7 did. Where a long ending is not found, go on with a shorter one, "
            "down to n_min.",
        },
        "No ending of 3 or 2 tokens stood before, but the 7 did.",
    ),
    Case(
        (SHORTER[0], 1, 2, 3),
        ids(),
        {
            (1,): "n_min is 2, and only a single token matches: too thin a match to guess from, so nothing is drafted.",
            (7,): "n_min is 2, and only a single token matches: too thin a match to guess from, so nothing is drafted.",
        },
        "n_min is 2, and no ending of 2 or 3 tokens stood before.",
    ),
    Case(
        ([8, 5, 9, 5], 3, 1, 4),
        ids(9, 5),
        {
            (): "Only two tokens stand behind the match, and k is 3. That is fine: a draft may be shorter than k.",
            (9, 5, 9): "The text ends behind 9 5. What is not there cannot be copied.",
        },
        "Only two tokens stand behind the match; return those.",
    ),
    Case(
        ([1, 2, 5, 5], 2, 1, 4),
        ids(5),
        {
            (): "The match at the very end was missed. The 5 stood just before, with one token behind it. A match may reach up to "
            "the ending.",
        },
        "The 5 stood just before the last one.",
    ),
    Case(
        ([7, 7, 7], 2, 2, 2),
        ids(7),
        {
            (): "7 7 stood before: at the start, where it overlaps the ending. Only the ending itself does not count, which starts "
            "one later.",
        },
        "7 7 stood before: it starts at the start of the text.",
    ),
    Case(
        ([5, 5], 2, 1, 4),
        ids(5),
        {
            (): "The text has 2 tokens, and n_max is 4. An ending has to leave at least one token before it, so n starts at "
            "min(n_max, len(context) - 1).",
        },
        "The text is shorter than n_max. Start with the longest ending that leaves a token before it.",
    ),
    Case(([1, 2, 3, 4], 2, 1, 4), ids(), {}, "In 1 2 3 4 nothing repeats, so nothing is drafted: an empty list."),
    Case(([4], 2, 1, 4), ids(), {}, "A text of one token has no earlier place: an empty list."),
    Case(([], 2, 1, 4), ids(), {}, "An empty text has nothing to copy: an empty list."),
]
NO_LIST = "A list of ids is wanted, and where nothing repeats an empty one: []."


def _plain(answer: Any) -> Ids:
    """The ids as whole numbers, from a list, a tuple, an array or a tensor. Raises Finding for anything else."""
    try:
        return Ids(index(value.item() if hasattr(value, "item") else value) for value in answer)
    except TypeError as error:
        raise Finding(f"It returns {answer!r}. {NO_LIST}") from error


def _shape(function: Lookup) -> None:
    _plain(attempt(function, EXAMPLE))


def _reference(function: Lookup) -> None:
    rng = random.Random(0)
    for _ in range(2000):
        text = [rng.randrange(3) for _ in range(rng.randrange(16))]
        n_min = rng.randint(1, 3)
        given = (text, rng.randint(1, 5), n_min, n_min + rng.randrange(3))
        if (answer := _plain(attempt(function, given))) != (right := Ids(lookup(*given))):
            raise Finding(f"On {shown(given)} it gives {answer}, but {right} is right.")


def check_lookup(function: Lookup) -> Lookup:
    """Check the learner's `lookup(context, k, n_min, n_max) -> ids`."""
    stages = [
        Stage("shape", "it returns ids", _shape),
        Stage("mechanism", "longest, most recent, a match at the very end, no match, short texts", lambda f: run_cases(f, CASES, _plain)),
        Stage("reference", "it agrees with the package's function on 2000 random texts", _reference),
    ]
    return check(function, lookup, stages, EXAMPLE)
