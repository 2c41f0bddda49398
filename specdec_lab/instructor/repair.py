"""Whatever a student handed in becomes the notebook that was handed out, with the student's answers in it.

The cells for answers are found by nbgrader's metadata, else by their first line (`# q4-answer · ...`), else by the names they set. Check
cells are always those of `source/`. What the student ran besides (imports, helpers, a first try) is kept, as cells `extra-1`, ..., and runs
where it stood: as in a notebook that runs from top to bottom, the last value that a name gets counts, so of two copies of an answer it is
the lower one. Copies that nobody filled in count for nothing. All that was mended is said in notes.
"""

from __future__ import annotations

import ast
import copy
import html
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from specdec_lab.instructor.matching import Form, Piece, blank, form, match, released
from specdec_lab.instructor.python_text import parse, plain, runnable, set_by, sets, without
from specdec_lab.instructor.reading import LOOK, Cell, Unreadable, read, shown

NOTEBOOK = "knowledge_check.ipynb"
_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])")  # HTML in a student's text: the formgrader would run what it brings, as the instructor
_MOST_TEXT = 100_000  # characters that a student wrote into cells for text
_TITLE = re.compile(r"^# (Knowledge check: [^\n]*)", re.MULTILINE)


@dataclass
class Repaired:
    """A submission made ready for grading.

    notebook: what was handed out, with the student's answers and whatever else the student wrote; without hidden tests. Always there.
    answers: what to run, in the order in which to run it, by cell id; every answer cell is among them, also one that was left as it was.
    notes: what was mended, a sentence each; those that begin with LOOK want a person.
    unreadable: why there was nothing to be graded, a sentence for the student; none if there was.
    """

    notebook: NotebookNode
    answers: dict[str, str]
    notes: list[str] = field(default_factory=list)
    unreadable: str | None = None

    @property
    def to_look_at(self) -> list[str]:
        return [note.removeprefix(LOOK) for note in self.notes if note.startswith(LOOK)]


def repair(source: NotebookNode, submission: bytes, name: str = NOTEBOOK) -> Repaired:
    """Put a submission together again. `source` is the knowledge check with its solutions and hidden tests; `name` is that of the file.

    Whatever was handed in, this returns: what cannot be read is said in `unreadable`.
    """
    release = copy.deepcopy(released(source))
    wanted = form(release)
    try:
        cells, notes = read(submission)
        return _repaired(release, wanted, cells, [*_on_the_name(name), *notes])
    except Unreadable as error:
        why = str(error)
    except RecursionError:
        why = "The code in this notebook is nested too deeply to be read."
    return Repaired(_with_notes(copy.deepcopy(released(source)), [why]), dict(wanted.answers), _on_the_name(name), why)


def _repaired(release: NotebookNode, wanted: Form, cells: list[Cell], notes: list[str]) -> Repaired:
    _same_check(release, [cell.source for cell in cells if cell.kind == "markdown"])
    pieces, mended = match(wanted, cells)
    if not any(piece.of in wanted.answers for piece in pieces):
        raise Unreadable("None of the answer cells is in this notebook. Please hand in the knowledge check, not the chapter.")
    notes = [*notes, *mended, *_from_checks(wanted, pieces), *_on_checks(wanted, pieces), *_drop_stubs(wanted, pieces)]
    named = _named(wanted, pieces)
    answers, left_out = _to_run(wanted, pieces, named)
    notes += left_out
    answers.update({id_: stub for id_, stub in wanted.answers.items() if id_ not in answers})
    return Repaired(_with_notes(_assembled(release, pieces, named), notes), answers, notes)


def _on_the_name(name: str) -> list[str]:
    file = PurePath(name).name
    return [] if file in ("", NOTEBOOK) else [f"The file was called {shown(file)}."]


def _same_check(release: NotebookNode, texts: list[str]) -> None:
    """A knowledge check of another chapter has cells of the same names. Raises Unreadable if it is one."""
    asked = {title.strip() for cell in release.cells for title in _TITLE.findall(cell.source)}
    given = {title.strip() for text in texts for title in _TITLE.findall(text)}
    if given and asked and not given & asked:
        raise Unreadable(f"This is the '{min(given)}', but the '{min(asked)}' was asked for. Please hand that one in.")


def _from_checks(wanted: Form, pieces: list[Piece]) -> Iterator[str]:
    """Answers that were typed into the check cell. They count if the answer cell has none; a change to the check never does."""
    given = {name for piece in pieces if piece.kind == "code" and piece.of not in wanted.locked for name in _answered(piece.source)}
    for piece in list(pieces):
        if not wanted.answer_of.get(piece.of):
            continue
        answer = wanted.answer_of[piece.of]
        added = _added(wanted.checks[piece.of], piece.source)
        if _answered(added) & (wanted.names(answer) - given):
            behind = [place for place, each in enumerate(pieces) if each.of == answer] or [pieces.index(piece)]
            pieces.insert(behind[-1] + 1, Piece("code", added, answer, "check"))
            yield f"{LOOK}The answer {answer} was typed into the cell {piece.of}; it counts."


def _answered(source: str) -> set[str]:
    return {name for name, answered in sets(source).items() if answered}


