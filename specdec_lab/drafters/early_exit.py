"""The target's own first layers as the draft."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaModel

from specdec_lab.drafters.interface import Draft
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.models.heads import ExitHead
from specdec_lab.models.hf import HFModel, KVCache, cache_argument
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class ExitModel:
    """The layers of a Llama up to an exit, and the exit: they share its weights, and can start from a target's cache."""

    def __init__(self, target: HFModel, part: ExitHead) -> None:
        whole = target.model.model
        config = deepcopy(whole.config)
        config.num_hidden_layers = part.layers
        with torch.device("meta"):  # no weights are made that would be replaced at once
            below: Any = LlamaModel(config)
        below.embed_tokens, below.rotary_emb, below.norm = whole.embed_tokens, whole.rotary_emb, nn.Identity()
        below.layers = whole.layers[: part.layers]
        self.below = below
        self.part, self.name = part.eval(), f"{target.name} to layer {part.layers}"
        self.vocab_size, self.max_context, self.device = target.vocab_size, target.max_context, target.device
        self._cache_argument = cache_argument(self.below)

    def new_cache(self) -> KVCache:
        return KVCache(self.below.config)

    def cache_from(self, target_cache: KVCache) -> KVCache:
        """A cache that holds what the target's first layers hold; what is added to it stays out of the target's."""
        cache = self.new_cache()
        for i in range(self.part.layers):
            if held := target_cache.layer(i):
                cache.kv.update(*held, i)
        return cache

    @torch.inference_mode()
    def __call__(self, input_ids: Tensor, cache: KVCache, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        assert mask is None, "an exit drafts chains"
        hidden = self.below(input_ids=input_ids, use_cache=True, **{self._cache_argument: cache.kv}).last_hidden_state
        return self.part.output(self.part(hidden[:, -logits_to_keep:]))


class EarlyExitDrafter(ModelDrafter):
    """Drafts with the target's first layers and an exit. It has read whatever the target has, so it keeps no cache of its own."""

    name = "early_exit"

    def __init__(self, target: HFModel, part: ExitHead) -> None:
        super().__init__(ExitModel(target, part), target.vocab_size)

    @property
    def cache_length(self) -> None:  # type: ignore[override]
        return None

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        assert isinstance(target_cache, KVCache), "an early exit shares the cache of a transformers target"
        self._target = target_cache

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        assert isinstance(self.model, ExitModel)
        self._cache = self.model.cache_from(self._target)
        return super().propose(context, k, params, rng)

    def commit(self, context: Tensor) -> None:
        pass
