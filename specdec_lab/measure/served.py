"""What a server's counters say of a run, beside our own engine on the same prompts: the same names, the same tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from specdec_lab.drafters.interface import Drafter
from specdec_lab.drafters.ladder import drafter as drafter_of
from specdec_lab.drafters.ngram import NgramDrafter
from specdec_lab.engine.loop import Generation, generate
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.measure.ties import Gap, first_difference, gap
from specdec_lab.models.loading import LoadedPair
from specdec_lab.serving.metrics import Acceptance
from specdec_lab.serving.recordings import Served, ServedRun
from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup

NEAR_16, NEAR_32 = 4, 64  # rounding steps


@dataclass(frozen=True)
class Row:
    """One number of speculation, the server's and ours; None where there is none."""

    name: str
    server: float | None
    ours: float | None


@dataclass(frozen=True)
class Parting:
    """Where the server's answer to a prompt first differs from ours. prompt, at: counted from 0.

    server, ours: the tokens there; None behind the end of a text. gap: between our engine's two likeliest tokens there.
    """

    prompt: int
    at: int
    server: int | None
    ours: int | None
    gap: Gap

    @property
    def near_tie(self) -> bool:
        """Whether the two took our two best tokens, one each, and rounding could have changed their order.

        Two engines add up in different orders: in 16 bits a score may so come out a few steps away; in 32 bits the steps are finer
        than what gathers over the layers, a few dozen of them.
        """
        coarse = self.gap.step > 1e-5 * abs(self.gap.scores[0])
        return {self.server, self.ours} == {*self.gap.best} and self.gap.steps <= (NEAR_16 if coarse else NEAR_32)

    def __str__(self) -> str:
        a, b = self.gap.scores
        apart = f"ours has {a:.6g} and {b:.6g} as its two best scores, {self.gap.steps:.3g} steps of its numbers apart"
        return f"prompt {self.prompt + 1} parts at token {self.at + 1}, where {apart}"


@dataclass(frozen=True)
class ServedComparison:
    """A server's run and our engine's on the same prompts. generations: ours. partings: where greedy answers differ."""

    rows: tuple[Row, ...]
    partings: tuple[Parting, ...]
    generations: tuple[Generation, ...]

    @property
    def identical(self) -> bool:
        return not self.partings

    def row(self, name: str) -> Row:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": [vars(row) for row in self.rows],
            "identical": self.identical,
            "partings": [vars(p) | {"gap": p.gap._asdict(), "near_tie": p.near_tie} for p in self.partings],
        }


def compare_served(
    run: ServedRun,
    pair: LoadedPair,
    prompts: Sequence[str] | None = None,
    k: int | None = None,
    drafter: Drafter | None = None,
    on_prompt: Callable[[int], None] = lambda done: None,
) -> ServedComparison:
    """Decode the run's prompts greedily with our engine, and put what it did beside what the server's counters say.

    prompts, k, drafter: by default those of the run. Each text is as long as the server's. on_prompt: is told how many are done.
    Raises UserError where the run's prompts are not those of the answers, or the set-up's drafter is none that we have.
    """
    texts = [answer.prompt for answer in run.answers] if prompts is None else prompts
    if len(texts) != len(run.answers):
        raise UserError(f"There are {len(texts)} prompts, but the run has {len(run.answers)} answers: give those that it was asked.")
    drafter = drafter or same_drafter(run.setup, pair)
    ours, partings = list[Generation](), list[Parting]()
    for i, (text, answer) in enumerate(zip(texts, run.answers, strict=True)):
        stopping = Stopping(len(answer.tokens), pair.eos)
        ours.append(generate(pair.target, pair.encode(text), drafter, (run.setup.k if k is None else k) or 1, stopping=stopping))
        partings += _parting(i, answer, ours[-1], pair)
        on_prompt(i + 1)
    return ServedComparison(tuple(_rows(run, ours)), tuple(partings), tuple(ours))


def same_drafter(setup: Setup, pair: LoadedPair) -> Drafter | None:
    """Our drafter of the set-up's kind. Raises UserError if there is none."""
    if isinstance(setup.drafter, NoDrafter):
        return None
    if isinstance(setup.drafter, Ngram):
        return NgramDrafter(setup.drafter.lookup_min, setup.drafter.lookup_max)
    if isinstance(setup.drafter, DraftModel):
        return drafter_of("model", pair)
    raise UserError(f"Our engine has no drafter like {type(setup.drafter).__name__}: compare a set-up with Ngram or DraftModel.")


def _parting(i: int, answer: Served, ours: Generation, pair: LoadedPair) -> list[Parting]:
    at = first_difference(answer.tokens, ours.tokens)
    if at is None:
        return []
    seen = torch.tensor([*ours.prompt, *ours.tokens[:at]], device=pair.target.device)
    scores = pair.target(seen[None], pair.target.new_cache(), logits_to_keep=1)[0, -1].cpu()
    theirs, own = (tokens[at] if at < len(tokens) else None for tokens in (answer.tokens, ours.tokens))
    return [Parting(i, at, theirs, own, gap(scores))]


def _rows(run: ServedRun, ours: Sequence[Generation]) -> list[Row]:
    """Rounds that drafted nothing are not among the server's: what it has to be compared with leaves ours out as well.

    Every target pass emits the tokens that it accepted and one more, so that the server's passes are its tokens less the accepted.
    """
    server = run.acceptance
    rounds = [each for generation in ours for each in generation.rounds]
    own, drafting = Metrics.of(rounds), sum(bool(each.drafted) for each in rounds)
    passes = run.tokens - server.accepted if server else run.tokens
    mine = 1 + own.accepted / drafting if drafting else None
    found = [
        Row("acceptance rate", server.acceptance_rate if server else None, own.acceptance_rate),
        Row("alpha", _alpha(server) if server else None, own.alpha),
        Row("mean acceptance length", run.tokens / passes if passes > 0 else None, own.mean_acceptance_length),
        Row("mean acceptance length of rounds that drafted", server.mean_acceptance_length if server else None, mine),
    ]
    positions = max(len(server.accepted_at) if server else 0, len(own.accepted_at))
    theirs = server.marginal if server else ()
    stood = [at / drafting for at in own.accepted_at] if drafting else []
    found += [Row(f"acceptance at position {i + 1}", _at(theirs, i), _at(stood, i)) for i in range(positions)]
    return found


def _alpha(server: Acceptance) -> float | None:
    """accepted / (accepted + rejections). A round whose draft did not stand to its last position counts as a rejection: at the end of
    a text, where fewer tokens are drafted, that is one too many now and then."""
    if not server.accepted_at:
        return None
    tested = server.accepted + server.rounds - server.accepted_at[-1]
    return server.accepted / tested if tested else None


def _at(values: Sequence[float], i: int) -> float | None:
    return values[i] if i < len(values) else None
