"""What a sandbox shows of this machine: Python, the installed packages and the system's libraries; and where it has memory to write to."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

HOME = "/home/student"  # inside the sandbox
MEMORY = ("/tmp", HOME)  # what student code may write to
_MOST_FILES, _LARGEST = 200, 64 * 2**20
_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")


@functools.cache
def packages() -> list[str]:
    return [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages") and Path(path).is_dir()]


@functools.cache
def visible() -> list[str]:
    """The folders and files with Python, the packages and the system's libraries, none inside another."""
    python = Path(sys.executable)
    wanted = [*_SYSTEM, sys.base_prefix, sys.prefix, str(python.resolve().parent.parent), *packages()]
    paths = [Path(path) for path in wanted if path != "/" and Path(path).exists()]
    outer = [path for path in paths if not any(other != path and path.is_relative_to(other) for other in paths)]
    return list(dict.fromkeys(str(path) for path in outer))


def own_files(folder: Path) -> list[Path]:
    """What a student has handed in beside the notebook: files and folders, no links, nothing that cannot be read or is too large."""
    found = (path for path in sorted(folder.iterdir()) if not path.is_symlink() and path.suffix != ".ipynb" and os.access(path, os.R_OK))
    return [path for path in found if path.is_dir() or (path.is_file() and path.stat().st_size <= _LARGEST)][:_MOST_FILES]


def in_memory(folder: str) -> bool:
    return any(Path(folder).is_relative_to(place) for place in MEMORY)


def parents(targets: list[str]) -> list[str]:
    """All the folders above these, outermost first."""
    above = {str(parent) for target in targets for parent in Path(target).parents if str(parent) != "/"}
    return sorted(above - set(MEMORY) - set(targets), key=lambda folder: (folder.count("/"), folder))
