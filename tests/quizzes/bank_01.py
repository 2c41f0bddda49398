"""Answers to the knowledge check of chapter 1, with the marks they must get. What the names mean is said in source.py."""

from functools import partial

from tests.quizzes.texts import function

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


seconds = partial(function, "pass_time(texts, tokens, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)")


longest = partial(function, "longest_draft(texts, slack, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)")


def three(a, b, c) -> str:
    return f"answer_1a = {a}\nanswer_1b = {b}\nanswer_1c = {c}"


def free(a, b) -> str:
    return f"answer_2a = {a}\nanswer_2b = {b}"


def cache(a, b, c) -> str:
    return f"answer_4a = {a}\nanswer_4b = {b}\nanswer_4c = {c}"


# Of question 1: milliseconds to read the weights, and for the arithmetic of one token; of question 2: the tokens that are free in 2a;
# of question 4: the bytes that a token leaves behind, the tokens that weigh as much as the weights, and their share of one text.
READ, ONE, FREE = "1000 * P * S / R", "2 * P / F", "round(1000 * T / G / 2)"
BYTES, EQUAL, EACH = "4 * L * H * V", "W * 1e9 / (4 * L * H * V)", "W * 1e9 / (4 * L * H * V) / N"

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
        {
            "q1-answer": three(f"{READ} + {ONE}", f"{READ} + X * {ONE}", f"{READ} + Y * {ONE}"),
            "q2-answer": free(1, 1),
            "q6-answer": SUM,
        },
        {"q1a-check": 1, "q1b-check": 1, "q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 3},
    ),
    # A FLOP for each parameter: either the multiplication or the addition.
    "no_two": (
        {"q1-answer": three(READ, READ, f"Y * {ONE} / 2"), "q2-answer": free(f"2 * {FREE}", f"4 * {FREE}"), "q6-answer": NO_TWO},
        {"q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 2},
    ),
    # Every token has the weights read for it.
    "reads_per_token": (
        {"q1-answer": three(READ, f"X * {READ}", f"Y * {READ}"), "q2-answer": free(1, 1), "q6-answer": READS_PER_TOKEN},
        {"q1b-check": 1, "q1c-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 5},
    ),
    # Verifying is free at any size of the pass.
    "always_free": (
        {"q1-answer": three(READ, READ, READ), "q5-answer": 'answer_5 = "A"', "q6-answer": MEMORY_ALONE, "q7-answer": longest("return 10")},
        {"q1c-check": 1, "q5-check": 2, "q6-check": 2, "q7-check": 3},
    ),
    # The texts of a batch share their cache as they share the weights.
    "one_cache": (
        {"q4-answer": cache(BYTES, EQUAL, EQUAL), "q6-answer": ONE_CACHE, "q7-answer": BY_RIDGE.replace("{cache}", "cache_bytes")},
        {"q4c-check": 1, "q6-check": 2, "q7-check": 1},
    ),
    # The cache keeps a number for each query head.
    "query_heads": (
        {"q4-answer": cache(f"{BYTES} * Q / H", f"{EQUAL} * H / Q", f"{EACH} * H / Q")},
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
    ("q1-answer", "answer_1a = answer_1b = 1000 * P * 1e9 * S / (R * 1e9)\nanswer_1c = 1000 * 2 * P * 1e9 * Y / (F * 1e12)"),
    ("q1-answer", three("P / R * S * 1000.0", f"max({READ}, X * {ONE})", f"max({READ}, Y * {ONE})")),
    ("q2-answer", "answer_2a, answer_2b = T * 1e12 / (G * 1e9) / 2, float(round(1000 * T / G))"),
    ("q3-answer", "answer_3 = 'A'"),
    ("q4-answer", "answer_4a = 4.0 * H * L * V\nanswer_4b = round(W * 1e9 / answer_4a)\nanswer_4c = round(answer_4b / N)"),
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


BASE = "(1 + slack) * pass_time(texts, 1, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes)"


def loop(**changed) -> str:
    parts = {"limit": BASE, "texts": "texts", "tokens": "k + 2", "cache": "cache_bytes", "back": "k"}
    return longest(LOOP.format(**{**parts, **changed}))


MEMORY_LIMIT = "(1 + slack) * (parameters * bytes_per_parameter + texts * cache_bytes) / bandwidth"
CACHES_FORGOTTEN = loop(
    limit="(1 + slack) * pass_time(texts, 1, parameters, bytes_per_parameter, bandwidth, flop_rate, 0)",
    cache="0",
)

# Wrong numbers by their misconception, for the parts of questions 1, 2 and 4.
ONE_TOKEN = {
    "one thing after the other": f"{READ} + {ONE}",
    "one thing after the other, one FLOP a parameter": f"{READ} + {ONE} / 2",
    "arithmetic alone": ONE,
    "arithmetic alone, one FLOP a parameter": f"{ONE} / 2",
    "the shorter of the two": f"min({READ}, {ONE})",
    "parameters of bits": f"{READ} / 8",
    "bytes taken for bits": f"8 * {READ}",
    "two bytes for one or one for two": f"{READ} * (3 - S) / S",
    "the reading less the arithmetic": f"{READ} - {ONE}",
    "upside down": "R / (P * S)",
    "seconds": f"{READ} / 1000",
}
FEW_TOKENS = {
    "weights read for each token": f"X * {READ}",
    "one thing after the other": f"{READ} + X * {ONE}",
    "one thing after the other, one FLOP a parameter": f"{READ} + X * {ONE} / 2",
    "arithmetic alone": f"X * {ONE}",
    "arithmetic alone, one FLOP a parameter": f"X * {ONE} / 2",
    "shared among the tokens": f"{READ} / X",
    "that of c": f"Y * {ONE}",
    "seconds": f"{READ} / 1000",
}
MANY_TOKENS = {
    "always free": READ,
    "one FLOP a parameter": f"Y * {ONE} / 2",
    "one thing after the other": f"{READ} + Y * {ONE}",
    "one thing after the other, one FLOP a parameter": f"{READ} + Y * {ONE} / 2",
    "weights read for each token": f"Y * {READ}",
    "what the reading does not hide": f"Y * {ONE} - {READ}",
    "seconds": f"Y * {ONE} / 1000",
}
FREE_TOKENS = {
    "one FLOP a parameter": f"2 * {FREE}",
    "multiplied by two": f"4 * {FREE}",
    "two bytes a parameter": f"{FREE} // 2",
    "bits": f"8 * {FREE}",
    "none is free": 1,
    "one beside the first": f"{FREE} - 1",
    "the first that is not free": f"{FREE} + 1",
}
FREE_AT_TWO = {
    "the machine is the same": FREE,
    "the wrong way round": f"{FREE} // 2",
    "one FLOP a parameter": f"4 * {FREE}",
    "two FLOP a byte": f"{FREE} // 4",
    "none is free": 1,
    "one beside the first": f"2 * {FREE} - 1",
}
A_TOKEN_LEAVES = {
    "a key alone": f"{BYTES} // 2",
    "numbers counted, and keys alone": f"{BYTES} // 4",
    "query heads": f"{BYTES} * Q // H",
    "queries alone": f"{BYTES} * Q // H // 2",
    "queries, keys and values": f"{BYTES} * (Q + H) // H",
    "one layer": f"{BYTES} // L",
    "one head": f"{BYTES} // H",
    "bits": f"8 * {BYTES}",
}
ONE_TEXT = {
    "a key alone": f"2 * {EQUAL}",
    "query heads": f"{EQUAL} * H / Q",
    "queries alone": f"round(2 * {EQUAL} * H / Q)",
    "two bytes for each byte of weights": f"{EQUAL} / 2",
    "one layer": f"L * {EQUAL}",
    "that of c": EACH,
}
MANY_TEXTS = {
    "one cache for all": EQUAL,
    "weights read for each text": f"N * {EQUAL}",
    "a key alone": f"2 * {EACH}",
    "query heads": f"round({EACH} * H / Q, 1)",
    "a text too many": f"{EQUAL} / (N + 1)",
}

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{f"1a: {why}": ("q1-answer", three(a, READ, f"Y * {ONE}"), {"q1a-check": 1}) for why, a in ONE_TOKEN.items()},
    **{f"1b: {why}": ("q1-answer", three(READ, b, f"Y * {ONE}"), {"q1b-check": 1}) for why, b in FEW_TOKENS.items()},
    **{f"1c: {why}": ("q1-answer", three(READ, READ, c), {"q1c-check": 1}) for why, c in MANY_TOKENS.items()},
    **{f"2a: {why}": ("q2-answer", free(a, f"2 * {FREE}"), {"q2a-check": 1}) for why, a in FREE_TOKENS.items()},
    **{f"2b: {why}": ("q2-answer", free(FREE, b), {"q2b-check": 1}) for why, b in FREE_AT_TWO.items()},
    **{f"3 is {letter}": ("q3-answer", f'answer_3 = "{letter}"', {"q3-check": 2}) for letter in "BCD"},
    **{f"4a: {why}": ("q4-answer", cache(a, EQUAL, EACH), {"q4a-check": 1}) for why, a in A_TOKEN_LEAVES.items()},
    **{f"4b: {why}": ("q4-answer", cache(BYTES, b, EACH), {"q4b-check": 1}) for why, b in ONE_TEXT.items()},
    **{f"4c: {why}": ("q4-answer", cache(BYTES, EQUAL, c), {"q4c-check": 1}) for why, c in MANY_TEXTS.items()},
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
    "weights and caches at the same time": (
        "q6-answer",
        seconds(f"return max(parameters * bytes_per_parameter / bandwidth, texts * cache_bytes / bandwidth, {COMPUTING})"),
        {"q6-check": 2},
    ),
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
    "less than the slack, not at most": ("q7-answer", loop().replace("<=", "<"), {"q7-check": 1}),
    "slack in seconds": ("q7-answer", loop(limit=BASE.replace("(1 + slack) * ", "slack + ")), {"q7-check": 3}),
    "slack in percent": ("q7-answer", loop(limit=BASE.replace("slack", "slack / 100")), {"q7-check": 3}),
    "never below one": ("q7-answer", loop(back="max(k, 1)"), {"q7-check": 1}),
    "the visible draft alone": ("q7-answer", longest("return 10"), {"q7-check": 3}),
}

# Where the chapter speaks of the misconception, or says what is true instead.
NAMED = {
    "q3-check": {
        "B": "a pass cannot take less, and nothing forbids it to take more",
        "C": "*Decoding is slow because of the arithmetic* is the first belief to drop.",
        "D": "The whole pass usually gains less than its products do, because dispatch handles as many operations as before",
    },
    "q5-check": {
        "A": "*Verifying is free at any batch size*: that belief is the one to drop here.",
        "B": "every text brings its own tokens, and its own cache",
        "C": "The same idle arithmetic can be spent on more texts or on guesses, but only once.",
    },
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\b40\b",
    "q1b-check": r"\b40\b",
    "q1c-check": r"\b100\b",
    "q2a-check": r"\b16\b|sixteen",
    "q2b-check": r"\b32\b",
    "q3-check": r"\bA\b",
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
