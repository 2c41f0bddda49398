"""From logits to a law, once for target and draft; and every random choice of the package.

The law of a token is what is left of the softmax after temperature, top-k, top-p, min-p and repetition
penalty. Speculative decoding is lossless for *that* law, provided target and draft are shaped by this one
function and a draft states the law its tokens were really drawn from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specdec_lab.errors import UserError


@dataclass(frozen=True)
class SamplingParams:
    """How logits become a law. The defaults are greedy decoding.

    temperature: 0 is greedy; top_k: 0 keeps all tokens; top_p in (0, 1]; min_p in [0, 1), relative to the
    most likely token (Nguyen et al. 2024, arXiv:2407.01082); repetition_penalty > 0, 1 is none (CTRL,
    arXiv:1909.05858). The filters apply in that order, the penalty before all of them; tokens as likely as the
    last one that a filter keeps are kept with it.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        for name, value, fine, wanted in (
            (
                "temperature",
                self.temperature,
                self.greedy or 1e-5 <= self.temperature < math.inf,
                "0 (greedy) or at least 0.00001",
            ),
            ("top_k", self.top_k, self.top_k >= 0, "0 (off) or more"),
            ("top_p", self.top_p, 0.0 < self.top_p <= 1.0, "in (0, 1]; 1 is off"),
            ("min_p", self.min_p, 0.0 <= self.min_p < 1.0, "in [0, 1); 0 is off"),
            ("repetition_penalty", self.repetition_penalty, 0.0 < self.repetition_penalty < math.inf, "above 0; 1 is off"),
        ):
            if not fine:
                raise UserError(f"{name} is {value}, but has to be {wanted}.")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0.0


def laws(logits: Tensor, params: SamplingParams, context: Tensor) -> Tensor:
    """Logits `[n, vocab]` to laws `[n, vocab]`, each row summing to one.

    Row i is the prediction after `context[: len(context) - n + 1 + i]`, so that the repetition penalty sees
    exactly what plain decoding would have seen there, drafted tokens included. float64 logits give a float64
    law, all others float32. Raises UserError on logits that make no law: NaN or infinite ones.
    """
    scores = penalised(logits, params, context)
    if params.greedy:
        return torch.zeros_like(scores).scatter_(-1, scores.argmax(-1, keepdim=True), 1.0)
    scores = scores / params.temperature
    if params.top_k and params.top_k < scores.shape[-1]:
        kth = scores.topk(params.top_k, dim=-1).values[..., -1:]
        scores = scores.masked_fill(scores < kth, -math.inf)
    if params.top_p < 1.0:
        p = scores.softmax(-1)
        least = torch.stack([_least_of_nucleus(row, params.top_p) for row in p])
        scores = scores.masked_fill(p < least[:, None], -math.inf)
    if params.min_p > 0.0:
        p = scores.softmax(-1)
        scores = scores.masked_fill(p < params.min_p * p.amax(-1, keepdim=True), -math.inf)
    return scores.softmax(-1)


def choices(logits: Tensor, params: SamplingParams, context: Tensor) -> Tensor:
    """The greedy tokens `[n]` of logits `[n, vocab]`: the argmax of `laws`, without building them."""
    return penalised(logits, params, context).argmax(-1)


def _least_of_nucleus(p: Tensor, top_p: float) -> Tensor:
    """The smallest probability that top-p keeps of a law `[vocab]`: a token stays while those above it do not reach top_p yet."""
    # All tokens below (1 - top_p) / vocab together weigh less than 1 - top_p, so none is kept: sort the others alone.
    ranked = p[p >= (1.0 - top_p) / (2 * len(p))].sort(descending=True).values
    return ranked[ranked.cumsum(0) - ranked < top_p][-1]


def penalised(logits: Tensor, params: SamplingParams, context: Tensor) -> Tensor:
    """Logits `[n, vocab]` after the repetition penalty, rows as in `laws`: what greedy decoding takes the largest of."""
    if not logits.amax(-1).isfinite().all():
        raise UserError("The model returned NaN or infinite logits; try --dtype fp32, or check the weights and the input.")
    scores = logits if logits.dtype == torch.float64 else logits.float()
    if params.repetition_penalty != 1.0:
        scores = scores.clone()
        rows = len(scores)
        for i in range(rows):
            seen = context[: len(context) - rows + 1 + i].unique()
            old = scores[i, seen]
            scores[i, seen] = torch.where(old > 0, old / params.repetition_penalty, old * params.repetition_penalty)
    return scores


class Rng(Protocol):
    """Where every random choice comes from. `theory.enumeration` passes one that takes every branch."""

    def uniform(self) -> float:
        """A number in [0, 1). Accept with probability r by `rng.uniform() < r`, strictly: r = 0 never happens."""
        ...

    def draw(self, law: Tensor) -> int:
        """A token id from a law `[vocab]`; never one of probability 0."""
        ...


class SeededRng:
    """Same seed, same choices: float64 uniforms on the CPU, whatever the device of the models."""

    def __init__(self, seed: int = 0) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def uniform(self) -> float:
        return float(torch.rand((), dtype=torch.float64, generator=self._generator))

    def draw(self, law: Tensor) -> int:
        cdf = law.cpu().double().cumsum(0)
        total = float(cdf[-1])
        if not 0.0 < total < math.inf:  # NaN included (vllm#21876)
            raise UserError(f"There is nothing to draw from: a law has to sum to 1, not to {total}; look for a division by zero.")
        # The first token whose sum is above u * total. It is there, as u < 1 in float64 keeps u * total below the total.
        return int(torch.searchsorted(cdf, self.uniform() * total, right=True))
