"""The results as files for other programs: JSON with everything, CSV with a row a cell and a row a batch."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specdec_lab.measure.bench.summary import BatchSummary, CellSummary, Results, Spread

SPREAD_OF_CELLS = ("speedup", "predicted_speedup", "efficiency", "tokens_per_second", "baseline_tokens_per_second",
                   "first_token", "baseline_first_token", "verify", "drafting", "overhead")  # fmt: skip
SPREAD_OF_BATCHES = ("speedup", "predicted_speedup", "efficiency", "tokens_per_second", "plain_tokens_per_second",
                     "verify", "drafting", "overhead", "v")  # fmt: skip


def cell_row(cell: CellSummary) -> dict[str, Any]:
    """Everything that is known of a cell. Times in seconds, costs in plain decoding steps; medians, and quartiles beside the speeds."""
    m = cell.metrics
    return {
        "workload": cell.workload,
        "temperature": cell.at,
        "drafter": cell.drafter,
        "k": cell.k,
        "dtype": cell.dtype,
        "runs": len(cell.runs),
        **_acceptance(cell),
        "marginal": list(m.marginal),
        "conditional": list(m.conditional),
        **_spreads(cell, SPREAD_OF_CELLS),
        **{f"milliseconds_{part}": value for part, value in cell.milliseconds.items()},
        "identical_to_baseline": cell.same,
        **_reason(cell),
    }


def batch_row(batch: BatchSummary) -> dict[str, Any]:
    return {
        "batch": batch.batch,
        "drafter": batch.drafter,
        "k": batch.k,
        "dtype": batch.dtype,
        "runs": len(batch.runs),
        **_acceptance(batch),
        **_spreads(batch, SPREAD_OF_BATCHES),
        "past_ridge": batch.past_ridge,
        "identical_to_baseline": batch.runs[0].identical,
        **_reason(batch),
    }


def write_tables(folder: Path, results: Results, header: Mapping[str, Any]) -> list[Path]:
    """results.json, cells.csv and, if batches were measured, batches.csv. header: what was measured, on what."""
    cells, batches = [cell_row(cell) for cell in results.cells], [batch_row(batch) for batch in results.batches]
    pairs = {dtype: {**pair.as_dict(), "ridge": results.ridge(dtype)} for dtype, pair in results.pairs.items()}
    everything = {**header, "complete": results.complete, "pairs": pairs, "cells": cells, "batches": batches}
    written = [folder / "results.json"]
    written[0].write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    for name, rows in (("cells", cells), ("batches", batches)):
        if rows:
            written.append(folder / f"{name}.csv")
            _write(written[-1], rows)
    return written


def _write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, list(rows[0]))
        table.writeheader()
        table.writerows({name: _flat(value) for name, value in row.items()} for row in rows)


def _flat(value: Any) -> Any:
    """A list in one field, its numbers apart by blanks."""
    return " ".join("" if one is None else f"{one:.4g}" for one in value) if isinstance(value, list) else value


def _acceptance(of: CellSummary | BatchSummary) -> dict[str, Any]:
    m = of.metrics
    return {
        "rounds": m.rounds,
        "tokens": m.tokens,
        "drafted": m.drafted,
        "accepted": m.accepted,
        "acceptance_rate": m.acceptance_rate,
        "alpha": m.alpha,
        "alpha_error": m.alpha_error,
        "mean_acceptance_length": m.mean_acceptance_length,
    }


def _spreads(of: CellSummary | BatchSummary, names: Sequence[str]) -> dict[str, float]:
    spreads: dict[str, Spread] = {name: of.spread(name) for name in names}
    return {
        f"{name}{end}": getattr(s, part)
        for name, s in spreads.items()
        for end, part in (("", "median"), ("_low", "low"), ("_high", "high"))
    }


def _reason(of: CellSummary | BatchSummary) -> dict[str, str | None]:
    return (
        {"lost_to": of.why.cause, "why": of.why.reason, "repair": of.why.repair} if of.why else dict.fromkeys(("lost_to", "why", "repair"))
    )
