import os
import platform

import psutil
import pytest
import torch
import transformers

from specdec_lab.measure import device, device_facts
from tests.gpu import H200, L4, P100, T4, pretend

GIB = 2**30


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_this_machine(no_gpu):
    facts = device_facts()
    assert facts.kind == "cpu" and facts.name
    assert 1 <= facts.cores <= os.cpu_count() and facts.threads == torch.get_num_threads()
    assert facts.memory_total == pytest.approx(psutil.virtual_memory().total / GIB)
    assert 0 < facts.memory_free < facts.memory_total
    assert (facts.torch, facts.transformers, facts.python) == (torch.__version__, transformers.__version__, platform.python_version())


@pytest.mark.parametrize(
    ("text", "name", "bf16"),
    [
        ("model name\t: Some EPYC\nflags\t\t: fpu avx512f avx512_bf16\n", "Some EPYC", True),
        ("model name\t: Some Xeon\nflags\t\t: fpu avx512f amx_bf16\n", "Some Xeon", True),
        ("model name\t: Some Core\nflags\t\t: fpu avx2\n", "Some Core", False),
        ("processor\t: 0\nFeatures\t: fp asimd bf16 i8mm\n", None, True),
        ("processor\t: 0\nFeatures\t: fp asimd\n", None, False),
        (None, None, None),  # no such file: macOS, Windows
    ],
)
def test_what_a_cpu_says_of_itself(no_gpu, monkeypatch, tmp_path, text, name, bf16):
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    monkeypatch.setattr(device, "CPUINFO", info)
    facts = device_facts()
    assert facts.bf16_native is bf16
    assert facts.name == (name or platform.processor() or platform.machine())


@pytest.mark.parametrize(("gpu", "bf16"), [(T4, False), (L4, True), (H200, True)], ids=lambda value: getattr(value, "name", None))
def test_a_gpu(monkeypatch, gpu, bf16):
    pretend(monkeypatch, gpu, taken=lambda: 2.0)
    facts = device_facts()
    assert (facts.name, facts.kind, facts.bf16_native) == (gpu.name, "cuda", bf16)
    assert (facts.memory_free, facts.memory_total) == pytest.approx((gpu.free - 2, gpu.total))


def test_a_gpu_that_torch_no_longer_runs_on_is_not_the_device(monkeypatch):
    pretend(monkeypatch, P100)
    facts = device_facts()
    assert facts.kind == "cpu" and facts.name != P100.name
    assert facts.memory_total == pytest.approx(psutil.virtual_memory().total / GIB)


def test_a_mac_runs_where_load_pair_does(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_facts().kind == "cpu"
