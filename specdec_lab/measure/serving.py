"""A server's runs in the words of the course, what its plain runs predict, and where the runs come from: this machine or a recording."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import inf

import numpy as np
import torch
from torch import Tensor

from specdec_lab.drafters.interface import Drafter
from specdec_lab.engine.loop import generate
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.measure.served import Parting
from specdec_lab.measure.ties import first_difference, gap
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.toy import ToyLM
from specdec_lab.serving import load
from specdec_lab.serving.environment import Vllm
from specdec_lab.serving.recordings import Recording, ServedRun
from specdec_lab.serving.server import start
from specdec_lab.serving.setup import Setup

PLAIN = "plain"
Say = Callable[[str], None]


def passes(run: ServedRun) -> int:
    """Target passes: each emits one token of its own, so what did not come out of a draft is as many. Prompts' passes included."""
    return run.tokens - (run.acceptance.accepted if run.acceptance else 0)


def silent(run: ServedRun) -> int:
    """Passes in which nothing was drafted, which vLLM's counters leave out."""
    return passes(run) - (run.acceptance.rounds if run.acceptance else 0)


def tokens_a_pass(run: ServedRun) -> float:
    """Over all passes, the silent ones too: what the engine calls mean acceptance length."""
    return run.tokens / passes(run)


def only(run: ServedRun, workload: str) -> ServedRun:
    """The answers of one workload. Counters count all requests together, so it has none."""
    kept = tuple(answer for answer in run.answers if answer.workload == workload)
    return replace(run, answers=kept, before=None, after=None)


def gain(run: ServedRun, plain: ServedRun) -> float:
    """Measured speedup: how many times sooner the next token is there for one user. `plain`: as many requests at a time."""
    return plain.median_time_per_token / run.median_time_per_token


def round_price(run: ServedRun, plain: ServedRun) -> float:
    """What a pass cost on average, its drafting included, in plain steps of as many requests: tokens a pass over speedup."""
    return tokens_a_pass(run) / gain(run, plain)


def replay(run: ServedRun, encode: Callable[[str], Tensor], drafter: Drafter, vocab_size: int) -> Metrics:
    """What our drafter and our verdict make of the texts that a server wrote greedily; its target's words are in them already.

    encode: a prompt's ids `[n]`. The first token of each text comes out of the prompt's pass, as on a server, with no draft to test.
    """
    rounds = list[Round]()
    for answer in run.answers:
        context = torch.cat([encode(answer.prompt), torch.tensor(answer.tokens[:1])])
        target = _scribe([*context.tolist(), *answer.tokens[1:]], vocab_size)
        rounds += generate(target, context, drafter, run.setup.k, stopping=Stopping(len(answer.tokens) - 1)).rounds
    return Metrics.of(rounds)


def _scribe(text: Sequence[int], vocab_size: int) -> ToyLM:
    """A target that wants to say just this text."""

    def wants(context: tuple[int, ...]) -> Tensor:
        logits = torch.zeros(vocab_size)
        logits[text[len(context)] if len(context) < len(text) else 0] = 1.0
        return logits

    return ToyLM(wants, vocab_size, name="the server's text")


def partings(run: ServedRun, plain: ServedRun, pair: LoadedPair) -> list[Parting]:
    """Where greedy answers first differ from the plain server's, and how far apart our target has its two best words there.

    Of each parting `server` is the run's token, `ours` the plain server's.
    """
    found = list[Parting]()
    for i, (answer, other) in enumerate(zip(run.answers, plain.answers, strict=True)):
        at = first_difference(answer.tokens, other.tokens)
        if at is None:
            continue
        seen = torch.cat([pair.encode(answer.prompt), torch.tensor(answer.tokens[:at], dtype=torch.long)])
        scores = pair.target(seen[None].to(pair.target.device), pair.target.new_cache(), logits_to_keep=1)[0, -1].cpu()
        theirs, plainly = (tokens[at] if at < len(tokens) else None for tokens in (answer.tokens, other.tokens))
        found.append(Parting(i, at, theirs, plainly, gap(scores)))
    return found


@dataclass(frozen=True)
class Steps:
    """Seconds of a plain step of so many requests: a pass over one token of each. `seconds` by requests, fewest first."""

    seconds: dict[int, float]

    @classmethod
    def of(cls, plain: Sequence[ServedRun]) -> Steps:
        """From plain runs of several concurrencies. A busy machine only adds time, and fewer tokens take no longer than more: where
        they did, the time of more is taken. Raises UserError for fewer than two, which make no curve."""
        found, least = dict[int, float](), inf
        for run in sorted(plain, key=lambda run: -run.concurrency):
            found[run.concurrency] = least = min(least, run.median_time_per_token)
        if len(found) < 2:
            raise UserError("A curve needs plain runs with at least two numbers of requests at a time; measure one more.")
        return cls(dict(sorted(found.items())))

    def t(self, n: float) -> float:
        """Seconds of a pass over n tokens; between two measured ones on the line that joins them, beyond on the last line."""
        at, seconds = list(self.seconds), list(self.seconds.values())
        if n <= at[-1]:
            return float(np.interp(n, at, seconds))
        (n0, n1), (t0, t1) = list(pairwise(at))[-1], list(pairwise(seconds))[-1]
        return t1 + (t1 - t0) * (n - n1) / (n1 - n0)

    def v(self, n: float, requests: int = 1) -> float:
        """A pass over n tokens of each of so many requests, in plain steps of as many: it reads n times as many tokens."""
        return self.t(n * requests) / self.t(requests)


