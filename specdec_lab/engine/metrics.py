"""What a run says about its draft, in the words of vLLM where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdec_lab.engine.rounds import Round


@dataclass(frozen=True)
class Metrics:
    """Counts over rounds. Drafted tokens behind the end of the text cost their price, but were neither accepted nor rejected.

    In a token tree a position is a depth: it is rejected where all siblings there are. All nodes count as drafted.
    """

    rounds: int
    tokens: int
    drafted: int
    accepted: int
    rejections: int
    drafted_at: tuple[int, ...]
    tested_at: tuple[int, ...]
    accepted_at: tuple[int, ...]

    @classmethod
    def of(cls, rounds: Sequence[Round]) -> Metrics:
        longest = max((r.depth for r in rounds), default=0)
        accepted = [min(r.accepted, len(r.emitted)) for r in rounds]
        tested = [a + (r.rejected and not r.cut) for a, r in zip(accepted, rounds, strict=True)]
        return cls(
            rounds=len(rounds),
            tokens=sum(len(r.emitted) for r in rounds),
            drafted=sum(len(r.drafted) for r in rounds),
            accepted=sum(accepted),
            rejections=sum(tested) - sum(accepted),
            drafted_at=tuple(sum(r.depth > i for r in rounds) for i in range(longest)),
            tested_at=tuple(sum(t > i for t in tested) for i in range(longest)),
            accepted_at=tuple(sum(a > i for a in accepted) for i in range(longest)),
        )

    @property
    def acceptance_rate(self) -> float | None:
        """accepted / drafted. Falls with k even if the draft stays as good. None if nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def alpha(self) -> float | None:
        """accepted / (accepted + rejections): the chance that a token that is tested stands. The p of the formulas."""
        tested = self.accepted + self.rejections
        return self.accepted / tested if tested else None

    @property
    def alpha_error(self) -> float | None:
        """The standard error of alpha, sqrt(alpha (1 - alpha) / tested), if tokens stand independently; two of them either way is usual."""
        tested = self.accepted + self.rejections
        return None if self.alpha is None else (self.alpha * (1 - self.alpha) / tested) ** 0.5

    @property
    def mean_acceptance_length(self) -> float | None:
        """Tokens emitted per target pass."""
        return self.tokens / self.rounds if self.rounds else None

    @property
    def marginal(self) -> tuple[float, ...]:
        """Per position: the share of the rounds that drafted it in which it stood."""
        return tuple(a / d for a, d in zip(self.accepted_at, self.drafted_at, strict=True))

    @property
    def conditional(self) -> tuple[float | None, ...]:
        """Per position: the share of the rounds that tested it (all before it stood) in which it stood."""
        return tuple(a / t if t else None for a, t in zip(self.accepted_at, self.tested_at, strict=True))
