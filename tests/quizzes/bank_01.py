"""Answers to the knowledge check of chapter 1, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q1c-check": 1,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3-check": 2,
    "q4a-check": 1,
    "q4b-check": 1,
    "q4c-check": 1,
    "q5-check": 2,
    "q6-check": 5,
    "q7-check": 3,
}


def seconds(body: str) -> str:
    head = "def pass_time(texts, tokens, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes):\n"
    return head + indent(dedent(body).strip(), "    ")


def longest(body: str) -> str:
    head = "def longest_draft(texts, slack, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes):\n"
    return head + indent(dedent(body).strip(), "    ")


def three(a, b, c) -> str:
    return f"answer_1a = {a}\nanswer_1b = {b}\nanswer_1c = {c}"


def cache(a, b, c) -> str:
    return f"answer_4a = {a}\nanswer_4b = {b}\nanswer_4c = {c}"


MOVING = "(parameters * bytes_per_parameter + texts * cache_bytes) / bandwidth"
COMPUTING = "2 * parameters * texts * tokens / flop_rate"

SUM = seconds(f"return {MOVING} + {COMPUTING}")
NO_TWO = seconds(f"return max({MOVING}, {COMPUTING.removeprefix('2 * ')})")
READS_PER_TOKEN = seconds(f"return max(texts * tokens * {MOVING}, {COMPUTING})")
MEMORY_ALONE = seconds(f"return {MOVING}")
ONE_CACHE = seconds(f"return max({MOVING.replace('texts * ', '')}, {COMPUTING})")

BY_RIDGE = longest("""
base = max((parameters * bytes_per_parameter + {cache}) / bandwidth, 2 * parameters * texts / flop_rate)
return max(int((1 + slack) * base * flop_rate / (2 * parameters * texts)) - 1, 0)
""")
RIDGE = BY_RIDGE.replace("{cache}", "texts * cache_bytes")

MALFORMED = {
    "q1-answer": 'answer_1a = "40 ms"\nanswer_1b = [40]\nanswer_1c = True',
    "q2-answer": "answer_2a = 16.5\nanswer_2b = '32'",
    "q3-answer": 'answer_3 = "c"',
    "q4-answer": 'answer_4a = "51200 bytes"\nanswer_4b = None\nanswer_4c = [1250]',
    "q5-answer": "D = 4\nanswer_5 = D",
    "q6-answer": seconds(f"return [max({MOVING}, {COMPUTING})]"),
    "q7-answer": "longest_draft = 10",
}

LEARNERS = {
    "perfect": ({}, {}),
    # One thing after the other: first everything is read, then the arithmetic is done.
    "adds": (
        {"q1-answer": three(42.5, 65, 140), "q2-answer": "answer_2a = 1\nanswer_2b = 1", "q6-answer": SUM},
        {"q1a-check": 1, "q1b-check": 1, "q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 3},
    ),
    # A FLOP for each parameter: either the multiplication or the addition.
    "no_two": (
        {"q1-answer": three(40, 40, 50), "q2-answer": "answer_2a = 32\nanswer_2b = 64", "q6-answer": NO_TWO},
        {"q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 2},
    ),
    # Every token has the weights read for it.
    "reads_per_token": (
        {"q1-answer": three(40, 400, 1600), "q2-answer": "answer_2a = 1\nanswer_2b = 1", "q6-answer": READS_PER_TOKEN},
        {"q1b-check": 1, "q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 5},
    ),
    # Verifying is free at any size of the pass.
    "always_free": (
        {"q1-answer": three(40, 40, 40), "q5-answer": 'answer_5 = "A"', "q6-answer": MEMORY_ALONE, "q7-answer": longest("return 10")},
        {"q1c-check": 1, "q5-check": 2, "q6-check": 2, "q7-check": 3},
    ),
    # The texts of a batch share their cache as they share the weights.
    "one_cache": (
        {"q4-answer": cache(51_200, 25_000, 25_000), "q6-answer": ONE_CACHE, "q7-answer": BY_RIDGE.replace("{cache}", "cache_bytes")},
        {"q4c-check": 1, "q6-check": 2, "q7-check": 1},
    ),
    # The cache keeps a number for each query head.
    "query_heads": (
        {"q4-answer": cache(153_600, 1.28e9 / 153_600, 1.28e9 / 153_600 / 20)},
        {"q4a-check": 1, "q4b-check": 1, "q4c-check": 1},
    ),
}

MANY_STEPS = """
bytes_read = parameters * bytes_per_parameter
for _ in range(int(texts)):
    bytes_read += cache_bytes
multiply_and_add = 2
flop = multiply_and_add * parameters * (texts * tokens)
times = sorted([bytes_read / bandwidth, flop / flop_rate])
return times[-1]
"""
IN_MILLISECONDS = """
moving = 1000 * (parameters * bytes_per_parameter + texts * cache_bytes) / bandwidth
computing = 1000 * (parameters + parameters) * texts * tokens / flop_rate
return (moving if moving > computing else computing) / 1000
"""
COUNT_DOWN = """
def time(tokens):
    return pass_time(texts, tokens, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)
