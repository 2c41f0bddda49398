"""Marks one notebook: the answers run in the sandbox, the checks here, unmodified, with the student's names in their namespace.

A check cell sees the student's values as plain data and the student's functions as functions that are called over there. What it defines
under a name of its own (a correct function in the place of one of the student's) is set for the student's functions, too. The last line's
value is the mark, as nbgrader reads it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import io
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from nbformat import NotebookNode

from specdec_lab.instructor.sandbox import Limits, Sandbox
from specdec_lab.instructor.session import Ran, Session, Stopped, shareable, too_long
from specdec_lab.instructor.variants import DRAW, ID, LEARNER, drawn_by, is_numbers

_PRINTED = 20_000  # characters of one check
_GRACE = 5.0  # seconds that a check may take for itself


@dataclass
class CheckResult:
    """The points of a check cell, what it printed, and its error, empty if there was none: "AssertionError: Question 1: ..."."""

    points: float
    output: str = ""
    error: str = ""


@dataclass
class Outcome:
    """checks: by cell id. answers: by cell id, what came of running them. notes: for the instructor, a sentence each."""

    checks: dict[str, CheckResult] = field(default_factory=dict)
    answers: dict[str, Ran] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class _CheckTooLong(BaseException):
    """A check cell itself takes too long; not to be caught by what it tries."""


class _Printed(io.StringIO):
    def write(self, text: str) -> int:
        super().write(text[: max(0, _PRINTED - self.tell())])
        return len(text)


def grade(
    source: NotebookNode,
    answers: Mapping[str, str],
    limits: Limits | None = None,
    *,
    sandbox: Sandbox,
    files: Path | None = None,
    own: Sequence[str] = (),
) -> Outcome:
    """Draw the numbers, run `answers` in their order, each check of `source` as soon as the answer cell above it has run; gives the marks.

    source: the knowledge check with hidden tests. answers: the code of the student's cells by cell id, of answer cells and others.
    files: a folder with the student's own files. own: the ids of the student, by which numbers are drawn
    (variants.py). Whatever the code does, this returns: a cell that kills its process loses nothing that came before it.
    """
    session = Session(sandbox, limits or Limits(), files)
    marking = _Marking(session)
    waiting = dict(answers)
    try:
        if ID in waiting:  # wherever it stands, and whatever was moved: the other answers need the numbers
            marking.outcome.answers[ID] = session.run(ID, waiting.pop(ID))
        for cell in filter(is_numbers, source.cells):
            marking.numbers(cell.id, cell.source, own)
        for cell in source.cells:
            kind = cell.metadata.get("nbgrader", {}) if cell.cell_type == "code" else {}
            if kind.get("solution"):
                for id_ in _up_to(cell.id, waiting):
                    marking.outcome.answers[id_] = session.run(id_, waiting.pop(id_))
            elif kind.get("grade"):
                marking.check(cell.id, cell.source, float(kind["points"]))
    finally:
        session.close()
    if session.garbled:
        marking.outcome.notes.append("The code wrote into the grader's own channel, which no honest answer does.")
    return marking.outcome


def _up_to(id_: str, waiting: Mapping[str, str]) -> list[str]:
    names = list(waiting)
    return names[: names.index(id_) + 1] if id_ in waiting else []


class _Marking:
    """The check cells of one notebook, which share a namespace."""

    def __init__(self, session: Session) -> None:
        self.session, self.outcome = session, Outcome()
        self.namespace: dict[str, Any] = {"__name__": "check"}
        self.fetched: dict[str, Any] = {}
        self.helped: set[str] = set()
        self.own: frozenset[str] = frozenset()
        self.drawn: dict[str, Any] = {}  # names that cells with numbers have set here
        session.before_call = self._give

    def numbers(self, id_: str, source: str, own: Sequence[str]) -> None:
        """Draw numbers, for the student's code by the id that it has, and here by one of the owner's."""
        self.session.run(id_, source)
        said = ""
        if id_ == DRAW:
            self.namespace[LEARNER], said = drawn_by(self.session.get([LEARNER]).get(LEARNER, ...), own)
            self.outcome.notes += [said] if said else []
        code, printed = _code(source), _Printed()
        with _quiet(printed):
            exec(code.body, self.namespace)
            if code.last:
                eval(code.last, self.namespace)
        self.drawn |= {name: self.namespace[name] for name in code.own & self.namespace.keys()}
        self.outcome.answers[id_] = Ran(printed.getvalue() + (f"{said}\n" if said else ""))

    def check(self, id_: str, source: str, worth: float) -> None:
        code = _code(source)
        self.session.told.clear()
        self._fetch(code)
        printed = _Printed()
        result = CheckResult(0.0)
        try:
            with _quiet(printed), _alarm(3 * self.session.limits.cell_seconds + _GRACE):
                exec(code.body, self.namespace)
                result.points = _points(eval(code.last, self.namespace) if code.last else None, worth)
        except _CheckTooLong:
            self.session._lose(too_long(self.session.limits.cell_seconds))
        except Exception as error:
            result.error = _clean(str(error) if isinstance(error, Stopped) else f"{type(error).__name__}: {error}")
        told = [f"{why}\n" for why in self.session.told if why not in result.error]
        result.output = _clean("".join(told) + printed.getvalue())
        self.outcome.checks[id_] = result

    def _fetch(self, code: _Code) -> None:
        """The student's values, as they are now, of all the names in this cell, and in the helpers that cells before it have defined."""
        self.session.ready()
        self.session.allow()
        for name in self.fetched:
            self.namespace.pop(name, None)
        self.fetched = self.session.get((code.names | self.helped) - self.drawn.keys())
        if self.session.process is None and self.session.ready():  # an answer to another question may end the process when it is fetched
            self.fetched = self.session.get(code.names - self.drawn.keys())
        self.helped |= code.helped
        self.namespace.update(self.fetched)
        self.own = code.own

    def _give(self) -> None:
        """Set for the student's functions what the check has put in the place of a name of theirs."""
        for name in self.own & self.namespace.keys():
            value = self.namespace[name]
            if value is not self.fetched.get(name) and self.session.given.get(name) is not value and shareable(value):
                self.session.give(name, value)


