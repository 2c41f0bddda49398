"""What is written down of each measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from specdec_lab.engine.metrics import Metrics
from specdec_lab.measure.compare import Comparison, milliseconds_per_token
from specdec_lab.measure.crossover import BatchPoint

COUNTS = ("drafted_at", "tested_at", "accepted_at")


@dataclass(frozen=True)
class TextRecord:
    """A `Comparison`, in the numbers that a report is made of. Costs are in plain decoding steps, times in seconds."""

    temperature: float
    metrics: Metrics
    tokens_per_second: float
    baseline_tokens_per_second: float
    first_token: float  # time to it, the prompt's reading included
    baseline_first_token: float
    speedup: float
    predicted_speedup: float
    efficiency: float
    verify: float  # these three: a round's
    drafting: float
    overhead: float
    milliseconds: dict[str, float]  # of a token, by part
    identical: bool | None
    first_difference: int | None
    differs: tuple[str, str] | None  # what plain decoding has there, and what the speculative run has; "" is the end

    @classmethod
    def of(cls, run: Comparison, temperature: float, decode: Callable[[list[int]], str]) -> TextRecord:
        at = run.first_difference if run.greedy else None
        return cls(
            temperature=temperature,
            metrics=run.metrics,
            tokens_per_second=run.tokens_per_second,
            baseline_tokens_per_second=run.baseline_tokens_per_second,
            first_token=run.speculative.time_to_first_token,
            baseline_first_token=run.baseline.time_to_first_token,
            speedup=run.speedup,
            predicted_speedup=run.predicted_speedup,
            efficiency=run.efficiency,
            verify=run.verify,
            drafting=run.draft_seconds * run.baseline_tokens_per_second,
            overhead=run.overhead,
            milliseconds=milliseconds_per_token(run),
            identical=run.identical_to_baseline,
            first_difference=at,
            differs=None if at is None else (_piece(run.baseline.tokens, at, decode), _piece(run.speculative.tokens, at, decode)),
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> TextRecord:
        return cls(**{**fields, "metrics": _metrics(fields["metrics"]), "differs": fields["differs"] and tuple(fields["differs"])})


@dataclass(frozen=True)
class BatchRecord:
    """A `BatchPoint`, likewise."""

    metrics: Metrics
    tokens_per_second: float
    plain_tokens_per_second: float
    speedup: float
    predicted_speedup: float
    efficiency: float
    verify: float
    drafting: float
    overhead: float
    v: float
    identical: bool | None

    @classmethod
    def of(cls, point: BatchPoint) -> BatchRecord:
        return cls(
            metrics=point.metrics,
            tokens_per_second=point.tokens_per_second,
            plain_tokens_per_second=point.plain_tokens_per_second,
            speedup=point.speedup,
            predicted_speedup=point.predicted_speedup,
            efficiency=point.efficiency,
            verify=point.verify,
            drafting=point.draft_seconds / point.plain_seconds,
            overhead=point.overhead,
            v=point.v,
            identical=point.identical,
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> BatchRecord:
        return cls(**{**fields, "metrics": _metrics(fields["metrics"])})


@dataclass(frozen=True)
class PairRecord:
    """What was loaded for a dtype, and the bounds of `theory.roofline`: bytes and FLOP a second of this machine."""

    pair: str
    dtype: str
    bytes_per_parameter: int
    bandwidth: float
    flop_rate: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _piece(tokens: tuple[int, ...], at: int, decode: Callable[[list[int]], str]) -> str:
    return decode(list(tokens[at : at + 1])) if at < len(tokens) else ""


def _metrics(fields: dict[str, Any]) -> Metrics:
    return Metrics(**{**fields, **{name: tuple(fields[name]) for name in COUNTS}})
