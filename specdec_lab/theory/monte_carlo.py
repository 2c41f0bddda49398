"""Rounds played out with coin flips, to check a formula or to go where it has none. Tens of millions a second."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from specdec_lab.errors import UserError

AT_ONCE = 1 << 16  # rounds whose flips fit the processor's cache


class Estimate(NamedTuple):
    """A mean and its standard error: the truth is within 2 of them in 95 of 100 simulations."""

    mean: float
    standard_error: float


def simulate(k: int, p: ArrayLike, rounds: int, seed: int = 0) -> np.ndarray:
    """Play `rounds` rounds of k drafted tokens; how many ended with 0, 1, ..., k accepted, `[k + 1]`.

    p: the probability that a tested token stands, one number or one for each position `[k]` (`Metrics.conditional`).
    Raises UserError for k or rounds below 1, a p outside [0, 1] or of another length.
    """
    chances = _chances(k, p, rounds)
    rng = np.random.default_rng(seed)
    survivors = np.zeros(k + 2, np.int64)  # rounds with at least i accepted; none has k + 1
    for start in range(0, rounds, AT_ONCE):
        alive = min(AT_ONCE, rounds - start)
        survivors[0] += alive
        for i, chance in enumerate(chances, start=1):
            # Only the rounds still without a rejection flip for their next token. Compared as float32: 2^-24 at most is lost.
            alive = int(np.count_nonzero(rng.random(alive, dtype=np.float32) < chance))
            survivors[i] += alive
    return survivors[:-1] - survivors[1:]


def tokens_per_round(counts: ArrayLike) -> Estimate:
    """Tokens a round emits, from the counts `[k + 1]` of `simulate` or of real rounds: accepted + 1 each."""
    counts = np.asarray(counts)
    rounds, tokens = counts.sum(), np.arange(len(counts)) + 1
    if rounds < 2:
        raise UserError(f"There are {rounds} rounds, but an estimate with an error takes 2 or more.")
    mean = (counts * tokens).sum() / rounds
    variance = (counts * (tokens - mean) ** 2).sum() / (rounds - 1)
    return Estimate(float(mean), float(np.sqrt(variance / rounds)))


def _chances(k: int, p: ArrayLike, rounds: int) -> list[float]:
    chances = np.asarray(p, dtype=np.float64)
    if k < 1 or rounds < 1:
        raise UserError(f"k is {k} and rounds {rounds}, but both have to be 1 or more.")
    if chances.shape not in ((), (k,)):
        raise UserError(f"p has shape {chances.shape}, but has to be one number or {k}, one for each drafted token.")
    if not np.all((chances >= 0) & (chances <= 1)):
        raise UserError(f"p is {chances}, but a probability lies in [0, 1].")
    return np.broadcast_to(chances, k).tolist()
