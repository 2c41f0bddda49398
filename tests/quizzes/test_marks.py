"""The bank of answers gets the marks it must; run in this process, so that many answers cost little."""

from __future__ import annotations

import re

import pytest

from tests.quizzes import bank_02
from tests.quizzes.source import CHAPTER_02, knowledge_check, marks, run, split, visible

NOTEBOOK = knowledge_check(CHAPTER_02)
CELLS = {cell.id: cell.source for cell in NOTEBOOK.cells}
UNTOUCHED = {id_: "\n".join(split(source, "SOLUTION")[0]) for id_, source in CELLS.items() if id_.endswith("-answer")}


def points(answers):
    return {check: got for check, (got, _) in marks(NOTEBOOK, answers).items()}


def less(lost):
    return {check: full - lost.get(check, 0) for check, full in bank_02.CHECKS.items()}


@pytest.mark.parametrize("learner", bank_02.LEARNERS)
def test_a_learner_with_one_misconception(learner):
    answers, lost = bank_02.LEARNERS[learner]
    assert points(answers) == less(lost)


@pytest.mark.parametrize("answers", [UNTOUCHED, bank_02.MALFORMED], ids=["untouched", "malformed"])
def test_form_earns_nothing(answers):
    assert points(answers) == less(bank_02.CHECKS)


@pytest.mark.parametrize("cell, answer", bank_02.RIGHT)
def test_a_right_answer_written_differently_gets_full_marks(cell, answer):
    assert points({cell: answer}) == bank_02.CHECKS


@pytest.mark.parametrize("misconception", bank_02.WRONG)
def test_a_wrong_answer_loses_what_it_should(misconception):
    cell, answer, lost = bank_02.WRONG[misconception]
    assert points({cell: answer}) == less(lost)


@pytest.mark.parametrize("misconception", bank_02.WRONG)
def test_feedback_says_where_to_read_and_keeps_the_key(misconception):
    cell, answer, lost = bank_02.WRONG[misconception]
    for check, (_, message) in marks(NOTEBOOK, {cell: answer}).items():
        if check not in lost:
            continue
        last = message.strip().splitlines()[-1]
        assert last.startswith(("Question", "AssertionError: Question")), last
        assert "in chapter 2" in message or "AssertionError" in message
        key = bank_02.KEYS.get(check)
        assert key is None or not re.search(key, message), message


@pytest.mark.parametrize("check, answer, says", bank_02.FORMS)
def test_a_wrong_form_is_named_in_one_sentence(check, answer, says):
    namespace = {}
    run(answer, namespace)
    _, message = run(visible(CELLS[check]), namespace)
    label = re.match(r"q(\d+[a-z]?)-", check)[1]
    assert message.startswith(f"AssertionError: Question {label}: ") and says in message
    assert message.count("\n") == 0 and message.endswith(".")


@pytest.mark.parametrize("check", bank_02.CHECKS)
def test_the_visible_checks_pass_the_key_quietly(check):
    namespace = {}
    for id_, source in CELLS.items():
        if id_.endswith("-answer"):
            run(source, namespace)
    assert re.fullmatch(r"Question \d[ab]?: the form( and the easy case are| is) fine\.\n", run(visible(CELLS[check]), namespace)[1])
