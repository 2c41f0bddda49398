"""A process between a server and whoever started it, so that no process of the server outlives its purpose.

    python supervise.py PARENT GRACE command...

It leads a process group of its own, in which the command and all its children run. When it is told to end (SIGTERM, SIGINT, SIGHUP), when
its parent is gone (killed, perhaps), or when the command ends by itself and leaves children, the group is asked to end and, GRACE
seconds later or once the command has ended, killed: this process with it. SIGUSR1 says that it is to outlive its parent.
The standard library alone, run as a file: it starts in a moment, whatever is installed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

POLL = 0.1


def main() -> None:
    parent, grace, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    if os.getpgrp() != os.getpid():
        os.setsid()  # it is going to kill its whole group, which must not be somebody else's
    asked: list[int] = []
    released: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: asked.append(number))
    signal.signal(signal.SIGUSR1, lambda number, frame: released.append(number))
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while server.poll() is None and not asked and (released or os.getppid() == parent):
        time.sleep(POLL)
    code = server.poll()
    print(f"supervisor: {_reason(code, bool(asked))}", flush=True)
    _end(server, grace)


def _reason(code: int | None, asked: bool) -> str:
    if code is not None:
        return f"the server ended by itself, {f'killed by signal {-code}' if code < 0 else f'exit code {code}'}"
    return "asked to end" if asked else "the process that started the server is gone"


def _end(server: subprocess.Popen[bytes], grace: float) -> None:
    os.killpg(0, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while server.poll() is None and time.monotonic() < deadline:
        time.sleep(POLL)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
