"""The marks of an assignment, read from nbgrader's gradebook, with what each student answered, read from the notebooks in `autograded/`."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import nbformat

from specdec_lab.instructor.course import Course
from specdec_lab.instructor.matching import Form, form, released
from specdec_lab.instructor.python_text import parse
from specdec_lab.instructor.repair import NOTEBOOK


@dataclass(frozen=True)
class Check:
    """One check cell: points earned of those it is worth, what was answered, and what the check said last. Empty texts where not known."""

    points: float
    worth: float
    answer: str = ""
    said: str = ""


@dataclass(frozen=True)
class Mark:
    """One student's. `points` is after the late `penalty`; without a submission both are 0 and `checks` is empty."""

    student: str
    name: str
    email: str
    lms_id: str
    handed_in: bool = False
    points: float = 0.0
    penalty: float = 0.0
    worth: float = 0.0
    time: str = ""
    checks: dict[str, Check] = field(default_factory=dict)


def marks(course: Course, assignment: str) -> list[Mark]:
    """Everybody whom the gradebook knows, by name. A mark that somebody changed in the formgrader is the one that counts."""
    wanted = form(released(course.source(assignment)))
    found = []
    with course.gradebook() as gradebook:
        submissions = {each.student.id: each for each in gradebook.assignment_submissions(assignment)}
        worth = gradebook.find_assignment(assignment).max_score
        for student in gradebook.students:
            name = ", ".join(part for part in (student.last_name, student.first_name) if part) or student.id
            person = (student.id, name, student.email or "", student.lms_user_id or "")
            if (submission := submissions.get(student.id)) is None:
                found.append(Mark(*person, worth=worth))
                continue
            penalty = submission.late_submission_penalty or 0.0
            answers = _answers(course, assignment, student.id, wanted)
            grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
            checks = {each.name: Check(each.score or 0.0, each.max_score, *answers.get(each.name, ("", ""))) for each in grades}
            time = f"{submission.timestamp:%Y-%m-%d %H:%M}" if submission.timestamp else ""
            points = max(0.0, submission.score - penalty)
            found.append(
                Mark(*person, True, points, penalty, worth, time, {name: checks[name] for name in wanted.checks if name in checks})
            )
    return sorted(found, key=lambda each: (each.name.casefold(), each.student))


def _answers(course: Course, assignment: str, student: str, wanted: Form) -> dict[str, tuple[str, str]]:
    """By check cell: the values that it looks at, as far as they can be read from the text, and the last line it printed.

    A number for a question whose numbers are drawn says nothing beside those of others, and is left out; the sentence names the mistake.
    """
    path = course.path("autograded", assignment, student) / NOTEBOOK
    if not path.exists():
        return {}
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in nbformat.read(path, as_version=4).cells}
    found = {}
    for check, text in wanted.checks.items():
        of = wanted.answer_of[check]
        names = [name for name in sorted(wanted.names(of)) if re.search(rf"\b{name}\b", text)]
        values = [value for value in (given(cells[of].source if of in cells else "", name) for name in names) if value]
        if of.replace("-answer", "-numbers") in wanted.numbers:
            values = [value for value in values if value.isalpha()]
        found[check] = ", ".join(values), _said(cells[check]) if check in cells else ""
    return found


def given(source: str, name: str) -> str:
    """The value that a cell gives to a name, without running it: a constant or plain arithmetic, other code as it is written, else ""."""
    tree = parse(source)
    value = None
    for statement in tree.body if tree else []:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for target in targets:
            value = dict(_pairs(target, statement.value)).get(name, value)  # type: ignore[attr-defined]
    if value is None or (isinstance(value, ast.Constant) and value.value is ...):
        return ""
    for read in (_value, ast.unparse):
        with contextlib.suppress(ValueError, TypeError, ArithmeticError, RecursionError):
            return _short(read(value))
    return ""


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, other)


def _value(node: ast.expr) -> object:
    """Raises ValueError for what is more than numbers, + - * / and the brackets of lists."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(each) for each in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(number := _value(node.operand), (int, float)):
        return -number
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            if isinstance(node.op, (ast.Add, ast.Sub)):
                return left + right if isinstance(node.op, ast.Add) else left - right
            if isinstance(node.op, (ast.Mult, ast.Div)):
                return left * right if isinstance(node.op, ast.Mult) else left / right
    raise ValueError


def _short(value: object) -> str:
    """Numbers that agree to four digits are the same answer."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"[:60]
    return str(value)[:60]


def _said(cell: nbformat.NotebookNode) -> str:
    lines = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            lines += output.text.splitlines()
        elif output.output_type == "error":
            lines.append(f"{output.evalue or ' '.join(output.traceback[-1:])}")
    wrong = [line for line in lines if "think again" in line] or lines[-1:]
    return wrong[0].strip()[:200] if wrong else ""
