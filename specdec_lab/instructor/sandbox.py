"""Where students' code runs: away from the course, from other students, from the network and from the gradebook.

With bubblewrap if it is there and works, else with `unshare` of util-linux. Both build an empty file system in memory, put into it this
Python, the installed packages and the system's libraries (read-only) and the student's own files, and start student.py in it, without
network and without sight of other processes. Where neither works, `find` refuses; "none" has to be asked for. The limits: confine.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec_lab.errors import UserError
from specdec_lab.instructor import wire
from specdec_lab.instructor.view import HOME, MEMORY, in_memory, own_files, packages, parents, visible

_PARTS = "/grading"  # where student.py and what it imports lie
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_ENVIRONMENT = {
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
WAYS = ("bubblewrap", "unshare", "none")
_MOST_BYTES = 32 * 2**20  # that one cell may send to the grader


@dataclass(frozen=True)
class Limits:
    """What one submission may use; sizes are in bytes.

    cell_seconds: of computing, for one answer cell or one call by a check. By the clock, an answer cell or all the calls of a check may
    take three times as long, and the whole notebook `total_seconds`.
    """

    cell_seconds: float = 10.0
    total_seconds: float = 180.0
    memory: int = 2 * 2**30
    file: int = 16 * 2**20
    printed: int = 20_000


@dataclass(frozen=True)
class Sandbox:
    """One way to start a student's process. `hidden` is a folder that must not be seen, the course's."""

    way: str
    hidden: Path | None = None

    def start(self, limits: Limits, files: Path | None = None) -> Process:
        """A student's process that waits for its first message. `files` is a folder whose files it can read, in its current directory."""
        here, there = socket.socketpair()
        with there:
            command = self._command(there.fileno(), limits, files)
            popen = subprocess.Popen(
                command,
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        return Process(popen, here)

    def _command(self, pipe: int, limits: Limits, files: Path | None) -> list[str]:
        away = self.way != "none"
        user = _new_user() if away and os.getuid() == 0 else None
        settings = {
            "pipe": pipe,
            "printed": limits.printed,
            "packages": packages(),
            "user": user,
            "memory": limits.memory,
            "seconds": int(limits.total_seconds) + 1,
            "file": limits.file,
            "processes": 64 + (_processes_of_this_user() if user is None else 0),
        }
        scripts = _PARTS if away else str(Path(__file__).parent)
        python = [sys.executable, "-I", "-S", "-B", "-X", "utf8", f"{scripts}/student.py", json.dumps(settings)]
        if self.way == "bubblewrap":
            return [*self._bubblewrap(files), *python]
        return [*self._unshare(files), *python] if away else python

    def _bubblewrap(self, files: Path | None) -> list[str]:
        root = os.getuid() == 0
        command = [
            _program("bwrap"),
            "--die-with-parent",
            "--new-session",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
        ]
        command += ["--unshare-cgroup-try", "--hostname", "student", *([] if root else ["--unshare-user"]), "--cap-drop", "ALL"]
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if root else []
        binds = list(self._binds(files))
        above = parents([target for _, target in binds])
        for folder in (folder for folder in above if not in_memory(folder)):
            command += ["--perms", "0755", "--dir", folder]
        for folder in MEMORY:
            command += ["--perms", "1777", "--size", str(64 * 2**20), "--tmpfs", folder]
        for folder in filter(in_memory, above):  # an environment below /tmp
            command += ["--perms", "0755", "--dir", folder]
        for source, target in binds:
            command += ["--dev-bind" if source in _DEVICES else "--ro-bind", source, target]
        for folder in self._masked(binds):
            command += ["--tmpfs", folder, "--remount-ro", folder]
        return [*command, "--remount-ro", "/", "--chdir", HOME]

    def _unshare(self, files: Path | None) -> list[str]:
        root = os.getuid() == 0
        command = [_program("unshare"), "--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
        command += [] if root else ["--user", "--map-root-user"]
        capabilities = "-all,+setuid,+setgid" if root else "-all"
        binds = list(self._binds(files))
        lines = []
        above = parents([target for _, target in binds])
        for folder in (folder for folder in above if not in_memory(folder)):
            lines.append(f'mkdir -p "$root"{_quoted(folder)}')
        for folder in MEMORY:
            lines.append(f'mkdir -p "$root{folder}"; mount -t tmpfs -o size=64m,mode=1777 none "$root{folder}"')
        for folder in filter(in_memory, above):
            lines.append(f'mkdir -p "$root"{_quoted(folder)}')
        for source, target in binds:
            lines.append(f'bind {"dir" if Path(source).is_dir() else "file"} {_quoted(source)} "$root"{_quoted(target)}')
        for folder in self._masked(binds):
            lines.append(f'mount -t tmpfs -o ro none "$root"{_quoted(folder)}')
        free = (path for path in ("/mnt", "/media", "/srv", "/opt", "/var", "/tmp") if Path(path).is_dir())
        mount = next(path for path in free if not any(Path(source).is_relative_to(path) for source, _ in binds))
        script = _SCRIPT.format(steps="\n".join(lines), root=mount, home=HOME, capabilities=capabilities)
        return [*command, "/bin/sh", "-c", script, "sh"]

    def _binds(self, files: Path | None) -> Iterator[tuple[str, str]]:
        for path in visible():
            yield path, path
        for device in _DEVICES:
            yield device, device
        for module in ("student.py", "wire.py", "confine.py"):
            yield str(Path(__file__).parent / module), f"{_PARTS}/{module}"
        for own in own_files(files) if files else []:
            yield str(own.resolve()), f"{HOME}/{own.name}"

    def _masked(self, binds: list[tuple[str, str]]) -> list[str]:
        hidden = self.hidden.resolve() if self.hidden else None
        return [str(hidden)] if hidden and any(hidden.is_relative_to(target) for _, target in binds) else []


class Process:
    """A student's process, and the pipe to it."""

    def __init__(self, popen: subprocess.Popen[bytes], pipe: socket.socket) -> None:
        self.popen, self.pipe = popen, pipe
        self.incoming, self.taken = wire.Incoming(), 0
        self.wait(time.monotonic() + 10)

    def wait(self, until: float) -> None:
        """From now on, wait for the other side no longer than until the clock (time.monotonic) says so."""
        self.until = until
        self.pipe.settimeout(max(0.001, until - time.monotonic()))

    def send(self, message: list[Any]) -> None:
        """Raises TimeoutError when the time is up, OSError if the process is gone, WireError if the message is too large."""
        self.pipe.sendall(wire.dumps(message))

    def receive(self) -> list[Any]:
        """Raises TimeoutError and OSError as `send` does; WireError if what comes is no message."""
        while (message := self.incoming.take()) is None:
            part = self.pipe.recv(2**16)
            if not part:
                raise ConnectionError("the process has ended")
            self.incoming.add(part)
            self.taken += len(part)
        if self.taken > _MOST_BYTES:
            raise wire.WireError("more than a cell may send")
        if time.monotonic() > self.until:
            raise TimeoutError
        return message

    def end(self) -> None:
        """End it with all that it has started."""
        self.pipe.close()
        with contextlib.suppress(OSError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


def _program(name: str) -> str:
    return shutil.which(name) or name


def find(unsafe: bool = False, hidden: Path | None = None) -> Sandbox:
    """The best sandbox that works here. Raises UserError if there is none; `unsafe` takes "none" without looking."""
    if unsafe:
        return Sandbox("none", hidden)
    reasons = []
    for way, program in (("bubblewrap", "bwrap"), ("unshare", "unshare")):
        if not shutil.which(program):
            reasons.append(f"{program} is not installed")
        elif why := _trial(Sandbox(way, hidden)):
            reasons.append(f"{program} does not work here ({why})")
        else:
            return Sandbox(way, hidden)
    raise UserError(
        f"Students' code has to be kept away from the course, and there is no sandbox: {', '.join(reasons)}. Install bubblewrap (Debian, "
        "Ubuntu: apt-get install bubblewrap), or, if you would run this code yourself, add --unsafe-no-sandbox."
    )


def _trial(sandbox: Sandbox) -> str:
    """Why a process cannot be started this way; nothing if it can."""
    process = sandbox.start(Limits())
    try:
        process.wait(time.monotonic() + 20)
        process.send(["get", 0, []])
        process.receive()
    except TimeoutError:
        return "it does not answer"
    except (OSError, wire.WireError):
        return _complaint(sandbox)
    finally:
        process.end()
    return ""


def _complaint(sandbox: Sandbox) -> str:
    command = sandbox._command(0, Limits(), None)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=_ENVIRONMENT, timeout=20)
    return (done.stderr.strip().splitlines() or ["it ends at once"])[-1][:200]


_users = iter(range(2**20))


def _new_user() -> int:
    """A user id that nothing else has, so that the number of its processes can be limited: root's cannot."""
    return 2**30 + os.getpid() % 2**22 * 64 + next(_users) % 64


def _processes_of_this_user() -> int:
    """How many threads this user has running; older kernels count them all against the limit of a sandbox."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = status.read_text()
            if int(text.partition("Uid:")[2].split()[0]) == os.getuid():
                count += int(text.partition("Threads:")[2].split()[0])
    return count


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


# In new namespaces: an empty root in memory, what may be seen bound into it, and everything else put out of reach.
_SCRIPT = """set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount --make-rprivate /
root={root}
mount -t tmpfs -o size=16m,mode=755 none "$root"
bind() {{
    if [ "$1" = dir ]; then mkdir -p "$3"; else : > "$3"; fi
    mount --rbind "$2" "$3"
    case "$2" in /dev/*) return ;; esac
    mount -o remount,bind,ro "$3" 2>/dev/null || mount -o remount,bind,ro,nosuid,nodev "$3"
}}
{steps}
mkdir "$root/.before"
mount -o remount,bind,ro "$root"
cd "$root"
pivot_root . .before
cd {home}
"$1" -I -S -c 'import ctypes; raise SystemExit(ctypes.CDLL(None).umount2(b"/.before", 2) != 0)'  # umount needs /proc, which is not here
exec setpriv --no-new-privs --inh-caps=-all --bounding-set={capabilities} "$@"
"""
