"""Which cell of what was handed in is which cell of the knowledge check, whatever happened to its metadata, its place and its borders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode

from specdec_lab.instructor.python_text import parse, plain, sets
from specdec_lab.instructor.reading import LOOK, Cell
from specdec_lab.instructor.variants import is_numbers

_MARKER = re.compile(r"^[ \t]*#[ \t]*([\w-]+)[ \t]*(?:[^\w\s-]|$)", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Form:
    """A knowledge check as the students have it: the text of each answer and check cell by its id, the answer cell of each check, and the
    cells that draw numbers."""

    answers: dict[str, str]
    checks: dict[str, str]
    answer_of: dict[str, str]
    numbers: dict[str, str]

    @property
    def locked(self) -> dict[str, str]:
        """The cells that are always those that were handed out."""
        return self.checks | self.numbers

    def knows(self, id_: str) -> bool:
        return id_ in self.answers or id_ in self.checks or id_ in self.numbers

    def names(self, answer: str) -> set[str]:
        """The names that an answer cell is there to set: those that it leaves open as it is handed out."""
        return {name for name, answered in sets(self.answers[answer]).items() if not answered}


@dataclass(eq=False)
class Piece:
    """A cell, or the part of one, as handed in. `of` is the id of the cell it is, or empty; `found` says how that is known."""

    kind: str
    source: str
    of: str = ""
    found: str = ""
    marked: bool = False
    notes: list[str] = field(default_factory=list)


def released(source: NotebookNode) -> NotebookNode:
    """The knowledge check without solutions and hidden tests, with the text that `nbgrader generate_assignment` gives its cells."""
    notebook = NotebookNode(source, cells=[NotebookNode(cell) for cell in source.cells])
    for cell in notebook.cells:
        cell.source = _without(_without(cell.source, "SOLUTION", blank=True), "HIDDEN TESTS", blank=False)
    return notebook


def _without(source: str, region: str, blank: bool) -> str:
    lines, inside = [], False
    for line in source.split("\n"):
        if f"### BEGIN {region}" in line:
            inside = True
            lines += [line[: len(line) - len(line.lstrip())]] * blank
        elif f"### END {region}" in line:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def form(release: NotebookNode) -> Form:
    answers, checks, answer_of, numbers, last = {}, {}, {}, {}, ""
    for cell in release.cells:
        of = cell.metadata.get("nbgrader", {})
        if of.get("solution"):
            last = of["grade_id"]
            answers[last] = cell.source
        elif of.get("grade"):
            checks[of["grade_id"]] = cell.source
            answer_of[of["grade_id"]] = last
        elif is_numbers(cell):
            numbers[of["grade_id"]] = cell.source
    return Form(answers, checks, answer_of, numbers)


def match(form: Form, cells: list[Cell]) -> tuple[list[Piece], list[str]]:
    """The pieces of a submission from top to bottom, as far as possible each with the cell that it is; and notes on what was mended."""
    pieces: list[Piece] = []
    for cell in cells:
        for piece in _pieces(form, cell):
            if not (pieces and _continues(form, pieces[-1], piece)):
                pieces.append(piece)
                continue
            before = pieces[-1]
            joined = before.source.rstrip("\n") + "\n" + piece.source
            note = f"The cell {before.of} was split; its parts were put together again."
            pieces[-1] = replace(before, source=joined, notes=[*dict.fromkeys([*before.notes, note])])
    notes = [note for piece in pieces for note in piece.notes]
    return pieces, [*notes, *_by_name(form, pieces), *_lost(pieces), *_order(form, pieces)]


def _pieces(form: Form, cell: Cell) -> Iterator[Piece]:
    """A cell, cut where the first line of another known cell stands in it: cells are merged by one wrong key."""
    if cell.kind != "code":
        retyped = cell.grade_id if form.knows(cell.grade_id) else _first_marker(form, cell.source)
        if not retyped:
            yield Piece(cell.kind, cell.source)
            return
        cell = replace(cell, source=_FENCE.sub("", cell.source))
    starts = [(0, "")]
    for mark in _MARKER.finditer(cell.source):
        if form.knows(mark[1]) and mark[1] != starts[-1][1]:
            if not starts[-1][1] and len(starts) == 1 and _leads_to(form, cell, mark):
                starts = [(0, mark[1])]
            else:
                starts.append((mark.start(), mark[1]))
    ends = [start for start, _ in starts[1:]] + [len(cell.source)]
    for number, ((start, marker), end) in enumerate(zip(starts, ends, strict=True)):
        part = cell.source[start:end].strip("\n")
        piece = _identified(form, replace(cell, source=part), marker) if number == 0 else Piece("code", part, marker, "merged", marked=True)
        if cell.kind != "code" and number == 0:
            piece.notes.append(f"The cell {piece.of} had become {cell.kind or 'something else'}; it was taken as code.")
        if number > 0:
            piece.notes.append(f"The cell {marker} had been merged into the one above; they were taken apart.")
        yield piece


def _leads_to(form: Form, cell: Cell, mark: re.Match) -> bool:
    """Whether what stands above the first marker belongs to the marked cell, such as an import, and not to another cell."""
    above = cell.source[: mark.start()]
    return not above.strip() or cell.grade_id == mark[1] or not form.knows(cell.grade_id)


def _first_marker(form: Form, source: str) -> str:
    mark = _MARKER.match(_FENCE.sub("", source).lstrip())
    return mark[1] if mark and form.knows(mark[1]) else ""


def _identified(form: Form, cell: Cell, marker: str) -> Piece:
    ways = [("line", marker), ("metadata", cell.grade_id), ("id", cell.id)]
    known = {of: how for how, of in reversed(ways) if form.knows(of)}
    if not known:
        return Piece("code", cell.source)
    of = next(of for _, of in ways if of in known)
    if len(known) > 1:  # a cell that was copied and filled in for another question: what it sets decides
        names = set(sets(cell.source))
        fitting = [each for each in known if each in form.answers and form.names(each) & names]
        of = fitting[0] if len(fitting) == 1 else of
    return Piece("code", cell.source, of, "metadata" if of == cell.grade_id else known[of], marked=bool(marker))


def _continues(form: Form, before: Piece, piece: Piece) -> bool:
    """Whether a piece is the rest of the answer in front of it: the same cell without its first line, or what cannot stand alone."""
    if piece.kind != "code" or before.of not in form.answers or piece.marked:
        return False
    if piece.of:
        return piece.of == before.of
    indented = piece.source.lstrip("\n")[:1] in (" ", "\t") and bool(piece.source.strip())
    return indented or (parse(before.source) is None and parse(before.source + "\n" + piece.source) is not None)


def blank(form: Form, piece: Piece) -> bool:
    """Whether an answer cell gives no answer: it is as it was handed out, or sets none of its names to more than three dots."""
    if parse(piece.source) is None:
        return plain(piece.source) == plain(form.answers[piece.of])
    given = sets(piece.source)
    return not any(given.get(name) for name in form.names(piece.of))


def has_answers(form: Form, notebook: NotebookNode) -> bool:
    """Whether somebody has answered a question in a notebook that was handed out."""
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in notebook.cells}
    return any(answer in cells and not blank(form, Piece("code", cells[answer], answer)) for answer in form.answers)


def _by_name(form: Form, pieces: list[Piece]) -> Iterator[str]:
    """Finds the answers that nothing tells but the names they set, where the cell for them is gone or was left as it was."""
    done = {piece.of for piece in pieces if piece.of in form.answers and not blank(form, piece)}
    for answer in form.answers:
        if answer in done:
            continue
        for piece in pieces:
            given = {name for name, answered in sets(piece.source).items() if answered} if piece.kind == "code" and not piece.of else set()
            if given & form.names(answer):
                piece.of, piece.found = answer, "names"
                yield f"The answer {answer} stood in a cell of its own; it was found by the name {min(given & form.names(answer))}."


def _lost(pieces: list[Piece]) -> Iterator[str]:
    lost = [piece.of for piece in pieces if piece.of and piece.found in ("line", "id")]
    if lost:
        yield f"The metadata of these cells was lost, and they were found by their first line: {', '.join(dict.fromkeys(lost))}."


def _order(form: Form, pieces: list[Piece]) -> Iterator[str]:
    found = list(dict.fromkeys(piece.of for piece in pieces if piece.of in form.answers))
    if found != [answer for answer in form.answers if answer in found]:
        yield "The answers stood in another order. They were run in that order, and put back into their places."
    for answer in form.answers:
        if answer not in found:
            yield f"{LOOK}The cell {answer} is missing; it counts as not answered."
