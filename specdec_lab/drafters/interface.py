"""The protocol between the engine and whatever proposes tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


@dataclass(frozen=True)
class Draft:
    """Drafted ids `[m]` and the laws `[m, vocab]` they were really drawn from.

    `probs` is None for a deterministic proposal: each token's law is then one-hot. A greedy draft tested
    against its softmax instead gives the wrong distribution (transformers#32867).

    parents `[m]`: for a token tree, the index of each node's parent in the draft, smaller than its own, or -1 for a
    child of the context's last token; siblings stand in the order in which they are to be tested. The law of a node is
    then the one it was drawn from once its elder siblings were known. None is a chain: each token follows the one before it.
    """

    tokens: Tensor
    probs: Tensor | None = None
    parents: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    def laws(self, like: Tensor) -> Tensor:
        """The laws `[k, vocab]`, in the dtype and on the device of `like` `[*, vocab]`."""
        if self.probs is not None:
            return self.probs.to(like)
        one_hot = like.new_zeros(len(self), like.shape[-1])
        return one_hot.scatter_(1, self.tokens.to(like.device)[:, None], 1.0)


NOTHING = Draft(torch.empty(0, dtype=torch.long))


class Drafter(Protocol):
    """Proposes tokens. `context` is always all ids so far, `[n]` on the CPU."""

    name: str

    @property
    def cache_length(self) -> int | None:
        """Tokens held by the drafter's own cache; None if it has none."""
        ...

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        """A new text starts with this prompt; forget the last one. `target_cache` is the target's own, which has read all but
        the prompt's last token and grows with the text: whoever drafts from the target's states finds them there."""
        ...

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        """Up to k tokens to follow `context`, or a tree at most k deep; fewer, or none, is always allowed."""
        ...

    def commit(self, context: Tensor) -> None:
        """The round is over and this is the context now: roll back whatever it does not confirm."""
        ...
