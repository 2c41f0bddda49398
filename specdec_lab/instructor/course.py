"""An nbgrader course folder, with nbgrader's own settings, converters and gradebook. Nothing here keeps data of its own."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import nbformat
from jupyter_core.paths import jupyter_config_path
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import BaseConverter, GenerateAssignment, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from specdec_lab.errors import UserError
from specdec_lab.instructor.collect import STAMP
from specdec_lab.instructor.matching import form, has_answers, released
from specdec_lab.instructor.repair import NOTEBOOK
from specdec_lab.instructor.variants import salt_of, salted, spellings

CONFIG = "nbgrader_config.py"


class Course:
    """The course in `root`, the folder with nbgrader_config.py. Raises UserError if there is none."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        if not (self.root / CONFIG).exists():
            raise UserError(f"There is no {CONFIG} in {root}; run this in the folder quizzes, or name it with --course.")

    def config(self) -> Config:
        """nbgrader's settings as its own commands read them: of the machine, of the user, and of the course, which is the last word."""
        config = Config()
        for folder in [*reversed(jupyter_config_path()), str(self.root)]:
            if (Path(folder) / CONFIG).exists():
                config.merge(PyFileConfigLoader(CONFIG, folder).load_config())
        config.CourseDirectory.root = str(self.root)
        return config

    def directory(self, assignment: str = "") -> CourseDirectory:
        found = CourseDirectory(config=self.config())
        found.assignment_id = assignment
        return found

    def assignment(self, name: str) -> str:
        """The assignment that is meant by `02_greedy_verification`, `02` or `2`. Raises UserError if none or several are."""
        there = self.assignments()
        number = f"{int(name):02d}_" if name.isdigit() else f"{name}_"
        found = [each for each in there if each == name] or [each for each in there if each.startswith(number)]
        if len(found) != 1:
            raise UserError(f"'{name}' is none of the knowledge checks; there are {', '.join(there) or 'none'}.")
        return found[0]

    def assignments(self) -> list[str]:
        return sorted(path.parent.name for path in self.root.glob(f"source/*/{NOTEBOOK}"))

    def source(self, assignment: str) -> NotebookNode:
        """The knowledge check with its solutions and hidden tests, and with the salt of what was handed out."""
        return salted(nbformat.read(self.root / "source" / assignment / NOTEBOOK, as_version=4), self.salt(assignment))

    def salt(self, assignment: str) -> str:
        """The salt of the numbers in what was handed out; empty before that."""
        released = self.path("release", assignment) / NOTEBOOK
        return salt_of(nbformat.read(released, as_version=4)) if released.exists() else ""

    def path(self, step: str, assignment: str, student: str = "") -> Path:
        """A folder of a step, such as submitted: submitted/<student>/<assignment>."""
        return self.root / step / student / assignment

    def students(self, assignment: str, step: str = "submitted") -> list[str]:
        return sorted(path.parent.name for path in self.root.glob(f"{step}/*/{assignment}") if path.is_dir())

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with Gradebook(self.directory().db_url, self.directory().course_id) as gradebook:
            yield gradebook

    def known_students(self) -> set[str]:
        with self.gradebook() as gradebook:
            return {student.id for student in gradebook.students}

    def ids(self) -> dict[str, list[str]]:
        """What each student may enter as an id: nbgrader's, an address, the LMS's number, and what Variants.also says."""
        also = self.config().Variants.get("also", {})
        with self.gradebook() as gradebook:
            found = {each.id: [each.id, each.email or "", each.lms_user_id or ""] for each in gradebook.students}
        return {student: spellings([*found.get(student, [student]), also.get(student, "")]) for student in found.keys() | also.keys()}

    def is_released(self, assignment: str) -> bool:
        return (self.path("release", assignment) / NOTEBOOK).exists()

    def release(self, assignment: str) -> None:
        """nbgrader's generate_assignment, anew: the notebook for the students, and the check cells in the gradebook.

        Raises UserError if nbgrader fails, or if somebody has answered in the very notebook that would be overwritten.
        """
        file = self.path("release", assignment) / NOTEBOOK
        if file.exists() and has_answers(form(released(self.source(assignment))), nbformat.read(file, as_version=4)):
            raise UserError(f"There are answers in {file}, which would be lost; move it elsewhere, and run this again.")
        self._run(GenerateAssignment, assignment, force=True)

    def feedback(self, assignment: str, progress: Callable[[str], None] = lambda _: None) -> dict[str, str]:
        """nbgrader's generate_feedback for all who are graded; a page newer than the marks stays. The reason for each who has none."""
        graded = {student: self.path("autograded", assignment, student) / NOTEBOOK for student in self.students(assignment, "autograded")}
        pages = {student: self.path("feedback", assignment, student) / f"{Path(NOTEBOOK).stem}.html" for student in graded}
        for student, page in pages.items():
            if page.exists() and page.stat().st_mtime < graded[student].stat().st_mtime:
                shutil.rmtree(page.parent)
        reason = "nbgrader gives no reason"
        if not all(page.exists() for page in pages.values()):
            try:
                self._run(GenerateFeedback, assignment, progress=progress)
            except UserError as error:
                reason = str(error)
        return {student: reason for student, page in pages.items() if not page.exists()}

    def set_due(self, assignment: str, due: str) -> None:
        with self.gradebook() as gradebook:
            gradebook.update_or_create_assignment(assignment, duedate=datetime.strptime(due, STAMP))

    def set_people(self, people: dict[str, dict[str, str]]) -> None:
        """Names, addresses and numbers of the LMS go where nbgrader has places for them."""
        with self.gradebook() as gradebook:
            for student, person in people.items():
                last, _, first = person["name"].partition(",") if "," in person["name"] else (person["name"].rpartition(" ")[::-1])
                told = {"first_name": first.strip(), "last_name": last.strip(), "email": person["email"], "lms_user_id": person["lms_id"]}
                gradebook.update_or_create_student(student, **{key: value for key, value in told.items() if value})

    def nbgrader(self, *arguments: str) -> None:
        """One of nbgrader's own commands, for its exchange. Raises UserError with its last words."""
        done = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=self.root, capture_output=True, text=True)
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            raise UserError(f"nbgrader {' '.join(arguments)} failed: {said[-1] if said else 'without a word'}")

    def _run(
        self, converter: type[BaseConverter], assignment: str, force: bool = False, progress: Callable[[str], None] = lambda _: None
    ) -> None:
        heard = _Heard(progress)
        log = logging.Logger("nbgrader")
        log.addHandler(heard)
        running = converter(coursedir=self.directory(assignment), config=self.config(), log=log)
        running.force = force
        try:
            running.start()
        except NbGraderException as error:
            raise UserError(f"nbgrader stopped at {assignment}: {heard.cause or error}") from None


class _Heard(logging.Handler):
    """Listens to nbgrader: each notebook that it takes up, and the first error, of which its exception says less."""

    def __init__(self, progress: Callable[[str], None]) -> None:
        super().__init__()
        self.progress, self.cause = progress, ""

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage().strip()
        if said.startswith("Converting notebook"):
            self.progress(Path(said).parts[-3] if len(Path(said).parts) > 2 else said)
        elif record.levelno >= logging.ERROR and "Traceback" in said:
            self.cause = self.cause or re.sub(r"\s+", " ", said.splitlines()[-1])
