"""A model behind another tokenizer: what a draft sees and says when its ids are not those of its target."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from specdec_lab.models.interface import Cache, LanguageModel

FIRST = 1000  # the first id that means another word


class ForeignIds:
    """The same model, for which every id from FIRST on is one further: as if its tokenizer had a token more there.

    It is fed such ids and its logits come back in them, so it takes each word for its neighbour in the vocabulary and says
    neighbours. Sizes, caches and types are right, and nothing raises.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name, self.vocab_size, self.max_context, self.device = model.name, model.vocab_size, model.max_context, model.device
        self._model = model
        first = min(FIRST, self.vocab_size // 4)
        self._ids = torch.cat([torch.arange(first), torch.arange(first, self.vocab_size).roll(-1)])  # of each of our ids

    def new_cache(self) -> Cache:
        return self._model.new_cache()

    def __call__(self, input_ids: Tensor, cache: Any, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        ids = self._ids.to(input_ids.device)
        logits = self._model(ids[input_ids], cache, logits_to_keep, mask)
        return logits[..., ids.to(logits.device)]
