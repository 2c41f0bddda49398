"""The check of chapter 8's exercise, `choose_setup`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdec_lab.checks.stages import Finding, Stage, attempt, check
from specdec_lab.serving.setup import Drafter, DraftModel, Ngram, NoDrafter, Setup
from specdec_lab.theory.choice import Offer, choose_setup
from specdec_lab.theory.closed_forms import speedup

Choose = Callable[..., Any]
TARGET = "the-target"
NAMES: dict[Drafter, str] = {DraftModel("small"): "small", DraftModel("big"): "big", Ngram(): "lookup", NoDrafter(): "none"}
SMALL, BIG, LOOKUP, NONE = NAMES
PLAIN = "Plain decoding is Setup(target, NoDrafter(), k=0)."
FEW = 1e-9  # two predicted speedups closer than this are one


@dataclass(frozen=True)
class Prices:
    """verify(n), and how it is said."""

    text: str
    of: Mapping[int, float] = field(default_factory=dict)
    more: float = 0.0

    def __call__(self, n: int) -> float:
        return self.of.get(n, 1 + self.more * (n - 1))

    def __deepcopy__(self, _: Any) -> Prices:
        return self


@dataclass(frozen=True)
class Situation:
    """What there is to choose from, and what each likely wrong choice gives away."""

    offers: tuple[Offer, ...]
    verify: Prices
    k_max: int
    wrong: Mapping[tuple[str, int], str]
    look_at: str

    @property
    def arguments(self) -> tuple[Any, ...]:
        return TARGET, list(self.offers), self.verify, self.k_max

    def __str__(self) -> str:
        offers = ", ".join(f"{NAMES[offer.drafter]} (alpha {offer.alpha:g}, c {offer.c:g})" for offer in self.offers)
        return f"Offered: {offers or 'nothing'}; a pass costs {self.verify.text}; k_max is {self.k_max}."

    def gain(self, name: str, k: int) -> float:
        """The predicted speedup of a choice."""
        offer = next(offer for offer in self.offers if NAMES[offer.drafter] == name)
        return float(speedup(k, offer.alpha, offer.c, self.verify(k + 1)))


FLAT = Prices("1 step at any length")
GENTLE = Prices("1 + 0.02 (n - 1) steps", more=0.02)
DEAR = Prices("1 + 0.2 (n - 1) steps", more=0.2)
STEEP = Prices("1 + 0.25 (n - 1) steps", more=0.25)
FULL = Prices("1 + 0.5 (n - 1) steps", more=0.5)
BUMP = Prices("1.4 steps for 2 tokens, 2.2 for 3, and 1.2 for more", {2: 1.4, 3: 2.2} | dict.fromkeys(range(4, 12), 1.2))
KINK = Prices("1 step up to 4 tokens, and 2 for more", dict.fromkeys(range(2, 5), 1.0) | dict.fromkeys(range(5, 12), 2.0))
ONE = Situation(
    (Offer(SMALL, 0.8, 0.1),),
    DEAR,
    8,
    {
        ("small", 8): "That is the longest draft allowed. Longer drafts bring more tokens, and cost more; the speedup has both in it.",
        ("small", 6): "That is the best k if every pass costs one step. Here it does not: give speedup the price, verify(k + 1).",
        ("small", 5): "k = 5 is what Setup takes if nobody says anything. Say k, the best one.",
        ("small", 4): "That is the best k for a draft that costs nothing. Each drafted token costs c = 0.1 plain steps.",
        (
            "small",
            2,
        ): "Is verify(k) asked? A pass reads the draft and the text's last token. Or is an index, from 0, taken for k?",
        ("small", 1): "One guess is not the best here: try every k from 1 to k_max.",
        ("small", 9): "That is longer than k_max.",
        ("none", 0): "A speedup above 1 is on offer, so take it.",
    },
    "Try every k from 1 to k_max, with speedup(k, alpha, c, verify(k + 1)), and take the best.",
)
SITUATIONS = [
    ONE,
    Situation(
        (Offer(BIG, 0.9, 0.5), Offer(SMALL, 0.7, 0.05), Offer(LOOKUP, 0.4, 0.0)),
        GENTLE,
        8,
        {
            ("big", 3): "That is the most accurate draft. At half a plain step a token, it is too dear. Compare the speedups of all.",
            ("lookup", 3): "That is the cheapest draft, or the last one. It is right too rarely; compare the speedups of all.",
        },
        "Each drafter with each k has a predicted speedup. Take the greatest of all.",
    ),
    Situation(
        (Offer(SMALL, 0.7, 0.05), Offer(LOOKUP, 0.4, 0.0), Offer(BIG, 0.9, 0.5)),
        GENTLE,
        8,
        {
            ("big", 3): "That is the last on the list. A later offer should replace an earlier one only if it is better.",
        },
        "The order of the offers means nothing: take the greatest speedup of all.",
    ),
    Situation(
        (Offer(LOOKUP, 0.5, 0.0), Offer(SMALL, 0.75, 0.1)),
        KINK,
        8,
        {
            ("small", 4): "At k = 4 the pass reads 5 tokens, and pays for it. Ask verify(k + 1), not verify(k).",
            ("small", 2): "At k = 3 the pass reads 4 tokens, still for one step. Ask verify(k + 1), not more.",
        },
        "The pass over k + 1 tokens has a price of its own for each k: verify(k + 1).",
    ),
    Situation(
        (Offer(LOOKUP, 0.5, 0.0), Offer(SMALL, 0.6, 0.1)),
        STEEP,
        8,
        {
            (
                "small",
                1,
            ): "The more accurate draft gains less here: a drafted token of it costs c = 0.1, a looked-up one nothing.",
            ("lookup", 8): "A free draft is free only until it is verified: the pass gets dearer with each token.",
        },
        "Weigh c and verify(k + 1) together: here, each guess makes the pass a quarter of a step longer.",
    ),
    Situation(
        (Offer(SMALL, 0.7, 0.05),),
        BUMP,
        8,
        {
            ("small", 1): "The speedup falls from k = 1 to 2, and then rises above both. Prices have bumps; look at every k, to the last.",
        },
        "Prices have bumps (chapter 1 met one): look at every k up to k_max.",
    ),
    Situation(
        (Offer(LOOKUP, 0.9, 0.0),),
        FLAT,
        4,
        {},
        "k_max is the longest draft allowed, and it may be the best: 4 is one of the k to be tried, 5 is not.",
    ),
    Situation(
        (Offer(SMALL, 0.5, 0.3), Offer(LOOKUP, 0.3, 0.0)),
        FULL,
        8,
        {
            ("lookup", 1): "That is the least bad of them: its speedup is below 1. " + PLAIN,
            ("small", 1): "Its alpha is above its c, but that is enough only where verifying costs no more than a plain step. " + PLAIN,
        },
        "No draft is faster than plain decoding here, and that is an answer too. " + PLAIN,
    ),
    Situation((), FLAT, 8, {}, "With nothing on offer the server decodes plainly. " + PLAIN),
]


def chosen(answer: Any) -> tuple[str, int]:
    """The drafter's name and k. Raises Finding for what is no set-up, and for another target."""
    if isinstance(answer, dict):
        raise Finding("It returns a mapping. Its vLLM form is made from a set-up later; return the Setup.")
    if isinstance(answer, tuple | list):
        raise Finding(f"It returns {answer!r}, several things. Put them together: Setup(target, drafter, k=k).")
    if isinstance(answer, NoDrafter | DraftModel | Ngram | Offer):
        kind = "an offer" if isinstance(answer, Offer) else "a drafter"
        raise Finding(f"It returns {kind}, not a set-up. Wrap it up: Setup(target, drafter, k=k).")
    if isinstance(answer, bool | int | float | str) or answer is Setup:
        raise Finding(f"It returns {answer!r}, but a set-up is wanted: Setup(target, drafter, k=k).")
    if not isinstance(answer, Setup):
        raise Finding(f"It returns {answer!r}, of type {type(answer).__name__}, but a Setup is wanted.")
    if answer.target != TARGET:
        raise Finding(f"The set-up serves {answer.target!r}, but the target is {TARGET!r}: hand on what the function is given.")
    if not isinstance(answer.drafter, tuple(type(name) for name in NAMES)) or answer.drafter not in NAMES:
        raise Finding(f"The set-up drafts with {answer.drafter!r}, which was not on offer: take offer.drafter as it is.")
    return NAMES[answer.drafter], answer.k


