"""Many texts at once: what a draft does to the tokens a second of a batch, predicted from bare passes and measured in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import median
from time import perf_counter
from typing import NamedTuple

from torch import Tensor

from specdec_lab.drafters.interface import Drafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine.batch import BatchPass, Pool
from specdec_lab.engine.loop import GREEDY, stream
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.measure.cost import bare_passes
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import SamplingParams, SeededRng

BATCHES = (1, 2, 4, 8, 16)
MakeDrafter = Callable[[LanguageModel, LanguageModel | None], Drafter]  # from target and draft, a drafter for one row
DRAFT = "the draft"
WARM = 1  # rounds of every row that are run first, untimed: they read the prompts


@dataclass(frozen=True)
class BatchPoint:
    """Plain and speculative decoding of `batch` texts at once, and what was to be expected.

        predicted = mean acceptance length / (verify + drafting + overhead), a round of all texts, in plain decoding steps of all

    As in `Comparison`: the passes are bare ones, timed over the same number of tokens, so what the prediction claims is
    that a round costs its passes and its bookkeeping, and nothing else.
    """

    batch: int
    k: int
    metrics: Metrics  # over the timed rounds of all texts
    plain_seconds: float  # a plain step of all texts; these five are medians over the repeats
    round_seconds: float  # a speculative round of all texts
    pass_seconds: float  # of which a bare pass of the target over as many tokens would take
    draft_seconds: float  # bare passes of the draft, as many as a round had
    overhead_seconds: float  # all in a round but its passes: drafting without a draft model, verdicts, rollback, bookkeeping
    v: float  # bare passes: over k + 1 tokens of each text, in such over 1
    identical: bool | None  # whether each row wrote what it writes plainly, as far as both go; None when sampling

    @property
    def plain_tokens_per_second(self) -> float:
        """Throughput: new tokens of all texts."""
        return self.batch / self.plain_seconds

    @property
    def tokens_per_second(self) -> float:
        return self.batch * self._length / self.round_seconds

    @property
    def speedup(self) -> float:
        """Measured: throughput over that of plain decoding at the same batch."""
        return self.tokens_per_second / self.plain_tokens_per_second

    @property
    def predicted_speedup(self) -> float:
        return self._length * self.plain_seconds / (self.pass_seconds + self.draft_seconds + self.overhead_seconds)

    @property
    def efficiency(self) -> float:
        """Measured over predicted speedup."""
        return self.speedup / self.predicted_speedup

    @property
    def verify(self) -> float:
        """The target's pass in a round, in plain steps."""
        return self.pass_seconds / self.plain_seconds

    @property
    def c(self) -> float | None:
        """Drafting one token of each text, in plain steps. None if nothing was drafted."""
        drafted = self.metrics.drafted / self.metrics.rounds
        return self.draft_seconds / drafted / self.plain_seconds if drafted else None

    @property
    def overhead(self) -> float:
        """`overhead_seconds` in plain steps."""
        return self.overhead_seconds / self.plain_seconds

    @property
    def _length(self) -> float:
        return self.metrics.tokens / self.metrics.rounds


def model_drafter(target: LanguageModel, draft: LanguageModel | None) -> Drafter:
    assert draft is not None, "a ModelDrafter needs a draft"
    return ModelDrafter(draft, target.vocab_size)


def crossover(
    target: LanguageModel,
    draft: LanguageModel | None,
    prompts: Sequence[Tensor],
    k: int = 4,
    batches: Sequence[int] = BATCHES,
    drafter: MakeDrafter = model_drafter,
    params: SamplingParams = GREEDY,
    steps: int = 16,
    repeats: int = 2,
) -> Iterator[BatchPoint]:
    """Decode batches of texts plainly and speculatively, in turn, with bare passes between, and yield each batch as it is done.

    prompts: ids `[n]`; a batch of more texts than there are prompts takes them again from the first. A row has a drafter of its own.
    All texts of a batch go on until each has had `steps` plain steps, or so many rounds that about as many tokens come out, past an
    end token if there is one: so the batch stays full throughout, as a server keeps it that has others waiting.
    draft: None for drafters without a model; their drafting then counts as overhead. Raises UserError as `stream` does.
    """
    if not prompts:
        raise UserError("There is no prompt to make a batch of; give at least one.")
    if min(batches) < 1 or repeats < 1 or steps < 1:
        raise UserError(f"batches {list(batches)}, steps {steps} and repeats {repeats} have to be at least 1 each.")
    for batch in batches:
        yield _point(target, draft, [prompts[i % len(prompts)] for i in range(batch)], k, drafter, params, steps, repeats)


