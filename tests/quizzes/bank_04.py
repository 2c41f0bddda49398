"""Answers to the knowledge check of chapter 4, with the marks they must get; what the names mean is said in source.py."""

from functools import partial
from textwrap import dedent

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
    "q5a-check": 1,
    "q5b-check": 1,
    "q5c-check": 1,
    "q5d-check": 1,
    "q6-check": 3,
    "q7-check": 4,
}


tokens = partial(function, "tokens_from_conditional(conditional)")


best = partial(function, "best_k(conditional, c, verify)")


STOOD = "sum(log1)"
FAILED = "sum(x < k1 for x in log1)"
FULL = "log1.count(k1)"
ALPHA = f"{STOOD} / ({STOOD} + {FAILED})"
COST = "v2 + 2 * c2 + overhead2"
EASY, HARD = "1 + easy4 + easy4**2", "1 + hard4 + hard4**2"
MEAN = "(easy4 + hard4) / 2"
P = "((1 + 8 * rate5) ** 0.5 - 1) / 2"
ALL_STAND = f"sum(({P}) ** i for i in range(1, k5 + 1))"


def at_least(n: int) -> str:
    return f"sum(x >= {n} for x in log1)"


def log(a: str = ALPHA, b: str = f"{STOOD} / 5 + 1", c: str = f"{at_least(2)} / {at_least(1)}") -> str:
    return f"answer_1a, answer_1b, answer_1c = {a}, {b}, {c}"


def weak(a: str = "1 + p2 + p2**2", b: str = f"(1 + p2 + p2**2) / ({COST})") -> str:
    return f"answer_2a, answer_2b = {a}, {b}"


def mixed(a: str = f"({EASY}) / 2 + ({HARD}) / 2", b: str = "B") -> str:
    return f'answer_4a, answer_4b = {a}, "{b}"'


def two(a: str = P, b: str = "1 + 2 * rate5", c: str = f"{ALL_STAND} / k5", d: str = "C") -> str:
    return f'answer_5a, answer_5b, answer_5c, answer_5d = {a}, {b}, {c}, "{d}"'


A_TIMES_K = tokens("return 1 + sum(share or 0 for share in conditional)")
NO_TOKEN_OF_ITS_OWN = tokens("""
emitted, reached = 0, 1
for share in conditional:
    reached *= share or 0
    emitted += reached
return emitted
""")
ONE_P = tokens("""
shares = [share for share in conditional if share is not None]
p = sum(shares) / len(shares) if shares else 0
return sum(p**i for i in range(len(conditional) + 1))
""")
GAINS = "tokens_from_conditional(conditional[:k]) / (verify(k + 1) + k * c)"
BEST = best(f"return max(range(len(conditional) + 1), key=lambda k: {GAINS})")
BEST_OF_ONE_P = best("p = sum(conditional) / len(conditional)\nconditional = [p] * len(conditional)\n" + BEST.splitlines()[1].strip())
CLIMBS = best(f"""
def speedup(k):
    return {GAINS}
k = 0
while k < len(conditional) and speedup(k + 1) > speedup(k):
    k += 1
return k
""")
ALWAYS_DRAFTS = BEST.replace("range(", "range(1, ")
LONGER_IS_BETTER = best("return len(conditional) if conditional[0] > c else 0")
DRAFTS_ARE_FREE = BEST.replace("(verify(k + 1) + k * c)", "verify(k + 1)")

MALFORMED = {
    "q1-answer": 'answer_1a, answer_1b, answer_1c = 80, "4.2", None',
    "q2-answer": 'answer_2a = "1.56"\nanswer_2b = [1.2]',
    "q3-answer": 'answer_3 = "d"',
    "q4-answer": 'answer_4a, answer_4b = "B", 1.91',
    "q5-answer": 'answer_5a, answer_5b, answer_5c, answer_5d = "0.6", None, 33, "c"',
    "q6-answer": "tokens_from_conditional = 1.5",
    "q7-answer": best("return 1.4583"),
}

