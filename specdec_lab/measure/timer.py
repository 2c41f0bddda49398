"""How long a call takes, with the work it leaves on the device finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch

from specdec_lab.errors import UserError

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Timing:
    """The seconds of repeated calls, in the order they were made."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Seconds: half the calls were faster. One call held up by another program does not move it."""
        return float(np.median(self.seconds))

    @property
    def quartiles(self) -> tuple[float, float]:
        """Seconds between which the middle half of the calls lies."""
        low, high = np.percentile(self.seconds, [25, 75])
        return float(low), float(high)


def seconds_of(call: Callable[[], object], device: torch.device = CPU) -> float:
    """Seconds of one call. On a GPU, from events in its own queue: the call returns long before the work is done."""
    if device.type != "cuda":
        wait = torch.mps.synchronize if device.type == "mps" else lambda: None
        wait()
        began = perf_counter()
        call()
        wait()
        return perf_counter() - began
    stream = torch.cuda.current_stream(device)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    stream.synchronize()  # nothing of what came before is in the queue
    start.record(stream)
    call()
    end.record(stream)
    end.synchronize()
    return start.elapsed_time(end) / 1000  # milliseconds


def time_calls(call: Callable[[], object], repeats: int = 10, warmup: int = 2, device: torch.device = CPU) -> Timing:
    """Call it `warmup` times untimed, then `repeats` times timed. Raises UserError for no repeats."""
    if repeats < 1:
        raise UserError(f"repeats is {repeats}, but has to be 1 or more.")
    for _ in range(warmup):
        call()
    return Timing(tuple(seconds_of(call, device) for _ in range(repeats)))
