"""Answers get the same marks through the sandbox as in one process with the checks: no quiz has to know where it is graded.

An answer to each code question, right or wrong, goes into one notebook with answers to the others: what is compared is every check.
"""

from __future__ import annotations

import functools

import pytest

from specdec_lab.instructor.grader import grade
from specdec_lab.instructor.sandbox import Sandbox, find
from tests.instructor.test_hostile import points
from tests.quizzes.source import CHAPTERS, bank, has_bank, knowledge_check, marks

BANKS = [chapter for chapter in CHAPTERS if has_bank(chapter)]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find()


@functools.cache
def source(chapter: str):
    return knowledge_check(chapter)


def code_cells(chapter: str) -> list[str]:
    answers: dict[str, bool] = {}
    for cell in source(chapter).cells:
        if cell.id.endswith("-answer"):
            last = cell.id
        elif cell.id.endswith("-check") and "assert callable(" in cell.source:
            answers[last] = True
    return list(answers)


def notebooks(chapter: str) -> list[dict[str, str]]:
    """What replaces the key: the learners; the malformed answers; and every answer to a code question, as many at once as there are."""
    its = bank(chapter)
    cells = code_cells(chapter)
    given = [*its.RIGHT, *((cell, answer) for cell, answer, _ in its.WRONG.values())]
    columns = [[(cell, answer) for cell, answer in given if cell == wanted] for wanted in cells]
    rows = [dict(column[row] for column in columns if row < len(column)) for row in range(max(map(len, columns)))]
    return [*(answers for answers, _ in its.LEARNERS.values()), its.MALFORMED, *rows]


@pytest.mark.parametrize("chapter", BANKS)
def test_the_same_marks(chapter, sandbox):
    key = {cell.id: cell.source for cell in source(chapter).cells if cell.id.endswith("-answer")}
    for answers in notebooks(chapter):
        expected = {check: got for check, (got, _) in marks(source(chapter), answers).items()}
        assert points(grade(source(chapter), key | answers, sandbox=sandbox)) == expected, answers


@pytest.mark.parametrize("chapter", BANKS)
def test_the_same_words(chapter, sandbox):
    """The sentences for the student are those of the check, whether it prints them or fails with them."""
    key = {cell.id: cell.source for cell in source(chapter).cells if cell.id.endswith("-answer")}
    learner = list(bank(chapter).LEARNERS.values())[1][0]
    for answers in (learner, bank(chapter).MALFORMED):
        found = grade(source(chapter), key | answers, sandbox=sandbox)
        for check, (_, message) in marks(source(chapter), answers).items():
            assert found.checks[check].output + found.checks[check].error == message, check