# One learner each: the answers, and the points lost by check (a check that is not named earns all of its points).
LEARNERS = {
    "perfect": ({}, {}),
    "one_number": (
        {"q1-answer": log(a=f"{STOOD} / (5 * k1)"), "q5-answer": two(a="rate5", c="rate5", d="B")},
        {"q1a-check": 1, "q5a-check": 1, "q5c-check": 1, "q5d-check": 1},
    ),
    "rate_times_k": (
        {
            "q2-answer": weak("1 + 2 * p2", f"(1 + 2 * p2) / ({COST})"),
            "q4-answer": mixed(f"1 + 2 * {MEAN}", "D"),
            "q5-answer": two(b=f"1 + 2 * {P}", c=P),
            "q6-answer": A_TIMES_K,
        },
        {"q2a-check": 1, "q2b-check": 1, "q4a-check": 1, "q4b-check": 1, "q5b-check": 1, "q5c-check": 1, "q6-check": 3},
    ),
    "no_token_of_its_own": (
        {
            "q1-answer": log(b=f"{STOOD} / 5"),
            "q2-answer": weak("p2 + p2**2", f"(p2 + p2**2) / ({COST})"),
            "q4-answer": mixed(f"({EASY}) / 2 + ({HARD}) / 2 - 1"),
            "q5-answer": two(b="2 * rate5"),
            "q6-answer": NO_TOKEN_OF_ITS_OWN,
        },
        {"q1b-check": 1, "q2a-check": 1, "q2b-check": 1, "q4a-check": 1, "q5b-check": 1, "q6-check": 3},
    ),
    "one_p_for_all": (
        {"q4-answer": mixed(f"1 + {MEAN} + ({MEAN}) ** 2", "D"), "q6-answer": ONE_P, "q7-answer": BEST_OF_ONE_P},
        {"q4a-check": 1, "q4b-check": 1, "q6-check": 3, "q7-check": 3},
    ),
    "longer_is_better": (
        {"q3-answer": 'answer_3 = "B"', "q7-answer": LONGER_IS_BETTER},
        {"q3-check": 2, "q7-check": 4},
    ),
    "acceptance_is_all": (
        {"q2-answer": weak(b="(1 + p2 + p2**2) / v2"), "q3-answer": 'answer_3 = "A"', "q7-answer": DRAFTS_ARE_FREE},
        {"q2b-check": 1, "q3-check": 2, "q7-check": 4},
    ),
    "every_round_ends_badly": (
        {"q1-answer": log(a=f"{STOOD} / ({STOOD} + 5)"), "q5-answer": two(a="2 * rate5 / (1 + 2 * rate5)", d="D")},
        {"q1a-check": 1, "q5a-check": 1, "q5d-check": 1},
    ),
    "the_next_guess_tells": ({"q7-answer": CLIMBS}, {"q7-check": 1}),
}

