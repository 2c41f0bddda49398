"""A pair of toys in the place of a loaded one."""

from __future__ import annotations

from time import sleep
from types import SimpleNamespace
from typing import Any

from specdec_lab.models.toy import ToyLM, markov_lm
from tests.support import ids


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
