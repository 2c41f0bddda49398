"""What a class's marks say about the questions.

Difficulty is the share of a question's points that the class earned (1: everybody has all). Discrimination is the correlation of a
question's points with those of all other questions, so that a question is not measured against itself: Henrysson, "Correction of item-total
correlations in item analysis", Psychometrika 28 (1963). The words for it are those of Ebel, "Essentials of Educational Measurement" (1972):
0.40 and above very good, from 0.30 good, from 0.20 to be improved, below that poor.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from specdec_lab.instructor.marks import Mark


@dataclass(frozen=True)
class Question:
    """One check cell over the class. `discrimination` is none where all have the same; `chosen` are the commonest wrong answers."""

    check: str
    worth: float
    difficulty: float
    discrimination: float | None
    chosen: list[tuple[str, int]]
    blank: int
    wrong: int

    @property
    def verdict(self) -> str:
        """What to do about it, in a few words; empty if nothing."""
        if self.difficulty in (0.0, 1.0):
            return "everybody has it: tells nothing" if self.difficulty else "nobody has it: look at the question and its key"
        if self.discrimination is None:
            return ""
        if self.discrimination < -0.1:
            return "those who know the rest fail it: look at the question and its key"
        if self.discrimination < 0.2:
            return "poor: hardly separates those who know the rest"
        return "" if self.discrimination >= 0.3 else "could separate better"


def questions(marks: list[Mark]) -> list[Question]:
    """The check cells in their order, over those who handed in."""
    class_ = [mark for mark in marks if mark.checks]
    names = list(dict.fromkeys(check for mark in class_ for check in mark.checks))
    return [_question(name, [mark for mark in class_ if name in mark.checks]) for name in names]


def _question(name: str, class_: list[Mark]) -> Question:
    checks = [mark.checks[name] for mark in class_]
    worth = max(each.worth for each in checks)
    rest = [sum(each.points for other, each in mark.checks.items() if other != name) for mark in class_]
    lost = [each for each in checks if each.points < each.worth]
    chosen = Counter(each.answer or each.said for each in lost if each.answer or ("no answer yet" not in each.said and each.said))
    return Question(
        check=name,
        worth=worth,
        difficulty=statistics.fmean(each.points for each in checks) / worth if worth else 0.0,
        discrimination=_correlation([each.points for each in checks], rest),
        chosen=chosen.most_common(3),
        blank=len(lost) - chosen.total(),
        wrong=len(lost),
    )


def _correlation(one: list[float], other: list[float]) -> float | None:
    try:
        return statistics.correlation(one, other)
    except statistics.StatisticsError:  # fewer than two, or all the same
        return None
