"""What a student's process can see and use, in each kind of sandbox; and that there is no grading without one, unless it is asked for."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
import xmlrpc
from pathlib import Path

import pytest

from specdec_lab.errors import UserError
from specdec_lab.instructor.sandbox import Limits, Sandbox, find
from specdec_lab.instructor.session import Session
from tests.instructor.bank_hostile import HOSTILE
from tests.instructor.test_hostile import graded, less, points

each_way = pytest.mark.parametrize("way", ["bubblewrap", "unshare"])


def seen(sandbox: Sandbox, code: str, files: Path | None = None) -> object:
    """The value of `found` after this code has run in there."""
    session = Session(sandbox, Limits(cell_seconds=5.0), files)
    try:
        ran = session.run("cell", code)
        assert not ran.error, ran.error
        return session.get(["found"])["found"]
    finally:
        session.close()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with what nobody may see, and one student's files."""
    for name in (
        "source/02/knowledge_check.ipynb",
        "gradebook.db",
        "submitted/other/02/knowledge_check.ipynb",
        "submitted/me/02/helper.py",
    ):
        path = tmp_path / "quizzes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("number = 7\n")
    (tmp_path / "quizzes/submitted/me/02/knowledge_check.ipynb").symlink_to(tmp_path / "quizzes/source/02/knowledge_check.ipynb")
    (tmp_path / "quizzes/submitted/me/02/secrets").symlink_to(tmp_path / "quizzes/source")
    return tmp_path / "quizzes"


@each_way
def test_it_sees_its_own_files_and_nothing_of_the_course(way, course):
    own = course / "submitted" / "me" / "02"
    code = f"import os, helper\nfound = [helper.number, os.listdir('.'), os.path.exists({str(course)!r}), os.path.exists('/proc/self')]"
    assert seen(Sandbox(way, course), code, own) == [7, ["helper.py"], False, False]


@each_way
def test_a_course_among_the_packages_is_hidden(way):
    """Bound with the interpreter or the system, a folder would be in sight."""
    inside = Path(xmlrpc.__file__).parent
    assert seen(Sandbox(way), f"import os\nfound = len(os.listdir({str(inside)!r}))") > 0
    assert seen(Sandbox(way, inside), f"import os\nfound = os.listdir({str(inside)!r})") == []


@each_way
def test_it_writes_into_its_own_folder_only(way, course):
    own = course / "submitted" / "me" / "02"
    code = f"""
    import os, sys
    open('mine', 'w').write('x')
    found = os.path.exists('mine')
    for path in ('/x', '/usr/x', '/home/student/helper.py', {sys.prefix + "/x"!r}, os.__file__):
        try:
            open(path, 'a')
            found = path
        except OSError:
            pass
    """
    assert seen(Sandbox(way, course), "\n".join(line[4:] for line in code.splitlines()), own) is True
    assert sorted(path.name for path in own.iterdir()) == ["helper.py", "knowledge_check.ipynb", "secrets"]


@each_way
def test_it_reaches_nobody(way):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""import os, socket
found = []
try: socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 2)
except OSError: found.append("network")
try: os.kill({os.getpid()}, 0)
except OSError: found.append("processes")
known = ("HOME", "LANG", "PATH", "PWD", "OLDPWD", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
if not set(os.environ) - set(known): found.append("environment")
"""
        assert seen(Sandbox(way), code) == ["network", "processes", "environment"]


@each_way
def test_it_is_one_process_of_nobody(way):
    code = """import os, subprocess
found = [os.getuid() != 0 or os.geteuid() != 0]
for start in (os.fork, lambda: subprocess.run(["true"]), lambda: os.posix_spawn("/bin/true", ["true"], {})):
    try: found.append(start())
    except PermissionError: found.append(None)
"""
    assert seen(Sandbox(way), code)[1:] == [None, None, None]


@each_way
def test_what_else_runs_here_adds_nothing_to_the_limit_of_threads(way):
    """As root, which gives a sandbox a user of its own; else this user's other threads may count, on both sides."""
    code = """import threading, time
found = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
        found += 1
except RuntimeError: pass
"""
    threads = seen(Sandbox(way), code)
    assert threads == 63 if os.getuid() == 0 else threads > 30


@each_way
def test_the_installed_packages_are_there(way):
    assert seen(Sandbox(way), "import numpy, dateutil\nfound = float(numpy.mean([1, 2]))") == 1.5


@pytest.mark.parametrize("way", ["unshare", "none"])
@pytest.mark.parametrize("name", ["os._exit in a function", "a function that never ends in one of the hidden cases", "a fork bomb"])
def test_marks_are_the_same_in_the_other_ways(way, name):
    answers, lost, _ = HOSTILE[name]
    assert points(graded(Sandbox(way), answers)) == less(lost)


def test_nothing_is_left_behind():
    before = set(os.listdir("/proc"))
    for way in ("bubblewrap", "unshare"):
        session = Session(Sandbox(way), Limits(cell_seconds=1.0))
        session.run("cell", "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()")
        session.close()
    new, deadline = {pid for pid in set(os.listdir("/proc")) - before if pid.isdigit()}, time.monotonic() + 30
    while left := {pid for pid in new if "student.py" in _command(pid)}:  # those of tests beside this one end by themselves
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def only(folder: Path, *programs: str) -> str:
    """A PATH with these programs alone."""
    folder.mkdir()
    for program in programs:
        (folder / program).symlink_to(str(shutil.which(program)))
    return str(folder)


def test_bubblewrap_is_taken_if_it_is_there():
    assert find().way == "bubblewrap"


def test_unshare_is_taken_if_bubblewrap_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", only(tmp_path / "bin", "unshare"))
    assert find().way == "unshare"


def test_without_a_sandbox_it_refuses_and_says_why(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", only(tmp_path / "bin"))
    with pytest.raises(UserError, match=r"bwrap is not installed, unshare is not installed\. Install bubblewrap") as refused:
        find()
    assert "--unsafe-no-sandbox" in str(refused.value) and str(refused.value).count("\n") == 0
    assert find(unsafe=True).way == "none"


def test_a_sandbox_that_does_not_work_is_named_with_its_reason(monkeypatch, tmp_path):
    for program in ("bwrap", "unshare"):
        path = tmp_path / program
        path.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UserError, match=r"bwrap does not work here \(No permissions to create new namespace\),"):
        find()
