"""What students hand in, made from a chapter's knowledge check: the notebook that was handed out, filled in, and then mistreated."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Mapping

from nbformat import NotebookNode

from specdec_lab.instructor.matching import released
from tests.quizzes.source import knowledge_check, run

CHAPTER = "02_greedy_verification"
Notebook = dict


@functools.cache
def source(chapter: str = CHAPTER) -> NotebookNode:
    return knowledge_check(chapter)


@functools.cache
def key(chapter: str = CHAPTER) -> dict[str, str]:
    """The right answer to each answer cell, without the placeholder above it and the marks around it."""
    found = {}
    for cell in source(chapter).cells:
        if cell.id.endswith("-answer"):
            lines = [line for line in cell.source.splitlines() if not line.startswith("### ") and not line.endswith("= ...")]
            found[cell.id] = "\n".join(line for line in lines if "### " not in line)
    return found


def entered(student: str) -> dict[str, str]:
    """The cell in which a student has entered this id."""
    return {"id-answer": f'learner = "{student}"'}


def filled_in(answers: Mapping[str, str] | None = None, chapter: str = CHAPTER) -> Notebook:
    """The notebook as it is when a student saves it; cells not in `answers` hold the key; None leaves all as they were."""
    notebook = json.loads(json.dumps(released(copy.deepcopy(source(chapter)))))
    for cell in notebook["cells"]:
        if answers is not None and cell["id"] in key(chapter):
            cell["source"] = answers.get(cell["id"], key(chapter)[cell["id"]])
    return notebook


def cell(notebook: Notebook, id_: str) -> dict:
    return next(each for each in notebook["cells"] if each.get("id") == id_)


def place(notebook: Notebook, id_: str) -> int:
    return notebook["cells"].index(cell(notebook, id_))


def code(text: str, **more) -> dict:
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": text, **more}


def saved(notebook: Notebook, indent: int | None = 1) -> bytes:
    return json.dumps(notebook, indent=indent, ensure_ascii=False).encode()


def changed(change: Callable[[Notebook], object]) -> bytes:
    """A notebook with all answers right, after `change`."""
    notebook = filled_in({})
    change(notebook)
    return saved(notebook)


def marks(answers: Mapping[str, str], chapter: str = CHAPTER) -> dict[str, float]:
    """The points of each check cell, in this process: the id and the numbers run first, then `answers` in their order, a check as soon as
    the answer cell above it has run."""
    namespace: dict[str, object] = {}
    waiting, points = dict(answers), {}
    run(waiting.pop("id-answer", "") + "\nNone", namespace)
    for each in source(chapter).cells:
        if each.id.endswith("-numbers"):
            run(each.source, namespace)
    for each in source(chapter).cells:
        if each.id.endswith("-answer"):
            while each.id in waiting:
                run(waiting.pop(next(iter(waiting))) + "\nNone", namespace)
        elif each.id.endswith("-check"):
            points[each.id] = run(each.source, namespace)[0]
    return points