def _ask(function: Choose, situation: Situation) -> tuple[str, int]:
    try:
        return chosen(attempt(function, situation.arguments))
    except Finding as finding:
        cause = finding.__cause__
        if cause is None:
            raise
        raise Finding(f"It stopped with {type(cause).__name__}: {cause} {situation} {_advice(cause, situation)}") from finding


def _advice(error: BaseException, situation: Situation) -> str:
    text = str(error)
    if "there is no drafter" in text or "at least one token" in text:
        return PLAIN
    if "positional argument" in text or "unexpected keyword" in text:
        return "Keep the stub's arguments, and call speedup(k, alpha, c, verify) and Setup(target, drafter, k=k)."
    if "Prices" in text:
        return "verify is a function: call it, verify(k + 1)."
    if not situation.offers:
        return "The list may be empty: begin with plain decoding as the best so far, and let each offer try to beat it."
    return situation.look_at


def _is_a_setup(function: Choose) -> None:
    _ask(function, ONE)


def _chooses(function: Choose) -> None:
    for situation in SITUATIONS:
        found = _ask(function, situation)
        right = chosen(choose_setup(*situation.arguments))
        if found != right:
            raise Finding(f"{situation} It chooses {_said(*found)}, but {_said(*right)} is right. {_why(situation, found)}")


