"""The command line: generate, bench, serve, grade, doctor, models."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from specdec_lab.cli import bench, serve
from specdec_lab.errors import UserError
from specdec_lab.instructor import commands as grading

if TYPE_CHECKING:
    from specdec_lab.engine import Generation
    from specdec_lab.models.loading import LoadedPair
    from specdec_lab.sampling import SamplingParams

app = typer.Typer(
    help="Speculative decoding on this machine: with and without a draft, predicted and measured.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
models = typer.Typer(help="The model pairs this machine can run.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(models, name="models")
app.add_typer(serve.serve, name="serve")
app.add_typer(grading.app, name="grade")
app.command("bench")(bench.bench)
console = Console()


class DrafterName(str, Enum):
    """The values of --drafter: those of `drafters.ladder`, and none."""

    model = "model"
    ngram = "ngram"
    suffix = "suffix"
    cascade = "cascade"
    early_exit = "early-exit"
    untrained_exit = "untrained-exit"
    medusa = "medusa"
    medusa_tree = "medusa-tree"
    eagle = "eagle"
    eagle_tree = "eagle-tree"
    none = "none"


class DType(str, Enum):
    """The values of --dtype."""

    auto = "auto"
    fp32 = "fp32"
    bf16 = "bf16"
    fp16 = "fp16"


def main() -> None:
    """Run a command; what the user can put right is one sentence and exit code 2."""
    try:
        app()
    except UserError as error:
        _stop(str(error))
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # torch's, which is not imported yet
            raise
        _stop("The device ran out of memory; take a smaller pair (specdec-lab models list), a 16-bit --dtype or fewer new tokens.")


def _stop(sentence: str) -> NoReturn:
    print(f"specdec-lab: {sentence}", file=sys.stderr)
    sys.exit(2)


@app.command()
def generate(
    prompt: Annotated[str, typer.Option(help="What to ask the model.")],
    drafter: Annotated[DrafterName, typer.Option(help="Who drafts.")] = DrafterName.model,
    k: Annotated[int, typer.Option(help="Tokens drafted a round, at most.")] = 4,
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = 0.0,
    top_k: Annotated[int, typer.Option(help="Keep the k most likely tokens; 0 is off.")] = 0,
    top_p: Annotated[float, typer.Option(help="Keep the likeliest tokens up to this mass; 1 is off.")] = 1.0,
    min_p: Annotated[float, typer.Option(help="Keep tokens this likely against the likeliest; 0 is off.")] = 0.0,
    repetition_penalty: Annotated[float, typer.Option(help="1 is off.")] = 1.0,
    stop: Annotated[list[str] | None, typer.Option(help="End the text in front of this string; may be repeated.")] = None,
    max_new_tokens: Annotated[int, typer.Option(help="Tokens to generate, at most.")] = 64,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Same seed, same tokens.")] = 0,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each kind; the speeds are medians.")] = 1,
    pair: Annotated[str, typer.Option(help="A pair of `specdec-lab models list`.")] = "auto",
    dtype: Annotated[DType, typer.Option(help="auto is fp32 on a CPU.")] = DType.auto,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page in which every token says who wrote it and how likely it was.")] = None,
) -> None:
    """Generate with and without a draft; show who wrote each token, and predicted against measured speedup."""
    from specdec_lab.sampling import SamplingParams

    params = SamplingParams(temperature, top_k, top_p, min_p, repetition_penalty)
    if not prompt.strip():
        raise UserError("The prompt is empty; say what the model should write with --prompt.")
    if k < 1 and drafter is not DrafterName.none:
        raise UserError(f"k is {k}, but a draft has at least 1 token; for plain decoding use --drafter none.")

    from specdec_lab.drafters.ladder import drafter as make_drafter
    from specdec_lab.engine import Stopping
    from specdec_lab.measure import compare
    from specdec_lab.models.loading import load_pair

    loaded = load_pair(pair, dtype.value)
    proposer = None if drafter is DrafterName.none else make_drafter(drafter.value.replace("-", " "), loaded)
    result = compare(
        loaded.target,
        loaded.encode(prompt),
        proposer,
        k=k,
        params=params,
        stopping=lambda: Stopping(max_new_tokens, loaded.eos, tuple(stop or ()), loaded.tokenizer),
        seed=seed,
        repeats=repeats,
    )
    if html:
        _write_page(html, result.speculative, loaded, params)
    if as_json:
        print(json.dumps({"text": result.speculative.text, "pair": loaded.pair.name, **result.as_dict()}, indent=2))
        return
    from specdec_lab.widgets.tokens import rich_legend, rich_text

    console.print(rich_text(result.speculative, loaded.tokenizer), "")
    console.print(rich_legend(result.speculative), "")
    console.print(_table(result.as_dict()))


def _write_page(path: Path, generation: Generation, pair: LoadedPair, params: SamplingParams) -> None:
    from specdec_lab.engine.review import review
    from specdec_lab.widgets.tokens import token_view

    view = token_view(generation, pair.tokenizer, review(generation, pair.target, pair.draft, params))
    page = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Who wrote it</title>'
    try:
        path.write_text(f"{page}<body>{view.data}</body></html>\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"The page cannot be written to {path} ({error.strerror}); give --html a file in a folder that is there.") from None


def _table(values: dict) -> Table:
    table = Table(title="Predicted, then measured", show_header=False, title_justify="left")
    for name, value in values.items():
        if value is not None:
            table.add_row(name.replace("_", " "), f"{value:.3g}" if isinstance(value, float) else str(value))
    return table


@models.command("fetch")
def fetch() -> None:
    """Download and convert the embedded model, if it is not there yet."""
    from specdec_lab.models.embedded import embedded_model

    print(f"The embedded model is in {embedded_model()}")


@models.command("export")
def export(folder: Annotated[Path, typer.Argument(help="Where to write it: a new folder, or an empty one.")]) -> None:
    """Write the course's draft as a complete model, with the target's whole vocabulary, as vLLM and others read it."""
    from specdec_lab.models.export import export_draft

    print(f"The draft is in {export_draft(folder)}")


@models.command("list")
def list_pairs() -> None:
    """The pairs of target and draft, and the memory each needs in 16 bits."""
    from specdec_lab.models.registry import PAIRS

    table = Table(
        Column("pair", no_wrap=True), Column("target, draft", no_wrap=True, min_width=35), "GiB", "licence to accept first", show_lines=True
    )
    for each in PAIRS.values():
        table.add_row(each.name, f"{each.target}\n{each.draft}", f"{each.memory_gib:.1f}", each.licence_gate or "")
    console.print(table)


@app.command()
def doctor() -> None:
    """What this machine has, what is missing, and the command that mends it. Exit code 1 if something is."""
    from specdec_lab.doctor import findings

    table = Table("", "what", Column("found", overflow="fold"), Column("what to do", overflow="fold"))
    found = findings()
    for each in found:
        table.add_row("[green]✓" if each.ok else "[red]✗", each.what, escape(each.found), "" if each.ok else escape(each.remedy))
    console.print(table)
    if not all(each.ok for each in found):
        raise typer.Exit(1)
