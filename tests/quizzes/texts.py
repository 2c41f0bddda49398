"""What the banks of answers write functions with."""

from textwrap import dedent, indent


def function(head: str, body: str) -> str:
    """The source of a function: its name and parameters, and what it does."""
    return f"def {head}:\n" + indent(dedent(body).strip(), "    ")


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text
