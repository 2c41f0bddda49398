"""Which drafter to serve and how far ahead it drafts, from what was measured of each on the text to be served."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec_lab.serving.setup import Drafter, NoDrafter, Setup
from specdec_lab.theory.closed_forms import speedup


@dataclass(frozen=True)
class Offer:
    """A drafter that could be had. alpha: the chance that a tested token of it stands; c: what drafting one costs, in plain steps."""

    drafter: Drafter
    alpha: float
    c: float


def choose_setup(target: str, offers: Sequence[Offer], verify: Callable[[int], float], k_max: int = 8) -> Setup:
    """The set-up with the greatest predicted speedup; plain decoding, `Setup(target, NoDrafter(), k=0)`, where none is above 1.

    verify(n): the target's pass over n tokens of each request in flight, in plain steps: a pass over one token of each. Asked for 2
    to k_max + 1. With several requests in flight, alpha stays; verify and c are to be those of so many. Raises UserError for values
    that `closed_forms.speedup` refuses.
    """
    best, most = Setup(target, NoDrafter(), k=0), 1.0
    for offer in offers:
        for k in range(1, k_max + 1):
            gain = float(speedup(k, offer.alpha, offer.c, verify(k + 1)))
            if gain > most:
                best, most = Setup(target, offer.drafter, k=k), gain
    return best
