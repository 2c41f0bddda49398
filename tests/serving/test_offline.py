"""Today's Python form run by another Python, which is a stand-in here; nothing of it is left."""

from __future__ import annotations

import ast
import sys
import time
from pathlib import Path

import psutil
import pytest

from specdec_lab.errors import UserError
from specdec_lab.serving import offline
from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.setup import Ngram, Setup
from specdec_lab.serving.vllm import render_python
from tests.serving.conftest import alive

SETUP = Setup("/the/target", Ngram(1, 4), k=5)
CHILD = (
    "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\nprint(child.pid, flush=True)"
)


def python(folder: Path, code: str) -> Vllm:
    """A Python that runs this code in the place of any script, whose name is its argument."""
    (folder / "code.py").write_text(code)
    made = folder / "python"
    made.write_text(f'#!/bin/sh\nexec {sys.executable} {folder / "code.py"} "$@"\n')
    made.chmod(0o755)
    return Vllm(made, "0.32.0", "cpu")


def test_it_runs_the_rendered_script(tmp_path):
    printed = offline.run(SETUP, python(tmp_path, "import sys; print(open(sys.argv[1]).read()); print('noise', file=sys.stderr)"))
    assert "enforce_eager=True" in printed and "'method': 'ngram'" in printed and "noise" not in printed


def test_what_is_wrong_is_said_in_a_sentence(tmp_path):
    with pytest.raises(UserError, match=r"vLLM's script stopped: ValueError: no such model\. Run it by hand"):
        offline.run(SETUP, python(tmp_path, "raise ValueError('no such model.')"))


def test_it_is_not_waited_for_for_ever_and_nothing_is_left(tmp_path):
    code = f"{CHILD}\nimport pathlib, time; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid)); time.sleep(600)"
    with pytest.raises(UserError, match="not done after 3 s"):
        offline.run(SETUP, python(tmp_path, code), timeout=3)
    gone(int((tmp_path / "pid").read_text()))


def test_a_child_that_outlives_the_script_goes_too(tmp_path):
    code = CHILD.replace("])", "], stdout=subprocess.DEVNULL)")
    gone(int(offline.run(SETUP, python(tmp_path, code))))


def gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid), psutil.Process(pid).cmdline()


def test_the_script_may_be_read_again():
    """vLLM spawns its engine, and a spawned process reads the script: unguarded it would start another engine (seen with 0.32)."""
    *before, last = ast.parse(render_python(SETUP)).body
    assert isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'"
    assert all(isinstance(node, ast.ImportFrom) for node in before)
