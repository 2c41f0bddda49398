"""What a round costs in a batch: bare passes over several texts at once, for every draft length, before anything is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_lab.measure.cost import CostCurve, Pass, bare_passes, time_passes
from specdec_lab.measure.timer import Timing
from specdec_lab.models.interface import LanguageModel

BATCHES, LENGTHS = (1, 2, 4, 8, 16), (1, 2, 3, 5, 9)


@dataclass(frozen=True)
class BatchPrices:
    """Of a batch of so many texts. curve: the target's passes over n tokens of each. drafting: the draft's over one of each."""

    batch: int
    curve: CostCurve
    drafting: Timing

    @property
    def c(self) -> float:
        """Drafting a token of each text, in plain steps of the same batch."""
        return self.drafting.median * 1000 / self.curve.t(1)

    @property
    def plain_tokens_per_second(self) -> float:
        """New tokens of all texts, without any draft."""
        return self.batch * 1000 / self.curve.t(1)

    @property
    def k_max(self) -> int:
        """The longest draft whose pass was timed."""
        return int(max(self.curve.timings)) - 1

    def v(self, n: int) -> float:
        return self.curve.v(n)


def batch_prices(
    target: LanguageModel,
    draft: LanguageModel,
    batches: Sequence[int] = BATCHES,
    lengths: Sequence[int] = LENGTHS,
    context: int = 64,
    repeats: int = 2,
) -> Iterator[BatchPrices]:
    """Time the passes of each batch, texts of `context` tokens each, and yield it as it is done. Raises UserError as `time_passes` does."""
    for batch in batches:
        passes, drafts = list[Pass](), list[float]()
        drafted = bare_passes(draft, context, batch)
        drafted(1)
        for timed in time_passes(target, lengths, context, repeats, batch):
            passes.append(timed)
            if timed.tokens == 1:
                drafts.append(drafted(1).seconds)
        yield BatchPrices(batch, CostCurve.of(passes), Timing(tuple(drafts)))
