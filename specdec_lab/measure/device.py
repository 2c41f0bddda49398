"""What this machine is."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil
import torch
import transformers

from specdec_lab.models.placement import find_device

GIB = 2**30
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class DeviceFacts:
    """The device that models run on. Memory is in GiB, that of the GPU where there is one; cores and threads are the CPU's.

    cores: processors this process may use; threads: those torch uses. bf16_native: whether the device computes in
    bfloat16 rather than converting; None if it does not say.
    """

    name: str
    kind: Literal["cpu", "cuda"]
    cores: int
    threads: int
    memory_total: float
    memory_free: float
    bf16_native: bool | None
    torch: str
    transformers: str
    python: str

    def __str__(self) -> str:
        bf16 = {True: "native", False: "emulated", None: "unknown"}[self.bf16_native]
        return (
            f"device    {self.name} ({self.kind}), {self.cores} cores, {self.threads} threads\n"
            f"memory    {self.memory_free:.1f} of {self.memory_total:.1f} GiB free\n"
            f"bfloat16  {bf16}\n"
            f"versions  Python {self.python}, torch {self.torch}, transformers {self.transformers}"
        )


def device_facts() -> DeviceFacts:
    """The facts of what `load_pair` runs on by itself: the first CUDA GPU, if this torch can use it, else the CPU."""
    name, kind, total, free, bf16 = _gpu() if find_device().type == "cuda" else _cpu()
    return DeviceFacts(
        name=name,
        kind=kind,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        memory_total=total / GIB,
        memory_free=free / GIB,
        bf16_native=bf16,
        torch=torch.__version__,
        transformers=transformers.__version__,
        python=platform.python_version(),
    )


_Device = tuple[str, Literal["cpu", "cuda"], int, int, bool | None]


def _gpu() -> _Device:
    free, total = torch.cuda.mem_get_info(0)
    # bfloat16 arithmetic came with compute capability 8.0 (Ampere); a T4 (7.5) converts to and fro.
    return torch.cuda.get_device_name(0), "cuda", total, free, torch.cuda.get_device_capability(0) >= (8, 0)


def _cpu() -> _Device:
    memory = psutil.virtual_memory()
    info = CPUINFO.read_text() if CPUINFO.exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    name = model.group(1) if model else platform.processor() or platform.machine()
    return name, "cpu", memory.total, memory.available, _computes_bf16(info)


def _computes_bf16(info: str) -> bool | None:
    """From the flags in /proc/cpuinfo: avx512_bf16 and amx_bf16 on x86, bf16 on Arm."""
    flags = re.search(r"^(?:flags|Features)\s*:(.*)$", info, re.MULTILINE)
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(flags.group(1).split())) if flags else None
