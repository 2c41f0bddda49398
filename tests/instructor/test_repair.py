"""The repair bank: what comes in, the notes it must give, and the marks it must get. Marks are lost only where an answer is."""

from __future__ import annotations

import copy
import json
import random
import time
from dataclasses import dataclass, field

import nbformat
import pytest
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

from specdec_lab.instructor.grader import grade
from specdec_lab.instructor.matching import released
from specdec_lab.instructor.reading import LOOK
from specdec_lab.instructor.repair import repair
from specdec_lab.instructor.sandbox import find
from tests.instructor.handed_in import CHAPTER, cell, changed, code, filled_in, key, marks, place, saved, source
from tests.quizzes import bank_02
from tests.quizzes.source import CHAPTERS, QUIZZES, bank, knowledge_check

FULL = bank_02.CHECKS
KEY = key()


@dataclass
class Case:
    """Bytes handed in; a part of each note they must give, in this order, "!" in front of those to look at; the points lost by check."""

    given: bytes
    notes: list[str] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)
    name: str = "knowledge_check.ipynb"


def insert(before: str, *cells: dict):
    def change(notebook):
        at = place(notebook, before)
        notebook["cells"][at:at] = [{"id": f"new-{number}", **copy.deepcopy(each)} for number, each in enumerate(cells)]

    return change


def again(id_: str, text: str | None = None, at_end: bool = True, **more):
    """The cell is there twice, as JupyterLab copies it: with its metadata and a new id."""

    def change(notebook):
        twin = {**copy.deepcopy(cell(notebook, id_)), "id": "twin", **more}
        twin["source"] = twin["source"] if text is None else text
        notebook["cells"].insert(len(notebook["cells"]) if at_end else place(notebook, id_), twin)

    return change


def delete(*ids: str):
    def change(notebook):
        notebook["cells"] = [each for each in notebook["cells"] if each.get("id") not in ids]

    return change


def text(id_: str, new, **more):
    def change(notebook):
        found = cell(notebook, id_)
        found["source"] = new(found["source"]) if callable(new) else new
        found.update(more)

    return change


def no_metadata(notebook):
    for each in notebook["cells"]:
        each["metadata"] = {}


def no_ids(notebook):
    for each in notebook["cells"]:
        del each["id"]


def lines(notebook):
    """The source as a list of lines, as a file has it."""
    for each in notebook["cells"]:
        each["source"] = each["source"].splitlines(keepends=True)


def every(*changes):
    def change(notebook):
        for each in changes:
            each(notebook)

    return change


def split(id_: str, at: str, **metadata):
    """Cut before the line that begins with `at`; the lower half keeps what `metadata` says."""

    def change(notebook):
        upper = cell(notebook, id_)
        where = upper["source"].index(at)
        lower = {**copy.deepcopy(upper), "id": "lower", "source": upper["source"][where:], **metadata}
        upper["source"] = upper["source"][:where].rstrip("\n")
        notebook["cells"].insert(place(notebook, id_) + 1, lower)

    return change


def merge(upper: str, lower: str):
    def change(notebook):
        cell(notebook, upper)["source"] += "\n\n" + cell(notebook, lower)["source"]
        delete(lower)(notebook)

    return change


def colab(notebook):
    no_metadata(notebook)
    for number, each in enumerate(notebook["cells"]):
        each["metadata"] = {"id": f"x{number}"} | ({"colab": {"base_uri": "https://localhost/"}} if each["cell_type"] == "code" else {})
        del each["id"]
    lines(notebook)
    notebook.update(nbformat_minor=0)
    notebook["metadata"] = {
        "accelerator": "GPU",
        "colab": {"provenance": [], "gpuType": "T4"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"abc": {"model_name": "HBoxModel"}}},
    }


def vs_code(notebook):
    lines(notebook)
    for number, each in enumerate(notebook["cells"]):
        each["metadata"]["vscode"] = {"languageId": "python"}
        each["id"] = f"{number:08x}"
    notebook["metadata"] = {
        "kernelspec": {"display_name": ".venv", "language": "python", "name": "venv-3.12"},
        "language_info": {"name": "python", "version": "3.12.4"},
    }


def old_format(minor: int):
    def change(notebook):
        no_ids(notebook)
        notebook["nbformat_minor"] = minor

    return change


