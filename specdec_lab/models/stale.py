"""A cache that does not forget all that it is told to: what chapter 5 does to a text, and to a draft."""

from __future__ import annotations

from copy import copy

from specdec_lab.models.hf import HFModel, KVCache


class StaleCache(KVCache):
    """At every rollback it keeps one of the tokens that it is told to forget, and does not count it."""

    stale = 0

    def __len__(self) -> int:
        return self.kv.get_seq_length() - self.stale

    def truncate(self, length: int) -> None:
        forget = len(self) - length
        if forget > 0:
            self.stale += 1
        if forget > 1:
            self.kv.crop(1 - forget)


def forgets_too_little(model: HFModel) -> HFModel:
    """The same model, whose caches are stale after the first rejection. The engine, which asks for lengths, cannot tell."""
    faulty = copy(model)
    faulty.new_cache = lambda: StaleCache(model.model.config)  # type: ignore[method-assign]
    return faulty
