"""The course as Colab meets it: `make test-colab` runs this with the Python of .venv-colab, which has Colab's versions.

The working tree becomes a git repository that answers, by git's own `insteadOf`, for the one on GitHub. A notebook in a
folder outside the checkout runs its first cell, which has to install the package from there and whatever Colab lacks,
and to leave everything else as it was. Then pytest runs the tests and the chapters against the package so installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
BROUGHT = Path(sys.prefix) / "ready"  # `pip freeze` of the fresh environment
NEVER = {"jupyterlab", "nbgrader"}
ROOMS = ("checks", "drafters", "engine", "measure", "models", "serving", "theory", "verify", "widgets")
TESTS = [
    "tests/colab/chapters.py",
    *(f"tests/{room}" for room in ROOMS),
    "tests/test_bug_zoo.py",
    "tests/test_sampling.py",
]  # the longest first


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="specdec-lab-colab-") as folder:
        origin, content = Path(folder) / "origin", Path(folder) / "content"
        publish(origin)
        shutil.copytree(origin, content, ignore=shutil.ignore_patterns(".git", "specdec_lab", "assets"))
        # The last one silences a remark of this Python's debugger, which Colab's Jupyter starts with each kernel.
        os.environ.update(redirect(origin), COLAB_RELEASE_TAG="tests/colab", PYDEVD_DISABLE_FILE_VALIDATION="1", SPECDEC_VLLM_PYTHON="none")
        as_brought()
        print(first_cell(sorted((content / "notebooks").glob("*.ipynb"))[0]), flush=True)
        two = ["--numprocesses=2", "--dist=worksteal", "--durations=10"]
        return subprocess.run([sys.executable, "-m", "pytest", *two, "-m", "not long and not vllm", *TESTS], cwd=content).returncode


def publish(origin: Path) -> None:
    """Commit the working tree, changes and new files included, to a repository of its own."""
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    git = ["git", f"--git-dir={origin / '.git'}", "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, f"--work-tree={ROOT}", "add", "-A"], cwd=ROOT, check=True)  # .gitignore is heeded
    subprocess.run([*git, "commit", "-q", "-m", "The working tree"], cwd=origin, check=True)
    subprocess.run(["git", "checkout", "-q", "-f", "HEAD"], cwd=origin, check=True)


def redirect(origin: Path) -> dict[str, str]:
    """What makes git fetch from `origin` where it is told the repository's address."""
    address = re.search(r'^Repository = "(.+)"', (origin / "pyproject.toml").read_text(), re.MULTILINE)
    assert address, "pyproject.toml names no Repository"
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf", "GIT_CONFIG_VALUE_0": address[1]}


def packages() -> dict[str, str]:
    """Name and version of what is installed."""
    done = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True)
    return {one["name"].lower().replace("_", "-"): one["version"] for one in json.loads(done.stdout)}


def brought() -> dict[str, str]:
    """The same of the fresh environment."""
    return {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in BROUGHT.read_text().split())}


def as_brought() -> None:
    """Take away what an earlier run installed."""
    if extra := sorted(packages().keys() - brought().keys()):
        subprocess.run([sys.executable, "-m", "pip", "uninstall", "-q", "-y", *extra], check=True)
    assert packages() == brought(), "something is not as Colab brings it; remove .venv-colab and run again"


def first_cell(path: Path) -> str:
    """Run the cell that sets a chapter up, look at what it did to the environment, and return what it printed."""
    setup = next(cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert setup.id == "setup", f"{path.name} has no first cell; run python -m tools.notebooks badges"
    notebook = nbformat.v4.new_notebook(cells=[setup])
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    before, after = brought(), packages()
    changed = {name: f"{version} became {after.get(name)}" for name, version in before.items() if after.get(name) != version}
    assert not changed, f"the first cell touched what Colab brings: {changed}"
    added = after.keys() - before.keys()
    assert {"specdec-lab", "gguf"} <= added, f"it added only {sorted(added)}"
    assert not NEVER & after.keys(), f"{NEVER & after.keys()} must not come to Colab"
    wrong = [out for out in setup.outputs if out.output_type != "stream" or out.name != "stdout"]
    assert not wrong, f"it shows more than plain text: {wrong}"
    printed = "".join(out.text for out in setup.outputs)
    assert re.search(r"^specdec-lab \S+ on Colab: installed ", printed, re.MULTILINE), printed
    return f"{printed.rstrip()}\nadded: {', '.join(f'{name} {after[name]}' for name in sorted(added))}; nothing else changed"


if __name__ == "__main__":
    sys.exit(main())
