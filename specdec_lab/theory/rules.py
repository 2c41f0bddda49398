"""One guess and its verdict: rules that are right and rules that people have shipped, with the exact law of what each lets through.

Each rule is `verify(p, q, draft, rng)`, as the engine takes it, and differs from `verify.verify_sampling` where its comment stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from specdec_lab.engine.loop import Verify
from specdec_lab.errors import UserError
from specdec_lab.sampling import Rng, SamplingParams, laws
from specdec_lab.theory.enumeration import exact_law
from specdec_lab.theory.lossy import lenient, verifier
from specdec_lab.verify import residual, verify_sampling


@dataclass(frozen=True)
class Outcome:
    """What came out at one place: for each token `[vocab]` the share that was drafted and stood, and the share that the target put there.

    n: from so many draws, or None for the exact probabilities.
    """

    stood: list[float]
    own: list[float]
    n: int | None = None

    @property
    def law(self) -> list[float]:
        """How often each token came out, either way."""
        return [a + b for a, b in zip(self.stood, self.own, strict=True)]

    @property
    def share(self) -> float:
        """The share of the drafted tokens that stood."""
        return sum(self.stood)

    @property
    def errors(self) -> list[float]:
        """One standard error of each entry of `law`: what luck does to a share of n draws; 0 for the exact law."""
        return [math.sqrt(max(x * (1 - x), 0.0) / self.n) if self.n else 0.0 for x in self.law]


def one_place(verify: Verify, p: Tensor, q: Tensor, drawn_from: Tensor, rng: Rng) -> tuple[int, bool]:
    """Draft one token from `drawn_from` and tell the rule that it comes from q: what comes out, and whether that is the drafted one."""
    draft = torch.tensor([rng.draw(drawn_from)])
    accepted, own = verify(torch.stack([p, p]), q[None], draft, rng)
    return (int(draft), True) if accepted else (int(own), False)


def place_law(verify: Verify, p: Tensor, q: Tensor, drawn_from: Tensor | None = None) -> Outcome:
    """The exact law of what a rule lets through, by taking every branch. p, q: laws `[vocab]`.

    drawn_from: the law that the guess really comes from; q itself, unless somebody states another law than the one drawn from.
    """
    drawn_from = q if drawn_from is None else drawn_from
    out = Outcome([0.0] * len(p), [0.0] * len(p))
    for outcome, chance in exact_law(lambda rng: one_place(verify, p, q, drawn_from, rng)).items():
        token, stood = cast(tuple[int, bool], outcome)
        (out.stood if stood else out.own)[token] += chance
    return out


def draw_places(
    verify: Verify, p: Tensor, q: Tensor, rng: Rng, batches: Sequence[int], drawn_from: Tensor | None = None, so_far: Outcome | None = None
) -> Iterator[Outcome]:
    """The same by throwing the dice: what has come out after each batch, those before it and `so_far` included."""
    drawn_from = q if drawn_from is None else drawn_from
    so_far = so_far or Outcome([0.0] * len(p), [0.0] * len(p), 0)
    n = so_far.n or 0
    stood, own = ([round(x * n) for x in part] for part in (so_far.stood, so_far.own))
    for size in batches:
        for _ in range(size):
            token, guessed = one_place(verify, p, q, drawn_from, rng)
            (stood if guessed else own)[token] += 1
        n += size
        yield Outcome([x / n for x in stood], [x / n for x in own], n)


def law_of(weights: Sequence[float], temperature: float = 1.0) -> Tensor:
    """The law `[vocab]` in proportion to weights of 0 or more, at a temperature. Raises UserError where all are 0."""
    if not any(weights):
        raise UserError("All weights of a law are 0, so that nothing can be drawn from it: give one of them something.")
    logits = torch.tensor([list(weights)], dtype=torch.float64).log()
    return laws(logits, SamplingParams(temperature), torch.empty(0, dtype=torch.long))[0]


# --- right rules ---


def draw_and_compare(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        own = rng.draw(p[i])  # always the target's own roll
        if own != token:
            return i, own
    return len(draft), rng.draw(p[len(draft)])


# --- wrong rules ---


def if_likely_enough(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if p[i, token] < q[i, token]:  # no chance in it: all or nothing
            return i, rng.draw(p[i])
    return len(draft), rng.draw(p[len(draft)])


def redraw_from_p(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if not rng.uniform() < float(p[i, token] / q[i, token]):
            return i, rng.draw(p[i])  # the full die, not the residual
    return len(draft), rng.draw(p[len(draft)])


def draw_unscaled(weights: Tensor, rng: Rng) -> int:
    u = rng.uniform()
    for token, reached in enumerate(weights.cumsum(0).tolist()):
        if u < reached:
            return token
    return len(weights) - 1  # ran off the end


def not_rescaled(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if not rng.uniform() < float(p[i, token] / q[i, token]):
            return i, draw_unscaled((p[i] - q[i]).clamp(min=0), rng)  # sums to less than 1
    return len(draft), rng.draw(p[len(draft)])


def likeliest_of_residual(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if not rng.uniform() < float(p[i, token] / q[i, token]):
            return i, int(residual(p[i], q[i]).argmax())  # no roll
    return len(draft), rng.draw(p[len(draft)])


def at_most(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        # u is one of 0, 1/256, ..., 255/256: u <= ratio in so many of 256 cases, and in one of them for a ratio of 0
        cases = math.floor(256 * float(p[i, token] / q[i, token])) + 1
        if not rng.uniform() < cases / 256:
            return i, rng.draw(residual(p[i], q[i]))
    return len(draft), rng.draw(p[len(draft)])


# --- all of them, with the draft that each is told about ---

Change = Callable[[Tensor], Tensor]


def itself(q: Tensor) -> Tensor:
    """The draft draws from q and says so."""
    return q


def favourite(q: Tensor) -> Tensor:
    """One-hot at the likeliest token of q: the draft does not draw."""
    return one_hot(q.argmax(), len(q)).to(q)


@dataclass(frozen=True)
class Rule:
    """A verdict with its draft: `drawn(q)` is the law that the guess is drawn from, `stated(q)` what the verdict is told."""

    verify: Verify
    says: str
    drawn: Change = itself
    stated: Change = itself

    def law(self, p: Tensor, q: Tensor) -> Outcome:
        """The exact law of what comes out."""
        return place_law(self.verify, p, self.stated(q), self.drawn(q))

    def draws(self, p: Tensor, q: Tensor, rng: Rng, batches: Sequence[int], so_far: Outcome | None = None) -> Iterator[Outcome]:
        """What has come out after each batch of draws."""
        return draw_places(self.verify, p, self.stated(q), rng, batches, self.drawn(q), so_far)


def rules(verify: Verify = verify_sampling) -> dict[str, Rule]:
    """Every rule by its name: the right one, which is `verify`, first; the one-hot draft is judged by it too."""
    return {
        "the right rule": Rule(verify, "Stands with probability min(1, p/q); otherwise the residual."),
        "roll p and compare": Rule(draw_and_compare, "Right, and wasteful: two rolls seldom agree."),
        "redraw from p": Rule(redraw_from_p, "The right test, and the target's full die after a rejection (Spec-RL, issue 14)."),
        "accept if p >= q": Rule(if_likely_enough, "Whatever the target finds at least as likely stands; otherwise p is rolled."),
        "residual not rescaled": Rule(not_rescaled, "Weights that sum to less than 1, drawn from by hand."),
        "likeliest of the residual": Rule(likeliest_of_residual, "No roll after a rejection. Right wherever a single token is short."),
        "greedy draft, states its softmax": Rule(verify, "Proposes its favourite, always, and states q (transformers#32867).", favourite),
        "greedy draft, states one-hot": Rule(verify, "Proposes its favourite, always, and says so.", favourite, favourite),
        "accept with <=, 8-bit uniforms": Rule(at_most, "A uniform that is exactly 0 lets through what p never says."),
        "lossy: min(1, p/(0.8 q))": Rule(verifier(lenient(0.8)), "Accepts more than the two laws share, on purpose (chapter 10)."),
    }
