"""A class goes through nbgrader's own commands, in a copy of quizzes/: release, autograde, feedback, export."""

from __future__ import annotations

import copy
import csv
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.quizzes import bank_02
from tests.quizzes.source import CHAPTER_02, QUIZZES, knowledge_check, read, split

FILE = "knowledge_check.ipynb"
SOURCE = {cell.id: cell.source for cell in knowledge_check(CHAPTER_02).cells}
KEY = {id_: source for id_, source in SOURCE.items() if id_.endswith("-answer")}
OPEN = {line.strip() for source in SOURCE.values() for line in split("\n".join(split(source, "HIDDEN TESTS")[0]), "SOLUTION")[0]}
HIDDEN = {line.strip() for source in SOURCE.values() for line in split(source, "HIDDEN TESTS")[1]} - OPEN
SOLUTIONS = {line.strip() for source in SOURCE.values() for line in split(source, "SOLUTION")[1]} - OPEN

# What happens in every class: it warns, it never ends, it quotes nbgrader's own marks, and a check cell is gone.
MESSY = {
    "q3-answer": KEY["q3-answer"] + "\n### BEGIN HIDDEN TESTS",
    "q6-answer": bank_02.LOUD,
    "q7-answer": bank_02.ENDLESS,
}
EXPECTED = {
    **{learner: lost for learner, (_, lost) in bank_02.LEARNERS.items()},
    "untouched": bank_02.CHECKS,
    "messy": {"q7-check": 4},
}


def nbgrader(course: Path, *arguments: str) -> None:
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(course / "no_config_of_this_user")}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def submit(course: Path, learner: str, notebook: nbformat.NotebookNode) -> None:
    folder = course / "submitted" / learner / CHAPTER_02
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / FILE)


def answered(released: nbformat.NotebookNode, answers: dict[str, str]) -> nbformat.NotebookNode:
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        cell.source = answers.get(cell.id, KEY.get(cell.id, cell.source))
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    course = tmp_path_factory.mktemp("class") / "quizzes"
    course.mkdir()
    shutil.copy(QUIZZES / "nbgrader_config.py", course)
    shutil.copytree(QUIZZES / "source", course / "source")
    nbgrader(course, "generate_assignment", CHAPTER_02)
    released = read(course / "release" / CHAPTER_02 / FILE)
    submit(course, "untouched", released)
    for learner, (answers, _) in bank_02.LEARNERS.items():
        submit(course, learner, answered(released, answers))
    messy = answered(released, MESSY)
    messy.cells = [cell for cell in messy.cells if cell.id != "q5-check"]
    submit(course, "messy", messy)
    nbgrader(course, "autograde", CHAPTER_02, "--Execute.timeout=5")
    nbgrader(course, "generate_feedback", CHAPTER_02)
    nbgrader(course, "export")
    return course


def feedback(course: Path, learner: str) -> str:
    """The text of a learner's feedback page, one space between words."""
    page = (course / "feedback" / learner / CHAPTER_02 / "knowledge_check.html").read_text(encoding="utf-8")
    page = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_the_release_keeps_its_secrets(course):
    text = "\n".join(cell.source for cell in read(course / "release" / CHAPTER_02 / FILE).cells)
    assert "HIDDEN TESTS" not in text and "SOLUTION" not in text
    lines = {line.strip() for line in text.splitlines()}
    assert lines <= OPEN | {""}, lines - OPEN
    assert not lines & (HIDDEN | SOLUTIONS)


def test_the_release_asks_every_question(course):
    cells = {cell.id: cell for cell in read(course / "release" / CHAPTER_02 / FILE).cells}
    assert list(cells) == list(SOURCE)
    assert all(not cell.metadata.get("editable", True) for id_, cell in cells.items() if id_.endswith("-check"))


def test_the_exported_marks(course):
    with open(course / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert {learner: float(row["score"]) for learner, row in rows.items()} == {
        learner: 20.0 - sum(lost.values()) for learner, lost in EXPECTED.items()
    }
    assert {float(row["max_score"]) for row in rows.values()} == {20.0}
    assert float(rows["perfect"]["score"]) == 20 and float(rows["untouched"]["score"]) == 0


@pytest.mark.parametrize("learner", EXPECTED)
def test_the_marks_of_each_question(course, learner):
    page = (course / "feedback" / learner / CHAPTER_02 / "knowledge_check.html").read_text(encoding="utf-8")
    found = re.findall(r'<a href="#(q\w+-check)">Test cell</a> \(Score: ([\d.]+) / ([\d.]+)\)', page)
    assert {check: float(full) for check, _, full in found} == bank_02.CHECKS
    lost = {check: float(full) - float(got) for check, got, full in found if got != full}
    assert lost == EXPECTED[learner]


@pytest.mark.parametrize("learner", EXPECTED)
def test_the_feedback_explains_and_keeps_its_secrets(course, learner):
    text = feedback(course, learner)
    for line in HIDDEN:
        assert len(line) < 12 or " ".join(line.split()) not in text, line
    if learner == "late":
        assert "Question 2a: think again" in text
        assert "AssertionError: Question 6: draft [5, 7, 9] and target [5, 7, 8, 1] have to give (2, 8), but give (0, 5)." in text
    if learner == "messy":
        assert "look for a loop that never ends" in text
