"""The words of a command that starts vLLM, or of its arguments alone, in today's form."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from specdec_lab.errors import UserError
from specdec_lab.serving.legacy_config import Note, Old, convert, modernise
from specdec_lab.serving.legacy_flags import (
    ALL,
    GONE,
    NEW_SPECULATIVE,
    OPTIONAL,
    RENAMED,
    SPECULATIVE,
    WITH_ONE,
    WITH_SEVERAL,
    WITHOUT,
    is_speculative,
    name_of,
)
from specdec_lab.serving.vllm import IMAGE

MODULE = "vllm.entrypoints.openai.api_server"
CONTAINERS = ("docker", "podman", "nerdctl")
CONTAINER_ALONE = {"--rm", "-d", "--detach", "-i", "-t", "-it", "-ti", "-dit", "--privileged", "--init", "--interactive", "--tty"}


@dataclass(frozen=True)
class Option:
    """An option: its name without dashes, its values, and its words as they were written."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]


def is_server(words: Sequence[str]) -> bool:
    """Whether the words start vLLM's server."""
    return MODULE in words or any(a.rsplit("/", 1)[-1] == "vllm" and b == "serve" for a, b in pairwise(words))


def translate_words(words: Sequence[str], bare: bool = False) -> tuple[list[str], list[Note]]:
    """The words in today's form, and a note for each that changed. `bare`: they may be the arguments alone, model first."""
    start, end, notes = _find_server(words, bare)
    model, options = _read(words[end:])
    model, from_option = _model(model, options)
    if from_option and not any(MODULE in note.argument for note in notes):
        notes = [*notes, Note("--model", "becomes the first argument, as `vllm serve` and the image's entry point want it")]
    kept = [option for option in options if option.name != "model"]
    translated, more = _translate_options(kept)
    return [*start, model, *translated], notes + more


def _find_server(words: Sequence[str], bare: bool) -> tuple[list[str], int, list[Note]]:
    """What stands before the server's arguments in today's form, where they begin, and a note if the form changed."""
    if MODULE in words:
        at = list(words).index(MODULE)
        if at < 2 or words[at - 1] != "-m":
            raise UserError(f"{MODULE} is a module: start it by python -m, or write vllm serve and the model.")
        return [*words[: at - 2], "vllm", "serve"], at + 1, [Note(f"python -m {MODULE}", "becomes vllm serve; it still runs, deprecated")]
    for at in range(len(words) - 1):
        if words[at].rsplit("/", 1)[-1] == "vllm" and words[at + 1] == "serve":
            return list(words[: at + 2]), at + 2, []
    if words and words[0] in CONTAINERS:
        at = _image(words)
        image, notes = modern_image(words[at])
        start = [*words[:at], image, *words[at + 1 : at + 2]] if words[at + 1 : at + 2] == ["serve"] else [*words[:at], image]
        return start, len(start), notes
    if words and (bare or words[0].startswith("-") or any(map(is_speculative, words))):
        start = ["serve"] if words[0] == "serve" else []
        return start, len(start), []
    shown = words[0] if words else "the command"
    raise UserError(f"{shown} does not start vLLM's server: give a command with `vllm serve` or `python -m {MODULE}`, or its arguments.")


def modern_image(image: str) -> tuple[str, list[Note]]:
    """The image, or the one that was checked where its version does not know today's form of a draft model (before 0.11)."""
    match = re.fullmatch(r"(.*vllm-openai):v0\.(\d+)(\..*)?", image)
    if match is None or int(match[2]) >= 11:
        return image, []
    newer = f"{match[1]}:{IMAGE.split(':')[1]}"
    return newer, [Note(image, f"becomes {newer}: the old version knows no draft model in the speculative config")]


def _image(words: Sequence[str]) -> int:
    """Where the image stands in `docker run OPTIONS IMAGE ARGUMENTS`."""
    at = 2
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] or words[at] in CONTAINER_ALONE else 2
    if at >= len(words) or words[1] != "run":
        raise UserError(f"No image is named in this {words[0]} command: write {words[0]} run, its options, the image and vLLM's arguments.")
    return at


def _read(words: Sequence[str]) -> tuple[str | None, list[Option]]:
    """The positional model, if there is one, and the options."""
    model, options, at = None, list[Option](), 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            if model is not None:
                raise UserError(f"{word!r} belongs to no option: quote values with spaces in them, and write one model.")
            model, at = word, at + 1
            continue
        length = _length(words, at)
        given = (word.split("=", 1)[1],) if "=" in word else tuple(words[at + 1 : at + length])
        options.append(Option(name_of(word), given, tuple(words[at : at + length])))
        at += length
    return model, options


def _length(words: Sequence[str], at: int) -> int:
    """How many words the option here takes, itself included."""
    word, name = words[at], name_of(words[at])
    if re.fullmatch(r"-O\d?", word) or "=" in word or (name.startswith("no-") and name[3:] in WITHOUT):
        _require_known(word, name)
        return 2 if word == "-O" else 1
    _require_known(word, name)
    if name in WITHOUT:
        return 2 if words[at + 1 : at + 2] and words[at + 1].lower() in ("true", "false") else 1
    most = len(words) if name in WITH_SEVERAL else at + 2
    end = at + 1
    while end < min(most, len(words)) and not re.match(r"--?[a-zA-Z]", words[end]):
        end += 1
    if end == at + 1 and name not in OPTIONAL:
        raise UserError(f"{word} is given without a value: write one after it, or leave it out.")
    return end - at


