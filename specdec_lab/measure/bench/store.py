"""What was measured so far, a line each in a file: a bench that is stopped, whatever stops it, goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from specdec_lab.errors import UserError

VERSION = 1  # of the file format
FILE, LOCK = "measurements.jsonl", ".lock"
ELSEWHERE = "repeat those of before to go on with it, or give another --out"


class Store:
    """The records of `folder/measurements.jsonl` by their key; the first line says what is measured, on what.

    Use it as a context manager: it keeps the folder for itself meanwhile. Raises UserError if another bench is at work there, if the
    file belongs to other arguments or another machine, or cannot be read or written.
    """

    def __init__(self, folder: Path, plan: dict[str, Any], machine: dict[str, Any]) -> None:
        self.file, self.records = folder / FILE, dict[str, dict[str, Any]]()
        self._header: dict[str, Any] = {"version": VERSION, "plan": plan, "machine": machine}
        self._lock = FileLock(folder / LOCK)

    def __enter__(self) -> Store:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise UserError(f"Another bench is writing to {self.file.parent}; wait for its end, or give another --out.") from None
        except OSError as error:
            raise UserError(f"Nothing can be written to {self.file.parent} ({error.strerror}); give another --out.") from None
        try:
            self._read()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Write a record down, so that it outlives the process."""
        assert key not in self.records, f"{key} was measured twice"
        self.records[key] = record
        self._append({"key": key, **record})

    def _append(self, line: dict[str, Any]) -> None:
        try:
            with self.file.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"{self.file} cannot be written ({error.strerror}); make room, and run the same command to go on.") from None

    def _read(self) -> None:
        held = self.file.read_bytes() if self.file.exists() else b""
        whole = held[: held.rfind(b"\n") + 1]  # a line that was being written when the process ended is dropped, and measured again
        if len(whole) < len(held):
            os.truncate(self.file, len(whole))
        lines = [self._parse(i, line) for i, line in enumerate(whole.splitlines(), 1)]
        if not lines:
            self._append(self._header)
            return
        self._compare(lines[0])
        self.records = {line.pop("key"): line for line in lines[1:]}

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            parsed = json.loads(line)
            if isinstance(parsed, dict) and ("version" if number == 1 else "key") in parsed:
                return parsed
        except ValueError:
            pass
        raise UserError(f"Line {number} of {self.file} is no measurement; delete that line, or the file, and run the command again.")

    def _compare(self, header: dict[str, Any]) -> None:
        """Raises UserError for what is not as it was, by its name."""
        if header["version"] != VERSION:
            raise UserError(f"{self.file} has format {header['version']}, but this package writes format {VERSION}; give another --out.")
        _same(self.file.parent, header.get("plan", {}), self._header["plan"], "other arguments", ELSEWHERE)
        _same(self.file.parent, header.get("machine", {}), self._header["machine"], "another machine", "give another --out")


def _same(folder: Path, was: dict[str, Any], now: dict[str, Any], whose: str, way_out: str) -> None:
    """Raises UserError naming the first thing that differs."""
    for key, value in now.items():
        before = was.get(key)
        if before != value:
            change = f"{key.replace('_', ' ')}: {_short(before)} then, {_short(value)} now"
            if _short(before) == _short(value):
                change = f"the prompts of {_short(value)} have changed"
            raise UserError(f"{folder} holds measurements of {whose} ({change}); {way_out}.")


def _short(value: Any) -> str:
    """As it was typed: a list with commas, prompts by the names of their workloads."""
    if isinstance(value, (list, dict)):
        return ",".join("own" if one is None else str(one) for one in value) or "none"
    return str(value)
