"""Questions with numbers of their own: the key is right with all of them, and somebody else's answers are wrong."""

from __future__ import annotations

import functools
import itertools
import re

import pytest

from tests.quizzes.source import CHAPTERS, DRAW, ID, bank, has_bank, knowledge_check, marks, run

FEWEST = 6
NOTEBOOKS = {chapter: knowledge_check(chapter) for chapter in CHAPTERS}
DRAWN = [
    (chapter, cell.id.partition("-")[0])
    for chapter, notebook in NOTEBOOKS.items()
    for cell in notebook.cells
    if cell.id.endswith("-numbers") and cell.id != DRAW
]
each_question = pytest.mark.parametrize("chapter, question", DRAWN, ids=lambda what: what[:2])


@functools.cache
def alone(chapter: str, question: str):
    """The knowledge check with this one question, and the names it draws."""
    notebook = NOTEBOOKS[chapter].copy()
    notebook.cells = [cell for cell in notebook.cells if re.match(rf"(id|draw|{question}[a-f]?)-", cell.id)]
    return notebook


def source(chapter: str, id_: str) -> str:
    return next(cell.source for cell in NOTEBOOKS[chapter].cells if cell.id == id_)


@functools.cache
def choices(chapter: str, question: str) -> list[tuple]:
    found: list[tuple] = []
    run(source(chapter, f"{question}-numbers"), {"drawn": lambda name, *choices: found.extend(choices) or choices[0]})
    return found


def names(chapter: str, question: str) -> set[str]:
    namespace: dict[str, object] = {"drawn": lambda name, *choices: choices[0]}
    run(source(chapter, f"{question}-numbers"), namespace)
    return {name for name in namespace if not name.startswith("_")} - {"drawn"}


def key(chapter: str, question: str, choice: int) -> dict[str, object]:
    """The right values of a question's answers."""
    namespace: dict[str, object] = {}
    marks(alone(chapter, question), {}, choice, namespace)
    return {name: value for name, value in namespace.items() if name.startswith("answer_")}


def lost(chapter: str, question: str, answer: str, choice: int) -> dict[str, float]:
    found = marks(alone(chapter, question), {f"{question}-answer": answer}, choice)
    return {check: bank(chapter).CHECKS[check] - got for check, (got, _) in found.items() if got != bank(chapter).CHECKS[check]}


def in_bank(name: str):
    cases = []
    for chapter, question in DRAWN:
        entries = getattr(bank(chapter), name) if has_bank(chapter) else ()
        for number, entry in enumerate(entries):
            cell = entries[entry][0] if isinstance(entries, dict) else entry[0]
            if cell == f"{question}-answer":
                cases.append(pytest.param(chapter, question, entry, id=f"{chapter[:2]}-{entry if isinstance(entry, str) else number}"))
    return pytest.mark.parametrize("chapter, question, entry", cases)


def test_there_are_some_in_every_chapter():
    for chapter in CHAPTERS:
        assert len([question for of, question in DRAWN if of == chapter]) >= (2 if chapter[:2] != "00" else 1), chapter


@each_question
def test_the_key_is_right_with_all_numbers(chapter, question):
    assert len(set(choices(chapter, question))) >= FEWEST
    for choice in range(len(choices(chapter, question))):
        assert {check: got for check, (got, _) in marks(alone(chapter, question), {}, choice).items()} == {
            check: points for check, points in bank(chapter).CHECKS.items() if re.match(rf"{question}[a-f]?-", check)
        }


@each_question
def test_answers_of_somebody_with_other_numbers_fail(chapter, question):
    """Copied answers lose points with any other numbers, and each part that is a number has at least three different right answers."""
    keys = [key(chapter, question, choice) for choice in range(len(choices(chapter, question)))]
    for mine, theirs in itertools.permutations(range(len(keys)), 2):
        copied = "\n".join(f"{name} = {value!r}" for name, value in keys[theirs].items())
        assert lost(chapter, question, copied, mine), (
            f"{choices(chapter, question)[mine]} takes the answers of {choices(chapter, question)[theirs]}"
        )
    for name in keys[0]:
        if isinstance(keys[0][name], (int, float)):
            assert len({round(float(each[name]), 6) for each in keys}) >= 3, name


@in_bank("RIGHT")
def test_right_answers_are_right_with_all_numbers(chapter, question, entry):
    for choice in range(len(choices(chapter, question))):
        assert not lost(chapter, question, entry[1], choice), choices(chapter, question)[choice]


@in_bank("WRONG")
def test_wrong_answers_are_wrong_with_all_numbers_and_the_sentence_keeps_the_key(chapter, question, entry):
    _, answer, wanted = bank(chapter).WRONG[entry]
    for choice in range(len(choices(chapter, question))):
        assert lost(chapter, question, answer, choice) == wanted, choices(chapter, question)[choice]
        right = [f"{value:g}" for value in key(chapter, question, choice).values() if isinstance(value, (int, float))]
        for check, (_, message) in marks(alone(chapter, question), {f"{question}-answer": answer}, choice).items():
            if check in wanted:
                said = message.split("think again")[-1].split(" Read ")[0]
                assert not [value for value in right if re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", said)], said


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_two_questions_draw_the_same_name(chapter):
    """Who goes back to an earlier question must not find the numbers of a later one."""
    drawn = [name for of, question in DRAWN if of == chapter for name in names(chapter, question)]
    assert len(drawn) == len(set(drawn)), drawn


def draw(id_: str, salt: str = "specdec-lab", question: str = "0.1") -> int:
    namespace: dict[str, object] = {}
    run(f"learner = {id_}", namespace)
    run(source(CHAPTERS[0], DRAW).replace('SALT = "specdec-lab"', f'SALT = "{salt}"'), namespace)
    return namespace["drawn"](question, *range(8))  # type: ignore[operator]


def test_an_id_has_always_the_same_numbers_and_nobody_has_the_first():
    assert draw('"ada"') == draw('" Ada "') == draw('"ADA"') and draw("12345") == draw('"12345"')
    assert draw("...") == draw('""') == draw('"  "') == 0
    ids = [f'"student{n}"' for n in range(200)]
    assert {draw(id_) for id_ in ids} == set(range(8))
    assert 10 < sum(draw(id_) == draw(id_, question="0.2") for id_ in ids) < 50
    assert 10 < sum(draw(id_) == draw(id_, salt="spring") for id_ in ids) < 50


def test_the_draw_needs_no_cell_above_it():
    namespace: dict[str, object] = {}
    run(source(CHAPTERS[0], DRAW), namespace)
    assert namespace["drawn"]("0.1", "a", "b") == "a"  # type: ignore[operator]


def test_without_dots_replaced_there_is_no_id():
    namespace: dict[str, object] = {}
    run(source(CHAPTERS[0], ID), namespace)
    assert namespace["learner"] is ...
