"""Alphas, prices and points of batches, made up."""

from __future__ import annotations

from specdec_lab.engine import Metrics
from specdec_lab.measure.acceptance import Alpha
from specdec_lab.measure.cost import CostCurve, Pass
from specdec_lab.measure.crossover import BatchPoint
from specdec_lab.measure.prices import BatchPrices
from specdec_lab.measure.timer import Timing
from specdec_lab.measure.traces import Bounds
from tests.support import rounds

KINDS = ("json", "question-answering")
ALPHAS = [Alpha(kind, t, alpha - t / 5, 0.03, 80) for kind, alpha in zip(KINDS, (0.7, 0.3), strict=True) for t in (0.0, 1.0)]
BOUNDS = Bounds(134.5e6, 4, 40e9, 200e9)  # ridge at 10 tokens


def prices(batch: int) -> BatchPrices:
    """A step of 40 ms; each token of each text takes 2 ms more."""
    passes = [Pass(n, 0.04 + 0.002 * n * batch) for n in (1, 2, 3, 5, 9)]
    return BatchPrices(batch, CostCurve.of(passes), Timing((0.004,)))


PRICES = [prices(batch) for batch in (1, 2, 4, 8, 16)]


def point(batch: int, k: int = 4, accepted: int = 2) -> BatchPoint:
    """Rounds that accept so many of k, at these prices and an overhead of 1 ms a text."""
    its, overhead = prices(batch), 0.001 * batch
    plain, verify, draft = its.curve.t(1) / 1000, its.curve.t(k + 1) / 1000, its.drafting.median
    return BatchPoint(
        batch=batch,
        k=k,
        metrics=Metrics.of(rounds(*[accepted] * (3 * batch), k=k)),
        plain_seconds=plain,
        round_seconds=1.1 * (verify + k * draft + overhead),
        pass_seconds=verify,
        draft_seconds=k * draft,
        overhead_seconds=overhead,
        v=verify / plain,
        identical=True,
    )
