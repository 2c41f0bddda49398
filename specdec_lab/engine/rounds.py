"""The record of one round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specdec_lab.drafters.shapes import depths

Origin = Literal["accepted", "correction", "bonus", "target"]


@dataclass(frozen=True)
class Round:
    """One target pass: what was drafted, what stood, what came out, and what it cost.

    `emitted` is what was left after stop conditions; before them it is the accepted tokens and `next_token`.
    Times are seconds; `draft_seconds` are all that the drafter took, its own rollback included, and `verify_seconds` those of the
    target's pass, the verdict and the target's rollback. Cache lengths are those after the round's rollback, `draft_cache` None
    without a cache.
    For a token tree `parents` are those of its nodes and `path` the nodes that stood; for a chain `path` is 0, 1, ..., accepted - 1.
    """

    context_length: int
    drafted: tuple[int, ...]
    accepted: int
    next_token: int
    emitted: tuple[int, ...]
    draft_seconds: float
    verify_seconds: float
    seconds: float
    target_cache: int
    draft_cache: int | None
    parents: tuple[int, ...] | None = None
    path: tuple[int, ...] | None = None

    @property
    def depth(self) -> int:
        """How many tokens could have stood: those drafted, or the height of their tree."""
        return len(self.drafted) if self.parents is None else max(depths(self.parents), default=0)

    @property
    def rejected(self) -> bool:
        """Whether a drafted token was tested and failed, and in a tree all its siblings with it."""
        if self.parents is None:
            return self.accepted < len(self.drafted)
        return (self.path[-1] if self.path else -1) in self.parents

    @property
    def cut(self) -> bool:
        """Whether the text ended inside the accepted run, so that nothing behind its end was wanted."""
        return len(self.emitted) <= self.accepted

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Who wrote each emitted token; `target` is a plain step, where nothing was drafted."""
        last: Origin = "correction" if self.rejected else "bonus" if self.drafted else "target"
        return tuple("accepted" if i < self.accepted else last for i in range(len(self.emitted)))
