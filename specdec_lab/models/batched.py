"""One cache for many texts, so that one pass of a model serves all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import Cache as TransformersCache

from specdec_lab.models.hf import HFModel, KVCache
from specdec_lab.models.interface import Cache, LanguageModel

SPARE = 64  # places by which the shelf grows beyond what is needed, so that it does not grow in every pass


@dataclass(frozen=True)
class Call:
    """The arguments of a `LanguageModel`'s call, ids `[1, n]`: what one text asks of a pass."""

    input_ids: Tensor
    cache: Any
    logits_to_keep: int = 0
    mask: Tensor | None = None

    @property
    def tokens(self) -> int:
        return self.input_ids.shape[1]


class OneByOne:
    """A model without a batched form, such as a toy: its texts are fed one after another."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def new_cache(self) -> Cache:
        return self._model.new_cache()

    def feed(self, calls: Sequence[Call]) -> list[Tensor]:
        return [self._model(call.input_ids, call.cache, call.logits_to_keep, call.mask) for call in calls]

    def release(self, cache: Cache) -> None:
        pass


class Shelf(TransformersCache):
    """Keys and values `[rows, heads, places, width]` of each layer. The first places of a row, as many as its `RowCache` is long,
    hold its text; behind them lies what was rolled back or fed as padding, which nobody sees and the next pass overwrites."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.rows: list[RowCache] = []
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self._places = torch.empty(0, 0, dtype=torch.long)  # [rows, n]: where each token of this pass goes

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return max((len(row) for row in self.rows), default=0)

    def expect(self, places: Tensor) -> None:
        """A pass comes whose tokens go to `places` `[rows, n]`."""
        self._places = places
        rows, upto = len(places), int(places.max()) + 1
        for held in (self.keys, self.values):
            for i, buffer in enumerate(held):
                had, heads, capacity, width = buffer.shape
                if had < rows or capacity < upto:
                    held[i] = buffer.new_zeros(max(rows, had), heads, max(upto + SPARE, capacity), width)
                    held[i][:had, :, :capacity] = buffer

    def update(self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """What transformers calls in a pass: put new keys and values `[rows, heads, n, width]` away; those of all texts so far."""
        rows, upto = len(self._places), int(self._places.max()) + 1
        for held, new in ((self.keys, key_states), (self.values, value_states)):
            if layer_idx == len(held):
                held.append(new.new_zeros(rows, new.shape[1], upto + SPARE, new.shape[3]))
            held[layer_idx][torch.arange(rows)[:, None], :, self._places] = new.transpose(1, 2)
        return self.keys[layer_idx][:rows, :, :upto], self.values[layer_idx][:rows, :, :upto]

    def remove(self, row: RowCache) -> None:
        """The last row takes the place of this one."""
        last = self.rows.pop()
        if last is not row:
            for buffer in (*self.keys, *self.values):
                buffer[row.row] = buffer[last.row]
            last.row = row.row
            self.rows[row.row] = last


class RowCache(KVCache):
    """One text's part of a shelf, with the contract of a cache of its own."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf, self.row, self.held = shelf, -1, 0
        self.states = None

    def __len__(self) -> int:
        return self.held

    def layer(self, i: int) -> tuple[Tensor, Tensor] | None:
        if not self.held:
            return None
        return tuple(held[i][self.row : self.row + 1, :, : self.held] for held in (self.shelf.keys, self.shelf.values))  # type: ignore[return-value]

    def _crop(self, length: int) -> None:
        self.held = length

    @torch.inference_mode()
    def _gather(self, kept: Tensor) -> None:
        for buffer in (*self.shelf.keys, *self.shelf.values):
            buffer[self.row, :, : len(kept)] = buffer[self.row, :, kept.to(buffer.device)]
        self.held = len(kept)


class Batched:
    """A transformers model for many texts at once. Texts of different lengths stand in one rectangle: each token has its own place
    in the shelf and its own position, and sees its own text alone, so that padding changes no number (transformers#46936)."""

    def __init__(self, model: HFModel) -> None:
        self._model, self._shelf = model, Shelf()

    def new_cache(self) -> RowCache:
        return RowCache(self._shelf)

    @torch.inference_mode()
    def feed(self, calls: Sequence[Call]) -> list[Tensor]:
        """One pass over all calls; the logits of each, as the model alone would give them."""
        rows = self._shelf.rows
        for call in calls:
            if call.cache.row < 0:
                call.cache.row = len(rows)
                rows.append(call.cache)
        n = max(call.tokens for call in calls)
        ids, fed = torch.zeros(len(rows), n, dtype=torch.long), torch.zeros(len(rows), dtype=torch.long)
        for call in calls:
            ids[call.cache.row, n - call.tokens :], fed[call.cache.row] = call.input_ids[0], call.tokens
        held = torch.tensor([len(row) for row in rows])
        step = torch.arange(n) - (n - fed)[:, None]  # which of its row's tokens each is; those below 0 are padding
        places = held[:, None] + torch.where(step < 0, step + n, step)
        seen = torch.arange(int(places.max()) + 1) <= (held[:, None] + step).clamp(min=0)[..., None]
        for call in calls:
            if call.mask is not None:
                before = len(call.cache)
                seen[call.cache.row, n - call.tokens :, before : before + call.tokens] = call.mask
        self._shelf.expect(places)
        keep = max(call.logits_to_keep or call.tokens for call in calls)
        logits, states = self._model.forward(ids.to(self._model.device), self._shelf, keep, seen)
        for call in calls:
            call.cache.held += call.tokens
            call.cache.note(states[call.cache.row, n - call.tokens :])
        return [logits[call.cache.row, None, -(call.logits_to_keep or call.tokens) :] for call in calls]

    @torch.inference_mode()
    def release(self, cache: RowCache) -> None:
        """The text is finished, and takes part in no further pass."""
        if cache.row >= 0:
            self._shelf.remove(cache)
