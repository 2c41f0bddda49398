"""A stub that is not the elided solution is found; a solved copy runs the learner's own path."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from specdec_lab.errors import UserError
from specdec_lab.verify import verify_greedy
from tests.tools.conftest import STUB, Save
from tools.notebooks.exercises import definitions, exercises, reference, solve
from tools.notebooks.files import read

WRONG = [
    ({"stub": STUB.replace("x, by=2", "by, x=2")}, "the stub is double(by, x=2), the package's function double(x, by=2)"),
    ({"stub": STUB.replace("by=2", "by=3")}, "the stub is double(x, by=3)"),
    ({"stub": STUB.replace("x, by=2", "x")}, "the stub is double(x),"),
    ({"stub": STUB.replace("x, by=2", "x, *, by=2")}, "the stub is double(x, *, by=2)"),
    ({"stub": STUB.replace("...", "return 2 * x")}, "a solution was left in double"),
    ({"stub": STUB + "\n    return x + x"}, "a solution was left in double"),
    ({"stub": "def double(x, by=2):\n    ...  # your code here"}, "the stub of double has no docstring"),
    ({"stub": 'def double(x, by=2):\n    """Twice x."""'}, "a solution was left in double; leave a docstring and `..."),
    ({"stub": STUB.replace("double", "doubled")}, "doubled is defined nowhere in the package"),
    ({"stub": "x = 1"}, "tagged as an exercise and defines no function"),
    ({"check": None}, "double is used unchecked, or never"),
    ({"check": "check_double(double)"}, "put `double = check_double(double)` into the next cell"),
    ({"check": "print(double(3))\n", "reveal": "double = check_double(double)\nreveal(arithmetic.double)"}, "double is used unchecked"),
    ({"reveal": "pass"}, "nothing reveals double"),
    ({"reveal": "reveal(own)"}, "nothing reveals double"),
    ({"first-code": "reveal(arithmetic.double)", "reveal": "pass"}, "nothing reveals double"),
]
RIGHT = [
    {},
    {"stub": STUB.replace("x, by=2", "x: float, by: int = 2")},
    {"stub": "import math\n\n\n" + STUB},
    {"check": "%matplotlib inline\n!ls\ndouble = check_double(double)"},
    {"reveal": "import toy_package.arithmetic\n\nreveal(toy_package.arithmetic.double)"},
]


@pytest.mark.parametrize("changed", RIGHT, ids=str)
def test_a_good_exercise(save: Save, package: Path, changed: dict[str, str]):
    assert exercises(save(changed), package) == []


@pytest.mark.parametrize(("changed", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_what_is_wrong_with_it(save: Save, package: Path, changed: dict[str, str | None], sentence: str):
    found = exercises(save(changed), package)
    assert any(finding.cell == "stub" and sentence in finding.sentence for finding in found), found


def test_a_name_that_two_rooms_have(save: Save, package: Path):
    (package / "other.py").write_text("def double(x, by=2): ...\n")
    definitions.cache_clear()
    assert "defined toy_package.arithmetic and toy_package.other in the package" in str(exercises(save(), package)[0])


def test_a_copy_in_the_checks_does_not_count_beside_it(save: Save, package: Path):
    (package / "checks" / "doubling.py").write_text("def double(y): ...\n")
    assert exercises(save(), package) == []


def test_a_room_may_define_it_in_its_init(package: Path):
    (package / "__init__.py").write_text("def halve(x): ...\n")
    assert reference("halve", package).module == "toy_package"


def test_chapter_0_teaches_a_function_of_its_check():
    assert reference("tokens_emitted").module == "specdec_lab.checks.start"
    assert reference("verify_greedy").module == "specdec_lab.verify.greedy"


def test_a_solved_copy(save: Save, package: Path, tmp_path: Path, monkeypatch):
    path = save({"stub": f"import math\n\n\n{STUB}\n\n\nafterwards = 1"})
    stored = path.read_bytes()
    copy = solve(path, tmp_path / "solved", package)
    assert copy == tmp_path / "solved" / path.name and path.read_bytes() == stored
    cell = next(cell for cell in read(copy).cells if cell.id == "stub")
    assert cell.source.startswith("import math\n") and cell.source.endswith("\nafterwards = 1")
    assert "your code here" not in cell.source

    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict = {}
    exec(compile(cell.source, "cell", "exec", dont_inherit=True), names)  # nothing postponed, as in a notebook
    from toy_package.arithmetic import double

    assert names["double"](21) == 42, "private names of the module and its postponed annotations included"
    assert names["double"] is not double and names["double"].__name__ == "double"
    assert names["double"].__defaults__ == (2,)


def test_two_stubs_in_one_cell(save: Save, package: Path, tmp_path: Path):
    (package / "more.py").write_text('def halve(x):\n    """Half of x."""\n    return x / 2\n')
    halve = 'def halve(x):\n    """Half of x."""\n    ...  # your code here'
    both = save({"stub": f"{STUB}\n\n\n{halve}", "reveal": "reveal(arithmetic.double)\nhalve = check_halve(halve)\nreveal(more.halve)"})
    assert exercises(both, package) == []
    solved = next(cell for cell in read(solve(both, tmp_path / "solved", package)).cells if cell.id == "stub").source
    assert re.findall(r"^(\w+) = _names", solved, re.MULTILINE) == ["double", "halve"] and "your code" not in solved


def test_the_copy_of_the_real_one_is_another_object(save: Save, tmp_path: Path):
    stub = 'def verify_greedy(draft, target):\n    """x"""\n    ...'
    cell = new_code_cell(stub, id="real", metadata={"tags": ["exercise"]})
    copy = solve(save({"stub": None}, behind="write", added=cell), tmp_path / "solved")
    names: dict = {}
    exec(next(cell for cell in read(copy).cells if cell.id == "real").source, names)
    assert names["verify_greedy"] is not verify_greedy
    assert names["verify_greedy"].__code__.co_code == verify_greedy.__code__.co_code


def test_what_has_no_solution_cannot_be_solved(save: Save, package: Path, tmp_path: Path):
    with pytest.raises(UserError, match="halve is defined nowhere"):
        solve(save({"stub": STUB.replace("double", "halve")}), tmp_path / "solved", package)


def test_a_package_that_does_not_parse(save: Save, package: Path):
    (package / "other.py").write_text("def double(:\n")
    assert "other.py, line 1, is not Python" in str(exercises(save(), package)[0])


BUG = 'def double(x, by=2):\n    """Twice x."""\n    return x + by'
MENDED = {"check": "double = check_repair(double)"}
REPAIRS = [
    (BUG, MENDED, None),
    (BUG.replace("x + by", "(x + by)  # as it was found"), MENDED, None),
    (BUG.replace("x + by", "x * by"), MENDED, "the stub of double is not the bug; make its body that of the package's buggy_double"),
    (STUB, MENDED, "the stub of double is not the bug"),
    (BUG.replace("Twice x", "Thrice x"), MENDED, "the stub of double is not the bug"),
    (BUG.replace('    """Twice x."""\n', ""), MENDED, "the stub of double has no docstring"),
    (BUG.replace("by=2", "by=3"), MENDED, "the stub is double(x, by=3)"),
    (BUG, {}, "put `double = check_repair(double)` into the next cell"),
    (BUG, {**MENDED, "reveal": "pass"}, "nothing reveals double"),
    (BUG.replace("double", "doubled"), MENDED, "buggy_doubled is defined nowhere in the package"),
]


@pytest.mark.parametrize(("stub", "changed", "sentence"), REPAIRS)
def test_a_repair_starts_from_the_packages_bug(save: Save, package: Path, stub: str, changed: dict, sentence: str | None):
    (package / "bugs.py").write_text('def buggy_double(x, by=2):\n    """Twice x."""\n    return x + by\n')
    cell = new_code_cell(stub, id="bug", metadata={"tags": ["exercise", "repair"]})
    found = exercises(save({"stub": None, **changed}, behind="write", added=cell), package)
    assert found == [] if sentence is None else any(sentence in finding.sentence for finding in found), found


def test_a_second_function_of_a_repairs_name_is_not_taken_for_it(package: Path):
    """The zoo's repairs live in `checks/`: a namesake in another room once went into the solved chapter 10."""
    (package / "checks" / "bugs.py").write_text("def buggy_halve(x): ...\n")
    (package / "checks" / "repaired.py").write_text("def halve(x): ...\n")
    definitions.cache_clear()
    assert reference("halve", package).module == "toy_package.checks.repaired"
    (package / "other.py").write_text("def halve(x): ...\n")
    definitions.cache_clear()
    with pytest.raises(UserError, match=r"defined toy_package.checks.repaired and toy_package.other in the package"):
        reference("halve", package)