TOKENS_FROM_THE_BACK = tokens("""
emitted = 1.0
for share in reversed(conditional):
    emitted = 1 + (share or 0) * emitted
return emitted
""")
TOKENS_UNTIL_DEAD = tokens("""
import math
alive = conditional[: conditional.index(None)] if None in conditional else conditional
return 1 + sum(math.prod(alive[:i]) for i in range(1, len(alive) + 1))
""")
TOKENS_RECURSIVE = tokens("return 1 + conditional[0] * tokens_from_conditional(conditional[1:]) if conditional and conditional[0] else 1")
TOKENS_BY_OUTCOME = tokens("""
mean, reached = 0.0, 1.0
for stood, share in enumerate(conditional):
    share = share or 0
    mean += (stood + 1) * reached * (1 - share)
    reached *= share
return mean + (len(conditional) + 1) * reached
""")
BEST_ALONE = best("""
best, best_speedup = 0, 1.0
emitted = reached = 1.0
for k, share in enumerate(conditional, 1):
    reached *= share
    emitted += reached
    speedup = emitted / (verify(k + 1) + k * c)
    if speedup > best_speedup:
        best, best_speedup = k, speedup
return best
""")
BEST_LIST = best(f"""
gains = [1] + [{GAINS} for k in range(1, len(conditional) + 1)]
return gains.index(max(gains))
""")

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", log()),
    (
        "q1-answer",
        log(
            f"round(1 - {FAILED} / ({STOOD} + {FAILED}), 2)",
            "sum(x + 1 for x in log1) / len(log1)",
            "round(1 - log1.count(1) / (5 - log1.count(0)), 2)",
        ),
    ),
    ("q2-answer", weak()),
    ("q2-answer", weak("(1 - p2**3) / (1 - p2)", f"round((1 + p2 * (1 + p2)) / ({COST}), 2)")),
    ("q3-answer", "answer_3 = 'D'"),
    ("q4-answer", mixed()),
    ("q4-answer", mixed("1 + (easy4 + hard4) / 2 + (easy4**2 + hard4**2) / 2")),
    ("q5-answer", two()),
    ("q5-answer", two("next(p / 10 for p in range(1, 10) if abs(p / 10 + p * p / 100 - 2 * rate5) < 1e-9)", f"1 + {P} + ({P}) ** 2")),
    ("q5-answer", two(c=f"round(({P}) * (1 - ({P}) ** k5) / (1 - ({P})) / k5, 2)")),
    ("q6-answer", TOKENS_FROM_THE_BACK),
    ("q6-answer", TOKENS_UNTIL_DEAD),
    ("q6-answer", TOKENS_RECURSIVE),
    ("q6-answer", TOKENS_BY_OUTCOME),
    ("q7-answer", BEST),
    ("q7-answer", BEST_ALONE),
    ("q7-answer", BEST_LIST),
]

