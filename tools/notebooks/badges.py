"""The two generated cells of every chapter: badges that open it elsewhere, and the cell that makes it run there."""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from specdec_lab.errors import UserError
from tools.notebooks.files import ROOT, Cell, read, write

PYPROJECT = ROOT / "pyproject.toml"
ADDRESS = re.compile(r'^Repository = "(.*)"$', re.MULTILINE)  # the one place where it stands
GENERATED = ("badges", "setup")
BADGE = "[![Open in {host}]({image})]({link})"
COLAB = "https://colab.research.google.com"
KAGGLE = "https://kaggle.com"
SETUP = """\
# Colab and Kaggle (switch on Internet there): installs what is missing. Safe to run twice.
import sys

sys.path.insert(0, "..")  # a checkout wins over an installed package
try:
    from specdec_lab.bootstrap import bootstrap
except ImportError:
    %pip install --quiet --no-deps git+{repository}
    from specdec_lab.bootstrap import bootstrap

bootstrap()"""


def badges(path: Path, repository: str, check: bool = False) -> bool:
    """Whether the notebook's generated cells were out of date; a check leaves the file as it is."""
    return write(path, with_badges(read(path), path.name, repository), check)


def with_badges(notebook: NotebookNode, name: str, repository: str) -> NotebookNode:
    """The notebook with the generated cells, up to date, behind its first cell."""
    cells = [cell for cell in notebook.cells if not is_generated(cell)]
    notebook.cells = [*cells[:1], badge_cell(name, repository), setup_cell(repository), *cells[1:]]
    return notebook


def is_generated(cell: Cell) -> bool:
    """By its id or, when an editor gave it another, by its tag or its first words."""
    own = cell.get("id") in GENERATED or "setup" in cell.metadata.get("tags", [])
    return own or cell.source.startswith("[![Open in Colab]")


def badge_cell(name: str, repository: str) -> Cell:
    owner_and_repo = repository.removeprefix("https://github.com/")
    colab = f"{COLAB}/github/{owner_and_repo}/blob/main/notebooks/{name}"
    kaggle = f"{KAGGLE}/kernels/welcome?src={repository}/blob/main/notebooks/{name}"
    lines = [
        BADGE.format(host="Colab", image=f"{COLAB}/assets/colab-badge.svg", link=colab),
        BADGE.format(host="Kaggle", image=f"{KAGGLE}/static/images/open-in-kaggle.svg", link=kaggle),
    ]
    return new_markdown_cell("\n".join(lines), id="badges")


def setup_cell(repository: str) -> Cell:
    return new_code_cell(SETUP.format(repository=repository), id="setup", metadata={"tags": ["setup"]})


def repository() -> str:
    """The address of the repository, from pyproject.toml."""
    if not (found := ADDRESS.search(PYPROJECT.read_text(encoding="utf-8"))):
        raise UserError('pyproject.toml names no repository; write `Repository = "https://github.com/OWNER/REPO"` under [project.urls].')
    return found[1]


def move(address: str) -> str:
    """Write the address of a fork into pyproject.toml, and return it in the form in which it stands there."""
    address = address.removesuffix("/").removesuffix(".git")
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address):
        raise UserError(f"{address} is not the address of a repository that Colab can open; it looks like https://github.com/OWNER/REPO.")
    repository()  # which says what is wrong when there is no line to rewrite
    PYPROJECT.write_text(ADDRESS.sub(f'Repository = "{address}"', PYPROJECT.read_text(encoding="utf-8")), encoding="utf-8")
    return address
