"""A vLLM server on this machine: started, waited for, asked for its counters, and gone without a trace.

It runs in a process group under a supervisor (`supervise.py`), which ends all of it when it is told to, and when the process that
started the server is gone, however that came about.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import psutil

from specdec_lab.assets import cache_folder
from specdec_lab.errors import UserError
from specdec_lab.serving import client, environment, supervise
from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.log import cause, stage
from specdec_lab.serving.metrics import Counters, parse
from specdec_lab.serving.processes import ENDED, HOST, end_group, free_port, members, require_port
from specdec_lab.serving.setup import DraftModel, Eagle3, Medusa, NoDrafter, Setup
from specdec_lab.serving.vllm import server_command

GRACE = 10.0  # seconds between asking the server to end and killing it
POLL = 0.3
LOGS = 10  # are kept
NOTICED = 3.0  # seconds it takes until a server that is going down has gone
FEW_CORES = 8
Result = TypeVar("Result")


def start(
    setup: Setup,
    vllm: Vllm | None = None,
    port: int | None = None,
    progress: Callable[[str], None] = lambda line: None,
    timeout: float = 300.0,
) -> Server:
    """Start vLLM with this set-up, and return once it has answered a first request. Use it as a context manager, or `stop` it.

    vllm: by default the one of `environment.require`. port: by default the set-up's, else a free one. progress: is told what the server
    is doing, a line at a time, as it waits. On a CPU models run uncompiled, whatever the set-up says: compiling takes a C++
    compiler and minutes. Raises UserError if the port is taken, or the server ends or is not ready after `timeout` seconds.
    """
    vllm = vllm or environment.require()
    port = port or setup.port or free_port()
    setup = replace(setup, port=port, enforce_eager=setup.enforce_eager or vllm.device == "cpu")
    command = [*server_command(setup, python=str(vllm.python)), "--host", HOST]
    require_port(port)
    log = _new_log(port)
    process = _launch(command, variables(setup, vllm), log)
    server = Server(setup, port, process.pid, psutil.Process(process.pid).create_time(), log, tuple(command), process)
    try:
        _wait(server, progress, timeout)
    except BaseException:  # Ctrl-C is one of them
        server.stop()
        raise
    return server


def _launch(command: list[str], variables: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-I", supervise.__file__, str(os.getpid()), str(GRACE), *command]
    with log.open("wb") as out:
        return subprocess.Popen(
            words, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )


def variables(setup: Setup, vllm: Vllm) -> dict[str, str]:
    """The server's environment variables: the user's own, and where they say nothing, what this machine needs."""
    found = {"VLLM_NO_USAGE_STATS": "1"}
    if vllm.device == "cpu":
        found["VLLM_CPU_KVCACHE_SPACE"] = "2"
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        ranks = setup.parallel.tensor
        if cores and (len(cores) <= FEW_CORES or ranks > 1):  # left alone, vLLM keeps one core for the server, and one memory node a rank
            shares = [cores[i::ranks] or [cores[i % len(cores)]] for i in range(ranks)]
            found["VLLM_CPU_OMP_THREADS_BIND"] = "|".join(",".join(map(str, share)) for share in shares)
    if all(Path(model).is_absolute() for model in _models(setup)):
        found["HF_HUB_OFFLINE"] = "1"
    return found | os.environ


def _models(setup: Setup) -> list[str]:
    drafter = setup.drafter
    named = drafter.model if isinstance(drafter, DraftModel) else drafter.head if isinstance(drafter, Eagle3 | Medusa) else None
    return [setup.target] if named is None else [setup.target, named]


def _new_log(port: int) -> Path:
    """A file for the server's output in the cache; the oldest ones go."""
    folder = cache_folder() / "serving"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        old = sorted(folder.glob("vllm-*.log"), key=lambda file: file.stat().st_mtime)
        for file in old[: max(0, len(old) + 1 - LOGS)]:
            file.unlink(missing_ok=True)
        log = folder / f"vllm-{time.strftime('%Y%m%d-%H%M%S')}-{port}.log"
        log.touch()
        return log
    except OSError as error:
        raise UserError(
            f"The server's log cannot be kept in {folder} ({error.strerror}): set SPECDEC_LAB_CACHE to a folder that can be written."
        ) from error


def _wait(server: Server, progress: Callable[[str], None], timeout: float) -> None:
    began, told = time.monotonic(), -1
    while not server.healthy:
        seconds = time.monotonic() - began
        if not server.alive:
            raise UserError(f"vLLM stopped before it was ready: {cause(server.log)}; its log is {server.log}.")
        if seconds > timeout:
            doing = f"{stage(server.log)!r} is the last thing it said"
            raise UserError(f"vLLM was not ready after {timeout:.0f} s, and {doing}: allow it more time, or see its log, {server.log}.")
        if int(seconds) > told:
            told = int(seconds)
            progress(f"{told} s: {stage(server.log)}")
        time.sleep(POLL)
    progress(f"{time.monotonic() - began:.0f} s: answering a first request, which is the slowest")
    server.check(lambda: client.ask(server.url, server.model, "one two one two one two", max_tokens=8))


@dataclass
class Server:
    """A running server. `pid` leads its process group; `started` is when that process was created, by which it is known again."""

    setup: Setup
    port: int
    pid: int
    started: float
    log: Path
    command: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None  # of the server that this process started

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def model(self) -> str:
        """The name to ask for."""
        return self.setup.target

    @property
    def alive(self) -> bool:
        """Whether its processes run, ready or not."""
        if self.process is not None and self.process.poll() is not None:
            return False
        with suppress(psutil.Error):
            leader = psutil.Process(self.pid)
            return abs(leader.create_time() - self.started) < 1 and leader.status() not in ENDED
        return False

    @property
    def healthy(self) -> bool:
        """Whether it answers."""
        try:
            client.get(f"{self.url}/health", timeout=2)
        except UserError:
            return False
        return True

    @property
    def speculates(self) -> bool:
        return not isinstance(self.setup.drafter, NoDrafter)

    def metrics(self) -> str:
        """What its /metrics says, in Prometheus's format. Raises UserError if it no longer answers."""
        return self.check(lambda: client.get(f"{self.url}/metrics"))

    def counters(self) -> Counters:
        """The counters of speculation. Raises UserError, as `metrics.parse` does, where there are none."""
        return parse(self.metrics())

    def check(self, call: Callable[[], Result]) -> Result:
        """What the call returns; if the server ends meanwhile, a UserError that says why."""
        try:
            return call()
        except client.Gone as error:
            deadline = time.monotonic() + NOTICED
            while self.alive and time.monotonic() < deadline:
                time.sleep(0.1)
            if self.healthy:  # the server without its engine lives on for a while, and says that it is ill
                raise
            raise UserError(f"vLLM stopped in the middle of its work: {cause(self.log)}; its log is {self.log}.") from error

    def processes(self) -> list[psutil.Process]:
        """Those of its group that have not ended, the supervisor among them."""
        return members(self.pid, self.started)

    def release(self) -> None:
        """Let it outlive the process that started it, until someone calls `stop`."""
        os.kill(self.pid, signal.SIGUSR1)
        self.process = None

    def stop(self) -> None:
        """End the server and all its processes, and wait until they are gone. Does nothing the second time."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
        end_group(self.pid, self.started, GRACE + 5)
        if self.process is not None:
            self.process.wait()
