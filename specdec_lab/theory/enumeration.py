"""The exact law of anything random that draws from an `Rng`, by taking every branch with its probability.

The real engine and the real verifiers are run, on toys, once for each way their choices can fall out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable

import torch
from torch import Tensor

from specdec_lab.drafters.interface import Drafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.engine.loop import Verify
from specdec_lab.errors import UserError
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import Rng, SamplingParams


class UnknownNumber(UserError):
    """Somebody computed with a uniform number. In an exact law its value is not known: comparing it is all that can be done."""


class _Uniform:
    """A uniform number known only to lie in [low, high). Comparing it splits the interval, so that a number used twice
    is the same number."""

    def __init__(self, branch: Callable[[list[float]], int]) -> None:
        self._branch, self._low, self._high = branch, 0.0, 1.0

    def __lt__(self, bound: float) -> bool:
        low, high, bound = self._low, self._high, float(bound)  # a learner compares with a tensor
        if bound >= high:
            return True
        if not bound > low:  # NaN included: nothing is below it
            return False
        share = (bound - low) / (high - low)
        if self._branch([share, 1 - share]) == 0:
            self._high = bound
            return True
        self._low = bound
        return False

    __le__ = __lt__  # a single point has no probability

    def __gt__(self, bound: float) -> bool:
        return not self < bound

    __ge__ = __gt__

    def __mul__(self, factor: float) -> _UniformTimes:
        return _UniformTimes(self, float(factor))

    __rmul__ = __mul__


class _UniformTimes:
    """A uniform number times a factor >= 0, for whoever accepts by `u * q < p`. Raises UnknownNumber on a factor < 0."""

    def __init__(self, uniform: _Uniform, factor: float) -> None:
        if factor < 0:
            raise UnknownNumber(
                f"A uniform number is multiplied by {factor:g}, which turns comparisons round: multiply by what is not negative."
            )
        self._uniform, self._factor = uniform, factor

    def __lt__(self, bound: float) -> bool:
        return self._uniform < float(bound) / self._factor if self._factor else float(bound) > 0

    __le__ = __lt__

    def __gt__(self, bound: float) -> bool:
        return not self < bound

    __ge__ = __gt__


class _BranchingRng:
    """Replays the choices in `path`, then takes the first possible branch of each new one and notes the others."""

    def __init__(self, path: list[int], untried: list[list[int]]) -> None:
        self.path, self._untried, self._at, self.weight = list(path), untried, 0, 1.0

    def _branch(self, weights: list[float]) -> int:
        if self._at == len(self.path):
            possible = [i for i, w in enumerate(weights) if w > 0]
            if not possible:
                raise UserError("There is nothing to draw from: every probability of the law is 0.")
            first, *others = possible
            self._untried.extend([*self.path, other] for other in others)
            self.path.append(first)
        chosen = self.path[self._at]
        self._at += 1
        self.weight *= weights[chosen]
        return chosen

    def uniform(self) -> float:
        return _Uniform(self._branch)  # type: ignore[return-value]

    def draw(self, law: Tensor) -> int:
        return self._branch(law.tolist())


def exact_law(run: Callable[[Rng], Hashable]) -> dict[Hashable, float]:
    """The law of `run(rng)`, which has to be the same function of its choices every time: outcome to probability.

    Raises UnknownNumber where `run` computes with rng.uniform(): compare it, or multiply it by a number >= 0.
    """
    law: dict[Hashable, float] = defaultdict(float)
    untried: list[list[int]] = [[]]
    while untried:
        rng = _BranchingRng(untried.pop(), untried)
        try:
            outcome = run(rng)
        except Exception as error:
            if _Uniform.__name__ in str(error):  # Python, numpy and torch name the class that they cannot compute with
                raise UnknownNumber(f"rng.uniform() can be compared here, not computed with: {error}") from error
            raise
        law[outcome] += rng.weight
    return dict(law)


def generation_law(
    target: LanguageModel,
    prompt: list[int],
    drafter: Drafter | None,
    k: int,
    params: SamplingParams,
    tokens: int,
    verify: Verify | None = None,
) -> dict[Hashable, float]:
    """The exact law of the next `tokens` ids that the engine writes after `prompt`: tuples of ids to probabilities."""

    def run(rng: Rng) -> tuple[int, ...]:
        return generate(target, torch.tensor(prompt), drafter, k, params, Stopping(tokens), rng, verify).tokens

    return exact_law(run)


def total_variation(a: dict[Hashable, float], b: dict[Hashable, float]) -> float:
    """Half the sum of |a - b|: 0 for equal laws, 1 for laws that share nothing."""
    return 0.5 * sum(abs(a.get(x, 0.0) - b.get(x, 0.0)) for x in a.keys() | b.keys())
