"""`specdec-lab serve`: a vLLM server on this machine, started, looked at, measured beside our engine, and ended."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from specdec_lab.cli.serve_report import report, write
from specdec_lab.errors import UserError

if TYPE_CHECKING:
    from specdec_lab.measure.served import ServedComparison
    from specdec_lab.measure.workloads import Workload
    from specdec_lab.models.registry import Pair
    from specdec_lab.serving.recordings import ServedRun
    from specdec_lab.serving.server import Server
    from specdec_lab.serving.setup import Drafter, Dtype, NoDrafter, Setup

serve = typer.Typer(help="A vLLM server on this machine, with speculation.", no_args_is_help=True, rich_markup_mode=None)
console = Console()


class Drafting(str, Enum):
    """The values of --drafter: who drafts inside vLLM."""

    ngram = "ngram"
    draft_model = "draft-model"
    none = "none"


class DType(str, Enum):
    """The values of --dtype. On a CPU bf16 is vLLM's fast one; in fp32 it writes the tokens that our engine writes."""

    bf16 = "bf16"
    fp16 = "fp16"
    fp32 = "fp32"


LONG: dict[DType, Dtype] = {DType.bf16: "bfloat16", DType.fp16: "float16", DType.fp32: "float32"}
DRAFTER, K, DTYPE, PAIR, PORT = Drafting.ngram, 5, DType.bf16, "cpu-default", 8000
Timeout = Annotated[float, typer.Option(min=1, help="Seconds until the server has to be ready.")]


@serve.command()
def start(
    drafter: Annotated[Drafting, typer.Option(help="Who drafts.")] = DRAFTER,
    k: Annotated[int, typer.Option(help="Tokens drafted a round.")] = K,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the server listens, for this machine alone.")] = PORT,
    dtype: Annotated[DType, typer.Option(help="The numbers it computes in.")] = DTYPE,
    pair: Annotated[str, typer.Option(help="A pair of `specdec-lab models list`.")] = PAIR,
    max_model_len: Annotated[int, typer.Option(help="Tokens of prompt and answer together, at most.")] = 2048,
    timeout: Timeout = 300,
) -> None:
    """Start a server and leave it running."""
    from specdec_lab.serving import state

    if (noted := state.noted()) and noted.alive:
        raise UserError(f"A server runs already at {noted.url}: end it first, with `specdec-lab serve stop`.")
    with _interruptible():
        server = _start(_setup(pair, drafter, k, dtype, max_model_len), port, timeout)
        try:
            state.note(server)
            server.release()
        except BaseException:
            server.stop()
            raise
    console.print(f"{_describe(server.setup)} is served at {server.url} as the model\n  {server.model}", soft_wrap=True, highlight=False)
    print(f"Its log is {server.log}\nNext: specdec-lab serve bench, and at the end specdec-lab serve stop")


@serve.command()
def status() -> None:
    """What runs. Exit code 1 if no server does."""
    from specdec_lab.serving import state
    from specdec_lab.serving.log import cause

    server = state.noted()
    if server is None:
        print("No server runs; `specdec-lab serve start` starts one.")
        raise typer.Exit(1)
    since = datetime.fromtimestamp(server.started).strftime("%Y-%m-%d %H:%M:%S")
    if not server.alive:
        left = "; some of its processes are left, which `specdec-lab serve stop` ends" if server.processes() else ""
        print(f"The server started on {since} no longer runs: {cause(server.log)}; its log is {server.log}{left}")
        raise typer.Exit(1)
    answering = "answers" if server.healthy else "does not answer"
    print(f"{_describe(server.setup)} {answering} at {server.url}, process {server.pid}, since {since}")
    print(f"log      {server.log}\ncommand  {shlex.join(server.command)}")
    if server.healthy and server.speculates:
        counted = server.counters()
        print(f"so far   {counted.drafts} rounds drafted {counted.draft_tokens} tokens, of which {counted.accepted_tokens} were accepted")


@serve.command()
def stop() -> None:
    """End the server that `start` left running, and all its processes."""
    from specdec_lab.serving import state

    server = state.noted()
    if server is None:
        print("No server runs: there is nothing to stop.")
        return
    ran = server.alive
    server.stop()
    state.forget()
    print(f"The server at {server.url} has ended." if ran else "The server had ended before: its note is deleted.")


