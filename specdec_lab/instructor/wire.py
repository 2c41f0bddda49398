"""Plain data over the pipe between the grader and a student's process. The standard library alone: it runs on either side.

A message is a JSON list behind its length in four bytes. Values that JSON has no word for are lists that begin with a tag:

    ["..."]                     the Ellipsis, which stands in an answer that nobody has given
    ["b", text]                 bytes
    ["t", items] ["f", items]   a tuple, a frozenset
    ["l", n, items] ["s", n, items] ["d", n, pairs]   a list, a set, a dict: number n of this exchange
    ["r", n]                    the same list, set or dict again
    ["c", side, handle, name]   a function, which stays on its side and is called over there
    ["o", name]                 an object of that type, which stays where it is

What is read becomes an object of exactly these types, whatever the writer meant: no method of a student's comes over with it. Of lists that
hold each other only so much is taken as can be printed and compared. A float that is no number arrives as an object that is none.
Lists, sets and dicts carry numbers, so that a function which changes its arguments, or returns one of them, does so on the other side too.
"""

from __future__ import annotations

import json
import numbers
import re
import struct
from collections.abc import Callable
from typing import Any

LARGEST = 2**20  # bytes of a message
DEEPEST = 60  # lists inside lists
MOST_KEYS = 5_000  # of a dict or a set: keys can be chosen so that each is compared with all the others
LONGEST = 13_000  # bits of a whole number; Python itself refuses to print more than 4300 digits

Reference = tuple[str, int, str]  # of a function: its side, its number there, its name


class WireError(ValueError):
    """A message is none, or a value is too large or too deep to go over the pipe."""


class Foreign:
    """Stands for an object that is no plain data. It equals nothing but itself, and has no method that a student wrote."""

    def __init__(self, kind: str) -> None:
        self._kind = word(kind)

    def __repr__(self) -> str:
        return f"<an object of type {self._kind}>"

    def _refuse(self, *others: object) -> Any:
        raise TypeError(f"{self!r} came out of the code where a number belongs")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __abs__ = __float__ = __round__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class NotANumber(Foreign):
    """Stands for nan, which every comparison with a limit lets through or not, as it is put: max(0.0, nan) is 0.0."""

    def __repr__(self) -> str:
        return "nan"


def word(name: object) -> str:
    """A name that is safe to print, from one that somebody else has chosen."""
    return re.sub(r"\W", "_", str(name))[:60] or "_"


def dumps(message: object) -> bytes:
    """The bytes of a message; a WireError if there are too many of them."""
    try:
        data = json.dumps(message, separators=(",", ":")).encode("ascii")
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError(f"this cannot be passed on: {error}") from None
    if len(data) > LARGEST:
        raise WireError(f"{len(data):,} bytes are too many to be passed on")
    return struct.pack("!I", len(data)) + data


class Incoming:
    """Takes bytes as they come, and gives whole messages."""

    def __init__(self) -> None:
        self.data = b""

    def add(self, data: bytes) -> None:
        self.data += data

    def take(self) -> list[Any] | None:
        """The next message, or None if not all of it is here."""
        if len(self.data) < 4:
            return None
        size = struct.unpack_from("!I", self.data)[0]
        if size > LARGEST:
            raise WireError(f"a message of {size:,} bytes")
        if len(self.data) < 4 + size:
            return None
        message, self.data = self.data[4 : 4 + size], self.data[4 + size :]
        return loads(message)


