"""What the engine asks of a model and of its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor


class Cache(Protocol):
    """What a model remembers of the tokens it was fed. It can forget the latest ones: that is a rollback."""

    def __len__(self) -> int:
        """The number of tokens held."""
        ...

    def truncate(self, length: int) -> None:
        """Forget all but the first `length` tokens; 0 <= length <= len(self)."""
        ...

    def select(self, length: int, rows: Sequence[int]) -> None:
        """Keep the first `length` tokens and, of those behind them, only `rows`, counted from 0 and ascending."""
        ...


class LanguageModel(Protocol):
    """A causal language model at batch size 1."""

    name: str
    vocab_size: int
    max_context: int
    device: torch.device

    def new_cache(self) -> Cache:
        """An empty cache. Raises UserError if this model's cache cannot be rolled back."""
        ...

    def __call__(self, input_ids: Tensor, cache: Any, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        """Feed ids `[1, n]` after what the cache (one of its own making) holds, and add them to it.

        mask: bool `[n, n]`, whether token i sees token j of those fed, itself among them; it sees all that the cache held, and
        stands as far behind that as it sees tokens. None: each sees those before it. Returns logits `[1, n, vocab]`, row i the
        prediction after what token i sees; with `logits_to_keep` only the last so many rows.
        """
        ...


def rollback(cache: Cache, context: Tensor) -> None:
    """After a round, forget what the new context does not confirm; for the target's cache and the draft's alike.

    context: ids `[n]`, the last of which, the target's own, has not been fed to any model. So n - 1 tokens can be confirmed.
    The target was fed all k drafted tokens: with a of them accepted, k - a are forgotten. The draft was fed all but the last:
    k - 1 - a are forgotten, and where a = k none; its cache is one short then, and it is fed two tokens in the next round.
    """
    cache.truncate(min(len(cache), len(context) - 1))
