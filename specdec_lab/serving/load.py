"""Load on a server: requests of so many users at a time, with what the counters of speculation say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from time import perf_counter
from typing import Any

from specdec_lab.errors import UserError
from specdec_lab.serving import client
from specdec_lab.serving.recordings import Served, ServedRun
from specdec_lab.serving.server import Server
from specdec_lab.serving.setup import Drafter, DraftModel, Ngram, NoDrafter

NAMES: dict[type, str] = {NoDrafter: "plain", Ngram: "n-gram", DraftModel: "draft model"}


class _Cancelled(Exception):
    """The user no longer wants the answer."""


def run(
    server: Server,
    prompts: Sequence[str | Sequence[int]],
    concurrency: int = 1,
    max_tokens: int = 128,
    temperature: float = 0.0,
    name: str | None = None,
    workload: str = "",
    ignore_eos: bool = False,
    on_answer: Callable[[int], None] = lambda done: None,
) -> ServedRun:
    """Ask all prompts, `concurrency` at a time, in their order: what a user says (it is put into the chat template), or token ids.

    Nobody else may use the server meanwhile: the counters count everybody. on_answer: is told how many answers are there. Raises
    UserError if the server ends, with the reason; what Ctrl-C leaves of the requests ends with their next token.
    """
    if not prompts:
        raise UserError("There are no prompts to ask: give at least one.")
    if concurrency < 1:
        raise UserError(f"concurrency is {concurrency}, but has to be 1 or more: it counts the requests under way.")
    cancelled = Event()

    def one(prompt: str | Sequence[int]) -> Served:
        def listen(piece: str) -> None:
            if cancelled.is_set():
                raise _Cancelled

        asked = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        answer = client.ask(server.url, server.model, asked, max_tokens, temperature, ignore_eos=ignore_eos, on_token=listen)
        shown = prompt if isinstance(prompt, str) else " ".join(map(str, prompt))
        return Served(workload, shown, answer.tokens, answer.text, answer.time_to_first_token, answer.seconds, answer.finish_reason)

    before = server.counters() if server.speculates else None
    began = perf_counter()
    answers = server.check(lambda: _all(one, prompts, concurrency, cancelled, on_answer))
    seconds = perf_counter() - began
    after = server.counters() if server.speculates else None
    return ServedRun(name or name_of(server.setup.drafter), server.setup, concurrency, seconds, tuple(answers), before, after)


def sweep(
    server: Server,
    prompts: Sequence[str | Sequence[int]],
    concurrencies: Sequence[int] = (1, 2, 4, 8, 16),
    max_tokens: int = 128,
    **options: Any,
) -> Iterator[ServedRun]:
    """The same prompts at each concurrency, one run after the other; options are those of `run`."""
    for concurrency in concurrencies:
        yield run(server, prompts, concurrency, max_tokens, **options)


def name_of(drafter: Drafter) -> str:
    """What a run with this drafter is called."""
    return NAMES.get(type(drafter), type(drafter).__name__.lower())


def _all(one: Callable, prompts: Sequence, concurrency: int, cancelled: Event, on_answer: Callable[[int], None]) -> list[Served]:
    """The answers in the order of the prompts. The first error, or Ctrl-C, cancels the rest."""
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="request")
    futures = [pool.submit(one, prompt) for prompt in prompts]
    try:
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            on_answer(done)
        return [future.result() for future in futures]
    finally:
        cancelled.set()
        pool.shutdown(wait=False, cancel_futures=True)
