"""Collecting: zips as Canvas and Moodle make them, folders and loose files; who it is, which attempt counts, and what is late."""

from __future__ import annotations

import io
import json
import os
import zipfile
from datetime import timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from specdec_lab.errors import UserError
from specdec_lab.instructor.collect import collect, collection, hand_in, moment, notebook_in
from specdec_lab.instructor.deliveries import copy_number, delivered, rank, stem
from specdec_lab.instructor.roster import read_roster, student_id
from tests.instructor.handed_in import CHAPTER, changed, filled_in, saved, source

ONE, TWO = saved(filled_in({})), changed(lambda notebook: notebook["cells"].pop())
NAME = "knowledge_check.ipynb"


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def inner(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def folder(path: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def take_in(tmp_path: Path, *paths: Path, roster=None, due="", zone=timezone.utc):
    return collect(tmp_path / "course", CHAPTER, list(paths), source(), roster, due, zone)


def handed_in(tmp_path: Path) -> dict[str, bytes]:
    return {path.parts[-3]: path.read_bytes() for path in (tmp_path / "course" / "submitted").glob(f"*/{CHAPTER}/{NAME}")}


def stamp(tmp_path: Path, student: str) -> str:
    return (tmp_path / "course" / "submitted" / student / CHAPTER / "timestamp.txt").read_text().strip()


CANVAS_ROSTER = '''Student,ID,SIS User ID,SIS Login ID,Section,Knowledge check 2 (4711),Current Score
    Points Possible,,,,,20,(read only)
"Lovelace, Ada",123,S1,ada@uni.edu,"Mon, 10:00",,
"O'Neil, ""Bo""",124,S2,bo,Tue,,
"Student, Test",999,,abcdef,Tue,,
'''
MOODLE_ROSTER = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (submission)","Last modified (grade)"
"Participant 7085","Ada Lovelace",ada@uni.edu,"Submitted for grading",-,100.00,"Tuesday, December 1, 2026, 9:05 PM",-
"Participant 7086","Bo, O'Neil",bo@uni.edu,"No submission",-,100.00,-,-
"""


def roster(tmp_path: Path, text: str):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8-sig")
    return read_roster(path)


def test_a_zip_of_canvas(tmp_path):
    path = zipped(
        tmp_path / "submissions.zip",
        {
            "lovelaceada_123_9001_knowledge_check.ipynb": ONE,
            "oneilbo_LATE_124_9002_knowledge_check-1.ipynb": TWO,
            "anon_x7Fq2_9003_knowledge_check.ipynb": ONE,
            "nobody_125_9004_knowledge_check (1).ipynb.json": TWO,
            "__MACOSX/._lovelaceada_123_9001_knowledge_check.ipynb": b"junk",
        },
    )
    found = take_in(tmp_path, path)
    assert handed_in(tmp_path) == {"123": ONE, "124": TWO, "x7Fq2": ONE, "125": TWO}
    assert [found.late(found.attempts[student][0]) for student in ("123", "124")] == [False, True]
    assert found.people["123"] == {"name": "lovelaceada", "email": "", "lms_id": "123"}


def test_a_zip_of_canvas_with_the_gradebook(tmp_path):
    path = zipped(tmp_path / "submissions.zip", {"lovelaceada_123_9001_knowledge_check.ipynb": ONE, "x_777_1_knowledge_check.ipynb": ONE})
    found = take_in(tmp_path, path, roster=roster(tmp_path, CANVAS_ROSTER))
    assert handed_in(tmp_path) == {"ada@uni.edu": ONE, "777": ONE}
    assert found.people["ada@uni.edu"] == {"name": "Lovelace, Ada", "email": "ada@uni.edu", "lms_id": "123"}
    assert found.people["bo"]["name"] == 'O\'Neil, "Bo"' and "999" not in found.people and len(found.people) == 3


@pytest.mark.parametrize(
    "name",
    [
        "Ada Lovelace_7085_assignsubmission_file_/knowledge_check.ipynb",
        "Ada Lovelace_7085_assignsubmission_file/work/knowledge_check (1).ipynb",
        "Ada Lovelace_7085_assignsubmission_file_knowledge_check.ipynb",
        "Kurs/Ada Lovelace_7085_assignsubmission_file_/knowledge_check-1.ipynb",
    ],
)
def test_a_zip_of_moodle(tmp_path, name):
    other = {"Ada Lovelace_7085_assignsubmission_onlinetext_/onlinetext.html": b"<p>done"}
    found = take_in(tmp_path, zipped(tmp_path / "a.zip", {name: ONE, **other}), roster=roster(tmp_path, MOODLE_ROSTER))
    assert handed_in(tmp_path) == {"ada@uni.edu": ONE} and len(found.attempts["ada@uni.edu"]) == 1
    assert found.people["bo@uni.edu"]["lms_id"] == "7086" and stamp(tmp_path, "ada@uni.edu") == "2026-12-01 21:05:00.000000 UTC"


def test_times_are_those_of_the_place(tmp_path):
    path = zipped(tmp_path / "a.zip", {"Ada Lovelace_7085_assignsubmission_file_/knowledge_check.ipynb": ONE})
    people = roster(tmp_path, MOODLE_ROSTER)
    found = take_in(tmp_path, path, roster=people, due="2026-12-01 21:00", zone=ZoneInfo("Europe/Berlin"))
    assert found.due == "2026-12-01 20:00:00.000000 UTC" and stamp(tmp_path, "ada@uni.edu") == "2026-12-01 20:05:00.000000 UTC"
    assert found.late(found.attempts["ada@uni.edu"][0])
    later = take_in(tmp_path, due="2026-12-01 21:06", zone=ZoneInfo("Europe/Berlin"))
    assert not later.late(later.attempts["ada@uni.edu"][0]), "a due date that is put off makes it punctual"


@pytest.mark.parametrize(
    "files, students",
    [
        ({f"ada/{NAME}": ONE, f"bo/{CHAPTER}/{NAME}": TWO}, {"ada": ONE, "bo": TWO}),
        ({f"submitted/ada/{CHAPTER}/knowledge_check (2).ipynb": ONE}, {"ada": ONE}),
        ({f"ada+{CHAPTER}+2026-11-30 10:00:00 UTC+abc/{NAME}": ONE}, {"ada": ONE}),
        ({"ada.ipynb": ONE, "knowledge_check_bo.ipynb": TWO, "cy_knowledge-check (1).ipynb.json": ONE}, {"ada": ONE, "bo": TWO, "cy": ONE}),
        ({f"ada/.ipynb_checkpoints/{NAME}": TWO, f"ada/{NAME}": ONE, "ada/.DS_Store": b"x"}, {"ada": ONE}),
        ({"Ada Lovelace/../x.ipynb".replace("..", "up"): ONE}, {"up": ONE}),
        ({"ada/plot.png": b"\x89PNG", "ada/notes.txt": b"hello", f"ada/{NAME}": ONE}, {"ada": ONE}),
        ({"ada/homework.zip": inner({f"x/{NAME}": ONE, "__MACOSX/._x": b""})}, {"ada": ONE}),
        (
            {"ada/homework.zip": inner({f"x/{NAME}": ONE}), "bo/plain.zip": inner({"a.png": b"1"})},
            {"ada": ONE, "bo": inner({"a.png": b"1"})},
        ),
        ({"class.zip": inner({f"ada/{NAME}": ONE, "bo/homework.zip": inner({NAME: TWO})})}, {"ada": ONE, "bo": TWO}),
        ({"ada/report.pdf": b"%PDF-1.7"}, {"ada": b"%PDF-1.7"}),
    ],
)
def test_folders_and_loose_files(tmp_path, files, students):
    take_in(tmp_path, folder(tmp_path / "in", files))
    assert handed_in(tmp_path) == students


def test_a_single_file_and_one_that_is_nobodys(tmp_path):
    files = folder(tmp_path / "in", {"ada.ipynb": ONE, "knowledge_check (3).ipynb": TWO})
    found = take_in(tmp_path, files / "ada.ipynb", files / "knowledge_check (3).ipynb")
    assert handed_in(tmp_path) == {"ada": ONE} and found.unclaimed == ["knowledge_check (3).ipynb"]


def test_a_name_in_a_zip_is_only_a_name(tmp_path):
    take_in(tmp_path, zipped(tmp_path / "a.zip", {"../../../evil/knowledge_check.ipynb": ONE, "/abs/knowledge_check.ipynb": TWO}))
    assert handed_in(tmp_path) == {"evil": ONE, "abs": TWO}
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip", "course"}


def test_the_latest_attempt_counts(tmp_path):
    files = {"a_1_10_knowledge_check.ipynb": ONE, "a_1_9_knowledge_check-1.ipynb": TWO, "b_2_1_x.ipynb": ONE, "b_2_2_x (1).ipynb": TWO}
    found = take_in(tmp_path, zipped(tmp_path / "a.zip", files))
    assert handed_in(tmp_path) == {"1": ONE, "2": TWO} and [len(each) for each in found.attempts.values()] == [2, 2]
    assert all((found.folder / student / f"{each.digest}.ipynb").exists() for student, them in found.attempts.items() for each in them)


def test_of_browser_copies_the_last_counts_and_time_before_all(tmp_path):
    take_in(tmp_path, folder(tmp_path / "in", {"ada/knowledge_check.ipynb": TWO, "ada/knowledge_check (1).ipynb": ONE}))
    assert handed_in(tmp_path) == {"ada": ONE}
    stamped = {"ada/timestamp.txt": b"2026-11-30 10:00:00 UTC", f"ada/{NAME}": TWO}
    take_in(tmp_path, folder(tmp_path / "later", stamped))
    assert handed_in(tmp_path) == {"ada": TWO} and stamp(tmp_path, "ada").startswith("2026-11-30 10:00:00")


def test_an_attempt_that_cannot_be_read_does_not_push_out_one_that_can(tmp_path):
    files = {"a_1_1_knowledge_check.ipynb": ONE, "a_1_2_knowledge_check-1.ipynb": b"<html>Sign in"}
    found = take_in(tmp_path, zipped(tmp_path / "a.zip", files))
    assert handed_in(tmp_path) == {"1": ONE} and sum(bool(each.unreadable) for each in found.attempts["1"]) == 1


def test_once_more_changes_nothing_and_something_new_is_graded_anew(tmp_path):
    first = zipped(tmp_path / "a.zip", {"a_1_1_knowledge_check.ipynb": ONE})
    take_in(tmp_path, first)
    graded = folder(tmp_path / "course" / "autograded" / "1" / CHAPTER, {NAME: b"{}"}) / NAME
    before = (tmp_path / "course" / "collected" / CHAPTER / "collection.json").read_bytes()
    take_in(tmp_path, first)
    assert graded.exists() and (tmp_path / "course" / "collected" / CHAPTER / "collection.json").read_bytes() == before
    take_in(tmp_path, zipped(tmp_path / "b.zip", {"a_1_2_knowledge_check.ipynb": TWO}))
    assert not graded.exists() and handed_in(tmp_path) == {"1": TWO}
    assert len(collection(tmp_path / "course", CHAPTER).attempts["1"]) == 2


def test_what_was_chosen_stays_until_something_new_arrives(tmp_path):
    """As after `autograde --attempts best`."""
    path = zipped(tmp_path / "a.zip", {"a_1_1_knowledge_check.ipynb": ONE, "a_1_2_knowledge_check-1.ipynb": TWO})
    found = take_in(tmp_path, path)
    hand_in(tmp_path / "course", found, CHAPTER, "1", found.attempts["1"][0])
    take_in(tmp_path, path)
    assert handed_in(tmp_path) == {"1": ONE}
    (tmp_path / "course" / "submitted" / "1" / CHAPTER / NAME).write_bytes(b"mended by hand")
    take_in(tmp_path, path)
    assert handed_in(tmp_path) == {"1": b"mended by hand"}
    three = changed(lambda notebook: notebook["cells"].pop(0))
    take_in(tmp_path, zipped(tmp_path / "b.zip", {"a_1_3_knowledge_check-2.ipynb": three}))
    assert handed_in(tmp_path) == {"1": three}


def test_what_cannot_be_opened_is_said_in_a_sentence(tmp_path):
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    for path, says in [(tmp_path / "broken.zip", "cannot be unpacked"), (tmp_path / "none.zip", "There is no")]:
        with pytest.raises(UserError, match=says):
            take_in(tmp_path, path)
    with pytest.raises(UserError, match="is no time"):
        take_in(tmp_path, due="tomorrow-ish")
    with pytest.raises(UserError, match="neither Canvas's gradebook"):
        roster(tmp_path, "a,b\n1,2\n")
    with pytest.raises(UserError, match="cannot be read"):
        read_roster(tmp_path / "none.csv")


def test_a_students_broken_zip_is_his_submission(tmp_path):
    take_in(tmp_path, zipped(tmp_path / "a.zip", {"a_1_1_work.zip": b"PK\x03\x04 and no more", "b_2_1_knowledge_check.ipynb": ONE}))
    assert handed_in(tmp_path) == {"1": b"PK\x03\x04 and no more", "2": ONE}


def not_utf_8() -> bytes:
    data = bytearray(inner({"xx.ipynb": ONE}).replace(b"xx.ipynb", b"\xff\xfe.ipynb"))
    for header, flag in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.find(header) + flag] |= 8
    return bytes(data)


def deflated(content: bytes, files: int = 1) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(files):
            archive.writestr(f"{number}.ipynb", content + bytes(number))
    return data.getvalue()


ZIPS = {
    "a name that is no UTF-8": not_utf_8(),
    "damaged in the middle": deflated(ONE)[:40] + b"\xff" * 12 + deflated(ONE)[52:],
    "a number that Python does not read": inner({f"knowledge_check ({'9' * 5000}).ipynb": ONE}),
}


@pytest.mark.parametrize("what", ZIPS)
def test_a_students_zip_stops_nobody_else(tmp_path, what):
    take_in(tmp_path, zipped(tmp_path / "a.zip", {"a_1_1_work.zip": ZIPS[what], "b_2_1_knowledge_check.ipynb": ONE}))
    assert handed_in(tmp_path) in ({"1": ZIPS[what], "2": ONE}, {"1": ONE, "2": ONE})


def test_a_small_zip_with_much_in_it_fills_neither_memory_nor_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("specdec_lab.instructor.deliveries.LARGEST", 2**20)
    take_in(tmp_path, zipped(tmp_path / "a.zip", {"a_1_1_work.zip": deflated(bytes(2**19 + 1), 9), "b_2_1_k.ipynb": ONE}))
    assert sum(path.stat().st_size for path in (tmp_path / "course" / "collected").rglob("*") if path.is_file()) < 2**20 + 2 * len(ONE)


@pytest.mark.parametrize(
    "mine, other",
    [
        ("a_1_1_x_2_assignsubmission_file_k.ipynb", "b_2_1_k.ipynb"),
        ("a_1_1_x_2_9_k.ipynb", "b_2_1_k.ipynb"),
        ("Ada_1_assignsubmission_file_x_2_assignsubmission_file_k.ipynb", "Bo_2_assignsubmission_file_k.ipynb"),
        ("Ada_1_assignsubmission_file_x_2_9_k.ipynb", "Bo_2_assignsubmission_file_k.ipynb"),
        ("x_2_assignsubmission_file_1_assignsubmission_file/k.ipynb", "Bo_2_assignsubmission_file/k.ipynb"),
    ],
)
def test_nobody_hands_in_for_somebody_else_by_the_name_of_a_file(tmp_path, mine, other):
    take_in(tmp_path, zipped(tmp_path / "a.zip", {mine: TWO, other: ONE}))
    assert handed_in(tmp_path) == {"1": TWO, "2": ONE}


@pytest.mark.parametrize("time", [b"1999-01-01 00:00:00 UTC", b"never", b"0001-01-01 00:00 +14:00", b"9" * 10**6])
def test_a_timestamp_among_the_files_of_an_lms_is_only_a_file(tmp_path, time):
    files = {"Ada_1_assignsubmission_file/k.ipynb": ONE, "Ada_1_assignsubmission_file/timestamp.txt": time}
    take_in(tmp_path, zipped(tmp_path / "a.zip", files), folder(tmp_path / "b", {"bo/k.ipynb": ONE, "bo/timestamp.txt": time}))
    assert handed_in(tmp_path) == {"1": ONE, "bo": ONE}
    assert not (tmp_path / "course" / "submitted" / "1" / CHAPTER / "timestamp.txt").exists()


def test_names_from_an_old_zip(tmp_path):
    """On the disk they are no UTF-8."""
    (tmp_path / "in").mkdir()
    for name in (b"Andr\xe9.ipynb", b"Andr\xe8.ipynb"):
        Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/" + name)).write_bytes(ONE)
    take_in(tmp_path, tmp_path / "in")
    assert handed_in(tmp_path) == {"André": ONE, "Andrè": ONE}


def test_a_login_that_is_the_number_of_somebody_else(tmp_path):
    people = roster(tmp_path, "student,lms_id\n7,1\nada,7\n")
    assert people.find("7").id == "ada" and people.by_id("7").lms_id == "1"


@pytest.mark.parametrize(
    "file, name, number",
    [
        ("knowledge_check.ipynb", "knowledge_check", 0),
        ("knowledge_check (1).ipynb", "knowledge_check", 1),
        ("knowledge_check(12).ipynb", "knowledge_check", 12),
        ("knowledge_check-1.ipynb", "knowledge_check", 1),
        ("knowledge_check.ipynb.json", "knowledge_check", 0),
        ("knowledge_check (2).ipynb.json", "knowledge_check", 2),
        ("knowledge_check-Copy1.ipynb", "knowledge_check", 1),
        ("knowledge_check-Copy1 (1).ipynb", "knowledge_check", 1),
        ("Copy of knowledge_check.ipynb", "knowledge_check", 0),
        ("Knowledge_Check.IPYNB", "Knowledge_Check", 0),
        ("knowledge_check", "knowledge_check", 0),
    ],
)
def test_renamed_files(file, name, number):
    assert stem(file) == name and copy_number(file) == number


def test_which_file_is_the_notebook():
    names = ["a.ipynb", "a.ipynb.json", "a.ipynb.txt", "a.json", "a", "a.txt", "a.py", "a.pdf"]
    assert [rank(name) for name in names] == sorted(rank(name) for name in names) and rank("A.IPYNB") == 0


def test_a_notebook_is_found_whatever_it_is_called(tmp_path):
    assert notebook_in(tmp_path / "none") == ("", b"") and notebook_in(folder(tmp_path / "e", {"timestamp.txt": b""})) == ("", b"")
    files = {"knowledge_check (1).ipynb": ONE, "data.csv": b"1", "timestamp.txt": b""}
    assert notebook_in(folder(tmp_path / "a", files)) == ("knowledge_check (1).ipynb", ONE)
    assert notebook_in(folder(tmp_path / "b", {**files, NAME: TWO})) == (NAME, TWO)


@pytest.mark.parametrize(
    "text, id_", [("ada@uni.edu", "ada@uni.edu"), ("../../x", "x"), ("Ada Lovelace", "Ada-Lovelace"), ("é ü", "é-ü"), ("..", "")]
)
def test_a_students_id_is_safe(text, id_):
    assert student_id(text) == id_


def test_a_table_of_ones_own_and_semicolons(tmp_path):
    people = roster(tmp_path, "student;name;lms_id;submitted\nada;Lovelace, Ada;7;2026-11-30T10:00+02:00\n")
    assert people.kind == "table" and people.find("7").id == "ada"
    take_in(tmp_path, zipped(tmp_path / "a.zip", {"x_7_1_knowledge_check.ipynb": ONE}), roster=people)
    assert stamp(tmp_path, "ada") == "2026-11-30 08:00:00.000000 UTC"


def test_times():
    assert moment("2026-12-01 23:59:00 UTC", ZoneInfo("Asia/Tokyo")).isoformat() == "2026-12-01T23:59:00+00:00"
    assert json.dumps(str(moment("Wednesday, September 23, 2020, 9:00 PM", timezone.utc))) == '"2020-09-23 21:00:00+00:00"'


def test_everything_is_delivered_once(tmp_path):
    path = zipped(tmp_path / "a.zip", {f"s{number}_{number}_{number}_knowledge_check.ipynb": ONE for number in range(1, 30)})
    assert len(list(delivered([path], CHAPTER))) == 29
