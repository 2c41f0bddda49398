"""Old vLLM forms of speculation in today's form, with a reason for every argument that changed.

Until 0.8 speculation was spread over a dozen arguments (`--speculative-model`, `--num-speculative-tokens`, ...); since then all of it
is one mapping, `--speculative-config` or `speculative_config=`, and the old ones are unknown arguments.
Sources: docs/features/spec_decode of v0.5.1, v0.6.4 and v0.9.1; vllm/engine/arg_utils.py of 0.7; vllm/config/speculative.py of 0.32.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

import yaml

from specdec_lab.errors import UserError
from specdec_lab.serving.legacy_command import is_server, modern_image, translate_file, translate_words
from specdec_lab.serving.legacy_config import Note, Translation
from specdec_lab.serving.legacy_flags import is_speculative
from specdec_lab.serving.legacy_python import CLASSES, translate_python
from specdec_lab.serving.text import command, dump, quote

CURRENT = Note("", "is today's form already: nothing to change")
YAML_START = re.compile(r"\s*(\[|- |---\s|\w[\w-]*:(\s|$))")
PYTHON_CALL = re.compile(rf"\b({'|'.join(CLASSES)})\s*\(")
COMMENT_AFTER_BACKSLASH = re.compile(r"\\[ \t]+(#[^\n]*)?(?=\n|$)")


def translate(text: str) -> Translation:
    """The current form of a vLLM command line, of arguments alone, of a YAML or JSON list, manifest or config file, or of
    Python code.

    What has no vLLM server or engine in it, or is broken in the old form already, raises UserError with the cause and the way out.
    Comments inside what changes are not carried over.
    """
    if not text.strip():
        raise UserError("There is nothing to translate: give a vLLM command, its arguments, a manifest or Python code.")
    if PYTHON_CALL.search(text):
        found = translate_python(text)
    elif YAML_START.match(text):
        found = _translate_yaml(text)
    else:
        found = _translate_shell(text)
    return found if found.notes else Translation(found.kind, text, (CURRENT,))


def _translate_shell(text: str) -> Translation:
    joined, broken = COMMENT_AFTER_BACKSLASH.subn(lambda m: " " if m[0].strip() == "\\" else "\\", text)
    words = _split(joined.replace("\\\n", " "))
    rest = next((i for i, word in enumerate(words) if re.match(r"\d?>|<|&$", word)), len(words))
    if any(word in ("&&", "||", ";", "|") for word in words):
        raise UserError("There is more than one command here: translate the one that starts vLLM alone.")
    found, notes = translate_words(words[:rest])
    if broken:
        notes.insert(0, Note("\\", "comments and blanks after a line's backslash are gone: the shell ends the command there"))
    tail = "".join(f" {word}" for word in words[rest:])
    return Translation("command", command(found).rstrip("\n") + tail + "\n", tuple(notes))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError as error:
        raise UserError(
            f"The command's quotes do not pair up ({error}): close the one that is open, JSON goes in single quotes."
        ) from error


def _translate_yaml(text: str) -> Translation:
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        raise UserError(f"The list or manifest is not valid YAML{line}: check its brackets, quotes and indentation.") from error
    if len(documents) == 1 and isinstance(documents[0], list):
        found, notes = translate_words(_texts(documents[0], "the list"), bare=True)
        return Translation("list", dump(found), tuple(notes))
    if len(documents) == 1 and isinstance(documents[0], dict) and any(is_speculative(f"--{key}") for key in documents[0]):
        config, notes = translate_file(documents[0])
        return Translation("config file", dump(config), tuple(notes))
    notes, seen = list[Note](), list[bool]()
    changed = [_walk(document, notes, seen) for document in documents]
    if not seen:
        raise UserError("No container of this manifest starts vLLM: give the one whose command or args do.")
    return Translation("manifest", dump(*changed), tuple(notes))


def _walk(node: Any, notes: list[Note], seen: list[bool]) -> Any:
    """The node with the arguments of every vLLM container in it translated."""
    if isinstance(node, list):
        return [_walk(item, notes, seen) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _walk(value, notes, seen) for key, value in node.items()}
    parts = {key: node[key] for key in ("command", "args") if isinstance(node.get(key), str | list)}
    script = parts.get("args", parts.get("command"))
    if isinstance(script, list) and script and isinstance(script[-1], str) and is_server(script[-1].split()):
        inner = translate(script[-1])
        notes += [note for note in inner.notes if note != CURRENT]
        seen.append(True)
        return node | {"args" if "args" in parts else "command": [*script[:-1], inner.current]}
    words = [word for key, value in parts.items() for word in (_split(value) if isinstance(value, str) else _texts(value, key))]
    image = str(node.get("image", ""))
    if not words or not (is_server(words) or any(map(is_speculative, words)) or "vllm" in image):
        return node
    seen.append(True)
    found, new = translate_words(words, bare=True)
    newer, more = modern_image(image)
    notes += more + new
    return node | _share_out(found, parts) | ({"image": newer} if more else {})


def _share_out(words: list[str], parts: dict[str, Any]) -> dict[str, Any]:
    """The words back under the keys they came from."""
    start = 2 if words[:2] == ["vllm", "serve"] else 0
    if len(parts) == 2:
        return {"command": words[:start], "args": words[start:]} if start else {"args": words}
    key = next(iter(parts))
    return {key: " ".join(map(quote, words)) if isinstance(parts[key], str) else words}


def _texts(values: list[Any], where: str) -> list[str]:
    if any(isinstance(value, list | dict) for value in values):
        raise UserError(f"An element of {where} is no word: every option and every value has to be an element of its own.")
    return [value if isinstance(value, str) else str(value) for value in values]
