import dataclasses
import os
import platform

import psutil
import pytest
import torch
import transformers

from specdec_lab.measure import device, device_facts

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


@pytest.mark.parametrize(("capability", "bf16"), [((7, 5), False), ((8, 0), True), ((9, 0), True)])
def test_a_gpu(monkeypatch, capability, bf16):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (3 * GIB, 16 * GIB))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    facts = dataclasses.asdict(device_facts())
    assert {k: facts[k] for k in ("name", "kind", "memory_free", "memory_total", "bf16_native")} == {
        "name": "Some GPU",
        "kind": "cuda",
        "memory_free": 3.0,
        "memory_total": 16.0,
        "bf16_native": bf16,
    }


def test_a_mac_runs_where_load_pair_does(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_facts().kind == "cpu"
