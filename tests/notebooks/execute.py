"""Execute notebooks top to bottom, headless, with a line each: python -m tests.notebooks.execute notebooks/*.ipynb"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs; the file is left as it is. Raises CellExecutionError at the first failing cell."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    quiet = ["--log-level=ERROR"]  # the kernel's own remarks are not the notebook's
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=where, extra_arguments=quiet).execute()
    return notebook


def main(paths: list[str]) -> int:
    failed = 0
    for path in map(Path, paths):
        print(f"{path.stem:28}", end=" ", flush=True)
        began = time.perf_counter()
        try:
            cells = sum(cell.cell_type == "code" for cell in execute(path).cells)
            print(f"{cells:3} cells  {time.perf_counter() - began:5.1f} s", flush=True)
        except CellExecutionError as error:
            failed += 1
            print(f"failed after {time.perf_counter() - began:.1f} s\n{error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