FORGETS_NONE = tokens("""
emitted = reached = 1
for share in conditional:
    reached *= share
    emitted += reached
return emitted
""")
NEEDS_A_LIST = tokens("if not conditional:\n    return 0\n" + dedent(TOKENS_FROM_THE_BACK.split("\n", 1)[1]))
THE_SPEEDUP = best(f"return max({GAINS} for k in range(len(conditional) + 1))")
FILLS_IN = tokens("""
for i, share in enumerate(conditional):
    conditional[i] = share or 0
emitted = 1.0
for share in reversed(conditional):
    emitted = 1 + share * emitted
return emitted
""")
ONE_TOO_MANY = tokens("""
emitted, reached = 0, 1
for share in [1, *conditional, 1]:
    reached *= share or 0
    emitted += reached
return emitted
""")
USED_UP = best(f"""
best, best_speedup = 0, 1.0
while conditional:
    k = len(conditional)
    speedup = {GAINS}
    if speedup >= best_speedup:
        best, best_speedup = k, speedup
    conditional.pop()
return best
""")

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a: {what}": ("q1-answer", log(a=a), {"q1a-check": 1})
        for what, a in {
            "the rate": f"{STOOD} / (5 * k1)",
            "a rejection in every round": f"{STOOD} / ({STOOD} + 5)",
            "the target's tokens over the drafted": f"({STOOD} + 5) / (5 * k1)",
            "the target's tokens stand, too": f"({STOOD} + 5) / ({STOOD} + 5 + {FAILED})",
            "the share of full rounds": f"{FULL} / 5",
            "the mean of the rounds' shares": "sum(x / min(x + 1, k1) for x in log1) / 5",
            "all that stood": "1",
        }.items()
    },
    **{
        f"1b: {what}": ("q1-answer", log(b=b), {"q1b-check": 1})
        for what, b in {
            "drafted ones only": f"{STOOD} / 5",
            "bonuses only": f"({STOOD} + {FULL}) / 5",
            "corrections only": f"({STOOD} + {FAILED}) / 5",
            "the formula, a term short": f"sum(({ALPHA}) ** i for i in range(k1))",
            "the formula": f"sum(({ALPHA}) ** i for i in range(k1 + 1))",
            "all rounds together": f"{STOOD} + 5",
            "a full round": "k1 + 1",
            "alpha times k": f"1 + ({ALPHA}) * k1",
        }.items()
    },
    **{
        f"1c: {what}": ("q1-answer", log(c=c), {"q1c-check": 1})
        for what, c in {
            "of all rounds": f"{at_least(2)} / 5",
            "the first token": f"{at_least(1)} / 5",
            "the rate": f"{STOOD} / (5 * k1)",
            "the third token": f"{at_least(3)} / {at_least(1)}",
            "always": "1",
            "ended there": f"log1.count(2) / {at_least(1)}",
        }.items()
    },
    **{
        f"2a: {what}": ("q2-answer", weak(a=a), {"q2a-check": 1})
        for what, a in {
            "rate times k": "2 * p2",
            "rate times k, and one": "1 + 2 * p2",
            "drafted ones only": "p2 + p2**2",
            "one guess": "1 + p2",
            "the second guess alone": "1 + p2**2",
            "everything": "3",
            "a draft without end": "1 / (1 - p2)",
            "one guess too many": "1 + p2 + p2**2 + p2**3",
        }.items()
    },
    **{
        f"2b: {what}": ("q2-answer", weak(b=f"(1 + p2 + p2**2) / ({cost})"), {"q2b-check": 1})
        for what, cost in {
            "the pass alone": "v2",
            "drafts are free": "v2 + overhead2",
            "no overhead": "v2 + 2 * c2",
            "a pass costs 1": "1 + 2 * c2 + overhead2",
            "the drafter is paid once": "v2 + c2 + overhead2",
            "the drafter is paid once, no overhead": "v2 + c2",
            "three drafted": "v2 + 3 * c2 + overhead2",
            "two passes": "2 * v2 + 2 * c2 + overhead2",
            "three passes": "3 * v2 + 2 * c2 + overhead2",
            "nothing": "1",
            "a plain step on top": f"1 + {COST}",
        }.items()
    },
    "2b: upside down": ("q2-answer", weak(b=f"({COST}) / (1 + p2 + p2**2)"), {"q2b-check": 1}),
    "2b: drafted ones only": ("q2-answer", weak(b=f"(p2 + p2**2) / ({COST})"), {"q2b-check": 1}),
    **{f"3 is {letter}": ("q3-answer", f'answer_3 = "{letter}"', {"q3-check": 2}) for letter in "ABC"},
    **{
        f"4a: {what}": ("q4-answer", mixed(a), {"q4a-check": 1})
        for what, a in {
            "the formula at the average": f"1 + {MEAN} + ({MEAN}) ** 2",
            "drafted ones only": f"({EASY}) / 2 + ({HARD}) / 2 - 1",
            "easy rounds count by their tokens": f"(({EASY}) ** 2 + ({HARD}) ** 2) / (({EASY}) + ({HARD}))",
            "half of the tokens": f"2 / (1 / ({EASY}) + 1 / ({HARD}))",
            "two rounds": f"({EASY}) + ({HARD})",
            "one guess": f"1 + {MEAN}",
            "rate times k": f"1 + 2 * {MEAN}",
        }.items()
    },
    **{f"4b is {letter}": ("q4-answer", mixed(b=letter), {"q4b-check": 1}) for letter in "ACD"},
    **{
        f"5a: {what}": ("q5-answer", two(a=a), {"q5a-check": 1})
        for what, a in {
            "the rate": "rate5",
            "both stand": "rate5**0.5",
            "a rejection in every round": "2 * rate5 / (1 + 2 * rate5)",
            "what falls": "1 - rate5",
            "the rate squared": "rate5**2",
        }.items()
    },
    **{
        f"5b: {what}": ("q5-answer", two(b=b), {"q5b-check": 1})
        for what, b in {
            "drafted ones only": "2 * rate5",
            "one guess": f"1 + {P}",
            "the rate of one guess": "1 + rate5",
            "p times k": f"1 + 2 * {P}",
            "a draft without end": f"1 / (1 - ({P}))",
            "the second log": f"1 + {ALL_STAND}",
        }.items()
    },
    **{
        f"5c: {what}": ("q5-answer", two(c=c), {"q5c-check": 1})
        for what, c in {
            "the same rate": "rate5",
            "p": P,
            "the whole draft": f"({P}) ** k5",
            "as many tokens": "2 * rate5 / k5",
            "the target's own, too": f"(1 + {ALL_STAND}) / k5",
            "one drafted too many": f"{ALL_STAND} / (k5 + 1)",
            "in proportion to k, from p": f"({P}) * 2 / k5",
        }.items()
    },
    **{f"5d is {letter}": ("q5-answer", two(d=letter), {"q5d-check": 1}) for letter in "ABD"},
    "shares added up": ("q6-answer", A_TIMES_K, {"q6-check": 3}),
    "the target's own token left out": ("q6-answer", NO_TOKEN_OF_ITS_OWN, {"q6-check": 3}),
    "one p for all": ("q6-answer", ONE_P, {"q6-check": 3}),
    "the first share for all": (
        "q6-answer",
        tokens("return sum((conditional[0] or 0) ** i for i in range(len(conditional) + 1)) if conditional else 1"),
        {"q6-check": 3},
    ),
    "powers of each share": ("q6-answer", tokens("return 1 + sum((s or 0) ** i for i, s in enumerate(conditional, 1))"), {"q6-check": 3}),
    "one guess short": ("q6-answer", tokens("s = conditional\nreturn 1.5 if s == [0.5] else 1 + sum(s[:1])"), {"q6-check": 3}),
    "the visible case alone": ("q6-answer", tokens("return 1.5"), {"q6-check": 3}),
    "an error at None": ("q6-answer", FORGETS_NONE, {"q6-check": 1}),
    "nothing for an empty draft": ("q6-answer", NEEDS_A_LIST, {"q6-check": 1}),
    "None filled in": ("q6-answer", FILLS_IN, {"q6-check": 1}),
    "one token too many": ("q6-answer", ONE_TOO_MANY, {"q6-check": 3}),
    "the marginal shares": ("q6-answer", tokens("return 1 + sum(conditional)"), {"q6-check": 3}),
    "the longest draft": ("q7-answer", best("return len(conditional)"), {"q7-check": 4}),
    "the longest draft, if any": ("q7-answer", LONGER_IS_BETTER, {"q7-check": 4}),
    "drafts are free": ("q7-answer", DRAFTS_ARE_FREE, {"q7-check": 4}),
    "the drafter is paid once": ("q7-answer", BEST.replace("k * c", "(k > 0) * c"), {"q7-check": 4}),
    "the speedup, not the length": ("q7-answer", THE_SPEEDUP, {"q7-check": 4}),
    "the visible length alone": ("q7-answer", best("return 2"), {"q7-check": 4}),
    "stops at the first loss": ("q7-answer", CLIMBS, {"q7-check": 1}),
    "every pass costs a plain step": ("q7-answer", BEST.replace("verify(k + 1)", "1"), {"q7-check": 3}),
    "the pass over k tokens": ("q7-answer", BEST.replace("verify(k + 1)", "verify(max(k, 1))"), {"q7-check": 2}),
    "one p for all, and the best k": ("q7-answer", BEST_OF_ONE_P, {"q7-check": 3}),
    "the list used up": ("q7-answer", USED_UP, {"q7-check": 1}),
    "tokens, not speedup": (
        "q7-answer",
        best("return max(range(len(conditional) + 1), key=lambda k: tokens_from_conditional(conditional[:k]))"),
        {"q7-check": 4},
    ),
    "something is always drafted": ("q7-answer", ALWAYS_DRAFTS, {"q7-check": 1}),
    "never to the limit": ("q7-answer", BEST.replace("len(conditional) + 1", "len(conditional)"), {"q7-check": 1}),
}

