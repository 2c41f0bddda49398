"""What goes over the pipe is plain data of exact types, whatever the other side means by it."""

from __future__ import annotations

import math
from collections import Counter, namedtuple
from enum import IntEnum
from fractions import Fraction

import pytest

from specdec_lab.instructor import wire
from specdec_lab.instructor.wire import Exchange, Foreign, Incoming, WireError, dumps


def refer(function):
    return "here", 7, function.__name__


def there_and_back(value):
    incoming = Incoming()
    incoming.add(dumps(["ok", Exchange(refer, lambda *reference: reference).pack(value)]))
    return Exchange(refer, lambda *reference: reference).unpack(incoming.take()[1])


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -3, 2**4000, 1.5, -0.0, 1e-320, math.inf, "", "é\ud800\0", b"\xff\0", ...),
        *((), (1, (2,)), [], [[1], []], {1: "a", "b": [2]}, {1, 2}, frozenset({"x"}), {(1, 2): {3}}),
    ],
    ids=repr,
)
def test_plain_data_comes_over_as_it_is(value):
    found = there_and_back(value)
    assert found == value and type(found) is type(value) and repr(found) == repr(value)


def test_nan_is_no_number_over_there():
    """As a float it would slip through max(abs(a - b) for ...) < 1e-9 wherever it does not stand first."""
    found = there_and_back([0.5, math.nan])
    for calculate in (lambda x: x - 1, lambda x: 1 - x, lambda x: x < 1, lambda x: max(0.0, x), abs, round):
        with pytest.raises(TypeError, match="nan came out of the code where a number belongs"):
            calculate(found[1])
    assert found[0] == 0.5 and repr(found[1]) == "nan" and not isinstance(found[1], float) and there_and_back(math.inf) == math.inf
    with pytest.raises(TypeError):
        max(abs(found[1] - 0.5), 0)


def test_what_is_small_but_endless_when_printed_is_refused():
    value: list = []
    for _ in range(45):
        value = [value, value]
    with pytest.raises(wire.WireError, match="too often another"):
        there_and_back(value)
    shared = [0]
    assert there_and_back([shared] * 1000) == [[0]] * 1000


@pytest.mark.parametrize("changes", [[[0, [["r", 0]]]], [[0, [["r", 1]]], [1, [["r", 0]]]]])
def test_arguments_cannot_be_made_to_contain_each_other(changes):
    here = wire.Exchange(refer, lambda *_: None)
    here.pack(([1], [2]))
    with pytest.raises(wire.WireError):
        here.apply(changes)


