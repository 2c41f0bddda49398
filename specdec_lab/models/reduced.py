"""The course's draft: two layers between the target's own embedding and a few rows of it.

It scores only the tokens frequent in the target's text (reduced output vocabulary: FR-Spec, arXiv:2502.14856);
all others get probability zero, which costs acceptance and never correctness.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specdec_lab.errors import UserError
from specdec_lab.models.hf import HFModel

Part = TypeVar("Part")


class ReducedHead(nn.Module):
    """States `[..., width]` to logits `[..., vocab]`, -inf outside `ids` `[v]`; `rows` `[v, width]` are theirs."""

    def __init__(self, rows: Tensor, ids: Tensor, vocab_size: int) -> None:
        super().__init__()
        self.rows, self.ids, self.vocab_size = rows, ids, vocab_size

    def forward(self, states: Tensor) -> Tensor:
        scores = nn.functional.linear(states, self.rows)
        logits = scores.new_full((*scores.shape[:-1], self.vocab_size), -torch.inf)
        return logits.index_copy_(-1, self.ids, scores)


def load_part(file: Path, target: HFModel, assembled: Callable[[dict[str, Tensor], HFModel], Part]) -> Part:
    """What `assembled` makes of the weights in `file`, which were trained on the target.

    Raises UserError if the file is missing or damaged, or was made for another target.
    """
    try:
        weights = load_file(file)
    except (OSError, SafetensorError) as error:
        raise UserError(
            f"The trained part {file} is missing or damaged ({error}); restore it with `git checkout -- {file}`, or reinstall the package."
        ) from error
    try:
        return assembled(weights, target)
    except (KeyError, ValueError, RuntimeError) as error:
        raise UserError(
            f"The trained part {file} does not fit {target.name}; use it with the model it was trained on (its card.json says which)."
        ) from error


def load_reduced(folder: Path, target: HFModel) -> HFModel:
    """The draft saved by `training.draft.save` in `folder`, for the Llama it was distilled from.

    It shares the target's embedding table, so it lives in the target's dtype and on its device. Raises UserError
    as `load_part` does.
    """
    return HFModel(load_part(folder / "draft.safetensors", target, _assembled), folder.name)


def reduced_head(ids: Tensor, target: HFModel) -> ReducedHead:
    """The rows of the target's table for `ids` `[v]`. Raises ValueError if the target is no Llama with those ids."""
    if not isinstance(target.model, LlamaForCausalLM) or not 0 <= int(ids.min()) <= int(ids.max()) < target.vocab_size:
        raise ValueError
    table = target.model.model.embed_tokens.weight
    ids = ids.long().to(table.device)
    return ReducedHead(table.detach()[ids], ids, target.vocab_size)


def _assembled(weights: dict[str, Tensor], target: HFModel) -> LlamaForCausalLM:
    """Raises KeyError, ValueError or RuntimeError if names, ids or shapes are not those of a draft for this target."""
    head = reduced_head(weights.pop("vocab_ids"), target)
    whole = target.model
    config, table = deepcopy(whole.config), whole.model.embed_tokens.weight
    config.num_hidden_layers = len({name.split(".")[1] for name in weights if name.startswith("layers.")})
    with torch.device("meta"):  # no weights are made that would be replaced at once
        draft = LlamaForCausalLM(config)
    draft.model.embed_tokens, draft.model.rotary_emb = whole.model.embed_tokens, whole.model.rotary_emb
    draft.model.load_state_dict({name: w.to(table) for name, w in weights.items()} | {"embed_tokens.weight": table}, assign=True)
    draft.lm_head = head
    return draft
