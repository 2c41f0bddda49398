"""How a configuration is written down: commands, Python calls, YAML, and the sentence that refuses what an engine cannot do."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import yaml

from specdec_lab.errors import UserError
from specdec_lab.serving.setup import Setup

PROMPT = "Write a Python function to reverse a list."


@dataclass(frozen=True)
class Engine:
    """An engine, the version its options were checked against, and where each option's meaning was read."""

    name: str
    version: str
    sources: Mapping[str, str]

    @property
    def header(self) -> str:
        """The comment that opens every rendered file."""
        return f"# {self.name}, options as of {self.version}"

    def refuse(self, what: str, way_out: str) -> UserError:
        """What to raise where the engine cannot express a part of the set-up."""
        return UserError(f"{self.name} {what}: {way_out}.")

    def require(self, fine: bool, what: str, way_out: str) -> None:
        """Raises the refusal unless `fine`."""
        if not fine:
            raise self.refuse(what, way_out)


def quote(word: str) -> str:
    """The word for a POSIX shell. A variable such as $MODEL stays one."""
    if "$" in word and not set("`\"\\'") & set(word):
        return f'"{word}"'
    return shlex.quote(word)


def command(words: Sequence[str]) -> str:
    """A shell command with one option and its values a line."""
    lines: list[list[str]] = [[]]
    for word in words:
        if word.startswith("-") and word != "-m" and lines[-1]:
            lines.append([])
        lines[-1].append(quote(word))
    return " \\\n    ".join(" ".join(line) for line in lines) + "\n"


def options(values: Mapping[str, Any]) -> list[str]:
    """Options as words: None and False are left out, True is the option alone, a mapping becomes JSON."""
    words: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        words.append(name)
        if value is not True:
            words.append(json.dumps(value) if isinstance(value, Mapping) else str(value))
    return words


def guarded(body: str, engine: str) -> str:
    """A script's statements, for a process that starts others which read the script again."""
    return f'if __name__ == "__main__":  # {engine} starts processes that read this file again\n{indent(body, "    ")}'


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """A Python call with one argument a line; None is left out."""
    lines = [f"    {key}={value!r}," for key, value in arguments.items() if value is not None]
    return f"{name}(\n" + "\n".join(lines) + "\n)"


class _Plain(yaml.SafeDumper):
    """No anchors: what stands twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(*documents: Any) -> str:
    """YAML in the order given, each document written out in full."""
    return yaml.dump_all(documents, Dumper=_Plain, sort_keys=False, width=120)


def request(setup: Setup) -> str:
    """The body of a request to an OpenAI-compatible server's /v1/completions that asks for the set-up's sampling."""
    sampling = setup.sampling
    wanted: dict[str, Any] = {"model": setup.target, "prompt": PROMPT, "max_tokens": sampling.max_tokens}
    wanted |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    wanted |= {key: getattr(sampling, key) for key in ("top_k", "min_p") if getattr(sampling, key)}
    return json.dumps(wanted, indent=2) + "\n"
