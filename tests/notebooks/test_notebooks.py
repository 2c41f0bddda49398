"""Every chapter is committed clean, keeps the course's form, and runs from top to bottom as a learner first meets it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execute import execute

FOLDER = Path(__file__).parents[2] / "notebooks"
CHAPTERS = sorted(FOLDER.glob("*.ipynb"))
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def test_there_are_chapters():
    assert {"00", "02"} <= {path.stem[:2] for path in CHAPTERS}


@chapter
def test_it_is_clean(path: Path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    assert notebook.metadata.kernelspec.name == "python3"
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell in notebook.cells:
        assert not cell.get("outputs") and not cell.get("execution_count"), f"cell {cell.id} has outputs"


@chapter
def test_its_form(path: Path):
    cells = nbformat.read(path, as_version=4).cells
    code = [len(cell.source.splitlines()) for cell in cells if cell.cell_type == "code"]
    assert max(code) <= 25
    longest = max((line for cell in cells if cell.cell_type == "code" for line in cell.source.splitlines()), key=len)
    assert len(longest) <= 95, f"cut off at the right edge: {longest}"
    assert sorted(code)[len(code) // 2] <= 6, "the median cell is long"
    assert cells[0].cell_type == "markdown" and re.match(r"# \d+ · ", cells[0].source)
    assert re.search(r"\*\*\d+ minutes\.\*\*", cells[0].source), "the chapter states its time"
    assert "After this chapter you can" in cells[0].source
    assert any(cell.source.startswith("## Remember") for cell in cells)
    assert not any(re.search(r"(^|\s)/(home|root|tmp|Users)/", cell.source) for cell in cells), "no path of one machine"


@chapter
def test_every_section_that_teaches_asks_something(path: Path):
    asked: dict[str, bool] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"## (.+)", cell.source)):
            section = heading[1]
            asked[section] = section in ("This machine", "Where this goes", "Remember", "Knowledge check")
        elif "self_check(" in cell.source or " = check_" in cell.source:
            asked[section] = True
    assert [name for name, done in asked.items() if not done] == []


@chapter
def test_its_links_resolve(path: Path):
    for cell in nbformat.read(path, as_version=4).cells:
        for link in re.findall(r"\]\(([^)#:]+)\)", cell.source):
            assert (path.parent / link).exists(), link


@chapter
def test_it_runs_before_any_exercise_is_done(path: Path):
    outputs = [out for cell in execute(path).cells if cell.cell_type == "code" for out in cell.outputs]
    printed = "".join(out.text for out in outputs if out.output_type == "stream" and out.name == "stdout")
    assert "not attempted yet" in printed
    # A library's warning on the learner's screen is a fault of the chapter.
    errors = [out.text for out in outputs if out.output_type == "stream" and out.name == "stderr"]
    assert not errors, errors
