"""The file of measurements: whole lines count, torn ones do not, and those of another bench are refused."""

import json

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.bench import Store
from tests.measure.bench.toys import plan, workload

MACHINE = {"device": "this one", "threads": 2}


def store(folder, machine=MACHINE, **changes):
    return Store(folder, plan(**changes).as_dict(), machine)


@pytest.fixture
def held(tmp_path):
    """A folder with two measurements."""
    with store(tmp_path / "bench") as one:
        one.add("a", {"x": 1})
        one.add("b", {"x": 2.5})
    return tmp_path / "bench"


def test_what_was_written_is_there_again(held):
    with store(held) as again:
        assert again.records == {"a": {"x": 1}, "b": {"x": 2.5}}


def test_nothing_is_measured_twice(held):
    with store(held) as again, pytest.raises(AssertionError, match="twice"):
        again.add("a", {})


@pytest.mark.parametrize("torn", [b'{"key": "c", "x": 3', b"{", b'{"key": "c", "x": 3}', '{"key": "ü'.encode()[:-1]])
def test_a_torn_line_is_dropped_and_measured_again(held, torn):
    """Without its newline no line is known to be whole."""
    file = held / "measurements.jsonl"
    file.write_bytes(file.read_bytes() + torn)
    with store(held) as again:
        assert list(again.records) == ["a", "b"]
        again.add("c", {"x": 3})
    assert [json.loads(line).get("key") for line in file.read_text().splitlines()] == [None, "a", "b", "c"]


def test_a_file_whose_first_line_was_torn_begins_anew(tmp_path):
    (tmp_path / "measurements.jsonl").write_bytes(b'{"version": 1, "pl')
    with store(tmp_path) as one:
        one.add("a", {})
    with store(tmp_path) as one:
        assert list(one.records) == ["a"]


@pytest.mark.parametrize("line", ["nonsense", "[1, 2]", "{}", '{"x": 1}'])
def test_a_line_that_is_no_measurement_is_named(held, line):
    file = held / "measurements.jsonl"
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(UserError, match=r"Line 4 of .*delete that line"), store(held):
        pass


CHANGED = {
    "k": ({"k": (2, 5)}, r"other arguments \(k: 2,3 then, 2,5 now\); repeat those of before to go on with it, or give another --out"),
    "temperatures": ({"temperatures": (None, 0.5)}, r"temperatures: own then, own,0.5 now"),
    "workloads": ({"workloads": (workload("letters", 0.0),)}, r"workloads: letters,verses then, letters now"),
    "batches": ({"batches": ()}, r"batches: 1,2 then, none now"),
    "words": ({"workloads": (workload("letters", 0.1), workload("verses", 0.0))}, "the prompts of letters,verses have changed"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_other_arguments_are_refused_by_name(held, name):
    changes, says = CHANGED[name]
    with pytest.raises(UserError, match=says), store(held, **changes):
        pass
    with store(held) as again:
        assert len(again.records) == 2, "what was there has to stay"


def test_another_machine_is_refused(held):
    with pytest.raises(UserError, match=r"another machine \(device: this one then, that one now\); give another --out"):
        store(held, {**MACHINE, "device": "that one"}).__enter__()


def test_a_file_of_another_format_is_refused(held):
    file = held / "measurements.jsonl"
    file.write_text(file.read_text().replace('"version": 1', '"version": 9'))
    with pytest.raises(UserError, match="format 9"), store(held):
        pass


def test_two_benches_do_not_write_to_one_folder(held):
    with store(held), pytest.raises(UserError, match="Another bench is writing"), store(held):
        pass
    with store(held):
        pass  # free again


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Nothing can be written to"), store(tmp_path / "file" / "bench"):
        pass


def test_a_full_disk_is_said(held, monkeypatch):
    def full(fd):
        raise OSError(28, "No space left on device")

    with store(held) as one:
        monkeypatch.setattr("specdec_lab.measure.bench.store.os.fsync", full)
        with pytest.raises(UserError, match="No space left on device"):
            one.add("c", {})