def _require_known(word: str, name: str) -> None:
    base = name.split(".")[0].removeprefix("no-")
    if base in WITH_ONE or base in WITHOUT or base in WITH_SEVERAL or re.fullmatch(r"-O\d?", word.split("=")[0]):
        return
    close = get_close_matches(base, ALL, n=1)
    hint = f"did you mean --{close[0]}?" if close else "look for it in vllm serve --help, and leave it out if it is not there."
    raise UserError(f"vLLM's server has no option {word.split('=')[0]}: {hint}")


def _model(positional: str | None, options: Sequence[Option]) -> tuple[str, bool]:
    named = [option.values[0] for option in options if option.name == "model"]
    if not named and positional is None:
        raise UserError("The command names no model: write it after vllm serve.")
    if named and positional not in (None, named[-1]):
        raise UserError(f"The command names two models, {positional} and {named[-1]}: leave one of them out.")
    return (positional, False) if positional is not None and not named else (named[-1], True)


def _translate_options(options: Sequence[Option]) -> tuple[list[str], list[Note]]:
    _refuse_both(options)
    old = [option for option in options if option.name in SPECULATIVE]
    config, notes = convert(Old({o.name.replace("-", "_"): _value(o) for o in old}, _show(old), _tensor(options))) if old else (None, [])
    fates = dict(zip((o.name for o in old), notes, strict=False))
    words, found, placed = list[str](), list[Note](), False
    for option in options:
        if option.name in SPECULATIVE:
            found += [fates.pop(option.name)] if option.name in fates else []
            if config is not None and not placed:
                words, placed = [*words, "--speculative-config", json.dumps(config)], True
            continue
        changed, more = _translate_option(option)
        words, found = words + changed, found + more
    return words, found


def translate_file(given: dict[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """A file for `vllm serve --config`: the options without their dashes, the speculative config as a mapping among them."""
    options = [Option(name_of(f"--{key}"), (str(value),), (key,)) for key, value in given.items()]
    for option in options:
        _require_known(option.words[0], option.name)
    _refuse_both(options)
    old = {o.name.replace("-", "_"): given[o.words[0]] for o in options if o.name in SPECULATIVE}
    config, notes = convert(Old(old, _show([o for o in options if o.name in SPECULATIVE]), _tensor(options))) if old else (None, [])
    found = dict[str, Any]()
    for option in options:
        key, value = option.words[0], given[option.words[0]]
        if option.name in GONE and option.name not in SPECULATIVE:
            notes.append(Note(key, GONE[option.name]))
        elif option.name == "speculative-config" and isinstance(value, dict):
            found[key], more = modernise(value)
            notes += more
        elif option.name in RENAMED:
            notes.append(Note(key, f"is renamed {RENAMED[option.name]}"))
            found[RENAMED[option.name]] = value
        elif option.name not in SPECULATIVE:
            found[key] = value
    return (found if config is None else found | {"speculative-config": config}), notes


def _refuse_both(options: Sequence[Option]) -> None:
    names = {option.name.split(".")[0]: option.words[0] for option in options}
    new, old = sorted(NEW_SPECULATIVE & set(names)), sorted(SPECULATIVE & set(names))
    if new and old:
        raise UserError(f"{names[old[0]]} and {names[new[0]]} say the same twice, in the old form and the new: leave the old ones out.")


def _translate_option(option: Option) -> tuple[list[str], list[Note]]:
    """An option that is none of the old ones of speculation."""
    shown = option.words[0].split("=")[0]
    if option.name in GONE:
        ray = ["--distributed-executor-backend", "ray"] if option.name == "worker-use-ray" else []
        return ray, [Note(shown, GONE[option.name])]
    if option.name in RENAMED:
        new_name = f"--{RENAMED[option.name]}"
        return [new_name, *option.values], [Note(shown, f"is renamed {new_name}")]
    if option.name == "speculative-config":
        new, notes = modernise(_json(option.values[0]))
        return (["--speculative-config", json.dumps(new)], notes) if notes else (list(option.words), [])
    if option.name in WITHOUT and option.values:
        on = option.values[0].lower() == "true"
        new_name = f"--{option.name}" if on else f"--no-{option.name}"
        return [new_name], [Note(shown, f"takes no value now: {option.values[0]} is {new_name}")]
    return list(option.words), []


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(
            f"--speculative-config holds no JSON ({error}): write keys in double quotes, and all of it in single ones."
        ) from error
    if not isinstance(found, dict):
        raise UserError('--speculative-config holds no mapping: write it as {"method": "ngram", ...}.')
    return found


def _value(option: Option) -> Any:
    return option.values[0] if option.values else True


def _show(options: Sequence[Option]) -> Any:
    written = {option.name.replace("-", "_"): option.words[0].split("=")[0] for option in options}
    return lambda name: written.get(name, f"--{name.replace('_', '-')}")


def _tensor(options: Sequence[Option]) -> int:
    given = [option.values[0] for option in options if option.name == "tensor-parallel-size"]
    return int(given[-1]) if given and given[-1].isdigit() else 1
