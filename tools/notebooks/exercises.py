"""An exercise is the package's own function with the solution taken out: same name, same parameters, checked and revealed.

One that is tagged `repair` besides is the package's `buggy_` function of that name, word for word, to be mended.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specdec_lab.errors import UserError
from tools.notebooks.files import ROOT, Cell, Finding, read, tagged, text

PACKAGE = ROOT / "specdec_lab"
# A copy of the package's function, as a learner would have written it: an object of its own, in the names of its module.
SOLUTION = """\
import __future__, importlib, inspect
_names = dict(vars(importlib.import_module("{module}")))
_source = inspect.getsource(_names["{name}"])
exec(compile(_source, "a learner's {name}", "exec", __future__.annotations.compiler_flag), _names)
{name} = _names["{name}"]"""


@dataclass(frozen=True)
class Exercise:
    """A stub, and what the chapter's later code cells do, as syntax trees; whether the stub is a bug to be repaired."""

    stub: ast.FunctionDef
    later: list[ast.Module]
    repair: bool = False

    @property
    def name(self) -> str:
        return self.stub.name


@dataclass(frozen=True)
class Reference:
    """The package's function: the module it is defined in, and its syntax tree."""

    module: str
    function: ast.FunctionDef


def exercises(path: Path, package: Path = PACKAGE) -> list[Finding]:
    """What is wrong with the exercises of a chapter."""
    return list(_findings(path, package))


def number_of_exercises(path: Path) -> int:
    return sum(len(functions(tree(cell))) for cell in read(path).cells if tagged(cell, "exercise"))


def _findings(path: Path, package: Path) -> Iterator[Finding]:
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    trees = [tree(cell) for cell in code]
    for i, cell in enumerate(code):
        if not tagged(cell, "exercise"):
            continue
        stubs = functions(trees[i])
        sentences = [] if stubs else ["it is tagged as an exercise and defines no function; write the stub, or remove the tag."]
        for stub in stubs:
            exercise = Exercise(stub, trees[i + 1 :], tagged(cell, "repair"))
            begun = the_bug(exercise, package) if exercise.repair else untouched(exercise)
            sentences += [*begun, *same_signature(exercise, package), *checked(exercise), *revealed(exercise, trees)]
        yield from (Finding(path, cell.get("id", "without id"), sentence) for sentence in sentences)


def tree(cell: Cell) -> ast.Module:
    """The syntax tree of a code cell, magics left out; an empty one where it is not Python."""
    try:
        return ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", cell.source, flags=re.MULTILINE))
    except SyntaxError:
        return ast.Module([], [])


def functions(module: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in module.body if isinstance(node, ast.FunctionDef)]


def untouched(exercise: Exercise) -> Iterator[str]:
    """The body is a docstring and `...`."""
    body = list(exercise.stub.body)
    if ast.get_docstring(exercise.stub):
        body = body[1:]
    else:
        yield f"the stub of {exercise.name} has no docstring; say what comes in and what is to come out."
    if not (len(body) == 1 and isinstance(body[0], ast.Expr) and getattr(body[0].value, "value", None) is ...):
        yield f"a solution was left in {exercise.name}; leave a docstring and `...  # your code here`."


def the_bug(exercise: Exercise, package: Path) -> Iterator[str]:
    """The stub is the package's bug, docstring included."""
    name = f"buggy_{exercise.name}"
    try:
        bug = reference(name, package).function
    except UserError as error:
        yield str(error)
        return
    if not ast.get_docstring(exercise.stub):
        yield f"the stub of {exercise.name} has no docstring; say what comes in and what is to come out."
    if list(map(ast.unparse, exercise.stub.body)) != list(map(ast.unparse, bug.body)):
        yield f"the stub of {exercise.name} is not the bug; make its body that of the package's {name}."


def same_signature(exercise: Exercise, package: Path) -> Iterator[str]:
    try:
        wanted = parameters(reference(exercise.name, package).function)
    except UserError as error:
        yield str(error)
        return
    if (found := parameters(exercise.stub)) != wanted:
        yield f"the stub is {exercise.name}({found}), the package's function {exercise.name}({wanted}); make the stub the same."


def checked(exercise: Exercise) -> Iterator[str]:
    """`name = check_name(name)`, or `check_repair`, stands in the first later cell that uses the name."""
    name = exercise.name
    call = f"{name} = check_{'repair' if exercise.repair else name}({name})"
    use = next((module for module in exercise.later if name in _names(module)), ast.Module([], []))
    if call not in map(ast.unparse, use.body):
        yield f"{name} is used unchecked, or never; put `{call}` into the next cell."


def revealed(exercise: Exercise, trees: list[ast.Module]) -> Iterator[str]:
    """A later cell calls `reveal` with the package's function, under its own name or as it was imported."""
    imports = [alias for module in trees for node in ast.walk(module) if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = {alias.asname: alias.name for alias in imports if alias.asname}
    calls = [node for module in exercise.later for node in ast.walk(module) if isinstance(node, ast.Call) and node.args]
    shown = [ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) == "reveal"]
    if exercise.name not in [names.get(argument, argument).split(".")[-1] for argument in shown]:
        yield f"nothing reveals {exercise.name}; add a cell with `reveal(...)` of the package's own, imported as another name."


def _names(module: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}


def parameters(function: ast.FunctionDef) -> str:
    """Names, order and defaults; without annotations."""
    arguments = deepcopy(function.args)
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(arguments)


def reference(name: str, package: Path = PACKAGE) -> Reference:
    """The package's one function of that name. `checks/` counts only when no other room has it (chapter 0 teaches no piece), or
    when it is the repair of a bug there, which no other room may then have."""
    found = definitions(package).get(name, [])
    repair = f"buggy_{name}" in definitions(package)
    rooms = [one for one in found if repair or f"{package.name}.checks." not in one.module] or found
    if len(rooms) != 1:
        where = " and ".join(one.module for one in rooms) or "nowhere"
        raise UserError(f"{name} is defined {where} in the package; an exercise has the name of exactly one of its functions.")
    return rooms[0]


@cache
def definitions(package: Path) -> dict[str, list[Reference]]:
    """Every function at the top of a module of the package, by name."""
    found: dict[str, list[Reference]] = {}
    for file in sorted(package.rglob("*.py")):
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        for function in functions(_parsed(file)):
            found.setdefault(function.name, []).append(Reference(module, function))
    return found


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text(encoding="utf-8"), str(file))
    except SyntaxError as error:
        raise UserError(f"{file}, line {error.lineno}, is not Python ({error.msg}); mend it first.") from error


def solve(path: Path, folder: Path, package: Path = PACKAGE) -> Path:
    """Write a copy of the chapter into `folder` in which every exercise is solved, by a copy of the package's own function."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code" and tagged(cell, "exercise"):
            lines = cell.source.splitlines()
            for stub in reversed(functions(tree(cell))):
                solution = SOLUTION.format(module=reference(stub.name, package).module, name=stub.name)
                lines[stub.lineno - 1 : stub.end_lineno] = solution.splitlines()
            cell.source = "\n".join(lines)
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / path.name
    copy.write_text(text(notebook), encoding="utf-8")
    return copy
