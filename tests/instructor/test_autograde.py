"""A class of everything that comes in goes through the two phases into nbgrader's gradebook, and a second run does only what is new."""

from __future__ import annotations

import copy
import fcntl
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import nbformat
import pytest

from specdec_lab.errors import UserError
from specdec_lab.instructor import workers
from specdec_lab.instructor.autograde import autograde, points
from specdec_lab.instructor.course import Course
from specdec_lab.instructor.reading import LOOK
from specdec_lab.instructor.sandbox import Limits, find
from specdec_lab.instructor.summary import Row, Status
from specdec_lab.instructor.workers import Job, work_all
from tests.instructor.bank_hostile import ENDLESS, HOSTILE
from tests.instructor.handed_in import entered
from tests.instructor.test_hostile import CHAPTER, KEY
from tests.quizzes.source import QUIZZES, bank

FILE = "knowledge_check.ipynb"
LIMITS = Limits(cell_seconds=1.0, total_seconds=30.0)
LATE = bank(CHAPTER).LEARNERS["late"][0]
POINTS = {
    "perfect": 20.0,
    "late": 20.0 - sum(bank(CHAPTER).LEARNERS["late"][1].values()),
    "untouched": 0.0,
    "endless": 16.0,
    "exits": 20.0,
    "loud": 20.0,
    "renamed": 20.0,
    "copied": 20.0,
    "webpage": 0.0,
    "broken": 0.0,
    "empty": 0.0,
    "link": 0.0,
    "forger": 14.0,
    "nobody's ünïcode, name": 20.0,
}


def write(folder: Path, answers: dict[str, str] | None, name: str = FILE) -> nbformat.NotebookNode:
    """Hands in the release with these answers in the place of the key; none: as it was handed out."""
    notebook = nbformat.read(folder.parents[2] / "release" / CHAPTER / FILE, as_version=4)
    for cell in notebook.cells:
        if answers is not None:
            cell.source = (entered(folder.parent.name) | answers).get(cell.id, KEY.get(cell.id, cell.source))
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / name)
    return notebook


def hand_in(course: Course) -> None:
    from tests.instructor.bank_attacks import ATTACKS

    def of(student: str) -> Path:
        return course.path("submitted", CHAPTER, student)

    for student in ("perfect", "nobody's ünïcode, name"):
        write(of(student), {})
    write(of("late"), LATE)
    write(of("untouched"), None)
    write(of("endless"), HOSTILE["a function that never ends"][0])
    write(of("exits"), HOSTILE["os._exit"][0])
    write(of("loud"), HOSTILE["half a character"][0])
    write(of("forger"), ATTACKS["points forged"][0])
    write(of("renamed"), {}, "knowledge_check (1).ipynb")
    notebook = write(of("copied"), {})
    check = next(cell for cell in notebook.cells if cell.id == "q5-check")
    notebook.cells.append(nbformat.from_dict({**copy.deepcopy(check), "id": "another"}))
    nbformat.write(notebook, of("copied") / FILE)
    for student, text in (("webpage", "<!DOCTYPE html><html></html>"), ("broken", '{"cells": [')):
        of(student).mkdir(parents=True)
        (of(student) / FILE).write_text(text)
    of("empty").mkdir(parents=True)
    of("link").mkdir(parents=True)
    (of("link") / FILE).symlink_to(course.root / "source" / CHAPTER / FILE)


def run(course: Course, **options: object) -> dict[str, Row]:
    rows = autograde(course, CHAPTER, sandbox=find(hidden=course.root), limits=LIMITS, workers=2, **options)  # type: ignore[arg-type]
    return {row.student: row for row in rows}


def marks(course: Course) -> dict[str, float]:
    with course.gradebook() as gradebook:
        return {each.student.id: each.score for each in gradebook.assignment_submissions(CHAPTER)}


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> tuple[Course, dict[str, Row]]:
    root = tmp_path_factory.mktemp("class") / "quizzes"
    root.mkdir()
    shutil.copy(QUIZZES / "nbgrader_config.py", root)
    shutil.copytree(QUIZZES / "source" / CHAPTER, root / "source" / CHAPTER)
    course = Course(root)
    with pytest.raises(UserError, match="is not in the gradebook yet"):
        run(course)
    course.release(CHAPTER)
    hand_in(course)
    return course, run(course)


