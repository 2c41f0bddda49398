"""A draft states the laws its tokens were really drawn from."""

import torch

from specdec_lab.drafters import Draft
from specdec_lab.drafters.interface import NOTHING
from tests.support import ids


def test_the_law_of_a_deterministic_proposal_is_one_hot():
    like = torch.zeros(3, 4, dtype=torch.float64)
    laws = Draft(ids(2, 0)).laws(like)
    assert laws.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]] and laws.dtype == torch.float64


def test_stated_laws_are_kept_and_take_the_precision_of_the_targets():
    stated = torch.tensor([[0.25, 0.75]])
    laws = Draft(ids(1), stated).laws(torch.zeros(2, 2, dtype=torch.float64))
    assert laws.tolist() == stated.tolist() and laws.dtype == torch.float64


def test_nothing_has_no_tokens_and_no_laws():
    assert len(NOTHING) == 0 and NOTHING.laws(torch.zeros(1, 5)).shape == (0, 5)
