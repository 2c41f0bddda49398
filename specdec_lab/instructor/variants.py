"""Numbers of one's own: a knowledge check draws those of its numeric questions from the learner's id and the course's salt.

Three kinds of cells do it. In `id-answer` the learner enters an id; `draw-numbers` holds the salt and the draw, and is the same in every
knowledge check; `q1-numbers`, ... hold the choices of a question, the first of which everybody without an id has. All but the first are
locked. A grader runs them for itself, by an id of the submission's owner, whatever the notebook says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from nbformat import NotebookNode

from specdec_lab.instructor.reading import shown

ID, DRAW, LEARNER = "id-answer", "draw-numbers", "learner"
_SALT = re.compile(r'^SALT = (".*")$', re.MULTILINE)


def salted(notebook: NotebookNode, salt: str) -> NotebookNode:
    """The notebook, changed: with this salt, or as it is without one."""
    for cell in notebook.cells:
        if salt and named(cell) == DRAW:
            cell.source = _SALT.sub(lambda _: f"SALT = {json.dumps(salt)}", cell.source)
    return notebook


def salt_of(notebook: NotebookNode) -> str:
    """The salt in a notebook; empty if there is none."""
    return next((json.loads(found[1]) for cell in notebook.cells if named(cell) == DRAW and (found := _SALT.search(cell.source))), "")


def named(cell: NotebookNode) -> str:
    """nbgrader's name of a cell; empty if it has none."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def is_numbers(cell: NotebookNode) -> bool:
    """Whether a cell is locked and earns nothing, as those are that draw numbers."""
    of = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and bool(of.get("locked")) and not of.get("grade") and not of.get("solution")


def same(id_: object) -> str:
    """An id as the draw reads it."""
    return str(id_).strip().casefold()


def spellings(ids: Iterable[str]) -> list[str]:
    """What may be entered by somebody who has these ids and addresses: each of them, and what stands before an @."""
    found = [same(form) for id_ in ids for form in (id_, id_.partition("@")[0])]
    return [*dict.fromkeys(form for form in found if form)]


def drawn_by(entered: object, own: Sequence[str]) -> tuple[str, str]:
    """The id by which a submission's numbers are graded, and a note for the instructor, empty if all is well.

    entered: what the learner's notebook holds. own: the `spellings` of its owner; none if nobody knows whose it is.
    """
    given = same(entered) if isinstance(entered, (str, int)) else ""
    if not own or given in own:
        return given, ""
    if not given:
        return "", "No id was entered at the top, so it has the numbers that everybody without an id has."
    return own[0], f"The id at the top, '{shown(given, 60)}', is not this student's; it was graded by the numbers of '{own[0]}'."