@serve.command()
def bench(
    workload: Annotated[str, typer.Option(help="A workload of the course, or the YAML file of your own.")] = "code-edit",
    prompts: Annotated[int, typer.Option(min=1, help="Prompts of it, at most.")] = 5,
    max_new_tokens: Annotated[int, typer.Option(min=2, help="Tokens of an answer, at most.")] = 64,
    concurrency: Annotated[str, typer.Option(help="Requests at a time, as in 1,4,16: a run each.")] = "1",
    drafter: Annotated[Drafting | None, typer.Option(help="Who drafts; ngram by default.")] = None,
    k: Annotated[int | None, typer.Option(help="Tokens drafted a round; 5 by default.")] = None,
    dtype: Annotated[DType | None, typer.Option(help="The numbers it computes in; bf16 by default.")] = None,
    pair: Annotated[str | None, typer.Option(help="A pair of `specdec-lab models list`; cpu-default by default.")] = None,
    plain: Annotated[bool, typer.Option(help="Measure a server without a drafter too, for the speedup.")] = True,
    ours: Annotated[bool, typer.Option(help="Decode the same prompts with our engine.")] = True,
    file: Annotated[Path | None, typer.Option("--json", help="Write all numbers, texts and tokens.")] = None,
    timeout: Timeout = 300,
) -> None:
    """Greedy answers of vLLM with a drafter, without one, and of our engine: acceptance, speed, and whether the tokens are the same.

    It measures the server that runs, else one of its own, which has ended when it is done.
    """
    from specdec_lab.serving import state

    users = _concurrencies(concurrency)
    chosen = _workload(workload)
    _check_file(file)
    noted = state.noted()
    running = noted if noted and noted.alive else None
    given = [name for name, value in (("drafter", drafter), ("k", k), ("dtype", dtype), ("pair", pair)) if value is not None]
    if running and given:
        way_out = f"leave out --{given[0]}, or end it first with `specdec-lab serve stop`"
        raise UserError(f"The server at {running.url} runs already, with {_describe(running.setup)}: {way_out}.")
    setup = running.setup if running else _setup(pair or PAIR, drafter or DRAFTER, K if k is None else k, dtype or DTYPE, 2048)
    texts = [each.text for each in chosen.prompts[:prompts]]
    with _interruptible():
        speculative = _measure(setup, running, texts, chosen.name, users, max_new_tokens, timeout)
        baseline = []
        if plain and speculative[0].before is not None:
            without = replace(setup, drafter=_no_drafter(), k=0, port=None)
            baseline = _measure(without, None, texts, chosen.name, users, max_new_tokens, timeout)
        comparison = _compare(speculative[0], setup) if ours else None
    report(console, speculative, baseline, comparison)
    if file:
        write(file, setup, speculative + baseline, comparison)


def _concurrencies(text: str) -> list[int]:
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise UserError(f"--concurrency is {text!r}: give numbers from 1 on with commas between them, such as 1,4,16.")
    return found


def _check_file(file: Path | None) -> None:
    """Before minutes of measuring."""
    if file and not file.absolute().parent.is_dir():
        raise UserError(f"{file} cannot be written, as its folder is not there: give --json a file in a folder that is.")


def _workload(name: str) -> Workload:
    from specdec_lab.measure.workloads import load_workload, workload

    return load_workload(name) if name.endswith((".yaml", ".yml")) else workload(name)


def _setup(pair: str, drafter: Drafting, k: int, dtype: DType, max_model_len: int) -> Setup:
    """The pair served with that drafter. The course's own models are looked for in the cache, and made there on first use."""
    from specdec_lab.models.registry import DEFAULT, find_pair
    from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup

    found = find_pair(pair)
    target, draft = found.target, found.draft
    if found == DEFAULT:
        from specdec_lab.models.embedded import embedded_model
        from specdec_lab.models.export import exported_draft

        target = str(embedded_model())
        draft = str(exported_draft()) if drafter is Drafting.draft_model else ""
    makers: dict[Drafting, Callable[[], Drafter]] = {
        Drafting.ngram: Ngram,
        Drafting.none: NoDrafter,
        Drafting.draft_model: lambda: DraftModel(draft),
    }
    return Setup(target, makers[drafter](), 0 if drafter is Drafting.none else k, LONG[dtype], max_model_len=max_model_len)


def _no_drafter() -> NoDrafter:
    from specdec_lab.serving.setup import NoDrafter

    return NoDrafter()


def _describe(setup: Setup) -> str:
    from specdec_lab.serving.load import name_of

    drafting = "without a drafter" if setup.k == 0 else f"with {name_of(setup.drafter)}, k={setup.k}"
    return f"{Path(setup.target).name} {drafting}, in {setup.dtype}"


def _start(setup: Setup, port: int | None, timeout: float) -> Server:
    from specdec_lab.serving import environment, server

    vllm = environment.require()
    with _progress(f"Starting {vllm}") as tell:
        return server.start(setup, vllm, port, tell, timeout)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    """One line that is written again and again; where nobody watches, nothing but its first words."""
    if not console.is_terminal:
        print(f"{what} ...", file=sys.stderr, flush=True)
        yield lambda line: None
        return
    with console.status(what) as shown:
        yield lambda line: shown.update(f"{what}, {line}")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C is one sentence. Servers that were started have ended by then: they are context managers."""
    try:
        yield
    except KeyboardInterrupt:
        print("specdec-lab: Interrupted; what it started has ended.", file=sys.stderr)
        raise typer.Exit(130) from None


def _measure(
    setup: Setup, running: Server | None, texts: list[str], workload: str, users: list[int], max_tokens: int, timeout: float
) -> list[ServedRun]:
    from specdec_lab.serving import load

    with nullcontext(running) if running else _start(setup, None, timeout) as server, _progress(f"Asking {_describe(setup)}") as tell:

        def one(users: int) -> ServedRun:
            def say(done: int) -> None:
                tell(f"{users} at a time: {done} of {len(texts)}")

            return load.run(server, texts, users, max_tokens, workload=workload, on_answer=say)

        return [one(n) for n in users]


def _compare(run: ServedRun, setup: Setup) -> ServedComparison:
    from specdec_lab.measure.served import compare_served
    from specdec_lab.models.loading import load_pair

    short = next(kind.value for kind, long in LONG.items() if long == setup.dtype)
    with _progress("Decoding the same prompts with our engine") as tell:
        loaded = load_pair(_pair_of(setup), short)
        return compare_served(run, loaded, on_prompt=lambda i: tell(f"{i} of {len(run.answers)}"))


def _pair_of(setup: Setup) -> Pair:
    from specdec_lab.models.registry import DEFAULT, PAIRS
    from specdec_lab.serving.setup import DraftModel

    for pair in PAIRS.values():
        drafts = not isinstance(setup.drafter, DraftModel) or setup.drafter.model == pair.draft
        if pair.target == setup.target and drafts:
            return pair
    return DEFAULT