def loads(data: bytes) -> list[Any]:
    """The message in these bytes, a list that begins with a word."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {type(error).__name__}") from None
    if type(message) is not list or not message or type(message[0]) is not str:
        raise WireError("not a message")
    return message


class Exchange:
    """The values of one call and its answer, for either of its sides.

    refer: the reference of a function to be sent. resolve: the function for a reference that was received.
    """

    def __init__(self, refer: Callable[[Any], Reference], resolve: Callable[[str, int, str], Any]) -> None:
        self.refer, self.resolve = refer, resolve
        self.numbered: dict[int, Any] = {}  # the lists, sets and dicts of this exchange
        self.number: dict[int, int] = {}  # id -> number
        self.arrived: dict[int, Any] = {}  # number -> a shallow copy

    # ---- out

    def pack(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if kind is int:
            if value.bit_length() > LONGEST:
                raise WireError("a number of so many digits cannot be passed on")
            return value
        if value is ...:
            return ["..."]
        if depth > DEEPEST:
            raise WireError("lists inside lists, too deep to be passed on")
        if id(value) in self.number:
            return ["r", self.number[id(value)]]
        if issubclass(kind, (list, set, dict)):
            return self._container(value, depth)
        if issubclass(kind, tuple):
            return ["t", [self.pack(item, depth + 1) for item in tuple.__iter__(value)]]
        if issubclass(kind, frozenset) and frozenset.__len__(value) <= MOST_KEYS:
            return ["f", [self.pack(item, depth + 1) for item in frozenset.__iter__(value)]]
        return self._other(value)

    def _container(self, value: Any, depth: int) -> Any:
        number = self._register(value)
        return [{list: "l", set: "s", dict: "d"}[_base(value)], number, self._contents(value, depth)]

    def _register(self, value: Any, number: int | None = None) -> int:
        number = len(self.numbered) if number is None else number
        self.numbered[number], self.number[id(value)] = value, number
        return number

    def _contents(self, value: Any, depth: int) -> list[Any]:
        base = _base(value)
        if base is not list and base.__len__(value) > MOST_KEYS:
            raise WireError("so many keys cannot be passed on")
        if base is dict:
            return [[self.pack(key, depth + 1), self.pack(item, depth + 1)] for key, item in dict.items(value)]
        return [self.pack(item, depth + 1) for item in base.__iter__(value)]

    def _other(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, bytes):
            return ["b", bytes.__getitem__(value, slice(None)).decode("latin-1")]
        if isinstance(value, numbers.Integral):
            return self.pack(int(value) if not isinstance(value, int) else int.__pos__(value))
        if isinstance(value, numbers.Real):
            return float(value) if not isinstance(value, float) else float.__pos__(value)
        if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
            return bool(value)
        if callable(value):
            return ["c", *self.refer(value)]
        return ["o", value._kind if kind is Foreign else kind.__name__]

    def changes(self) -> list[Any]:
        """The lists, sets and dicts that came in and are no longer what they were: their numbers and new contents."""
        return [[n, self._contents(self.numbered[n], 0)] for n, before in self.arrived.items() if not _same(before, self.numbered[n])]

    # ---- in

    def unpack(self, data: Any, depth: int = 0) -> Any:
        if data is None or type(data) in (bool, int, float, str):
            return data if data == data else NotANumber("float")
        if type(data) is not list or not data or depth > DEEPEST + 2:
            raise WireError("not a value")
        try:
            value = self._unpack(*data, depth=depth)
        except TypeError:  # too few or too many parts, or a list as the key of a dict
            raise WireError("not a value") from None
        if depth == 0:
            _extent(value, {})
        return value

    def _unpack(self, tag: Any, *rest: Any, depth: int) -> Any:
        if tag == "..." and not rest:
            return ...
        if tag == "b":
            return _checked(str, *rest).encode("latin-1", "replace")
        if tag in ("t", "f"):
            return {"t": tuple, "f": frozenset}[tag](self._items(*rest, depth=depth, most=MOST_KEYS if tag == "f" else LARGEST))
        if tag == "r":
            number = _checked(int, *rest)
            if number not in self.numbered:
                raise WireError("a value that contains itself")
            return self.numbered[number]
        if tag == "c":
            return self._function(*rest)
        if tag == "o":
            return Foreign(*rest)
        if tag not in ("l", "s", "d"):
            raise WireError("not a value")
        return self._new(tag, *rest, depth=depth)

    def _function(self, side: Any, handle: Any, name: Any) -> Any:
        return self.resolve(_checked(str, side), _checked(int, handle), word(name))

    def _new(self, tag: str, number: Any, items: Any, *, depth: int) -> Any:
        value: Any = {"l": list, "s": set, "d": dict}[tag]()
        self._fill(value, items, depth)
        if _checked(int, number) in self.numbered:
            raise WireError("a number that is taken")
        self._register(value, number)
        self.arrived[number] = value.copy()
        return value

    def _items(self, items: Any, *, depth: int, most: int = LARGEST) -> list[Any]:
        if len(_checked(list, items)) > most:
            raise WireError("too many keys")
        return [self.unpack(item, depth + 1) for item in items]

    def _fill(self, value: Any, items: Any, depth: int) -> None:
        if type(value) is not list and len(_checked(list, items)) > MOST_KEYS:
            raise WireError("too many keys")
        if type(value) is dict:
            pairs = [(self.unpack(key, depth + 1), self.unpack(item, depth + 1)) for key, item in map(_pair, _checked(list, items))]
            value.clear()
            value.update(pairs)
        else:
            new = self._items(items, depth=depth)
            value.clear()
            (value.extend if type(value) is list else value.update)(new)

    def apply(self, changes: Any) -> None:
        """Change the lists, sets and dicts that were sent, as the other side has changed them."""
        for number, items in map(_pair, _checked(list, changes)):
            if _checked(int, number) not in self.numbered:
                raise WireError("a change of what was never sent")
            self._fill(self.numbered[number], items, 0)
        known: dict[int, int] = {}
        for value in self.numbered.values():
            _extent(value, known)


def _extent(value: Any, known: dict[int, int]) -> int:
    """How many values this is, those that stand in it twice counted twice: of thirty lists, each twice in the next, a billion are printed.

    Raises a WireError if these are too many, or if something contains itself.
    """
    if type(value) not in (list, set, dict, tuple, frozenset):
        return 1
    if id(value) not in known:
        known[id(value)] = LARGEST + 1  # until it is counted: whoever comes here meanwhile is inside it
        inside = [*value.keys(), *value.values()] if type(value) is dict else value
        known[id(value)] = 1 + sum(_extent(item, known) for item in inside)
    if known[id(value)] > LARGEST:
        raise WireError("a value that contains itself, or too often another")
    return known[id(value)]


def _base(value: Any) -> Any:
    return next(base for base in (list, set, dict) if issubclass(type(value), base))


def _same(before: Any, now: Any) -> bool:
    """Whether two lists, sets or dicts hold the same objects in the same order."""
    if len(before) != len(now):
        return False
    if type(before) is dict:
        return all(a is b and x is y for (a, x), (b, y) in zip(before.items(), dict.items(now), strict=True))
    return all(a is b for a, b in zip(before, now, strict=True))


def _checked(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise WireError("not a value")
    return value


def _pair(value: Any) -> Any:
    if type(value) is not list or len(value) != 2:
        raise WireError("not a pair")
    return value
