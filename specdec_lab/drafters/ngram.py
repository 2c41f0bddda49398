"""The prompt as the drafter: what followed the last few tokens the last time they stood there."""

from __future__ import annotations

from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


def lookup(context: list[int], k: int, n_min: int, n_max: int) -> list[int]:
    """Up to k tokens that followed the most recent earlier occurrence of the longest repeated ending.

    Endings of n_max tokens are tried first, then shorter ones down to n_min. Among equally long matches the
    most recent wins; the ending does not match itself. Empty if nothing repeats.
    Source: prompt lookup decoding (Saxena 2023), as vLLM's n-gram speculator.
    """
    for n in range(min(n_max, len(context) - 1), n_min - 1, -1):
        ending = context[-n:]
        for start in range(len(context) - n - 1, -1, -1):
            if context[start : start + n] == ending:
                return context[start + n : start + n + k]
    return []


class NgramDrafter:
    """Prompt lookup: no model, no cost to speak of, and nothing to say where the text does not repeat."""

    name = "ngram"
    cache_length = None

    def __init__(self, n_min: int = 1, n_max: int = 4) -> None:
        if not 1 <= n_min <= n_max:
            raise UserError(f"n_min is {n_min} and n_max {n_max}, but 1 <= n_min <= n_max has to hold.")
        self.n_min, self.n_max = n_min, n_max

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        pass

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        found = lookup(context.tolist(), k, self.n_min, self.n_max)
        return Draft(context.new_tensor(found)) if found else NOTHING

    def commit(self, context: Tensor) -> None:
        pass
