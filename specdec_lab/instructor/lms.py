"""Marks as a file that Canvas or Moodle imports, properly quoted.

Canvas (Grades, Import). The columns Student, ID, SIS User ID, SIS Login ID, Section come first, in this order, as they were exported;
behind them a column for each assignment, `Title (4711)`; an unknown title makes a new assignment. A line "Points Possible" may stand above
the students, who are found by ID, else by SIS id, else by name. An empty mark changes nothing.
Source: `row_has_student_headers?`, `update_column_count`, `process_pp`, `process_student` in lib/gradebook_importer.rb of
instructure/canvas-lms.

Moodle (the assignment, Upload grading worksheet). The columns are those of the worksheet that was downloaded; Identifier, Grade and Last
modified (grade) have to be there, and a grade above the maximum, or one that is empty, is passed over. Source: `init` in
mod/assign/feedback/offline/importgradeslib.php and `process_import_grades` in locallib.php of moodle/moodle.
Without a worksheet (Grades, Import, CSV file): any columns, which are mapped by hand, `Username` or `Email address` to the user; a user
whom Moodle does not know stops the import. Source: docs.moodle.org, "Grade import", and `map_user_data_with_value` in
grade/import/csv/classes/load_data.php.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from specdec_lab.instructor.marks import Mark
from specdec_lab.instructor.roster import Roster

Row = dict[str, str]
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]


def canvas(marks: list[Mark], title: str, roster: Roster | None = None) -> tuple[list[str], list[Row]]:
    """Columns and rows. `title` is the assignment's in Canvas, with or without its number; marks are scaled to the points it has there."""
    if roster is None:
        worth = max((mark.worth for mark in marks), default=0.0)
        head = dict.fromkeys(CANVAS, "") | {"Student": "    Points Possible", title: _number(worth)}
        rows = [_canvas_row(mark) | {title: _number(mark.points) if mark.handed_in else ""} for mark in marks]
        return [*CANVAS, title], [head, *rows]
    column = next((name for name in roster.columns if title in (name, re.sub(r" \(\d+\)$", "", name))), title)
    columns = [*roster.columns[: roster.columns.index("Section") + 1], column]
    head_rows = [{name: row.get(name, "") for name in columns} for row in roster.head if "Points Possible" in row["Student"]]
    possible = _float(head_rows[0][column]) if head_rows else 0.0
    by_id = {mark.student: mark for mark in marks}
    rows = []
    for person in roster.people:
        mark = by_id.get(person.id)
        row = {name: person.row.get(name, "") for name in columns[:-1]}
        rows.append(row | {column: _number(_scaled(mark, possible)) if mark and mark.handed_in else ""})
    for row in head_rows:
        row[column] = row[column] or _number(max((mark.worth for mark in marks), default=0.0))
    return columns, [*head_rows, *rows]


def _canvas_row(mark: Mark) -> Row:
    number = mark.lms_id if mark.lms_id.isdigit() else ""
    return {"Student": _harmless(mark.name), "ID": number, "SIS User ID": "", "SIS Login ID": mark.student, "Section": ""}


def moodle(marks: list[Mark], title: str, roster: Roster | None = None) -> tuple[list[str], list[Row]]:
    """Columns and rows: the worksheet with its grades filled in, scaled to the maximum that it names; or a table to be mapped by hand."""
    by_id = {mark.student: mark for mark in marks}
    if roster is None:
        rows = [{"Username": mark.student, "Email address": mark.email, title: _number(mark.points)} for mark in marks if mark.handed_in]
        return ["Username", "Email address", title], rows
    rows = []
    for person in roster.people:
        mark = by_id.get(person.id)
        most = _float(person.row.get("Maximum Grade", "") or person.row.get("Maximum grade", ""))
        rows.append(person.row | ({"Grade": _number(_scaled(mark, most))} if mark and mark.handed_in else {}))
    return roster.columns, rows


def plain(marks: list[Mark]) -> tuple[list[str], list[Row]]:
    """Everything, for people and spreadsheets: the columns of `nbgrader export`, and a column for each check cell."""
    checks = list(dict.fromkeys(check for mark in marks for check in mark.checks))
    columns = ["student_id", "name", "email", "lms_user_id", "timestamp", "score", "late_submission_penalty", "max_score", *checks]
    rows = []
    for mark in marks:
        points = _number(mark.points) if mark.handed_in else ""
        person = [
            *map(_harmless, (mark.student, mark.name, mark.email, mark.lms_id)),
            mark.time,
            points,
            _number(mark.penalty),
            _number(mark.worth),
        ]
        rows.append(dict(zip(columns, person, strict=False)) | {check: _number(got.points) for check, got in mark.checks.items()})
    return columns, rows


def write(path: Path, columns: list[str], rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def _scaled(mark: Mark, most: float) -> float:
    return mark.points * most / mark.worth if most and mark.worth else mark.points


def _number(value: float) -> str:
    """Two digits behind the point, as many as Canvas keeps, and none that say nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _float(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return 0.0


def _harmless(text: str) -> str:
    """A spreadsheet would take a name that begins like this for a formula."""
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text
