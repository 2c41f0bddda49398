"""Near-ties: places where two tokens score so alike that rounding decides between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log2
from typing import Any, NamedTuple

import torch
from torch import Tensor

from specdec_lab.models.interface import LanguageModel


class Listening:
    """A model that notes its scores: `scores[n]` is the row `[vocab]` after the first n tokens, as it was last computed.

    The rows behind a rejected token are computed again once the right one is there, so those that are left belong to the text.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.scores = model, dict[int, Tensor]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def __call__(self, input_ids: Tensor, cache: Any, *args: Any, **kwargs: Any) -> Tensor:
        logits = self.model(input_ids, cache, *args, **kwargs)
        first = len(cache) + 1 - logits.shape[1]
        self.scores.update((first + i, row) for i, row in enumerate(logits[0].detach().cpu()))
        return logits


class Gap(NamedTuple):
    """The two best scores of a row: how far apart they are, and one rounding step of the row's numbers at that size."""

    best: tuple[int, int]
    scores: tuple[float, float]
    step: float

    @property
    def steps(self) -> float:
        return (self.scores[0] - self.scores[1]) / self.step


def first_difference(a: Sequence[int], b: Sequence[int]) -> int | None:
    """The first place at which two texts differ, a text that ends earlier included; None where they do not."""
    same = next((i for i, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b)))
    return None if same == len(a) == len(b) else same


def rounding_step(value: float, dtype: torch.dtype) -> float:
    """The distance from `value`, which is not 0, to the next larger number that `dtype` can hold."""
    return torch.finfo(dtype).eps * 2.0 ** floor(log2(abs(value)))


def gap(scores: Tensor) -> Gap:
    """The gap between the two best of a row `[vocab]`, in the dtype that it was computed in."""
    values, ids = scores.topk(2)
    best = float(values[0])
    a, b = ids.tolist()
    return Gap((a, b), (best, float(values[1])), rounding_step(best, scores.dtype))
