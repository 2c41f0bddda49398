"""What the package needs of its environment, and what of it is there. Imports nothing heavy: the first cell on Colab asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement


@dataclass(frozen=True)
class Need:
    """A requirement, the extra it belongs to if any, and the version that is installed, if any."""

    requirement: Requirement
    extra: str | None
    found: str | None

    @property
    def met(self) -> bool:
        """Whether it is there, and new enough."""
        return self.found is not None and self.requirement.specifier.contains(self.found, prereleases=True)


def checkout() -> Path | None:
    """The folder of the checkout that this package is in, if it is in one."""
    project = Path(__file__).parents[1] / "pyproject.toml"  # some packages drop theirs among the installed ones
    return project.parent if project.exists() and 'name = "specdec-lab"' in project.read_text(encoding="utf-8") else None


def needs(extras: Sequence[str] = ()) -> list[Need]:
    """The project's own requirements, and those of `extras`."""
    return [Need(need, extra, _version(need.name)) for extra in (None, *extras) for need in map(Requirement, _lines(extra))]


def _lines(extra: str | None) -> list[str]:
    """As pyproject.toml has them in a checkout, which nobody may have installed since they changed; else as the package has them."""
    if root := checkout():
        text = (root / "pyproject.toml").read_text(encoding="utf-8")  # tomllib comes with Python 3.11
        block = re.search(rf"^{extra or 'dependencies'} = \[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
        return re.findall(r'"(.+?)"', block[1]) if block else []
    every = [Requirement(line) for line in requires("specdec-lab") or []]
    if extra is None:
        return [str(need) for need in every if need.marker is None or need.marker.evaluate({"extra": ""})]
    own = [need for need in every if need.marker and not need.marker.evaluate({"extra": ""}) and need.marker.evaluate({"extra": extra})]
    return [str(need) for need in own]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
