"""`specdec-lab bench`: the arguments, the progress bar, and what is printed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from specdec_lab.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from specdec_lab.measure.bench import BatchSummary, CellSummary, Plan, Results, Store
    from specdec_lab.measure.workloads import Workload

T = TypeVar("T")
ALL, NONE, OWN = "all", "none", "own"
# What is not given: for a few minutes on two cores, and for one.
USUAL = {"workloads": ALL, "drafters": "model,ngram", "batch": "1,4,16", "prompts": 2, "max_new_tokens": 32}
QUICK = {"workloads": "code-edit,json,chat,story", "drafters": "model", "batch": "1,8", "prompts": 1, "max_new_tokens": 16}


def bench(
    workloads: Annotated[str | None, typer.Option(help="Which, with commas: code-edit,chat. Or all.", show_default=ALL)] = None,
    workload_file: Annotated[list[Path] | None, typer.Option(help="A workload of your own, a YAML file; may be repeated.")] = None,
    drafters: Annotated[str | None, typer.Option(help="Who drafts: model,ngram,suffix,eagle-tree ...", show_default="model,ngram")] = None,
    k: Annotated[str, typer.Option(help="Tokens drafted a round: 1,3,5.")] = "4",
    temperatures: Annotated[str, typer.Option(help="0,0.5,1; own is the one that each prompt suggests.")] = OWN,
    dtypes: Annotated[str, typer.Option(help="fp32,bf16; auto is fp32 on a CPU.")] = "auto",
    prompts: Annotated[int | None, typer.Option(help="So many of each workload.", show_default="2")] = None,
    max_new_tokens: Annotated[int | None, typer.Option(help="At most so many for each prompt.", show_default="32")] = None,
    repeats: Annotated[int, typer.Option(help="Runs of everything; quartiles are over prompts and repeats.")] = 1,
    batch: Annotated[str | None, typer.Option(help="Texts at once: 1,2,4,...,64. Or none.", show_default="1,4,16")] = None,
    pair: Annotated[str, typer.Option(help="A pair of `specdec-lab models list`.")] = "auto",
    out: Annotated[Path, typer.Option(help="The folder for measurements and report.")] = Path("bench"),
    quick: Annotated[bool, typer.Option("--quick", help="A minute instead: fewer of whatever is not given.")] = False,
) -> None:
    """Does it help here? Workloads x temperatures x drafters x k x dtypes, and batches, each against plain decoding in the same run.

    Without arguments it takes a few minutes on two cores. What is measured is kept: the same command goes on where it was stopped.
    """
    from specdec_lab.measure.bench.plan import Plan

    given = {"workloads": workloads, "drafters": drafters, "batch": batch, "prompts": prompts, "max_new_tokens": max_new_tokens}
    chosen: dict[str, Any] = {name: usual if given[name] is None else given[name] for name, usual in (QUICK if quick else USUAL).items()}
    if workload_file and workloads is None:
        chosen["workloads"] = NONE
    plan = Plan(
        workloads=_workloads(chosen["workloads"], workload_file or []),
        drafters=tuple(name.replace("-", " ") for name in _words(chosen["drafters"])),
        k=_all("--k", k, int, "whole numbers, such as 1,3,5"),
        temperatures=_all("--temperatures", temperatures, _temperature, "numbers or own, such as own,0,1"),
        dtypes=_words(dtypes),
        batches=() if chosen["batch"] == NONE else _batches(chosen["batch"]),
        prompts=chosen["prompts"],
        max_new_tokens=chosen["max_new_tokens"],
        repeats=repeats,
        pair=pair,
    )
    _run(plan, out)


def _run(plan: Plan, out: Path) -> None:
    """Measure what is missing, and write and print what there is, to the end or to Ctrl-C."""
    from rich.console import Console

    from specdec_lab.measure.bench.store import Store
    from specdec_lab.measure.bench.summary import summarise

    aside, total, stopped = Console(stderr=True), len(plan.tasks), False
    with Store(out, plan.as_dict(), _machine()) as store:
        try:
            _measure(plan, store, aside)
        except KeyboardInterrupt:
            stopped = True
        results = summarise(plan, store.records)
        if results.done:
            _write(out, results, plan)
    if stopped:
        aside.print(
            f"Stopped, {results.done} of {total} done; run the same command to go on.", markup=False, highlight=False, soft_wrap=True
        )
        raise typer.Exit(130)
    _print(results, out)


def _measure(plan: Plan, store: Store, console: Console) -> None:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from specdec_lab.measure.bench.run import bench
    from specdec_lab.models.loading import load_pair

    tasks = plan.tasks
    left = [task for task in tasks if task.key not in store.records]
    held = f", of which {len(tasks) - len(left)} are there already" if len(left) < len(tasks) else ""
    console.print(f"{len(tasks)} measurements{held}. Ctrl-C stops it; what is done is kept.", highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("loading models", total=sum(map(plan.weight, left)), count="")
        pace = None
        for i, (task, seconds) in enumerate(bench(plan, store, lambda dtype: load_pair(plan.pair, dtype)), 1):
            if pace is None:
                pace = seconds / plan.weight(task)
                console.print(f"About {_duration(pace * sum(map(plan.weight, left[1:])))} to go, by the first.", highlight=False)
            count = f"{len(tasks) - len(left) + i} of {len(tasks)}"
            progress.update(bar, advance=plan.weight(task), description=_short(task.key), count=count)


def _duration(seconds: float) -> str:
    return (
        f"{max(seconds, 1):.0f} seconds"
        if seconds < 100
        else f"{seconds / 60:.0f} minutes"
        if seconds < 5400
        else f"{seconds / 3600:.1f} hours"
    )


def _short(key: str) -> str:
    kind, _, *rest = key.split("/")
    return " ".join([kind, *rest[:-1]])


def _machine() -> dict[str, Any]:
    import specdec_lab
    from specdec_lab.measure.device import device_facts

    facts = device_facts()
    return {
        "device": facts.name, "kind": facts.kind, "cores": facts.cores, "threads": facts.threads,
        "torch": facts.torch, "transformers": facts.transformers, "specdec_lab": specdec_lab.__version__,
    }  # fmt: skip


def _write(out: Path, results: Results, plan: Plan) -> None:
    from datetime import date

    from specdec_lab.measure.bench.output import write_tables
    from specdec_lab.widgets.bench_report import About, write_report

    machine, today = _machine(), str(date.today())
    command = shlex.join(["specdec-lab", *sys.argv[1:]])
    try:
        write_tables(out, results, {"command": command, "date": today, "machine": machine, "plan": plan.as_dict()})
        versions = ", ".join(f"{name} {machine[name]}" for name in ("torch", "transformers", "specdec_lab"))
        write_report(out / "report.html", results, About(f"{machine['device']}, threads: {machine['threads']}", today, command, versions))
    except OSError as error:
        raise UserError(f"The report cannot be written to {out} ({error.strerror}); make room, and run the same command again.") from None


def _print(results: Results, out: Path) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    from specdec_lab.widgets.bench_report import headline

    console = Console()
    console.print(headline(results) + ".", highlight=False, soft_wrap=True)
    measured = (*results.cells, *results.batches)
    several = [name for name in ("drafter", "k", "dtype") if len({getattr(one, name) for one in measured}) > 1]
    names = (Column(name, no_wrap=True) for name in ("what", *several))
    table = Table(*names, "alpha", "tokens a pass", "predicted", "measured")
    for cell in results.cells:
        table.add_row(f"{cell.workload}, {cell.at}", *_fields(cell, several))
    for batch in results.batches:
        table.add_row(batch.at_once, *_fields(batch, several))
    console.print(table)
    for name, why in results.losses:
        console.print(f"✗ {name}: {why.reason}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"The report is {out / 'report.html'}; the numbers are beside it.", markup=False, highlight=False, soft_wrap=True)


def _fields(of: CellSummary | BatchSummary, several: Sequence[str]) -> list[str]:
    m, gain = of.metrics, of.spread("speedup").median
    return [
        *(str(getattr(of, name)) for name in several),
        "none" if m.alpha is None else f"{m.alpha:.2f}",
        f"{m.mean_acceptance_length or 0:.2f}",
        f"{of.spread('predicted_speedup').median:.2f}",
        f"{'✗ ' if gain < 1 else ''}{gain:.2f}",
    ]


def _workloads(names: str, files: list[Path]) -> tuple[Workload, ...]:
    from specdec_lab.measure.workloads import NAMES, load_workload, workload

    chosen = NAMES if names == ALL else () if names == NONE else _words(names)
    return (*(workload(name) for name in chosen), *(load_workload(file) for file in files))


def _words(listed: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in listed.split(",") if word.strip())


def _all(option: str, listed: str, of: Callable[[str], T], what: str) -> tuple[T, ...]:
    try:
        return tuple(of(word) for word in _words(listed))
    except ValueError:
        raise UserError(f"{option} is {listed!r}, but takes {what}.") from None


def _temperature(word: str) -> float | None:
    return None if word == OWN else float(word)


def _batches(listed: str) -> tuple[int, ...]:
    """ "1,2,4,...,64" doubles from what stands before the dots to what stands behind them."""
    before, dots, behind = listed.partition("...")
    first, last = (_all("--batch", part, int, "whole numbers, such as 1,4,16 or 1,2,4,...,64") for part in (before, behind))
    if not dots:
        return first
    if not first or len(last) != 1:
        raise UserError(f"--batch is {listed!r}, but the dots need a number on each side, such as 1,2,4,...,64.")
    out = list(first)
    while 0 < out[-1] * 2 < last[0]:
        out.append(out[-1] * 2)
    return (*out, *last)
