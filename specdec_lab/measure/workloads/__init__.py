"""Prompts to judge a drafter by: eight workloads of twenty prompts, each with the temperature and length it is meant for.

They were written for this course, a YAML file a workload; `SHORT` holds a few shorter ones, for a chapter's minutes. One of your own
is a file of the same form:

    name: letters
    about: Greetings and closings are fixed, so a small draft should know them.
    temperature: 0.3        # both for every prompt that does not say otherwise
    max_new_tokens: 128
    prompts:
      - Write a letter of thanks to a neighbour.
      - text: Write a letter of complaint about a cold soup.
        temperature: 0.7
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from specdec_lab.errors import UserError
from specdec_lab.measure.workloads.short import SHORT
from specdec_lab.sampling import SamplingParams

__all__ = ["KEYS", "NAMES", "SETTINGS", "SHORT", "Prompt", "Workload", "load_workload", "workload", "workloads"]

NAMES = ("code-completion", "code-edit", "json", "extraction", "summary", "question-answering", "chat", "story")
SETTINGS = ("temperature", "max_new_tokens")
KEYS = ("name", "about", *SETTINGS, "prompts")


@dataclass(frozen=True)
class Prompt:
    """What a user says, the temperature that suits it (0 is greedy), and the most tokens its answer is given."""

    text: str
    temperature: float
    max_new_tokens: int


@dataclass(frozen=True)
class Workload:
    """Prompts of one kind. about: one sentence on what makes them easy or hard to draft, for a measurement to prove or refute."""

    name: str
    about: str
    prompts: tuple[Prompt, ...]


def workloads() -> dict[str, Workload]:
    """The course's eight workloads by name."""
    return {name: workload(name) for name in NAMES}


def workload(name: str) -> Workload:
    """One of the course's workloads. Raises UserError with the names there are."""
    if name not in NAMES:
        close = get_close_matches(name.lower(), NAMES, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UserError(f"There is no workload {name!r}; {hint}The workloads are {', '.join(NAMES)}; one of your own is given by its file.")
    return load_workload(Path(__file__).parent / f"{name}.yaml")


def load_workload(path: str | Path) -> Workload:
    """A workload of your own, from a YAML file like the one at the top of this module.

    Raises UserError, naming the file, the place in it and the way out, if it is not there or anything in it is wrong.
    """
    file = Path(path)
    fields = _mapping(file)
    defaults = {key: _setting(file.name, key, fields[key]) for key in SETTINGS}
    if not isinstance(fields["prompts"], list) or not fields["prompts"]:
        raise UserError(f"{file.name} has no prompts; list at least one under `prompts:`, each behind a dash.")
    prompts = [_prompt(f"Prompt {i} of {file.name}", entry, defaults) for i, entry in enumerate(fields["prompts"], 1)]
    return Workload(_text(file.name, "name", fields["name"]), _text(file.name, "about", fields["about"]), tuple(prompts))


def _mapping(file: Path) -> dict[str, Any]:
    """What the file says, with all keys that it has to have and no others."""
    try:
        fields = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}); give the path of a workload's YAML file.") from None
    except UnicodeDecodeError:
        raise UserError(f"{file.name} is not a text in UTF-8; save it as one in your editor.") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that is none
        raise UserError(f"{file.name} is not YAML ({_where(error)}); mind the indentation, and quote a text with a colon in it.") from None
    if not isinstance(fields, dict):
        raise UserError(f"{file.name} does not describe a workload; it needs the keys {', '.join(KEYS)}.")
    if missing := [key for key in KEYS if key not in fields]:
        raise UserError(f"{file.name} says nothing about {', '.join(missing)}; a workload has the keys {', '.join(KEYS)}.")
    _no_others(file.name, fields, KEYS)
    return fields


def _where(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return f"line {mark.line + 1}: {problem}" if mark and problem else " ".join(str(error).split())


def _prompt(where: str, entry: Any, defaults: dict[str, Any]) -> Prompt:
    """A prompt from its entry: its text, or a mapping with settings of its own."""
    if not isinstance(entry, dict):
        entry = {"text": entry}
    _no_others(where, entry, ("text", *SETTINGS), "; a text with a colon in it has to stand in quotes")
    settings = {key: _setting(where, key, entry[key]) for key in SETTINGS if key in entry}
    return Prompt(_text(where, "text", entry.get("text")), **{**defaults, **settings})


def _no_others(where: str, fields: dict[Any, Any], known: tuple[str, ...], hint: str = "") -> None:
    if unknown := [key for key in fields if key not in known]:
        raise UserError(f"{where} has an unknown key {str(unknown[0])!r}, but the keys are {', '.join(known)}{hint}.")


def _text(where: str, key: str, value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise UserError(f"{where} has no {key}; write one.")
    if not isinstance(value, str):
        raise UserError(f"{where} has {value!r} for its {key}, which YAML does not take for a text; put it in quotes.")
    return value.strip()


def _setting(where: str, key: str, value: Any) -> float | int:
    """A temperature or a number of tokens, if it is one."""
    if key == "max_new_tokens":
        if type(value) is not int or value < 1:
            raise UserError(f"{where}: max_new_tokens is {value!r}, but has to be a whole number, 1 or more.")
        return value
    if type(value) not in (int, float):
        raise UserError(f"{where}: temperature is {value!r}, but has to be a number, such as 0.7.")
    try:
        return SamplingParams(temperature=float(value)).temperature
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
