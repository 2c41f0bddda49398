"""In the place of nbgrader's Execute: gives cells the outputs that our own grader has found, from which nbgrader reads the marks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode


class FillIn(NbGraderPreprocessor):
    """A preprocessor of nbgrader's. A check of which nothing is known gives 0: nbgrader gives full marks to a cell without output."""

    outcomes = Unicode(help="The folder with <student>.json, as written by specdec_lab.instructor.workers.").tag(config=True)

    def preprocess(self, notebook: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        student = resources["nbgrader"]["student"]
        outcome = json.loads((Path(self.outcomes) / f"{student}.json").read_text(encoding="utf-8"))
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            of = cell.metadata.get("nbgrader", {})
            if of.get("grade"):
                cell.outputs = _marked(outcome["checks"].get(of["grade_id"]))
            else:
                cell.outputs = _ran(outcome["answers"].get(of.get("grade_id", cell.get("id"))))
            cell.execution_count = None
        return notebook, resources


def _marked(check: dict[str, Any] | None) -> list[NotebookNode]:
    if check is None:
        return [_error("NotGraded: there is no mark for this cell; please tell your instructor.")]
    outputs = [new_output("stream", name="stdout", text=check["output"])] if check["output"] else []
    if check["error"]:
        return [*outputs, _error(check["error"])]
    return [*outputs, new_output("execute_result", data={"text/plain": f"{check['points']:g}"}, execution_count=None)]


def _ran(answer: dict[str, Any] | None) -> list[NotebookNode]:
    if answer is None:
        return []
    outputs = [new_output("stream", name="stdout", text=answer["output"])] if answer["output"] else []
    return [*outputs, *([_error(answer["error"])] if answer["error"] else [])]


def _error(text: str) -> NotebookNode:
    name, _, message = text.partition(": ")
    return new_output("error", ename=name if message else "Stopped", evalue=message or text, traceback=[text])
