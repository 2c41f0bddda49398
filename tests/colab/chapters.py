"""Every chapter with its exercises done, on Colab's Jupyter, for `make test-colab`; the package was installed by an earlier first cell."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest

import specdec_lab
from specdec_lab.requirements import needs
from tools.notebooks.execute import execute
from tools.notebooks.exercises import number_of_exercises, solve

PACKAGE = Path(specdec_lab.__file__).parent
CHAPTERS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_this_is_the_installed_package_on_colabs_jupyter():
    assert PACKAGE.is_relative_to(sys.prefix)
    assert (version("ipython"), version("ipywidgets"), version("plotly").split(".")[0]) == ("7.34.0", "7.7.1", "5")


def test_every_module_does_without_a_developers_packages():
    jupyters = {"jupyter_core", "python-dateutil"}  # a kernel needs them
    extras = {need.requirement.name for need in needs(("lab", "instructor", "dev")) if need.extra} - {"specdec-lab"} - jupyters
    barred = [module for module, owners in packages_distributions().items() if extras & set(owners)]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({barred}))\n"
        "from importlib import import_module; from pkgutil import walk_packages; import specdec_lab\n"
        "names = [each.name for each in walk_packages(specdec_lab.__path__, 'specdec_lab.')]\n"
        "print(*(import_module(name).__name__ for name in names if not name.startswith('specdec_lab.instructor.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"specdec_lab.cli.serve", "specdec_lab.models.loading", "specdec_lab.widgets"} <= set(done.stdout.split())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_solved_chapter_runs(path: Path, tmp_path: Path):
    run = execute(solve(path, tmp_path, PACKAGE))
    assert not run.findings, "\n".join(map(str, run.findings))
    printed = "".join(run.outputs("stdout").values())
    assert "not attempted yet" not in printed and printed.count("★ Your ") == number_of_exercises(path)
    assert "on Colab: nothing to install" in run.outputs("stdout").get("setup", ""), "the first cell does its work again"
