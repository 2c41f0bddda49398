"""What to expect before anything runs, in closed form.

`k` is the tokens drafted a round; `p` the probability that a drafted token that is tested stands, the same for each
and independent of the others (the alpha of Leviathan et al. 2023, arXiv:2211.17192). Costs are in units of one plain
decoding step of the target: `c` for drafting one token, `verify` for the target's pass over k + 1 tokens, `overhead`
for what else a round does. Every argument may be an array; arrays broadcast. Bad values raise UserError.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from specdec_lab.errors import UserError


def expected_accepted(k: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Drafted tokens that stand in a round, on average: p + p^2 + ... + p^k, as token i stands only if all before it do."""
    k, p = _draft_length(k), _probability(p)
    certain = p == 1  # the sum is k then, and the fraction 0/0
    return (p * (1 - p**k) + certain * k) / (1 - p + certain)


def expected_tokens(k: ArrayLike, p: ArrayLike) -> np.ndarray:
    """Tokens a round emits, on average: (1 - p^(k+1)) / (1 - p), equation 1 of Leviathan et al.

    One more than stand: behind them the target's own token, a correction or a bonus.
    """
    return expected_accepted(k, p) + 1


def acceptance_rate(k: ArrayLike, p: ArrayLike) -> np.ndarray:
    """accepted / drafted, on average: p (1 - p^k) / (k (1 - p)). It falls with k though p stays. k is 1 or more."""
    return expected_accepted(k, p) / _draft_length(k, least=1)


def round_cost(k: ArrayLike, c: ArrayLike, verify: ArrayLike = 1.0, overhead: ArrayLike = 0.0) -> np.ndarray:
    """What a round costs, in plain decoding steps: verify + k c + overhead."""
    return _cost("verify", verify) + _draft_length(k) * _cost("c", c) + _cost("overhead", overhead)


def speedup(k: ArrayLike, p: ArrayLike, c: ArrayLike, verify: ArrayLike = 1.0, overhead: ArrayLike = 0.0) -> np.ndarray:
    """Times faster than plain decoding, which emits one token a step: the tokens of a round over its cost.

    Theorem 3.8 of Leviathan et al., where verify is 1 and overhead 0.
    """
    return expected_tokens(k, p) / round_cost(k, c, verify, overhead)


def optimal_k(
    p: ArrayLike, c: ArrayLike, k_max: int = 31, verify: Callable[[int], float] = lambda n: 1.0, overhead: ArrayLike = 0.0
) -> np.ndarray:
    """The k in 0..k_max with the greatest speedup; 0 where no draft helps, k_max where more would still be better.

    verify(n): cost of the target's pass over n tokens, such as `CostCurve.v`; 1 for every n by default. Asked up to k_max + 1.
    """
    shape = np.broadcast_shapes(np.shape(p), np.shape(c), np.shape(overhead))
    k = np.arange(1, k_max + 1).reshape(-1, *[1] * len(shape))
    passes = np.array([verify(n) for n in range(2, k_max + 2)]).reshape(k.shape)
    gains = speedup(k, p, c, passes, overhead)
    return np.concatenate([np.ones((1, *shape)), gains]).argmax(axis=0)  # k = 0 is plain decoding


def break_even(k: ArrayLike, c: ArrayLike, verify: ArrayLike = 1.0, overhead: ArrayLike = 0.0) -> np.ndarray:
    """The p above which drafting k tokens is faster than plain decoding; infinite where even p = 1 is not.

    With k = 1 and the defaults it is c itself: some k helps if and only if p > c (corollary 3.9 of Leviathan et al.).
    0 where a round costs one plain step or less: any p will do. Accurate to 1e-15.
    """
    cost = round_cost(k, c, verify, overhead)  # the tokens a round has to emit to be worth it
    low, high = np.zeros(cost.shape), np.ones(cost.shape)
    for _ in range(50):  # halve the interval: expected_tokens rises with p
        p = (low + high) / 2
        enough = expected_tokens(k, p) >= cost
        low, high = np.where(enough, low, p), np.where(enough, p, high)
    return np.where(cost <= 1, 0.0, np.where(expected_tokens(k, 1.0) > cost, high, np.inf))[()]


def extra_operations(k: ArrayLike, p: ArrayLike, c_ops: ArrayLike) -> np.ndarray:
    """Arithmetic per emitted token over that of plain decoding: (k c_ops + k + 1) / expected_tokens(k, p).

    c_ops: the draft's operations per token over the target's. Theorem 3.11 of Leviathan et al.; faster is not cheaper.
    """
    k = _draft_length(k)
    return (k * _cost("c_ops", c_ops) + k + 1) / expected_tokens(k, p)


def tokens_from_marginals(rates: ArrayLike) -> np.ndarray:
    """Tokens a round emits, on average, without assuming anything: 1 + sum of the marginal rates `[..., k]`.

    rates: for each position the share of all rounds in which its token stood, as `Metrics.marginal` where every round
    drafts as many tokens. An average over mixed text therefore adds up; putting its mean p into a formula does not.
    """
    return _probability(rates).sum(axis=-1) + 1


def acceptance_probability(p: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The chance that a token drawn from the draft's law q stands: sum min(p, q) = 1 - TV(p, q), for laws `[..., vocab]`.

    Its mean over the positions of a text is alpha: corollary 3.6 of Leviathan et al.
    """
    return np.minimum(_probability(p), _probability(q)).sum(axis=-1)


def _draft_length(k: ArrayLike, least: int = 0) -> np.ndarray:
    return _all(k, lambda k: (k >= least) & (k == np.floor(k)), "k is {}, but a draft length is a whole number, " + f"{least} or more.")


def _probability(p: ArrayLike) -> np.ndarray:
    return _all(p, lambda p: (p >= 0) & (p <= 1), "p is {}, but a probability lies in [0, 1].")


def _cost(name: str, cost: ArrayLike) -> np.ndarray:
    return _all(cost, lambda cost: (cost >= 0) & (cost < np.inf), name + " is {}, but a cost is 0 or more.")


def _all(values: ArrayLike, fine: Callable[[np.ndarray], np.ndarray], message: str) -> np.ndarray:
    array = np.asarray(values)
    wrong = array[~fine(array)]
    if wrong.size:
        raise UserError(message.format(wrong.flat[0]))
    return array
