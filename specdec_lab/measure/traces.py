"""What was measured, as events in the order they came: live, or recorded on a machine that you may not have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple

from specdec_lab.measure.compare import Comparison
from specdec_lab.measure.cost import CostCurve, Pass
from specdec_lab.recorded import Files

FILES = Files("traces", "trace", version=1, again="python -m specdec_lab.measure.record FILE")


class TargetPass(NamedTuple):
    """A pass of the target over `tokens` tokens of each of `batch` texts."""

    tokens: int
    seconds: float
    batch: int = 1


class DraftStep(NamedTuple):
    """The drafting of one token."""

    seconds: float


class Measured(NamedTuple):
    """A comparison: with coin-flip acceptance or with the draft itself, k drafted, its alpha (None if nothing was tested), its speedups."""

    acceptance: Literal["synthetic", "real"]
    k: int
    alpha: float | None
    predicted: float
    measured: float

    @classmethod
    def of(cls, acceptance: Literal["synthetic", "real"], k: int, run: Comparison) -> Measured:
        return cls(acceptance, k, run.metrics.alpha, run.predicted_speedup, run.speedup)

    @property
    def efficiency(self) -> float:
        """Measured speedup over the one that the parts of this run add up to."""
        return self.measured / self.predicted


Event = TargetPass | DraftStep | Measured
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (TargetPass, DraftStep, Measured)}


def curve_of(events: Iterable[Event | None], batch: int = 1) -> CostCurve:
    """The cost curve of the target's passes over so many texts."""
    return CostCurve.of(Pass(e.tokens, e.seconds) for e in events if isinstance(e, TargetPass) and e.batch == batch)


def cost_ratio(events: Iterable[Event]) -> float | None:
    """c: the median time of drafting a token, in passes of the target over one. None until both were timed."""
    events = list(events)
    drafting = [event.seconds for event in events if isinstance(event, DraftStep)]
    curve = curve_of(events)
    return median(drafting) * 1000 / curve.t(1) if drafting and 1 in curve.timings else None


@dataclass(frozen=True)
class Bounds:
    """What `theory.roofline` asks: parameters that a pass reads, bytes of each, bytes and FLOP a second of the machine."""

    parameters: float
    bytes_per_parameter: float
    bandwidth: float
    flop_rate: float


@dataclass(frozen=True)
class Trace:
    """Events of one machine, and what they were recorded on. p: the chance of the synthetic acceptance."""

    device: str
    date: str
    commit: str
    versions: dict[str, str]
    command: str
    pair: str
    dtype: str
    p: float
    bounds: Bounds
    events: tuple[Event, ...]

    @property
    def label(self) -> str:
        return f"recorded on {self.device}, {self.date}"

    def save(self, file: Path) -> None:
        fields = {**vars(self), "bounds": vars(self.bounds), "events": [[type(e).__name__, *e] for e in self.events]}
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in {"version": FILES.version, **fields}.items())
        file.write_text("{\n" + lines.replace("], [", "],\n[") + "\n}\n", encoding="utf-8")


def recorded() -> list[str]:
    """The names of the traces that come with the course."""
    return FILES.names()


def load_trace(name: str | Path) -> Trace:
    """A trace of the course by its name, or one of your own by its file. Raises UserError if it is not to be had or read."""
    return FILES.load(name, _trace)


def _trace(fields: dict[str, Any]) -> Trace:
    events = tuple(KINDS[kind](*values) for kind, *values in fields.pop("events"))
    return Trace(bounds=Bounds(**fields.pop("bounds")), events=events, **fields)
