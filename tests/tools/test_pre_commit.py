"""The hooks are ones that pre-commit takes, and each lets the project through and stops what it is there for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_config

from tests.tools.conftest import STUB, Save
from tools.notebooks.badges import badges, repository
from tools.notebooks.clean import clean
from tools.notebooks.files import ROOT

CONFIG = load_config(ROOT / ".pre-commit-config.yaml")
HOOKS = {hook["id"]: hook for repo in CONFIG["repos"] for hook in repo["hooks"]}
CHAPTER = "notebooks/02_greedy_verification.ipynb"


def run(hook: str, file: str | Path) -> int:
    """The exit code of a hook on one file; the tests' own environment stands in for .venv."""
    command, *arguments = shlex.split(HOOKS[hook]["entry"])
    assert command.startswith(".venv/bin/")
    command = str(Path(sys.executable).parent / Path(command).name)
    return subprocess.run([command, *arguments, str(file)], cwd=ROOT, capture_output=True).returncode


def test_no_hook_needs_the_network():
    assert [repo["repo"] for repo in CONFIG["repos"]] == ["local"]
    written = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())  # pre-commit gives the language another name
    assert {hook["language"] for hook in written["repos"][0]["hooks"]} == {"system"} and len(HOOKS) == 6


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook.startswith("notebooks")])
def test_it_lets_a_chapter_through(hook: str):
    assert re.search(HOOKS[hook]["files"], CHAPTER)
    before = (ROOT / CHAPTER).read_bytes()
    assert run(hook, CHAPTER) == 0
    assert (ROOT / CHAPTER).read_bytes() == before, "pre-commit stops a commit if a hook changes a file"


@pytest.mark.parametrize("hook", ["ruff-check", "ruff-format"])
def test_it_lets_the_tools_through(hook: str):
    assert HOOKS[hook]["types"] == ["python"]
    assert run(hook, "tools/notebooks/clean.py") == 0


def test_they_stop_what_they_are_for(save: Save, tmp_path: Path):
    path = save({"stub": STUB.replace("...", "return 2 * x"), "picture": "![](figure.svg)"})
    assert [run(f"notebooks-{name}", path) for name in ("badges", "lint", "exercises")] == [1, 1, 1]
    before = path.read_bytes()
    assert run("notebooks-clean", path) == 0 and path.read_bytes() != before
    badges(path, repository())
    assert not clean(path, check=True) and run("notebooks-badges", path) == 0
    module = tmp_path / "module.py"
    module.write_text("import os\nx  = 1\n")
    assert run("ruff-check", module) == 1
    assert run("ruff-format", module) == 0 and module.read_text() == "import os\n\nx = 1\n"
