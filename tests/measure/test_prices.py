"""Prices of a batch: passes of every length asked for, in plain steps of the same batch."""

import pytest

from specdec_lab.measure.cost import CostCurve, Pass
from specdec_lab.measure.prices import BatchPrices, batch_prices
from specdec_lab.measure.timer import Timing
from tests.support import one_thread, tiny_llama

assert one_thread


def test_each_batch_is_timed_at_each_length():
    found = list(batch_prices(tiny_llama(1), tiny_llama(2), (1, 3), (2, 5), context=8, repeats=2))
    assert [p.batch for p in found] == [1, 3]
    for prices in found:
        assert list(prices.curve.timings) == [1, 2, 5] and prices.k_max == 4
        assert len(prices.drafting.seconds) == 2 and prices.c > 0 and prices.v(5) > 0


def test_what_they_amount_to():
    prices = BatchPrices(8, CostCurve.of([Pass(1, 0.04), Pass(5, 0.06)]), Timing((0.004, 0.008, 0.004)))
    assert prices.c == pytest.approx(0.1)
    assert prices.v(5) == pytest.approx(1.5)
    assert prices.plain_tokens_per_second == pytest.approx(200)
