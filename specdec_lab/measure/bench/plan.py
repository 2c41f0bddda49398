"""What a bench is to measure, and in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import Any, NamedTuple

from specdec_lab.drafters.ladder import FOR_EVERY_PAIR, WITH_TRAINED_PARTS
from specdec_lab.errors import UserError
from specdec_lab.measure.workloads import Prompt, Workload
from specdec_lab.sampling import SamplingParams

DTYPES = ("auto", "fp32", "bf16", "fp16")
LONGEST_DRAFT, LARGEST_BATCH = 32, 64
BATCH_STEPS = 8  # plain steps of every text of a batch, each time it is its turn


class TextTask(NamedTuple):
    """One prompt decoded plainly and speculatively. temperature: None is the prompt's own."""

    dtype: str
    workload: str
    temperature: float | None
    drafter: str
    k: int
    prompt: int  # counted from 0
    repeat: int

    @property
    def key(self) -> str:
        warmth = "own" if self.temperature is None else f"{self.temperature:g}"
        return f"text/{self.dtype}/{self.workload}/{warmth}/{self.drafter}/{self.k}/{self.prompt}/{self.repeat}"


class BatchTask(NamedTuple):
    """A batch of texts decoded plainly and speculatively, at temperature 0."""

    dtype: str
    drafter: str
    k: int
    batch: int
    repeat: int

    @property
    def key(self) -> str:
        return f"batch/{self.dtype}/{self.drafter}/{self.k}/{self.batch}/{self.repeat}"


Task = TextTask | BatchTask


@dataclass(frozen=True)
class Plan:
    """Every combination of these. Raises UserError for what cannot be measured.

    prompts: of each workload, from its first on. temperatures: None is each prompt's own. max_new_tokens: a cap on what the
    prompts ask for. batches: empty for none.
    """

    workloads: tuple[Workload, ...]
    drafters: tuple[str, ...] = ("model", "ngram")
    k: tuple[int, ...] = (4,)
    temperatures: tuple[float | None, ...] = (None,)
    dtypes: tuple[str, ...] = ("auto",)
    batches: tuple[int, ...] = (1, 4, 16)
    prompts: int = 2
    max_new_tokens: int = 32
    repeats: int = 1
    pair: str = "auto"

    def __post_init__(self) -> None:
        for name, values in (("workload", [w.name for w in self.workloads]), ("drafter", self.drafters), ("k", self.k),
                             ("temperature", self.temperatures), ("dtype", self.dtypes)):  # fmt: skip
            if not values:
                raise UserError(f"There is no {name} to measure; name at least one.")
            _once(name, values)
        _once("batch size", self.batches)
        for name, known in (("drafter", (*FOR_EVERY_PAIR, *WITH_TRAINED_PARTS)), ("dtype", DTYPES)):
            for value in getattr(self, f"{name}s"):
                _known(name, value, known)
        for k in self.k:
            _within("k", k, LONGEST_DRAFT)
        for batch in self.batches:
            _within("A batch", batch, LARGEST_BATCH)
        for name in ("prompts", "max_new_tokens", "repeats"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}, but has to be 1 or more.")
        for temperature in self.temperatures:
            SamplingParams(temperature=temperature or 0.0)

    @property
    def tasks(self) -> list[Task]:
        """In the order in which they are run: all repeats of a dtype before the next, since its models are loaded once.

        All ways of decoding a prompt follow one another, and all prompts come before the next repeat: a machine that slows down in the
        course of a bench slows all of them alike.
        """
        out = list[Task]()
        for dtype, repeat in product(self.dtypes, range(self.repeats)):
            for workload in self.workloads:
                for prompt, *cell in product(range(len(self.prompts_of(workload))), self.temperatures, self.drafters, self.k):
                    out.append(TextTask(dtype, workload.name, *cell, prompt, repeat))  # type: ignore[call-arg,arg-type]
            for batch, drafter, k in product(self.batches, self.drafters, self.k):
                out.append(BatchTask(dtype, drafter, k, batch, repeat))
        return out

    def prompts_of(self, workload: Workload) -> tuple[Prompt, ...]:
        return workload.prompts[: self.prompts]

    def prompt(self, task: TextTask) -> Prompt:
        """With the temperature and the length of this bench."""
        own = next(w for w in self.workloads if w.name == task.workload).prompts[task.prompt]
        temperature = own.temperature if task.temperature is None else task.temperature
        return Prompt(own.text, temperature, min(own.max_new_tokens, self.max_new_tokens))

    def batch_prompts(self, batch: int) -> list[Prompt]:
        """The texts of a batch: the first prompt of each workload, then the second of each, and from the first again if that is too few."""
        mixed = [w.prompts[i] for i in range(self.prompts) for w in self.workloads if i < len(w.prompts)]
        return [mixed[i % len(mixed)] for i in range(batch)]

    def weight(self, task: Task) -> float:
        """Roughly how long it takes beside the others, in tokens of one text."""
        if isinstance(task, TextTask):
            return self.prompt(task).max_new_tokens + 8
        return 4 * BATCH_STEPS * (1 + task.batch / 6)

    def as_dict(self) -> dict[str, Any]:
        """What makes two plans the same: every argument, and the words of every prompt."""
        workloads = {w.name: _fingerprint(self.prompts_of(w)) for w in self.workloads}
        return {**{name: _plain(value) for name, value in vars(self).items()}, "workloads": workloads}


def _once(name: str, values: Sequence[object]) -> None:
    if twice := [value for value in values if values.count(value) > 1]:
        raise UserError(f"The {name} {'own' if twice[0] is None else twice[0]} is there twice; name it once.")


def _known(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        close = get_close_matches(value, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UserError(f"There is no {name} {value!r}; {hint}There are {', '.join(known)}.")


def _within(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise UserError(f"{name} is {value}, but has to be between 1 and {most}.")


def _fingerprint(prompts: Sequence[Prompt]) -> str:
    return hashlib.sha256(repr([tuple(vars(p).values()) for p in prompts]).encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
