"""Takes out of a notebook what running it put in, so that a commit holds what somebody wrote, and nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container
from pathlib import Path

from nbformat import NotebookNode, from_dict

from tools.notebooks.files import Cell, read, write

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT = ("nbgrader", "tags")  # of a cell's metadata


def clean(path: Path, check: bool = False) -> bool:
    """Whether the notebook had anything to clean; a check leaves the file as it is."""
    return write(path, cleaned(read(path)), check)


def cleaned(notebook: NotebookNode) -> NotebookNode:
    """The notebook without outputs, counts and widget state, for the kernel of the course, and every cell with an id of its own."""
    notebook.metadata = from_dict(METADATA)
    notebook.nbformat_minor = 5  # the first in which cells have ids
    taken: set[str] = set()
    for cell in notebook.cells:
        cell.metadata = from_dict({key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if not _valid(cell.get("id")) or cell.id in taken:
            cell.id = new_id(cell, taken)
        taken.add(cell.id)
    return notebook


def new_id(cell: Cell, taken: Container[str]) -> str:
    """An id made from what the cell says, and so the same on every machine."""
    number = 0
    while (candidate := hashlib.sha256(f"{number} {cell.source}".encode()).hexdigest()[:8]) in taken:
        number += 1
    return candidate


def _valid(id_: object) -> bool:
    return isinstance(id_, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id_) is not None
