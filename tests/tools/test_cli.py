"""The command line: 0 if all is well, 1 if something was found, 2 if it could not be done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from tests.tools.conftest import STUB, Save, store
from tools.notebooks import __main__ as cli
from tools.notebooks import badges as badge_cells
from tools.notebooks import exercises as exercise_cells
from tools.notebooks.files import ROOT


@pytest.fixture
def run(monkeypatch, capsys, package, tmp_path):
    """Call it in this process, on the toy package and a pyproject.toml of its own; (exit code, stdout, stderr)."""
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('Repository = "https://github.com/a/b"\n')
    monkeypatch.setattr(badge_cells, "PYPROJECT", pyproject)
    monkeypatch.setattr(exercise_cells.exercises, "__defaults__", (package,))
    monkeypatch.setattr(exercise_cells.solve, "__defaults__", (package,))

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["notebooks", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return call


def test_clean(run, save: Save):
    path = save()
    code, out, _ = run("clean", "--check", path)
    assert code == 1 and out == f"{path}: it is not clean; run `python -m tools.notebooks clean {path}`.\n"
    assert run("clean", path) == (0, f"{path}: cleaned\n", "")
    assert run("clean", path) == run("clean", "--check", path) == (0, "", "")


def test_lint(run, save: Save):
    assert run("lint", save()) == (0, "", "")
    code, out, _ = run("lint", save({"ask": None, "picture": "![](figure.svg)"}))
    assert code == 1 and len(out.splitlines()) == 2


def test_exercises(run, save: Save, tmp_path: Path):
    assert run("exercises", save()) == (0, "", "")
    code, out, _ = run("exercises", save({"stub": STUB.replace("...", "return 2 * x")}))
    assert code == 1 and "a solution was left in double" in out
    solved = tmp_path / "solved"
    path = save()
    assert run("exercises", "--solve", solved, path) == (0, f"{solved / path.name}\n", "")
    assert "your code here" not in (solved / path.name).read_text()


def test_badges(run, save: Save, tmp_path: Path):
    path = save()
    code, out, _ = run("badges", "--check", path)
    assert code == 1 and "its badges are out of date" in out
    assert run("badges", path) == (0, f"{path}: badges written\n", "")
    assert run("badges", "--check", path) == run("badges", path) == (0, "", "")
    assert run("badges", "--repository", "https://github.com/me/fork", path)[0] == 0
    assert run("badges", "--check", path) == (0, "", "")
    assert "me/fork" in path.read_text() and "me/fork" in (tmp_path / "pyproject.toml").read_text()
    assert "branch main" in " ".join(run("badges", "--help")[1].split()), "where they lead"


def test_a_mistake_is_one_sentence(run, save: Save, tmp_path: Path):
    broken = tmp_path / "broken.ipynb"
    broken.write_text("{")
    for command in ("clean", "lint", "exercises", "badges", "execute"):
        code, out, err = run(command, broken)
        assert (code, out) == (2, "") and len(err.splitlines()) == 1 and "is not a notebook" in err
    path = save()
    assert run("badges", "--repository", "github.com/me", path)[0] == 2
    assert run("badges", "--check", "--repository", "https://github.com/me/fork", path)[0] == 2
    assert run("lint", tmp_path / "gone.ipynb")[0] == 2
    assert run("lint")[0] == 2


BROKEN = {
    "a cell without cell_type": lambda cell: cell.pop("cell_type"),
    "a source that is a number": lambda cell: cell.update(source=5),
    "tags that are null": lambda cell: cell["metadata"].update(tags=None),
    "code without outputs": lambda cell: cell.pop("outputs"),
    "a cell that is a number": lambda cell: cell.clear(),
}


@pytest.mark.parametrize("command", ["clean", "lint", "exercises", "badges", "execute"])
@pytest.mark.parametrize("spoil", BROKEN.values(), ids=BROKEN)
def test_a_broken_cell_is_one_sentence(run, save: Save, command: str, spoil):
    path = save()
    notebook = json.loads(path.read_text())
    spoil(notebook["cells"][2])
    path.write_text(json.dumps(notebook))
    code, out, err = run(command, path)
    assert (code, out) == (2, "") and len(err.splitlines()) == 1 and "is not a notebook of format 4 (" in err


@pytest.mark.parametrize("id_", [7, None, "a b"])
def test_an_id_that_is_none_is_cleaned_before_execution(run, tmp_path: Path, id_):
    path = store(tmp_path / "x.ipynb", [new_code_cell("x = 1", id="right")])
    path.write_text(path.read_text().replace('"right"', json.dumps(id_)))
    code, out, err = run("execute", path)
    assert (code, out) == (2, "") and len(err.splitlines()) == 1 and f"run `python -m tools.notebooks clean {path}` first" in err
    assert run("clean", path)[0] == run("execute", path)[0] == 0


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(run, tmp_path: Path):
    path = store(tmp_path / "x.ipynb", [new_code_cell("open('ran', 'w').close()", id="right")])
    for report in (tmp_path / "gone" / "report.json", tmp_path):
        code, out, err = run("execute", "--report", report, path)
        assert (code, out) == (2, "") and err.startswith(f"{report} cannot be written (") and len(err.splitlines()) == 1
    assert not (tmp_path / "ran").exists()


def test_execute_goes_on_behind_a_failure(run, tmp_path: Path):
    bad = store(tmp_path / "bad.ipynb", [new_code_cell("1 / 0", id="wrong")])
    good = store(tmp_path / "good.ipynb", [new_code_cell("print('x')", id="right")])
    code, out, _ = run("execute", "--cells", "--report", tmp_path / "report.json", bad, good)
    assert code == 1
    assert f"{bad}: cell wrong: it failed" in out and "ZeroDivisionError" in out and "The slowest cells" in out
    lines = [line.split() for line in out.splitlines() if line.startswith(("bad ", "good "))]
    assert [line[:3] for line in lines] == [["bad", "1", "cells"], ["good", "1", "cells"]]
    notebooks = json.loads((tmp_path / "report.json").read_text())["notebooks"]
    assert [(Path(one["path"]).name, len(one["findings"])) for one in notebooks] == [("bad.ipynb", 1), ("good.ipynb", 0)]


def test_execute_and_its_limits(run, tmp_path: Path):
    path = store(tmp_path / "x.ipynb", [new_code_cell("big = bytearray(b'x') * (300 * 2**20)", id="hungry")])
    assert run("execute", path)[0] == 0
    assert run("execute", "--limit-gib", 6, "--limit-seconds", 100, path)[0] == 0
    code, out, _ = run("execute", "--limit-gib", 0.3, path)
    assert code == 1 and "cell hungry: " in out and "more than the 0.3 GiB allowed" in out
    code, out, _ = run("execute", "--limit-seconds", 0.1, path)
    assert code == 1 and "more than the 0.1 s allowed" in out


def test_it_is_called_as_the_makefile_calls_it():
    done = subprocess.run([sys.executable, "-m", "tools.notebooks", "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(command in done.stdout for command in ("clean", "lint", "exercises", "badges", "execute"))
