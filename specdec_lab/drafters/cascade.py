"""Several drafters, asked in turn: the cheapest first, and where it has nothing to say the next."""

from __future__ import annotations

from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft, Drafter
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class CascadeDrafter:
    """The draft of the first member that has one, with the laws of its own: an n-gram match where the text repeats, else a model.

    Whether a member has something to say may depend on the context only, not on a token it has drawn and kept back; all drafters
    of this package hold to that. Source: staged speculative decoding (Spector and Re 2023, arXiv:2308.04623) has the idea of
    several draft sources; TODO
    """
