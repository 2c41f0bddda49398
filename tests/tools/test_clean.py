"""Cleaning takes out what running put in, once, and nothing that somebody wrote."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from specdec_lab.errors import UserError
from tests.tools.conftest import Save
from tools.notebooks.clean import METADATA, clean
from tools.notebooks.files import read, text


def spoil(path: Path, change) -> None:
    notebook = read(path)
    change(notebook)
    path.write_text(text(notebook), encoding="utf-8")


def run_it(notebook):
    code = notebook.cells[2]
    code.outputs = [new_output("stream", name="stdout", text="42\n")]
    code.execution_count = 3


def in_colab(notebook):
    """Widget state without `state`, which crashes nbconvert and GitHub's viewer."""
    notebook.metadata.update({"colab": {"provenance": []}, "widgets": {"application/vnd.jupyter.widget-state+json": {"x": {}}}})
    notebook.metadata.kernelspec = {"name": "conda-env-mine", "display_name": "mine"}
    notebook.cells[2].metadata.update({"colab": {"base_uri": "x"}, "id": "abc", "scrolled": True, "tags": []})


def twice_the_same_cell(notebook):
    notebook.cells.append(notebook.cells[2].copy())
    notebook.cells.append(notebook.cells[2].copy())


def without_ids(notebook):
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        del cell["id"]


@pytest.mark.parametrize("change", [run_it, in_colab, twice_the_same_cell, without_ids], ids=lambda change: change.__name__)
def test_it_cleans_once(save: Save, change):
    path = save()
    clean(path)
    spoil(path, change)
    spoilt = path.read_bytes()
    assert clean(path, check=True)
    assert path.read_bytes() == spoilt, "a check writes nothing"
    assert clean(path)
    cleaned = path.read_bytes()
    assert not clean(path) and not clean(path, check=True)
    assert path.read_bytes() == cleaned

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata == METADATA
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "nbgrader"}
        assert not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.parametrize("change", [run_it, in_colab])
def test_it_gives_back_what_was_written(save: Save, change):
    path = save()
    clean(path)
    written = path.read_bytes()
    spoil(path, change)
    clean(path)
    assert path.read_bytes() == written and written.endswith(b"\n}\n")


def test_new_ids_come_from_the_content(save: Save, tmp_path: Path):
    path = save()
    spoil(path, without_ids)
    copy = tmp_path / "copy.ipynb"
    copy.write_bytes(path.read_bytes())
    clean(path)
    clean(copy)
    assert path.read_bytes() == copy.read_bytes()
    assert all(set(cell.id) <= set("0123456789abcdef") for cell in read(path).cells)


def test_the_first_of_two_keeps_its_id(save: Save):
    path = save()
    spoil(path, twice_the_same_cell)
    clean(path)
    ids = [cell.id for cell in read(path).cells]
    assert ids.count("first-code") == 1 and ids[2] == "first-code" and ids[-1] != ids[-2]


def test_what_nbgrader_and_the_course_need_stays(save: Save):
    path = save()
    marks = {"grade": True, "points": 2, "grade_id": "q1-check", "schema_version": 3, "solution": False, "locked": True, "task": False}
    spoil(path, lambda notebook: notebook.cells[2].metadata.update({"nbgrader": marks, "collapsed": False}))
    clean(path)
    cells = {cell.id: cell for cell in read(path).cells}
    assert cells["first-code"].metadata == {"nbgrader": marks}
    assert cells["stub"].metadata == {"tags": ["exercise"]}


def test_a_clean_file_is_not_touched(save: Save):
    path = save()
    clean(path)
    before = path.stat().st_mtime_ns
    assert not clean(path)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        json.dumps({"nbformat": 3, "worksheets": []}),
        '{"nbformat": 4}',
        '{"nbformat": 5, "metadata": {}, "cells": []}',
    ],
)
def test_what_is_no_notebook_is_said_in_a_sentence(tmp_path: Path, content: str):
    path = tmp_path / "x.ipynb"
    path.write_text(content)
    with pytest.raises(UserError, match=r"is not a notebook of format 4 \(.+\); open it in JupyterLab"):
        clean(path)
