"""Where the trained draft and the other files of `assets/` are, in a checkout beside the package, else inside it; and the user's cache."""

import os
from pathlib import Path


def asset(name: str) -> Path:
    """The path of `assets/<name>`."""
    package = Path(__file__).parent
    inside = package / "assets" / name
    return inside if inside.exists() else package.parent / "assets" / name


def cache_folder() -> Path:
    """`$SPECDEC_LAB_CACHE`, else `specdec-lab` in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    own, xdg = os.environ.get("SPECDEC_LAB_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(own).expanduser() if own else Path(xdg or "~/.cache").expanduser() / "specdec-lab"
