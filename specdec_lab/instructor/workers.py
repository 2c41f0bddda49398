"""Grading submissions, many at a time: processes of ours repair, run and mark one notebook after another and write down what they found.

What is written, <student>.json, carries the digest of all that it was made from, so that a run which was interrupted goes on where it
stopped, and a submission or a knowledge check that has changed is graded again. nbgrader's gradebook is not touched here.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from specdec_lab.instructor.grader import CheckResult, Outcome, grade
from specdec_lab.instructor.reading import content_of
from specdec_lab.instructor.repair import repair
from specdec_lab.instructor.sandbox import Limits, Sandbox
from specdec_lab.instructor.variants import salted
from specdec_lab.instructor.view import own_files

_GRACE = 60.0  # seconds above the limit of a submission, after which the process that grades it is ended
_LINK = "The file is only a link to another one, which was not followed. Please hand in the notebook itself."
_EMPTY = "There is no notebook in what was handed in. Please hand it in again."
_FAILED = "This submission could not be graded by itself; your instructor has been told."


@dataclass(frozen=True)
class Job:
    """One submission. `file` is what was handed in, `name` what it was called; `outcome` is where to write what was found.

    `salt` is that of the notebook which was handed out, `own` the ids of the student (variants.py).
    """

    student: str
    source: str
    file: str
    name: str
    outcome: str
    way: str
    hidden: str
    limits: dict[str, Any]
    salt: str = ""
    own: list[str] = field(default_factory=list)

    def key(self) -> str:
        """The digest of everything that the outcome depends on."""
        digest = hashlib.sha256()
        content, why = self.content()
        for part in (Path(self.source).read_bytes(), os.fsencode(self.name), content, why.encode(), *_own_files(self.file)):
            digest.update(hashlib.sha256(part).digest())
        digest.update(f"{self.way} {sorted(self.limits.items())} {self.salt} {self.own} {_version()}".encode())
        return digest.hexdigest()

    def knowledge_check(self) -> NotebookNode:
        return salted(nbformat.read(self.source, as_version=4), self.salt)

    def content(self) -> tuple[bytes, str]:
        """What was handed in, and why there is nothing, a sentence for the student."""
        path = Path(self.file)
        if path.is_symlink():
            return b"", _LINK
        return (content_of(path), "") if path.is_file() else (b"", _EMPTY)

    def done(self) -> bool:
        """Whether this very submission has been graded."""
        try:
            return json.loads(Path(self.outcome).read_text(encoding="utf-8"))["key"] == self.key()
        except (OSError, ValueError, KeyError):
            return False


def _own_files(file: str) -> Iterator[bytes]:
    for path in own_files(Path(file).parent):
        if path.is_file() and path.name != "timestamp.txt":
            yield os.fsencode(path.name)
            yield path.read_bytes()


def _version() -> str:
    """The digest of this room's code: marks depend on it."""
    parts = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def work(job: Job) -> None:
    """Repair, run and mark one submission, and write its outcome."""
    began = time.monotonic()
    source = job.knowledge_check()
    key = job.key()
    content, why = job.content()
    repaired = repair(source, content, job.name)
    repaired.unreadable = why or repaired.unreadable
    if repaired.unreadable:
        outcome = _nothing(source, repaired.unreadable)
    else:
        sandbox = Sandbox(job.way, Path(job.hidden))
        files = Path(job.file).parent
        outcome = grade(source, repaired.answers, Limits(**job.limits), sandbox=sandbox, files=files, own=job.own)
    found = {
        "key": key,
        "student": job.student,
        "unreadable": repaired.unreadable,
        "repairs": repaired.notes,
        "notes": outcome.notes,
        "seconds": round(time.monotonic() - began, 3),
        **asdict(outcome),
        "notebook": repaired.notebook,
    }
    _write(Path(job.outcome), found)


def _nothing(source: NotebookNode, why: str) -> Outcome:
    """No points for any check, with the reason."""
    checks = [cell.id for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    return Outcome({id_: CheckResult(0.0, f"{why}\n") for id_ in checks})


def give_up(job: Job, why: str) -> None:
    """The outcome of a submission that ended the process which graded it: no points, and a person is asked to look."""
    source = job.knowledge_check()
    repaired = repair(source, b"")
    outcome = _nothing(source, _FAILED)
    try:
        key = job.key()
    except Exception:  # what ended the one process may end this
        key = ""
    found = {"key": key, "student": job.student, "unreadable": None, "repairs": [], "seconds": 0.0, **asdict(outcome)}
    _write(Path(job.outcome), {**found, "notes": [why], "notebook": repaired.notebook})


def _write(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(json.dumps(found, ensure_ascii=True), encoding="utf-8")
    os.replace(draft, path)


# ---- many at a time


def work_all(jobs: list[Job], workers: int, progress: Callable[[Job], None]) -> None:
    """Grade all of them, `workers` at a time. Each of the processes takes one job after another, and is replaced if it fails."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    stop = threading.Event()
    threads = [threading.Thread(target=_look_after, args=(waiting, stop, progress)) for _ in range(min(workers, len(jobs)))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # so that Ctrl-C is heard
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _look_after(waiting: queue.SimpleQueue[Job], stop: threading.Event, progress: Callable[[Job], None]) -> None:
    """One worker process, and the jobs it does."""
    worker = None
    try:
        while not stop.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            worker = worker or _Worker()
            if not worker.do(job, stop):
                worker.end()
                if stop.is_set():
                    return
                give_up(job, worker.why)
                worker = None
            progress(job)
    finally:
        if worker:
            worker.end()


class _Worker:
    """A process that runs `main` of this module."""

    why = ""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "specdec_lab.instructor.workers"]
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.popen.stdout
        for line in self.popen.stdout:
            self.answers.put(line)
        self.answers.put("")

    def do(self, job: Job, stop: threading.Event) -> bool:
        """Whether the job was done; if not, `why` says why, and the process is of no more use."""
        assert self.popen.stdin
        until = time.monotonic() + job.limits.get("total_seconds", Limits.total_seconds) + _GRACE
        try:
            self.popen.stdin.write(json.dumps(asdict(job)) + "\n")
            self.popen.stdin.flush()
            while True:
                try:
                    answer = self.answers.get(timeout=0.2)
                    break
                except queue.Empty:
                    if stop.is_set() or time.monotonic() > until:
                        raise TimeoutError("the grader itself took too long") from None
        except (OSError, TimeoutError) as error:
            self.why = f"Not graded: {error}."
            return False
        said = json.loads(answer) if answer else "the process that graded it has ended"
        self.why = f"Not graded: {said}." if said else ""
        return not said

    def end(self) -> None:
        self.popen.kill()
        self.popen.wait()


def main() -> None:
    """Jobs come as lines of JSON; behind each is answered an empty text, or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a check prints by other ways must not be taken for an answer
    for line in sys.stdin:
        why = ""
        try:
            work(Job(**json.loads(line)))
        except Exception as error:
            why = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(why), file=answers, flush=True)


if __name__ == "__main__":
    main()
