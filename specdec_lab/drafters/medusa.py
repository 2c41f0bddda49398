"""Medusa: heads on the target's last state, each looking one token further."""

from __future__ import annotations

import torch
from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.drafters.shapes import Growth, Shape, chain
from specdec_lab.models.heads import MedusaHeads
from specdec_lab.models.hf import KVCache
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class MedusaDrafter:
    """All drafted tokens from one state of the target, in one small pass; no cache, and no head knows what another said.

    In a tree every node at a depth therefore has children of the same law: only the siblings differ.
    """

    name = "medusa"
    cache_length = None

    def __init__(self, heads: MedusaHeads, shape: Shape | None = None) -> None:
        """shape: a tree, see `drafters.shapes`; by default a chain of as many tokens as there are heads."""
        self.heads, self.shape = heads, shape or chain(len(heads.rise))

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        assert isinstance(target_cache, KVCache), "Medusa heads read the states of a transformers target"
        self._target = target_cache

    @torch.inference_mode()
    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        if self._target.states is None:  # a prompt of one token: the target has read nothing yet
            return NOTHING
        logits = self.heads.output(self.heads(self._target.states[-1]))
        growth = Growth(self.shape, min(k, len(logits)), context, params, rng)
        for level in range(len(growth.levels)):
            for node in growth.branches(level):
                growth.grow(level, node, logits[level])
        return growth.draft()

    def commit(self, context: Tensor) -> None:
        pass
