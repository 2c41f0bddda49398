"""What a vLLM server did, live or recorded: requests answered, counters read before and after, and the old forms it refuses.

`measure/record_served.py` makes a recording; the course's own are in `assets/serving/`, for those who have no vLLM.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from specdec_lab.errors import UserError
from specdec_lab.recorded import Files
from specdec_lab.serving.metrics import Acceptance, Counters, between
from specdec_lab.serving.setup import (
    Custom,
    DraftModel,
    Eagle3,
    Heads,
    Medusa,
    Ngram,
    NoDrafter,
    Parallel,
    Rejection,
    Sampling,
    Setup,
    Suffix,
)

FILES = Files("serving", "recording", version=1, again="python -m specdec_lab.measure.record_served FILE")
DRAFTERS: dict[str, Any] = {kind.__name__: kind for kind in (NoDrafter, DraftModel, Ngram, Suffix, Eagle3, Medusa, Custom)}


@dataclass(frozen=True)
class Served:
    """A request and its answer. `tokens`: ids of the answer. Seconds from sending it to the first token and to the last.

    workload: one of `measure.workloads`, "" for a prompt of your own.
    """

    workload: str
    prompt: str
    tokens: tuple[int, ...]
    text: str
    time_to_first_token: float
    seconds: float
    finish_reason: str

    @property
    def time_per_token(self) -> float | None:
        """Seconds from one token to the next, once the first is there; None for an answer of a single token."""
        return (self.seconds - self.time_to_first_token) / (len(self.tokens) - 1) if len(self.tokens) > 1 else None


@dataclass(frozen=True)
class ServedRun:
    """Requests answered by one server, `concurrency` of them at a time. seconds: from the first request to the last answer.

    name: "plain", "n-gram", "draft model", "random draft", "coin flip" or what else was run. before, after: the counters of
    speculation, None where the server does not speculate. p, draft_seconds: where a coin drafts (`serving.coin_flip`), the
    chance that a token stands, and the seconds that drafting one was made to take.
    """

    name: str
    setup: Setup
    concurrency: int
    seconds: float
    answers: tuple[Served, ...]
    before: Counters | None = None
    after: Counters | None = None
    p: float | None = None
    draft_seconds: float = 0.0

    @property
    def acceptance(self) -> Acceptance | None:
        """What the counters say of these requests; None without speculation."""
        return None if self.before is None or self.after is None else between(self.before, self.after)

    @property
    def tokens(self) -> int:
        """Tokens in all answers."""
        return sum(len(answer.tokens) for answer in self.answers)

    @property
    def tokens_per_second(self) -> float:
        """Of all requests together: throughput."""
        return self.tokens / self.seconds

    @property
    def median_time_to_first_token(self) -> float:
        """Seconds."""
        return median(answer.time_to_first_token for answer in self.answers)

    @property
    def median_time_per_token(self) -> float:
        """Seconds a token that one user waits: what speculation is to lower. Raises UserError if no answer has two tokens."""
        times = [answer.time_per_token for answer in self.answers if answer.time_per_token is not None]
        if not times:
            raise UserError(f"No answer of {self.name} has two tokens, so there is no time between tokens: raise max_tokens.")
        return median(times)

    @property
    def median_seconds(self) -> float:
        """Seconds of a whole request."""
        return median(answer.seconds for answer in self.answers)


@dataclass(frozen=True)
class LegacyError:
    """An old form of configuration, what vLLM said to it, and today's form as the translator gives it."""

    name: str
    form: str
    message: str
    current: str