def test_everybody_has_the_marks_in_the_gradebook(graded):
    course, rows = graded
    assert marks(course) == POINTS == {student: row.points for student, row in rows.items()}
    assert {row.worth for row in rows.values()} == {20.0}


def test_everybody_has_a_row(graded):
    _, rows = graded
    found = {student: row.status for student, row in rows.items()}
    unread = dict.fromkeys(("webpage", "broken", "empty", "link"), Status.unreadable)
    fine = dict.fromkeys(("perfect", "late", "endless", "exits", "loud", "nobody's ünïcode, name"), Status.graded)
    assert found == {
        **unread,
        **fine,
        "renamed": Status.repaired,
        "copied": Status.repaired,
        "forger": Status.look,
        "untouched": Status.look,
    }
    assert rows["untouched"].notes == [f"{LOOK}No id was entered at the top, so it has the numbers that everybody without an id has."]
    assert all(rows[student].notes for student in (*unread, "exits", "loud", "renamed", "copied", "forger"))


def test_everybody_is_told(graded):
    course, _ = graded
    assert course.feedback(CHAPTER, lambda _: None) == {}
    pages = {student: (course.path("feedback", CHAPTER, student) / "knowledge_check.html").read_text("utf-8") for student in POINTS}
    assert ENDLESS in pages["endless"]
    assert "The code ended its own process here" in pages["exits"]
    assert "There is no notebook in what was handed in" in pages["empty"]
    assert "only a link" in pages["link"]
    assert "web page" in pages["webpage"]
    assert all("HIDDEN TESTS" not in page and "_again" not in page for page in pages.values())


def test_the_notebooks_in_autograded_hold_what_was_found(graded):
    course, _ = graded
    notebook = nbformat.read(course.path("autograded", CHAPTER, "late") / FILE, as_version=4)
    nbformat.validate(notebook)
    check = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "q6-check")
    assert "HIDDEN TESTS" in check.source and check.outputs


def test_a_second_run_does_only_what_is_new(graded):
    course, _ = graded
    seen: list[tuple[str, int, int]] = []
    assert {student: row.points for student, row in run(course, progress=lambda *step: seen.append(step)).items()} == POINTS
    assert seen == []
    write(course.path("submitted", CHAPTER, "untouched"), {})
    (course.root / "grading" / CHAPTER / "late.json").unlink()
    shutil.rmtree(course.path("autograded", CHAPTER, "perfect"))
    again = run(course, progress=lambda *step: seen.append(step))
    assert seen == [("graded", 1, 2), ("graded", 2, 2), ("written", 1, 2), ("written", 2, 2)]
    assert again["untouched"].points == marks(course)["untouched"] == 20.0
    assert {**marks(course), "untouched": 0.0} == POINTS
    write(course.path("submitted", CHAPTER, "untouched"), None)
    assert run(course, students=["untouched"]).keys() == {"untouched"}
    assert marks(course) == POINTS


def test_a_mark_that_a_person_gave_stays(graded):
    course, _ = graded
    with course.gradebook() as gradebook:
        gradebook.find_grade("q1-check", "knowledge_check", CHAPTER, "late").manual_score = 0.5
        gradebook.db.commit()
    before = marks(course)["late"]
    run(course, students=["late"], force=True)
    assert marks(course)["late"] == before != POINTS["late"]


def test_only_one_writes(graded):
    course, _ = graded
    with open(course.root / "grading" / "writing", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="Another autograde"):
            run(course)


def test_attempts_can_be_compared(graded, tmp_path):
    course, _ = graded
    attempts = [(student, course.path("submitted", CHAPTER, student) / FILE) for student in ("perfect", "late", "untouched")]
    before = marks(course)
    found = points(course, CHAPTER, attempts, sandbox=find(hidden=course.root), limits=LIMITS)
    assert found == [POINTS["perfect"], POINTS["late"], POINTS["untouched"]]
    assert marks(course) == before


