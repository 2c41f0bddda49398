"""A JupyterLab of the tests' own: a free port, a token, a copy of the chapters, none of the user's settings, and an end."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]
START_S = 60
STOP_S = 10
# Nothing of a notebook is detached when it scrolls out of view, and no dialog asks for news or updates.
SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


class Server:
    """JupyterLab, started in `files`, with its own things in `folder`; without `files` in a checkout as a learner has it."""

    def __init__(self, folder: Path, files: Path | None = None) -> None:
        self.folder, self.token = folder, secrets.token_hex(16)
        self.files = files or checkout(folder / "checkout")
        settings = folder / "config" / "labconfig" / "default_setting_overrides.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(SETTINGS))
        self.log = folder / "jupyter.log"
        self.port = free_port()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        own = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython"}
        command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={self.port}"]
        command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={self.files}", "--ServerApp.ip=127.0.0.1"]
        command += [f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True"]
        environment = os.environ | {name: str(self.folder / place) for name, place in own.items()}
        with self.log.open("wb") as log:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
            return subprocess.Popen(command, cwd=self.files, env=environment, **streams)

    def wait(self) -> None:
        """Return when it answers. Raises RuntimeError with the end of its log if it does not."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.ask("GET", "api/status")
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"JupyterLab did not start within {START_S} s. The end of its log:\n{self.log.read_text()[-2000:]}")

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def ask(self, method: str, path: str) -> Any:
        """Its REST interface."""
        request = urllib.request.Request(self.url(path), method=method, headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def kernel(self, path: str) -> psutil.Process:
        """The process of the kernel that runs the notebook at `path`."""
        id_ = next(one["kernel"]["id"] for one in self.ask("GET", "api/sessions") if one["path"] == path)
        return next(one for one in psutil.Process(self.process.pid).children() if id_ in " ".join(one.cmdline()))

    def forget(self, path: str) -> None:
        """Shut the kernel down that runs the notebook at `path`."""
        for session in self.ask("GET", "api/sessions"):
            if session["path"] == path:
                self.ask("DELETE", f"api/sessions/{session['id']}")

    def stop(self) -> None:
        """End it, with its kernels and whatever they started."""
        try:
            family = [*psutil.Process(self.process.pid).children(recursive=True), psutil.Process(self.process.pid)]
        except psutil.NoSuchProcess:
            family = []
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_S)
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        psutil.wait_procs(family, timeout=STOP_S)
        self.process.wait()


def checkout(folder: Path) -> Path:
    """The chapters, copied, with the package beside them."""
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    for name in ("specdec_lab", "assets", "tests", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
