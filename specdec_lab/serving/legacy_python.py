"""Python code that builds a vLLM engine, with the old arguments of speculation in today's form and all else as it was."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from specdec_lab.errors import UserError
from specdec_lab.serving.legacy_config import DROPPED, MOVED, Note, Old, Translation, convert, modernise
from specdec_lab.serving.legacy_flags import ALL, GONE, RENAMED

CLASSES = ("LLM", "AsyncEngineArgs", "EngineArgs")
KNOWN = {name.replace("-", "_") for name in ALL} | {"compilation_config", "pooler_config", "usage_context", "cpu_offload_params"}


def translate_python(text: str) -> Translation:
    """The code with every call of LLM, EngineArgs and AsyncEngineArgs in today's form."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UserError(
            f"Line {error.lineno} is not valid Python ({error.msg}): give code that runs, without shell commands in it."
        ) from error
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) in CLASSES]
    if not calls:
        raise UserError(f"No call of {', '.join(CLASSES)} is in this code: give the one that builds vLLM's engine.")
    lines, notes = text.encode().splitlines(keepends=True), list[Note]()
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        new, found = _translate_call(call, lines)
        notes = found + notes
        if found:
            lines = _replace(lines, call, new)
    return Translation("python", b"".join(lines).decode(), tuple(notes))


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _replace(lines: Sequence[bytes], call: ast.Call, new: str) -> list[bytes]:
    """The source with the call's text exchanged; positions of the syntax tree count bytes."""
    first, last = call.lineno - 1, (call.end_lineno or call.lineno) - 1
    before, after = lines[first][: call.col_offset], lines[last][call.end_col_offset :]
    return [*lines[:first], before + new.encode() + after, *lines[last + 1 :]]


def _translate_call(call: ast.Call, lines: Sequence[bytes]) -> tuple[str, list[Note]]:
    _require_plain(call)
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if not call.args and "model" not in given:
        raise UserError(f"{_name(call)} is called without a model: name it as the first argument.")
    old = {name: _literal(name, node) for name, node in given.items() if name in MOVED or name in DROPPED}
    if old and "speculative_config" in given:
        raise UserError(f"{next(iter(old))} and speculative_config say the same twice, in the old form and the new: leave the old one out.")
    config, notes = convert(Old(old, lambda name: name, _tensor(given))) if old else (None, [])
    arguments, more = _arguments(call, given, old, config)
    indent = b" " * (len(lines[call.lineno - 1]) - len(lines[call.lineno - 1].lstrip()))
    inside = "".join(f"{indent.decode()}    {argument},\n" for argument in arguments)
    return f"{ast.unparse(call.func)}(\n{inside}{indent.decode()})", notes + more


def _require_plain(call: ast.Call) -> None:
    if any(keyword.arg is None for keyword in call.keywords):
        raise UserError(f"{_name(call)} gets its arguments through **: write them out as keywords, then they can be translated.")
    for keyword in call.keywords:
        if keyword.arg and keyword.arg not in KNOWN:
            close = get_close_matches(keyword.arg, sorted(KNOWN), n=1)
            hint = f"did you mean {close[0]}?" if close else "leave it out."
            raise UserError(f"{_name(call)} has no argument {keyword.arg}: {hint}")


def _literal(name: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise UserError(f"{name} is {ast.unparse(node)}, which only a run could tell: write the value itself, then translate.") from error


def _tensor(given: dict[str, ast.expr]) -> int:
    node = given.get("tensor_parallel_size")
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else 1


def _arguments(
    call: ast.Call, given: dict[str, ast.expr], old: dict[str, Any], config: dict[str, Any] | None
) -> tuple[list[str], list[Note]]:
    """The arguments in their order, the speculative config where the first old one stood."""
    found, notes, placed = [ast.unparse(node) for node in call.args], list[Note](), config is None
    for name, node in given.items():
        if name in old:
            found += [] if placed else [f"speculative_config={config!r}"]
            placed = True
        elif name.replace("_", "-") in GONE:
            notes.append(Note(name, GONE[name.replace("_", "-")]))
            found += ["distributed_executor_backend='ray'"] if name == "worker_use_ray" else []
        elif name.replace("_", "-") in RENAMED:
            new_name = RENAMED[name.replace("_", "-")].replace("-", "_")
            notes.append(Note(name, f"is renamed {new_name}"))
            found.append(f"{new_name}={ast.unparse(node)}")
        elif name == "speculative_config" and isinstance(node, ast.Dict):
            new, more = modernise(_literal(name, node))
            notes += more
            found.append(f"{name}={new!r}")
        else:
            found.append(f"{name}={ast.unparse(node)}")
    return found, notes
