"""The people of a course, as a learning management system exports them, and the way back from its numbers to nbgrader's student ids.

Read are the gradebook that Canvas exports (Student, ID, SIS User ID, SIS Login ID, ..., Section), the grading worksheet of a Moodle
assignment (Identifier, Full name, Email address, ..., Last modified (submission), ...), and any other table with a column `student`, and
as far as it has them `name`, `email`, `lms_id` and `submitted`, the time of handing in.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from specdec_lab.errors import UserError


@dataclass(frozen=True)
class Person:
    """One student. `id` is nbgrader's, `lms_id` the number in file names, `row` the line of the export as it was."""

    id: str
    lms_id: str
    name: str
    email: str
    submitted: str
    row: dict[str, str]


@dataclass(frozen=True)
class Roster:
    """`kind` is canvas, moodle or table; `columns` those of the file, `head` the lines of Canvas above the first student."""

    kind: str
    columns: list[str]
    people: list[Person]
    head: list[dict[str, str]]

    def find(self, who: str) -> Person | None:
        """The person whom a file name means, by number or else by nbgrader's id: one's login may be the number of another."""
        return next((each for each in self.people if who and who == each.lms_id), None) or self.by_id(who)

    def by_id(self, student: str) -> Person | None:
        return next((each for each in self.people if student and student == each.id), None)


def student_id(text: str) -> str:
    """A name that is safe as a folder and that nbgrader takes: letters, digits and . _ @ - without a dot in front."""
    return re.sub(r"[^\w.@-]+", "-", text.strip()).strip(".-")[:100]


def read_roster(path: Path) -> Roster:
    """Raises UserError if the file is not there, or is none of these tables."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The list of students {path} cannot be read ({error}); export it from the LMS again, as CSV in UTF-8.") from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter, restval=""))
    columns = [column.strip() for column in next(csv.reader([first], delimiter=delimiter), [])]
    rows = [{(key or "").strip(): (value or "") for key, value in row.items() if isinstance(value, str)} for row in rows]
    if {"Student", "ID", "Section"} <= set(columns):
        head = [row for row in rows if not row["ID"].strip()]
        return Roster("canvas", columns, list(_canvas(rows)), head)
    if {"Identifier", "Full name"} <= set(columns):
        return Roster("moodle", columns, list(_moodle(rows)), [])
    if "student" in columns:
        return Roster("table", columns, list(_table(rows)), [])
    raise UserError(f"{path} is neither Canvas's gradebook, nor a grading worksheet of Moodle, nor a table with a column 'student'.")


def _canvas(rows: list[dict[str, str]]) -> Iterator[Person]:
    for row in rows:
        number = row["ID"].strip()
        if number and row["Student"].strip() != "Student, Test":
            login = row.get("SIS Login ID", "").strip()
            yield Person(
                student_id(login or row.get("SIS User ID", "") or number), number, row["Student"], login if "@" in login else "", "", row
            )


def _moodle(rows: list[dict[str, str]]) -> Iterator[Person]:
    for row in rows:
        number = (re.findall(r"\d+", row["Identifier"]) or [""])[-1]
        email = row.get("Email address", "").strip()
        submitted = row.get("Last modified (submission)", "").strip()
        id_ = row.get("Username", "") or row.get("ID number", "") or email or number
        yield Person(student_id(id_), number, row["Full name"], email, "" if submitted == "-" else submitted, row)


def _table(rows: list[dict[str, str]]) -> Iterator[Person]:
    for row in rows:
        if id_ := student_id(row["student"]):
            yield Person(id_, row.get("lms_id", ""), row.get("name", ""), row.get("email", ""), row.get("submitted", ""), row)
