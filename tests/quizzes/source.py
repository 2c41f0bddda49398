"""Reading a knowledge check's source, and marking answers to it in this process, by nbgrader's rules, without a kernel.

Each chapter NN in quizzes/source has a bank of answers, bank_NN.py beside this file, found by its number. Answers are written as
the source of an answer cell, such as "q1-answer"; a cell that is not named holds the key. A bank has these names:

CHECKS     dict: the points of each check cell; they add up to those of the chapter (POINTS below).
LEARNERS   dict: name -> (answers by cell, points lost by check). "perfect" comes first with ({}, {}), at least four more follow with
           one misconception each, which runs through all the questions it touches. The second one also goes through nbgrader itself.
MALFORMED  answers by cell, all of the wrong form: every check gives 0.
RIGHT      list of (cell, answer): right answers written differently from the key; full marks.
WRONG      dict: misconception -> (cell, answer, points lost by check). Every check loses something in one of them, and each question has
           at least five, a function ten; a question for one letter has all of the wrong ones.
NAMED      dict: check of a question for letters -> {wrong letter: words of the chapter that name this misconception}.
KEYS       dict: check -> a regular expression for the right answer, which feedback on a wrong one must not show. Function checks have none.
FORMS      list of (check, answer, part of the sentence): what the visible part of a check says to an answer of the wrong form.

Points are lost from those in CHECKS; a check that is not named loses nothing. Answers to a question with numbers of its own (`q1-numbers`)
may use their names, and RIGHT and WRONG are tried with all its numbers; the other answers only with the first ones.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import nbformat

QUIZZES = Path(__file__).parents[2] / "quizzes"
ID, DRAW = "id-answer", "draw-numbers"
CHAPTERS = sorted(path.parent.name for path in QUIZZES.glob("source/*/knowledge_check.ipynb"))


def bank(chapter: str) -> ModuleType:
    """The bank of answers to the knowledge check of `chapter`, such as "02_greedy_verification"."""
    return importlib.import_module(f"tests.quizzes.bank_{chapter[:2]}")


def has_bank(chapter: str) -> bool:
    return (Path(__file__).parent / f"bank_{chapter[:2]}.py").exists()


def number(chapter: str) -> int:
    return int(chapter[:2])


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def worth(chapter: str) -> int:
    """The points of a knowledge check; that of chapter 0 is a rehearsal."""
    return 4 if number(chapter) == 0 else 20


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


def marks(
    notebook: nbformat.NotebookNode, answers: Mapping[str, str], choice: int = 0, namespace: dict[str, object] | None = None
) -> dict[str, tuple[float, str]]:
    """Points and message of every check cell; an answer cell that `answers` does not name keeps what it has.

    choice: which of its numbers each question has. namespace: where the cells run.
    """
    namespace = {} if namespace is None else namespace
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.grade:
            found[cell.id] = run(cell.source, namespace)
        elif cell.cell_type == "code":
            run(answers.get(cell.id, cell.source), namespace)
        if cell.id == DRAW:
            namespace["drawn"] = lambda question, *choices: choices[choice % len(choices)]
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
