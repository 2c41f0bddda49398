"""The checks of chapter 4's exercises: `expected_tokens`, `speedup` and `optimal_k`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from specdec_lab.checks.numbers import Formula, agrees, case, is_a_number, right_on
from specdec_lab.checks.stages import Stage, check
from specdec_lab.errors import UserError
from specdec_lab.theory import closed_forms

# --- expected_tokens(k, p) ---

TOKENS_EXAMPLE = (4, 0.8)
TOKENS_CASES = [
    case(
        TOKENS_EXAMPLE,
        3.3616,
        {
            2.3616: "Those are the guesses that stand. The target's own token comes on top, in every round: a correction or the bonus.",
            2.952: "That sum ends at p^(k-1): the last guess stands with p^k, and is missing.",
            5.0: "That is 1/(1 - p), a draft that never ends. After k guesses there is none left to stand.",
            4.0: "That is p/(1 - p), a draft that never ends, and the target's own token is missing.",
            3.2: "p times k would be right if every guess were tested. Guess 2 counts only if guess 1 stood, too.",
            4.2: "1 + p k lets each guess stand by itself. A guess behind a rejection is thrown away: guess i needs all of the first i.",
            0.67232: "That is 1 - p^(k+1), the upper half of the fraction. Divide by 1 - p.",
            1.4096: "That counts the last guess only. The rounds that stop halfway keep what stood before.",
            2.6384: "All or nothing? A round that stops halfway keeps the guesses before the rejection.",
            1.3136: "Rounds that end with a rejection are there; those that accept all k are missing: k + 1 tokens, with probability p^k.",
            3.68928: "That sum ends at p^(k+1): there are k guesses, not k + 1.",
            3.36: "That is rounded. Leave the digits to whoever prints the number.",
            3.4: "That is rounded. Leave the digits to whoever prints the number.",
        },
        "Guess i is in the text if the first i all stand: probability p^i. Add those up, and the target's own token.",
    ),
    case(
        (4, 1.0),
        5.0,
        {
            4.0: "All four guesses stand, and the bonus comes behind them: k + 1.",
            1.0: "At p = 1 the fraction is 0/0, and its value is no longer 1: all k guesses stand, and the bonus: k + 1.",
            0.0: "At p = 1 the fraction is 0/0, and its value is not 0: all k guesses stand, and the bonus: k + 1.",
        },
        "At p = 1 the fraction (1 - p^(k+1)) / (1 - p) is 0/0. The sum 1 + p + ... + p^k has no such hole.",
    ),
    case(
        (4, 0.0),
        1.0,
        {0.0: "Even if no guess ever stands, the target's own token comes out of every pass."},
        "With p = 0 nothing stands; what is left is the target's own token.",
    ),
    case(
        (0, 0.7),
        1.0,
        {0.0: "With k = 0 a round is a plain step, and a plain step writes a token."},
        "With k = 0 a round is a plain step: one token.",
    ),
    case((1, 0.25), 1.25, {}, "With k = 1 the guess stands with p, and the target's own token comes on top."),
]


def _two_places(rng: random.Random) -> float:
    return round(rng.random(), 2)


def check_expected_tokens(function: Formula) -> Formula:
    """Check the learner's `expected_tokens(k, p)`."""
    stages = [
        Stage("shape", "it returns a number", is_a_number(TOKENS_EXAMPLE)),
        Stage("mechanism", "the guesses that stand, the target's own token, both ends of p", right_on(TOKENS_CASES)),
        Stage(
            "reference",
            "it agrees with the package's function on 300 random pairs",
            agrees(closed_forms.expected_tokens, lambda rng: (rng.randrange(21), _two_places(rng)), 300),
        ),
    ]
    return check(function, closed_forms.expected_tokens, stages, TOKENS_EXAMPLE)


# --- speedup(k, p, c, verify=1.0, overhead=0.0) ---

