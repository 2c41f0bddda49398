"""What the measurements say: a row a cell, with medians and their spread, and why speculation lost where it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from statistics import mean
from typing import Any

import numpy as np

from specdec_lab.engine.metrics import Metrics
from specdec_lab.measure.bench.plan import BatchTask, Plan, TextTask
from specdec_lab.measure.bench.records import BatchRecord, PairRecord, TextRecord
from specdec_lab.theory import roofline
from specdec_lab.theory.diagnosis import Diagnosis, Signature, diagnose


@dataclass(frozen=True)
class Spread:
    """A median, and the quartiles between which the middle half of the values lies."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        low, middle, high = np.percentile(list(values), [25, 50, 75])
        return cls(float(middle), float(low), float(high))


@dataclass(frozen=True)
class CellSummary:
    """A workload at a temperature (None: each prompt's own) with a drafter, a k and a dtype, over its prompts and repeats."""

    workload: str
    temperature: float | None
    drafter: str
    k: int
    dtype: str
    runs: tuple[TextRecord, ...]
    metrics: Metrics  # of all runs together; at temperature 0 a repeat says the same again, and counts once
    why: Diagnosis | None  # None where it did not lose

    @property
    def at(self) -> str:
        """The temperature in words: "0.2", or "0 to 0.2 (own)"."""
        if self.temperature is not None:
            return f"{self.temperature:g}"
        low, high = (f(run.temperature for run in self.runs) for f in (min, max))
        return f"{low:g} (own)" if low == high else f"{low:g} to {high:g} (own)"

    def spread(self, name: str) -> Spread:
        """Of `speedup`, `tokens_per_second`, or another number of `TextRecord`."""
        return Spread.of(getattr(run, name) for run in self.runs)

    @property
    def milliseconds(self) -> dict[str, float]:
        """Of a token, by part, the mean over the runs."""
        return {part: mean(run.milliseconds[part] for run in self.runs) for part in self.runs[0].milliseconds}

    @property
    def same(self) -> str:
        """Whether the texts are those of plain decoding, in words."""
        greedy = [run for run in self.runs if run.identical is not None]
        if not greedy:
            return "sampled"
        other = [run for run in greedy if run.differs]
        if not other:
            return "yes" if len(greedy) == len(self.runs) else "yes, where greedy"
        plain, ours = other[0].differs or ("", "")
        return f"{len(greedy) - len(other)} of {len(greedy)}; the first differs at token {other[0].first_difference}: {plain!r}, {ours!r}"


@dataclass(frozen=True)
class BatchSummary:
    """A batch size with a drafter, a k and a dtype, over its repeats."""

    batch: int
    drafter: str
    k: int
    dtype: str
    runs: tuple[BatchRecord, ...]
    past_ridge: bool  # whether a pass over k + 1 tokens of each text has more of them than the machine checks for free
    why: Diagnosis | None

    @property
    def at_once(self) -> str:
        """The batch size in words."""
        return f"{self.batch} text{'s' if self.batch > 1 else ''} at once"

    @property
    def metrics(self) -> Metrics:
        return self.runs[0].metrics

    def spread(self, name: str) -> Spread:
        return Spread.of(getattr(run, name) for run in self.runs)


@dataclass(frozen=True)
class Results:
    """Everything measured. complete: whether that is all of the plan."""

    cells: tuple[CellSummary, ...]
    batches: tuple[BatchSummary, ...]
    pairs: dict[str, PairRecord]  # by the dtype that was asked for
    done: int
    planned: int

    @property
    def complete(self) -> bool:
        return self.done == self.planned

    @property
    def losses(self) -> list[tuple[str, Diagnosis]]:
        """Each cell and batch that was slower than plain decoding, with the reason."""
        cells = [(f"{c.workload} at {c.at}, {c.drafter}, k = {c.k}, {c.dtype}", c.why) for c in self.cells]
        batches = [(f"{b.at_once}, {b.drafter}, k = {b.k}, {b.dtype}", b.why) for b in self.batches]
        return [(name, why) for name, why in cells + batches if why]

    def ridge(self, dtype: str) -> float:
        """Tokens in a pass from which on arithmetic sets its time, by this machine's measured bounds."""
        pair = self.pairs[dtype]
        return roofline.ridge(pair.bytes_per_parameter, pair.bandwidth, pair.flop_rate)


