"""EAGLE: one layer that continues the target's own states, token by token."""

from __future__ import annotations

import torch
from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.drafters.shapes import Growth, Shape, chain
from specdec_lab.models.heads import EagleHead
from specdec_lab.models.hf import KVCache, attention
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class EagleDrafter:
    """Reads pairs of a state of the target and the token that followed it, and guesses the next state, and so on from its guess.

    Its cache holds pairs, one less than there are tokens. After a round the pairs with guessed states are thrown away, and those of
    the tokens that stood are read again with the target's true states.
    """

    name = "eagle"

    def __init__(self, head: EagleHead, shape: Shape | None = None) -> None:
        """shape: a tree, see `drafters.shapes`; by default a chain of k."""
        self.head, self.shape = head, shape

    @property
    def cache_length(self) -> int:
        return len(self._pairs)

    @torch.inference_mode()
    def begin(self, context: Tensor, target_cache: Cache) -> None:
        assert isinstance(target_cache, KVCache), "an EAGLE layer reads the states of a transformers target"
        self._target, self._pairs = target_cache, KVCache(self.head.body.config)
        self._read(context)

    @torch.inference_mode()
    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        if not len(self._pairs):  # a prompt of one token: there is no pair yet
            return NOTHING
        growth = Growth(self.shape or chain(k), k, context, params, rng)
        growth.grow(0, -1, self.head.output(self._last))
        guess, line = {-1: self._last}, {-1: list(range(len(self._pairs)))}  # the state behind a node; the pairs it descends from
        for level in range(1, len(growth.levels)):
            nodes = growth.branches(level)
            if not nodes:
                break
            for i, node in enumerate(nodes, start=len(self._pairs)):
                line[node] = [*line[growth.shape[node]], i]
            seen = torch.zeros(len(nodes), len(self._pairs) + len(nodes), dtype=torch.bool)
            for row, node in zip(seen, nodes, strict=True):
                row[line[node]] = True
            states = torch.stack([guess[growth.shape[node]] for node in nodes])
            tokens = torch.cat([growth.path(node)[-1:] for node in nodes])
            for node, state in zip(nodes, self._feed(states, tokens, seen), strict=True):
                guess[node] = state
                growth.grow(level, node, self.head.output(state))
        return growth.draft()

    @torch.inference_mode()
    def commit(self, context: Tensor) -> None:
        self._pairs.truncate(self._true)
        self._read(context)

    def _read(self, context: Tensor) -> None:
        """Read the true pairs of `context` (ids `[n]`) not read yet: then there are n - 1, and `_last` is guessed from them."""
        held, true = len(self._pairs), len(context) - 1
        if true > held:
            assert self._target.states is not None
            states, tokens = self._target.states[held:true], context[held + 1 :]
            self._last = self._feed(states, tokens, torch.ones(true - held, true, dtype=torch.bool).tril(held))[-1]
        self._true = true

    def _feed(self, states: Tensor, tokens: Tensor, seen: Tensor) -> Tensor:
        """Feed pairs `[n, width]` and `[n]`, which see `seen` `[n, held + n]`; the guessed states `[n, width]`."""
        masks = attention(seen[None].to(states.device), states.dtype)
        return self.head(states[None], tokens[None].to(states.device), self._pairs.kv, **masks)[0]
