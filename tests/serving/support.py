"""What the tests of rendered and translated configurations share."""

from __future__ import annotations

import ast
import json
import re
import shlex
from typing import Any

import yaml


def one_sentence(error: BaseException) -> bool:
    """One sentence: no line break, and no full stop but the last, those inside names and numbers aside."""
    text = str(error)
    return "\n" not in text and not re.search(r"\. [A-Z]", text) and text[-1] in ".?:"


def commands(shell: str) -> list[list[str]]:
    """The words of each command of a script, comments aside."""
    lines = shell.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def arguments(words: list[str]) -> dict[str, Any]:
    """Options of a command: a JSON value parsed, an option alone True; what stands before them under ""."""
    found: dict[str, Any] = {"": []}
    name = ""
    for word in words:
        if word.startswith("-") and not re.match(r"-\d", word):
            name, _, value = word.partition("=")
            found[name] = _parsed(value) if value else True
        elif name and found[name] is True:
            found[name] = _parsed(word)
        else:
            found[""].append(word)
    return found


def _parsed(word: str) -> Any:
    return json.loads(word) if word.startswith("{") else word


def call_arguments(code: str, name: str = "LLM") -> dict[str, Any]:
    """The keyword arguments of the first call of that name, literals evaluated, other expressions as text."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if getattr(node.func, "id", getattr(node.func, "attr", "")) == name)
    values = [(str(i), node) for i, node in enumerate(call.args)] + [(k.arg or "**", k.value) for k in call.keywords]
    return {key: _literal(node) for key, node in values}


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def parse(name: str, text: str) -> Any:
    """A rendered file by its kind; raises where it is not valid."""
    if name.endswith(".py"):
        return ast.parse(text)
    if name.endswith(".yaml"):
        return list(yaml.safe_load_all(text))
    return json.loads(text) if name.endswith(".json") else commands(text)
