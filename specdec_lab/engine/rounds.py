"""The record of one round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["accepted", "correction", "bonus", "target"]


@dataclass(frozen=True)
class Round:
    """One target pass: what was drafted, what stood, what came out, and what it cost.

    `emitted` is what was left after stop conditions; before them it is `drafted[:accepted]` and `next_token`.
    Times are seconds; `verify_seconds` are those of the target's pass, the verdict and the target's rollback.
    Cache lengths are those after the round's rollback, `draft_cache` None without a cache.
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

    @property
    def rejected(self) -> bool:
        """Whether a drafted token was tested and failed."""
        return self.accepted < len(self.drafted)

    @property
    def cut(self) -> bool:
        """Whether the text ended inside the accepted run, so that nothing behind its end was wanted."""
        return len(self.emitted) <= self.accepted

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Who wrote each emitted token; `target` is a plain step, where nothing was drafted."""
        last: Origin = "correction" if self.rejected else "bonus" if self.drafted else "target"
        return tuple("accepted" if i < self.accepted else last for i in range(len(self.emitted)))
