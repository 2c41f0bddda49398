"""From the bytes of whatever was handed in to the cells that stand in it.

Nothing is run here. nbformat's validation is not asked either: it refuses much that can still be read, such as a code cell without outputs,
`metadata.widgets` without state, or an id that is there twice. Only the parts that grading needs are taken over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LOOK = "Look: "  # begins each note that a person should follow up
LARGEST = 100 * 2**20  # bytes; a notebook is a hundredth of that, with its outputs
MOST_PARTS = 8 * 10**6  # values of JSON; each takes 100 bytes when it is read, however short it is written
MOST_CELLS = 3_000
MOST_CODE = 2 * 10**6  # characters, of all cells of code; a knowledge check has 20,000

_CELL = re.compile(r'\{\s*"(?:attachments|cell_type|execution_count|id)"\s*:')
_SCRIPT = re.compile(r"^(?=# [\w-]+-(?:answer|check|numbers) ·)", re.MULTILINE)  # Colab's "Download .py", jupytext
_MAGIC = {
    b"PK": "a zip archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xd0\xcf\x11\xe0": "an Office document",
    b"7z\xbc\xaf": "an archive",
    b"Rar!": "an archive",
    b"\x1f\x8b": "an archive",
}


class Unreadable(ValueError):
    """There is no notebook in what was handed in; the message is a sentence for the student."""


@dataclass(frozen=True)
class Cell:
    """One cell as handed in. `grade_id` is nbgrader's name of it, and both names may be empty."""

    kind: str
    source: str
    grade_id: str = ""
    id: str = ""


def read(submission: bytes) -> tuple[list[Cell], list[str]]:
    """The cells of a submission from top to bottom, and notes on what was unusual about the file.

    Raises Unreadable if there are none to be had: nothing handed in, another kind of file, or damaged beyond its first cell.
    """
    if not submission.strip(b" \t\r\n\0\xef\xbb\xbf"):
        raise Unreadable("Nothing was handed in, or the file is empty. Please save the notebook and hand it in.")
    if len(submission) > LARGEST or sum(map(submission.count, (b",", b"[", b"{"))) > MOST_PARTS:
        raise Unreadable("The file is too large to be read. Please clear its outputs, save it and hand it in again.")
    for magic, what in _MAGIC.items():
        if submission.startswith(magic):
            raise Unreadable(f"This is {what}, not a notebook. Please hand in the file that ends in .ipynb.")
    text, notes = _decoded(submission)
    if re.match(r"\s*<[!?a-zA-Z]", text):
        raise Unreadable("This is a web page, not a notebook: a link was saved in its place. Please hand in the file that ends in .ipynb.")
    content, more = _parsed(text)
    cells = _cells(content)
    kept, left_out = _bounded(cells)
    return kept, [*notes, *more, *left_out, *_habits(content, cells)]


def content_of(path: Path) -> bytes:
    """What is in a file, as far as it can be opened, and no more of it than `read` refuses."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError:
        return b""


def shown(text: object, most: int = 80) -> str:
    """What somebody else has called something, fit for a file and a terminal: one line of characters that can be seen."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in str(text)[:most])


def _decoded(submission: bytes) -> tuple[str, list[str]]:
    if submission.startswith((b"\xff\xfe", b"\xfe\xff")):
        return submission.decode("utf-16", errors="replace"), ["The file was in UTF-16."]
    try:
        return submission.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return submission.decode("cp1252", errors="replace"), ["The file was not in UTF-8; letters with accents may have changed."]


def _parsed(text: str) -> tuple[Any, list[str]]:
    try:
        return json.loads(text), []
    except (ValueError, RecursionError):
        pass
    if sides := _sides(text):
        readable = [content for content in map(_loads, sides) if content is not None]
        if readable:
            # Of the two versions, the one with more text in its code cells; of two equal ones, the upper.
            content = max(readable, key=lambda content: sum(len(cell.source) for cell in _cells(content) if cell.kind == "code"))
            return content, [f"{LOOK}The file had the marks of an unfinished merge (<<<<<<<). The version with more code was taken."]
    saved = list(_salvaged(text))
    if not saved and _SCRIPT.search(text):
        parts = [{"cell_type": "code", "source": part} for part in _SCRIPT.split(text)]
        return {"cells": parts}, [f"{LOOK}This is a Python file, not a notebook; its cells were told apart."]
    if not saved and not text.lstrip().startswith(("{", "[")):
        raise Unreadable("This is a text, not a notebook. Please hand in the file that ends in .ipynb.")
    if not saved:
        raise Unreadable("The file is damaged, and no cell of it can be read. Please open it, save it and hand it in again.")
    return {"cells": saved}, [f"{LOOK}The file is damaged. {len(saved)} cells could still be read, and they are graded."]


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _sides(text: str) -> list[str]:
    """The two versions of a text with the marks of an unfinished merge; none if there are no marks."""
    sides: list[list[str]] = [[], []]
    now: tuple[int, ...] = (0, 1)
    for line in text.split("\n"):
        mark = line[:7]
        if mark == "<<<<<<<":
            now = (0,)
        elif mark in ("|||||||", "=======") and now != (0, 1):
            now = (1,) if mark == "=======" else ()
        elif mark == ">>>>>>>":
            now = (0, 1)
        else:
            for side in now:
                sides[side].append(line)
    versions = ["\n".join(lines) for lines in sides]
    return versions if text not in versions else []


