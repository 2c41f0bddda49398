"""Target and draft split over three processes, each with a third of the heads, on the CPU: the form is right and so is the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec_lab.measure.served import compare_served
from specdec_lab.models.export import exported_draft
from specdec_lab.serving import load, presets, server
from specdec_lab.serving.setup import Parallel

pytestmark = pytest.mark.vllm
PROMPTS = ["List three colours as a JSON array.", "Write a Python function that adds two numbers."]


def test_three_ranks_write_what_one_writes(embedded, cpu_pair_fp32):
    alone = replace(presets.embedded_draft(str(embedded), str(exported_draft()), k=3), dtype="float32", max_model_len=512)
    with server.start(replace(alone, parallel=Parallel(tensor=3))) as running:
        assert "--tensor-parallel-size" in running.command
        ranks = [line for line in running.log.read_text().splitlines() if "core ids=" in line]
        run = load.run(running, PROMPTS, max_tokens=24)
    assert len(ranks) == 3, "three ranks, each bound to a core"
    ours = compare_served(run, cpu_pair_fp32)
    assert ours.identical, [str(parting) for parting in ours.partings]
    assert run.acceptance is not None and run.acceptance.accepted > 5, "the split draft is the draft"
    rate, mine = run.acceptance.acceptance_rate, ours.row("acceptance rate").ours
    assert rate is not None and mine is not None and abs(rate - mine) < 0.1
