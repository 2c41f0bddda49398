"""The real models, once for the whole run, out of the user's cache: the first run downloads them."""

import os
import signal
from pathlib import Path

import pytest
import torch

from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.hf import HFModel
from specdec_lab.models.loading import LoadedPair, load_model, load_pair
from specdec_lab.models.registry import EMBEDDED

if "PYTEST_XDIST_WORKER" in os.environ:  # the other worker has the other core
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"  # and so have its kernels


@pytest.fixture(autouse=True)
def _ctrl_c_is_heeded() -> None:
    """By this process and all that it starts; a shell lets commands in the background ignore it, and a kernel in a process does too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def embedded() -> Path:
    """The folder of the embedded model."""
    return embedded_model()


@pytest.fixture(scope="session")
def target_fp32(embedded: Path) -> HFModel:
    """The embedded model alone."""
    return load_model(EMBEDDED, "fp32", "cpu")


@pytest.fixture(scope="session")
def cpu_pair_fp32(embedded: Path) -> LoadedPair:
    """The embedded model with the course's draft."""
    return load_pair("cpu-default", "fp32", "cpu")
