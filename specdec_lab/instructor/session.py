"""The grader's end of the pipe to one student's process: it runs the cells, fetches names, calls functions, and starts again after a death.

What comes over the pipe may come from anybody who runs in there. It is decoded into plain data (wire.py), and means no more than "this is
what the student's code gave back": nothing in a message can say what an answer is worth.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from specdec_lab.instructor import wire
from specdec_lab.instructor.sandbox import Limits, Process, Sandbox

_DEEPEST = 30  # calls inside calls
_MOST_STARTS = 40

ENDED = "The code ended its own process here (an exit, a crash, or more memory than there is); what follows could not run."
TOO_LARGE = "This cell is too long to be run."
GARBLED = "The code wrote into the grader's own channel, so what came back could not be read."
OUT_OF_TIME = "The time for the whole notebook was used up."


def too_long(seconds: float) -> str:
    return f"Stopped after {seconds:g} seconds: look for a loop that never ends."


class StudentError(Exception):
    """Raised in a check in the place of an exception of the student's; its classes have the names of the student's."""


class Stopped(StudentError):
    """The student's process did not answer, or is no more."""


@dataclass
class Ran:
    """What came of an answer cell: what it printed, and the error or the sentence that says why it did not end."""

    output: str = ""
    error: str = ""


@dataclass
class _Cell:
    name: str
    source: str
    most: int | None = None  # the statements that can be run without ending the process; all if none


class Function:
    """A function of the student's, called over there. Lists, sets and dicts that it changes are changed here."""

    def __init__(self, session: Session, start: int, handle: int, name: str) -> None:
        self._session, self._start, self._handle, self.__name__ = session, start, handle, name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._session._call(self, arguments, named)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


