"""Predict, then measure: one prompt decoded plainly and speculatively, and the speedup that its parts add up to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import islice
from statistics import mean, median
from time import perf_counter

from torch import Tensor

from specdec_lab.drafters.interface import Drafter
from specdec_lab.engine.loop import GREEDY, Generation, Verify, stream
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.measure.cost import Pass, bare_passes
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import Rng, SamplingParams, SeededRng


@dataclass(frozen=True)
class Comparison:
    """Plain and speculative decoding of one prompt on one machine, and what was to be expected.

        predicted = mean acceptance length / (verify + c drafted + overhead), a round, in plain decoding steps

    This is `closed_forms.speedup` without its two assumptions, that every round drafts k tokens and that each stands with
    one and the same p: what was drafted and accepted is counted. `verify` is not read off the run: after each round a bare
    pass of the target over as many tokens is timed. So what the prediction claims, and `efficiency` tests, is
    that a round costs such a pass, its drafting and its bookkeeping, and nothing else (under sampling, making laws of the logits
    counts against it). Whether one p describes the text is
    another question: compare with `closed_forms.speedup(k, alpha, c, verify, overhead)`.
    """

    baseline: Generation  # the first plain run, and
    speculative: Generation  # the first speculative one
    greedy: bool
    baseline_tokens_per_second: float  # these five are medians over the repeats
    tokens_per_second: float
    pass_seconds: float  # a round: a bare pass of the target over its draft and one token more
    draft_seconds: float  # a round: drafting
    overhead_seconds: float  # a round: all but drafting and verifying

    @property
    def metrics(self) -> Metrics:
        return self.speculative.metrics

    @property
    def speedup(self) -> float:
        """Measured: tokens a second over those of plain decoding, prompt reading left out of both."""
        return self.tokens_per_second / self.baseline_tokens_per_second

    @property
    def predicted_speedup(self) -> float:
        round_seconds = self.pass_seconds + self.draft_seconds + self.overhead_seconds
        return self.metrics.tokens / self.metrics.rounds / self._steps(round_seconds)

    @property
    def efficiency(self) -> float:
        """Measured over predicted speedup."""
        return self.speedup / self.predicted_speedup

    @property
    def verify(self) -> float:
        """`pass_seconds` in plain decoding steps: v(k + 1) where every round drafts k tokens."""
        return self._steps(self.pass_seconds)

    @property
    def c(self) -> float | None:
        """Drafting one token, in plain decoding steps. None if nothing was drafted."""
        return self._steps(self.draft_seconds) * self.metrics.rounds / self.metrics.drafted if self.metrics.drafted else None

    @property
    def overhead(self) -> float:
        """`overhead_seconds` in plain decoding steps."""
        return self._steps(self.overhead_seconds)

    def _steps(self, seconds: float) -> float:
        return seconds * self.baseline_tokens_per_second  # a plain step emits one token

    @property
    def first_difference(self) -> int | None:
        """The first new token, counted from 0, at which the two texts part. None if they do not.

        The end counts as a token, so that one text being the start of the other is a difference too.
        """
        plain, ours = self.baseline.tokens, self.speculative.tokens
        if plain == ours:
            return None
        return next((i for i, (a, b) in enumerate(zip(plain, ours, strict=False)) if a != b), min(len(plain), len(ours)))

    @property
    def identical_to_baseline(self) -> bool | None:
        """Whether both runs wrote the same tokens. None when sampling: there the laws are equal, not the draws."""
        return self.first_difference is None if self.greedy else None

    def __str__(self) -> str:
        drafted = "" if self.c is None else f", a drafted token {self.c:.2f}"
        return (
            f"tokens a pass   {self.metrics.mean_acceptance_length:.2f}\n"
            f"in plain steps  a target pass {self.verify:.2f}{drafted}, bookkeeping {self.overhead:.2f} a round\n"
            f"speedup         predicted {self.predicted_speedup:.2f}, measured {self.speedup:.2f}"
        )

    def as_dict(self) -> dict[str, float | bool | None]:
        m = self.metrics
        return {
            "tokens": m.tokens,
            "rounds": m.rounds,
            "drafted": m.drafted,
            "accepted": m.accepted,
            "acceptance_rate": m.acceptance_rate,
            "alpha": m.alpha,
            "mean_acceptance_length": m.mean_acceptance_length,
            "tokens_per_second": self.tokens_per_second,
            "baseline_tokens_per_second": self.baseline_tokens_per_second,
            "speedup": self.speedup,
            "predicted_speedup": self.predicted_speedup,
            "efficiency": self.efficiency,
            "identical_to_baseline": self.identical_to_baseline,
        }


def milliseconds_per_token(run: Comparison) -> dict[str, float]:
    """What the speculative run spent on each token it wrote, by part, and plain decoding in all.

    target: its passes, the verdicts and its rollback; drafting; bookkeeping: the rest. With one repeat, these three add up to
    the time of the run.
    """
    rounds = run.speculative.rounds
    per_token = 1000 / run.metrics.tokens
    return {
        "target": per_token * sum(r.verify_seconds for r in rounds),
        "drafting": per_token * sum(r.draft_seconds for r in rounds),
        "bookkeeping": per_token * sum(r.seconds - r.draft_seconds - r.verify_seconds for r in rounds),
        "plain": 1000 / run.baseline_tokens_per_second,
    }


def compare(
    target: LanguageModel,
    prompt: Tensor,
    drafter: Drafter | None,
    k: int = 5,
    params: SamplingParams = GREEDY,
    stopping: Callable[[], Stopping] = lambda: Stopping(max_new_tokens=64),
    seed: int = 0,
    repeats: int = 1,
    verify: Verify | None = None,
) -> Comparison:
    """Decode after `prompt` (ids `[n]`) plainly and speculatively, `repeats` times, a round of one and a round of the other.

    Taking turns within a text, bare passes among them, lets a machine that slows down slow all of them alike. Two rounds
    of each come first, untimed. stopping: makes a new Stopping for each run. drafter: None compares plain decoding with
    itself. verify: a stand-in in the speculative runs, as in `stream`. Raises UserError as `stream` does, and for no repeats.
    """
    turns = comparing(target, prompt, drafter, k, params, stopping, seed, repeats, verify)
    while True:
        try:
            next(turns)
        except StopIteration as end:
            return end.value


def comparing(
    target: LanguageModel,
    prompt: Tensor,
    drafter: Drafter | None,
    k: int = 5,
    params: SamplingParams = GREEDY,
    stopping: Callable[[], Stopping] = lambda: Stopping(max_new_tokens=64),
    seed: int = 0,
    repeats: int = 1,
    verify: Verify | None = None,
) -> Generator[None, None, Comparison]:
    """`compare` a round at a time: it gives way after each, and returns the comparison at its end."""
    if repeats < 1:
        raise UserError(f"repeats is {repeats}, but has to be 1 or more.")
    plain, ours, passes = [], [], []
    for _ in range(repeats):
        for way, check in ((None, None), (drafter, verify)):
            deque(islice(stream(target, prompt, way, k, params, stopping(), SeededRng(seed), check), 2), maxlen=0)
            yield
        a = _Run(target, prompt, None, k, params, stopping(), SeededRng(seed), None)
        b = _Run(target, prompt, drafter, k, params, stopping(), SeededRng(seed), verify)
        timed = bare_passes(target, _middle(target, len(prompt), stopping().max_new_tokens, k))
        passes.append((yield from _take_turns(a, b, timed)))
        plain.append(a.finished())
        ours.append(b.finished())
    return Comparison(
        baseline=plain[0],
        speculative=ours[0],
        greedy=params.greedy,
        baseline_tokens_per_second=median(run.tokens_per_second for run in plain),
        tokens_per_second=median(run.tokens_per_second for run in ours),
        pass_seconds=median(mean(p.seconds for p in those_of_a_run) for those_of_a_run in passes),
        draft_seconds=median(mean(r.draft_seconds for r in run.rounds) for run in ours),
        overhead_seconds=median(mean(r.seconds - r.draft_seconds - r.verify_seconds for r in run.rounds) for run in ours),
    )


class _Run:
    """A text that is decoded a round at a time; the arguments are those of `stream`."""

    def __init__(self, target: LanguageModel, prompt: Tensor, drafter: Drafter | None, k: int, params: SamplingParams,
                 stopping: Stopping, rng: Rng, verify: Verify | None) -> None:  # fmt: skip
        self._prompt, self._stopping = prompt, stopping
        self._stream = stream(target, prompt, drafter, k, params, stopping, rng, verify)
        self._rounds: list[Round] = []
        self._prefill = 0.0

    @property
    def going(self) -> bool:
        return self._stopping.reason is None

    @property
    def tokens(self) -> int:
        return len(self._stopping.tokens)

    def step(self) -> Round:
        began = perf_counter()
        self._rounds.append(next(self._stream))
        self._prefill += perf_counter() - began - self._rounds[-1].seconds  # the first call reads the prompt as well
        return self._rounds[-1]

    def finished(self) -> Generation:
        return Generation.of(self._prompt, self._stopping, self._rounds, self._prefill)


def _take_turns(plain: _Run, ours: _Run, timed: Callable[[int], Pass]) -> Generator[None, None, list[Pass]]:
    """Whichever has fewer tokens goes on; after each speculative round comes a bare pass over as many tokens."""
    passes: list[Pass] = []
    while plain.going or ours.going:
        if plain.going and (plain.tokens <= ours.tokens or not ours.going):
            plain.step()
        else:
            passes.append(timed(len(ours.step().drafted) + 1))
        yield
    return passes


def _middle(target: LanguageModel, prompt: int, new: int, k: int) -> int:
    """The context in the middle of the text, or as near as leaves room for the longest draft."""
    return min(prompt + new // 2, target.max_context - min(k + 1, new))
