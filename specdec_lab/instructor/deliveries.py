"""Whose file is which, in what a learning management system lets an instructor download, or a class sends by other ways.

Canvas puts all files side by side in one zip: `lovelaceada_LATE_123_45678_knowledge_check.ipynb` is a name in small letters, LATE if it
was, the number of the person, the number of the upload (a later upload has a larger one), and the file's own name; with anonymous grading
the name is `anon_xxxxx`. Source: `get_filename`, `add_upload_submission` in lib/content_zipper.rb of instructure/canvas-lms. When the same
name is uploaded again, Canvas calls it `knowledge_check-1.ipynb`.

Moodle makes a folder for each participant, `Ada Lovelace_7085_assignsubmission_file` (or, as it is set, a prefix of the file name), in
which 7085 is the number of "Participant 7085" in the grading worksheet. Source: `get_student_prefix`,
`load_submissionplugin_filelist` in mod/assign/classes/downloader.php of moodle/moodle.

Otherwise: nbgrader's own folders `<student>/<assignment>/file` (with `timestamp.txt`), a folder for each student, or files that carry the
student's name, such as `ada.ipynb` or `knowledge_check_ada.ipynb`.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from specdec_lab.errors import UserError
from specdec_lab.instructor import reading

LARGEST = reading.LARGEST + 1  # bytes of one file, or of all in a student's zip; what is larger is cut, and then unreadable
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<person>\d+)_(?P<upload>\d{1,18})_(?P<file>.+)")
_CANVAS_ANONYMOUS = re.compile(r"anon_(?P<person>\w+?)(?P<late>_LATE)?_(?P<upload>\d{1,18})_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<name>.*?)_(?P<person>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<file>.*)")
_MOODLE_FOLDER = re.compile(r"(?P<name>.*)_(?P<person>\d+)_assignsubmission_(?P<kind>[a-z]+)_?")
_JUNK = re.compile(r"(^|/)(__MACOSX|\.ipynb_checkpoints|\.git)(/|$)|(^|/)(\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$")
_COPY = re.compile(r"(?i)^copy of |([ _-]*(\(\d+\)|-copy\d*|- copy))+$|-\d+$")
_KNOWLEDGE_CHECK = re.compile(r"(?i)[ _-]*knowledge[ _-]*check[ _-]*")
_ENDINGS = [".ipynb", ".ipynb.json", ".ipynb.txt", ".json", "", ".txt", ".py"]


@dataclass(frozen=True)
class Delivered:
    """A file that came in. `who` names the student in the words of the system (a number, a folder), `label` for people to read."""

    who: str
    label: str
    file: str
    data: bytes
    order: tuple[int, ...] = ()
    late: bool = False
    time: str = ""


def delivered(paths: list[Path], assignment: str) -> Iterator[Delivered]:
    """Every file in the zips and folders, and the single files. Raises UserError for a path that is not there."""
    for path in paths:
        if not path.exists():
            raise UserError(f"There is no {path}; give the zip, folder or file that the submissions came in.")
        loose = {_readable(name): data for name, data in _files(path) if not _JUNK.search(name)}
        times = {str(PurePosixPath(name).parent): data for name, data in loose.items() if PurePosixPath(name).name == "timestamp.txt"}
        for name, data in sorted(loose.items()):
            if PurePosixPath(name).name == "timestamp.txt":
                continue
            time = times.get(str(PurePosixPath(name).parent), b"")[:100].decode(errors="replace").strip()
            if each := _whose(name, data, assignment, time):
                yield from _unpacked(each)


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for each in sorted(path.rglob("*")):
            if each.is_file() and not each.is_symlink():
                inner = each.relative_to(path).as_posix()
                if each.suffix.lower() == ".zip" and each.parent == path and not _whose_zip(each.name):
                    yield from _zipped(each.read_bytes(), str(each))
                else:
                    yield inner, reading.content_of(each)
    elif path.suffix.lower() == ".zip":
        yield from _zipped(path.read_bytes(), str(path))
    else:
        yield path.name, reading.content_of(path)


def _readable(name: str) -> str:
    """The name of a file in characters that can be written; what was no UTF-8 came from an old zip, mostly in Latin-1."""
    try:
        name.encode()
    except UnicodeEncodeError:
        name = os.fsencode(name).decode("latin-1")
    return reading.shown(name, 1000)


def _whose_zip(name: str) -> bool:
    """Whether a zip in a folder is one student's, by its name, and not a whole class."""
    return bool(_CANVAS.fullmatch(name) or _CANVAS_ANONYMOUS.fullmatch(name) or _MOODLE.fullmatch(name))


