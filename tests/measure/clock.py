"""A clock that only moves when a model or a drafter says so: times that are known exactly."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import FunctionDrafter


class Clock:
    """Reads as `perf_counter`. `pace` is how long a second of work takes at a moment."""

    def __init__(self, pace: Callable[[float], float] = lambda now: 1.0) -> None:
        self.now, self._pace = 0.0, pace

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds * self._pace(self.now)


class PacedModel:
    """A model whose pass over n tokens takes `seconds(n)`."""

    def __init__(self, model, clock: Clock, seconds: Callable[[int], float]) -> None:
        self._model, self._clock, self._seconds = model, clock, seconds
        self.passes: list[tuple[int, int]] = []  # (tokens held, tokens fed)

    def __getattr__(self, name: str):
        return getattr(self._model, name)

    def __call__(self, input_ids, cache, logits_to_keep=0, mask=None):
        self.passes.append((len(cache), input_ids.shape[1]))
        self._clock.work(self._seconds(input_ids.shape[1]))
        return self._model(input_ids, cache, logits_to_keep, mask)


class PacedDrafter(FunctionDrafter):
    """Takes `draft` a token drafted, and `commit` a round."""

    def __init__(self, propose, clock: Clock, draft: float, commit: float = 0.0) -> None:
        super().__init__(propose)
        self._clock, self._draft, self._commit = clock, draft, commit

    def propose(self, context, k, params, rng):
        draft = super().propose(context, k, params, rng)
        self._clock.work(self._draft * len(draft))
        return draft

    def commit(self, context):
        self._clock.work(self._commit)
