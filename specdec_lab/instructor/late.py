"""What handing in late costs: a plugin of nbgrader's, so that the penalty stands in its gradebook beside the mark and can be changed there.

In nbgrader_config.py:

    from specdec_lab.instructor.late import Deduction
    c.AssignLatePenalties.plugin_class = Deduction
    c.Deduction.percent_a_day = 10
"""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float


class Deduction(LateSubmissionPlugin):
    """Takes a share of the points that were earned for each day begun behind the due date."""

    percent_a_day = Float(10.0, help="Percent of the earned points that a day costs.").tag(config=True)
    free_minutes = Float(15.0, help="Minutes behind the due date that cost nothing.").tag(config=True)
    most_percent = Float(100.0, help="Percent that all days together cost at most.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points to be taken off; `score` are those earned, `total_seconds_late` counts from the due date."""
        if total_seconds_late <= 60 * self.free_minutes:
            return None
        days = math.ceil(total_seconds_late / 86_400)
        return round(score * min(days * self.percent_a_day, self.most_percent, 100.0) / 100, 2)
