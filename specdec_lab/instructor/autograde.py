"""Marks for a whole class: many submissions are repaired and graded at a time, then one process writes them into nbgrader's gradebook.

nbgrader's own Autograde does the writing, over notebooks that are known to be in order, with one of its steps replaced: no code runs, the
outputs that our grader found are filled in (outputs.py). What is kept between the two, and between two runs, lies in `grading/` beside
`submitted/`; it can be deleted at any time, and what is missing is graded again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.preprocessors import Execute

from specdec_lab.errors import UserError
from specdec_lab.instructor.collect import notebook_in
from specdec_lab.instructor.course import Course
from specdec_lab.instructor.outputs import FillIn
from specdec_lab.instructor.reading import LOOK
from specdec_lab.instructor.repair import NOTEBOOK
from specdec_lab.instructor.sandbox import Limits, Sandbox
from specdec_lab.instructor.summary import Row, Status, status
from specdec_lab.instructor.variants import spellings
from specdec_lab.instructor.view import own_files
from specdec_lab.instructor.workers import Job, work_all

FOLDER = "grading"
Progress = Callable[[str, int, int], None]


def autograde(
    course: Course,
    assignment: str,
    students: list[str] | None = None,
    *,
    sandbox: Sandbox,
    limits: Limits | None = None,
    workers: int = 0,
    force: bool = False,
    names: Callable[[str], str] = lambda student: "",
    progress: Progress = lambda what, done, of: None,
) -> list[Row]:
    """Grade what lies in `submitted/` for this assignment and is not graded yet, all of it with `force`; a row for each.

    students: only these. workers: submissions at a time; 0 is one a core. names: what a student's file was called where it came from, or
    an empty text. progress: called with "graded" and "written", how many are done, and of how many. The points in a row are those that the
    checks gave. Raises UserError if the knowledge check has not been released: nbgrader knows it from then on.
    """
    if not course.is_released(assignment):
        raise UserError(f"{assignment} is not in the gradebook yet; run: specdec-lab grade release {assignment}")
    grading = course.root / FOLDER / assignment
    present = [student for student in course.students(assignment) if students is None or student in students]
    jobs, job_of = [], _jobs(course, assignment, sandbox, limits)
    for student in present:
        folder = course.path("submitted", assignment, student)
        file = folder / (notebook_in(folder)[0] or NOTEBOOK)
        jobs.append(job_of(student, file, names(student), grading / f"{student}.json"))
    _grade(jobs, workers, force, progress)
    with _alone(grading):
        with course.gradebook() as gradebook:
            known = {each.student.id for each in gradebook.assignment_submissions(assignment)}
        unwritten = [job for job in jobs if force or job.student not in known or not _is_written(course, assignment, job)]
        failed = _write(course, assignment, unwritten, lambda done: progress("written", done, len(unwritten)))
    worth = sum(_worth(course, assignment))
    return [_row(job, worth, failed) for job in jobs]


def points(
    course: Course,
    assignment: str,
    attempts: list[tuple[str, Path]],
    *,
    sandbox: Sandbox,
    limits: Limits | None = None,
    workers: int = 0,
    progress: Progress = lambda what, done, of: None,
) -> list[float]:
    """What each of these attempts (student, file) would get, in their order; nothing is written into the gradebook."""
    folder = course.root / FOLDER / assignment / "attempts"
    jobs, job_of = [], _jobs(course, assignment, sandbox, limits)
    for student, file in attempts:
        outcome = folder / f"{student}-{hashlib.sha256(str(file).encode()).hexdigest()[:16]}.json"
        jobs.append(job_of(student, file, file.name, outcome))
    _grade(jobs, workers, False, progress)
    return [_earned(_outcome(job)) for job in jobs]


def _jobs(course: Course, assignment: str, sandbox: Sandbox, limits: Limits | None) -> Callable[[str, Path, str, Path], Job]:
    """What makes a job of a student, a file, what the file was called, and where the outcome goes."""
    source = str(course.root / "source" / assignment / NOTEBOOK)
    wanted, salt, ids = asdict(limits or Limits()), course.salt(assignment), course.ids()

    def job_of(student: str, file: Path, name: str, outcome: Path) -> Job:
        own = ids.get(student) or spellings([student])
        return Job(student, source, str(file), name or file.name, str(outcome), sandbox.way, str(course.root), wanted, salt, own)

    return job_of


def _grade(jobs: list[Job], workers: int, force: bool, progress: Progress) -> None:
    wanted = [job for job in jobs if force or not job.done()]
    finished = 0

    def count(job: Job) -> None:
        nonlocal finished
        finished += 1
        progress("graded", finished, len(wanted))

    work_all(wanted, workers or os.cpu_count() or 1, count)


def _outcome(job: Job) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(job.outcome).read_text(encoding="utf-8"))
    return found


def _earned(outcome: dict[str, Any]) -> float:
    return float(sum(check["points"] for check in outcome["checks"].values()))


def _worth(course: Course, assignment: str) -> list[float]:
    cells = [cell.metadata.get("nbgrader", {}) for cell in course.source(assignment).cells]
    return [float(cell["points"]) for cell in cells if cell.get("grade")]


def _row(job: Job, worth: float, failed: dict[str, str]) -> Row:
    found = _outcome(job)
    looks = [*found["notes"], *([failed[job.student]] if job.student in failed else [])]
    stopped = [f"{id_}: {answer['error']}" for id_, answer in found["answers"].items() if answer["error"]]
    notes = [*found["repairs"], *(f"{LOOK}{note}" for note in looks)]
    what = status(notes, found["unreadable"], Status.graded)
    own = [found["unreadable"]] if found["unreadable"] else []
    return Row(job.student, what, _earned(found), worth, [*own, *notes, *stopped])


# ---- the one writer


@contextlib.contextmanager
def _alone(grading: Path) -> Iterator[None]:
    """Only one process writes into the gradebook. Raises UserError if another one does."""
    import fcntl

    grading.mkdir(parents=True, exist_ok=True)
    with open(grading.parent / "writing", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError("Another autograde is writing into this gradebook; wait for it, and run this one again.") from None
        yield


def _is_written(course: Course, assignment: str, job: Job) -> bool:
    """Whether nbgrader has this very outcome; the writer leaves its key behind."""
    note = Path(job.outcome).with_suffix(".written")
    there = (course.path("autograded", assignment, job.student) / NOTEBOOK).exists()
    return there and note.exists() and note.read_text() == _outcome(job)["key"]


def _write(course: Course, assignment: str, jobs: list[Job], progress: Callable[[int], None]) -> dict[str, str]:
    """Put these outcomes into the gradebook and into `autograded/`. Gives for each student for whom that failed the reason."""
    if not jobs:
        return {}
    staged = course.root / FOLDER / "repaired"
    shutil.rmtree(staged, ignore_errors=True)
    for job in jobs:
        folder = staged / job.student / assignment
        folder.mkdir(parents=True)
        nbformat.write(nbformat.from_dict(_outcome(job)["notebook"]), folder / NOTEBOOK)
        for beside in filter(Path.is_file, own_files(Path(job.file).parent)):  # also what nbgrader's exchange needs on the way back
            shutil.copy(beside, folder)
    # An exception is about some of them; those that failed have no notebook in autograded/. nbgrader's queries warn on every student.
    with contextlib.suppress(NbGraderException), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _writer(course, assignment, staged, progress).start()
    shutil.rmtree(staged, ignore_errors=True)
    failed = {}
    for job in jobs:
        if (course.path("autograded", assignment, job.student) / NOTEBOOK).exists():
            Path(job.outcome).with_suffix(".written").write_text(_outcome(job)["key"])
        else:
            failed[job.student] = f"nbgrader could not write the marks. Its reason: nbgrader autograde {assignment} --student {job.student}"
    return failed


def _writer(course: Course, assignment: str, staged: Path, progress: Callable[[int], None]) -> Autograde:
    config, directory = course.config(), course.directory(assignment)
    directory.submitted_directory = str(staged.relative_to(course.root))
    config.FillIn.outcomes = str(course.root / FOLDER / assignment)
    log = logging.Logger("nbgrader")
    log.addHandler(logging.NullHandler())
    writer = Autograde(coursedir=directory, config=config, log=log)
    writer.force = True
    writer.autograde_preprocessors = [FillIn if step is Execute else step for step in writer.autograde_preprocessors]
    done, hook = 0, writer.post_convert_hook

    def count(**what: Any) -> None:
        nonlocal done
        done += 1
        progress(done)
        if hook:
            hook(**what)

    writer.post_convert_hook = count
    return writer
