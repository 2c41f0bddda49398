"""Reading a knowledge check's source, and marking answers to it in this process, by nbgrader's rules, without a kernel."""

from __future__ import annotations

import ast
import contextlib
import io
import warnings
from collections.abc import Mapping
from pathlib import Path

import nbformat

QUIZZES = Path(__file__).parents[2] / "quizzes"
CHAPTER_02 = "02_greedy_verification"


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def knowledge_check(chapter: str) -> nbformat.NotebookNode:
    return read(QUIZZES / "source" / chapter / "knowledge_check.ipynb")


def split(source: str, region: str) -> tuple[list[str], list[str]]:
    """The lines outside and those inside the regions between `### BEGIN region` and `### END region`."""
    outside, inside, within = [], [], False
    for line in source.splitlines():
        if line.strip() in (f"### BEGIN {region}", f"### END {region}"):
            assert within == line.strip().startswith("### END"), f"unbalanced {region}"
            within = not within
        else:
            (inside if within else outside).append(line)
    assert not within, f"{region} never ends"
    return outside, inside


def visible(source: str) -> str:
    """A check cell as the student has it."""
    return "\n".join(split(source, "HIDDEN TESTS")[0])


def marks(notebook: nbformat.NotebookNode, answers: Mapping[str, str]) -> dict[str, tuple[float, str]]:
    """Points and message of every check cell; an answer cell that `answers` does not name keeps what it has."""
    namespace: dict[str, object] = {}
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.grade:
            found[cell.id] = run(cell.source, namespace)
        elif cell.cell_type == "code":
            run(answers.get(cell.id, cell.source), namespace)
    return found


def run(source: str, namespace: dict[str, object]) -> tuple[float, str]:
    """The value of the last line if that is a number (0 after an error), and what was printed, the error's message last."""
    printed, value = io.StringIO(), None
    try:
        *body, last = ast.parse(source).body
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            if not isinstance(last, ast.Expr):
                body, last = [*body, last], ast.Expr(ast.Constant(None))
            exec(compile(ast.Module(body, []), "cell", "exec"), namespace)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    except Exception as error:
        return 0.0, f"{printed.getvalue()}{type(error).__name__}: {error}"
    return float(value or 0), printed.getvalue()
