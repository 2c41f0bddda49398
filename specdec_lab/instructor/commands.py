"""`specdec-lab grade`: an instructor's term, each command a thin step over nbgrader, which keeps the marks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from specdec_lab.errors import UserError

if TYPE_CHECKING:
    from specdec_lab.instructor.collect import Collection
    from specdec_lab.instructor.course import Course
    from specdec_lab.instructor.summary import Row


class Attempts(str, Enum):
    """The values of --attempts."""

    latest = "latest"
    best = "best"


app = typer.Typer(help="Knowledge checks: hand out, collect, grade and report, over nbgrader.", no_args_is_help=True, rich_markup_mode=None)
console = Console()

Folder = Annotated[Path | None, typer.Option("--course", help="The folder with nbgrader_config.py; here or quizzes/ if not given.")]
Chapter = Annotated[str, typer.Argument(help="A chapter, such as 2 or 02_greedy_verification.")]
RosterFile = Annotated[
    Path | None, typer.Option(help="Canvas's exported gradebook, Moodle's grading worksheet, or a table with a column 'student'.")
]
Exchange = Annotated[bool, typer.Option("--exchange", help="Also through nbgrader's exchange, as on JupyterHub.")]


@app.command()
def release(
    chapters: Annotated[list[str], typer.Argument(help="Chapters, such as 2 3, or all.")], course: Folder = None, exchange: Exchange = False
) -> None:
    """Make the notebooks for the students, in release/: without solutions and hidden tests."""
    from specdec_lab.instructor.repair import NOTEBOOK

    here = _course(course)
    names = [here.assignment(each) for each in chapters] if chapters != ["all"] else here.assignments()
    with _progress("Releasing", len(names)) as step:
        for name in names:
            here.release(name)
            if exchange:
                here.nbgrader("release_assignment", name)
            step(name)
    for name in names:
        console.print(f"Hand out {here.path('release', name) / NOTEBOOK}", soft_wrap=True)


@app.command()
def collect(
    chapter: Chapter,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Zips of Canvas or Moodle, folders or files; none: nbgrader's exchange.")
    ] = None,
    roster: RosterFile = None,
    student: Annotated[str, typer.Option(help="Whose it all is, where the names of the files do not say it.")] = "",
    due: Annotated[str, typer.Option(help="When it is due, such as '2026-12-01 23:59'; needed only to find what is late.")] = "",
    zone: Annotated[
        str, typer.Option("--timezone", help="Of --due and of the times in --roster, such as Europe/Berlin; this machine's.")
    ] = "",
    course: Folder = None,
) -> None:
    """Take in what the students sent; the latest attempt of each goes to submitted/. Run it as often as something arrives."""
    from specdec_lab.instructor.collect import collect as take_in
    from specdec_lab.instructor.roster import read_roster

    here = _course(course)
    name = here.assignment(chapter)
    people = read_roster(roster) if roster else None
    if not files:
        here.nbgrader("collect", name, "--update")
    with _progress("Collecting", None) as step:
        found = take_in(here.root, name, files or [], here.source(name), people, due, _zone(zone), student, step)
    here.set_people(found.people)
    if found.due:
        here.set_due(name, found.due)
    _finish(name, _checked(here, name, found), found, "What came in")


@app.command()
def check(chapter: Chapter, course: Folder = None) -> None:
    """Look at the submissions without running any: which are whole, which were mended, which need a look, and who is missing."""
    here = _course(course)
    name = here.assignment(chapter)
    found = _collection(here, name)
    _finish(name, _checked(here, name, found), found, "What came in")


@app.command()
def autograde(
    chapter: Chapter,
    student: Annotated[list[str] | None, typer.Option(help="Only this student; may be repeated.")] = None,
    attempts: Annotated[Attempts, typer.Option(help="Of several attempts, which counts.")] = Attempts.latest,
    workers: Annotated[int, typer.Option(min=0, help="Submissions graded at the same time; 0 is one a core.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is graded.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe-no-sandbox", help="Run students' code as you, with your files and network.")] = False,
    course: Folder = None,
) -> None:
    """Run the answers in a sandbox and mark them. Interrupted, it goes on where it stopped when it is run again."""
    from specdec_lab.instructor.autograde import autograde as grade_all
    from specdec_lab.instructor.best import take_best
    from specdec_lab.instructor.sandbox import find
    from specdec_lab.instructor.summary import with_arrivals

    here = _course(course)
    name = here.assignment(chapter)
    found, students = _collection(here, name), here.students(name)
    if unknown := set(student or []) - set(students):
        raise UserError(f"{', '.join(sorted(unknown))} handed in nothing for {name}; see submitted/.")
    sandbox = find(unsafe=unsafe, hidden=here.root)
    if unsafe:
        console.print("[yellow]Students' code runs without a sandbox: as you, with your files and your network.[/]")
    with _progress("Grading", None) as step:
        grading: dict[str, Any] = {"sandbox": sandbox, "workers": workers, "progress": step}
        if attempts is Attempts.best:
            take_best(here, name, found, student or students, **grading)
        rows = grade_all(here, name, student, force=force, names=lambda one: _name(here, name, found, one), **grading)
    people = set() if student else here.known_students()
    found.people = {} if student else found.people
    _finish(name, with_arrivals(rows, here.root, name, found, people), found, "Graded")


@app.command()
def feedback(chapter: Chapter, course: Folder = None, exchange: Exchange = False) -> None:
    """Write a page for each student, in feedback/: what was right, what was not, and where to read."""
    from specdec_lab.instructor.summary import Row, Status

    here = _course(course)
    name = here.assignment(chapter)
    graded = here.students(name, "autograded")
    if not graded:
        raise UserError(f"Nobody is graded yet; run: specdec-lab grade autograde {chapter}")
    with _progress("Writing feedback", len(graded)) as step:
        wrong = here.feedback(name, step)
    if exchange:
        here.nbgrader("release_feedback", name)
    rows = [Row(each, Status.look if each in wrong else Status.ready, notes=[wrong[each]] if each in wrong else []) for each in graded]
    _finish(name, rows, None, f"Feedback, in {here.root / 'feedback'}")


@app.command()
def report(
    chapter: Chapter,
    roster: RosterFile = None,
    title: Annotated[str, typer.Option(help="What the assignment is called in the LMS; the chapter's name if not given.")] = "",
    course: Folder = None,
) -> None:
    """Write the marks for Canvas, Moodle and spreadsheets, and a page of statistics, in reports/."""
    from specdec_lab.instructor.lms import canvas, moodle, plain, write
    from specdec_lab.instructor.marks import marks
    from specdec_lab.instructor.page import write_page
    from specdec_lab.instructor.roster import read_roster

    here = _course(course)
    name = here.assignment(chapter)
    if not here.students(name, "autograded"):
        raise UserError(f"Nobody is graded yet; run: specdec-lab grade autograde {chapter}")
    people = read_roster(roster) if roster else None
    if people and people.kind == "table":
        people = None
    found, title, folder = marks(here, name), title or name, here.root / "reports" / name
    write(folder / "marks.csv", *plain(found))
    for kind, form in (("canvas", canvas), ("moodle", moodle)):
        if people is None or people.kind == kind:
            columns, rows = form(found, title, people)
            write(folder / f"{kind}.csv", columns, rows)
            if people and columns[-1] not in people.columns:
                console.print(f"[yellow]{roster} has no assignment '{title}', so importing makes a new one; else name it with --title.[/]")
    write_page(folder / "statistics.html", found, f"Knowledge check {name}")
    for path in sorted(folder.iterdir()):
        console.print(str(path), soft_wrap=True)
    unknown = {mark.student for mark in found if mark.handed_in} - {each.id for each in people.people} if people else set()
    if unknown:
        console.print(f"[yellow]Not in {roster}, so not in the file for the LMS: {', '.join(sorted(unknown))}[/]")
        raise typer.Exit(1)


def _course(folder: Path | None) -> Course:
    if find_spec("nbgrader") is None:
        raise UserError("nbgrader is not installed; run: pip install 'specdec-lab[instructor]'")
    from sqlalchemy.exc import SAWarning

    from specdec_lab.instructor.course import CONFIG, Course

    warnings.simplefilter("ignore", SAWarning)  # nbgrader's gradebook warns about its own queries
    return Course(folder or (Path() if Path(CONFIG).exists() else Path("quizzes")))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name else datetime.now().astimezone().tzinfo  # type: ignore[return-value]
    except (ZoneInfoNotFoundError, ValueError):
        raise UserError(f"There is no time zone {name}; write it as Europe/Berlin.") from None


def _collection(here: Course, name: str) -> Collection:
    from specdec_lab.instructor.collect import collection

    return collection(here.root, name)


def _name(here: Course, name: str, found: Collection, student: str) -> str:
    """What a student's file was called where it came from; empty if that is not known."""
    attempt = found.in_place(here.root, name, student)
    return attempt.file if attempt else ""


def _checked(here: Course, name: str, found: Collection) -> list[Row]:
    from specdec_lab.instructor.collect import notebook_in
    from specdec_lab.instructor.repair import repair
    from specdec_lab.instructor.summary import row_of, with_arrivals

    rows, source, students = [], here.source(name), here.students(name)
    with _progress("Looking", len(students)) as step:
        for number, student in enumerate(students, 1):
            file, data = notebook_in(here.path("submitted", name, student))
            rows.append(row_of(student, repair(source, data, _name(here, name, found, student) or file)))
            step(student, number, len(students))
    return with_arrivals(rows, here.root, name, found, here.known_students())


def _finish(name: str, rows: list[Row], found: Collection | None, title: str) -> None:
    from specdec_lab.instructor.summary import show

    if show(rows, console, f"{title} · {name}", found.unclaimed if found else None):
        raise typer.Exit(1)


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """A bar on stderr that goes away at the end. What it gives is called with what is being done, and how many are done, of how many."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[now]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, now="")

        def step(now: str, done: int | None = None, of: int | None = None) -> None:
            bar.update(task, now=now, **({"advance": 1} if done is None else {"completed": done, "total": of}))

        yield step
