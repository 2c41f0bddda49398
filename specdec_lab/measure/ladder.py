"""Every drafter on every kind of text, a row at a time; and what a drafter guesses at each place of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from statistics import mean

import torch
from torch import Tensor

from specdec_lab.drafters.interface import Drafter
from specdec_lab.engine.loop import GREEDY, Generation, generate, stream
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping
from specdec_lab.measure.compare import Comparison
from specdec_lab.measure.cost import CostCurve, Pass, bare_passes
from specdec_lab.measure.workloads import SHORT
from specdec_lab.models.hf import HFModel
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import SeededRng

# One prompt a kind of text; the answer to the first is a copy of it but for a letter.
TEXTS = {
    "edit": "Correct the spelling in this text:\n\n"
    "The rover landed in a crater on Mars. It takes a picture of evry rock and sends the picture home to Earth.",
    "code": SHORT["code"][2],
    "chat": SHORT["chat"][1],
    "story": SHORT["story"][1],
}
PLAIN_STEPS, PASSES = 4, 2  # what is timed beside a run: so many plain steps, and so many bare passes of each length it needs


@dataclass(frozen=True)
class Rung:
    """One drafter on one kind of text."""

    workload: str
    drafter: str
    run: Comparison

    @property
    def tree(self) -> bool:
        return any(r.parents is not None for r in self.run.speculative.rounds)

    @property
    def drafting(self) -> float:
        """Drafting a round, in plain decoding steps."""
        return self.run.draft_seconds * self.run.baseline_tokens_per_second

    @property
    def round_cost(self) -> float:
        """A round, in plain decoding steps: the pass, the drafting and the bookkeeping."""
        return self.run.verify + self.drafting + self.run.overhead


def climb(
    target: LanguageModel,
    drafters: Mapping[str, Drafter],
    prompts: Mapping[str, Tensor],
    k: int = 4,
    stopping: Callable[[], Stopping] = lambda: Stopping(max_new_tokens=24),
) -> Iterator[Rung]:
    """Run every drafter (by name) on every prompt (ids `[n]`, by its kind of text) at temperature 0, and yield a row as it is done.

    Like `compare`, for many drafters in less time: a text is decoded plainly once for all of them, and only a few plain steps and bare
    passes are timed between the rounds of each run, so that a machine that slows down slows all of them alike. Each drafter's first
    two rounds are run beforehand, untimed. k: tokens drafted a round, or the depth of a tree. Raises UserError as `stream` does.
    """
    warm = set[str]()
    for workload, prompt in prompts.items():
        baseline = generate(target, prompt, stopping=stopping())
        timed = bare_passes(target, len(prompt) + len(baseline.tokens) // 2)
        plain = _plain_steps(target, prompt, stopping)
        for name, drafter in drafters.items():
            if name not in warm:
                warm.add(name)
                list(islice(stream(target, prompt, drafter, k, GREEDY, stopping()), 2))
            yield Rung(workload, name, _beside(target, prompt, drafter, k, stopping(), baseline, plain, timed))


def _plain_steps(target: LanguageModel, prompt: Tensor, stopping: Callable[[], Stopping]) -> Iterator[float]:
    """Seconds of plain decoding steps after the prompt, a text after the other."""
    while True:
        yield from (r.seconds for r in stream(target, prompt, None, 1, GREEDY, stopping()))


def _beside(
    target: LanguageModel, prompt: Tensor, drafter: Drafter, k: int, stopping: Stopping,
    baseline: Generation, plain: Iterator[float], timed: Callable[[int], Pass],
) -> Comparison:  # fmt: skip
    """A speculative run, with plain steps and bare passes timed between its rounds."""
    rounds, steps, passes = list[Round](), list[float](), list[Pass]()
    for round_ in stream(target, prompt, drafter, k, GREEDY, stopping):
        rounds.append(round_)
        tokens = len(round_.drafted) + 1
        if sum(p.tokens == tokens for p in passes) < PASSES:
            passes.append(timed(tokens))
        if len(steps) < PLAIN_STEPS:
            steps.append(next(plain))
    cost = CostCurve.of(passes).milliseconds
    run = Generation.of(prompt, stopping, rounds, 0.0)
    return Comparison(
        baseline=baseline,
        speculative=run,
        greedy=True,
        baseline_tokens_per_second=1 / mean(steps),
        tokens_per_second=run.tokens_per_second,
        pass_seconds=mean(cost[len(r.drafted) + 1] for r in rounds) / 1000,
        draft_seconds=mean(r.draft_seconds for r in rounds),
        overhead_seconds=mean(r.seconds - r.draft_seconds - r.verify_seconds for r in rounds),
    )


def right_at_each_place(target: LanguageModel, drafter: Drafter, text: Tensor, start: int, k: int = 4) -> list[int]:
    """At each place of `text` (ids `[n]`) from `start` on: how many tokens of a draft made there are the text's own, from the left.

    Nothing is verified: what the target would say is in the text, if it wrote it. Only places with k tokens behind them count. The
    last place comes first, so that a target that has read the text once need only forget.
    """
    cache = target.new_cache()
    target(text[None, :-1].to(target.device), cache, logits_to_keep=1)
    found = list[int]()
    for end in range(len(text) - k, start - 1, -1):
        cache.truncate(end - 1)
        drafter.begin(text[:end], cache)
        draft = drafter.propose(text[:end], k, GREEDY, SeededRng()).tokens
        found.append(int((draft == text[end : end + len(draft)]).cumprod(0).sum()))
    return found[::-1]


def conditional(found: list[int], k: int = 4) -> list[float | None]:
    """Of drafts that were right up to a place, the share that was right there too, for each of k places; None where there was no such."""
    tested = [sum(right >= i for right in found) for i in range(k)]
    return [sum(right > i for right in found) / n if n else None for i, n in enumerate(tested)]


@torch.inference_mode()
def agreement_by_layer(target: HFModel, text: Tensor, start: int) -> list[float]:
    """How often the target would say the same if it stopped after layer 1, 2, ...: the share of `text` (ids `[n]`) from `start` on
    that the final norm and the output matrix make of each layer's hidden states. The last layer's is 1 for a text the target wrote."""
    model = target.model
    ids = text.to(target.device)
    hidden = model(ids[None], output_hidden_states=True, use_cache=False).hidden_states
    normed = [*(model.model.norm(layer) for layer in hidden[1:-1]), hidden[-1]]  # the last has been normed already
    said = [model.lm_head(layer[0, start - 1 : -1]).argmax(-1) for layer in normed]
    return [float((tokens == ids[start:]).float().mean()) for tokens in said]
