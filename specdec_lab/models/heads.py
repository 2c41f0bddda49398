"""Parts trained on the target's own hidden states: Medusa heads, an EAGLE layer, and an early exit.

A *state* is a row of the target's last hidden layer after its final norm: its logits are `state @ table.T`. Every part ends
in that same product with a few rows of the table (`ReducedHead`), so none stores an output matrix.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, LlamaConfig, LlamaModel
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm

from specdec_lab.models.hf import cache_argument

HEADS = 4


class MedusaHeads(nn.Module):
    """Heads that each look one token further: from the state after token t, head i guesses token t + 2 + i.

    The target's own output has token t + 1. Each is a residual block, `x + W2 silu(W1 x)`, before the target's output matrix. They are
    blind to each other: head 1 does not know what head 0 said. Source: Medusa (Cai et al. 2024, arXiv:2401.10774).
    """

    def __init__(self, width: int, inner: int, heads: int = HEADS) -> None:
        super().__init__()
        self.rise = nn.ModuleList(nn.Linear(width, inner) for _ in range(heads))
        self.fall = nn.ModuleList(nn.Linear(inner, width, bias=False) for _ in range(heads))
        for fall in self.fall:  # at first each head is the target's own
            nn.init.zeros_(fall.weight)

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

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.before = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.block = LlamaMLP(config)
        self.after = LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        nn.init.zeros_(self.block.down_proj.weight)  # at first nothing is added: the untrained exit

    def forward(self, hidden: Tensor) -> Tensor:
        """Hidden rows `[..., width]` of the exit layer, before any norm, to guessed states `[..., width]`."""
        return self.after(hidden + self.block(self.before(hidden)))
