"""A pair of toys in the place of a loaded one, and comparisons made up."""

from __future__ import annotations

import dataclasses
from time import sleep
from types import SimpleNamespace
from typing import Any

from specdec_lab.engine import Generation
from specdec_lab.measure.compare import Comparison
from specdec_lab.models.toy import ToyLM, markov_lm
from tests.support import ids, rounds


class Slow(ToyLM):
    """A toy that sleeps for so many seconds in each pass."""

    def __init__(self, toy: ToyLM, seconds: float) -> None:
        super().__init__(toy._next_logits, toy.vocab_size, toy.max_context, toy.name)
        self._seconds = seconds

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        sleep(self._seconds)
        return super().__call__(*args, **kwargs)


def toy_pair(target: float = 0.0, draft: float = 0.0, drift: float = 0.0) -> Any:
    """A target and a draft that is the same but for `drift`; their passes take so many seconds."""
    one = markov_lm(3, 12)
    other = markov_lm(4, 12, like=one, drift=drift)
    return SimpleNamespace(target=Slow(one, target), draft=Slow(other, draft), eos=frozenset(), encode=lambda text: ids(1, 2, 3))


def comparison(*spent: tuple[float, float, float], accepted: int = 1, k: int = 2, plain: float = 20.0, speed: float = 25.0) -> Comparison:
    """Rounds that accept so many of k; `spent` are seconds of drafting, verifying and the whole round."""
    made = [
        dataclasses.replace(r, draft_seconds=d, verify_seconds=v, seconds=s)
        for r, (d, v, s) in zip(rounds(*[accepted] * len(spent), k=k), spent, strict=True)
    ]
    tokens = tuple(t for r in made for t in r.emitted)
    run = Generation((1, 2), tokens, tuple(made), "length", None, 0.0)
    return Comparison(run, run, True, plain, speed, 0.05, 0.01, 0.002)
