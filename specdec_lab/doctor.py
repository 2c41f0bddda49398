"""What this machine has, what is missing, and the command that mends it."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from specdec_lab.assets import asset, cache_folder
from specdec_lab.measure import device_facts
from specdec_lab.models.embedded import embedded_model_ready
from specdec_lab.models.placement import choose, old_gpu
from specdec_lab.models.registry import COURSE_DRAFT
from specdec_lab.requirements import needs

NEEDED_GIB = 3.0  # the largest chapter so far, with a margin


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `remedy` is what to do where it is not `ok`."""

    what: str
    ok: bool
    found: str
    remedy: str = ""


def findings() -> list[Finding]:
    """Everything the course needs of a machine, good or bad."""
    facts = device_facts()
    free = shutil.disk_usage(_existing(cache_folder())).free / 2**30
    unused = f"; this torch no longer runs on the {name}" if (name := old_gpu()) else ""
    ready, draft = embedded_model_ready(), asset(COURSE_DRAFT).exists()
    return [
        Finding("Python", sys.version_info >= (3, 10), facts.python, "install Python 3.10 or later"),
        *_packages(),
        Finding("device", True, f"{facts.name}, {facts.kind}, {facts.threads} threads{unused}"),
        Finding("pair chosen by auto", True, choose()[0].name),
        Finding(
            "free memory",
            facts.memory_free >= NEEDED_GIB,
            f"{facts.memory_free:.1f} GiB",
            f"close programs until {NEEDED_GIB} GiB are free",
        ),
        Finding(
            "embedded model",
            ready,
            str(cache_folder()) if ready else "not downloaded yet",
            f"{sys.executable} -m specdec_lab.cli models fetch",
        ),
        Finding("free disk in the cache", ready or free >= 1.0, f"{free:.1f} GiB", "free 1 GiB, or set SPECDEC_LAB_CACHE to another disk"),
        Finding(
            "the course's draft",
            draft,
            str(asset(COURSE_DRAFT)) if draft else "missing",
            "in a checkout: git checkout -- assets; else install the package again",
        ),
    ]


def _packages() -> list[Finding]:
    """The project's own requirements. JupyterLab and nbgrader are named, but nobody on Colab needs them."""
    out = []
    for need in needs(extras=("lab", "instructor")):
        name, wanted = need.requirement.name, f"{sys.executable} -m pip install '{need.requirement}'"
        found = need.found or (f"not installed; {wanted}" if need.extra else "missing")
        if not need.met or need.extra or name in ("torch", "transformers"):
            out.append(Finding(name, need.met or need.extra is not None, found, wanted))
    return out


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)
