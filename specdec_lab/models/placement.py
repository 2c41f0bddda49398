"""Where a pair runs, in which precision, and which pair suits the memory that is free there."""

from __future__ import annotations

import gc
from typing import Any
from weakref import WeakValueDictionary

import torch

from specdec_lab.errors import UserError
from specdec_lab.models.registry import Pair, pick

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
# What `auto` loaded, as long as somebody holds it: asked again, it is the answer, for it fills the memory that another would need.
auto_pairs: WeakValueDictionary[tuple[torch.device, torch.dtype], Any] = WeakValueDictionary()


def choose(dtype: str = "auto", device: str = "auto", below: Pair | None = None) -> tuple[Pair, torch.device, torch.dtype]:
    """The pair of `auto`, the device and the precision: the largest without a licence gate that fits, if asked one below a pair.

    If `auto` has loaded one there in that precision, and it is still held, it is that one.
    """
    place = find_device(device)
    kind = find_dtype(dtype, place)
    if below is None and (kept := auto_pairs.get((place, kind))):
        return kept.pair, place, kind
    return pick(free_gib(place) * 2 / kind.itemsize, below), place, kind


def find_device(name: str = "auto") -> torch.device:
    """The device of that name; `auto` is the first GPU that this torch can use, else the CPU. Raises UserError."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() and not old_gpu() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(f"There is no device {name!r} here that torch {torch.__version__} can use; choose auto or cpu.") from error


def find_dtype(name: str, device: torch.device) -> torch.dtype:
    """The precision of that name; `auto` is float32 on a CPU and 16 bits on a GPU: bfloat16, or float16 where that is emulated."""
    if name in DTYPES:
        return DTYPES[name]
    if name != "auto":
        raise UserError(f"There is no dtype {name!r}; choose auto, {', '.join(DTYPES)}.")
    if device.type == "cpu":
        return torch.float32
    emulated = device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.float16 if emulated else torch.bfloat16


def old_gpu() -> str | None:
    """The name of the first GPU, if it is older than all that this torch is built for, as Kaggle's P100 (6.0) is.

    Code for sm_75 runs on GPUs of 7.5 and later 7.x; compute_75 is compiled for any later one when it is met.
    """
    if not torch.cuda.is_available():
        return None
    has = torch.cuda.get_device_capability(0)
    built = [entry.split("_") for entry in torch.cuda.get_arch_list() if entry.startswith(("sm_", "compute_"))]

    def runs(kind: str, number: str) -> bool:
        digits = "".join(filter(str.isdigit, number))  # sm_90a
        major, minor = int(digits[:-1]), int(digits[-1])
        return (major, minor) <= has and (kind == "compute" or major == has[0])

    return torch.cuda.get_device_name(0) if built and not any(runs(*entry) for entry in built) else None


def free_gib(device: torch.device) -> float:
    """Memory that is free on a GPU, in GiB, after what nobody holds any more was given back; 0 elsewhere."""
    if device.type != "cuda":
        return 0.0
    release()
    return torch.cuda.mem_get_info(device)[0] / 2**30


def release() -> None:
    """Give back the GPU memory of what nobody holds any more."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
