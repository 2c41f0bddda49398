"""Running a notebook measures every cell, and one that fails, floods stderr, takes long or takes too much is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbformat.v4 import new_code_cell, new_markdown_cell

from specdec_lab.errors import UserError
from tests.tools.conftest import store
from tools.notebooks.execute import execute, too_much

WASTE = "import time; big = bytearray(b'x') * (200 * 2**20); time.sleep(0.5)"
CELLS = {
    "prose": "# Not code",
    "quick": 'print("hello")',
    "slow": "import time; time.sleep(1.2)",
    "hungry": "big = bytearray(300 * 2**20); big[::4096] = b'x' * len(big[::4096]); time.sleep(0.3)",
    "freed": "del big; time.sleep(0.3)",
    "child": f"import subprocess, sys\n_ = subprocess.run([sys.executable, '-c', {WASTE!r}])",
    "red": "import sys; print('careful', file=sys.stderr)",
    "here": "import os; print(os.getcwd())",
}


def notebook(path: Path, cells: dict[str, str]) -> Path:
    return store(path, [(new_markdown_cell if name == "prose" else new_code_cell)(source, id=name) for name, source in cells.items()])


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    return notebook(tmp_path_factory.mktemp("notebooks") / "measured.ipynb", CELLS)


@pytest.fixture(scope="module")
def run(stored: Path):
    before = stored.read_bytes()
    run = execute(stored)
    assert stored.read_bytes() == before, "the file is left as it is"
    return run


@pytest.fixture(scope="module")
def took(run):
    return {cell.id: cell for cell in run.cells}


def test_every_code_cell_is_measured(run, took):
    assert list(took) == [name for name in CELLS if name != "prose"]
    assert took["slow"].seconds >= 1.2 and took["quick"].seconds > 0
    assert run.seconds > sum(cell.seconds for cell in run.cells)


def test_memory_is_the_cells_own_and_its_childrens(run, took):
    base, mib = took["quick"].peak_gib, 1 / 1024
    assert 10 * mib < base < 1
    assert 290 * mib < took["hungry"].peak_gib - base < 450 * mib
    assert took["child"].peak_gib - took["slow"].peak_gib > 190 * mib
    assert run.peak_gib == took["hungry"].peak_gib


def test_too_much_memory(run):
    limit = run.peak_gib - 0.02
    assert [finding.cell for finding in too_much(run, limit)] == ["hungry"] or len(too_much(run, limit)) == 2
    assert "GiB of memory, more than the" in str(too_much(run, limit)[0])
    assert too_much(run, run.peak_gib) == []


def test_it_runs_in_the_notebooks_folder(run, stored: Path):
    assert run.outputs("stdout") == {"quick": "hello\n", "here": f"{stored.parent}\n"}


def test_stderr_is_a_finding(run, stored: Path):
    assert [str(finding) for finding in run.findings] == [
        f"{stored}: cell red: it writes to stderr, which a learner sees in red; mend the cause: careful"
    ]


def test_the_report_is_json(run):
    report = json.loads(json.dumps(run.report()))
    assert [cell["id"] for cell in report["cells"]] == [cell.id for cell in run.cells]
    assert report["peak_gib"] == pytest.approx(run.peak_gib, abs=1e-3) and len(report["findings"]) == 1


def test_a_failing_cell_ends_the_run(tmp_path: Path):
    run = execute(notebook(tmp_path / "x.ipynb", {"one": "x = 1", "two": "x / 0", "three": "x"}))
    assert [cell.id for cell in run.cells] == ["one", "two"]
    (finding,) = run.findings
    assert finding.cell == "two"
    assert "ZeroDivisionError: division by zero" in finding.sentence and "\x1b" not in finding.sentence


def test_a_kernel_that_dies(tmp_path: Path):
    run = execute(notebook(tmp_path / "x.ipynb", {"one": "x = 1", "two": "import os; os._exit(1)"}))
    assert [(finding.cell, finding.sentence) for finding in run.findings] == [("two", "it failed: Kernel died")]


def test_a_cell_that_does_not_end(tmp_path: Path):
    run = execute(notebook(tmp_path / "x.ipynb", {"one": "import time; time.sleep(60)"}), timeout_s=2)
    assert [finding.cell for finding in run.findings] == ["one"] and "timed out" in run.findings[0].sentence
    assert run.seconds < 30


def test_a_kernel_that_is_not_there(tmp_path: Path, monkeypatch):
    def none(self, name: str):
        raise NoSuchKernel(name)

    monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", none)
    with pytest.raises(UserError, match="knows no kernel python3 here; run `make setup`"):
        execute(notebook(tmp_path / "x.ipynb", {"one": "x = 1"}))
