"""The cost curve t(n): how long one pass of a model over n tokens takes, once its cache holds a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from specdec_lab.errors import UserError
from specdec_lab.measure.timer import Timing, seconds_of
from specdec_lab.models.interface import LanguageModel

LENGTHS = (1, 2, 3, 4, 6, 8, 16, 32)


class Pass(NamedTuple):
    """One timed pass over so many tokens."""

    tokens: int
    seconds: float


@dataclass(frozen=True)
class CostCurve:
    """The passes timed so far, by their number of tokens, shortest first."""

    timings: dict[int, Timing]

    @classmethod
    def of(cls, passes: Iterable[Pass]) -> CostCurve:
        seconds: dict[int, list[float]] = {}
        for tokens, took in passes:
            seconds.setdefault(tokens, []).append(took)
        return cls({n: Timing(tuple(seconds[n])) for n in sorted(seconds)})

    @cached_property
    def milliseconds(self) -> dict[int, float]:
        """Tokens in a pass to the median of its times."""
        return {n: timing.median * 1000 for n, timing in self.timings.items()}

    def t(self, n: float) -> float:
        """Milliseconds of a pass over n tokens; between two measured lengths, on the line that joins them.

        Raises UserError beyond the lengths measured.
        """
        lengths = list(self.timings)
        if not lengths[0] <= n <= lengths[-1]:
            raise UserError(f"Passes of {lengths[0]} to {lengths[-1]} tokens were measured, none of {n}; measure that length too.")
        return float(np.interp(n, lengths, list(self.milliseconds.values())))

    def v(self, n: float) -> float:
        """t(n) / t(1): what verifying n - 1 drafted tokens costs, in plain decoding steps."""
        return self.t(n) / self.t(1)


def bare_passes(model: LanguageModel, context: int, batch: int = 1) -> Callable[[int], Pass]:
    """A function that times one pass over n tokens, fed to a cache of `context` tokens that is then rolled back.

    Which tokens they are makes no difference to a dense model. batch: so many texts in one pass, n tokens and a cache of
    `context` each; a transformers model takes ids `[batch, n]`, though the engine feeds it one text at a time.
    """
    cache = model.new_cache()
    if context:
        model(_some_tokens(model, context, batch), cache, logits_to_keep=1)

    def timed(n: int) -> Pass:
        tokens = _some_tokens(model, n, batch)
        seconds = seconds_of(lambda: model(tokens, cache), model.device)
        cache.truncate(context)
        return Pass(n, seconds)

    return timed


def time_passes(
    model: LanguageModel, lengths: Sequence[int] = LENGTHS, context: int = 40, repeats: int = 5, batch: int = 1
) -> Iterator[Pass]:
    """Time one pass at a time, each as soon as it is asked for: `repeats` sweeps over `lengths` and over 1.

    Taking the lengths in turn lets a machine that warms up or throttles slow all of them alike. The first sweep is a
    warm-up and is not timed. batch: as in `bare_passes`. Raises UserError for lengths, repeats or a batch below 1 and for
    what does not fit the context.
    """
    lengths = sorted({1, *lengths})
    if lengths[0] < 1 or context < 0 or repeats < 1:
        raise UserError(f"lengths {lengths}, context {context} and repeats {repeats} have to be at least 1, 0 and 1.")
    if batch < 1:
        raise UserError(f"batch is {batch}, but a pass has at least 1 text.")
    if context + lengths[-1] > model.max_context:
        raise UserError(f"{context} + {lengths[-1]} tokens do not fit the context of {model.max_context} tokens of {model.name}.")
    timed = bare_passes(model, context, batch)
    for n in lengths:
        timed(n)
    for _ in range(repeats):
        yield from map(timed, lengths)


def cost_curve(model: LanguageModel, lengths: Sequence[int] = LENGTHS, context: int = 40, repeats: int = 5, batch: int = 1) -> CostCurve:
    """Run `time_passes` to its end."""
    return CostCurve.of(time_passes(model, lengths, context, repeats, batch))


def _some_tokens(model: LanguageModel, n: int, batch: int) -> Tensor:
    return (torch.arange(n, device=model.device) % model.vocab_size).repeat(batch, 1)