def summarise(plan: Plan, records: Mapping[str, dict[str, Any]]) -> Results:
    """Of what a `Store` holds, which may be less than the plan asks for."""
    texts, batches = dict[TextTask, dict[TextTask, TextRecord]](), dict[BatchTask, list[BatchRecord]]()
    done = [task for task in plan.tasks if task.key in records]
    for task in done:
        if isinstance(task, TextTask):
            texts.setdefault(task._replace(prompt=0, repeat=0), {})[task] = TextRecord.from_dict(records[task.key])
        else:
            batches.setdefault(task._replace(repeat=0), []).append(BatchRecord.from_dict(records[task.key]))
    pairs = {dtype: PairRecord(**records[f"pair/{dtype}"]) for dtype in plan.dtypes if f"pair/{dtype}" in records}
    results = Results((), (), pairs, len(done), len(plan.tasks))
    cells = [_cell(cell, runs) for cell, runs in texts.items()]
    many = [_batch(task, runs, results.ridge(task.dtype)) for task, runs in batches.items()]
    return replace(
        results,
        cells=tuple(replace(cell, why=_why(cell, cells)) for cell in _in_order(plan, cells)),
        batches=tuple(replace(batch, why=_why_batch(batch, many)) for batch in many),
    )


def _in_order(plan: Plan, cells: list[CellSummary]) -> list[CellSummary]:
    """Workload by workload; what was measured first stands first otherwise."""
    names = [w.name for w in plan.workloads]
    return sorted(
        cells, key=lambda cell: (plan.dtypes.index(cell.dtype), names.index(cell.workload), plan.temperatures.index(cell.temperature))
    )


def _cell(cell: TextTask, runs: Mapping[TextTask, TextRecord]) -> CellSummary:
    counted = {(task.prompt, task.repeat if run.identical is None else 0): run.metrics for task, run in runs.items()}
    everything = together(counted.values())
    return CellSummary(cell.workload, cell.temperature, cell.drafter, cell.k, cell.dtype, tuple(runs.values()), everything, None)


def together(parts: Iterable[Metrics]) -> Metrics:
    """The counts of several runs, added up."""
    parts = list(parts)
    rounds, tokens, drafted, accepted, rejections = (
        sum(getattr(m, name) for m in parts) for name in ("rounds", "tokens", "drafted", "accepted", "rejections")
    )
    places = (
        tuple(map(sum, zip_longest(*(getattr(m, name) for m in parts), fillvalue=0))) for name in ("drafted_at", "tested_at", "accepted_at")
    )
    return Metrics(rounds, tokens, drafted, accepted, rejections, *places)


def _batch(task: BatchTask, runs: Sequence[BatchRecord], ridge: float) -> BatchSummary:
    past = task.batch * (task.k + 1) > ridge
    return BatchSummary(task.batch, task.drafter, task.k, task.dtype, tuple(runs), past, None)


def _why(cell: CellSummary, cells: Sequence[CellSummary]) -> Diagnosis | None:
    """The reason why a cell lost. The same text at temperature 0, if that was measured, says what is usual there."""
    rest = (cell.workload, cell.drafter, cell.k, cell.dtype)
    others = (c for c in cells if c.temperature == 0 and c.temperature != cell.temperature)
    cool = next((c.metrics.alpha for c in others if (c.workload, c.drafter, c.k, c.dtype) == rest), None)
    return _diagnosis(cell, usual=cool, cool=cool)


def _why_batch(batch: BatchSummary, batches: Sequence[BatchSummary]) -> Diagnosis | None:
    rest = (batch.drafter, batch.k, batch.dtype)
    alone = next((b for b in batches if b.batch == 1 and (b.drafter, b.k, b.dtype) == rest), None)
    return _diagnosis(batch, alone=alone.spread("speedup").median if alone and batch.batch > 1 else None)


def _diagnosis(of: CellSummary | BatchSummary, **known: float | None) -> Diagnosis | None:
    speedup, m = of.spread("speedup").median, of.metrics
    if speedup >= 1:
        return None
    if m.alpha is None or m.mean_acceptance_length is None:
        return Diagnosis("text", "Nothing was drafted, so every round was a plain step with some bookkeeping.", "Decode such text plainly.")
    return diagnose(
        Signature(
            k=of.k,
            alpha=m.alpha,
            conditional=m.conditional,
            tested=m.tested_at,
            rate=m.acceptance_rate,
            length=m.mean_acceptance_length,
            verify=of.spread("verify").median,
            c=of.spread("drafting").median / of.k,
            overhead=max(of.spread("overhead").median, 0.0),
            speedup=speedup,
            **known,
        )
    )
