"""A chapter that keeps every rule, and a package of one function for its exercise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.notebooks.files import text

TITLE = "# 7 · Doubling\n\n**5 minutes.** Needs nothing.\n\nAfter this chapter you can\n\n- double a number."
STUB = 'def double(x, by=2):\n    """Twice x."""\n    ...  # your code here'
CELLS = {
    "title": TITLE,
    "first-prose": "## A puzzle\n\nWhat does it print? See [the end](#Remember) and [a figure](figure.svg).",
    "first-code": "print(2 * 21)",
    "picture": "![a line that rises](figure.svg)",
    "ask": 'self_check("07", "doubling")',
    "write": "## Write it\n\nA loop is fine.\n\n### In a line\n\nOr without one.",
    "stub": STUB,
    "check": "double = check_double(double)",
    "reveal": "from toy_package.arithmetic import double as own\n\nreveal(own)",
    "end": "## Remember\n\nTwice is plus itself.",
}
CODE = ("first-code", "ask", "stub", "check", "reveal")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with `double`, which a private name of its module helps."""
    folder = tmp_path / "toy_package"
    (folder / "checks").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "checks" / "__init__.py").touch()
    (folder / "arithmetic.py").write_text(
        "from __future__ import annotations\n\n_ONE = 1\n\n\n"
        "def double(x: Unknown, by: int = 2) -> Unknown:\n"
        '    """Twice x."""\n    return x * (by - _ONE) + x * _ONE\n'
    )
    return folder


Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Write the good chapter to a file, with some of its cells changed, removed (None) or put in behind another one."""

    def save(changed: dict[str, str | None] | None = None, behind: str = "", added: NotebookNode | None = None) -> Path:
        cells: list[NotebookNode] = []
        for name, source in (CELLS | (changed or {})).items():
            if source is not None:
                cells.append(new_code_cell(source, id=name) if name in CODE else new_markdown_cell(source, id=name))
            if name == "stub" and source is not None:
                cells[-1].metadata["tags"] = ["exercise"]
            if name == behind and added is not None:
                cells.append(added)
        folder = tmp_path / "notebooks"
        folder.mkdir(exist_ok=True)
        (folder / "figure.svg").touch()
        return store(folder / "07_doubling.ipynb", cells)

    return save


def store(path: Path, cells: list[NotebookNode]) -> Path:
    path.write_text(text(new_notebook(cells=cells)), encoding="utf-8")
    return path
