"""Notebooks as files, and what is found in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, v4
from nbformat.validator import iter_validate

from specdec_lab.errors import UserError

ROOT = Path(__file__).parents[2]
Cell = NotebookNode


@dataclass(frozen=True)
class Finding:
    """Something to put right: a sentence with its cause and the way out."""

    path: Path
    cell: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: cell {self.cell}: {self.sentence}"


def read(path: Path) -> NotebookNode:
    """The notebook as it is stored, faults included: nbformat's own reader would repair ids behind our back."""
    try:
        stored = path.read_text(encoding="utf-8")
        wrong = fault(json.loads(stored), minor=4, extras=True)  # 4.4 knows no ids: `clean` mends those
    except ValueError as error:
        wrong = str(error)
    if wrong:
        raise UserError(f"{path} is not a notebook of format 4 ({wrong}); open it in JupyterLab and save it, or take it from git again.")
    return v4.reads(stored)


def fault(notebook: Any, minor: int, extras: bool = False) -> str:
    """The first thing in which a notebook breaks format 4 of that minor version; extras are fields that it does not know."""
    if not isinstance(notebook, Mapping) or notebook.get("nbformat") != 4:
        return "its `nbformat` is not 4"
    error = next(iter_validate(notebook, version=4, version_minor=minor, relax_add_props=extras), None)
    return " ".join(str(getattr(error, "message", error)).split()) if error else ""


def text(notebook: NotebookNode) -> str:
    """The notebook as Jupyter stores it."""
    return v4.writes(notebook) + "\n"


def write(path: Path, notebook: NotebookNode, check: bool = False) -> bool:
    """Whether the file differs from the notebook; unless it is only a check, the file is then written."""
    new = text(notebook)
    differs = path.read_text(encoding="utf-8") != new
    if differs and not check:
        path.write_text(new, encoding="utf-8")
    return differs


def tagged(cell: Cell, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])
