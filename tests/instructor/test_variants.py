"""Numbers of one's own, when grading: they are drawn by the owner's id and the salt that was handed out, whatever the notebook says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from specdec_lab.instructor.autograde import autograde
from specdec_lab.instructor.course import Course
from specdec_lab.instructor.grader import Outcome, grade
from specdec_lab.instructor.repair import repair
from specdec_lab.instructor.sandbox import Sandbox, find
from specdec_lab.instructor.summary import Status
from specdec_lab.instructor.variants import drawn_by, salt_of, salted, spellings
from tests.instructor.handed_in import Notebook, cell, code, entered, filled_in, saved, source
from tests.quizzes.source import QUIZZES, run

CHAPTER = "00_start_here"
FULL, COPIED = {"q1-check": 1.0, "q2-check": 1.0, "q3-check": 2.0}, {"q1-check": 0.0, "q2-check": 1.0, "q3-check": 2.0}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find()


def numbers(student: str, salt: str = "specdec-lab") -> tuple[int, int]:
    """n and a of question 1."""
    namespace: dict[str, object] = {"learner": student}
    for each in salted(source(CHAPTER).copy(), salt).cells:
        if each.id in ("draw-numbers", "q1-numbers"):
            run(each.source.replace('SALT = "specdec-lab"', f"SALT = {json.dumps(salt)}"), namespace)
    return namespace["n"], namespace["a"]  # type: ignore[return-value]


def literally(student: str, salt: str = "specdec-lab") -> dict[str, str]:
    """Question 1 as it is answered with pencil and paper, for this student's numbers."""
    n, a = numbers(student, salt)
    return {"q1-answer": f"answer_1 = {n - a}"}


def marked(sandbox: Sandbox, answers: dict[str, str], own: list[str], change: Callable[[Notebook], object] = lambda _: None) -> Outcome:
    notebook = filled_in(answers, CHAPTER)
    change(notebook)
    repaired = repair(source(CHAPTER), saved(notebook))
    assert repaired.unreadable is None
    return grade(source(CHAPTER), repaired.answers, sandbox=sandbox, own=own)


def points(outcome: Outcome) -> dict[str, float]:
    return {check: result.points for check, result in outcome.checks.items()}


def test_these_four_differ():
    assert len({numbers(student) for student in ("ada", "bo", "di", "")}) == 4 and numbers("") == (48, 20)


@pytest.mark.parametrize("entry", ['"ada"', '" Ada "', '"ada@uni.edu"', '"ADA@uni.edu"', "7085", '"7085"'])
def test_the_owners_own_numbers(sandbox, entry):
    who = str(eval(entry)).strip().casefold()
    found = marked(sandbox, {"id-answer": f"learner = {entry}", **literally(who)}, spellings(["ada", "ada@uni.edu", "7085"]))
    assert points(found) == FULL and not found.notes


def test_a_copied_notebook_fails_and_is_named(sandbox):
    found = marked(sandbox, {**entered("ada"), **literally("ada")}, ["bo"])
    assert points(found) == COPIED
    assert found.notes == ["The id at the top, 'ada', is not this student's; it was graded by the numbers of 'bo'."]
    assert "is not this student's" in found.answers["draw-numbers"].output, "the student reads it, too"


def test_copied_answers_under_ones_own_id_fail(sandbox):
    found = marked(sandbox, {**entered("bo"), **literally("ada")}, ["bo"])
    assert points(found) == COPIED and not found.notes


def test_a_formula_of_the_names_holds_for_everybody(sandbox):
    for student in ("ada", "bo"):
        assert points(marked(sandbox, {**entered(student), "q1-answer": "answer_1 = n - a"}, [student])) == FULL


def test_no_id_has_the_numbers_of_everybody_without_one_and_is_named(sandbox):
    for answers in (
        {"id-answer": "learner = ..."},
        {"id-answer": 'learner = "  "'},
        {"id-answer": "learner = object()"},
        {"id-answer": "1 +"},
    ):
        found = marked(sandbox, {**answers, **literally("")}, ["ada"])
        assert points(found) == FULL, answers
        assert found.notes == ["No id was entered at the top, so it has the numbers that everybody without an id has."]


