import pytest
import torch

from specdec_lab.errors import UserError
from specdec_lab.models.placement import choose, find_device, find_dtype, old_gpu
from specdec_lab.models.registry import PAIRS
from tests.gpu import A100_40, A100_80, H100, H200, L4, LAPTOP, OLD_LAPTOP, P100, T4, pretend


@pytest.mark.parametrize(
    ("gpu", "pair", "dtype"),
    [
        (T4, "qwen2.5-3b", torch.float16),  # Colab for nothing, and Kaggle: no bfloat16
        (L4, "qwen2.5-7b", torch.bfloat16),
        (A100_40, "qwen2.5-14b", torch.bfloat16),
        (A100_80, "qwen2.5-32b", torch.bfloat16),
        (H100, "qwen2.5-32b", torch.bfloat16),
        (H200, "qwen2.5-32b", torch.bfloat16),
        (LAPTOP, "smollm2-1.7b", torch.bfloat16),
        (OLD_LAPTOP, "cpu-default", torch.float16),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_auto_takes_on_a_gpu(monkeypatch, gpu, pair, dtype):
    pretend(monkeypatch, gpu)
    chosen, device, kind = choose()
    assert (chosen.name, device, kind) == (pair, torch.device("cuda"), dtype)
    assert chosen.name == "cpu-default" or chosen.memory_gib <= gpu.free


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose() == (PAIRS["cpu-default"], torch.device("cpu"), torch.float32)


def test_twice_the_bytes_halve_the_room(monkeypatch):
    pretend(monkeypatch, T4)
    assert choose("fp32")[0].name == "smollm2-1.7b"


@pytest.mark.parametrize(
    ("gpu", "built_for", "too_old"),
    [
        (P100, ["sm_75", "sm_80", "sm_90"], True),
        (P100, ["sm_50", "sm_60", "sm_70"], False),
        (T4, ["sm_75", "sm_80"], False),
        (L4, ["sm_80", "sm_90a"], False),  # 8.9 runs what 8.0 runs
        (L4, ["sm_75", "sm_90"], True),  # of another major number
        (H200, ["sm_80", "compute_80"], False),  # compiled when it is met
        (H200, [], False),  # torch does not say, as with ROCm
        (H200, ["gfx90a"], False),
    ],
)
def test_a_gpu_that_torch_no_longer_runs_on(monkeypatch, gpu, built_for, too_old):
    pretend(monkeypatch, gpu, built_for)
    assert old_gpu() == (gpu.name if too_old else None)
    assert find_device().type == ("cpu" if too_old else "cuda")


@pytest.mark.parametrize(
    ("device", "bf16", "dtype"),
    [("cpu", True, torch.float32), ("cuda", True, torch.bfloat16), ("cuda", False, torch.float16), ("mps", False, torch.bfloat16)],
)
def test_auto_dtype(monkeypatch, device, bf16, dtype):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
    assert find_dtype("auto", torch.device(device)) == dtype


@pytest.mark.parametrize("device", ["gpu", "cuda:99", "xpu"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(UserError, match=f"no device '{device}' here .* choose auto or cpu"):
        find_device(device)
