"""Files of what was recorded on some machine: those in `assets/`, and a reader's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from specdec_lab.assets import asset
from specdec_lab.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class Files:
    """One kind of them: the folder in `assets/`, what one is called, the version of their format, and the command that records one."""

    folder: str
    what: str
    version: int
    again: str

    def names(self) -> list[str]:
        """Those that come with the course."""
        return sorted(file.stem for file in asset(self.folder).glob("*.json"))

    def load(self, name: str | Path, build: Callable[[dict[str, Any]], T]) -> T:
        """What `build` makes of the fields of one: by its name in the course, or by its file.

        Raises UserError if it is not there, or cannot be read, or has another version.
        """
        file = name if isinstance(name, Path) else asset(self.folder) / f"{name}.json"
        if not file.exists():
            raise UserError(f"There is no {self.what} {name}; recorded are: {', '.join(self.names()) or 'none'}.")
        try:
            fields = json.loads(file.read_text(encoding="utf-8"))
            version = fields.pop("version")
            if version == self.version:
                return build(fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{file.name} is no {self.what} that can be read ({error}); record it again: {self.again}.") from error
        reads = f"{file.name} has format {version}, but this package reads format {self.version}"
        raise UserError(f"{reads}; record it again: {self.again}.")
