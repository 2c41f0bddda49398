"""How long a class takes: `python -m tests.bench.class_of_200 [students]` hands in chapter 6 so many times, grades it, checks every mark.

The students take turns with the answers of tests/quizzes/bank_06.py; one in fifty has an endless loop in a function, and one in fifty ends
the process. The aim is 3 minutes for 200 on two cores, imports and everything else included.
"""

from __future__ import annotations

import copy
import itertools
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from specdec_lab.instructor.autograde import autograde
from specdec_lab.instructor.course import Course
from specdec_lab.instructor.sandbox import find
from tests.instructor.handed_in import entered
from tests.quizzes.source import QUIZZES, bank, knowledge_check

CHAPTER = "06_draft_sources"
ENDLESS = "def vote(context, n_max):\n    while context:\n        pass"
EXIT = "import os\ndef follow(tokens, parents, target):\n    os._exit(0)"


def submissions() -> list[tuple[dict[str, str], dict[str, float]]]:
    """Answers by cell, and the points they lose by check."""
    its = bank(CHAPTER)
    wrong = [({cell: answer}, lost) for cell, answer, lost in its.WRONG.values()]
    right = [({cell: answer}, {}) for cell, answer in its.RIGHT]
    return [*its.LEARNERS.values(), *right, *wrong]


def hand_in(course: Path, students: int) -> dict[str, float]:
    """Writes the submissions; gives the points that each has to get."""
    key = {cell.id: cell.source for cell in knowledge_check(CHAPTER).cells if cell.id.endswith("-answer")}
    release = nbformat.read(course / "release" / CHAPTER / "knowledge_check.ipynb", as_version=4)
    wanted = {}
    for number, (answers, lost) in zip(range(students), itertools.cycle(submissions()), strict=False):
        if number % 50 == 20:
            answers, lost = {"q7-answer": ENDLESS}, {"q7-check": 3}
        elif number % 50 == 40:
            answers, lost = {"q6-answer": EXIT}, {"q6-check": 5}
        notebook = copy.deepcopy(release)
        answers = entered(f"student{number:03d}") | answers
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, key.get(cell.id, cell.source))
        folder = course / "submitted" / f"student{number:03d}" / CHAPTER
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / "knowledge_check.ipynb")
        wanted[f"student{number:03d}"] = 20.0 - sum(lost.values())
    return wanted


def main(students: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "quizzes"
        root.mkdir()
        shutil.copy(QUIZZES / "nbgrader_config.py", root)
        shutil.copytree(QUIZZES / "source" / CHAPTER, root / "source" / CHAPTER)
        course = Course(root)
        course.release(CHAPTER)
        wanted = hand_in(root, students)
        at: dict[str, float] = {}
        began = time.monotonic()
        rows = autograde(course, CHAPTER, sandbox=find(hidden=root), progress=lambda what, *_: at.update({what: time.monotonic()}))
        took = time.monotonic() - began
        again = time.monotonic()
        autograde(course, CHAPTER, sandbox=find(hidden=root))
        again = time.monotonic() - again
        with course.gradebook() as gradebook:
            marks = {each.student.id: each.score for each in gradebook.assignment_submissions(CHAPTER)}
    assert {row.student: row.points for row in rows} == wanted == marks
    print(f"{students} submissions of chapter 6: {took:.0f} s, of which running and marking {at['graded'] - began:.0f} s")
    print(f"and writing into the gradebook {at['written'] - at['graded']:.0f} s; run again with nothing new: {again:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)
