"""One row a student: what was done, what it earned, and what a person should look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from specdec_lab.instructor.collect import Collection
from specdec_lab.instructor.reading import LOOK, shown
from specdec_lab.instructor.repair import Repaired


class Status(str, Enum):
    """What became of a submission, in the order of the table."""

    unreadable = "unreadable"
    look = "needs a look"
    repaired = "repaired"
    graded = "graded"
    ready = "ready"
    missing = "missing"


@dataclass
class Row:
    """A student's line. `points` is none before grading; the notes begin with LOOK where a person should look."""

    student: str
    status: Status
    points: float | None = None
    worth: float | None = None
    notes: list[str] = field(default_factory=list)


def status(notes: list[str], unreadable: str | None, done: Status) -> Status:
    if unreadable:
        return Status.unreadable
    if any(note.startswith(LOOK) for note in notes):
        return Status.look
    return Status.repaired if notes else done


def row_of(student: str, repaired: Repaired) -> Row:
    """Before grading: what repair found."""
    notes = [repaired.unreadable, *repaired.notes] if repaired.unreadable else repaired.notes
    return Row(student, status(repaired.notes, repaired.unreadable, Status.ready), notes=notes)


def with_arrivals(rows: list[Row], course: Path, assignment: str, collection: Collection, people: set[str]) -> list[Row]:
    """Adds who has handed in nothing, and what the way in left open: another attempt that cannot be read, a delay of unknown length."""
    there = {row.student for row in rows}
    for row in rows:
        attempt = collection.in_place(course, assignment, row.student)
        if attempt is None:
            continue
        if not attempt.unreadable and any(each.unreadable for each in collection.attempts[row.student]):
            row.notes.append(f"{LOOK}Another file of this student cannot be read; the one that can is graded.")
        if collection.late(attempt):
            row.notes.append(
                "It came late." if attempt.time else f"{LOOK}It came late, but nothing says by how much, so nothing is taken off."
            )
        if row.status in (Status.ready, Status.graded, Status.repaired):
            row.status = status(row.notes, None, row.status)
    missing = [Row(student, Status.missing) for student in sorted((people | set(collection.people)) - there)]
    return [*rows, *missing]


def show(rows: list[Row], console: Console, title: str, loose: list[str] | None = None) -> int:
    """Prints those with something to say, then the counts; gives the exit code, 1 if somebody should look."""
    table = Table("student", "", "points", "what was found", title=title, title_justify="left")
    order = list(Status)
    for row in sorted(rows, key=lambda row: (order.index(row.status), row.student)):
        if row.status not in (Status.graded, Status.ready):
            points = "" if row.points is None else f"{row.points:g} of {row.worth:g}"
            notes = "\n".join(escape(shown(note.removeprefix(LOOK), 1000)) for note in row.notes)
            table.add_row(escape(row.student), f"[{_COLOURS[row.status]}]{row.status.value}[/]", points, notes)
    if table.row_count:
        console.print(table)
    for file in loose or []:
        console.print(f"[red]{escape(file)}: whose is it?[/] Put it into a folder with the student's name and collect that.")
    counts = Counter(row.status for row in rows)
    console.print(", ".join(f"{counts[each]} {each.value}" for each in order[::-1] if counts[each]) or "Nothing has come in yet.")
    return int(bool(counts[Status.look] or counts[Status.unreadable] or loose))


_COLOURS = {
    Status.unreadable: "red",
    Status.look: "yellow",
    Status.repaired: "cyan",
    Status.graded: "green",
    Status.ready: "green",
    Status.missing: "dim",
}
