"""A class goes through nbgrader's own commands, all chapters at once, in a copy of quizzes/: release, autograde, feedback, export.

Chapter 2 has its whole class, and what happens in every class. A notebook takes about a second, so the other chapters send three
learners: one with the key, one who has touched nothing, and one with a misconception. Their other answers are marked in test_marks.
"""

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
from tests.quizzes.source import CHAPTERS, QUIZZES, bank, has_bank, knowledge_check, read, split, worth

FILE = "knowledge_check.ipynb"
CHAPTER_02 = "02_greedy_verification"
SOURCE = {chapter: {cell.id: cell.source for cell in knowledge_check(chapter).cells} for chapter in CHAPTERS if has_bank(chapter)}
KEY = {chapter: {id_: source for id_, source in cells.items() if id_.endswith("-answer")} for chapter, cells in SOURCE.items()}

# What happens in every class: it warns, it never ends, it quotes nbgrader's own marks, and a check cell is gone.
MESSY = {
    "q3-answer": KEY[CHAPTER_02]["q3-answer"] + "\n### BEGIN HIDDEN TESTS",
    "q6-answer": bank_02.LOUD,
    "q7-answer": bank_02.ENDLESS,
}


def expected(chapter: str) -> dict[str, dict[str, float]]:
    """The points lost by check, for each learner who hands in."""
    its = bank(chapter)
    learners = {learner: lost for learner, (_, lost) in its.LEARNERS.items()}
    if chapter == CHAPTER_02:
        return {**learners, "untouched": its.CHECKS, "messy": {"q7-check": 4}}
    return {**dict(list(learners.items())[:2]), "untouched": its.CHECKS}


EXPECTED = {(chapter, learner): lost for chapter in SOURCE for learner, lost in expected(chapter).items()}
each_chapter = pytest.mark.parametrize("chapter", SOURCE)
each_submission = pytest.mark.parametrize("chapter, learner", EXPECTED)


def lines_of(chapter: str) -> tuple[set[str], set[str]]:
    """The lines of a chapter's source that a student may see, and those that he may not."""
    cells = SOURCE[chapter].values()
    seen = {line.strip() for source in cells for line in split("\n".join(split(source, "HIDDEN TESTS")[0]), "SOLUTION")[0]}
    regions = ("HIDDEN TESTS", "SOLUTION")
    return seen, {line.strip() for source in cells for region in regions for line in split(source, region)[1]} - seen


def hidden_tests(chapter: str) -> set[str]:
    return {line.strip() for source in SOURCE[chapter].values() for line in split(source, "HIDDEN TESTS")[1]} - lines_of(chapter)[0]


def nbgrader(course: Path, *arguments: str) -> None:
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(course / "no_config_of_this_user")}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def hand_in(course: Path, chapter: str, learner: str) -> None:
    notebook = copy.deepcopy(read(course / "release" / chapter / FILE))
    answers = MESSY if learner == "messy" else bank(chapter).LEARNERS.get(learner, ({}, {}))[0]
    for cell in notebook.cells:
        if learner != "untouched":
            cell.source = answers.get(cell.id, KEY[chapter].get(cell.id, cell.source))
    if learner == "messy":
        notebook.cells = [cell for cell in notebook.cells if cell.id != "q5-check"]
    folder = course / "submitted" / learner / chapter
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / FILE)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    course = tmp_path_factory.mktemp("class") / "quizzes"
    course.mkdir()
    shutil.copy(QUIZZES / "nbgrader_config.py", course)
    for chapter in SOURCE:
        shutil.copytree(QUIZZES / "source" / chapter, course / "source" / chapter)
    nbgrader(course, "generate_assignment", "*")
    for chapter, learner in EXPECTED:
        hand_in(course, chapter, learner)
    nbgrader(course, "autograde", "*", "--Execute.timeout=5")
    nbgrader(course, "generate_feedback", "*")
    nbgrader(course, "export")
    return course


def page(course: Path, chapter: str, learner: str) -> str:
    return (course / "feedback" / learner / chapter / "knowledge_check.html").read_text(encoding="utf-8")


def feedback(course: Path, chapter: str, learner: str) -> str:
    """The text of a learner's feedback page, one space between words."""
    text = re.sub(r"<(style|script).*?</\1>", "", page(course, chapter, learner), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


@each_chapter
def test_the_release_keeps_its_secrets(course, chapter):
    text = "\n".join(cell.source for cell in read(course / "release" / chapter / FILE).cells)
    assert "HIDDEN TESTS" not in text and "SOLUTION" not in text
    lines = {line.strip() for line in text.splitlines()}
    may_see, may_not_see = lines_of(chapter)
    assert lines <= may_see | {""}, lines - may_see
    assert not lines & may_not_see


@each_chapter
def test_the_release_asks_every_question(course, chapter):
    cells = {cell.id: cell for cell in read(course / "release" / chapter / FILE).cells}
    assert list(cells) == list(SOURCE[chapter])
    assert all(not cell.metadata.get("editable", True) for id_, cell in cells.items() if id_.endswith("-check"))


def test_the_exported_marks(course):
    with open(course / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}
    scores = {submission: float(rows[submission]["score"]) for submission in EXPECTED}
    assert scores == {submission: worth(submission[0]) - sum(lost.values()) for submission, lost in EXPECTED.items()}
    assert {float(rows[submission]["max_score"]) - worth(submission[0]) for submission in EXPECTED} == {0.0}
    for chapter in SOURCE:
        assert scores[chapter, "perfect"] == worth(chapter) and scores[chapter, "untouched"] == 0


@each_submission
def test_the_marks_of_each_question(course, chapter, learner):
    found = re.findall(r'<a href="#(q\w+-check)">Test cell</a> \(Score: ([\d.]+) / ([\d.]+)\)', page(course, chapter, learner))
    assert {check: float(full) for check, _, full in found} == bank(chapter).CHECKS
    lost = {check: float(full) - float(got) for check, got, full in found if got != full}
    assert lost == EXPECTED[chapter, learner]


@each_submission
def test_the_feedback_keeps_its_secrets(course, chapter, learner):
    text = feedback(course, chapter, learner)
    given = read(course / "submitted" / learner / chapter / FILE)
    own = {line.strip() for cell in given.cells for line in cell.source.splitlines()}  # which may be a line of a stand-in
    for line in hidden_tests(chapter) - own:
        assert len(line) < 12 or " ".join(line.split()) not in text, line


def test_the_feedback_explains(course):
    late = feedback(course, CHAPTER_02, "late")
    assert "Question 2a: think again" in late
    assert "AssertionError: Question 6: draft [5, 7, 9] and target [5, 7, 8, 1] have to give (2, 8), but give (0, 5)." in late
    assert "look for a loop that never ends" in feedback(course, CHAPTER_02, "messy")
