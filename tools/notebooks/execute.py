"""Runs notebooks as a learner would, top to bottom in a fresh kernel, and says what each cell took."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from specdec_lab.errors import UserError
from tools.notebooks.files import Cell, Finding, fault, read

GIB = 2**30
SAMPLE_S = 0.1
CELL_TIMEOUT_S = 240


@dataclass
class CellRun:
    """What a cell took: seconds, and the most memory the kernel and its children held meanwhile."""

    id: str
    seconds: float
    peak_gib: float


@dataclass
class Run:
    """A notebook with its outputs, what each of its cells took, and what is wrong with it. Seconds include the kernel's start."""

    path: Path
    notebook: NotebookNode
    cells: list[CellRun] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def peak_gib(self) -> float:
        return max((cell.peak_gib for cell in self.cells), default=0.0)

    def outputs(self, stream: str) -> dict[str, str]:
        """What each cell wrote to stdout or stderr, by id; cells that wrote nothing are left out."""
        wrote = {
            cell.id: "".join(out.text for out in cell.outputs if out.output_type == "stream" and out.name == stream)
            for cell in self.notebook.cells
            if cell.cell_type == "code"
        }
        return {id_: text for id_, text in wrote.items() if text}

    def report(self) -> dict[str, Any]:
        """The run as JSON has it."""
        return {
            "path": str(self.path),
            "seconds": round(self.seconds, 2),
            "peak_gib": round(self.peak_gib, 3),
            "cells": [{"id": cell.id, "seconds": round(cell.seconds, 3), "peak_gib": round(cell.peak_gib, 3)} for cell in self.cells],
            "findings": [str(finding) for finding in self.findings],
        }


class Memory(threading.Thread):
    """Samples what a process and its children hold; `peak_gib` is the most since it was last set to 0."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.process = psutil.Process(pid)
        self.peak_gib = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(SAMPLE_S):
            self.sample()

    def sample(self) -> None:
        try:
            family = [self.process, *self.process.children(recursive=True)]
            self.peak_gib = max(self.peak_gib, sum(one.memory_info().rss for one in family) / GIB)
        except psutil.NoSuchProcess:  # one of them ended meanwhile; the next sample is soon
            pass


class Watch:
    """What nbclient calls around each cell."""

    def __init__(self, run: Run):
        self.run = run
        self.cell = "-"
        self.client: NotebookClient | None = None
        self.memory: Memory | None = None
        self.began = 0.0

    def before(self, cell: Cell, cell_index: int) -> None:
        if self.memory is None:
            assert self.client is not None
            self.memory = Memory(self.client.km.provisioner.pid)  # type: ignore[union-attr]  # a local kernel has one
            self.memory.start()
        self.cell, self.memory.peak_gib, self.began = cell.id, 0.0, time.perf_counter()

    def after(self, cell: Cell, cell_index: int, execute_reply: dict[str, Any]) -> None:
        assert self.memory is not None
        seconds = time.perf_counter() - self.began
        self.memory.sample()
        self.run.cells.append(CellRun(cell.id, seconds, self.memory.peak_gib))

    def stop(self) -> None:
        if self.memory is not None:
            self.memory.done.set()
            self.memory.join()


def execute(path: Path, timeout_s: int = CELL_TIMEOUT_S) -> Run:
    """Run a notebook; the file is left as it is. The first cell that fails, or takes longer than `timeout_s`, ends the run."""
    run = Run(path, read(path))
    if wrong := fault(run.notebook, minor=5):
        raise UserError(f"{path} cannot be run as it is ({wrong}); run `python -m tools.notebooks clean {path}` first.")
    watch = Watch(run)
    watch.client = NotebookClient(
        run.notebook,
        timeout=timeout_s,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],  # the kernel's own remarks are not the notebook's
        on_cell_execute=watch.before,
        on_cell_executed=watch.after,
    )
    began = time.perf_counter()
    try:
        watch.client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        run.findings.append(Finding(path, watch.cell, f"it failed: {without_colours(str(error))}"))
    except NoSuchKernel as error:
        raise UserError(f"Jupyter knows no kernel {error.name} here; run `make setup`, and the tools with .venv/bin/python.") from error
    finally:
        watch.stop()
    run.seconds = time.perf_counter() - began
    run.findings += [Finding(path, id_, on_stderr(text)) for id_, text in run.outputs("stderr").items()]
    return run


def on_stderr(text: str) -> str:
    return f"it writes to stderr, which a learner sees in red; mend the cause: {without_colours(text).strip()}"


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def too_much(run: Run, limit_gib: float) -> list[Finding]:
    """The cells that need more memory than a learner may be supposed to have."""
    return [
        Finding(run.path, cell.id, f"{cell.peak_gib:.2f} GiB of memory, more than the {limit_gib:g} GiB allowed; hold less at a time.")
        for cell in run.cells
        if cell.peak_gib > limit_gib
    ]