def test_where_nobody_knows_whose_it_is_what_was_entered_counts(sandbox):
    found = marked(sandbox, {**entered("di"), **literally("di")}, [])
    assert points(found) == FULL and not found.notes


def typed(id_: str, text: str) -> Callable[[Notebook], object]:
    return lambda notebook: cell(notebook, id_).update(source=f"# {id_} ·\n{text}")


HASH = """learner = "ada"
import hashlib
class Nothing:
    def digest(self): return bytes(32)
hashlib.sha256 = lambda data: Nothing()"""
BOTH = """class Both(str):
    def casefold(self): return ""
learner = Both("ada")"""
TAMPERED = {
    "another choice typed in": typed("q1-numbers", "n, a = 48, 20"),
    "the draw typed over": typed("draw-numbers", "def drawn(question, *choices): return choices[0]"),
    "another salt": typed("draw-numbers", 'SALT = "mine"'),
    "the names set again": lambda notebook: notebook["cells"].append(
        code("n, a, _id = 48, 20, ''\ndrawn = lambda _, *choices: choices[0]")
    ),
    "a hash that says nothing": typed("id-answer", HASH),
    "cells that are gone": lambda notebook: notebook["cells"].remove(cell(notebook, "q1-numbers")),
    "an id that is two": typed("id-answer", BOTH),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_numbers_cannot_be_chosen(sandbox, how):
    """With whatever trick: the numbers of nobody give nothing, and one's own count."""
    given = {**entered("ada")}
    assert points(marked(sandbox, {**given, **literally("")}, ["ada"], TAMPERED[how])) == COPIED
    assert points(marked(sandbox, {**given, **literally("ada")}, ["ada"], TAMPERED[how])) == FULL


def test_what_may_be_entered():
    assert spellings(["Ada", "ada@uni.edu", "", "7085"]) == ["ada", "ada@uni.edu", "7085"]
    assert drawn_by(" ADA", ["ada"]) == ("ada", "") and drawn_by(True, [])[0] == "true"
    assert drawn_by("x" * 500, ["ada"])[1].count("x") == 60


@pytest.fixture
def course(tmp_path: Path) -> Course:
    shutil.copytree(QUIZZES / "source" / CHAPTER, tmp_path / "source" / CHAPTER)
    config = (QUIZZES / "nbgrader_config.py").read_text(encoding="utf-8").replace('salt = "specdec-lab"', "salt = 'spring \"27\" \\\\ é'")
    (tmp_path / "nbgrader_config.py").write_text(config + 'c.Variants.also = {"bo": "bob"}\n', encoding="utf-8")
    return Course(tmp_path)


def test_the_courses_salt_goes_out_and_counts(course):
    salt = 'spring "27" \\ é'
    course.release(CHAPTER)
    released = json.loads((course.path("release", CHAPTER) / "knowledge_check.ipynb").read_text(encoding="utf-8"))
    assert course.salt(CHAPTER) == salt == salt_of(course.source(CHAPTER))
    handed_in = {
        "ada": {**entered("ada"), **literally("ada", salt)},
        "bo": {**entered("bob"), **literally("bob", salt)},  # who has entered what nobody expected, and was forgiven
        "cy": {**entered("cy"), **literally("ada", salt)},
        "di": {**entered("di"), **literally("di", "specdec-lab")},
    }
    assert numbers("di", salt) != numbers("di") and numbers("cy", salt) != numbers("ada", salt)
    for student, answers in handed_in.items():
        notebook = json.loads(json.dumps(released))
        for each in notebook["cells"]:
            each["source"] = answers.get(each["id"], each["source"])
        path = course.path("submitted", CHAPTER, student) / "knowledge_check.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(saved(notebook))
    rows = {row.student: row for row in autograde(course, CHAPTER, sandbox=find(hidden=course.root))}
    assert {student: row.points for student, row in rows.items()} == {"ada": 1.0, "bo": 1.0, "cy": 0.0, "di": 0.0}
    assert all(row.status is Status.graded for row in rows.values()), "an untouched locked cell is not a changed one"


def test_half_a_character_in_the_id_can_be_written_down():
    drawn, said = drawn_by("ad\ud800a\x1b[2J", ["ada"])
    assert drawn == "ada" and said.isprintable()
    said.encode()