# k = 2, p = 1/2: 1 + 1/2 + 1/4 = 1.75 tokens. Every wrong turn gives another number.
SPEEDUP_EXAMPLE = (2, 0.5, 0.1)
UNCALLED = "expected_tokens is a function: call it, expected_tokens(k, p)."
GAIN = "Divide the tokens of a round by its cost: verify + k c + overhead."
SPEEDUP_CASES = [
    case(
        SPEEDUP_EXAMPLE,
        1.75 / 1.2,
        {
            1.2 / 1.75: "That is upside down: the time of a token. Faster means more tokens for the time, so tokens over cost.",
            1.2: "That is what a round costs. What does it bring? Divide the tokens by it.",
            1.75: "That is what a round brings, as if it cost one plain step. Divide by its cost.",
            1.75 / 0.2: "The draft's passes are paid for, the target's is not: verify belongs into the cost.",
            1.75 / 1.3: "That pays for k + 1 drafted tokens. Nobody drafts the last one; it is the target's own.",
            1.75 / 1.1: "That pays for one drafted token; the draft makes a pass for each of the k.",
            1.75 / 3.2: "That pays verify for each token, but the target reads all k + 1 in one pass. That is the whole point.",
            1.75 / 2.2: "That pays verify for each guess, but the target reads them all in one pass. That is the whole point.",
            0.75 / 1.2: "The target's own token is missing: a round brings 1 + p + ... + p^k.",
            1.0: "Speedup is not acceptance times k. What a round brings is expected_tokens(k, p), and it has a cost.",
            1.0 / 1.2: "p k counts guesses that nobody tests, and leaves out the target's own token. Use expected_tokens(k, p).",
            3 / 1.2: "k + 1 tokens come out only if all guesses stand. Use expected_tokens(k, p).",
            1.75 - 1.2: "That is a difference. How many times faster is a ratio: tokens over cost.",
            1.75 / 1.2 - 1: "How many times faster, not by how much more: plain decoding has speedup 1, not 0.",
        },
        GAIN,
    ),
    case(
        (2, 0.5, 0.1, 1.4),
        1.75 / 1.6,
        {
            1.75 / 1.2: "verify was ignored: the pass over k + 1 tokens costs verify plain steps, not 1.",
            1.75 / 2.6: "verify is the whole price of the target's pass, not what comes on top of 1.",
            1.75 / 4.4: "That pays verify for each of the k + 1 tokens. It is the price of the one pass over all of them.",
            1.75 / 3.0: "That pays verify for each guess. It is the price of the one pass over all of them.",
            1.75 / 1.68: "verify is the price of the target's pass alone; the draft's passes do not get dearer with it.",
        },
        GAIN,
    ),
    case(
        (2, 0.5, 0.1, 1.0, 0.3),
        1.75 / 1.5,
        {
            1.75 / 1.2: "overhead was ignored: it is paid once a round, on top of the passes.",
            1.75 / 1.8: "That pays overhead for each guess. It is what a round costs besides its passes: once.",
            1.75 / 2.1: "That pays overhead for each token. It is what a round costs besides its passes: once.",
            1.75 / 1.2 - 0.3: "overhead is a cost in plain steps. It belongs under the fraction line, with the passes.",
            1.75 / 0.9: "overhead makes a round dearer: add it.",
        },
        GAIN,
    ),
    case(
        (2, 0.25, 0.5),
        1.3125 / 2,
        {1.0: "It can be below 1: then decoding got slower. That is the finding, so do not cut it off."},
        GAIN,
    ),
    case((3, 1.0, 0.0), 4.0, {}, "A perfect draft that costs nothing: k + 1 tokens for one step."),
    case((0, 0.5, 0.1), 1.0, {}, "With k = 0 a round is a plain step: one token for the price of one."),
]


def _prices(rng: random.Random) -> tuple[Any, ...]:
    return rng.randrange(13), _two_places(rng), _two_places(rng), round(0.8 + rng.random(), 2), _two_places(rng)


def check_speedup(function: Formula) -> Formula:
    """Check the learner's `speedup(k, p, c, verify=1.0, overhead=0.0)`."""
    stages = [
        Stage("shape", "it returns a number", is_a_number(SPEEDUP_EXAMPLE, {"'function'": UNCALLED})),
        Stage("mechanism", "tokens over cost; each price once, or k times", right_on(SPEEDUP_CASES)),
        Stage("reference", "it agrees with the package's function on 300 random settings", agrees(closed_forms.speedup, _prices, 300)),
    ]
    return check(function, closed_forms.speedup, stages, SPEEDUP_EXAMPLE)


# --- optimal_k(p, c, k_max=31, verify=lambda n: 1.0, overhead=0.0) ---


