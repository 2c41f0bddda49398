"""On the real pair, the three sealed set-ups of chapter 7 show the acceptance that their faults are known by."""

from __future__ import annotations

import pytest

from specdec_lab.measure import sealed
from specdec_lab.measure.workloads import workload

pytestmark = pytest.mark.long


def test_each_fault_by_its_acceptance(cpu_pair_fp32):
    texts = [cpu_pair_fp32.encode(prompt.text) for prompt in workload("json").prompts[:4]]
    usual = sealed.examine(cpu_pair_fp32, sealed.IN_ORDER, texts).alpha
    a, b, c = (sealed.examine(cpu_pair_fp32, setup, texts, usual) for setup in sealed.sealed().values())
    assert usual > 0.45
    assert a.alpha < 0.7 * usual and a.cool == usual, "heat"
    assert b.alpha > 0.8 * usual and b.rate < 0.3 * usual and b.length > 0.85 / (1 - b.alpha), "too long a draft"
    assert c.alpha < 0.5 * usual and c.cool < 0.5 * usual and c.conditional[0] < 0.5 * usual, "another tokenizer"
