"""Several drafters, asked in turn: the cheapest first, and where it has nothing to say the next."""

from __future__ import annotations

from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft, Drafter
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams


class CascadeDrafter:
    """The draft of the first member that has one, as it is: a copy where the text repeats, a model's guess elsewhere.

    Lossless, as a draft keeps the laws of whoever drafted it and whether a member has one depends on the context alone.
    Source: the hybrid of SuffixDecoding (Oliaro et al. 2024, arXiv:2411.04975), which falls back to a model where matches are thin.
    """

    name = "cascade"

    def __init__(self, *members: Drafter) -> None:
        """Members in the order in which they are asked. To pass over thin matches give the first a greater `n_min`."""
        if not members:
            raise UserError("A cascade of no drafters drafts nothing; give at least one.")
        self.members = members
        self._asked: Drafter = members[0]  # the last one that was

    @property
    def cache_length(self) -> int | None:
        """That of the member whose draft was last. The others' caches may lag behind by any number of tokens, also after a draft
        of somebody else's has failed: they read what they missed when they are asked again."""
        return self._asked.cache_length

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        for member in self.members:
            member.begin(context, target_cache)

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        for member in self.members:
            self._asked, draft = member, member.propose(context, k, params, rng)
            if len(draft):
                return draft
        return NOTHING

    def commit(self, context: Tensor) -> None:
        for member in self.members:
            member.commit(context)
