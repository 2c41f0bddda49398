"""Of several attempts the best: the one that earns most after what is taken off for being late; of equal ones the first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from nbgrader.preprocessors import AssignLatePenalties

from specdec_lab.instructor.autograde import points
from specdec_lab.instructor.collect import STAMP, Attempt, Collection, hand_in
from specdec_lab.instructor.course import Course


def take_best(course: Course, assignment: str, found: Collection, students: list[str], **grading: Any) -> list[str]:
    """Put the best attempt of each of these students into `submitted/`; gives those for whom that is another one than before.

    `grading` goes to `autograde.points`: sandbox, workers, progress.
    """
    several = {student: found.attempts[student] for student in students if len(found.attempts.get(student, [])) > 1}
    attempts = [(student, attempt) for student, those in several.items() for attempt in those]
    earned = points(course, assignment, [(student, found.kept(student, attempt)) for student, attempt in attempts], **grading)
    late = AssignLatePenalties(config=course.config())
    late.init_plugin()
    after: dict[str, list[float]] = {student: [] for student in several}
    for (student, attempt), score in zip(attempts, earned, strict=True):
        after[student].append(score - _penalty(late, found, student, attempt, score))
    moved = []
    for student, those in several.items():
        best = those[after[student].index(max(after[student]))]
        if best is not found.in_place(course.root, assignment, student):
            hand_in(course.root, found, assignment, student, best)
            moved.append(student)
    return moved


def _penalty(late: AssignLatePenalties, found: Collection, student: str, attempt: Attempt, score: float) -> float:
    """What nbgrader will take off: its own plugin is asked."""
    if not (found.due and attempt.time > found.due):
        return 0.0
    delay = datetime.strptime(attempt.time, STAMP) - datetime.strptime(found.due, STAMP)
    return min(score, max(0.0, late.plugin_inst.late_submission_penalty(student, score, delay.total_seconds()) or 0.0))
