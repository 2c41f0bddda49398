"""The checks of chapter 1's exercises, `pass_time` and `arithmetic_intensity`."""

from __future__ import annotations

import random
from collections.abc import Callable

from specdec_lab.checks.numbers import agrees, case, is_a_number, right_on
from specdec_lab.checks.stages import Stage, check
from specdec_lab.theory.roofline import arithmetic_intensity, pass_time

Number = Callable[..., float]

# A toy machine: 30 parameters, 1000 bytes a second, 7500 FLOP a second. In 4 bytes a parameter the weights take 0.12 s
# to read, and each token 0.008 s to compute. (In 2 bytes, they would be as many as the FLOP of a token.)
TOY = (30, 4, 1000, 7500)
BITS = "Bandwidth is in bytes a second and a parameter has bytes_per_parameter bytes: there are no bits in it."
SUM = "That is memory and arithmetic one after the other. They work at the same time, so the slower of the two counts."
FASTER = "That is the faster of the two, or the arithmetic alone. The pass is over when the slower one is."
NOT_ONE = "Each parameter is multiplied and added: that is 2 FLOP for each token, not 1."
TIMES = [
    case(
        (3, *TOY, 0),
        0.12,
        {
            0.144: SUM,
            0.132: SUM,
            0.024: FASTER,
            0.012: FASTER,
            0.36: "The weights were read once for each of the 3 tokens. All tokens of a pass share one read.",
            0.18: "Bandwidth and FLOP rate are exchanged: bytes are divided by bandwidth, FLOP by flop_rate.",
            0.96: BITS,
            0.015: BITS,
            120: "That is milliseconds; return seconds.",
            1000 / 120: "That is bandwidth over bytes, upside down. Seconds are bytes divided by bytes a second.",
            0.03: "The weights have bytes_per_parameter bytes each, here 4; 0.03 s is the time for one byte of each.",
            0.06: "Here a parameter has 4 bytes: use bytes_per_parameter, not a fixed 2.",
            0.24: "These are twice the bytes. The factor 2 belongs to the arithmetic; the weights are read once.",
        },
        "120 bytes at 1000 bytes a second take 0.12 s, and the arithmetic of 3 tokens less than that.",
    ),
    case(
        (1, 30, 2, 1000, 7500, 0),
        0.06,
        {0.12: "Now a parameter has 2 bytes, and it came out as before: is a fixed 4 in place of bytes_per_parameter?"},
        "60 bytes.",
    ),
    case(
        (40, *TOY, 0),
        0.32,
        {
            0.16: NOT_ONE,
            0.12: "That is the read alone. With 40 tokens the arithmetic takes longer: it grows with n.",
            0.44: SUM,
            1.28: "The arithmetic came out as 1.28 s. FLOP are counted, not bytes: bytes_per_parameter has no place there.",
            0.64: "These are twice the FLOP. Each parameter is multiplied once and added once.",
        },
        "40 tokens at 2 x 30 FLOP each are 2400 FLOP, and at 7500 a second they take 0.32 s.",
    ),
    case(
        (3, *TOY, 40),
        0.16,
        {
            0.12: "The 40 of cache_bytes made no difference here. They are read beside the weights: bytes to add to theirs.",
            0.24: "cache_bytes is what the whole pass reads beside the weights: not once for each token.",
            0.28: "cache_bytes is in bytes already: no factor to it.",
            0.2: "cache_bytes is in bytes already: no factor to it.",
            40.12: "cache_bytes are bytes; divide them by the bandwidth, like the weights.",
            0.12 + 40 / 7500: "cache_bytes are read, not computed: divide them by the bandwidth, like the weights.",
            0.04: "The cache is read beside the weights, at the same bandwidth: add the two, then divide.",
        },
        "120 bytes of weights and 40 of caches at 1000 bytes a second take 0.16 s.",
    ),
    case(
        (40, *TOY, 40),
        0.32,
        {
            0.36: "The cache was put on top of the slower of the two. It is read while the arithmetic runs: inside the max.",
            2440 / 7500: "cache_bytes are read, not computed: they are no FLOP.",
        },
        "160 bytes take 0.16 s, and the arithmetic of 40 tokens takes longer.",
    ),
]

INTENSITIES = [
    case(
        (1, 2),
        1.0,
        {
            0.5: NOT_ONE,
            0.125: BITS,
            4.0: "That is FLOP times bytes. FLOP for each byte is a quotient.",
            2.0: "That is the FLOP for each parameter. A parameter has 2 bytes here.",
        },
        "2 FLOP for each parameter, and 2 bytes.",
    ),
    case(
        (12, 4),
        6.0,
        {
            0.5: "That does not grow with n. The read is shared, so every token more adds FLOP and no bytes.",
            12.0: "Here a parameter has 4 bytes: use bytes_per_parameter, not a fixed 2.",
            3.0: NOT_ONE,
            1 / 6: "That is bytes for each FLOP, upside down.",
            72.0: "n came in twice. 12 tokens do 12 times the FLOP of one, on the same bytes.",
        },
        "12 tokens at 2 FLOP are 24 FLOP for each parameter, which has 4 bytes.",
    ),
]


def _a_pass(rng: random.Random) -> tuple[float, ...]:
    """Real sizes and rates: some of these passes wait for memory, others for arithmetic."""
    n, millions, gigabytes = rng.randint(1, 1000), rng.randint(100, 70_000), rng.randint(10, 5000)
    return (n, millions * 10**6, rng.choice([1, 2, 4]), gigabytes * 10**9, rng.randint(1, 400) * gigabytes * 10**9, rng.choice([0, 10**9]))


def _a_pair(rng: random.Random) -> tuple[float, ...]:
    return (rng.randint(1, 1000), rng.choice([0.5, 1, 2, 4]))


def check_pass_time(function: Number) -> Number:
    """Check the learner's `pass_time(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0) -> seconds`."""
    stages = [
        Stage("shape", "it returns a number", is_a_number((1, *TOY))),
        Stage("mechanism", "one read for all tokens, 2 FLOP a parameter, the slower of the two", right_on(TIMES)),
        Stage("reference", "it agrees with the package's function on 300 random passes", agrees(pass_time, _a_pass, 300)),
    ]
    return check(function, pass_time, stages, (1, *TOY))


def check_arithmetic_intensity(function: Number) -> Number:
    """Check the learner's `arithmetic_intensity(n, bytes_per_parameter)`, in FLOP a byte."""
    stages = [
        Stage("shape", "it returns a number", is_a_number((1, 2))),
        Stage("mechanism", "2 FLOP a parameter and token, over its bytes", right_on(INTENSITIES)),
        Stage("reference", "it agrees with the package's function on 300 random pairs", agrees(arithmetic_intensity, _a_pair, 300)),
    ]
    return check(function, arithmetic_intensity, stages, (1, 2))
