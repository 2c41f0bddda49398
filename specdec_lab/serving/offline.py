"""vLLM without a server: today's Python form of a set-up, run to its end by the Python of vLLM's own environment."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from specdec_lab.errors import UserError
from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.server import variables
from specdec_lab.serving.setup import Setup
from specdec_lab.serving.vllm import render_python

PATIENCE = 300.0  # seconds
QUIET = {"VLLM_LOGGING_LEVEL": "ERROR"}  # what vLLM logs goes where the script prints


def run(setup: Setup, vllm: Vllm, timeout: float = PATIENCE) -> str:
    """What the script of `render_python` prints: a text, and the counters of speculation.

    Its processes are gone afterwards, whether it ended, failed or was interrupted. Raises UserError, with the last line that it
    said, if it fails or takes longer than `timeout` seconds.
    """
    setup = replace(setup, enforce_eager=setup.enforce_eager or vllm.device == "cpu")
    with TemporaryDirectory() as folder:
        script, said = Path(folder) / "offline.py", Path(folder) / "said"
        script.write_text(render_python(setup), encoding="utf-8")
        words, environment = [str(vllm.python), str(script)], QUIET | variables(setup, vllm)
        with said.open("wb") as log:
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True)
        try:
            printed = process.communicate(timeout=timeout)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            raise UserError(f"vLLM was not done after {timeout:.0f} s: allow it more time, or run the script by hand.") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode:
            last = said.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise UserError(f"vLLM's script stopped: {last[0].strip().rstrip('.')}. Run it by hand to see all that it says.")
    return printed
