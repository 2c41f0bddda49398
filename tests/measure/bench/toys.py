"""A bench of toys: a pair that is loaded at once, workloads of a few words, made-up records. As a program it is the command on toys."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from specdec_lab import cli
from specdec_lab.engine.metrics import Metrics
from specdec_lab.measure.bench import Plan, run
from specdec_lab.measure.bench.records import BatchRecord, TextRecord
from specdec_lab.measure.workloads import Prompt, Workload
from specdec_lab.models import loading
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.registry import find_pair
from specdec_lab.models.toy import markov_lm
from tests.measure.toys import Slow
from tests.support import PieceTokenizer, ids, rounds

BOUNDS = (10e9, 40e9)  # bytes and FLOP a second: with the 8 bytes of a toy's logits, a ridge of 16 tokens


@dataclass(frozen=True)
class ToyPair(LoadedPair):
    def encode(self, text: str) -> Any:
        return ids(*(len(word) % 12 for word in text.split()))


def toy_pair(dtype: str = "auto", seconds: float = 0.0) -> ToyPair:
    target = markov_lm(3, 12)
    draft = markov_lm(4, 12, like=target, drift=0.3)
    models: list[Any] = [Slow(target, seconds), Slow(draft, seconds / 4)]
    models[1].name = "draft"
    return ToyPair(find_pair("qwen2.5-3b"), *models, PieceTokenizer("abcdefghijkl"), frozenset())  # type: ignore[arg-type]


def workload(name: str, *temperatures: float, tokens: int = 40) -> Workload:
    prompts = tuple(Prompt(f"{name} is number {'x' * i}" + " and so on" * i, t, tokens) for i, t in enumerate(temperatures))
    return Workload(name, f"About {name}.", prompts)


def plan(**changes: Any) -> Plan:
    usual: dict[str, Any] = {
        "workloads": (workload("letters", 0.0, 0.0, 0.0), workload("verses", 0.0, 0.8, 1.0)),
        "drafters": ("model", "ngram"),
        "k": (2, 3),
        "batches": (1, 2),
        "max_new_tokens": 6,
    }
    return Plan(**{**usual, **changes})


def metrics(*accepted: int, k: int) -> Metrics:
    return Metrics.of(rounds(*accepted, k=k))


def text_record(
    *accepted: int, k: int = 4, temperature: float = 0.0, verify: float = 1.0, drafting: float = 0.2, overhead: float = 0.1,
    slower: float = 1.0, identical: bool | None = True,
) -> TextRecord:  # fmt: skip
    """Rounds that accept so many of k. slower: how much longer they take than their parts."""
    m = metrics(*accepted, k=k)
    predicted = m.tokens / m.rounds / (verify + drafting + overhead)
    speedup = predicted / slower
    return TextRecord(
        temperature=temperature, metrics=m, tokens_per_second=20 * speedup, baseline_tokens_per_second=20.0, first_token=0.2,
        baseline_first_token=0.15, speedup=speedup, predicted_speedup=predicted, efficiency=1 / slower, verify=verify, drafting=drafting,
        overhead=overhead, milliseconds={"target": 20.0, "drafting": 5.0, "bookkeeping": 1.0, "plain": 50.0}, identical=identical,
        first_difference=3 if identical is False else None, differs=("a", "b") if identical is False else None,
    )  # fmt: skip


def batch_record(*accepted: int, k: int = 4, verify: float = 1.0, drafting: float = 0.2, overhead: float = 0.1) -> BatchRecord:
    text = text_record(*accepted, k=k, verify=verify, drafting=drafting, overhead=overhead)
    return BatchRecord(
        metrics=text.metrics, tokens_per_second=40 * text.speedup, plain_tokens_per_second=40.0, speedup=text.speedup,
        predicted_speedup=text.predicted_speedup, efficiency=1.0, verify=verify, drafting=drafting, overhead=overhead,
        v=verify, identical=True,
    )  # fmt: skip


PAIR = {"pair": "toys", "dtype": "float64", "bytes_per_parameter": 8, "bandwidth": BOUNDS[0], "flop_rate": BOUNDS[1]}


def records(plan: Plan, text: TextRecord | None = None, batch: BatchRecord | None = None) -> dict[str, dict[str, Any]]:
    """One and the same for every task of a plan."""
    out: dict[str, dict[str, Any]] = {f"pair/{dtype}": PAIR for dtype in plan.dtypes}
    for task in plan.tasks:
        is_text = task.key.startswith("text")
        out[task.key] = ((text or text_record(2, 4, 0, k=task.k)) if is_text else (batch or batch_record(2, 4, 0, k=task.k))).as_dict()
    return out


def on_toys(seconds: float) -> None:
    """Have the package load toys, and know this machine without measuring it."""
    loading.load_pair = lambda name, dtype: toy_pair(dtype, seconds)  # type: ignore[assignment,misc]
    run.measure_bandwidth, run.measure_flop_rate = (lambda device: BOUNDS[0]), (lambda dtype, device: BOUNDS[1])  # type: ignore[assignment]


if __name__ == "__main__":
    on_toys(float(sys.argv.pop(1)))
    cli.main()
