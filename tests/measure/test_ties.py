"""Near-ties: the scores that a run had in mind, the first differing token, and gaps in rounding steps."""

from __future__ import annotations

import pytest
import torch

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.measure.ties import Listening, first_difference, gap, rounding_step
from specdec_lab.models.toy import markov_lm


@pytest.mark.parametrize(
    ("a", "b", "at"),
    [([1, 2, 3], [1, 2, 3], None), ([1, 2, 3], [1, 5, 3], 1), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [1, 2], 2), ([], [], None), ([], [4], 0)],
)
def test_first_difference(a, b, at):
    assert first_difference(a, b) == at


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("value", [27.75, 32.0, 34.25, 0.3, -5.0])
def test_a_step_leads_to_the_next_number(dtype, value):
    held = torch.tensor(value, dtype=dtype)
    next_up = torch.nextafter(held, torch.tensor(float("inf") if value > 0 else float("-inf"), dtype=dtype))
    assert rounding_step(float(held), dtype) == abs(float(next_up) - float(held))


def test_the_gap_of_a_public_near_tie():
    found = gap(torch.tensor([1.0, 27.625, 3.0, 27.75], dtype=torch.bfloat16))
    assert found.best == (3, 1) and found.scores == (27.75, 27.625)
    assert (found.step, found.steps) == (0.125, 1.0)


@pytest.mark.parametrize("draft_seed", [None, 1])
def test_the_scores_are_those_of_the_text(draft_seed):
    """Rows behind rejected tokens do not stay: each row that is left is what the model says after that part of the text."""
    model = markov_lm(0, 8, order=2)
    ear = Listening(model)
    drafter = None if draft_seed is None else ModelDrafter(markov_lm(draft_seed, 8, like=model, drift=1.5), 8)
    run = generate(ear, torch.tensor([3, 1]), drafter, 3, stopping=Stopping(20))
    text = [*run.prompt, *run.tokens]
    for n in range(2, len(text)):
        assert torch.equal(ear.scores[n], model._next_logits(tuple(text[:n])))
        assert gap(ear.scores[n]).best[0] == text[n]
