"""A student's process: runs the cells of one notebook, and calls their functions for the grader. In the sandbox; standard library alone.

Started as a script, with the settings as JSON in its one argument. Nothing that happens here is believed over there: whatever comes out is
"what the student's function returned". So nothing here has to withstand the student's code; it only has to be useful to an honest one.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import io
import json
import os
import signal
import sys
import types
from contextlib import suppress
from typing import Any

if __name__ == "__main__":  # wire.py and confine.py lie beside this file
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import confine
    import wire
else:
    from specdec_lab.instructor import confine, wire

_MESSAGE = 2000  # characters of an error's message
_compile, _exec = compile, exec  # what the student's code puts in their place later is not meant for its other cells


class TimeLimit(BaseException):
    """The time for a cell or a call is up. No `except Exception` of a student's catches it."""


class Kept(io.BufferedIOBase):
    """Keeps the first bytes of what is printed and drops the rest, however much it is."""

    def __init__(self, most: int) -> None:
        self.most, self.data, self.dropped = most, bytearray(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        new = bytes(data)
        room = max(0, self.most - len(self.data))
        self.data += new[:room]
        self.dropped += max(0, len(new) - room)
        return len(new)

    def take(self) -> str:
        text = self.data.decode("utf-8", "replace") + (f"\n[{self.dropped:,} more bytes were printed]" if self.dropped else "")
        self.data, self.dropped = bytearray(), 0
        return text


class Room:
    """The student's names and functions, and the pipe to the grader."""

    def __init__(self, pipe: int, printed: int) -> None:
        self.pipe = pipe
        self.module = types.ModuleType("__main__")
        self.functions: list[Any] = []
        self.kept, self.incoming = Kept(printed), wire.Incoming()

    def open(self) -> None:
        """Make this the world that the student's code sees."""
        sys.modules["__main__"] = self.module
        sys.argv, sys.path[:1] = ["notebook"], [os.getcwd()]
        sys.stdout = sys.stderr = io.TextIOWrapper(self.kept, "utf-8", "backslashreplace", write_through=True)
        builtins.display, builtins.exit, builtins.quit = print, sys.exit, sys.exit  # type: ignore[attr-defined, assignment]
        signal.signal(signal.SIGPROF, _time_is_up)

    def serve(self) -> None:
        while True:
            message = self.receive()
            if message[0] not in ("ok", "error"):  # the grader's answers to calls that were cut short
                self.send(self.answer(message))

    # ---- the pipe

    def receive(self) -> list[Any]:
        while (message := self.incoming.take()) is None:
            part = os.read(self.pipe, 2**16)
            if not part:
                os._exit(0)  # the grader is done
            self.incoming.add(part)
        return message

    def send(self, message: list[Any]) -> None:
        try:
            data = wire.dumps(message)
        except wire.WireError as error:
            data = wire.dumps(["error", "TypeError", f"what the code returned: {error}", [], "", message[-1]])
        while data:
            data = data[os.write(self.pipe, data) :]

    # ---- what the grader asks for

    def answer(self, message: list[Any]) -> list[Any]:
        kind, number, *rest = message
        requests: dict[str, Any] = {"run": self.run, "get": self.get, "set": self.set, "call": self.call}
        return [*requests[kind](*rest), number]

    def run(self, name: str, source: str, most: int | None, seconds: float) -> list[Any]:
        """Run a cell, statement by statement, and say before each that it comes, so that the one is known which ends the process."""
        try:
            statements = _compiled(name, source)
            with _limited(seconds):
                for number, code in enumerate(statements[:most]):
                    self.send(["at", number])
                    _exec(code, self.module.__dict__)
            return ["ok", None, [], self.kept.take()]
        except BaseException as error:
            return self._failed(error, _line(error, name))

    def get(self, names: list[str]) -> list[Any]:
        """Those of the names that are there and no modules, each with its value."""
        found = []
        for name in names:
            value = self.module.__dict__.get(name, self)
            if value is not self and not issubclass(type(value), types.ModuleType):
                found.append([name, self._packed(value)])
        return ["ok", found, [], ""]

    def _packed(self, value: Any) -> Any:
        try:
            packed = self.exchange().pack(value)
            if len(wire.dumps(["ok", packed])) <= wire.LARGEST // 8:
                return packed
        except BaseException as error:
            if isinstance(error, TimeLimit):
                raise
        return ["o", f"{type(value).__name__} that is too large or strange"]

    def set(self, name: str, value: Any) -> list[Any]:
        self.module.__dict__[name] = self.exchange().unpack(value)
        return ["ok", None, [], ""]

    def call(self, handle: int, arguments: Any, named: Any, seconds: float) -> list[Any]:
        exchange = self.exchange()
        given = exchange.unpack(arguments), exchange.unpack(named)
        try:
            with _limited(seconds):
                result = self.functions[handle](*given[0], **given[1])
                return ["ok", exchange.pack(result), exchange.changes(), self.kept.take()]
        except BaseException as error:
            reply = self._failed(error)
        with suppress(Exception):
            reply[3] = exchange.changes()
        return reply

    def _failed(self, error: BaseException, where: str = "") -> list[Any]:
        try:
            text = str(error)
        except BaseException:
            text = "an error whose message cannot be read"
        return ["error", type(error).__name__, text[:_MESSAGE] + where, [], self.kept.take()]

    # ---- functions

    def exchange(self) -> wire.Exchange:
        return wire.Exchange(self._refer, self._resolve)

    def _refer(self, function: Any) -> wire.Reference:
        if isinstance(function, types.FunctionType) and hasattr(function, "_of_the_grader"):
            return "grader", function._of_the_grader, function.__name__
        handle = next((n for n, known in enumerate(self.functions) if known is function), len(self.functions))
        if handle == len(self.functions):
            self.functions.append(function)
        return "student", handle, getattr(function, "__name__", "function")

    def _resolve(self, side: str, handle: int, name: str) -> Any:
        if side == "student":
            return self.functions[handle]

        def function(*arguments: Any, **named: Any) -> Any:
            return self._ask(handle, arguments, named)

        function.__name__ = function.__qualname__ = name
        function._of_the_grader = handle  # type: ignore[attr-defined]
        return function

    def _ask(self, handle: int, arguments: Any, named: Any) -> Any:
        """Call a function of the grader's; it may call one of ours before it returns."""
        exchange = self.exchange()
        self.send(["call", handle, exchange.pack(arguments), exchange.pack(named)])
        while (reply := self.receive())[0] not in ("ok", "error"):
            self.send(self.answer(reply))
        if reply[0] == "error":
            _, name, text, changes = reply
            exchange.apply(changes)
            kind = getattr(builtins, name, None)
            raise (kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError)(text)
        _, result, changes = reply
        exchange.apply(changes)
        return exchange.unpack(result)


class _limited:
    """Raises TimeLimit in the body after so many seconds of computing. Waiting is limited by the grader: a busy machine costs no marks."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        self.before = signal.setitimer(signal.ITIMER_PROF, max(0.01, self.seconds))[0]

    def __exit__(self, *error: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, self.before)


def _time_is_up(*_: object) -> None:
    raise TimeLimit


def _compiled(name: str, source: str) -> list[types.CodeType]:
    tree: Any = _compile(source, f"<{name}>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    flags, codes = 0, []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            flags |= sum(getattr(__future__, each.name).compiler_flag for each in statement.names)
        codes.append(_compile(ast.Module([statement], []), f"<{name}>", "exec", flags, dont_inherit=True))
    return codes


def _line(error: BaseException, name: str) -> str:
    if isinstance(error, SyntaxError):
        return ""
    lines, step = [], error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == f"<{name}>":
            lines.append(step.tb_lineno)
        step = step.tb_next
    return f" (line {lines[-1]})" if lines else ""


def main(settings: dict[str, Any]) -> None:
    room = Room(settings["pipe"], settings["printed"])
    sys.path += settings["packages"]
    confine.confine(settings)
    room.open()
    room.serve()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
