"""A small situation in which every way that the dice can fall is walked: the exact law of what comes out, and what a scene needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from specdec_lab.checks.stages import Finding
from specdec_lab.sampling import Rng
from specdec_lab.theory.enumeration import exact_law

Function = Callable[..., Any]
Law = dict[Hashable, float]
Joint = dict[tuple[Hashable, float], float]
Play = Callable[[Function, Rng], tuple[Hashable, float]]


@dataclass(frozen=True)
class Scene:
    """One situation. `play(function, rng)` gives what comes out and how many drafted tokens stood; `target` is the law that is wanted."""

    given: str
    target: Law
    play: Play
    names: Mapping[Hashable, str]

    def joint(self, function: Function) -> Joint:
        """The exact law of (what comes out, how many drafted tokens stood)."""
        return exact_law(lambda rng: self.play(function, _Fair(rng)))  # type: ignore[return-value]

    def named(self, law: Law) -> dict[str, float]:
        """A law under the names of its outcomes; those that neither it nor the target knows are left out."""
        return {name: law.get(outcome, 0.0) for outcome, name in self.names.items()}


class _Fair:
    """The course's rng scales a law that does not sum to 1 before it draws; so does this one."""

    def __init__(self, rng: Rng) -> None:
        self._rng, self.uniform = rng, rng.uniform

    def __repr__(self) -> str:
        return "rng"

    def draw(self, law: Tensor) -> int:
        if not isinstance(law, Tensor) or law.dim() != 1:
            raise TypeError(f"rng.draw takes a law, a tensor [vocab], and was given {law!r}")
        total = float(law.sum())
        if not 0.0 < total < float("inf"):
            raise ValueError(f"rng.draw was given weights that sum to {total}")
        return self._rng.draw(law / total)


def outcomes(joint: Joint) -> Law:
    """The law of what comes out."""
    law: Law = {}
    for (out, _), chance in joint.items():
        law[out] = law.get(out, 0.0) + chance
    return law


def stood(joint: Joint) -> float:
    """Drafted tokens that stand, on average."""
    return sum(count * chance for (_, count), chance in joint.items())


def as_law(value: Any, vocab: int, name: str) -> Tensor:
    """What was stated as a law `[vocab]`. It has to be one in form; in substance it may be wrong."""
    if not isinstance(value, Tensor) or value.shape != (vocab,):
        shape = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise Finding(f"{name} has to be a tensor [vocab] = [{vocab}], and is {shape}.")
    return value.double()
