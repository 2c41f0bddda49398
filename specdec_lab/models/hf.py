"""Transformers models behind the package's call, and their key-value cache behind its rollback contract."""

from __future__ import annotations

import inspect
from contextlib import suppress

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from specdec_lab.errors import UserError
from specdec_lab.models.registry import DEFAULT, pick_below


def cache_argument(model: PreTrainedModel) -> str:
    """What a model's forward calls its cache: transformers renames `past_key_values` to `cache` in version 5.24."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


class KVCache:
    """A transformers cache that can be cut to any shorter length."""

    def __init__(self, config) -> None:
        self.kv = DynamicCache(config=config)

    def __len__(self) -> int:
        return self.kv.get_seq_length()

    def truncate(self, length: int) -> None:
        # transformers empties the cache without a word when asked to drop more than is there (transformers#47720).
        assert 0 <= length <= len(self), f"cannot keep {length} of {len(self)} tokens"
        if length < len(self):
            self.kv.crop(length - len(self))  # a negative number of tokens to remove: right in every version


class HFModel:
    """A transformers causal LM at batch size 1.

    Raises UserError, naming the model, for layers whose state cannot be rolled back: sliding windows
    forget (transformers#47447) and recurrent states cannot be rewound (llama.cpp#20075).
    """

    def __init__(self, model: PreTrainedModel, name: str) -> None:
        self.model, self.name = model.eval(), name
        layers = {type(layer).__name__ for layer in DynamicCache(config=model.config).layers}
        odd = layers - {"DynamicLayer"} | ({"recurrent state"} if getattr(model, "_is_stateful", False) else set())
        if odd:
            raise UserError(
                f"The cache of {name} cannot be rolled back ({', '.join(sorted(odd))}); choose a model with full attention only."
            )
        config = model.config.get_text_config()
        self.vocab_size, self.max_context = config.vocab_size, config.max_position_embeddings
        self.device = model.device
        self._cache_argument = cache_argument(model)

    def new_cache(self) -> KVCache:
        return KVCache(self.model.config)

    @torch.inference_mode()
    def __call__(self, input_ids: Tensor, cache: KVCache, logits_to_keep: int = 0) -> Tensor:
        """Logits `[1, n or logits_to_keep, vocab]`; the cache grows by n. Raises UserError if the device's memory runs out."""
        held, before = {self._cache_argument: cache.kv}, len(cache)
        with suppress(torch.OutOfMemoryError):  # it holds on to what the pass had made: answer it when it is gone
            return self.model(input_ids=input_ids, use_cache=True, logits_to_keep=logits_to_keep, **held).logits
        way_out = f"restart the session (or `del` the pair and its drafters), then load_pair({pick_below(self.name).name!r})"
        if self.name in (DEFAULT.target, DEFAULT.draft):
            way_out = "go on with load_pair(device='cpu')"
        raise UserError(
            f"Memory ran out on {self.device} in a pass of {self.name} over {input_ids.shape[1]} tokens with {before} before them; "
            f"shorten the prompt, ask for fewer new tokens, or {way_out}."
        )