def _zipped(data: bytes, what: str, only: Callable[[str], bool] = lambda name: True, most: int = 2**50) -> Iterator[tuple[str, bytes]]:
    """The files in a zip, no more than `most` bytes. They are read, never written under the names that they bring, so `../` in one does no
    harm. Python's errors over a damaged or forged zip are of any class."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and only(entry.filename) and most > 0:
                    with archive.open(entry) as file:
                        content = file.read(min(LARGEST, most))
                    most -= len(content)
                    yield entry.filename.replace("\\", "/"), content
    except Exception as error:
        raise UserError(f"{what} cannot be unpacked ({error}); download it once more.") from None


def _unpacked(each: Delivered) -> Iterator[Delivered]:
    """A zip that a student has handed in gives the files in it; one that cannot be opened stays what it is."""
    if not each.file.lower().endswith(".zip"):
        yield each
        return
    try:
        likely = _zipped(each.data, each.file, lambda name: rank(name) < rank("x.txt") and not _JUNK.search(name), LARGEST)
        inside = list(itertools.islice(likely, 10))
    except UserError:
        inside = []
    if not inside:
        yield each
    for name, data in inside:
        yield replace(each, file=_readable(PurePosixPath(name).name), data=data)


def _whose(path: str, data: bytes, assignment: str, time: str) -> Delivered | None:
    """Reads the student off the path; None for what is no submission, such as a text typed into Moodle's editor.

    `time` is that of a timestamp.txt, which nbgrader has written where no LMS names the files. In a file's name the system writes first and
    the student last, so of several readings the one counts in which the person stands nearest to the beginning.
    """
    *folders, file = PurePosixPath(path).parts
    for folder in folders:
        if match := _MOODLE_FOLDER.fullmatch(folder):
            return Delivered(match["person"], match["name"].strip(), file, data) if match["kind"] == "file" else None
    found = [match for pattern in (_MOODLE, _CANVAS_ANONYMOUS, _CANVAS) if (match := pattern.fullmatch(file))]
    if found:
        match = min(found, key=lambda each: each.start("person"))
        if match.re is _MOODLE:
            return Delivered(match["person"], match["name"].strip(), match["file"], data) if match["kind"] == "file" else None
        name = match.groupdict().get("name", f"anon {match['person']}")
        return Delivered(match["person"], name, match["file"], data, (int(match["upload"]),), bool(match["late"]))
    folders = [folder for folder in folders if folder not in ("submitted", assignment)]
    if folders:
        student = folders[-1].split(f"+{assignment}+")[0]  # nbgrader's exchange: student+assignment+time
        return Delivered(student, student, file, data, time=time)
    student = _KNOWLEDGE_CHECK.sub("", stem(file))
    return Delivered(student, student, file, data, time=time)


def stem(file: str) -> str:
    """A file's name without what browsers and editors add to it: `knowledge_check (1).ipynb.json` is `knowledge_check`."""
    name = re.sub(r"(?i)(\.ipynb)?(\.(ipynb|json|txt|py|html?|zip))?$", "", PurePosixPath(file).name)
    while (shorter := _COPY.sub("", name).strip()) != name:
        name = shorter
    return name


def rank(file: str) -> int:
    """Which of several files is the notebook: smaller is likelier, by its ending."""
    name = PurePosixPath(file).name.lower()
    if "." not in name:
        return _ENDINGS.index("")
    return next((number for number, ending in enumerate(_ENDINGS) if ending and name.endswith(ending)), len(_ENDINGS))


def copy_number(file: str) -> int:
    """1 for `name (1).ipynb` and `name-1.ipynb`, 0 without a number: the order in which they were saved."""
    found = re.search(r"(?i)(?:\((\d{1,9})\)|-copy(\d{1,9})|-(\d{1,9}))$", re.sub(r"(?i)(\.\w+)+$", "", PurePosixPath(file).name))
    return int(next(group for group in found.groups() if group)) if found else 0