@dataclass(frozen=True)
class Expected:
    """What one run, one request at a time, makes us expect of more at a time. drafted: tokens a draft; share: of passes with one."""

    tokens_a_pass: float
    drafted: float
    share: float
    rest: float  # of a pass: drafting and all that is not the target's pass, in plain steps
    steps: Steps

    @classmethod
    def of(cls, run: ServedRun, plain: Sequence[ServedRun]) -> Expected:
        """run: speculative, one at a time; plain: a sweep that begins with one at a time."""
        found, steps = run.acceptance, Steps.of(plain)
        if found is None or not found.rounds:
            raise UserError(f"{run.name} has drafted nothing, so there is nothing to expect of its draft; take a run that has.")
        drafted, share = found.drafted / found.rounds, found.rounds / passes(run)
        alone = next(one for one in plain if one.concurrency == run.concurrency)
        rest = round_price(run, alone) - _passes_price(drafted, share, steps, run.concurrency)
        return cls(tokens_a_pass(run), drafted, share, max(0.0, rest), steps)

    @property
    def rest_of_a_round(self) -> float:
        """The rest for each pass with a draft: overhead + k c, as the closed forms have it."""
        return self.rest / self.share

    def target_price(self, requests: int) -> float:
        """The target's pass, on average over those with a draft and those without, in plain steps of so many requests."""
        return _passes_price(self.drafted, self.share, self.steps, requests)

    def speedup(self, requests: int) -> float:
        """Tokens a pass stay; the price of a pass is that of so many requests, from the plain runs; the rest stays."""
        return self.tokens_a_pass / (self.target_price(requests) + self.rest)


def _passes_price(drafted: float, share: float, steps: Steps, requests: int) -> float:
    return share * steps.v(drafted + 1, requests) + 1 - share


@dataclass(frozen=True)
class Serving:
    """Where a chapter's runs come from: vLLM on this machine, or a recording of it, request for request the same."""

    recording: Recording
    vllm: Vllm | None = None

    @property
    def where(self) -> str:
        return f"measured here and now, {self.vllm}" if self.vllm else self.recording.label

    @cached_property
    def prompts(self) -> tuple[tuple[str, str], ...]:
        """Workload and prompt of each request."""
        return tuple((answer.workload, answer.prompt) for answer in self.recording.run(PLAIN).answers)

    def sample(self, n: int) -> tuple[tuple[str, str], ...]:
        """The first prompt of each of up to n workloads."""
        first = dict[str, str]()
        for workload, prompt in self.prompts:
            first.setdefault(workload, prompt)
        return tuple(first.items())[:n]

    def runs(
        self, name: str, setup: Setup, concurrencies: Sequence[int], max_tokens: int, say: Say = lambda line: None
    ) -> Generator[ServedRun, None, None]:
        """One server, these requests so many at a time, each run as it ends. Live, the server is stopped at the end, however it comes
        about; who does not go on to the end closes the iterator.

        From a recording come those of `concurrencies` that were recorded, with the answers as long as they were then. A GPU without
        bfloat16, such as Colab's T4, is given float16.
        """
        if self.vllm is None:
            yield from (run for run in self.recording.sweep(name) if run.concurrency in concurrencies)
            return
        if self.vllm.device == "cuda" and setup.dtype == "bfloat16" and not _has_bfloat16():
            setup = replace(setup, dtype="float16")
        prompts = [prompt for _, prompt in self.prompts]
        with start(setup, self.vllm, progress=say) as server:
            load.run(server, prompts[:1], 1, max_tokens)  # the first answers are slower
            for n in concurrencies:
                told = partial(self._told, say, n)
                yield self._named(load.run(server, prompts, n, max_tokens, name=name, on_answer=told))
            say("stopping the server")

    def _told(self, say: Say, concurrency: int, done: int) -> None:
        say(f"{concurrency} at a time: {done} of {len(self.prompts)} answers")

    def _named(self, run: ServedRun) -> ServedRun:
        """Each answer with its workload."""
        both = zip(run.answers, self.prompts, strict=True)
        return replace(run, answers=tuple(replace(answer, workload=workload) for answer, (workload, _) in both))


def _has_bfloat16() -> bool:
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 0)
