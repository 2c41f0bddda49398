"""Coin-flip acceptance: a drafter right with probability p, for timing any p without training a draft for it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.drafters.interface import Draft, Drafter
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class SyntheticDrafter:
    """Knows the target's greedy text and spoils each token with probability 1 - p, so alpha is p by construction.

    `timed` is a drafter that does its real work each round and is then not listened to: its cost is paid.
    """

    name = "synthetic"

    def __init__(self, text: Sequence[int], p: float, vocab_size: int, timed: Drafter | None = None) -> None:
        """`text`: the ids that plain greedy decoding gives after the prompt."""
        if not 0.0 <= p <= 1.0:
            raise UserError(f"p is {p}, but a probability lies in [0, 1].")
        self.text, self.p, self.vocab_size, self.timed = list(text), p, vocab_size, timed
        self._start = 0

    @property
    def cache_length(self) -> int | None:
        return self.timed.cache_length if self.timed else None

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        self._start = len(context)
        if self.timed:
            self.timed.begin(context, target_cache)

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        if not params.greedy:
            raise UserError("The synthetic drafter knows the target's greedy text only; use temperature 0.")
        if self.timed:
            k = len(self.timed.propose(context, k, params, rng))
        at = len(context) - self._start
        coming = self.text[at : at + k]
        return Draft(torch.tensor([t if rng.uniform() < self.p else (t + 1) % self.vocab_size for t in coming], dtype=torch.long))

    def commit(self, context: Tensor) -> None:
        if self.timed:
            self.timed.commit(context)
