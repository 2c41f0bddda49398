"""A term with all the chapters through `specdec-lab grade`, everybody with numbers of their own: the marks and feedback of three."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from tests.instructor.handed_in import entered, filled_in, saved
from tests.instructor.test_commands import run
from tests.quizzes.source import CHAPTERS, QUIZZES, bank, read, worth
from tests.quizzes.test_pipeline import feedback, hidden_tests

each_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def misconception(chapter: str) -> tuple[dict[str, str], dict[str, float]]:
    """The answers of the bank's second learner, and the points that they cost."""
    return list(bank(chapter).LEARNERS.values())[1]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("term") / "quizzes"
    shutil.copytree(QUIZZES / "source", folder / "source")
    shutil.copy(QUIZZES / "nbgrader_config.py", folder)
    for chapter in CHAPTERS:
        for student, answers in {"ada": {}, "bo": misconception(chapter)[0], "cy": None}.items():
            notebook = filled_in(answers if answers is None else {**entered(student), **answers}, chapter)
            path = folder / "sent" / chapter / student / "knowledge_check.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(saved(notebook))
    assert run(folder, "release", "all")[0] == 0
    for chapter in CHAPTERS:
        for command in (
            ["collect", chapter, str(folder / "sent" / chapter)],
            ["autograde", chapter],
            ["feedback", chapter],
            ["report", chapter],
        ):
            code, said = run(folder, *command)
            assert code == (command[0] == "autograde"), said  # cy has entered no id
    return folder


@each_chapter
def test_the_marks(course, chapter):
    with (course / "reports" / chapter / "marks.csv").open(encoding="utf-8", newline="") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    full = float(worth(chapter))
    assert scores == {"ada": full, "bo": full - sum(misconception(chapter)[1].values()), "cy": 0.0}


@each_chapter
def test_the_feedback(course, chapter):
    for student in ("ada", "bo", "cy"):
        text = feedback(course, chapter, student)
        sent = read(course / "sent" / chapter / student / "knowledge_check.ipynb")
        own = {line.strip() for cell in sent.cells for line in cell.source.splitlines()}
        assert not [line for line in hidden_tests(chapter) - own if len(line) >= 12 and " ".join(line.split()) in text]
    assert "think again" not in feedback(course, chapter, "ada") and "think again" in feedback(course, chapter, "bo")
    assert "No id was entered at the top" in feedback(course, chapter, "cy")
