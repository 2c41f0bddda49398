"""Three set-ups of a pair with a fault in each, and the numbers that a run of them leaves behind. What the faults are stands below:
whoever wants to diagnose them from the numbers alone does not read on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine.batch import Pool
from specdec_lab.engine.loop import GREEDY, Generation, generate
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.stopping import Stopping
from specdec_lab.measure.compare import compare
from specdec_lab.models.foreign import ForeignIds
from specdec_lab.models.interface import LanguageModel
from specdec_lab.models.loading import LoadedPair
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.theory.diagnosis import Signature


@dataclass(frozen=True)
class SetUp:
    """How a pair is run. foreign: whether the draft reads other ids than the target. fault: what is wrong, in words."""

    k: int = 4
    params: SamplingParams = GREEDY
    foreign: bool = False
    fault: str = "none"

    def draft_of(self, draft: LanguageModel) -> LanguageModel:
        return ForeignIds(draft) if self.foreign else draft


IN_ORDER = SetUp()
TIMED = 12  # tokens of the text that is timed, at least


def sealed() -> dict[str, SetUp]:
    """The three set-ups by name."""
    return {
        "a": SetUp(params=SamplingParams(1.5), fault="temperature 1.5, with draft and target in order"),
        "b": SetUp(k=16, fault="16 tokens drafted a round, with draft and target in order"),
        "c": SetUp(params=SamplingParams(0.5), foreign=True, fault="the draft's tokenizer has a token more: its later ids are one off"),
    }


def examine(pair: LoadedPair, setup: SetUp, prompts: Sequence[Tensor], usual: float | None = None, tokens: int = 16) -> Signature:
    """Run a set-up on all prompts side by side, at temperature 0 too, and on the first by itself with a stopwatch.

    Acceptance is that of all prompts; prices and speedup are those of the first. usual: as in `Signature`.
    """
    room = 2 * setup.k + 8  # a draft near the end of its text is cut, so a long one needs a longer text
    tokens = max(tokens, room)
    timed = compare(
        pair.target,
        prompts[0],
        ModelDrafter(setup.draft_of(pair.draft), pair.target.vocab_size),
        setup.k,
        setup.params,
        stopping=lambda: Stopping(max(TIMED, room), pair.eos),
    )
    m = _accepted(pair, setup, prompts, tokens)
    cool = m if setup.params.greedy else _accepted(pair, replace(setup, params=GREEDY), prompts, tokens)
    return Signature(
        k=setup.k,
        alpha=m.alpha or 0.0,
        conditional=m.conditional,
        length=m.mean_acceptance_length or 1.0,
        verify=timed.verify,
        c=timed.c or 0.0,
        overhead=timed.overhead,
        speedup=timed.speedup,
        usual=usual,
        cool=cool.alpha,
        tested=m.tested_at,
        rate=m.acceptance_rate,
    )


def _accepted(pair: LoadedPair, setup: SetUp, prompts: Sequence[Tensor], tokens: int) -> Metrics:
    """What was accepted in a text after each prompt, all of them side by side."""
    pool = Pool()
    target, draft = pool.share(pair.target), pool.share(pair.draft)

    def row(prompt: Tensor, seed: int) -> Generation:
        drafter = ModelDrafter(setup.draft_of(draft), target.vocab_size)
        return generate(target, prompt, drafter, setup.k, setup.params, Stopping(tokens, pair.eos), SeededRng(seed))

    runs = pool.run([partial(row, prompt, seed) for seed, prompt in enumerate(prompts)])
    return Metrics.of([r for run in runs for r in run.rounds])