class Always(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Text(str):
    __str__ = __eq__ = lambda *_: "everything"  # type: ignore[assignment]
    __hash__ = str.__hash__


class Several(list):
    def __iter__(self):
        return iter([1, 2, 3])


Pair = namedtuple("Pair", "accepted token")
Level = IntEnum("Level", "LOW HIGH")


@pytest.mark.parametrize(
    "value, plain",
    [
        (Always(3), 3),
        (Text("a"), "a"),
        (Several([9]), [9]),
        (Pair(1, 2), (1, 2)),
        (Level.HIGH, 2),
        (Counter("aab"), {"a": 2, "b": 1}),
        (Fraction(1, 4), 0.25),
    ],
)
def test_what_is_more_than_plain_data_becomes_plain(value, plain):
    found = there_and_back(value)
    assert type(found) is type(plain) and plain == found and repr(found) == repr(plain)


def test_numbers_of_numpy_become_pythons():
    import numpy as np

    found = there_and_back([np.float64(0.5), np.float32(0.25), np.int64(3), np.bool_(True)])
    assert found == [0.5, 0.25, 3, True] and [type(x) for x in found] == [float, float, int, bool]
    assert repr(there_and_back(np.zeros(3))) == "<an object of type ndarray>"


def test_any_other_object_stays_where_it_is():
    found = there_and_back([object(), range(3), (x for x in "a")])
    assert [type(x) for x in found] == [Foreign] * 3 and found[0] != found[1]
    assert repr(Foreign("a\n<b>" * 100)).count("\n") == 0 and len(repr(Foreign("x" * 999))) < 100


def test_a_function_becomes_a_reference():
    assert there_and_back([refer]) == [("here", 7, "refer")]


def test_the_same_list_twice_is_the_same_list():
    one = [1]
    found = there_and_back([one, one])
    assert found[0] is found[1]


def call(function, *arguments):
    """As the two sides do it: the arguments go over, the function runs there, changes and result come back."""
    ours, theirs = Exchange(refer, lambda *_: None), Exchange(refer, lambda *_: None)
    result = function(*theirs.unpack(ours.pack(arguments)))
    changes, packed = theirs.changes(), theirs.pack(result)
    ours.apply(changes)
    return ours.unpack(packed), changes


def test_what_a_function_changes_is_changed_here():
    cache, table, seen, inner = [1, 2], {"a": 1}, {1}, [5]
    outer = [inner]

    def function(cache, table, seen, outer):
        cache.append([3])
        del table["a"]
        seen.add(2)
        outer[0][:] = [6]
        return cache

    result, _ = call(function, cache, table, seen, outer)
    assert (cache, table, seen, outer, inner) == ([1, 2, [3]], {}, {1, 2}, [[6]], [6])
    assert result is cache and outer[0] is inner


def test_what_a_function_leaves_alone_does_not_come_back():
    assert call(lambda a, b: len(a) + len(b), [1, [2]], {3: [4]}) == (3, [])


def test_what_is_too_large_is_refused():
    for value in (10**5000, dict.fromkeys(range(wire.MOST_KEYS + 1)), set(range(wire.MOST_KEYS + 1)), "x" * wire.LARGEST):
        with pytest.raises(WireError):
            there_and_back(value)


def test_what_is_too_deep_or_has_no_end_is_refused():
    deep: list = []
    for _ in range(1000):
        deep = [deep]
    endless: list = []
    endless.append(endless)
    for value in (deep, endless):
        with pytest.raises(WireError):
            there_and_back(value)


@pytest.mark.parametrize(
    "data",
    [
        *([], ["x"], {}, ["l"], ["l", 0], ["l", "0", []], ["l", 0, {}], ["l", True, []], ["l", 0, [["r", 0]]], ["r", 0], ["r"], ["o"]),
        *(["d", 0, [[1]]], ["d", 0, [[["l", 1, []], 2]]], ["s", 0, [["l", 1, []]]], ["t", 5], ["t", [["l", 0, []], ["l", 0, []]]]),
        *(["b", 1], ["c", "here"], ["c", 1, 2, 3], ["c", "here", "0", "x"], ["...", 1], [["t", []]]),
    ],
)
def test_what_is_no_value_is_refused(data):
    with pytest.raises(WireError):
        Exchange(refer, lambda *_: None).unpack(data)


@pytest.mark.parametrize("changes", [None, [1], [[0]], [[0, [1]]], [["0", []]], [[0, 5]]])
def test_changes_of_what_was_not_sent_are_refused(changes):
    with pytest.raises(WireError):
        Exchange(refer, lambda *_: None).apply(changes)


@pytest.mark.parametrize("data", [b"", b"[", b"{}", b"[]", b"[1]", b"\xff", b"[" * 100_000, b'["ok", ' + b"9" * 5000 + b"]", b"null"])
def test_what_is_no_message_is_refused(data):
    incoming = Incoming()
    incoming.add(len(data).to_bytes(4, "big") + data)
    with pytest.raises(WireError):
        incoming.take()


def test_messages_come_in_pieces():
    incoming, data = Incoming(), dumps(["a"]) + dumps(["b", 1])
    found = []
    for byte in data:
        incoming.add(bytes([byte]))
        message = incoming.take()
        found += [message] if message else []
    assert found == [["a"], ["b", 1]]
    incoming.add(b"\xff\xff\xff\xff")
    with pytest.raises(WireError):
        incoming.take()


@pytest.mark.parametrize("tag", ["d", "s", "f"])
def test_so_many_keys_are_refused_whoever_sends_them(tag):
    keys = [[n, 0] if tag == "d" else n for n in range(wire.MOST_KEYS + 1)]
    with pytest.raises(WireError, match="too many keys"):
        Exchange(refer, lambda *_: None).unpack(["f", keys] if tag == "f" else [tag, 0, keys])