def job(course: Course, student: str, outcome: Path, **changes: object) -> Job:
    source, file = course.root / "source" / CHAPTER / FILE, course.path("submitted", CHAPTER, student) / FILE
    limits = {"cell_seconds": 1.0, "total_seconds": 30.0}
    return Job(
        **{
            **dict(student=student, source=str(source), file=str(file), name=FILE, outcome=str(outcome), way="bubblewrap"),
            "hidden": str(course.root),
            "limits": limits,
            **changes,
        }
    )  # type: ignore[arg-type]


def test_a_grader_that_dies_costs_one_submission(graded, tmp_path, monkeypatch):
    """Nothing a student can do: the machine runs out of memory, somebody ends the process."""
    course, _ = graded
    jobs = [job(course, student, tmp_path / f"{student}.json") for student in ("perfect", "late")]
    jobs.insert(1, job(course, "untouched", tmp_path / "untouched.json", source=str(tmp_path / "gone" / FILE)))
    (tmp_path / "gone").mkdir()
    source = json.loads((course.root / "source" / CHAPTER / FILE).read_text())
    for cell in source["cells"]:
        if cell["id"] == "q1-check":
            cell["source"] = "import os\nos._exit(1)"
    (tmp_path / "gone" / FILE).write_text(json.dumps(source))
    work_all(jobs, 1, lambda _: None)
    found = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    totals = {student: sum(check["points"] for check in outcome["checks"].values()) for student, outcome in found.items()}
    assert totals == {"perfect": 20.0, "late": POINTS["late"], "untouched": 0.0}
    assert found["untouched"]["notes"] == ["Not graded: the process that graded it has ended."]


def test_what_lies_beside_a_notebook_stops_nobody(graded, tmp_path):
    """A name that is no UTF-8, a file of half a terabyte (of holes), a pipe; half of a surrogate pair in a cell; a notebook of holes."""
    course, _ = graded
    folder = course.path("submitted", CHAPTER, "beside")
    notebook = write(folder, {})
    notebook.cells.append(nbformat.v4.new_code_cell("x = 'QQ'"))
    (folder / FILE).unlink()
    Path(os.fsdecode(os.fsencode(folder) + b"/knowledge_check\xff.ipynb")).write_bytes(
        nbformat.writes(notebook).replace("QQ", "\\ud800").encode()
    )
    Path(os.fsdecode(os.fsencode(folder) + b"/data\xff.csv")).write_text("1")
    os.mkfifo(folder / "pipe")
    holes = course.path("submitted", CHAPTER, "holes") / FILE
    holes.parent.mkdir(parents=True)
    for path in (folder / "large.csv", holes):
        with path.open("wb") as file:
            file.truncate(2**39)
    rows = run(course, students=["beside", "holes", "perfect"])
    assert {student: row.points for student, row in rows.items()} == {"beside": 20.0, "holes": 0.0, "perfect": 20.0}
    assert marks(course)["beside"] == 20.0 and rows["holes"].status is Status.unreadable
    for student in ("beside", "holes"):
        shutil.rmtree(course.path("submitted", CHAPTER, student))


def test_ctrl_c_keeps_what_is_done(graded, tmp_path):
    course, _ = graded
    jobs = [
        job(course, "perfect", tmp_path / "perfect.json"),
        job(course, "endless", tmp_path / "endless.json", limits={"cell_seconds": 60.0}),
    ]
    timer = threading.Timer(0, lambda: None)

    def first(_: Job) -> None:
        nonlocal timer
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work_all(jobs, 1, first)
    assert time.monotonic() - began < 15
    assert jobs[0].done() and not jobs[1].done()


def test_what_a_mark_depends_on_is_in_its_key(graded, tmp_path, monkeypatch):
    course, _ = graded
    own = job(course, "perfect", tmp_path / "x.json")
    keys = {own.key(), job(course, "late", tmp_path / "x.json").key(), job(course, "perfect", tmp_path / "x.json", name="b.ipynb").key()}
    keys.add(job(course, "perfect", tmp_path / "x.json", limits={"cell_seconds": 2.0}).key())
    helper = Path(own.file).with_name("helper.py")
    helper.write_text("x = 1")
    keys.add(own.key())
    helper.unlink()
    monkeypatch.setattr(workers, "_version", lambda: "another")
    keys.add(own.key())
    assert len(keys) == 6