def _salvaged(text: str) -> Iterator[dict]:
    """Every object of a broken file that is a whole cell. The effort is bounded: each character is read a few times at most."""
    decoder, position, effort = json.JSONDecoder(strict=False), 0, 20 * len(text) + 10**6
    while effort > 0 and (found := _CELL.search(text, position)):
        try:
            cell, position = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError) as error:
            position = found.end()
            effort -= getattr(error, "pos", found.start() + 10**5) - found.start()
            continue
        if isinstance(cell, dict) and "cell_type" in cell:
            yield cell


def _cells(content: Any) -> list[Cell]:
    found = content.get("cells") if isinstance(content, dict) else None
    if found is None and isinstance(content, dict) and isinstance(content.get("worksheets"), list):  # nbformat 3
        found = [cell for sheet in content["worksheets"] if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    if not isinstance(found, list):
        raise Unreadable("The file is not a notebook: it has no cells. Please hand in the file that ends in .ipynb.")
    return [_cell(each) for each in found if isinstance(each, dict)]


def _bounded(cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """As many cells as one may write and somebody else can read; of code that is too long, the first line, which says what cell it was."""
    notes = [f"{LOOK}The notebook has {len(cells):,} cells; the first {MOST_CELLS:,} were read."] if len(cells) > MOST_CELLS else []
    kept, room = [], MOST_CODE
    for cell in cells[:MOST_CELLS]:
        room -= len(cell.source) if cell.kind == "code" else 0
        if room < 0:
            notes.append(f"{LOOK}A cell of {len(cell.source):,} characters was left out; so many are too long to be read.")
            room += len(cell.source)
            cell = replace(cell, source=cell.source.partition("\n")[0][:100] if cell.source.startswith("#") else "")
        kept.append(cell)
    return kept, list(dict.fromkeys(notes))[:10]


def _cell(content: dict) -> Cell:
    metadata = content.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    source = content.get("source", content.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return Cell(
        kind=shown(content.get("cell_type", ""), 20),
        source=source.replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8") if isinstance(source, str) else "",
        grade_id=grade_id if isinstance(grade_id, str) else "",
        id=content["id"] if isinstance(content.get("id"), str) else "",
    )


def _habits(content: dict, cells: list[Cell]) -> Iterator[str]:
    """What other programs do to a notebook. None of it matters to grading, and all of it has stopped some grader."""
    major, minor = content.get("nbformat"), content.get("nbformat_minor")
    if isinstance(major, int) and isinstance(minor, int) and (major, minor) < (4, 5):
        yield f"The notebook was saved in the old format {major}.{minor}."
    ids = [cell.id for cell in cells if cell.id]
    if len(set(ids)) < len(ids):
        yield "Several cells had the same id."
    if major == 4 and minor == 5 and len(ids) < len(cells):
        yield f"{len(cells) - len(ids)} cells had no id."
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        return
    if "widgets" in metadata:
        yield "The notebook carried the state of widgets; it was left out."
    kernel = metadata.get("kernelspec")
    kernel = kernel if isinstance(kernel, dict) else {}
    language = shown(kernel.get("language") or _language(metadata) or "python").lower()
    if language not in ("python", "ipython"):
        yield f"{LOOK}The notebook was made for the language {language}; it is graded as Python."
    elif kernel.get("name", "python3") != "python3":
        yield f"The notebook was made for the kernel {shown(kernel['name'])}; it is graded with python3."


def _language(metadata: dict) -> str | None:
    info = metadata.get("language_info")
    return info.get("name") if isinstance(info, dict) else None
