"""Drafting as much as pays: k from the acceptance measured in this run, and a stop where the draft is unsure.

A draft may end anywhere without changing the law of the text, as long as its end depends only on what was known before a token was
drawn, and on tokens that are in it. To draw a token, find it unlikely and leave it out is another thing: the tokens that are left
were then drawn from q without its unlikely tokens, and would be tested as if drawn from q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsInt

from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft, Drafter
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams

PRIOR = 10.0  # tested tokens that the assumed alpha counts for


def sure(least: float) -> Callable[[Tensor], bool]:
    """A `keep_going` for ModelDrafter: go on while the model's favourite has at least this probability. Raises UserError unless in [0, 1].

    Where the draft is unsure its token is tested all the same, but nothing is drafted behind it: that would be read only if it stood.
    """
    if not 0 <= least <= 1:
        raise UserError(f"least is {least}, but a probability lies in [0, 1].")
    return lambda law: float(law.max()) >= least


def stood_and_tested(draft: Draft, emitted: list[int]) -> tuple[int, int]:
    """How many drafted tokens stood, one behind the other, and how many were tested for it, in a round that emitted these tokens.

    One more is tested than stands, unless the draft ends there. In a tree siblings are tested for one place and count once.
    """
    tokens, parents = draft.tokens.tolist(), draft.parents or range(-1, len(draft) - 1)
    at, stood = -1, 0
    for token in emitted[:-1]:  # the last is the target's own
        children = [i for i, parent in enumerate(parents) if parent == at and tokens[i] == token]
        if not children:
            break
        at, stood = children[0], stood + 1
    return stood, stood + (at in parents)


class AdaptiveDrafter:
    """Another drafter, asked for as many tokens as are worth it at the acceptance measured in this text so far.

    choose(alpha) says how many; costs measured beforehand go into it, as with `theory.closed_forms.optimal_k` in
    `AdaptiveDrafter(inner, lambda alpha: optimal_k(alpha, c=0.2, verify=curve.v))`. (Costs timed while drafting would give other
    tokens on every run.) The k asked for stays the most. Where it says 0, every `probe`-th round drafts one token all the same:
    without a draft nothing is learnt, and it would be 0 for ever. Lossless, as past rounds alone decide.
    """

    name = "adaptive"

    def __init__(
        self, inner: Drafter, choose: Callable[[float], SupportsInt], alpha: float = 0.7, memory: float = 100.0, probe: int = 8
    ) -> None:
        """alpha: what is assumed before anything is measured. memory: after so many tested tokens an old one counts 1/e of a new one.
        Raises UserError on values that make no sense."""
        if not 0 <= alpha <= 1:
            raise UserError(f"alpha is {alpha}, but a probability lies in [0, 1].")
        if not memory >= 1:
            raise UserError(f"memory is {memory}, but the tokens to remember are at least 1.")
        if probe < 1:
            raise UserError(f"probe is {probe}, but has to be at least 1: one round in so many is a probe.")
        self.inner, self._choose, self._assumed, self._forget, self._probe = inner, choose, alpha, 1 - 1 / memory, probe
        self._restart(0)

    def _restart(self, length: int) -> None:
        self._stood, self._tested = self._assumed * PRIOR, PRIOR
        self._draft, self._length, self._silent = NOTHING, length, 0

    @property
    def alpha(self) -> float:
        """The running estimate of the chance that a tested token stands."""
        return self._stood / self._tested

    @property
    def cache_length(self) -> int | None:
        return self.inner.cache_length

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        self._restart(len(context))
        self.inner.begin(context, target_cache)

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        wanted = int(self._choose(self.alpha))
        self._silent = 0 if wanted > 0 else self._silent + 1
        if self._silent == self._probe:
            self._silent, wanted = 0, 1
        self._draft = self.inner.propose(context, min(k, wanted), params, rng) if wanted > 0 else NOTHING
        return self._draft

    def commit(self, context: Tensor) -> None:
        stood, tested_ = stood_and_tested(self._draft, context[self._length :].tolist())
        kept = self._forget**tested_
        self._stood, self._tested = self._stood * kept + stood, self._tested * kept + tested_
        self._draft, self._length = NOTHING, len(context)
        self.inner.commit(context)
