"""What a student's process gives up before any of the student's code runs. Standard library alone: it runs inside the sandbox.

The sandbox hides files, network and other processes; this limits what one process may use, and keeps it one process: a filter of system
calls (Linux on x86-64 and arm64) refuses to start another, so that its memory limit is a limit of all its memory.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from contextlib import suppress
from typing import Any

_ALLOW, _REFUSE, _MISSING, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x80000000  # EPERM, ENOSYS
_THREAD = 0x00010000  # CLONE_THREAD

# Architecture, and its numbers of the calls that make processes and threads.
_MACHINES = {
    "x86_64": (0xC000003E, {"clone": 56, "clone3": 435}),
    "aarch64": (0xC00000B7, {"clone": 220, "clone3": 435}),
}
# What is refused, with its numbers on these two: new processes, memory that no limit counts, and what only attacks on a kernel need.
_REFUSED = {
    "fork": (57, None),
    "vfork": (58, None),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
}


def confine(settings: dict[str, Any]) -> None:
    """user: the user id to become, or none. memory and file: limits in bytes; processes: in number; seconds: of computing."""
    _limits(settings)
    if settings["user"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["user"]] * 3)
        os.setresuid(*[settings["user"]] * 3)
    if sys.platform == "linux":
        one_process()


def _limits(settings: dict[str, Any]) -> None:
    import resource

    wanted = {
        "RLIMIT_AS": settings["memory"],
        "RLIMIT_CPU": settings["seconds"],
        "RLIMIT_FSIZE": settings["file"],
        "RLIMIT_NPROC": settings["processes"],
        "RLIMIT_NOFILE": 64,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,
    }
    for name, value in wanted.items():
        with suppress(AttributeError, ValueError, OSError):  # not every system has every limit
            resource.setrlimit(getattr(resource, name), (value, value))


def one_process() -> None:
    """Refuse new processes from here on; threads are allowed. Does nothing on a processor whose system calls are not listed above."""
    machine = platform.machine()
    if machine not in _MACHINES:
        return
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    numbers = [numbers[list(_MACHINES).index(machine)] for numbers in _REFUSED.values()]
    code = _filter(*_MACHINES[machine], [number for number in numbers if number is not None])
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(code) // 8, code)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    libc.prctl(22, 2, ctypes.byref(program), 0, 0)  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def _filter(architecture: int, clones: dict[str, int], refused: list[int]) -> bytes:
    """A program of the kernel's packet filter: at 0 lies the number of a system call, at 4 the architecture, at 16 the first argument."""
    load, equal, above, has, back = 0x20, 0x15, 0x35, 0x45, 0x06
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (back, 0, 0, _KILL),
        (load, 0, 0, 0),
        (above, 0, 1, 0x40000000),  # the other numbers of x86-64 (x32)
        (back, 0, 0, _MISSING),
        (equal, 0, 1, clones["clone3"]),
        (back, 0, 0, _MISSING),  # its flags lie in memory; the C library takes clone instead
    ]
    for call in refused:
        steps += [(equal, 0, 1, call), (back, 0, 0, _REFUSE)]
    steps += [(equal, 0, 3, clones["clone"]), (load, 0, 0, 16), (has, 1, 0, _THREAD), (back, 0, 0, _REFUSE), (back, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