@dataclass
class Session:
    """One student's notebook, as it runs. `told` collects sentences about what went wrong in the calls since it was last emptied."""

    sandbox: Sandbox
    limits: Limits
    files: Path | None = None
    told: list[str] = field(default_factory=list)
    before_call: Callable[[], None] = lambda: None
    garbled: bool = False
    """Whether somebody has ever written into the pipe what student.py does not write."""

    def __post_init__(self) -> None:
        self.process: Process | None = None
        self.starts = 0
        self.cells: list[_Cell] = []
        self.callbacks: dict[int, Any] = {}
        self.given: dict[str, Any] = {}  # names that the grader has set
        self.last_handle = self.depth = self.requests = 0
        self.end = time.monotonic() + self.limits.total_seconds
        self.until = self.end
        self.spent = False  # whether a call has used up the time of this cell
        self.called = False  # whether the process has been given what a check calls functions with

    # ---- cells and names

    def run(self, name: str, source: str) -> Ran:
        """Run an answer cell, behind those before it."""
        self.told.clear()
        self.ready()
        cell = _Cell(name, source)
        self.cells.append(cell)
        return self._run(cell)

    def ready(self) -> bool:
        """Start the process if there is none, and run the cells there were, as far as they go. False if there is no time for it.

        A process that a check has called begins anew, so that it cannot print, or give back in an easy case, what the hidden ones were.
        """
        if self.called:
            self.close()
        while self.process is None:
            if self.starts >= _MOST_STARTS or time.monotonic() >= self.end:
                self._tell(OUT_OF_TIME)
                return False
            self.starts += 1
            self.process = self.sandbox.start(self.limits, self.files)
            for cell in self.cells:
                if self.process is not None:
                    self._run(cell)
            for name, value in self.given.items():
                self._set(name, value)
        return True

    def _run(self, cell: _Cell) -> Ran:
        if len(json.dumps(cell.source)) > wire.LARGEST - 1000:
            return Ran(error=TOO_LARGE)
        self.allow()
        reached = 0

        def at(number: Any) -> None:
            nonlocal reached
            reached = number if type(number) is int and number >= 0 else reached

        try:
            reply = self._ask(["run", cell.name, cell.source, cell.most], at)
        except Stopped as why:
            cell.most = min(reached, cell.most if cell.most is not None else reached)
            return Ran(error=str(why))
        if reply[0] == "ok":
            return Ran(_text(reply, 3))
        name = wire.word(reply[1])
        if name == "TimeLimit":
            cell.most = reached
            return Ran(_text(reply, 4), too_long(self.limits.cell_seconds))
        return Ran(_text(reply, 4), f"{name}: {_text(reply, 2)}".removesuffix(": "))

    def get(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of the names that the student's code has set, with their values; modules are left out."""
        try:
            reply = self._ask(["get", sorted(names)])
            pairs = [(name, self._exchange().unpack(value)) for name, value in reply[1]] if reply[0] == "ok" else []
        except (Stopped, wire.WireError, TypeError, ValueError):
            return {}
        return {name: value for name, value in pairs if type(name) is str and name in names}

    def give(self, name: str, value: Any) -> None:
        """Set a name for the student's functions: the correct function in the place of one of theirs."""
        self.given[name] = value
        self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        with contextlib.suppress(Stopped, wire.WireError):
            self._ask(["set", name, self._exchange().pack(value)])

    def allow(self) -> None:
        """The time of a cell begins."""
        self.until, self.spent = min(time.monotonic() + 3 * self.limits.cell_seconds, self.end), False
        if self.process:
            self.process.taken = 0

    def close(self) -> None:
        if self.process:
            self.process.end()
        self.process, self.called = None, False

    # ---- calls

    def _call(self, function: Function, arguments: Any, named: Any) -> Any:
        self.before_call()
        if self.process is None or function._start != self.starts or self.spent:
            raise Stopped(self.told[-1] if self.told else ENDED)
        exchange, mark, self.called = self._exchange(), self.last_handle, True
        try:
            reply = self._ask(["call", function._handle, exchange.pack(arguments), exchange.pack(named)])
            exchange.apply(reply[2] if reply[0] == "ok" else reply[3])
            result = exchange.unpack(reply[1]) if reply[0] == "ok" else None
        except (wire.WireError, IndexError) as error:
            raise StudentError(f"the function gave back what is no plain data: {error}") from None
        finally:
            for handle in range(mark, self.last_handle):
                if not any(self.callbacks[handle] is value for value in self.given.values()):
                    self.callbacks[handle] = None
        if reply[0] == "ok":
            return result
        raise self._error(reply)

    def _error(self, reply: list[Any]) -> Exception:
        name = wire.word(reply[1])
        if name == "TimeLimit":
            self.spent = True
            self._tell(too_long(self.limits.cell_seconds))
            return Stopped(self.told[-1])
        return type(name, (StudentError,), {})(_text(reply, 2))

    def _exchange(self) -> wire.Exchange:
        return wire.Exchange(self._refer, self._resolve)

    def _refer(self, function: Any) -> wire.Reference:
        if isinstance(function, Function):
            return "student", function._handle, function.__name__
        known = [handle for handle, value in self.callbacks.items() if value is function]
        if not known:
            known, self.callbacks[self.last_handle] = [self.last_handle], function
            self.last_handle += 1
        return "grader", known[0], getattr(function, "__name__", "function")

    def _resolve(self, side: str, handle: int, name: str) -> Any:
        if side == "student":
            return Function(self, self.starts, handle, name)
        if self.callbacks.get(handle) is None:
            raise wire.WireError("a function of the grader's that does not exist")
        return self.callbacks[handle]

    # ---- messages

    def _ask(self, message: list[Any], at: Callable[[Any], None] = lambda number: None) -> list[Any]:
        """Send a request, do what is asked for meanwhile, and return the answer to it. Raises Stopped if there is none."""
        if self.process is None:
            raise Stopped(self.told[-1] if self.told else ENDED)
        self.depth += 1
        try:
            if self.depth > _DEEPEST:
                raise wire.WireError("calls inside calls, too deep")
            self.requests += 1
            seconds = [self.limits.cell_seconds] if message[0] in ("run", "call") else []
            return self._talk([message[0], self.requests, *message[1:], *seconds], at)
        except TimeoutError:
            self._lose(OUT_OF_TIME if time.monotonic() >= self.end else too_long(self.limits.cell_seconds))
        except OSError:
            self._lose(ENDED)
        except wire.WireError:
            self.garbled = True
            self._lose(GARBLED)
        finally:
            self.depth -= 1
        raise Stopped(self.told[-1])

    def _talk(self, message: list[Any], at: Callable[[Any], None]) -> list[Any]:
        process, until = self.process, self.until
        assert process is not None
        process.wait(until)
        process.send(message)
        while True:
            reply = process.receive()
            if self.process is not process:
                raise OSError("lost in a call inside this one")
            if reply[0] == "at" and len(reply) == 2:
                at(reply[1])
            elif reply[0] == "call" and len(reply) == 4:
                process.send(self._called(*reply[1:]))
            elif (reply[0], len(reply)) in (("ok", 5), ("error", 6)) and reply[-1] == message[1]:
                return reply[:-1]
            else:
                raise wire.WireError("not an answer")

    def _called(self, handle: Any, arguments: Any, named: Any) -> list[Any]:
        """The student's code calls a function of the check's, such as the dice that it was given."""
        exchange = self._exchange()
        function = self.callbacks.get(handle) if type(handle) is int else None
        given, options = exchange.unpack(arguments), exchange.unpack(named)
        if function is None or type(given) is not tuple or type(options) is not dict or not all(type(key) is str for key in options):
            raise wire.WireError("a call of nothing")
        try:
            result = exchange.pack(function(*given, **options))
        except Exception as error:
            return ["error", type(error).__name__, str(error)[:300], exchange.changes()]
        return ["ok", result, exchange.changes()]

    def _lose(self, why: str) -> None:
        self.close()
        self._tell(why)

    def _tell(self, why: str) -> None:
        if why not in self.told:
            self.told.append(why)


def _text(reply: list[Any], place: int) -> str:
    """A text of a message, fit to be written into a file: no half of a surrogate pair, and not too long."""
    return str(reply[place])[:30_000].encode("utf-8", "replace").decode("utf-8")


def shareable(value: Any) -> bool:
    """Whether a name of a check with this value can be set for the student's functions."""
    return not isinstance(value, (ModuleType, wire.Foreign, Function))