def _added(check: str, changed: str) -> str:
    """What a student put into a check cell, as far as it can be told from the check: whole statements, no asserts."""
    before, after = parse(check), parse(changed)
    if before is None or after is None:
        lines = set(check.splitlines())
        return "\n".join(line for line in changed.splitlines() if line not in lines)
    own = {ast.dump(statement) for statement in before.body}
    used = {name for statement in before.body for name, _ in set_by(statement)}
    new = [each for each in after.body if ast.dump(each) not in own and not isinstance(each, ast.Assert)]
    return "\n".join(ast.unparse(each) for each in new if not {name for name, _ in set_by(each)} & used)


def _on_checks(wanted: Form, pieces: list[Piece]) -> Iterator[str]:
    for check, text in wanted.locked.items():
        found = [piece for piece in pieces if piece.of == check]
        if not found:
            yield f"The cell {check} had been deleted; it is back."
        elif len(found) > 1:
            yield f"The cell {check} was there {len(found)} times; once is enough."
        if any(plain(piece.source) != plain(text) for piece in found):
            yield f"The cell {check} had been changed; it was graded as it was handed out."


def _drop_stubs(wanted: Form, pieces: list[Piece]) -> Iterator[str]:
    """Where an answer was given, takes out the copies of its cell that give none; says what counts of several that do."""
    for answer in wanted.answers:
        found = [piece for piece in pieces if piece.of == answer]
        filled = [piece for piece in found if piece.found != "check" and not blank(wanted, piece)]
        for piece in found:
            if piece.found != "check" and piece not in filled and len(found) > 1:
                piece.of, piece.source = "", without(piece.source, wanted.names(answer))
        own = [piece for piece in filled if piece.found != "names"]
        if len(own) > 1 and len({plain(piece.source) for piece in own}) == 1:
            yield f"The cell {answer} was there {len(own)} times, with the same answer."
        elif len(own) > 1:
            count = f"{len(own)} times, with different answers"
            yield f"{LOOK}The cell {answer} was there {count}. They run from top to bottom, so the last one counts."


def _named(wanted: Form, pieces: list[Piece]) -> dict[str, Piece]:
    """The pieces to be run, top to bottom: the last one of each answer under its own id, the others as extra-1, ..."""
    by_rank = sorted(pieces, key=lambda piece: piece.found != "check")  # what was typed into a check comes behind an answer cell
    last = {piece.of: piece for piece in by_rank if piece.of in wanted.answers}
    named: dict[str, Piece] = {}
    extra = itertools.count(1)
    for piece in pieces:
        if piece.kind != "code" or piece.of in wanted.locked or not piece.source.strip():
            continue
        if piece.of in last and last[piece.of] is piece:
            named[piece.of] = piece
        else:
            named[f"extra-{next(extra)}"] = piece
    return named


def _to_run(wanted: Form, pieces: list[Piece], named: dict[str, Piece]) -> tuple[dict[str, str], list[str]]:
    """The code by cell id. What stands between an answer and its check runs with the answer, so that it has run before the check does."""
    ids = {id(piece): id_ for id_, piece in named.items()}
    answers: dict[str, str] = {}
    notes, above = [], ""  # above: the answer above this piece, if it is whole
    for piece in pieces:
        if piece.of in wanted.locked:
            above = ""
        if not (id_ := ids.get(id(piece))):
            continue
        code, parts = runnable(piece.source)
        notes += [f"{_look(wanted, piece, code)}The cell {id_} was run without {part}." for part in parts]
        if id_ in wanted.answers:
            above = id_ if parse(code) else ""
        elif above and parse(code):
            answers[above] += f"\n\n{code}"
            continue
        answers[id_] = code
    return answers, notes


def _look(wanted: Form, piece: Piece, run: str) -> str:
    """Leaving something out wants a look if an answer went with it."""
    return LOOK if piece.of in wanted.answers and _answered(piece.source) & wanted.names(piece.of) - _answered(run) else ""


def _assembled(release: NotebookNode, pieces: list[Piece], named: dict[str, Piece]) -> NotebookNode:
    ids = {id(piece): id_ for id_, piece in named.items()}
    texts = {plain(cell.source): cell.id for cell in release.cells}
    heads = {plain(cell.source).partition("\n")[0]: cell.id for cell in release.cells if cell.cell_type == "markdown"}
    behind: dict[str, list[NotebookNode]] = {}
    place, places, room = "", {cell.id for cell in release.cells}, _MOST_TEXT
    for number, piece in enumerate(pieces):
        if piece.kind != "code":
            text = plain(piece.source)
            known = texts.get(text) or heads.get(text.partition("\n")[0])
            if known:
                place = known
            elif text and room > 0:
                own = _MARKUP.sub("&lt;", piece.source[:room])
                room -= len(own)
                behind.setdefault(place, []).append(new_markdown_cell(own, id=f"text-{number}"))
        elif ids.get(id(piece), "").startswith("extra-"):
            behind.setdefault(place, []).append(new_code_cell(piece.source, id=ids[id(piece)]))
        elif piece.of in places:
            place = piece.of
    cells = [*behind.get("", [])]
    for cell in release.cells:
        if cell.id in named:
            cell.source = named[cell.id].source
        cells += [cell, *behind.get(cell.id, [])]
    release.cells = cells
    return release


def _with_notes(notebook: NotebookNode, notes: list[str]) -> NotebookNode:
    """The notebook with the notes on top, where the student finds them in the feedback."""
    if notes:
        lines = "\n".join(
            f"- {html.escape(note.removeprefix(LOOK), quote=False)}" for note in notes
        )  # they quote names of files and kernels
        notebook.cells.insert(0, new_markdown_cell(f"**Before grading**\n\n{lines}", id="before-grading"))
    return notebook