for k in range(5000, 0, -1):
    if time(k + 1) <= time(1) + slack * time(1):
        return k
return 0
"""
LOUD = """
import sys, warnings
warnings.warn("slack is large")
print("trying", file=sys.stderr)
within = [k for k in range(500)
          if pass_time(texts, k + 1, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)
          <= (1 + slack) * pass_time(texts, 1, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)]
return float(max(within))
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", "answer_1a = answer_1b = 1000 * 4e9 / 100e9\nanswer_1c = 1000 * 2 * 4e9 * 40 / 3.2e12"),
    ("q1-answer", three("40.0", "max(40, 25)", "max(40, 100)")),
    ("q2-answer", "answer_2a, answer_2b = 3.2e12 / 100e9 / 2, 32.0"),
    ("q3-answer", "answer_3 = 'C'"),
    ("q4-answer", "answer_4a = 51200.0\nanswer_4b = 1.28e9 / answer_4a\nanswer_4c = answer_4b / 20"),
    ("q5-answer", "answer_5 = chr(68)"),
    ("q6-answer", seconds(MANY_STEPS)),
    ("q6-answer", seconds(IN_MILLISECONDS)),
    ("q7-answer", RIDGE),
    ("q7-answer", longest(COUNT_DOWN)),
    ("q7-answer", longest(LOUD)),
]

LOOP = """
k = 0
limit = {limit}
while pass_time({texts}, {tokens}, parameters, bytes_per_parameter, bandwidth, flop_rate, {cache}) <= limit:
    k += 1
return {back}
"""


def loop(**changed) -> str:
    base = "(1 + slack) * pass_time(texts, 1, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)"
    parts = {"limit": base, "texts": "texts", "tokens": "k + 2", "cache": "cache_bytes", "back": "k"}
    return longest(LOOP.format(**{**parts, **changed}))


