"""GPUs that are not here: torch is made to tell of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from specdec_lab.models.placement import auto_pairs

BUILT_FOR = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]  # torch 2.13 with CUDA 12.8


@dataclass(frozen=True)
class GPU:
    """A name, its compute capability, and the GiB that torch finds free and in total on an idle one."""

    name: str
    capability: tuple[int, int]
    free: float
    total: float

    @property
    def computes_bf16(self) -> bool:
        return self.capability >= (8, 0)


T4 = GPU("Tesla T4", (7, 5), 14.6, 14.7)
P100 = GPU("Tesla P100-PCIE-16GB", (6, 0), 15.6, 15.9)
L4 = GPU("NVIDIA L4", (8, 9), 21.9, 22.2)
A100_40 = GPU("NVIDIA A100-SXM4-40GB", (8, 0), 39.1, 39.6)
A100_80 = GPU("NVIDIA A100-SXM4-80GB", (8, 0), 78.8, 79.3)
H100 = GPU("NVIDIA H100 80GB HBM3", (9, 0), 78.6, 79.2)
H200 = GPU("NVIDIA H200", (9, 0), 139.2, 139.8)
LAPTOP = GPU("NVIDIA GeForce RTX 4060 Laptop GPU", (8, 9), 7.0, 8.0)
OLD_LAPTOP = GPU("NVIDIA GeForce GTX 1650", (7, 5), 3.4, 3.9)


def pretend(monkeypatch, gpu: GPU, built_for: list[str] = BUILT_FOR, taken: Callable[[], float] = lambda: 0.0) -> None:
    """For the rest of a test, torch finds this GPU and no other, `taken` GiB of it in use, and can give back no memory of it."""
    auto_pairs.clear()  # the error of an earlier test may hold one
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda device: gpu.name,
        "get_device_capability": lambda device: gpu.capability,
        "get_arch_list": lambda: built_for,
        "is_bf16_supported": lambda including_emulation=True: gpu.computes_bf16 or including_emulation,
        "mem_get_info": lambda device: (int((gpu.free - taken()) * 2**30), int(gpu.total * 2**30)),
        "empty_cache": lambda: None,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, answer)
