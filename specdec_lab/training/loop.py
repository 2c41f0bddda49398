"""The training loop, once for the draft and for every head."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from specdec_lab.training.corpus import Row

BATCH = 16  # rows a step
EVERY = 100  # steps between two reports, and two checkpoints


@dataclass(frozen=True)
class Progress:
    """After so many steps: the running mean of the loss, and what `judge` found on held-out rows."""

    step: int
    steps: int
    loss: float
    alpha: float | tuple[float, ...]
    seconds: float

    def __str__(self) -> str:
        alphas = self.alpha if isinstance(self.alpha, tuple) else (self.alpha,)
        shown = " ".join(f"{a:.3f}" for a in alphas)
        return f"step {self.step}/{self.steps}  loss {self.loss:.3f}  held-out greedy alpha {shown}  {self.seconds:.0f} s"


def batches(rows: list[Row], rng: random.Random, size: int = BATCH) -> Iterator[list[Row]]:
    """Rows of like length together, in random order, for ever."""
    while True:
        order = sorted(rows, key=lambda row: row.length + rng.uniform(-16, 16))
        groups = [order[i : i + size] for i in range(0, len(order) - size + 1, size)]
        rng.shuffle(groups)
        yield from groups


def fit(
    module: nn.Module,
    loss_on: Callable[[list[Row]], Tensor],
    judge: Callable[[], float | tuple[float, ...]],
    rows: list[Row],
    steps: int,
    seed: int = 0,
    peak: float = 1e-3,
    checkpoint: Path | None = None,
    every: int = EVERY,
    batch: int = BATCH,
) -> Iterator[Progress]:
    """Train what in `module` requires gradients, on `steps` batches of rows, and say every so often how it goes.

    loss_on: a batch of rows to the loss, a scalar. judge: the alpha on held-out rows. AdamW; the learning rate rises to `peak`
    in 100 steps, or a tenth of all, and falls along a cosine to a twentieth. checkpoint: written with each report, resumed from if there.
    """
    torch.manual_seed(seed)
    weights = {name: w for name, w in module.named_parameters() if w.requires_grad}
    optimizer = torch.optim.AdamW(weights.values(), lr=peak, betas=(0.9, 0.95), weight_decay=0.05)
    rise = min(100, max(1, steps // 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min(1.0, (i + 1) / rise) * (0.05 + 0.475 * (1 + math.cos(math.pi * min(1.0, i / steps))))
    )
    first, running, began = 0, math.nan, time.perf_counter()
    if checkpoint and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        module.load_state_dict(state["weights"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        first = state["step"]
    feed = batches(rows, random.Random(seed), batch)
    module.train()
    for step, group in zip(range(1, steps + 1), feed, strict=False):
        if step <= first:
            continue
        loss = loss_on(group)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        running = loss.item() if math.isnan(running) else 0.98 * running + 0.02 * loss.item()
        if step % every == 0 or step == steps:
            module.eval()
            yield Progress(step, steps, running, judge(), time.perf_counter() - began)
            module.train()
            if checkpoint:
                state = {"weights": {n: w.detach() for n, w in weights.items()}, "step": step}
                state |= {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
                torch.save(state, checkpoint.with_suffix(".partial"))
                checkpoint.with_suffix(".partial").rename(checkpoint)
    module.eval()
