"""What `specdec-lab serve bench` prints and writes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from specdec_lab.errors import UserError

if TYPE_CHECKING:
    from specdec_lab.measure.served import ServedComparison
    from specdec_lab.serving.recordings import ServedRun
    from specdec_lab.serving.setup import Setup


def report(console: Console, speculative: list[ServedRun], baseline: list[ServedRun], comparison: ServedComparison | None) -> None:
    """Print the tables, and whether the tokens are the same."""
    console.print(_speeds(speculative, baseline))
    acceptance = speculative[0].acceptance
    if comparison and acceptance:
        table = Table("", "vLLM", "our engine", title="Acceptance, on the same prompts", title_justify="left")
        for row in comparison.rows:
            table.add_row(row.name, *("-" if value is None else f"{value:.3f}" for value in (row.server, row.ours)))
        console.print(table)
    elif acceptance and acceptance.acceptance_rate is not None:
        print(f"acceptance rate {acceptance.acceptance_rate:.3f}, mean acceptance length {acceptance.mean_acceptance_length:.3f}")
    if comparison:
        print(_identity(comparison))


def _speeds(speculative: list[ServedRun], baseline: list[ServedRun]) -> Table:
    columns = ("at a time", "server", "tokens/s", "speedup", "first token, s", "a token, ms")
    table = Table(*columns, title=f"{len(speculative[0].answers)} answers each; times are medians", title_justify="left")
    for i, run in enumerate(speculative):
        for each in (run, *baseline[i : i + 1]):
            faster = f"{run.tokens_per_second / baseline[i].tokens_per_second:.2f}" if baseline and each is run else ""
            speed, first, one = f"{each.tokens_per_second:.1f}", f"{each.median_time_to_first_token:.2f}", each.median_time_per_token
            table.add_row(str(each.concurrency), each.name, speed, faster, first, f"{1000 * one:.1f}")
    return table


def _identity(comparison: ServedComparison) -> str:
    total = len(comparison.generations)
    if comparison.identical:
        return f"The tokens of all {total} answers are those of our engine."
    ties = sum(parting.near_tie for parting in comparison.partings)
    head = f"{total - len(comparison.partings)} of {total} answers have the tokens of our engine, {ties} part at a near-tie"
    return "\n".join([f"{head}:", *(f"  {parting}" for parting in comparison.partings)])


def write(file: Path, setup: Setup, runs: list[ServedRun], comparison: ServedComparison | None) -> None:
    """Write everything as JSON. Raises UserError if that cannot be."""
    from specdec_lab.measure import device_facts
    from specdec_lab.serving.recordings import setup_as_json

    facts = device_facts()
    fields = {
        "device": facts.name,
        "setup": setup_as_json(setup),
        "runs": [asdict(run) | {"setup": setup_as_json(run.setup), **_figures(run)} for run in runs],
        "comparison": comparison.as_dict() if comparison else None,
    }
    try:
        file.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file} cannot be written ({error.strerror}); give --json a file in a folder that is there.") from None


def _figures(run: ServedRun) -> dict[str, float | None]:
    found = {name: getattr(run, name) for name in ("tokens_per_second", "median_time_to_first_token", "median_time_per_token")}
    acceptance = run.acceptance
    names = ("acceptance_rate", "mean_acceptance_length")
    return found | {name: getattr(acceptance, name) if acceptance else None for name in names}
