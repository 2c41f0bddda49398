"""Where the trained draft and the other files of `assets/` are: in a checkout beside the package, else inside it."""

from pathlib import Path


def asset(name: str) -> Path:
    """The path of `assets/<name>`."""
    package = Path(__file__).parent
    inside = package / "assets" / name
    return inside if inside.exists() else package.parent / "assets" / name