class Prices:
    """A made-up cost curve v(n) that shows its numbers, and ends where a measured one would."""

    def __init__(self, prices: Sequence[float]) -> None:
        self.prices = list(prices)

    def __call__(self, n: int) -> float:
        if not 1 <= n <= len(self.prices):
            raise UserError(f"the pass over {n} tokens has not been measured, only 1 to {len(self.prices)}")
        return self.prices[int(n) - 1]

    def __repr__(self) -> str:
        if set(self.prices) == {1.0}:
            return "(verify: 1 for every n)"
        return f"(verify(1), verify(2), ... = {', '.join(map(str, self.prices))})"


FLAT = Prices([1.0] * 32)
BUMP = Prices([1.0, 1.2, 2.0, 1.5, 1.2, 1.3, 1.3])
STEP = Prices([1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
OPTIMAL_EXAMPLE = (0.8, 0.1)
VERIFY = "verify is a function here: pass its price, verify(k + 1)."
OPTIMAL_CASES = [
    case(
        OPTIMAL_EXAMPLE,
        6,
        {
            5: "One too few. Is that an index into a list whose first entry belongs to k = 1?",
            7: "One too many. Is that an index into a list that has an entry for k = 0 twice?",
            31: "That makes the most tokens a round, but each guess is paid for. What has to be greatest is the speedup.",
            10: "That goes on while a guess earns its own price, p^k > c. It has to earn more: c times the speedup reached by then.",
            float(closed_forms.speedup(6, *OPTIMAL_EXAMPLE)): "That is the speedup. Wanted is the k at which it is reached.",
            0: "It says that no draft helps, but speedup(6, 0.8, 0.1) is 2.47.",
        },
        "Look for the k from 0 to k_max with the greatest speedup.",
    ),
    case(
        (0.2, 0.3),
        0,
        {
            1: "speedup(1, 0.2, 0.3) is 0.92: slower than plain decoding. k = 0, which has speedup 1, is among the choices.",
            -1: "Where nothing helps the answer is 0: draft nothing.",
        },
        "Where every k makes it slower, the answer is 0: draft nothing.",
    ),
    case(
        (1.0, 0.1, 5),
        5,
        {
            4: "k_max itself is among the choices: range(1, k_max) ends one short of it.",
            6: "The choices end with k_max.",
            31: "k_max was ignored: no more than 5 may be drafted here.",
        },
        "With p = 1 every further guess pays, so the answer is k_max itself.",
    ),
    case(
        (0.8, 0.1, 6, STEP),
        3,
        {
            6: "verify was ignored: from 5 tokens on a pass costs twice as much.",
            4: "It asks verify(k). The pass reads one token more than was drafted: verify(k + 1).",
        },
        "The pass reads k + 1 tokens and costs verify(k + 1).",
    ),
    case(
        (0.8, 0.1, 6, BUMP),
        4,
        {
            1: "It stops at the first k after which it gets worse. Measured prices can go up and down again: look at every k.",
            5: "It asks verify(k). The pass reads one token more than was drafted: verify(k + 1).",
        },
        "On this curve the speedup goes down and up again. Look at every k from 0 to k_max.",
    ),
    case(
        (0.6, 0.1, 31, FLAT, 0.5),
        4,
        {3: "overhead was ignored: each round pays half a step more, so longer rounds get better."},
        "Each round pays overhead once.",
    ),
    case(
        (0.2, 0.1, 31, FLAT, 0.3),
        0,
        {1: "Plain decoding has no overhead: for k = 0 the speedup is 1, whatever a round with a draft would pay."},
        "Plain decoding has speedup 1, and here no k reaches it.",
    ),
]


def _questions(rng: random.Random) -> tuple[Any, ...]:
    k_max = rng.randrange(13)
    curve = Prices([1.0, *(round(rng.uniform(0.9, 2.0), 2) for _ in range(k_max))])
    return round(rng.random(), 3), round(rng.uniform(0.01, 0.5), 3), k_max, curve, round(rng.random() / 2, 3)


def check_optimal_k(function: Formula) -> Formula:
    """Check the learner's `optimal_k(p, c, k_max=31, verify=..., overhead=0.0)`."""
    stages = [
        Stage("shape", "it returns a number", is_a_number(OPTIMAL_EXAMPLE, {"'function'": VERIFY})),
        Stage("mechanism", "the best k, none where none helps, measured prices", right_on(OPTIMAL_CASES)),
        Stage("reference", "it agrees with the package's function on 200 random ones", agrees(closed_forms.optimal_k, _questions, 200)),
    ]
    return check(function, closed_forms.optimal_k, stages, OPTIMAL_EXAMPLE)
