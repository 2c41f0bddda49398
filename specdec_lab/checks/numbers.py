"""Checks of a learner's formula: a function that returns one number."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from specdec_lab.checks.stages import Case, Finding, attempt, run_cases, shown

Formula = Callable[..., Any]
DIGITS = 9  # answers that agree in so many are equal
IN_32_BITS = 1e-5  # how far, relatively, an answer may be off that was computed in 32 bits
POWER = {" for ^:": "In Python a power is written p**k."}


def number(answer: Any) -> float:
    """One finite number of any type, to nine digits; a whole one as an int. Raises Finding for anything else."""
    rounded = float(f"{_value(answer):.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _value(answer: Any) -> float:
    if isinstance(answer, (str, bool)):
        raise Finding(f"It returns {answer!r}, but one number is wanted.")
    try:
        value = float(answer.item() if hasattr(answer, "item") else answer)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Finding(f"It returns {answer!r}, but one number is wanted.") from error
    if not math.isfinite(value):
        raise Finding(f"It returns {value}, but a finite number is wanted.")
    if getattr(answer, "ndim", 0):
        raise Finding(f"It returns {answer!r}, an array with one number in it. Return the plain number, please: its .item().")
    return value


def _known(numbers: Iterable[float], answer: Any) -> float:
    """`number(answer)`; if that was computed in 32 bits, the one of `numbers` that it stands for."""
    value = _value(answer)
    if float(np.float32(value)) == value:
        return next((n for n in numbers if math.isclose(value, n, rel_tol=IN_32_BITS)), number(answer))
    return number(answer)


def case(arguments: tuple[Any, ...], right: float, wrong: dict[float, str], look_at: str) -> Case:
    """A `Case` for `right_on`: its numbers are compared to nine digits."""
    return Case(arguments, number(right), {number(value): why for value, why in wrong.items()}, look_at)


def is_a_number(example: tuple[Any, ...], advice: Mapping[str, str] | None = None) -> Callable[[Formula], None]:
    """A stage's test: called with `example`, the function returns one number.

    advice: what to say to a TypeError whose message contains the key.
    """

    def test(function: Formula) -> None:
        try:
            inspect.signature(function).bind(*example)
        except TypeError as error:
            raise Finding(f"It cannot be called with {shown(example)}: {error}. Keep the stub's arguments and defaults.") from error
        try:
            number(attempt(function, example))
        except Finding as finding:
            raise Finding(f"{finding} {_advice(finding, {**POWER, **(advice or {})})}".rstrip()) from finding

    return test


def _advice(finding: Finding, advice: Mapping[str, str]) -> str:
    error = finding.__cause__
    return next((why for words, why in advice.items() if isinstance(error, TypeError) and words in str(error)), "")


def right_on(cases: Sequence[Case]) -> Callable[[Formula], None]:
    """A stage's test: each case's answer is right; a likely wrong one gets the case's reason."""

    def test(function: Formula) -> None:
        for one in cases:
            run_cases(function, [one], partial(_known, (one.right, *one.wrong)))

    return test


def agrees(reference: Formula, draws: Callable[[random.Random], tuple[Any, ...]], trials: int) -> Callable[[Formula], None]:
    """A stage's test: `trials` random inputs, drawn by `draws`, give what the reference gives."""

    def test(function: Formula) -> None:
        rng = random.Random(0)
        for _ in range(trials):
            given = draws(rng)
            right = number(reference(*given))
            answer = _known([right], attempt(function, given))
            if not math.isclose(answer, right, rel_tol=1e-8):
                raise Finding(f"On {shown(given)} it gives {answer}, but {right} is right.")

    return test
