"""Transformers models behind the package's call, and their key-value cache behind its rollback contract."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from specdec_lab.errors import UserError
from specdec_lab.models.registry import DEFAULT, pick_below


def cache_argument(model: PreTrainedModel) -> str:
    """What a model's forward calls its cache: transformers renames `past_key_values` to `cache` in version 5.24."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def attention(seen: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
    """What transformers is told of who sees whom: seen is bool `[rows, n, held + n]`, of n fed tokens and those the cache holds,
    each standing as far from the start as it sees tokens."""
    bias = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)
    return {"attention_mask": bias[:, None], "position_ids": seen.sum(-1) - 1}


class KVCache:
    """A transformers cache that can be cut to any shorter length, and `states`, the model's last hidden state after every token
    it holds, `[held, width]` after the final norm: what heads draft from."""

    def __init__(self, config) -> None:
        self.kv: Any = DynamicCache(config=config)
        self.states: Tensor | None = None

    def __len__(self) -> int:
        return self.kv.get_seq_length()

    def truncate(self, length: int) -> None:
        assert 0 <= length <= len(self), f"cannot keep {length} of {len(self)} tokens"
        if length < len(self):
            self._crop(length)
            self._keep_states(slice(length))

    def select(self, length: int, rows: Sequence[int]) -> None:
        assert 0 <= length <= len(self), f"cannot keep {length} of {len(self)} tokens"
        if list(rows) == list(range(len(rows))):
            self.truncate(length + len(rows))
            return
        kept = torch.cat([torch.arange(length), length + torch.tensor(rows)])
        self._gather(kept)
        self._keep_states(kept)

    def layer(self, i: int) -> tuple[Tensor, Tensor] | None:
        """Keys and values `[1, heads, held, width]` of layer i; None if it holds nothing."""
        return (self.kv.layers[i].keys, self.kv.layers[i].values) if len(self) else None

    def _crop(self, length: int) -> None:
        # transformers empties the cache without a word when asked to drop more than is there (transformers#47720).
        self.kv.crop(length - len(self))  # a negative number of tokens to remove: right in every version

    def _gather(self, kept: Tensor) -> None:
        for layer in self.kv.layers:
            where = kept.to(layer.keys.device)
            layer.keys, layer.values = layer.keys.index_select(-2, where), layer.values.index_select(-2, where)

    def note(self, states: Tensor) -> None:
        """Add the states `[n, width]` of tokens that were just fed."""
        self.states = states if self.states is None else torch.cat([self.states, states])

    def _keep_states(self, which: slice | Tensor) -> None:
        if self.states is not None:
            self.states = self.states[which]


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
    def __call__(self, input_ids: Tensor, cache: KVCache, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        """Logits `[1, n or logits_to_keep, vocab]`; the cache grows by n. Raises UserError if the device's memory runs out."""
        seen = None if mask is None else torch.cat([mask.new_ones(len(mask), len(cache)), mask], 1)[None]
        logits, states = self.forward(input_ids, cache.kv, logits_to_keep, seen)
        cache.note(states[0])
        return logits

    def forward(self, input_ids: Tensor, kv: Any, logits_to_keep: int, seen: Tensor | None) -> tuple[Tensor, Tensor]:
        """One pass over ids `[rows, n]` with a transformers cache: logits `[rows, n or logits_to_keep, vocab]` and the last hidden
        states `[rows, n, width]`. seen: as in `attention`; None: each token sees those before it. Raises UserError as a call does."""
        before, states = kv.get_seq_length(), []
        given = {"input_ids": input_ids, "use_cache": True, "logits_to_keep": logits_to_keep, self._cache_argument: kv}
        if seen is not None:
            given |= attention(seen.to(self.device), self.model.dtype)
        hook = self.model.base_model.register_forward_hook(lambda _, __, out: states.append(out.last_hidden_state))
        try:
            with suppress(torch.OutOfMemoryError):  # it holds on to what the pass had made: answer it when it is gone
                return self.model(**given).logits, states[0]
        finally:
            hook.remove()
        rows, tokens = input_ids.shape
        texts, fewer = (f" of {rows} texts", ", batch fewer texts") if rows > 1 else ("", "")
        way_out = f"restart the session (or `del` the pair and its drafters), then load_pair({pick_below(self.name).name!r})"
        if self.name in (DEFAULT.target, DEFAULT.draft):
            way_out = "go on with load_pair(device='cpu')"
        raise UserError(
            f"Memory ran out on {self.device} in a pass of {self.name} over {tokens} tokens{texts} with {before} before them; "
            f"shorten the prompt, ask for fewer new tokens{fewer}, or {way_out}."
        )