def _point(
    target: LanguageModel, draft: LanguageModel | None, prompts: Sequence[Tensor], k: int, drafter: MakeDrafter, params: SamplingParams,
    steps: int, repeats: int,
) -> BatchPoint:  # fmt: skip
    context = max(len(prompt) for prompt in prompts) + steps // 2  # the texts stand in a rectangle, as long as the longest
    bare = _Bare(target, draft, context, len(prompts))
    plain, ours = list[_Run](), list[_Run]()
    rounds = max(3, round(2 * steps / (k + 2)))  # as many tokens if half of what is drafted stands
    for _ in range(repeats):
        plain.append(_run(target, draft, prompts, None, k, params, steps))
        bare.time(1, k + 1)
        ours.append(_run(target, draft, prompts, drafter, k, params, rounds))
        bare.time(1, k + 1, *{p.tokens for p in ours[-1].passes if p.model != DRAFT})
    first = ours[0]
    drafted = sum(p.model == DRAFT for p in first.passes) / rounds
    return BatchPoint(
        batch=len(prompts),
        k=k,
        metrics=Metrics.of([r for row in first.rows for r in row]),
        plain_seconds=median(run.seconds for run in plain) / steps,
        round_seconds=median(run.seconds for run in ours) / rounds,
        pass_seconds=sum(bare.seconds(p.tokens) for p in first.passes if p.model != DRAFT) / rounds,
        draft_seconds=bare.draft_seconds * drafted,
        overhead_seconds=median(run.seconds - sum(p.seconds for p in run.passes) for run in ours) / rounds,
        v=bare.seconds(k + 1) / bare.seconds(1),
        identical=_same(plain[0].texts, first.texts) if params.greedy else None,
    )


class _Mark(NamedTuple):
    """The end of a round: the time, and how many passes the pool had made."""

    round: Round
    at: float
    passes: int


class _Run(NamedTuple):
    """The timed part of a batch: its rounds by row, the passes they were fed in, its seconds; and the texts in full."""

    rows: list[list[Round]]
    passes: list[BatchPass]
    seconds: float
    texts: list[list[int]]


def _run(
    target: LanguageModel, draft: LanguageModel | None, prompts: Sequence[Tensor], drafter: MakeDrafter | None, k: int,
    params: SamplingParams, rounds: int,
) -> _Run:  # fmt: skip
    """So many rounds of every text. Timed from where all have had the first `WARM`, whose passes have read the prompts."""
    pool = Pool()
    shared, sharing = pool.share(target), None if draft is None else pool.share(draft)
    if sharing:
        sharing.name = DRAFT  # a target may draft for itself: their passes are told apart by name

    def row(prompt: Tensor, seed: int) -> list[_Mark]:
        mine = drafter(shared, sharing) if drafter else None
        longest = (rounds + WARM) * (k + 1 if mine else 1) + k + 1  # so that every draft may be as long as it likes
        going = stream(shared, prompt, mine, k, params, Stopping(longest), SeededRng(seed))
        return [_Mark(r, perf_counter(), len(pool.passes)) for r in islice(going, rounds + WARM)]

    done = pool.run([partial(row, prompt, seed) for seed, prompt in enumerate(prompts)])
    warm = [row[WARM - 1] for row in done]  # a pass is followed by each row in turn, up to its next question: so from first to first
    return _Run(
        rows=[[mark.round for mark in row[WARM:]] for row in done],
        passes=pool.passes[min(mark.passes for mark in warm) :],
        seconds=min(row[-1].at for row in done) - min(mark.at for mark in warm),
        texts=[[token for mark in row for token in mark.round.emitted] for row in done],
    )


class _Bare:
    """Bare passes over a batch, timed a sweep at a time; the first of each length is a warm-up."""

    def __init__(self, target: LanguageModel, draft: LanguageModel | None, context: int, batch: int) -> None:
        self.batch = batch
        self._target = bare_passes(target, context, batch)
        self._draft = bare_passes(draft, context, batch) if draft is not None else None
        self._timed, self._drafted = dict[int, list[float]](), list[float]()

    def time(self, *lengths: int) -> None:
        for n in sorted(set(lengths)):
            if n not in self._timed:
                self._target(n)
            self._timed.setdefault(n, []).append(self._target(n).seconds)
        if self._draft:
            if not self._drafted:
                self._draft(1)
            self._drafted.append(self._draft(1).seconds)

    def seconds(self, tokens: int) -> float:
        return median(self._timed[tokens])

    @property
    def draft_seconds(self) -> float:
        return median(self._drafted) if self._drafted else 0.0


def _same(plain: list[list[int]], ours: list[list[int]]) -> bool:
    """Whether each text goes like the other, as far as both do: a round has no fixed number of tokens."""
    return all(a == b for one, other in zip(plain, ours, strict=True) for a, b in zip(one, other, strict=False))
