"""As on JupyterHub: through nbgrader's exchange from the instructor to a student, back, and back again with the feedback."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.instructor.handed_in import CHAPTER, entered, key
from tests.instructor.test_commands import run
from tests.quizzes.source import QUIZZES

WHO = getpass.getuser()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course whose exchange is a folder of this test's own."""
    folder, exchange = tmp_path / "quizzes", tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    shutil.copytree(QUIZZES / "source" / CHAPTER, folder / "source" / CHAPTER)
    config = (QUIZZES / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(f"{config}\nc.Exchange.root = {str(exchange)!r}\n", encoding="utf-8")
    student = tmp_path / "student"
    student.mkdir()
    (student / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'specdec-lab'\n", encoding="utf-8"
    )
    return folder


def nbgrader(folder: Path, *arguments: str) -> None:
    """A student's command, as nbgrader's Assignments tab gives it."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=folder, env=dict(os.environ), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def answer(notebook: Path) -> None:
    content, answers = json.loads(notebook.read_text(encoding="utf-8")), key() | entered(WHO) | {"q5-answer": 'answer_5 = "A"'}
    for cell in content["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    notebook.write_text(json.dumps(content), encoding="utf-8")


def test_there_and_back(course: Path):
    student = course.parent / "student"
    assert run(course, "release", "2", "--exchange")[0] == 0
    nbgrader(student, "fetch_assignment", CHAPTER)
    answer(student / CHAPTER / "knowledge_check.ipynb")
    nbgrader(student, "submit", CHAPTER)
    code, said = run(course, "collect", "2")
    assert code == 0 and said.strip().endswith("1 ready"), said
    code, said = run(course, "autograde", "2")
    assert code == 0 and said.strip().endswith("1 graded"), said
    assert run(course, "feedback", "2", "--exchange")[0] == 0
    nbgrader(student, "fetch_feedback", CHAPTER)
    (page,) = (student / CHAPTER / "feedback").glob("*/knowledge_check.html")
    assert "Question 5: think again" in page.read_text(encoding="utf-8")


def test_what_is_handed_in_again_is_taken_in_again(course: Path):
    student = course.parent / "student"
    run(course, "release", "2", "--exchange")
    nbgrader(student, "fetch_assignment", CHAPTER)
    nbgrader(student, "submit", CHAPTER)
    run(course, "collect", "2")
    assert "0 of 20" in run(course, "autograde", "2")[1]
    answer(student / CHAPTER / "knowledge_check.ipynb")
    nbgrader(student, "submit", CHAPTER)
    run(course, "collect", "2")
    assert run(course, "autograde", "2")[1].strip().endswith("1 graded")
