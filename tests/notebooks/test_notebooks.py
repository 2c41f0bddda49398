"""Every chapter is committed clean, keeps the course's form, and runs from top to bottom, before its exercises are done.

With its exercises done it runs in `make test-colab`.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tools.notebooks.badges import badges, repository
from tools.notebooks.clean import clean
from tools.notebooks.execute import Run, execute, too_much
from tools.notebooks.exercises import exercises, number_of_exercises
from tools.notebooks.files import ROOT, read
from tools.notebooks.lint import lint

CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
QUICK = ("00", "02")  # the others run in `make test-long` and `make course`
EXERCISES = {"00": 1, "01": 2, "02": 1, "03": 2, "04": 3, "05": 2, "06": 2, "09": 2, "10": 12}
MEMORY_GIB = 6
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
executed = pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=[] if path.stem[:2] in QUICK else [pytest.mark.long]) for path in CHAPTERS]
)


def printed(run: Run) -> str:
    """What a run printed, if there was nothing to find fault with: no error, nothing on stderr, no more memory than there may be."""
    assert not run.findings and not too_much(run, MEMORY_GIB), "\n".join(map(str, run.findings + too_much(run, MEMORY_GIB)))
    return "".join(run.outputs("stdout").values())


def test_every_chapter_is_there_with_its_exercises():
    found = {path.stem[:2]: number_of_exercises(path) for path in CHAPTERS}
    assert found == found | EXERCISES
    assert len(found) == len(CHAPTERS), "two chapters have one number"


@chapter
def test_it_is_clean(path: Path):
    nbformat.validate(read(path))
    assert not clean(path, check=True), "run `python -m tools.notebooks clean notebooks/*.ipynb`"


@chapter
def test_its_form(path: Path):
    assert [str(finding) for finding in lint(path)] == []


@chapter
def test_its_exercises(path: Path):
    assert [str(finding) for finding in exercises(path)] == []


@chapter
def test_its_badges(path: Path):
    assert not badges(path, repository(), check=True), "run `python -m tools.notebooks badges notebooks/*.ipynb`"


@executed
def test_it_runs_before_any_exercise_is_done(path: Path):
    assert printed(execute(path)).count("not attempted yet") == number_of_exercises(path)
