"""Marks as files for Canvas, Moodle and people, and the page of statistics."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from specdec_lab.instructor.item_analysis import questions
from specdec_lab.instructor.lms import canvas, moodle, plain, write
from specdec_lab.instructor.marks import Check, Mark, given
from specdec_lab.instructor.page import page
from specdec_lab.instructor.roster import read_roster
from specdec_lab.instructor.summary import Row, Status, show
from tests.instructor.test_collect import CANVAS_ROSTER, MOODLE_ROSTER


def mark(student: str, *points: float, answers: tuple[str, ...] = (), **more) -> Mark:
    """A mark on checks of 2 points each."""
    checks = {
        f"q{number}-check": Check(point, 2.0, (*answers, *[""] * 9)[number - 1], "" if point == 2 else "Question: think again")
        for number, point in enumerate(points, 1)
    }
    found = Mark(
        student,
        more.pop("name", student),
        more.pop("email", ""),
        more.pop("lms_id", ""),
        True,
        sum(points),
        0.0,
        2.0 * len(points),
        "",
        checks,
    )
    return replace(found, **more)


ADA = mark("ada@uni.edu", 2, 1.5, name="Lovelace, Ada", email="ada@uni.edu", lms_id="123")
BO = Mark("bo", 'O\'Neil, "Bo"', "bo@uni.edu", "124", worth=4.0)


def read(path, columns, rows):
    """What a program reads that takes the file for what RFC 4180 calls CSV."""
    write(path, columns, rows)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


@pytest.fixture
def roster(tmp_path):
    def read_it(text):
        (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
        return read_roster(tmp_path / "roster.csv")

    return read_it


def test_canvas_gets_its_own_columns_back(tmp_path, roster):
    rows = read(tmp_path / "c.csv", *canvas([ADA, BO], "Knowledge check 2", roster(CANVAS_ROSTER)))
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Knowledge check 2 (4711)"]
    assert rows[1] == ["    Points Possible", "", "", "", "", "20"]
    assert rows[2] == ["Lovelace, Ada", "123", "S1", "ada@uni.edu", "Mon, 10:00", "17.5"], "scaled from 4 points to the 20 of Canvas"
    assert rows[3] == ['O\'Neil, "Bo"', "124", "S2", "bo", "Tue", ""] and len(rows) == 4, (
        "nothing handed in changes nothing; no test student"
    )


def test_canvas_keeps_columns_that_only_some_schools_have(tmp_path, roster):
    text = "Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section\nA,123,S1,ada@uni.edu,I,R,X\n"
    rows = read(tmp_path / "c.csv", *canvas([ADA], "New", roster(text)))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section", "New"],
        ["A", "123", "S1", "ada@uni.edu", "I", "R", "X", "3.5"],
    ]


def test_canvas_without_the_gradebook(tmp_path):
    """As gradebook_importer.rb asks: Student first, ID second, SIS User ID before SIS Login ID, Section last before the marks."""
    rows = read(tmp_path / "c.csv", *canvas([ADA, BO, mark("x7Fq2", 0, 0, lms_id="x7Fq2", name="=1+1")], "02_greedy"))
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02_greedy"]
    assert rows[1] == ["    Points Possible", "", "", "", "", "4"]
    assert rows[2] == ["Lovelace, Ada", "123", "", "ada@uni.edu", "", "3.5"] and rows[3][-1] == ""
    assert rows[4] == ["'=1+1", "", "", "x7Fq2", "", "0"], "no formula, and no number that is none"


def test_moodle_gets_its_worksheet_back(tmp_path, roster):
    columns, rows = moodle([ADA, BO], "any", roster(MOODLE_ROSTER))
    got = read(tmp_path / "m.csv", columns, rows)
    before = list(csv.reader(MOODLE_ROSTER.splitlines()))
    assert got[0] == before[0] and got[2] == before[2], "a student without a submission stays as Moodle had it"
    assert got[1] == [*before[1][:4], "87.5", *before[1][5:]], "scaled from 4 points to the 100 of Moodle"


def test_moodle_without_the_worksheet(tmp_path):
    rows = read(tmp_path / "m.csv", *moodle([ADA, BO], "Check 2"))
    assert rows == [["Username", "Email address", "Check 2"], ["ada@uni.edu", "ada@uni.edu", "3.5"]]


def test_the_table_for_people(tmp_path):
    rows = read(tmp_path / "p.csv", *plain([ADA, BO]))
    assert rows[0][:3] == ["student_id", "name", "email"] and rows[0][-2:] == ["q1-check", "q2-check"]
    assert rows[1] == ["ada@uni.edu", "Lovelace, Ada", "ada@uni.edu", "123", "", "3.5", "0", "4", "2", "1.5"]
    assert rows[2] == ["bo", 'O\'Neil, "Bo"', "bo@uni.edu", "124", "", "", "0", "4", "", ""]


# Three questions: the first separates, the second misleads, the third tells nothing.
CLASS = [
    mark("a", 2, 0, 2, 2, answers=("C", "A", "7", "1")),
    mark("b", 2, 0, 2, 2, answers=("C", "A", "7", "1")),
    mark("c", 0, 2, 2, 0, answers=("B", "D", "7", "")),
    mark("d", 0, 2, 2, 0, answers=("B", "D", "7", "")),
    mark("e", 0, 0, 2, 0, answers=("<script>alert(1)</script>", "A", "7", "2")),
]


def test_no_column_for_people_is_a_formula(tmp_path):
    """Without a roster, what stands in for the number of a student is the name of a file."""
    evil = '=HYPERLINK("http://x")'
    rows = read(tmp_path / "a.csv", *plain([mark("x", 2, name=evil, email="+1", lms_id=evil), mark("@x", 2, name=" =1")]))
    assert not [text for row in rows for text in row if text.lstrip()[:1] in ("=", "+", "@")]


def test_nothing_that_a_student_wrote_moves_the_terminal():
    printed = io.StringIO()
    show([Row("ada", Status.look, notes=["Look: x [/red]\x1b]0;title\x07 \ud800 y"])], Console(file=printed, width=200), "title")
    assert "\x1b" not in printed.getvalue() and printed.getvalue().encode() and "[/red]" in printed.getvalue()


def test_difficulty_and_discrimination():
    one, two, three, four = questions([*CLASS, BO])
    assert (one.difficulty, two.difficulty, three.difficulty) == (0.4, 0.4, 1.0)
    rest = [4, 4, 4, 4, 2]  # the other questions' points, of which q1 shall be independent
    assert one.discrimination == pytest.approx(_pearson([2, 2, 0, 0, 0], rest)) and one.discrimination > 0.3
    assert two.discrimination < 0 and "look at the question" in two.verdict
    assert three.discrimination is None and three.verdict == "everybody has it: tells nothing"
    assert one.verdict == "" and four.chosen == [("Question: think again", 2), ("2", 1)]


def _pearson(x, y):
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return both / (sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)) ** 0.5


def test_the_most_chosen_distractor():
    one, two, *_ = questions(CLASS)
    assert one.chosen[0] == ("B", 2) and one.wrong == 3 and two.chosen == [("A", 3)] and two.blank == 0


def test_blank_answers_are_no_choice():
    blank = Check(0.0, 2.0, "", "AssertionError: Question 1: there is no answer yet; put a letter there.")
    found = questions([replace(mark("a", 2, 2), checks={"q1-check": blank, "q2-check": Check(2.0, 2.0)})])
    assert found[0].chosen == [] and found[0].blank == 1


@pytest.mark.parametrize("marks", [[], [BO], [ADA], CLASS[:2], CLASS])
def test_the_page_stands_alone(marks):
    text = page(marks, "Check <2>")
    assert text.startswith("<!doctype html>") and "<title>Check &lt;2&gt;</title>" in text
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)=", text), "nothing is fetched"
    assert "Lovelace" not in text and "ada@" not in text, "no student's name"
    shown = text[text.index("<body>") :] if not marks else text.split("</table>")[0].split("<table>")[-1]
    assert "<script>alert" not in shown


def test_the_page_says_what_was_found():
    text = page(CLASS, "Check 2")
    assert "5 of 5 have handed in. Mean 4.4, median 4 of 8 points; best 6, lowest 2. So few say little about a question." in text
    assert "<code>&lt;script&gt;alert(1)&lt;/script&gt;</code> (1 of 3)" in text and "<script>alert" not in text
    assert "Look at q2: below the line" in text and text.count("plotly-graph-div") == 3


@pytest.mark.parametrize(
    "source, value",
    [
        ("x = 'B'", "B"),
        ("x = 1/3", "0.3333"),
        ("x = 0.2 / 0.6", "0.3333"),
        ("x = -2 * (3 + 4.0)", "-14"),
        ("x = ['e', 'b']", "[e, b]"),
        ("x = ...\nx = 5", "5"),
        ("x = 5\nx = ...", ""),
        ("x, y = 7, 8", "7"),
        ("y = x = 3", "3"),
        ("y = 1", ""),
        ("x = chr(68)", "chr(68)"),
        ("x = 1/0", "1 / 0"),
        ("x = 9 ** 9 ** 9", "9 ** 9 ** 9"),
        ("x = 'a' * 10 ** 9", "'a' * 10 ** 9"),
        ("def x(): pass", ""),
        ("x = (", ""),
        ("x = " + "+".join(["1"] * 800), None),
        ("x = " + "+".join(["1"] * 1500), None),
        ("x = " + "+".join(["1"] * 5000), None),
    ],
)
def test_what_was_answered_is_read_without_running_it(source, value):
    found = given(source, "x")
    assert found == value if value is not None else len(found) <= 60
