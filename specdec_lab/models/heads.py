"""Parts trained on the target's own hidden states: Medusa heads, an EAGLE layer, and an early exit.

A *state* is a row of the target's last hidden layer after its final norm: its logits are `state @ table.T`. Every part ends
in that same product with a few rows of the table (`ReducedHead`), so none stores an output matrix: `part.output` turns guessed
states into logits, once a part is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from transformers import DynamicCache, LlamaConfig, LlamaModel
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm

from specdec_lab.assets import asset
from specdec_lab.models.hf import HFModel, cache_argument
from specdec_lab.models.reduced import load_part, reduced_head

MEDUSA, EAGLE, EXIT = (asset(f"{name}-smollm2-135m") for name in ("medusa", "eagle", "exit"))
HEADS = 4
WEIGHTS = "head.safetensors"
Head = TypeVar("Head", "MedusaHeads", "EagleHead", "ExitHead")
SAMPLE = 16  # rows of the target's table that are stored beside a head, to recognise the target by


class MedusaHeads(nn.Module):
    """Heads that each look one token further: from the state after token t, head i guesses token t + 2 + i.

    The target's own output has token t + 1. Each is a residual block, `x + W2 silu(W1 x)`, before the target's output matrix. They are
    blind to each other: head 1 does not know what head 0 said. Source: Medusa (Cai et al. 2024, arXiv:2401.10774).
    """

    def __init__(self, width: int, inner: int, heads: int = HEADS) -> None:
        super().__init__()
        self.rise = nn.ModuleList(nn.Linear(width, inner) for _ in range(heads))
        self.fall = nn.ModuleList(nn.Linear(inner, width, bias=False) for _ in range(heads))
        for weight in self.fall.parameters():  # at first each head is the target's own
            nn.init.zeros_(weight)
        self.output: nn.Module = nn.Identity()

    def forward(self, state: Tensor) -> Tensor:
        """States `[..., width]` to guessed states `[heads, ..., width]`."""
        blocks = zip(self.rise, self.fall, strict=True)
        return torch.stack([state + fall(nn.functional.silu(rise(state))) for rise, fall in blocks])


class EagleHead(nn.Module):
    """One decoder layer over the target's states and the tokens that followed them, which guesses the next state.

    From the pairs (state after token t, token t + 1) up to some t it guesses the state after token t + 1, and so token t + 2; and
    fed with its own guess, the one after. Source: EAGLE (Li et al. 2024, arXiv:2401.15077), with the loss and the unrolled
    training of EAGLE-3 (arXiv:2503.01840).
    """

    def __init__(self, config: LlamaConfig, embedding: nn.Embedding) -> None:
        super().__init__()
        config = deepcopy(config)
        config.num_hidden_layers = 1
        width = config.hidden_size
        self.token_norm = LlamaRMSNorm(width, config.rms_norm_eps)
        self.state_norm = LlamaRMSNorm(width, config.rms_norm_eps)
        self.fuse = nn.Linear(2 * width, width, bias=False)
        self.body = LlamaModel(config)
        self.body.embed_tokens = embedding
        self._cache_argument = cache_argument(self.body)
        self.output: nn.Module = nn.Identity()

    def forward(self, states: Tensor, tokens: Tensor, cache: DynamicCache, **attention: Any) -> Tensor:
        """Pairs of states `[b, n, width]` and tokens `[b, n]` to guessed states `[b, n, width]`.

        cache: pairs before these, to which they are added. attention: what the layer is told of masks and positions.
        """
        embedded = self.token_norm(self.body.embed_tokens(tokens))
        fused = self.fuse(torch.cat([embedded, self.state_norm(states)], -1))
        return self.body(inputs_embeds=fused, use_cache=True, **{self._cache_argument: cache}, **attention).last_hidden_state


class ExitHead(nn.Module):
    """What stands in for the layers that an early exit leaves out: one residual block and a norm.

    Frozen layers below it serve draft and target alike. Source: LayerSkip (Elhoushi et al. 2024, arXiv:2404.16710), whose
    exits are trained with the model; here only this block is.
    """

    def __init__(self, config: LlamaConfig, layers: int) -> None:
        """layers: how many of the target's layers come before it."""
        super().__init__()
        self.layers = layers
        self.before = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.block = LlamaMLP(config)
        self.after = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        nn.init.zeros_(self.block.down_proj.weight)  # at first nothing is added: the untrained exit
        self.output: nn.Module = nn.Identity()

    def forward(self, hidden: Tensor) -> Tensor:
        """Hidden rows `[..., width]` of the exit layer, before any norm, to guessed states `[..., width]`."""
        return self.after(hidden + self.block(self.before(hidden)))


def load_medusa(target: HFModel, folder: Path = MEDUSA) -> MedusaHeads:
    """The Medusa heads saved in `folder`. Raises UserError if they are damaged or another target's; so do the others below."""

    def made(weights: dict[str, Tensor]) -> MedusaHeads:
        inner, width = weights["rise.0.weight"].shape
        return MedusaHeads(width, inner, len([name for name in weights if name.startswith("fall.")]))

    return _load(target, folder, made)


def load_eagle(target: HFModel, folder: Path = EAGLE) -> EagleHead:
    """The EAGLE layer saved in `folder`."""

    def made(weights: dict[str, Tensor]) -> EagleHead:
        whole = target.model.model
        part = EagleHead(whole.config, whole.embed_tokens)
        part.body.rotary_emb = whole.rotary_emb
        weights["body.embed_tokens.weight"] = whole.embed_tokens.weight
        return part

    return _load(target, folder, made)


def load_exit(target: HFModel, folder: Path = EXIT) -> ExitHead:
    """The early exit saved in `folder`."""
    return _load(target, folder, lambda weights: ExitHead(target.model.config, int(weights.pop("layers"))))


def _load(target: HFModel, folder: Path, made: Callable[[dict[str, Tensor]], Head]) -> Head:
    """The part that `made` makes for the weights, with them in it, in the target's dtype and on its device."""

    def assembled(weights: dict[str, Tensor], target: HFModel) -> Head:
        output = reduced_head(weights.pop("vocab_ids"), target)
        sample = weights.pop("table_sample").to(output.rows)
        if not torch.allclose(sample, output.rows[: len(sample)], rtol=0.02, atol=0.002):
            raise ValueError
        with torch.device("meta"):  # no weights are made that would be replaced at once
            part = made(weights)
        part.load_state_dict({name: w.to(output.rows) for name, w in weights.items()}, assign=True)
        part.output = output
        for name in weights.keys() - {"body.embed_tokens.weight"}:  # the table is the target's
            part.get_parameter(name).requires_grad_(False)
        return part.eval()

    return load_part(folder / WEIGHTS, target, assembled)


def untrained_exit(target: HFModel, layers: int) -> ExitHead:
    """An exit that adds nothing: the target's own final norm and output matrix, behind so many layers."""
    part = ExitHead(target.model.config, layers).to(target.device, target.model.dtype)
    part.after.load_state_dict(target.model.model.norm.state_dict())
    part.output = target.model.lm_head
    return part.requires_grad_(False).eval()
