"""Files that came in become submissions: `submitted/<student>/<assignment>/knowledge_check.ipynb`, as nbgrader wants them.

Every attempt is kept beside, in `collected/<assignment>/<student>/`, byte by byte and under a name made from its content, so a second run
adds what is new and repeats nothing. `collected/<assignment>/collection.json` says for each attempt what it was called and when it came.
The latest attempt that can be read goes to `submitted/`; which one that is, is said by the time where it is known, else by the number of
the upload, else by the number in the file's name, else by the order in which they were collected.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone, tzinfo
from pathlib import Path

from dateutil import parser
from nbformat import NotebookNode

from specdec_lab.errors import UserError
from specdec_lab.instructor.deliveries import Delivered, copy_number, delivered, rank
from specdec_lab.instructor.reading import content_of
from specdec_lab.instructor.repair import NOTEBOOK, repair
from specdec_lab.instructor.roster import Roster, student_id

STAMP = "%Y-%m-%d %H:%M:%S.%f UTC"  # of nbgrader's timestamp.txt


@dataclass
class Attempt:
    """One file of one student, kept as `digest`. `time` is in UTC, or empty where nobody knows it; `late` is what the LMS said."""

    digest: str
    file: str
    time: str = ""
    late: bool = False
    unreadable: str = ""
    order: list[int] = field(default_factory=list)


@dataclass
class Collection:
    """What has come in for one assignment, by student. `due` is in UTC, or empty."""

    folder: Path
    due: str = ""
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    people: dict[str, dict[str, str]] = field(default_factory=dict)
    unclaimed: list[str] = field(default_factory=list)

    def late(self, attempt: Attempt) -> bool:
        return attempt.time > self.due if attempt.time and self.due else attempt.late

    def in_place(self, course: Path, assignment: str, student: str) -> Attempt | None:
        """The attempt that lies in `submitted/`; none for what came through nbgrader's exchange or was put there by hand."""
        place = course / "submitted" / student / assignment / NOTEBOOK
        found = self.attempts.get(student, []) if place.is_file() else []
        return next((attempt for attempt in found if attempt.digest == _digest(place.read_bytes())), None)

    def kept(self, student: str, attempt: Attempt) -> Path:
        return self.folder / student / f"{attempt.digest}.ipynb"

    def save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {key: value for key, value in asdict(self).items() if key != "folder"}
        draft = self.folder / "collection.json.new"
        draft.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(draft, self.folder / "collection.json")


