"""Each attack gets the marks it must: nothing for what it attacks, everything for the honest answers beside it."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time

import pytest

from specdec_lab.instructor.grader import grade
from specdec_lab.instructor.sandbox import Limits
from tests.instructor.bank_attacks import ATTACKS, FRAME, WITH_DICE, trick
from tests.instructor.test_hostile import SOURCE, graded, less, points, told
from tests.instructor.test_hostile import sandbox as sandbox
from tests.quizzes.source import bank, knowledge_check, split

HIDDEN = {line.strip() for cell in SOURCE.cells if cell.id.endswith("-check") for line in split(cell.source, "HIDDEN TESTS")[1]}
FORGED = [
    name for name in ATTACKS if "say(" in str(ATTACKS[name]) or "answer(" in str(ATTACKS[name]) or "os.write(pipe" in str(ATTACKS[name])
]


def test_there_are_enough():
    assert len(ATTACKS) >= 20 and len(FORGED) >= 10


@pytest.mark.parametrize("name", ATTACKS)
def test_it_gets_what_it_must(name, sandbox):
    answers, lost = ATTACKS[name]
    began = time.monotonic()
    outcome = graded(sandbox, answers, Limits(cell_seconds=1.0, total_seconds=40.0))
    assert points(outcome) == less(lost)
    assert time.monotonic() - began < 40
    text = told(outcome)
    text.encode()
    shown = [line for line in HIDDEN if len(line) > 20 and re.sub(r"\s+", " ", line) in re.sub(r"\s+", " ", text)]
    assert not shown


@pytest.mark.parametrize("name", WITH_DICE)
def test_dice_are_of_no_use_either(name, sandbox):
    chapter, (answers, lost) = "03_speculative_sampling", WITH_DICE[name]
    source = knowledge_check(chapter)
    key = {cell.id: cell.source for cell in source.cells if cell.id.endswith("-answer")}
    found = points(grade(source, {id_: f"{text}\n{answers.get(id_, '')}" for id_, text in key.items()}, sandbox=sandbox))
    assert found == {check: full - lost.get(check, 0) for check, full in bank(chapter).CHECKS.items()}


def test_a_thread_that_answers_all_the_time_costs_only_what_comes_after_it(sandbox):
    before = FRAME + "def run():\n    while True: say(['ok', ['t', [0, 6]], [], '', 9])\nthreading.Thread(target=run).start()"
    found = points(graded(sandbox, trick("return None", before), Limits(cell_seconds=1.0, total_seconds=20.0)))
    assert found["q6-check"] == 0 and sum(found.values()) - found["q7-check"] == 10


def test_hidden_inputs_cannot_be_kept_and_shown(sandbox):
    """Not in what a later cell prints or raises, not in a file, not in what a later check says of an easy case."""
    keep = "kept = []\nfor name in __import__('os').listdir(): kept.append(open(name).read())\n"
    keep += (
        "def verify_greedy(draft, target):\n    kept.append((draft, target)); open('kept', 'a').write(f'{draft} {target}')\n    return 2, 8"
    )
    show = "print('shown', kept, *(open(name).read() for name in __import__('os').listdir()))\n"
    show += "def passes(text, drafts, n):\n    return kept\nraise ValueError(kept)"
    text = told(graded(sandbox, {"q6-answer": keep, "q7-answer": show}))
    assert "shown []" in text and "ValueError: []" in text and "but yours gives []" in text
    assert "3, 1, 4" not in text


def test_the_graders_memory_cannot_be_filled(sandbox):
    """A check that keeps what its dice are called with: the student calls them with large lists, again and again."""
    chapter = "03_speculative_sampling"
    source = knowledge_check(chapter)
    key = {cell.id: cell.source for cell in source.cells if cell.id.endswith("-answer")}
    key["q7-answer"] = "def verify_sampling(p, q, draft, uniform, draw):\n    if len(draft) == 1 and draft[0] == 1: return 1, 0\n"
    key["q7-answer"] += "    while True: draw([0.125] * 100_000)"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = grade(source, key, Limits(cell_seconds=5.0), sandbox=sandbox)
    assert points(found) == {**bank(chapter).CHECKS, "q7-check": 0}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KB


@pytest.mark.parametrize("name", ["no JSON", "JSON without bottom", "a message of 4 GB", "points forged", "the answer to another call"])
def test_the_instructor_is_told_of_a_forged_message(name, sandbox):
    assert graded(sandbox, ATTACKS[name][0]).notes == ["The code wrote into the grader's own channel, which no honest answer does."]


REAL = ["a tuple that equals everything", "frames", "numbers that equal everything"]


def test_the_attacks_are_real():
    """In one process with the tests, as nbgrader runs them, these get points for nothing."""
    code = (
        "import sys; from tests.quizzes.source import knowledge_check, marks; from tests.instructor.bank_attacks import ATTACKS\n"
        "for name in sys.argv[1:]: print(marks(knowledge_check('02_greedy_verification'), ATTACKS[name][0])['q6-check'][0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *REAL], capture_output=True, text=True, check=True, timeout=60)
    assert all(float(points) > 0 for points in done.stdout.split()) and len(done.stdout.split()) == len(REAL), done.stdout