def shuffled(notebook):
    random.Random(1).shuffle(notebook["cells"])


def conflict(upper: str, lower: str) -> bytes:
    whole = changed(lambda _: None).decode()
    found = next(line for line in whole.splitlines() if line.startswith('   "source": "# q5-answer'))
    sides = [found.replace('\\"B\\"', answer) for answer in (upper, lower)]
    return whole.replace(found, f"<<<<<<< HEAD\n{sides[0]}\n=======\n{sides[1]}\n>>>>>>> origin/main", 1).encode()


def script(notebook) -> bytes:
    """As Colab writes it under "Download .py"."""
    texts = [each["source"] if each["cell_type"] == "code" else f'"""{each["source"]}"""' for each in notebook["cells"]]
    return "\n\n".join(["# -*- coding: utf-8 -*-", *texts]).encode()


def cut(share: float) -> bytes:
    whole = changed(lines)
    return whole[: int(len(whole) * share)]


LOST = "The metadata of these cells was lost"
EMPTY_1 = cell(filled_in(None), "q1-answer")["source"]
WRONG_1 = "# q1-answer · a letter\nanswer_1 = 'A'"
HELPER = "def same(draft, target):\n    return [a == b for a, b in zip(draft, target)]"
WITH_HELPER = "# q7-answer · f\n" + KEY["q7-answer"].split("\n", 1)[1].replace("def passes(", "same([], [])\ndef passes(", 1)
Q1 = KEY["q1-answer"].split("\n", 1)[1]
Q2 = KEY["q2-answer"].split("\n", 1)[1]
GONE = [f"{each}-check" for each in ("q1", "q2a", "q2b", "q3a", "q3b", "q4", "q5", "q6", "q7")]
FOLLOWED = [*(each for each in GONE if each not in ("q2a-check", "q3a-check")), "draw-numbers"]  # by prose
INPUT = "name = input('Your name? ')"