def collection(course: Path, assignment: str) -> Collection:
    folder = course / "collected" / assignment
    try:
        content = json.loads((folder / "collection.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Collection(folder)
    attempts = {student: [Attempt(**each) for each in found] for student, found in content.pop("attempts").items()}
    return Collection(folder, attempts=attempts, **content)


def moment(text: str, zone: tzinfo) -> datetime:
    """A time in anybody's spelling, in UTC; where it names no zone, that of the course. Raises UserError."""
    try:
        found = parser.parse(text.replace(" UTC", "+00:00"), fuzzy=False)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(timezone.utc)
    except (ValueError, ArithmeticError, TypeError, AttributeError):
        raise UserError(f"'{text}' is no time; write it as 2026-12-01 23:59.") from None


def collect(
    course: Path,
    assignment: str,
    paths: list[Path],
    source: NotebookNode,
    roster: Roster | None = None,
    due: str = "",
    zone: tzinfo = timezone.utc,
    student: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> Collection:
    """Take in what has arrived, and put the latest attempt of each student into `submitted/`. Raises UserError for a broken zip.

    student: whose it all is, where the names of the files do not say it.
    """
    found = collection(course, assignment)
    found.due = moment(due, zone).strftime(STAMP) if due else found.due
    found.unclaimed = []
    known = {student: [attempt.digest for attempt in attempts] for student, attempts in found.attempts.items()}
    files = (replace(each, who=student or each.who) for each in delivered(paths, assignment))
    for who, theirs in _by_student(files, roster, found).items():
        progress(who)
        _add(found, who, theirs, source, roster, zone)
    for who, attempts in found.attempts.items():
        attempts.sort(key=_age)
        digests = [attempt.digest for attempt in attempts]
        if digests != known.get(who) or not (course / "submitted" / who / assignment / NOTEBOOK).exists():
            hand_in(course, found, assignment, who, attempts[-1])
        elif chosen := found.in_place(course, assignment, who):  # may be an older one, the best, or one that was mended by hand
            hand_in(course, found, assignment, who, chosen)
    for person in roster.people if roster else []:
        found.people[person.id] = {"name": person.name, "email": person.email, "lms_id": person.lms_id}
    found.save()
    return found


def _by_student(files: Iterable[Delivered], roster: Roster | None, found: Collection) -> dict[str, list[Delivered]]:
    students: dict[str, list[Delivered]] = {}
    for each in files:
        person = roster.find(each.who) if roster else None
        student = person.id if person else student_id(each.who)
        if not student:
            found.unclaimed.append(each.file)
            continue
        if not person:
            found.people.setdefault(student, {"name": each.label if each.label != each.who else "", "email": "", "lms_id": each.who})
        students.setdefault(student, []).append(each)
    return students


def _add(found: Collection, student: str, files: list[Delivered], source: NotebookNode, roster: Roster | None, zone: tzinfo) -> None:
    best = min(rank(each.file) for each in files)
    known = {attempt.digest: attempt for attempt in found.attempts.get(student, [])}
    person = roster.by_id(student) if roster else None
    for each in files:
        if rank(each.file) > best:
            continue  # a picture or a text beside the notebook
        digest = _digest(each.data)
        stamp = _stamp(each.time, zone) or (moment(person.submitted, zone).strftime(STAMP) if person and person.submitted else "")
        order = [*each.order, copy_number(each.file)]
        if digest in known:  # the same once more, of which more may be known now
            same = known[digest]
            same.time, same.order = max(same.time, stamp), max(same.order, order)
            continue
        why = repair(source, each.data, each.file).unreadable or ""
        known[digest] = attempt = Attempt(digest, each.file, stamp, each.late, why, order)
        found.attempts.setdefault(student, []).append(attempt)
        kept = found.kept(student, attempt)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(each.data)


def _stamp(time: str, zone: tzinfo) -> str:
    """The time in a timestamp.txt; nothing if it is none, for the file came with the submission."""
    try:
        return moment(time, zone).strftime(STAMP) if time else ""
    except UserError:
        return ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _age(attempt: Attempt) -> tuple:
    """Sorts the latest that can be read to the end. The sort is stable: of equal ones, the one collected last comes last."""
    return not attempt.unreadable, attempt.time, attempt.order


def hand_in(course: Path, found: Collection, assignment: str, student: str, attempt: Attempt) -> None:
    """Make this attempt the one that is graded. A submission that is in place already is not touched, so that it stays graded."""
    folder = course / "submitted" / student / assignment
    kept, place, stamp = found.kept(student, attempt), folder / NOTEBOOK, folder / "timestamp.txt"
    if not place.exists() or place.read_bytes() != kept.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, place)
        shutil.rmtree(course / "autograded" / student / assignment, ignore_errors=True)  # as nbgrader does for a newer submission
    if attempt.time and (not stamp.exists() or stamp.read_text(encoding="utf-8").strip() != attempt.time):
        stamp.write_text(attempt.time + "\n", encoding="utf-8")
    elif not attempt.time and stamp.exists():
        stamp.unlink()


def notebook_in(folder: Path) -> tuple[str, bytes]:
    """The name and content of the submission in a student's folder, whatever it is called; two empty ones if there is none."""
    files = [each for each in folder.glob("*") if each.is_file() and each.name != "timestamp.txt"] if folder.is_dir() else []
    if not files:
        return "", b""
    best = min(rank(each.name) for each in files)
    named = [each for each in files if rank(each.name) == best]
    chosen = max(named, key=lambda each: (each.name == NOTEBOOK, copy_number(each.name), each.stat().st_mtime))
    return chosen.name, b"" if chosen.is_symlink() else content_of(chosen)
