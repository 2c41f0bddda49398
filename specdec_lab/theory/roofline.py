"""The roofline in closed form: how long a pass of a model takes at least, from what it has to move and to compute.

Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009. Applied to decoding: Pope et al., arXiv:2211.05102, section 2.
"""

from __future__ import annotations


def pass_time(n: float, parameters: float, bytes_per_parameter: float, bandwidth: float, flop_rate: float, cache_bytes: float = 0) -> float:
    """Seconds that a pass over n tokens takes at least, if memory and arithmetic work at the same time.

    n: tokens fed, of one text or of several. bandwidth: bytes a second. flop_rate: FLOP a second. cache_bytes: key-value
    caches that are read beside the weights. The arithmetic of attention itself is left out: it is small on short texts.
    """
    moving = (parameters * bytes_per_parameter + cache_bytes) / bandwidth  # the weights are read once, for all n tokens
    computing = 2 * parameters * n / flop_rate  # a token multiplies and adds once for each parameter
    return max(moving, computing)


def arithmetic_intensity(n: float, bytes_per_parameter: float) -> float:
    """FLOP a pass over n tokens does for each byte of weights it reads."""
    return 2 * n / bytes_per_parameter


def ridge(bytes_per_parameter: float, bandwidth: float, flop_rate: float) -> float:
    """Tokens in a pass from which on arithmetic, and no longer memory, sets `pass_time`; caches left out.

    There the arithmetic intensity equals flop_rate / bandwidth, the FLOP that the machine can do while it reads a byte.
    """
    return flop_rate / bandwidth * bytes_per_parameter / 2


def free_texts(k: int, ridge: float) -> int:
    """The most texts for each of which a pass checks k guesses, k + 1 tokens, before arithmetic sets its time; 0 if not one."""
    return int(ridge // (k + 1))


def free_guesses(batch: int, ridge: float) -> int:
    """The most guesses that a pass checks for each of so many texts, before arithmetic sets its time; 0 if not one."""
    return max(int(ridge // batch) - 1, 0)
