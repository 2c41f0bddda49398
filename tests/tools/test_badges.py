"""The address stands in one place, and a fork rewrites it with one command."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_lab.errors import UserError
from tests.tools.conftest import Save
from tools.notebooks import badges as module
from tools.notebooks.badges import badges, move, repository
from tools.notebooks.clean import clean
from tools.notebooks.files import ROOT, read, text
from tools.notebooks.lint import lint

HERE, FORK = "https://github.com/owner/course", "https://github.com/me/my.fork"


@pytest.fixture(autouse=True)
def pyproject(tmp_path: Path, monkeypatch) -> Path:
    path = tmp_path / "pyproject.toml"
    path.write_text(f'[project]\nname = "x"\n\n[project.urls]\nRepository = "{HERE}"\n\n[tool.x]\ny = 1\n')
    monkeypatch.setattr(module, "PYPROJECT", path)
    return path


def test_they_stand_behind_the_title_once(save: Save):
    path = save()
    before = [cell.id for cell in read(path).cells]
    assert badges(path, HERE, check=True) and [cell.id for cell in read(path).cells] == before
    assert badges(path, HERE)
    assert [cell.id for cell in read(path).cells] == ["title", "badges", "setup", *before[1:]]
    assert not badges(path, HERE) and not badges(path, HERE, check=True)


def test_what_they_say(save: Save):
    path = save()
    badges(path, HERE)
    badge, setup = read(path).cells[1:3]
    assert "[![Open in Colab](" in badge.source and "[![Open in Kaggle](" in badge.source
    opened = "owner/course/blob/main/notebooks/07_doubling.ipynb"
    assert f"(https://colab.research.google.com/github/{opened})" in badge.source
    assert f"(https://kaggle.com/kernels/welcome?src=https://github.com/{opened})" in badge.source
    assert f"git+{HERE}\n" in setup.source and "--no-deps" in setup.source and setup.metadata == {"tags": ["setup"]}
    assert max(map(len, setup.source.splitlines())) <= 95
    assert lint(path) == []


def test_they_are_clean(save: Save):
    path = save()
    clean(path)
    badges(path, HERE)
    assert not clean(path)


def test_the_setup_cell_is_python_but_for_its_one_magic(save: Save):
    path = save()
    badges(path, HERE)
    lines = read(path).cells[2].source.splitlines()
    assert sum("%" in line for line in lines) == 1
    ast.parse("\n".join(line.replace("%pip", "pass  #") for line in lines))


def test_a_checkout_wins_over_an_installed_package(tmp_path: Path):
    for folder in ("checkout", "installed"):
        (tmp_path / folder / "specdec_lab").mkdir(parents=True)
        (tmp_path / folder / "specdec_lab" / "__init__.py").touch()
        (tmp_path / folder / "specdec_lab" / "bootstrap.py").write_text(f"def bootstrap(): print({folder!r})\n")
    (tmp_path / "checkout" / "notebooks").mkdir()
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r})\n" + module.SETUP.replace("%pip", "pass  #")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "checkout" / "notebooks", capture_output=True, text=True, check=True)
    assert done.stdout == "checkout\n"


@pytest.mark.parametrize("kept", ["source", "tag", "nothing"])
def test_they_are_known_again_when_an_editor_changed_them(save: Save, kept: str):
    path = save()
    badges(path, HERE)
    good = path.read_bytes()
    notebook = read(path)
    badge, setup = notebook.cells[1:3]
    if kept != "nothing":
        badge.id, setup.id = "abc", "def"
    if kept == "tag":
        setup.source = "pass"
    if kept == "nothing":
        notebook.cells = [notebook.cells[0], *notebook.cells[3:]]
    path.write_text(text(notebook), encoding="utf-8")
    assert badges(path, HERE)
    assert path.read_bytes() == good


def test_a_fork(save: Save, pyproject: Path):
    path = save()
    badges(path, HERE)
    before = pyproject.read_text()
    for given in (FORK, FORK + "/", FORK + ".git"):
        assert move(given) == FORK
    assert repository() == FORK
    assert pyproject.read_text() == before.replace(HERE, FORK)
    assert badges(path, repository(), check=True)
    badges(path, repository())
    assert "owner/course" not in path.read_text(encoding="utf-8")
    move(HERE)
    badges(path, repository())
    assert pyproject.read_text() == before and "my.fork" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["me/fork", FORK.replace("s:", ":"), FORK.replace("hub", "lab"), "https://github.com/me", FORK + "/x"])
def test_an_address_that_colab_cannot_open(address: str, pyproject: Path):
    before = pyproject.read_text()
    with pytest.raises(UserError, match=r"looks like https://github\.com/OWNER/REPO"):
        move(address)
    assert pyproject.read_text() == before


def test_no_address_at_all(pyproject: Path):
    pyproject.write_text("[project]\n")
    for ask in (repository, lambda: move(FORK)):
        with pytest.raises(UserError, match=r"names no repository; write `Repository = "):
            ask()


def test_the_address_stands_in_one_place(monkeypatch):
    monkeypatch.setattr(module, "PYPROJECT", ROOT / "pyproject.toml")
    address = repository()
    rooms = ("specdec_lab", "tools", "tests", "quizzes")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.*") if path.suffix in (".py", ".md", ".txt", ".yaml")]
    files += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "Makefile")]
    assert len(files) > 100
    assert [path for path in files if address in path.read_text(encoding="utf-8")] == []
