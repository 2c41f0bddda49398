"""nbgrader's settings for this course: run its commands in this folder. source/, release/, ... and gradebook.db lie beside this file."""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearHiddenTests, GetGrades
from nbgrader.utils import is_grade, is_locked
from traitlets import List

from specdec_lab.instructor.salting import Variants


class HideTests(ClearHiddenTests):
    """Takes the hidden tests out of the feedback. Answer cells are left alone, whatever a student has typed there."""

    display_data_priority = List().tag(config=True)  # unused; without it nbconvert warns that it is not recognised

    def preprocess_cell(self, cell, resources, cell_index):
        if is_grade(cell) and is_locked(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        return cell, resources


# nbgrader calls alembic by its bare name; find it also where this environment is not activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "specdec-lab"
c.CourseDirectory.root = str(Path(__file__).parent)

# Release: who enters an id gets numbers of their own; with another salt, other ones. Change it every term, before the first release.
c.Variants.salt = "specdec-lab"
c.GenerateAssignment.preprocessors = [Variants, *GenerateAssignment.preprocessors.default()]

# Answer cells bring their own placeholder (three dots, or an empty function), and need no other.
c.ClearSolutions.code_stub = {"python": ""}

# Grading: a deleted check cell comes back (and a duplicated one stops its own submission, no longer the whole batch), a warning
# on stderr costs nothing, an endless loop costs 10 seconds and one question.
c.OverwriteCells.add_missing_cells = True
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "."
c.Execute.timeout = 10
c.Execute.error_on_timeout = {
    "ename": "TimeoutError",
    "evalue": "",
    "traceback": ["Stopped after 10 seconds: look for a loop that never ends."],
}

# Feedback: an error shows its message without the lines around it, and the hidden tests are taken out of the check cells.
c.Execute.extra_arguments = ["--InteractiveShell.xmode=Minimal"]
c.GenerateFeedback.preprocessors = [GetGrades, HideTests, CSSHTMLHeaderPreprocessor]