# Where the chapter names, or refutes, what a wrong letter stands for.
NAMED = {
    "q3-check": {
        "A": "**High acceptance and no speedup has a cause, and it is in the denominator.**",
        "B": "*A longer draft is always better* is the next belief to drop.",
        "C": "a pass over a few tokens costs little more than a pass over one.",
    },
    "q4b-check": {
        "A": "And at *this* p the formula promises too *much*, beyond k = 1.",
        "C": "the longer the draft, the more easy text there is among the tested.",
        "D": "with a few dozen rounds the formula may be off, and luck may be as large.",
    },
    "q5d-check": {
        "A": "guess 3 cannot stand where guess 2 fell. That is no sign of tiredness.",
        "B": "*acceptance rate, alpha and p are one number* is the first belief to drop.",
        "D": "A falling rate can even go with a *better* result: more tokens a round.",
    },
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"0?\.80?\b|16 / 20",
    "q1b-check": r"\b4\.2|21 / 5",
    "q1c-check": r"\.75|3 / 4",
    "q2a-check": r"1\.56",
    "q2b-check": r"\b1\.20?\b",
    "q3-check": r"\bD\b",
    "q4a-check": r"1\.91",
    "q4b-check": r"\bB\b|\bk = 1\b",
    "q5a-check": r"\.60?\b",
    "q5b-check": r"1\.96",
    "q5c-check": r"\.326|\.33",
    "q5d-check": r"\bC\b",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", "answer_1a = ...", "no answer yet"),
    ("q1a-check", 'answer_1a = "0.5"', "one number without quotes"),
    ("q1a-check", "answer_1a = 50", "write 25 % as 0.25"),
    ("q1b-check", "", "no answer yet"),
    ("q1b-check", "answer_1b = [2, 8]", "one number without quotes"),
    ("q1c-check", "answer_1c = ...", "no answer yet"),
    ("q1c-check", "answer_1c = None", "one number without quotes"),
    ("q1c-check", "answer_1c = 60", "between 0 and 1"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", 'answer_2a = "2"', "one number without quotes"),
    ("q2b-check", "answer_2b = ...", "no answer yet"),
    ("q2b-check", "answer_2b = (1, 2)", "one number without quotes"),
    ("q3-check", "", "no answer yet"),
    ("q3-check", "answer_3 = 4", "letter in quotes"),
    ("q3-check", 'answer_3 = "d"', "capital letters A, B, C, D"),
    ("q4a-check", "answer_4a = ...", "no answer yet"),
    ("q4a-check", 'answer_4a = "A"', "one number without quotes"),
    ("q4b-check", "", "no answer yet"),
    ("q4b-check", "answer_4b = 1", "letter in quotes"),
    ("q4b-check", 'answer_4b = "A, B"', "exactly one"),
    ("q5a-check", "", "no answer yet"),
    ("q5a-check", "answer_5a = 60", "write 25 % as 0.25"),
    ("q5a-check", 'answer_5a = "0.5"', "one number without quotes"),
    ("q5b-check", "answer_5b = ...", "no answer yet"),
    ("q5b-check", "answer_5b = [2, 2]", "one number without quotes"),
    ("q5c-check", "", "no answer yet"),
    ("q5c-check", "answer_5c = None", "one number without quotes"),
    ("q5c-check", "answer_5c = 33", "between 0 and 1"),
    ("q5d-check", "answer_5d = ...", "no answer yet"),
    ("q5d-check", "answer_5d = 3", "letter in quotes"),
    ("q5d-check", 'answer_5d = "c"', "capital letters A, B, C, D"),
    ("q6-check", "", "no function tokens_from_conditional"),
    ("q6-check", tokens("..."), "return one number, not None"),
    ("q6-check", tokens("return sum(conditional)"), "makes 1.5 tokens a round, but yours gives 0.5"),
    ("q7-check", "", "no function best_k"),
    ("q7-check", best("..."), "return one whole number, the draft length, not None"),
    ("q7-check", best("return 1.46"), "not 1.46"),
    ("q7-check", best("return len(conditional)"), "best, not 8"),
]
