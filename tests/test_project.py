"""The project's files agree with each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text()
LOCK = {canonicalize_name(name): exact for name, exact in (line.split("==") for line in (ROOT / "requirements.lock").read_text().split())}
# The versions a Colab image had when checked; the lower bounds of a plain install have to admit them.
COLAB = {"torch": "2.11", "transformers": "5.15", "plotly": "5.24.1", "ipywidgets": "7.7.1", "numpy": "2.1.3", "ipython": "7.34"}


def requirements(section: str) -> list[Requirement]:
    """The requirements listed in pyproject.toml under `section = [...]`."""
    block = re.search(rf"^{section} = \[(.*?)\]$", PYPROJECT, re.MULTILINE | re.DOTALL)
    assert block, section
    return [Requirement(line) for line in re.findall(r'"(.+?)"', block[1]) if not line.startswith("specdec-lab[")]


ALL = [r for section in ("dependencies", "lab", "instructor", "dev") for r in requirements(section)]


def test_the_lock_satisfies_every_bound():
    assert len(ALL) > 20
    for need in ALL:
        exact = LOCK[canonicalize_name(need.name)]
        assert need.specifier.contains(Version(exact)), f"{need} against {exact}"


def test_the_lock_holds_the_cpu_torch_that_was_tested():
    assert LOCK["torch"] == "2.13.0"
    assert not [name for name in LOCK if name.startswith(("nvidia", "triton"))]


def test_exact_versions_stand_in_the_lock_alone():
    assert not [str(r) for r in ALL if any(s.operator in ("==", "~=", "<", "<=") for s in r.specifier)]
    assert "==" not in (ROOT / "environment.yml").read_text()


def test_a_plain_install_is_content_with_colab():
    core = {r.name: r for r in requirements("dependencies")}
    for name, version in COLAB.items():
        assert core[name].specifier.contains(Version(version)), name
    assert not {"nbgrader", "jupyterlab", "notebook"} & set(core)


def imported(text: str) -> set[str]:
    """Top-level names of the modules that a file imports, inside functions too."""
    whole = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [node.module or "" if isinstance(node, ast.ImportFrom) else alias.name for node in whole for alias in node.names]
    return {name.split(".")[0] for name in names}


def undeclared(modules: set[str], *extras: str) -> list[str]:
    """Of the modules' names, those that no declared requirement brings."""
    needs, owners = [need for section in ("dependencies", *extras) for need in requirements(section)], packages_distributions()
    declared = {canonicalize_name(need.name) for need in needs}
    foreign = modules - sys.stdlib_module_names - {"specdec_lab"}
    return [name for name in foreign if not declared & set(map(canonicalize_name, owners.get(name, [])))]


def test_what_is_imported_is_declared():
    files = {path: imported(path.read_text()) for path in (ROOT / "specdec_lab").rglob("*.py")}
    room = {path for path in files if path.parent.name == "instructor"}
    modules = set().union(*(names for path, names in files.items() if path not in room))
    assert {"torch", "IPython", "packaging"} <= modules
    assert undeclared(modules) == []
    own = {path.stem for path in room}  # what runs in a sandbox finds its neighbour there, and no package
    assert undeclared(set().union(set(), *(files[path] for path in room)) - own, "instructor") == []


def test_conda_installs_what_make_installs():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip = environment["dependencies"][0], environment["dependencies"][-1]["pip"]
    assert python == "python=3.11"
    installed = " ".join(pip)
    assert installed == "--constraint requirements.lock --editable .[dev]"
    assert installed.replace(".[dev]", "'.[dev]'") in (ROOT / "Makefile").read_text()


def test_importing_the_package_stays_light():
    code = "import sys, specdec_lab; print([m for m in ('torch', 'transformers', 'plotly') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_versions_agree():
    from specdec_lab import __version__

    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