def _said(name: str, k: int) -> str:
    return "plain decoding" if name == "none" else f"{name} with k = {k}"


def _why(situation: Situation, found: tuple[str, int]) -> str:
    if found in situation.wrong:
        return situation.wrong[found]
    name, k = found
    if name != "none" and not 1 <= k <= situation.k_max:
        return f"k = {k} is beyond k_max."
    return situation.look_at


def _agrees(function: Choose) -> None:
    rng = random.Random(0)
    for _ in range(200):
        situation = _drawn(rng)
        right, found = chosen(choose_setup(*situation.arguments)), _ask(function, situation)
        if found != right and not _as_good(situation, found, right):
            raise Finding(f"{situation} It chooses {_said(*found)}, but {_said(*right)} is right.")


def _drawn(rng: random.Random) -> Situation:
    drafters = rng.sample([SMALL, BIG, LOOKUP], rng.randrange(4))
    offers = tuple(Offer(one, rng.randrange(20, 95) / 100, 0.0 if one == LOOKUP else rng.randrange(2, 40) / 100) for one in drafters)
    more = rng.choice((0.0, 0.02, 0.1, 0.3))
    return Situation(offers, Prices(f"1 + {more:g} (n - 1) steps", more=more), rng.randrange(1, 13), {}, "")


def _as_good(situation: Situation, found: tuple[str, int], right: tuple[str, int]) -> bool:
    """Two choices with one speedup: rounding decides."""
    if "none" in (found[0], right[0]) or not 1 <= found[1] <= situation.k_max:
        return False
    return abs(situation.gain(*found) - situation.gain(*right)) < FEW


def check_choose_setup(function: Choose) -> Choose:
    """Check the learner's `choose_setup(target, offers, verify, k_max=8)`."""
    stages = [
        Stage("shape", "it returns a set-up for the target", _is_a_setup),
        Stage("mechanism", "price and yield weighed, every k, every drafter, and none where none pays", _chooses),
        Stage("reference", "it agrees with the package's function on 200 random sets of offers", _agrees),
    ]
    return check(function, choose_setup, stages, ONE.arguments)