@dataclass(frozen=True)
class Recording:
    """Runs of servers on one machine, and what they were recorded on. Models go by the course's names: no path is kept."""

    device: str
    date: str
    commit: str
    versions: dict[str, str]
    command: str
    runs: tuple[ServedRun, ...]
    errors: tuple[LegacyError, ...]

    @property
    def label(self) -> str:
        return f"recorded on {self.device}, {self.date}"

    def run(self, name: str, concurrency: int = 1, dtype: str = "bfloat16") -> ServedRun:
        """The run of that name. Raises UserError with the names there are."""
        for run in self.runs:
            if (run.name, run.concurrency, run.setup.dtype) == (name, concurrency, dtype):
                return run
        there = sorted({f"{run.name} ({run.setup.dtype}, {run.concurrency} at a time)" for run in self.runs})
        raise UserError(f"No run of {name} in {dtype}, {concurrency} at a time, was recorded; there are {', '.join(there) or 'none'}.")

    def sweep(self, name: str) -> list[ServedRun]:
        """The runs of that name that belong to one sweep over concurrency, one request at a time first."""
        found = [run for run in self.runs if run.name == name and run.setup.dtype == "bfloat16"]
        return sorted(found, key=lambda run: run.concurrency)

    def baseline(self, run: ServedRun) -> ServedRun:
        """The plain run in the same type of numbers, as many requests at a time. Raises UserError as `run` does."""
        return self.run("plain", run.concurrency, run.setup.dtype)

    def coin_flips(self) -> list[ServedRun]:
        """The runs whose acceptance was set, by k, by what drafting a token took, and by p; in float32, as their `baseline`."""
        found = [run for run in self.runs if run.p is not None]
        return sorted(found, key=lambda run: (run.setup.k, run.draft_seconds, run.p or 0.0))

    def save(self, file: Path) -> None:
        """Write the recording, a run to a line."""
        head = {"version": FILES.version, **{k: v for k, v in vars(self).items() if k not in ("runs", "errors")}}
        fields = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        fields += [f'"runs": {_lines(_run_as_json(run) for run in self.runs)}', f'"errors": {_lines(map(asdict, self.errors))}']
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{\n" + ",\n".join(fields) + "\n}\n", encoding="utf-8")


def recorded() -> list[str]:
    """The names of the recordings that come with the course."""
    return FILES.names()


def load_recording(name: str | Path) -> Recording:
    """A recording of the course by its name, or one of your own by its file. Raises UserError if it is not to be had or read."""
    return FILES.load(name, _recording)


def _recording(fields: dict[str, Any]) -> Recording:
    runs, errors = map(_run, fields.pop("runs")), (LegacyError(**error) for error in fields.pop("errors"))
    return Recording(runs=tuple(runs), errors=tuple(errors), **fields)


def setup_as_json(setup: Setup) -> dict[str, Any]:
    """The set-up as plain values, its drafter's kind by name."""
    return asdict(setup) | {"drafter": {"kind": type(setup.drafter).__name__, **asdict(setup.drafter)}}


def setup_from_json(values: dict[str, Any]) -> Setup:
    """The set-up that `setup_as_json` wrote. Raises KeyError or TypeError for anything else."""
    drafter = dict(values["drafter"])
    kind = DRAFTERS[drafter.pop("kind")]
    return Setup(
        **values
        | {
            "drafter": kind(**drafter | ({"heads": _heads(drafter["heads"])} if "heads" in drafter else {})),
            "sampling": Sampling(**values["sampling"]),
            "parallel": Parallel(**values["parallel"]),
            "rejection": Rejection(**values["rejection"]),
            "target_heads": _heads(values["target_heads"]),
        }
    )


def _heads(values: dict[str, int] | None) -> Heads | None:
    return None if values is None else Heads(**values)


def _run_as_json(run: ServedRun) -> dict[str, Any]:
    return asdict(run) | {"setup": setup_as_json(run.setup)}


def _run(values: dict[str, Any]) -> ServedRun:
    answers = tuple(Served(**answer | {"tokens": tuple(answer["tokens"])}) for answer in values["answers"])
    found = {"setup": setup_from_json(values["setup"]), "answers": answers}
    return ServedRun(**values | found | {when: _counters(values[when]) for when in ("before", "after")})


def _counters(values: dict[str, Any] | None) -> Counters | None:
    return None if values is None else Counters(**values | {"accepted_at": tuple(values["accepted_at"])})


def _lines(values: Iterable[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]"
