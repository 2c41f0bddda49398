"""Every bank of answers gets the marks it must; run in this process, so that many answers cost little."""

from __future__ import annotations

import functools
import re

import pytest

from tests.quizzes.source import CHAPTERS, ID, QUIZZES, bank, has_bank, knowledge_check, marks, number, read, run, split, visible

BANKS = {chapter: bank(chapter) for chapter in CHAPTERS if has_bank(chapter)}


@functools.cache
def notebook(chapter):
    return knowledge_check(chapter)


def cells(chapter):
    return {cell.id: cell.source for cell in notebook(chapter).cells}


def untouched(chapter):
    return {id_: "\n".join(split(source, "SOLUTION")[0]) for id_, source in cells(chapter).items() if id_.endswith("-answer")}


def points(chapter, answers):
    return {check: got for check, (got, _) in marks(notebook(chapter), answers).items()}


def less(chapter, lost):
    return {check: full - lost.get(check, 0) for check, full in BANKS[chapter].CHECKS.items()}


def every(name):
    """One case for each entry of the list or dict `name` of each bank: the chapter and the entry (of a dict, its key)."""
    entries = [(chapter, entry) for chapter, its in BANKS.items() for entry in getattr(its, name)]
    labels = [f"{chapter[:2]}-{entry if isinstance(entry, str) else entry[0]}" for chapter, entry in entries]
    return pytest.mark.parametrize("chapter, entry", entries, ids=labels)


each_chapter = pytest.mark.parametrize("chapter", BANKS)


@each_chapter
def test_the_bank_is_whole(chapter):
    its = BANKS[chapter]
    worth = {cell.id: cell.metadata.nbgrader.points for cell in notebook(chapter).cells if cell.id.endswith("-check")}
    assert worth == its.CHECKS
    assert next(iter(its.LEARNERS)) == "perfect" and its.LEARNERS["perfect"] == ({}, {}) and len(its.LEARNERS) >= 5
    answers = {id_ for id_ in cells(chapter) if id_.endswith("-answer")} - {ID}
    used = {*its.MALFORMED, *(cell for cell, _ in its.RIGHT), *(cell for cell, _, _ in its.WRONG.values())}
    assert used == answers and {cell for given, _ in its.LEARNERS.values() for cell in given} <= answers
    assert {cell for cell, _ in its.RIGHT} == answers and set(its.MALFORMED) == answers
    assert {check for _, _, lost in its.WRONG.values() for check in lost} == set(worth) == {check for check, _, _ in its.FORMS}
    functions = {check for check, source in cells(chapter).items() if check.endswith("-check") and "assert callable(" in source}
    assert set(its.KEYS) == set(worth) - functions


@every("LEARNERS")
def test_a_learner_with_one_misconception(chapter, entry):
    answers, lost = BANKS[chapter].LEARNERS[entry]
    assert points(chapter, answers) == less(chapter, lost)


@each_chapter
def test_every_question_has_its_usual_mistakes(chapter):
    """At least five plausible wrong answers a question, ten a function; a question for one letter has them all, and two of a wrong form."""
    its = BANKS[chapter]
    for question in sorted({check.split("-")[0].rstrip("abcdef") for check in its.CHECKS}):
        wrong = [answer for cell, answer, _ in its.WRONG.values() if cell == f"{question}-answer"]
        checks = [check for check in its.CHECKS if re.match(rf"{question}[a-f]?-check$", check)]
        functions = [check for check in checks if check not in its.KEYS]
        formless = [answer for check, answer, _ in its.FORMS if check in checks]
        letters = all(check in its.NAMED for check in checks)
        assert len(set(wrong)) + (len(formless) if letters else 0) >= (10 if functions else 5), (
            f"{chapter}, {question}: {len(wrong)} wrong answers"
        )


@each_chapter
def test_every_distractor_is_a_misconception_that_the_chapter_names(chapter):
    text = " ".join(" ".join(cell.source.split()) for cell in read(QUIZZES.parent / "notebooks" / f"{chapter}.ipynb").cells)
    asked = {check: found[1] for check, source in cells(chapter).items() if (found := re.search(r'list\("([A-Z]+)"\)', visible(source)))}
    assert set(BANKS[chapter].NAMED) == set(asked)
    for check, named in BANKS[chapter].NAMED.items():
        assert set(named) < set(asked[check]), f"{check} has the letters {asked[check]}"
        for letter, words in named.items():
            assert len(words.split()) >= 4 and " ".join(words.split()) in text, f"{check}, {letter}: the chapter nowhere says '{words}'"
        wrong = [answer for cell, answer, lost in BANKS[chapter].WRONG.values() if check in lost]
        for letter in named:
            assert any(letter in re.findall(r'"([A-Z])"', answer) for answer in wrong), f"{check}: nobody answers {letter}"


@each_chapter
def test_form_earns_nothing(chapter):
    nothing = less(chapter, BANKS[chapter].CHECKS)
    assert points(chapter, untouched(chapter)) == nothing
    assert points(chapter, BANKS[chapter].MALFORMED) == nothing


@every("RIGHT")
def test_a_right_answer_written_differently_gets_full_marks(chapter, entry):
    cell, answer = entry
    assert points(chapter, {cell: answer}) == BANKS[chapter].CHECKS


@every("WRONG")
def test_a_wrong_answer_loses_what_it_should(chapter, entry):
    cell, answer, lost = BANKS[chapter].WRONG[entry]
    assert points(chapter, {cell: answer}) == less(chapter, lost)


@every("WRONG")
def test_feedback_says_where_to_read_and_keeps_the_key(chapter, entry):
    cell, answer, lost = BANKS[chapter].WRONG[entry]
    for check, (_, message) in marks(notebook(chapter), {cell: answer}).items():
        if check not in lost:
            continue
        last = message.strip().splitlines()[-1]
        assert last.startswith(("Question", "AssertionError: Question")), last
        assert re.search(rf"in chapter {number(chapter)}\b", message) or "AssertionError" in message
        key = BANKS[chapter].KEYS.get(check)
        assert key is None or not re.search(key, message), message


@every("FORMS")
def test_a_wrong_form_is_named_in_one_sentence(chapter, entry):
    check, answer, says = entry
    namespace = {}
    run(answer, namespace)
    _, message = run(visible(cells(chapter)[check]), namespace)
    label = re.match(r"q(\d+[a-z]?)-", check)[1]
    assert message.startswith(f"AssertionError: Question {label}: ") and says in message
    assert message.count("\n") == 0 and message.endswith(".")


@each_chapter
def test_the_visible_checks_pass_the_key_quietly(chapter):
    namespace = {}
    for id_, source in cells(chapter).items():
        if id_.endswith(("-answer", "-numbers")):
            run(source, namespace)
    for check in BANKS[chapter].CHECKS:
        _, message = run(visible(cells(chapter)[check]), namespace)
        assert re.fullmatch(r"Question \d[a-z]?: the form( and the easy case are| is) fine\.\n", message), message
