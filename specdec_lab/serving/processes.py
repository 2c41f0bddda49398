"""Ports and process groups of this machine."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress

import psutil

from specdec_lab.errors import UserError

HOST = "127.0.0.1"
ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def port_is_free(port: int) -> bool:
    """Whether a server could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a connection that has just ended blocks nothing
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def require_port(port: int) -> None:
    """Raises UserError, naming whoever listens there where that can be seen, unless the port is free."""
    if port_is_free(port):
        return
    raise UserError(f"Port {port} is taken{_by_whom(port)}: give another one, or end what listens there.")


def _by_whom(port: int) -> str:
    with suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.laddr and each.laddr.port == port and each.status == psutil.CONN_LISTEN and each.pid:
                return f" by {psutil.Process(each.pid).name()} (process {each.pid})"
    return ""


def members(group: int, started: float) -> list[psutil.Process]:
    """The processes of the group whose leader was created at that time, those that have not ended. The leader may have."""
    with suppress(psutil.NoSuchProcess):
        if abs(psutil.Process(group).create_time() - started) > 1:
            return []  # the number has been given to somebody else
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == group and process.status() not in ENDED:
                found.append(process)
    return found


def end_group(group: int, started: float, patience: float) -> None:
    """Wait until the group has ended, and kill what is left of it after `patience` seconds, or at once if its leader has gone."""
    deadline = time.monotonic() + patience
    while left := members(group, started):
        if time.monotonic() > deadline or all(process.pid != group for process in left):
            for process in left:
                with suppress(psutil.Error):
                    process.send_signal(signal.SIGKILL)
            psutil.wait_procs(left, timeout=1)  # those that nobody waits for stay zombies
            return
        time.sleep(0.05)
