"""Measure what a plan asks for and is not there yet, a task at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import torch

from specdec_lab.drafters.interface import Drafter
from specdec_lab.drafters.ladder import drafter
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.measure.bench.plan import BATCH_STEPS, BatchTask, Plan, Task, TextTask
from specdec_lab.measure.bench.records import BatchRecord, PairRecord, TextRecord
from specdec_lab.measure.bench.store import Store
from specdec_lab.measure.compare import compare
from specdec_lab.measure.crossover import crossover
from specdec_lab.measure.roofline import measure_bandwidth, measure_flop_rate
from specdec_lab.models.interface import LanguageModel
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.placement import release
from specdec_lab.sampling import SamplingParams


class Done(NamedTuple):
    """A task that was measured just now, and the seconds that took."""

    task: Task
    seconds: float


def bench(plan: Plan, store: Store, load: Callable[[str], LoadedPair]) -> Iterator[Done]:
    """Measure every task of the plan that `store` has no record of, and write each down at once.

    load: the pair for a dtype. Raises UserError for whatever cannot be measured; what was measured before stays.
    """
    tasks = plan.tasks
    for dtype in plan.dtypes:
        left = [task for task in tasks if task.dtype == dtype and task.key not in store.records]
        if not left:
            continue
        pair = load(dtype)
        drafters = {name: drafter(name, pair) for name in plan.drafters}
        _bounds(store, dtype, pair)
        for task in left:
            began = perf_counter()
            record = _text(plan, task, pair, drafters[task.drafter]) if isinstance(task, TextTask) else _batch(plan, task, pair)
            store.add(task.key, record.as_dict())
            yield Done(task, perf_counter() - began)
        del pair, drafters
        release()


def _bounds(store: Store, dtype: str, pair: LoadedPair) -> None:
    """Note which pair this is and what its machine could do at best, or see that it is the one of before."""
    key = f"pair/{dtype}"
    if held := store.records.get(key):
        if held["pair"] != pair.pair.name:
            raise UserError(
                f"{store.file.parent} was measured with {held['pair']}, but now {pair.pair.name} was loaded; name one with --pair and give "
                "another --out, or load the one of before."
            )
        return
    kind = _dtype(pair.target)
    record = PairRecord(
        pair=pair.pair.name,
        dtype=str(kind).removeprefix("torch."),
        bytes_per_parameter=kind.itemsize,
        bandwidth=measure_bandwidth(pair.target.device),
        flop_rate=measure_flop_rate(kind, pair.target.device),
    )
    store.add(key, record.as_dict())


def _dtype(model: LanguageModel) -> torch.dtype:
    inner = getattr(model, "model", None)
    return torch.float64 if inner is None else inner.dtype  # a toy's logits


def _text(plan: Plan, task: TextTask, pair: LoadedPair, proposer: Drafter) -> TextRecord:
    prompt = plan.prompt(task)
    run = compare(
        pair.target,
        pair.encode(prompt.text),
        proposer,
        k=task.k,
        params=SamplingParams(temperature=prompt.temperature),
        stopping=lambda: Stopping(prompt.max_new_tokens, pair.eos),
        seed=task.repeat,
    )
    return TextRecord.of(run, prompt.temperature, lambda ids: str(pair.tokenizer.decode(ids)))


def _batch(plan: Plan, task: BatchTask, pair: LoadedPair) -> BatchRecord:
    def make(target: LanguageModel, draft: LanguageModel | None) -> Drafter:
        return drafter(task.drafter, replace(pair, draft=draft))  # type: ignore[arg-type]  # heads are loaded for the model itself

    prompts = [pair.encode(prompt.text) for prompt in plan.batch_prompts(task.batch)]
    (point,) = crossover(pair.target, pair.draft, prompts, task.k, (task.batch,), make, steps=BATCH_STEPS)
    return BatchRecord.of(point)
