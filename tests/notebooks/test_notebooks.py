"""Every chapter is committed clean and keeps the course's form.

Before its exercises are done it runs in tests/browser; with them done, in `make test-colab`.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tools.notebooks.badges import badges, repository
from tools.notebooks.clean import clean
from tools.notebooks.exercises import exercises, number_of_exercises
from tools.notebooks.files import ROOT, read
from tools.notebooks.lint import lint

CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXERCISES = {"00": 1, "01": 2, "02": 1, "03": 2, "04": 3, "05": 2, "06": 2, "07": 3, "08": 1, "09": 2, "10": 12}
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


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
