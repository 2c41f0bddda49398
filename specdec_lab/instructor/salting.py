"""A step of nbgrader's generate_assignment, set in nbgrader_config.py: numbers of one's own need a salt."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Dict, Unicode

from specdec_lab.instructor.variants import salted


class Variants(NbGraderPreprocessor):
    """Puts the course's salt into what is handed out; the grader takes it from there."""

    salt = Unicode(help="Any text; with another one everybody gets other numbers.").tag(config=True)
    also = Dict(help="By student, an id that counts as theirs, too: what they have entered by mistake.").tag(config=True)

    def preprocess(self, notebook: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        return salted(notebook, self.salt), resources