MEMORY_LIMIT = "(1 + slack) * (parameters * bytes_per_parameter + texts * cache_bytes) / bandwidth"
CACHES_FORGOTTEN = loop(
    limit="(1 + slack) * pass_time(texts, 1, parameters, bytes_per_parameter, bandwidth, flop_rate, 0)",
    cache="0",
)

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{f"1a is {a}": ("q1-answer", three(a, 40, 100), {"q1a-check": 1}) for a in (42.5, 2.5, 1.25, 320, 5, 80, 0.04, 37.5, 0)},
    **{f"1b is {b}": ("q1-answer", three(40, b, 100), {"q1b-check": 1}) for b in (400, 65, 52.5, 25, 12.5, 4, 0.04, 100)},
    **{f"1c is {c}": ("q1-answer", three(40, 40, c), {"q1c-check": 1}) for c in (40, 50, 140, 90, 1600, 0.1, 60)},
    **{f"2a is {a}": ("q2-answer", f"answer_2a, answer_2b = {a}, 32", {"q2a-check": 1}) for a in (32, 8, 64, 1, 15, 17, 40, 10)},
    **{f"2b is {b}": ("q2-answer", f"answer_2a, answer_2b = 16, {b}", {"q2b-check": 1}) for b in (16, 8, 64, 4, 1, 31)},
    **{f"3 is {letter}": ("q3-answer", f'answer_3 = "{letter}"', {"q3-check": 2}) for letter in "ABD"},
    **{
        f"4a is {a}": ("q4-answer", cache(a, 25_000, 1_250), {"q4a-check": 1})
        for a in (25_600, 12_800, 153_600, 76_800, 204_800, 1_280, 10_240, 409_600, 1)
    },
    **{f"4b is {b}": ("q4-answer", cache(51_200, b, 1_250), {"q4b-check": 1}) for b in (50_000, 8_333.3, 16_667, 12_500, 1_000_000, 1_250)},
    **{f"4c is {c}": ("q4-answer", cache(51_200, 25_000, c), {"q4c-check": 1}) for c in (25_000, 500_000, 2_500, 416.7, 1_000)},
    **{f"5 is {letter}": ("q5-answer", f'answer_5 = "{letter}"', {"q5-check": 2}) for letter in "ABC"},
    "memory and arithmetic one after the other": ("q6-answer", SUM, {"q6-check": 3}),
    "one FLOP a parameter": ("q6-answer", NO_TWO, {"q6-check": 2}),
    "the weights read for each token": ("q6-answer", READS_PER_TOKEN, {"q6-check": 5}),
    "the weights read for each text": (
        "q6-answer",
        seconds(f"return max(texts * (parameters * bytes_per_parameter + cache_bytes) / bandwidth, {COMPUTING})"),
        {"q6-check": 5},
    ),
    "the weights read for each token, for all texts together": (
        "q6-answer",
        seconds(f"return max(tokens * {MOVING}, {COMPUTING})"),
        {"q6-check": 5},
    ),
    "memory alone": ("q6-answer", MEMORY_ALONE, {"q6-check": 2}),
    "arithmetic alone": ("q6-answer", seconds(f"return {COMPUTING}"), {"q6-check": 5}),
    "the shorter of the two": ("q6-answer", seconds(f"return min({MOVING}, {COMPUTING})"), {"q6-check": 5}),
    "one cache for all texts": ("q6-answer", ONE_CACHE, {"q6-check": 2}),
    "no cache": ("q6-answer", seconds(f"return max(parameters * bytes_per_parameter / bandwidth, {COMPUTING})"), {"q6-check": 2}),
    "the cache read for each token": (
        "q6-answer",
        seconds(f"return max({MOVING.replace('texts', 'texts * tokens')}, {COMPUTING})"),
        {"q6-check": 2},
    ),
    "the tokens of one text": ("q6-answer", seconds(f"return max({MOVING}, {COMPUTING.replace('texts * ', '')})"), {"q6-check": 2}),
    "the texts without their tokens": (
        "q6-answer",
        seconds(f"return max({MOVING}, {COMPUTING.replace(' * tokens', '')})"),
        {"q6-check": 2},
    ),
    "bits": ("q6-answer", seconds(f"return max(8 * {MOVING}, {COMPUTING})"), {"q6-check": 5}),
    "milliseconds": ("q6-answer", seconds(f"return 1000 * max({MOVING}, {COMPUTING})"), {"q6-check": 5}),
    "the visible time alone": ("q6-answer", seconds("return 0.02"), {"q6-check": 5}),
    "the token of the text itself forgotten": ("q7-answer", loop(tokens="k + 1"), {"q7-check": 3}),
    "the first draft that is too long": ("q7-answer", loop(back="k + 1"), {"q7-check": 3}),
    "no slack": ("q7-answer", loop(limit=MEMORY_LIMIT.replace("(1 + slack) * ", "")), {"q7-check": 3}),
    "the draft of all texts together": ("q7-answer", loop(tokens="1 + (k + 1) / texts"), {"q7-check": 3}),
    "the texts forgotten": ("q7-answer", loop(texts="1"), {"q7-check": 3}),
    "measured against the reading alone": ("q7-answer", loop(limit=MEMORY_LIMIT), {"q7-check": 1}),
    "the caches forgotten": ("q7-answer", CACHES_FORGOTTEN, {"q7-check": 1}),
    "one cache in the longest draft": ("q7-answer", BY_RIDGE.replace("{cache}", "cache_bytes"), {"q7-check": 1}),
    "never below one": ("q7-answer", loop(back="max(k, 1)"), {"q7-check": 1}),
    "the visible draft alone": ("q7-answer", longest("return 10"), {"q7-check": 3}),
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\b40\b",
    "q1b-check": r"\b40\b",
    "q1c-check": r"\b100\b",
    "q2a-check": r"\b16\b|sixteen",
    "q2b-check": r"\b32\b",
    "q3-check": r"\bC\b",
    "q4a-check": r"51.?200",
    "q4b-check": r"25.?000",
    "q4c-check": r"1.?250",
    "q5-check": r"\bD\b|\bsix\b",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", "answer_1a = '40'", "one number without quotes"),
    ("q1b-check", "answer_1b = ...", "no answer yet"),
    ("q1b-check", "answer_1b = True", "one number without quotes"),
    ("q1c-check", "answer_1c = [1, 2]", "one number"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = 12.5", "whole number"),
    ("q2b-check", "answer_2b = float('inf')", "whole number"),
    ("q2b-check", "answer_2b = '8'", "without quotes"),
    ("q3-check", "answer_3 = ...", "no answer yet"),
    ("q3-check", 'answer_3 = "c"', "capital letters A, B, C, D"),
    ("q4a-check", "", "no answer yet"),
    ("q4a-check", "answer_4a = '51 kB'", "without quotes"),
    ("q4b-check", "answer_4b = None", "one number"),
    ("q4c-check", "answer_4c = ...", "no answer yet"),
    ("q5-check", "answer_5 = 3", "letter in quotes"),
    ("q5-check", 'answer_5 = "A, B"', "exactly one"),
    ("q6-check", "", "no function pass_time"),
    ("q6-check", "pass_time = 0.02", "no function pass_time"),
    ("q6-check", seconds("..."), "return one number, the seconds, not None"),
    ("q6-check", seconds("return '20 ms'"), "not '20 ms'"),
    ("q6-check", seconds("return 0.16"), "take 0.02 s, but yours gives 0.16"),
    ("q7-check", "", "no function longest_draft"),
    ("q7-check", longest("..."), "yours gives None"),
    ("q7-check", longest("return 11"), "may draft 10 at slack 0.15, but yours gives 11"),
]
