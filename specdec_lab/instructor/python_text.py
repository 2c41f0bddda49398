"""What can be said of a cell's Python without running it: which names it sets, whether it compiles, and what must not be run as it is."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_LONGEST = 200_000  # characters of a cell; the syntax tree of much more could take all memory
_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*\n?")
_PYTHON_MAGICS = {"time", "timeit", "capture", "prun", "python", "python3"}
_MAGIC_LINE = re.compile(r"^(\s*)([%!].*|\?{1,2}\S.*|[\w.]+\s*\?{1,2})\s*$")
_SETS = re.compile(r"^(?:def\s+(\w+)|(\w+)\s*=(?!=))", re.MULTILINE)


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or none if this is no Python, or too much of it."""
    if len(source) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def plain(source: str) -> str:
    """The text without blank lines and space at line ends: two cells that differ in these alone are the same."""
    return "\n".join(line.rstrip() for line in source.splitlines() if line.strip())


def sets(source: str) -> dict[str, bool]:
    """The names that a cell sets when it runs; true if the last value is an answer, not the three dots or the empty function of a stub."""
    tree = parse(source)
    if tree is None:
        return {name: True for pair in _SETS.findall(source) for name in pair if name}
    return {name: answered for statement in tree.body for name, answered in set_by(statement)}


def set_by(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names that a statement sets, those inside an if, for, with or try included, and whether each gets an answer."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name, not all(_empty(each) for each in statement.body)
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], True
        return
    answered = not (isinstance(statement, (ast.Assign, ast.AnnAssign)) and _dots(statement.value))
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt):
            yield from set_by(part)
        elif isinstance(part, ast.ExceptHandler):
            for each in part.body:
                yield from set_by(each)
        else:
            yield from ((node.id, answered) for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _dots(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is ...)


def _empty(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def without(source: str, names: set[str]) -> str:
    """The cell without the statements that set any of these names; as it is if it does not compile."""
    tree = parse(source)
    if tree is None:
        return source
    return ast.unparse(ast.Module([each for each in tree.body if not {name for name, _ in set_by(each)} & names], []))


def runnable(source: str) -> tuple[str, list[str]]:
    """The cell as Python alone can run it with nobody at the keyboard, and what had to be left out for that, as parts of a sentence."""
    source, left_out = _without_magics(source)
    tree = parse(source)
    if tree is None:
        return source, left_out
    colab = _colab_names(tree)
    kept = []
    for statement in tree.body:
        if _imports_colab(statement) or (colab and _calls(statement, colab)):
            left_out.append("what works on Colab only")
        elif _calls(statement, {"input", "getpass"}):
            left_out.append("a line that waits for input from the keyboard")
        else:
            kept.append(statement)
    if len(kept) == len(tree.body):
        return source, left_out
    return ast.unparse(ast.Module(kept, [])), list(dict.fromkeys(left_out))


def _without_magics(source: str) -> tuple[str, list[str]]:
    if parse(source) is not None:
        return source, []
    lines = source.split("\n")
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if code and (magic := _CELL_MAGIC.match(code[0])):
        if magic[1] not in _PYTHON_MAGICS:
            return "", [f"a %%{magic[1]} cell, which is not Python"]
        lines[lines.index(code[0])] = ""
    mended = "\n".join(_MAGIC_LINE.sub(r"\1pass", line) for line in lines)
    if parse(mended) is None:
        return source, []
    return mended, ["commands of the notebook (lines with % or !)"]


def _imports_colab(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").startswith("google.colab")
    return isinstance(statement, ast.Import) and any(alias.name.startswith("google.colab") for alias in statement.names)


def _colab_names(tree: ast.Module) -> set[str]:
    imports = [statement for statement in tree.body if _imports_colab(statement)]
    return {alias.asname or alias.name.partition(".")[0] for each in imports for alias in each.names}  # type: ignore[attr-defined]


def _calls(statement: ast.stmt, names: set[str]) -> bool:
    """Whether the statement calls one of these, or a part of it, as soon as it is run."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            called = node.func
            while isinstance(called, (ast.Attribute, ast.Subscript)):
                called = called.value
            if isinstance(called, ast.Name) and called.id in names:
                return True
    return False