BANK = {
    # As it should be.
    "as it was handed out, filled in": Case(changed(lambda _: None)),
    "sources as lists of lines": Case(changed(lines)),
    "untouched": Case(saved(filled_in(None)), lost=FULL),
    # Check cells.
    "a check cell twice": Case(changed(again("q1-check")), ["The cell q1-check was there 2 times"]),
    "a check cell deleted": Case(changed(delete("q6-check")), ["The cell q6-check had been deleted; it is back."]),
    "all check cells deleted": Case(changed(delete(*GONE)), [f"The cell {each} had been deleted" for each in GONE]),
    "a check cell as text": Case(changed(text("q1-check", str, cell_type="markdown")), ["The cell q1-check had become markdown"]),
    "a check cell as raw text": Case(changed(text("q4-check", str, cell_type="raw")), ["The cell q4-check had become raw"]),
    "points claimed in the metadata": Case(
        changed(
            every(
                text("q1-answer", WRONG_1),
                lambda notebook: cell(notebook, "q1-check")["metadata"]["nbgrader"].update(points=99, locked=False, solution=True),
                lambda notebook: cell(notebook, "q1-answer")["metadata"]["nbgrader"].update(points=99, grade=True),
            )
        ),
        lost={"q1-check": 2},
    ),
    "a check cell that was emptied": Case(changed(text("q6-check", "")), ["The cell q6-check had been changed"]),
    "a check cell that gives all points": Case(
        changed(every(text("q1-answer", WRONG_1), text("q1-check", "# q1-check · run me\n2"))),
        ["The cell q1-check had been changed"],
        {"q1-check": 2},
    ),
    "a check cell that was made longer": Case(
        changed(text("q6-check", lambda old: old + "\nprint(verify_greedy([1], [1, 2]))")), ["The cell q6-check had been changed"]
    ),
    # Answer cells.
    "cells with numbers deleted": Case(
        changed(delete("draw-numbers", "q2-numbers")),
        [f"The cell {each} had been deleted; it is back." for each in ("draw-numbers", "q2-numbers")],
    ),
    "the id at the very end": Case(
        changed(lambda notebook: notebook["cells"].append(notebook["cells"].pop(place(notebook, "id-answer")))),
        ["The answers stood in another order."],
    ),
    "the cell for the id deleted": Case(changed(delete("id-answer")), ["!The cell id-answer is missing"]),
    "an answer cell deleted": Case(changed(delete("q4-answer")), ["!The cell q4-answer is missing"], {"q4-check": 2}),
    "an answer cell as text": Case(changed(text("q1-answer", str, cell_type="markdown")), ["The cell q1-answer had become markdown"]),
    "an answer cell as text, in a fence": Case(
        changed(text("q1-answer", lambda old: f"```python\n{old}\n```", cell_type="markdown")), ["The cell q1-answer had become markdown"]
    ),
    "an answer cell as text, its metadata lost": Case(
        changed(text("q1-answer", str, cell_type="markdown", metadata={})), ["The cell q1-answer had become markdown", LOST]
    ),
    "an answer twice, the same": Case(changed(again("q1-answer")), ["The cell q1-answer was there 2 times, with the same answer."]),
    "an answer twice, the lower one wrong": Case(
        changed(again("q1-answer", WRONG_1)), ["!The cell q1-answer was there 2 times"], {"q1-check": 2}
    ),
    "an answer twice, the upper one wrong": Case(
        changed(again("q1-answer", WRONG_1, at_end=False)), ["!The cell q1-answer was there 2 times"]
    ),
    "an answer twice, the lower one does not compile": Case(
        changed(again("q1-answer", "# q1-answer · a letter\nanswer_1 = 'A")), ["!The cell q1-answer was there 2 times"]
    ),
    "an answer twice, the lower one raises": Case(
        changed(again("q1-answer", "# q1-answer · a letter\nanswer_1 = letter")), ["!The cell q1-answer was there 2 times"]
    ),
    "an answer and the empty cell below it": Case(changed(again("q1-answer", EMPTY_1, at_end=True))),
    "an answer and an empty cell below it, with another comment": Case(changed(again("q1-answer", "# q1-answer · mine\nanswer_1 = ..."))),
    "a helper in the answer cell, and the answer below": Case(
        changed(
            every(
                text("q1-answer", "# q1-answer · words\nlast = 'twelve'"), insert("q1-check", code("answer_1 = ['clock', 'struck', last]"))
            )
        ),
        ["The answer q1-answer stood in a cell of its own"],
    ),
    "nothing but empty cells": Case(changed(every(text("q1-answer", EMPTY_1), again("q1-answer", EMPTY_1))), lost={"q1-check": 2}),
    "an answer split by JupyterLab": Case(changed(split("q2-answer", "answer_2b")), ["The cell q2-answer was split"]),
    "a function split in its body": Case(changed(split("q6-answer", "    ", metadata={})), ["The cell q6-answer was split"]),
    "a split that leaves plain cells": Case(changed(split("q2-answer", "answer_2b", metadata={}))),
    "two answers merged": Case(changed(merge("q1-answer", "q2-answer")), ["The cell q2-answer had been merged"]),
    "an answer and its check merged": Case(changed(merge("q1-answer", "q1-check")), ["The cell q1-check had been merged"]),
    "an answer in a new cell, the old one untouched": Case(
        changed(every(text("q1-answer", EMPTY_1), insert("q1-check", code(Q1)))),
        ["The answer q1-answer stood in a cell of its own; it was found by the name answer_1."],
    ),
    "an answer in a new cell above": Case(
        changed(every(text("q1-answer", EMPTY_1), insert("q1-answer", code(Q1)))),
        ["The answer q1-answer stood in a cell of its own"],
    ),
    "an answer in a new cell, the old one deleted": Case(
        changed(every(insert("q1-check", code(Q1)), delete("q1-answer"))), ["The answer q1-answer stood in a cell of its own"]
    ),
    "an answer in two new cells": Case(
        changed(every(insert("q2a-check", *[code(line) for line in Q2.split("\n") if line.strip()]), delete("q2-answer"))),
        ["The answer q2-answer stood in a cell of its own", "The answer q2-answer stood in a cell of its own"],
    ),
    "an answer typed into the check cell": Case(
        changed(every(text("q1-answer", EMPTY_1), text("q1-check", lambda old: old.replace("\n", f"\n{Q1}\n", 1)))),
        ["!The answer q1-answer was typed into the cell q1-check; it counts.", "The cell q1-check had been changed"],
    ),
    "half an answer typed into the check cell": Case(
        changed(
            every(
                text("q2-answer", Q2.replace(Q2.split("answer_2b = ")[1], "...")),
                text("q2b-check", lambda old: f"answer_2b = {Q2.split('answer_2b = ')[1]}\n{old}"),
            )
        ),
        ["!The answer q2-answer was typed into the cell q2b-check", "The cell q2b-check had been changed"],
    ),
    "another answer in the check cell": Case(
        changed(text("q1-check", lambda old: f"answer_1 = 'A'\n{old}")), ["The cell q1-check had been changed"]
    ),
    "answers in another order": Case(changed(shuffled), ["The answers stood in another order"]),
    "the cell of another question, filled in for this one": Case(changed(text("q2-answer", "# q1-answer · a letter\n" + Q2))),
    "a helper above, used by an answer": Case(
        changed(every(insert("q6-answer", code(HELPER)), text("q7-answer", WITH_HELPER))),
    ),
    "a helper below, used by an answer": Case(
        changed(
            every(insert("q7-check", code("1 +"), code(HELPER)), text("q7-answer", lambda old: old.replace("# your", "same([], [])  # my")))
        ),
    ),
    "a first try that raises, above": Case(changed(insert("q6-answer", code("verify_greedy([1, 2], [1])"), code("1 / 0")))),
    "an import above the first line": Case(changed(text("q1-answer", lambda old: "import math\n" + old))),
    # Metadata, ids, formats.
    "all metadata lost": Case(changed(no_metadata), [LOST]),
    "all metadata and ids lost": Case(changed(every(no_metadata, no_ids)), ["cells had no id", LOST]),
    "metadata, ids and first lines lost": Case(
        changed(every(text("q1-answer", Q1), text("q6-answer", KEY["q6-answer"].split("\n", 1)[1]), no_metadata, no_ids)),
        ["cells had no id", "The answer q1-answer stood", "The answer q6-answer stood", LOST],
    ),
    "nbgrader's metadata is no dict": Case(changed(text("q1-answer", str, metadata={"nbgrader": []})), [LOST]),
    "the same id everywhere": Case(
        changed(lambda notebook: [each.update(id="a") for each in notebook["cells"]]), ["Several cells had the same id."]
    ),
    "ids that are numbers": Case(changed(lambda notebook: [each.update(id=1) for each in notebook["cells"]]), ["cells had no id"]),
    "from Colab": Case(changed(colab), ["old format 4.0", "state of widgets", LOST]),
    "from VS Code": Case(changed(vs_code), ["the kernel venv-3.12"]),
    **{f"nbformat 4.{minor}": Case(changed(old_format(minor)), [f"old format 4.{minor}"]) for minor in range(5)},
    "a foreign kernel": Case(
        changed(lambda notebook: notebook["metadata"].update(kernelspec={"name": "conda-env-ml-py", "language": "python"})),
        ["the kernel conda-env-ml-py"],
    ),
    "a foreign language": Case(
        changed(lambda notebook: notebook["metadata"].update(kernelspec={"name": "ir", "language": "R"})), ["!for the language r"]
    ),
    "no kernelspec": Case(changed(lambda notebook: notebook["metadata"].clear())),
    "widgets without state": Case(
        changed(lambda notebook: notebook["metadata"].update(widgets={"application/vnd.jupyter.widget-state+json": {}})),
        ["state of widgets"],
    ),
    "code cells without outputs": Case(changed(lambda notebook: [each.pop("outputs", 0) for each in notebook["cells"]])),
    "UTF-8 with a mark in front": Case(b"\xef\xbb\xbf" + changed(lambda _: None)),
    "UTF-16": Case(changed(lambda _: None).decode().encode("utf-16"), ["UTF-16"]),
    "Windows line ends": Case(
        changed(lambda notebook: [each.update(source=each["source"].replace("\n", "\r\n")) for each in notebook["cells"]])
    ),
    # Names.
    **{
        f"called {name}": Case(changed(lambda _: None), [f"The file was called {name}."], name=name)
        for name in ("knowledge_check (1).ipynb", "knowledge_check-1.ipynb", "knowledge_check.ipynb.json")
    },
    # What cannot be run as it is.
    "a cell for Colab": Case(
        changed(insert("q1-answer", code("from google.colab import drive\ndrive.mount('/content/drive')"))),
        ["extra-1 was run without what works on Colab"],
    ),
    "Colab in an answer cell": Case(
        changed(text("q1-answer", lambda old: f"{old}\nimport google.colab\nfrom google.colab import files\nfiles.download('x')")),
        ["q1-answer was run without what works on Colab"],
    ),
    "input in a cell": Case(changed(insert("q1-answer", code(INPUT))), ["extra-1 was run without a line that waits for input"]),
    "input in an answer cell": Case(
        changed(text("q1-answer", lambda old: f"{INPUT}\n{old}")), ["q1-answer was run without a line that waits"]
    ),
    "an answer from the keyboard": Case(
        changed(text("q1-answer", "# q1-answer · a letter\nanswer_1 = input('Your answer: ')")),
        ["!q1-answer was run without a line that waits"],
        {"q1-check": 2},
    ),
    "commands of the notebook": Case(
        changed(text("q1-answer", lambda old: f"%%time\n!pip install numpy\n%matplotlib inline\nlist?\n{old}")),
        ["without commands of the notebook"],
    ),
    "a shell cell": Case(changed(insert("q1-answer", code("%%bash\nls -l"))), ["extra-1 was run without a %%bash cell"]),
    # Damage.
    "an answer that does not compile": Case(changed(text("q1-answer", "# q1-answer · a letter\nanswer_1 = 'B")), lost={"q1-check": 2}),
    "two versions of an answer": Case(conflict("'B'", "'C' # as it was, or not?"), ["!unfinished merge"], {"q5-check": 2}),
    "two versions that are equal": Case(conflict("'B'", "'A'"), ["!unfinished merge"]),
    "a Python file": Case(
        script(filled_in({})),
        ["!This is a Python file", LOST, *[f"The cell {each} had been changed" for each in FOLLOWED]],
    ),
    "cut off near the end": Case(cut(0.995), ["!The file is damaged"]),
}

