"""The course's prompts, and where the time of a run went."""

import dataclasses

import pytest

from specdec_lab.engine import Generation
from specdec_lab.measure.compare import Comparison
from specdec_lab.measure.workloads import WORKLOADS, milliseconds_per_token
from tests.support import rounds


def comparison(*spent: tuple[float, float, float], accepted: int = 1, k: int = 2, plain: float = 20.0, speed: float = 25.0) -> Comparison:
    """Rounds that accept so many of k; `spent` are seconds of drafting, verifying and the whole round."""
    made = [
        dataclasses.replace(r, draft_seconds=d, verify_seconds=v, seconds=s)
        for r, (d, v, s) in zip(rounds(*[accepted] * len(spent), k=k), spent, strict=True)
    ]
    tokens = tuple(t for r in made for t in r.emitted)
    run = Generation((1, 2), tokens, tuple(made), "length", None, 0.0)
    return Comparison(run, run, True, plain, speed, 0.05, 0.01, 0.002)


def test_there_are_five_workloads_of_several_prompts_each():
    assert list(WORKLOADS) == ["code", "JSON", "extraction", "chat", "story"]
    prompts = [prompt for some in WORKLOADS.values() for prompt in some]
    assert len(set(prompts)) == len(prompts) and all(len(some) >= 3 for some in WORKLOADS.values())


def test_the_parts_are_spread_over_the_tokens_and_add_up_to_the_run():
    run = comparison((0.01, 0.05, 0.07), (0.03, 0.05, 0.09))  # 2 tokens each
    parts = milliseconds_per_token(run)
    assert parts == pytest.approx({"target": 25.0, "drafting": 10.0, "bookkeeping": 5.0, "plain": 50.0})
    assert parts["target"] + parts["drafting"] + parts["bookkeeping"] == pytest.approx(1000 / run.speculative.tokens_per_second)