@dataclass(frozen=True)
class _Code:
    """A check cell, compiled: all but its last line; its last line if that is a value; the names in it, those of them that stand in its
    functions, and those that it sets."""

    body: CodeType
    last: CodeType | None
    names: frozenset[str]
    helped: frozenset[str]
    own: frozenset[str]


@functools.lru_cache(maxsize=500)
def _code(source: str) -> _Code:
    tree = ast.parse(source)
    own = frozenset(name for statement in tree.body for name in _set_by(statement) if not name.startswith("_"))
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    helped = frozenset(name for function in functions for name in _names(function))
    *body, last = tree.body or [ast.Pass()]
    value = compile(ast.Expression(last.value), "check", "eval") if isinstance(last, ast.Expr) else None
    rest = body if isinstance(last, ast.Expr) else [*body, last]
    return _Code(compile(ast.Module(rest, []), "check", "exec"), value, frozenset(_names(tree)), helped, own)


def _names(tree: ast.AST) -> Iterator[str]:
    """Names that may be the student's: not Python's own, which nobody can change here, and not those of the check's own helpers."""
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None
        if isinstance(name, str) and name.isidentifier() and not name.startswith("_") and not hasattr(builtins, name):
            yield name


def _set_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _points(value: Any, worth: float) -> float:
    """What the last line of a check is worth; a check that does not end in a number gives nothing."""
    points = float(value) if type(value) in (bool, int, float) else 0.0
    return min(max(points, 0.0), worth) if points == points else 0.0


def _clean(text: str) -> str:
    return text[:_PRINTED].encode("utf-8", "replace").decode("utf-8")


@contextlib.contextmanager
def _quiet(printed: io.StringIO) -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Ends the body after so many seconds, where signals can (in the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise _CheckTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
