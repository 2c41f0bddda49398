"""The first cell of every notebook: install what is missing, change nothing that is there, and say what was found.

Colab and Kaggle bring most of what the course needs, in versions that the rest of the image is built on. So pip gets
whatever is installed as its constraints, and adds packages or fails; it replaces none.
"""

from __future__ import annotations

import importlib
import os
import re
import site
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from specdec_lab import __version__
from specdec_lab.assets import asset
from specdec_lab.errors import UserError
from specdec_lab.requirements import checkout, needs

PIP = (sys.executable, "-m", "pip")
# Not as options: an older pip does not know them all, and passes over what it does not know here.
QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_PROGRESS_BAR": "off", "PIP_ROOT_USER_ACTION": "ignore"}
OFFLINE = re.compile(r"name resolution|connection broken|ConnectionError|Network is unreachable|Failed to establish|timed out")


def bootstrap() -> None:
    """Install what the package needs and this Python lacks; print the place, the device and the pair that `auto` takes.

    Safe to run again: then there is nothing to do. Raises UserError if something cannot be installed, is too old, or is
    missing from the package itself; pip's own words are printed above it.
    """
    missing = [need.requirement for need in needs() if need.found is None]
    if missing:
        install(missing)
    if unseen := [need.requirement.name for need in needs() if need.found is None]:
        raise UserError(
            f"{', '.join(unseen)}: installed, but this session does not see it; restart the session and run this cell again "
            f"(if that does not help, PIP_TARGET or PIP_PREFIX sends it where this Python does not look: unset them)."
        )
    old = [need for need in needs() if not need.met]
    if old:
        wanted = " ".join(f"'{need.requirement}'" for need in old)
        have = ", ".join(f"{need.requirement.name} {need.found}, not {need.requirement.specifier}" for need in old)
        raise UserError(f"Too old for the course: {have}. Nothing was changed; run %pip install {wanted}, restart the session, go on.")
    done = f"installed {', '.join(need.name for need in missing)}" if missing else "nothing to install"
    print(f"specdec-lab {__version__} {place()}: {done}")
    print("\n".join(found()))


def install(missing: Sequence[Requirement]) -> None:
    """Let pip add these beside everything that is there, and print what it says. Raises UserError with the reason if it cannot."""
    print(f"Installing {', '.join(map(str, missing))} ...", flush=True)
    with TemporaryDirectory() as folder:
        pins = Path(folder) / "installed.txt"
        pins.write_text("\n".join(installed()))
        command = [*PIP, "install", "--constraint", str(pins), *map(str, missing)]
        said = []
        with subprocess.Popen(command, env=os.environ | QUIET, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
            assert pip.stdout
            for line in pip.stdout:
                said.append(line)
                if not line.startswith("Requirement already satisfied"):
                    print(line, end="", flush=True)
    user = site.getusersitepackages()  # where pip puts things if this Python's own folder is read-only; it may just have made it
    if site.ENABLE_USER_SITE and os.path.isdir(user) and user not in sys.path:
        site.addsitedir(user)
    importlib.invalidate_caches()
    if pip.returncode:
        raise UserError(reason([need.name for need in missing], "".join(said)))


def installed() -> list[str]:
    """`name==version` of every distribution here, as `torch==2.11.0+cu128`: the first of a name is the one that is imported."""
    pins: dict[str, str] = {}
    for one in distributions():
        try:
            name, version = canonicalize_name(one.metadata["Name"]), str(Version(one.version))
        except (InvalidVersion, TypeError, AttributeError, KeyError):  # half removed, or older than version numbers were regular
            continue
        pins.setdefault(name, version)
    return [f"{name}=={version}" for name, version in sorted(pins.items())]


def reason(names: Sequence[str], said: str) -> str:
    """One sentence for why pip did not install these, from what it said."""
    what = ", ".join(names)
    if "No module named pip" in said:
        return f"This Python has no pip to install {what} with; run `{sys.executable} -m ensurepip`, then this cell again."
    if "externally-managed-environment" in said:
        return (
            f"{what} cannot be installed, because this Python belongs to the operating system, which keeps pip out of it; "
            f"use an environment of its own (make setup in a checkout, or python -m venv)."
        )
    if conflict := re.search(r"The conflict is caused by:\n((?: +.+\n)+)", said):
        sides = " against ".join(line.strip().removeprefix("The user requested ") for line in conflict[1].splitlines())
        return (
            f"{what} cannot be added without changing what is installed ({sides}). Nothing was changed; upgrade the package "
            f"named after (constraint) yourself and restart the session, or use an environment of its own (make setup in a checkout)."
        )
    if OFFLINE.search(said):
        remedy = (
            "switch on Internet in the notebook's settings (the panel at the right)"
            if "KAGGLE_KERNEL_RUN_TYPE" in os.environ
            else "connect to the internet, or set PIP_INDEX_URL to a package mirror within reach"
        )
        return f"{what} cannot be installed, because pip reaches no package index; {remedy} and run this cell again."
    lines = re.findall(r"^(?:ERROR|error): .+", said, re.MULTILINE) or said.strip().splitlines() or ["no reason given"]
    return f"{what} cannot be installed (pip: {lines[-1]}); see pip's words above, put it right and run this cell again."


def place() -> str:
    """Where this runs, in words."""
    if "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules:
        return "on Colab"
    if "KAGGLE_KERNEL_RUN_TYPE" in os.environ:
        return "on Kaggle"
    return "in a checkout" if checkout() else "as an installed package"


def found() -> list[str]:
    """The device, its memory and the versions; the pair of `auto` and its precision. Raises UserError without the course's draft."""
    from specdec_lab.measure import device_facts  # torch, which may have been installed just now
    from specdec_lab.models.placement import choose, old_gpu
    from specdec_lab.models.registry import COURSE_DRAFT

    if not asset(COURSE_DRAFT).exists():
        raise UserError(f"The package came without {asset(COURSE_DRAFT)}; install it again, in a checkout run git checkout -- assets.")
    facts = device_facts()
    pair, device, dtype = choose()
    lines = [
        f"{facts.name} ({facts.kind}): {facts.memory_free:.1f} of {facts.memory_total:.1f} GiB free; "
        f"Python {facts.python}, torch {facts.torch}, transformers {facts.transformers}",
        f"load_pair() takes {pair.name} here: {pair.target} with {pair.draft}, {str(dtype).removeprefix('torch.')} on {device}",
    ]
    if name := old_gpu():
        lines.append(f"This torch no longer runs on the {name}; choose another GPU in the settings (a T4, on Kaggle), or stay on the CPU.")
    return lines
