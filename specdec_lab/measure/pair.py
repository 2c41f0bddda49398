"""A pair of models timed a little at a time, so that a picture can follow: the parts of a round, then whole runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from specdec_lab.drafters.interface import Drafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.synthetic import SyntheticDrafter
from specdec_lab.engine.loop import GREEDY, stream
from specdec_lab.engine.stopping import Stopping
from specdec_lab.measure.compare import comparing
from specdec_lab.measure.cost import time_passes
from specdec_lab.measure.timer import seconds_of
from specdec_lab.measure.traces import DraftStep, Event, Measured, TargetPass
from specdec_lab.measure.workloads import SHORT
from specdec_lab.models.loading import LoadedPair
from specdec_lab.sampling import SeededRng

AT_A_TIME = 4  # tokens drafted for each timing of drafting
PROMPT = SHORT["code"][1]


def time_pair(
    pair: LoadedPair, p: float, lengths: Sequence[int] = (1, 3, 5, 8), tokens: int = 32, repeats: int = 5, prompt: str = PROMPT
) -> Iterator[Event | None]:
    """Measure a pair in steps of a pass or two; an event for each thing found, None for a step that found nothing yet.

    First t(n) for n = 1 to the longest draft + 1 and the drafting of a token, `repeats` times each in turn. Then for each of
    `lengths`, the tokens drafted a round, a comparison with coin-flip acceptance at p (the draft works, and is not
    listened to), and the same with the draft itself, over `tokens` new tokens of temperature 0.
    """
    prompt_ids = pair.encode(prompt)
    drafter = ModelDrafter(pair.draft, pair.target.vocab_size)
    drafter.begin(prompt_ids, pair.target.new_cache())

    def draft() -> None:
        drafter.propose(prompt_ids, AT_A_TIME, GREEDY, SeededRng())

    draft()  # reads the prompt
    longest = max(lengths) + 1
    for timed in time_passes(pair.target, range(1, longest + 1), context=len(prompt_ids) + tokens // 2, repeats=repeats):
        yield TargetPass(*timed)
        if timed.tokens == longest:
            drafter.commit(prompt_ids)
            yield DraftStep(seconds_of(draft, pair.draft.device) / AT_A_TIME)

    stopping = Stopping(tokens, pair.eos)
    for _ in stream(pair.target, prompt_ids, None, 1, GREEDY, stopping):
        yield None
    kinds: tuple[Literal["synthetic", "real"], ...] = ("synthetic", "real")
    for acceptance in kinds:
        own = ModelDrafter(pair.draft, pair.target.vocab_size)
        way: Drafter = own if acceptance == "real" else SyntheticDrafter(stopping.tokens, p, pair.target.vocab_size, timed=own)
        for k in lengths:
            run = yield from comparing(pair.target, prompt_ids, way, k, stopping=lambda: Stopping(tokens, pair.eos), seed=k)
            yield Measured.of(acceptance, k, run)
