"""Many texts at once: each runs the loop as if it were alone, and the passes they ask for are fed together.

    pool = Pool()
    target, draft = pool.share(pair.target), pool.share(pair.draft)
    runs = pool.run([partial(generate, target, prompt, ModelDrafter(draft, target.vocab_size)) for prompt in prompts])

Rows accept different numbers of tokens in a round, so their contexts drift apart; each row's own loop keeps its own books, and
nothing in it knows of the others (gpt-fast#209 is what happens where a batch shares them).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from specdec_lab.engine.loop import Generation
from specdec_lab.errors import UserError
from specdec_lab.models.batched import Batched, Call, OneByOne
from specdec_lab.models.hf import HFModel
from specdec_lab.models.interface import Cache, LanguageModel

T = TypeVar("T")


@dataclass(frozen=True)
class BatchPass:
    """One pass of a shared model: the texts in it, the tokens of the one with most, and its seconds."""

    model: str
    rows: int
    tokens: int
    seconds: float


class Shared:
    """A model as the rows of a pool see it: a call waits until the others ask as well. Raises UserError if no row calls it."""

    def __init__(self, model: LanguageModel, rank: int) -> None:
        self.name, self.vocab_size, self.max_context, self.device = model.name, model.vocab_size, model.max_context, model.device
        self.rank, self.batched = rank, Batched(model) if isinstance(model, HFModel) else OneByOne(model)

    def new_cache(self) -> Cache:
        return self.batched.new_cache()

    def __call__(self, input_ids: Tensor, cache: Any, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        row = threading.current_thread()
        if not isinstance(row, _Row):
            raise UserError(f"{self.name} is shared by the rows of a pool, but was called outside them; use the model itself there.")
        return row.ask(self, Call(input_ids, cache, logits_to_keep, mask))


class Pool:
    """Runs rows side by side. `passes` and `seconds` are those of the last run.

    Share the target first and what drafts for it after it: while any row still drafts, no pass of the target is made.
    """

    def __init__(self) -> None:
        self.passes: list[BatchPass] = []
        self.seconds = 0.0
        self._shared = 0

    def share(self, model: LanguageModel) -> Shared:
        """The model to give to the rows in its place."""
        self._shared += 1
        return Shared(model, rank=self._shared)

    def run(self, rows: Sequence[Callable[[], T]]) -> list[T]:
        """Call all of `rows`, any functions that ask shared models; their results, in order.

        Raises what the first row to fail raised, and ends the others.
        """
        self.passes, began, threads = [], perf_counter(), torch.get_num_threads()
        running = [_Row(row) for row in rows]
        try:
            for row in running:
                row.start()
                row.resume(None)
            while asking := [row for row in running if row.asked]:
                self._feed(asking)
        finally:
            for row in running:
                row.stop()
            torch.set_num_threads(threads)  # a row's setting is also that of threads still to come
            self.seconds = perf_counter() - began
        return [row.result for row in running]

    def _feed(self, asking: Sequence[_Row]) -> None:
        """One pass, for all rows that ask for the model shared last among those asked for; and what the rows do until they ask again."""
        model = max((row.asked[0] for row in asking), key=lambda shared: shared.rank)
        rows = [row for row in asking if row.asked[0] is model]
        calls = [row.asked[1] for row in rows]
        began = perf_counter()
        logits = model.batched.feed(calls)
        logits[0][..., -1, :1].cpu()  # waits for a GPU
        self.passes.append(BatchPass(model.name, len(rows), max(call.tokens for call in calls), perf_counter() - began))
        for row, answer in zip(rows, logits, strict=True):
            row.resume(answer)


def throughput(runs: Sequence[Generation]) -> float:
    """New tokens a second over all rows of a run, from the end of the prompts' reading to that of the longest row."""
    return sum(len(run.tokens) for run in runs) / max(run.decode_seconds for run in runs)


class _Stopped(BaseException):
    """Ends a row from within."""


class _Row(threading.Thread, Generic[T]):
    """A function that stands still wherever it asks a shared model. Of all rows and the pool only one runs at a time."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._work, self._go, self._still = work, threading.Semaphore(0), threading.Semaphore(0)
        self._caches: dict[int, tuple[Shared, Any]] = {}
        self._stopped, self._error = False, None  # type: bool, BaseException | None
        self.asked: Any = None  # the (Shared, Call) it waits for
        self.result: Any = None

    def run(self) -> None:
        torch.set_num_threads(1)  # two would go on spinning on their cores for a while, in the way of the pass that follows
        try:
            self._wait()
            self.result = self._work()
        except _Stopped:
            pass
        except BaseException as error:
            self._error = error
        for shared, cache in self._caches.values():
            shared.batched.release(cache)
        self._still.release()

    def resume(self, answer: Tensor | None) -> None:
        """Go on with this answer, until it asks again or ends. Raises what it raised."""
        self.asked, self._answer = None, answer
        self._go.release()
        self._still.acquire()
        if self._error:
            raise self._error

    def ask(self, shared: Shared, call: Call) -> Tensor:
        """Called by the row itself: stand still until there is an answer."""
        self._caches[id(call.cache)] = (shared, call.cache)
        self.asked = (shared, call)
        self._still.release()
        self._wait()
        assert self._answer is not None
        return self._answer

    def stop(self) -> None:
        """End it, wherever it stands."""
        self._stopped = True
        self._go.release()
        if self.ident:
            self.join()

    def _wait(self) -> None:
        self._go.acquire()
        if self._stopped:
            raise _Stopped
