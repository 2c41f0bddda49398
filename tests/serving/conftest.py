"""A vLLM that is none, in moods; and after each test, not one of its processes is left."""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path

import psutil
import pytest

from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.processes import ENDED, port_is_free


class Fake:
    """`fake("whole")` is a Vllm in that mood. `running`: ids of its processes that have not ended."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.state.mkdir()
        self.python = folder / "python"
        self("whole")

    def __call__(self, mood: str) -> Vllm:
        script = Path(__file__).with_name("fake_vllm.py")
        self.python.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(script), str(self.state), mood])} "$@"\n')
        self.python.chmod(0o755)
        return Vllm(self.python, "0.32.0", "cpu")

    def ids(self, kind: str = "*") -> list[int]:
        return [int(file.name.split("-")[1]) for file in self.state.glob(f"{kind}-*")]

    @property
    def started(self) -> list[dict]:
        """Arguments and environment of each server."""
        return [json.loads(file.read_text()) for file in self.state.glob("server-*")]

    @property
    def running(self) -> list[int]:
        return [pid for pid in self.ids() if alive(pid)]

    @property
    def ports(self) -> list[int]:
        words = [each["arguments"] for each in self.started]
        return [int(each[each.index("--port") + 1]) for each in words]

    def wait_gone(self, seconds: float = 20.0) -> None:
        """Until none of its processes is left."""
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not self.running, f"processes are left: {[psutil.Process(pid).cmdline() for pid in self.running]}"

    def wait_started(self, kind: str = "engine", seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not self.ids(kind):
            assert time.monotonic() < deadline, "no server was started"
            time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in ENDED
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for logs and notes, with the embedded model where the user has it."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(folder))
    return folder


@pytest.fixture
def fake(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    made = Fake(tmp_path)
    monkeypatch.setenv("SPECDEC_VLLM_PYTHON", str(made.python))
    yield made
    left, taken = made.running, [port for port in made.ports if not port_is_free(port)]
    for pid in left:
        psutil.Process(pid).kill()
    assert not left, "processes are left"
    assert not taken, "ports are left taken"
