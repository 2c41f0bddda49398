"""Running a learner's function through stages, and saying what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Finding(Exception):
    """A stage failed; the message says what was found, on which input, and what to look at."""


@dataclass(frozen=True)
class Stage:
    """`test(function)` raises Finding; `passed` says what is known once it does not."""

    name: str
    passed: str
    test: Callable[[Callable[..., Any]], None]


@dataclass(frozen=True)
class Case:
    """An input, the right answer, and what each likely wrong answer gives away."""

    arguments: tuple[Any, ...]
    right: Any
    wrong: dict[Any, str]
    look_at: str


def check(function: Function, reference: Function, stages: Sequence[Stage], example: tuple[Any, ...] | None = None) -> Function:
    """Print a line a stage, and return the function the chapter goes on with.

    That is the learner's own once every stage passes. Until then, and while `function(*example)` still
    returns nothing (not attempted), it is the package's `reference`, so that the chapter runs on.
    example: None, where the caller has seen that it was attempted.
    """
    name = reference.__name__
    if function is reference:
        say(f"○ {name}: this is the package's own function. Run the cell with yours, then this one.")
        return reference
    if example is not None and _returns_nothing(function, example):
        say(f"○ {name}: not attempted yet, or it returns nothing (is a `return` missing?). The chapter goes on with the package's own.")
        return reference
    try:
        for stage in stages:
            stage.test(function)
            say(f"✓ {stage.name}: {stage.passed}")
    except Finding as finding:
        say(f"✗ {finding}")
        say(f"The chapter goes on with the package's own {name} until yours passes.")
        return reference
    say(f"★ Your {name} is right, and from here on it is the one that runs.")
    return function


def say(text: str) -> None:
    """Print, wrapped at words to the width of a notebook's page."""
    print(fill(text, 96, subsequent_indent="  ", break_on_hyphens=False))


def _returns_nothing(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    try:
        answer = attempt(function, arguments)
    except Finding:
        return False
    return answer is None or answer is ...


def attempt(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call it on copies. An exception, or an argument that was changed, becomes a Finding with the input."""
    given = deepcopy(arguments)
    try:
        answer = function(*given)
    except Exception as error:
        raise Finding(f"It stopped with {type(error).__name__}: {error}, on {shown(arguments)}.") from error
    if shown(given) != shown(arguments):
        raise Finding(f"It changes its input: {shown(arguments)} became {shown(given)}. The caller still needs it; work on a copy.")
    return answer


def run_cases(function: Callable[..., Any], cases: Sequence[Case], plain: Callable[[Any], Any] = lambda answer: answer) -> None:
    """Compare with every case; `plain` turns an answer into something hashable."""
    for case in cases:
        try:
            answer = plain(attempt(function, case.arguments))
        except Finding as finding:
            raise Finding(f"{finding} {case.look_at}") from finding
        if answer != case.right:
            why = case.wrong.get(answer, case.look_at)
            raise Finding(f"On {shown(case.arguments)} it gives {answer}, but {case.right} is right. {why}")


def shown(arguments: tuple[Any, ...]) -> str:
    """Arguments as a learner would write them: tensors as lists."""
    return ", ".join(str(a.tolist() if hasattr(a, "tolist") else a) for a in arguments)
