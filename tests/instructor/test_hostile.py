"""No submission stops the grader or loses points that it has earned, and each student is told what happened."""

from __future__ import annotations

import time

import pytest

from specdec_lab.instructor.grader import Outcome, grade
from specdec_lab.instructor.sandbox import Limits, Sandbox, find
from tests.instructor.bank_hostile import ENDLESS, HOSTILE
from tests.quizzes.source import bank, knowledge_check

CHAPTER = "02_greedy_verification"
SOURCE = knowledge_check(CHAPTER)
KEY = {cell.id: cell.source for cell in SOURCE.cells if cell.id.endswith("-answer")}
SHORT = Limits(cell_seconds=1.0, total_seconds=40.0)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return find()


def graded(sandbox: Sandbox, answers: dict[str, str], limits: Limits = SHORT) -> Outcome:
    return grade(SOURCE, KEY | answers, limits, sandbox=sandbox)


def points(outcome: Outcome) -> dict[str, float]:
    return {check: result.points for check, result in outcome.checks.items()}


def less(lost: dict[str, float]) -> dict[str, float]:
    return {check: full - lost.get(check, 0) for check, full in bank(CHAPTER).CHECKS.items()}


def told(outcome: Outcome) -> str:
    """All that the student reads."""
    checks = [f"{each.output}{each.error}" for each in outcome.checks.values()]
    return "\n".join([*checks, *(f"{each.output}{each.error}" for each in outcome.answers.values())])


@pytest.mark.parametrize("name", HOSTILE)
def test_it_keeps_what_was_earned_and_says_what_happened(name, sandbox):
    answers, lost, sentence = HOSTILE[name]
    began = time.monotonic()
    outcome = graded(sandbox, answers, SHORT if sentence in (ENDLESS, "") else Limits())
    assert points(outcome) == less(lost)
    assert sentence in told(outcome)
    assert len(told(outcome)) < 60_000
    told(outcome).encode()
    assert time.monotonic() - began < 40


def test_a_notebook_that_takes_too_long_in_all_has_the_marks_until_then(sandbox):
    slow = {id_: f"{source}\nimport time\ntime.sleep(0.5)" for id_, source in KEY.items()}
    outcome = graded(sandbox, slow, Limits(cell_seconds=1.0, total_seconds=1.8))
    assert points(outcome)["q1-check"] == 2 and points(outcome)["q7-check"] == 0
    assert "The time for the whole notebook was used up." in told(outcome)