NOTHING = {
    "empty": (b"", "is empty"),
    "blank": (b" \r\n\0\n", "is empty"),
    "a web page": (b"<!DOCTYPE html><html><body>Sign in", "is a web page"),
    "a web page, with blanks and a mark": (b"\xef\xbb\xbf\n  <html lang='en'>" + changed(lambda _: None), "is a web page"),
    "a zip": (b"PK\x03\x04...", "is a zip archive"),
    "a PDF": (b"%PDF-1.7", "is a PDF"),
    "a picture": (b"\x89PNG\r\n", "is a picture"),
    "a Word document": (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Office document"),
    "broken": (b'{"cells": [{"cell_type": "code", "source": "', "damaged"),
    "noise": (bytes(range(256)) * 20, "is a text"),
    "a text": (b"My answers: 1 B, 2 C", "is a text"),
    "a list": (b"[1, 2]", "has no cells"),
    "another JSON": (b'{"name": "x"}', "has no cells"),
    "cells that are none": (b'{"cells": {"a": 1}}', "has no cells"),
    "no cell": (b'{"cells": []}', "None of the answer cells"),
    "cells of anything": (b'{"cells": [1, null, {"cell_type": null, "source": null, "metadata": 5}]}', "None of the answer cells"),
    "very deep": (b'{"cells": ' + b"[" * 100_000, "damaged"),
    "the chapter": (saved({"cells": [code("import torch\ntorch.rand(10_000, 10_000)")]}), "hand in the knowledge check, not the chapter"),
    "another chapter's check": (saved(filled_in({}, "06_draft_sources")), "'Knowledge check: greedy verification' was asked for"),
}


@pytest.mark.parametrize("case", BANK)
def test_the_bank(case):
    given = BANK[case]
    repaired = repair(source(), given.given, given.name)
    assert repaired.unreadable is None
    found = [note.replace(LOOK, "!") for note in repaired.notes]
    assert len(found) == len(given.notes), found
    for note, wanted in zip(found, given.notes, strict=True):
        assert wanted.lstrip("!") in note and note.startswith("!") == wanted.startswith("!"), found
    assert marks(repaired.answers) == {check: full - given.lost.get(check, 0) for check, full in FULL.items()}


@pytest.fixture(scope="module")
def sandbox():
    return find(hidden=QUIZZES)


@pytest.mark.parametrize("case", BANK)
def test_the_grader_gives_these_marks(case, sandbox):
    given = BANK[case]
    outcome = grade(source(), repair(source(), given.given, given.name).answers, sandbox=sandbox)
    assert {check: result.points for check, result in outcome.checks.items()} == {
        check: full - given.lost.get(check, 0) for check, full in FULL.items()
    }


@pytest.mark.parametrize("case", BANK)
def test_what_comes_out_is_what_was_handed_out(case):
    given = BANK[case]
    notebook = repair(source(), given.given, given.name).notebook
    nbformat.validate(notebook)
    kept = [each for each in notebook.cells if not each.id.startswith(("extra-", "text-", "before-"))]
    wanted = released(source()).cells
    assert [(each.id, each.cell_type, each.metadata) for each in kept] == [(each.id, each.cell_type, each.metadata) for each in wanted]
    assert all(one.source == other.source for one, other in zip(kept, wanted, strict=True) if not one.id.endswith("-answer"))
    assert "HIDDEN" not in nbformat.writes(notebook) and "SOLUTION" not in nbformat.writes(notebook)
    assert (notebook.cells[0].id == "before-grading") == bool(given.notes)


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_be_graded(case):
    given, says = NOTHING[case]
    repaired = repair(source(), given)
    assert says in repaired.unreadable and repaired.unreadable.endswith(".")
    assert repaired.unreadable in repaired.notebook.cells[0].source
    assert sum(marks(repaired.answers).values()) == 0 and set(repaired.answers) == set(KEY)
    nbformat.validate(repaired.notebook)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_damaged_file_earns_what_can_still_be_read(share):
    repaired = repair(source(), cut(share))
    got = marks(repaired.answers)
    whole = [check for check, points in got.items() if points]
    assert whole == list(FULL)[: len(whole)] and all(got[check] == FULL[check] for check in whole) and repaired.to_look_at
    assert sum(got.values()) < 20 and (share < 0.5 or sum(got.values()) > 0)


HOSTILE = {
    "merge marks without end": b"<<<<<<< a\n" * 100_000,
    "cells in cells": b'{"cell_type": [1, ' * 100_000,
    "long lists that never end": b'{"cells": [' + (b'{"cell_type": [' + b"1," * 20_000) * 50,
    "a title with many blanks": saved({"cells": [{"cell_type": "markdown", "source": "# Knowledge check: " + " " * 10**6 + "x"}]}),
    "a deep expression": changed(text("q1-answer", "# q1-answer · x\nanswer_1 = " + "-" * 3_000 + "1")),
    "a deep expression in a check": changed(text("q1-check", lambda old: old + "\nx = " + "-" * 900 + "1")),
    "many brackets": changed(text("q1-answer", "# q1-answer · x\nanswer_1 = " + "(" * 10_000)),
    "a list of millions": changed(text("q1-answer", "# q1-answer · x\nanswer_1 = [" + "1," * 3_000_000 + "]")),
    "a surrogate": changed(text("q1-answer", "# q1-answer · x\nanswer_1 = '\\ud800'")),
    "a null": changed(text("q1-answer", "# q1-answer · x\nanswer_1 = '\0'")),
    "many cells": changed(lambda notebook: notebook["cells"].extend([code("x = 1", id=f"c{number}") for number in range(30_000)])),
    "many cells in front of a check": changed(insert("q1-check", *[code(f"x = {number}", id=f"c{number}") for number in range(2_000)])),
    "millions of cells": b'{"cells": [' + b"{}," * (5 * 2**20) + b"{}]}",
    "a cell of 5 MB": changed(text("q1-answer", "# q1-answer · x\n#" + "x" * 5_000_000)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_keeps_the_instructor_waiting(case):
    began = time.process_time()
    repaired = repair(source(), HOSTILE[case])
    assert time.process_time() - began < 3 and set(repaired.answers) >= set(KEY)
    assert repaired.unreadable or sum(marks({id_: text for id_, text in repaired.answers.items() if id_ != "q1-answer"}).values()) == 18


def test_a_hole_in_the_middle_costs_one_cell():
    whole = changed(lines).decode()
    repaired = repair(source(), whole.replace('"# q1-answer', "# q1-answer", 1).encode())
    assert marks(repaired.answers) == {**FULL, "q1-check": 0}


def test_what_the_student_wrote_besides_stays_where_it_was():
    added = code("helper = 1"), {"cell_type": "markdown", "metadata": {}, "source": "My *thoughts*"}
    repaired = repair(source(), changed(insert("q2-answer", *added)))
    ids = [each.id for each in repaired.notebook.cells]
    before = [each.id for each in source().cells]
    at = ids.index("extra-1")
    assert ids[at - 1] == before[before.index("q2-answer") - 1] and ids[at + 1].startswith("text-") and ids[at + 2] == "q2-answer"
    assert list(repaired.answers)[:4] == ["id-answer", "q1-answer", "extra-1", "q2-answer"]


def test_the_student_sees_the_own_words_and_what_is_run_is_cleaned():
    given = changed(text("q1-answer", lambda old: f"{old}\n!pip install x"))
    repaired = repair(source(), given)
    shown = next(each for each in repaired.notebook.cells if each.id == "q1-answer")
    assert "!pip" in shown.source and "!pip" not in repaired.answers["q1-answer"]


def test_what_a_name_says_is_shown_as_text():
    kernel = changed(lambda notebook: notebook["metadata"].update(kernelspec={"name": "<script>1</script>", "language": "python"}))
    shown = repair(source(), kernel, "<img src=x>.ipynb").notebook.cells[0].source
    assert "&lt;script&gt;" in shown and "&lt;img" in shown and "<" not in shown


def test_no_html_of_a_students_comes_into_the_instructors_browser():
    """The formgrader shows the texts of a notebook as they are."""
    own = {"cell_type": "markdown", "metadata": {}, "source": "<script>x</script> and a<b, 3 < 4 <img src=x onerror=x>"}
    shown = [each.source for each in repair(source(), changed(insert("q2-answer", own))).notebook.cells if each.id.startswith("text-")]
    assert shown == ["&lt;script>x&lt;/script> and a&lt;b, 3 < 4 &lt;img src=x onerror=x>"]


def test_what_comes_out_can_be_written(tmp_path):
    """Half of a surrogate pair stands in JSON as six harmless letters; and names are free to hold what moves a terminal's cursor."""
    given = changed(every(text("q1-answer", "x = 'QQ'"), lambda notebook: notebook["metadata"].update(kernelspec={"name": "\x1b]0;x\x07"})))
    repaired = repair(source(), given.replace(b"QQ", b"\\ud800"), "n\udcff\n.ipynb")
    nbformat.write(repaired.notebook, tmp_path / "a.ipynb")
    assert all(note.encode() and note.isprintable() for note in repaired.notes) and len(repaired.notes) == 2


def test_the_same_twice_is_the_same():
    """What was repaired needs no repair, so a second run changes nothing."""
    for case in BANK.values():
        first = repair(source(), case.given, case.name)
        again = repair(source(), nbformat.writes(first.notebook).encode())
        assert marks(again.answers) == marks(first.answers)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_it_is_released_as_nbgrader_does_it(chapter):
    theirs, _ = ClearSolutions(code_stub={"python": ""}).preprocess(knowledge_check(chapter), {})
    theirs, _ = ClearHiddenTests().preprocess(theirs, {})
    assert [each.source for each in released(knowledge_check(chapter)).cells] == [each.source for each in theirs.cells]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_without_metadata_and_without_first_lines(chapter):
    notebook = filled_in({}, chapter)
    every(no_metadata, no_ids)(notebook)
    assert marks(repair(source(chapter), saved(notebook)).answers, chapter) == bank(chapter).CHECKS
    for each in notebook["cells"]:
        if "-answer" in each["source"].partition("\n")[0]:
            each["source"] = each["source"].partition("\n")[2]
    assert marks(repair(source(chapter), saved(notebook)).answers, chapter) == bank(chapter).CHECKS


def test_the_source_is_left_alone():
    before = nbformat.writes(source())
    for case in BANK.values():
        repair(source(), case.given)
    assert nbformat.writes(source()) == before
    assert CHAPTER.startswith("02") and json.loads(before)["nbformat"] == 4
