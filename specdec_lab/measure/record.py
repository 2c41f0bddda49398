"""Record what this machine measures, for those who have none like it: python -m specdec_lab.measure.record FILE"""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import plotly
import torch
import transformers
import typer

import specdec_lab
from specdec_lab.measure.cost import time_passes
from specdec_lab.measure.device import device_facts
from specdec_lab.measure.pair import time_pair
from specdec_lab.measure.roofline import measure_bandwidth, measure_flop_rate, parameters_read
from specdec_lab.measure.traces import Bounds, Event, TargetPass, Trace
from specdec_lab.models.loading import LoadedPair, load_pair

BATCHES, LENGTHS = (1, 2, 4, 8, 16, 32), (1, 2, 4, 6, 9)
P = 0.8


def record(pair: LoadedPair, command: str) -> Trace:
    """Everything the explorers ask of a machine, measured now."""
    model, facts = pair.target, device_facts()
    events: list[Event] = [event for event in time_pair(pair, P) if event is not None]
    for batch in BATCHES[1:]:
        events += [TargetPass(*timed, batch) for timed in time_passes(model, LENGTHS, repeats=3, batch=batch)]
    dtype = model.model.dtype
    return Trace(
        device=f"{facts.name}, {facts.cores} cores" if facts.kind == "cpu" else facts.name,
        date=str(date.today()),
        commit=commit(),
        versions={"python": facts.python, **{m.__name__: m.__version__ for m in (specdec_lab, torch, transformers, plotly)}},
        command=command,
        pair=pair.pair.name,
        dtype=str(dtype).removeprefix("torch."),
        p=P,
        bounds=Bounds(parameters_read(model), dtype.itemsize, measure_bandwidth(model.device), measure_flop_rate(dtype, model.device)),
        events=tuple(events),
    )


def commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(git, capture_output=True, text=True)
    return done.stdout.strip() or "not in a repository"


def main(file: Path, pair: str = "auto", dtype: str = "auto") -> None:
    """Measure for a few minutes, then write the trace; nothing else should run meanwhile."""
    command = f"python -m specdec_lab.measure.record {file.name} --pair {pair} --dtype {dtype}"
    record(load_pair(pair, dtype), command).save(file)


if __name__ == "__main__":
    typer.run(main)
