"""Answers to the knowledge check of chapter 4, with the marks they must get; what the names mean is said in source.py."""

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
    "q5-check": 4,
    "q6-check": 3,
    "q7-check": 4,
}


def metrics(body: str) -> str:
    return "def metrics(accepted, k):\n" + indent(dedent(body).strip(), "    ")


def tokens(body: str) -> str:
    return "def tokens_from_conditional(conditional):\n" + indent(dedent(body).strip(), "    ")


def best(body: str) -> str:
    return "def best_k(conditional, c, verify):\n" + indent(dedent(body).strip(), "    ")


def log(a: str = "16 / 20", b: str = "4.2", c: str = "0.75") -> str:
    return f"answer_1a, answer_1b, answer_1c = {a}, {b}, {c}"


def weak(a: str = "1.56", b: str = "1.2") -> str:
    return f"answer_2a, answer_2b = {a}, {b}"


def mixed(a: str = "1.91", b: str = "B") -> str:
    return f'answer_4a, answer_4b = {a}, "{b}"'


ONE_NUMBER = metrics("""
rate = sum(accepted) / (k * len(accepted))
return rate, rate
""")
A_REJECTION_A_ROUND = metrics("""
return sum(accepted) / (k * len(accepted)), sum(accepted) / (sum(accepted) + len(accepted))
""")
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
    "q5-answer": metrics("return sum(accepted) / (k * len(accepted))"),
    "q6-answer": "tokens_from_conditional = 1.5",
    "q7-answer": best("return 1.4583"),
}

# One learner each: the answers, and the points lost by check (a check that is not named earns all of its points).
LEARNERS = {
    "perfect": ({}, {}),
    "one_number": (
        {"q1-answer": log(a="16 / 40", c="3 / 5"), "q5-answer": ONE_NUMBER},
        {"q1a-check": 1, "q1c-check": 1, "q5-check": 3},
    ),
    "rate_times_k": (
        {
            "q2-answer": weak("1 + 2 * 0.4", "1.8 / 1.3"),
            "q4-answer": mixed("2", "D"),
            "q6-answer": A_TIMES_K,
        },
        {"q2a-check": 1, "q2b-check": 1, "q4a-check": 1, "q4b-check": 1, "q6-check": 3},
    ),
    "no_token_of_its_own": (
        {
            "q1-answer": log(b="16 / 5"),
            "q2-answer": weak("0.4 + 0.4**2", "0.56 / 1.3"),
            "q4-answer": mixed("0.91"),
            "q6-answer": NO_TOKEN_OF_ITS_OWN,
        },
        {"q1b-check": 1, "q2a-check": 1, "q2b-check": 1, "q4a-check": 1, "q6-check": 3},
    ),
    "one_p_for_all": (
        {"q4-answer": mixed("1.75", "D"), "q6-answer": ONE_P, "q7-answer": BEST_OF_ONE_P},
        {"q4a-check": 1, "q4b-check": 1, "q6-check": 3, "q7-check": 1},
    ),
    "longer_is_better": (
        {"q3-answer": 'answer_3 = "B"', "q7-answer": LONGER_IS_BETTER},
        {"q3-check": 2, "q7-check": 4},
    ),
    "acceptance_is_all": (
        {"q2-answer": weak(b="1.56 / 1.1"), "q3-answer": 'answer_3 = "A"', "q7-answer": DRAFTS_ARE_FREE},
        {"q2b-check": 1, "q3-check": 2, "q7-check": 4},
    ),
    "every_round_ends_badly": (
        {"q1-answer": log(a="16 / 21"), "q5-answer": A_REJECTION_A_ROUND},
        {"q1a-check": 1, "q5-check": 2},
    ),
    "the_next_guess_tells": ({"q7-answer": CLIMBS}, {"q7-check": 1}),
}

METRICS_LOOP = metrics("""
drafted = stood = tested = 0
for a in accepted:
    drafted += k
    stood += a
    tested += min(a + 1, k)
return stood / drafted, stood / tested
""")
METRICS_ROUND_BY_ROUND = metrics("""
from statistics import mean
flips = [stood for a in accepted for stood in ([True] * a + [False])[:k]]
return mean(a / k for a in accepted), mean(map(float, flips))
""")
METRICS_FRACTIONS = metrics("""
from fractions import Fraction
n = sum(accepted)
return Fraction(n, k * len(accepted)), Fraction(n, n + len([a for a in accepted if a != k]))
""")
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
    ("q1-answer", log("0.8", "21 / 5", "1 - 1 / 4")),
    ("q2-answer", weak()),
    ("q2-answer", weak("(1 - 0.4**3) / (1 - 0.4)", "1.56 / (1.1 + 2 * 0.05 + 0.1)")),
    ("q3-answer", "answer_3 = 'D'"),
    ("q4-answer", mixed()),
    ("q4-answer", mixed("1 + (0.9 + 0.1) / 2 + (0.81 + 0.01) / 2")),
    ("q5-answer", METRICS_LOOP),
    ("q5-answer", METRICS_ROUND_BY_ROUND),
    ("q5-answer", METRICS_FRACTIONS),
    ("q6-answer", TOKENS_FROM_THE_BACK),
    ("q6-answer", TOKENS_UNTIL_DEAD),
    ("q6-answer", TOKENS_RECURSIVE),
    ("q6-answer", TOKENS_BY_OUTCOME),
    ("q7-answer", BEST),
    ("q7-answer", BEST_ALONE),
    ("q7-answer", BEST_LIST),
]

MEAN_OF_ALPHAS = metrics("""
n = len(accepted)
return sum(accepted) / (k * n), sum(a / min(a + 1, k) for a in accepted) / n
""")
COUNTS_ITS_OWN = metrics("""
n, rejections = sum(accepted), sum(a < k for a in accepted)
return n / (k * len(accepted)), (n + len(accepted)) / (n + len(accepted) + rejections)
""")
REST_OF_THE_DRAFT_REJECTED = metrics("""
n, rejected = sum(accepted), sum(k - a for a in accepted)
return n / (n + rejected), n / (n + rejected)
""")
FORGETS_NONE = tokens("""
emitted = reached = 1
for share in conditional:
    reached *= share
    emitted += reached
return emitted
""")
NEEDS_A_LIST = tokens("if not conditional:\n    return 0\n" + dedent(TOKENS_FROM_THE_BACK.split("\n", 1)[1]))
THE_SPEEDUP = best(f"return max({GAINS} for k in range(len(conditional) + 1))")
ALPHA_FIRST = METRICS_LOOP.replace("stood / drafted, stood / tested", "stood / tested, stood / drafted")
FULL_ROUNDS = metrics("return sum(accepted) / (k * len(accepted)), accepted.count(k) / len(accepted)")

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{f"1a is {a}": ("q1-answer", log(a=a), {"q1a-check": 1}) for a in ("0.4", "16 / 21", "21 / 40", "1 / 5", "0.75", "1")},
    **{f"1b is {b}": ("q1-answer", log(b=b), {"q1b-check": 1}) for b in ("3.2", "3.4", "4", "4.16", "4.33", "21", "9")},
    **{f"1c is {c}": ("q1-answer", log(c=c), {"q1c-check": 1}) for c in ("0.6", "0.8", "0.4", "2 / 4", "1", "1 / 3")},
    **{f"2a is {a}": ("q2-answer", weak(a=a), {"q2a-check": 1}) for a in ("0.8", "1.8", "0.56", "1.4", "0.96", "3", "1.16")},
    **{
        f"2b is {b}": ("q2-answer", weak(b=b), {"q2b-check": 1})
        for b in ("1.42", "1.3", "1.25", "1.56 / 1.15", "1.56 / 1.35", "1.56", "0.45", "0.65", "0.83", "0.43", "1.38")
    },
    **{f"3 is {letter}": ("q3-answer", f'answer_3 = "{letter}"', {"q3-check": 2}) for letter in "ABC"},
    **{f"4a is {a}": ("q4-answer", mixed(a), {"q4a-check": 1}) for a in ("1.75", "0.91", "2.245", "1.57", "3.82", "1.5", "2")},
    **{f"4b is {letter}": ("q4-answer", mixed(b=letter), {"q4b-check": 1}) for letter in "ACD"},
    "rate and alpha are one number": ("q5-answer", ONE_NUMBER, {"q5-check": 3}),
    "everything that does not stand was rejected": ("q5-answer", REST_OF_THE_DRAFT_REJECTED, {"q5-check": 3}),
    "a rejection in every round": ("q5-answer", A_REJECTION_A_ROUND, {"q5-check": 2}),
    "the mean of the rounds' alphas": ("q5-answer", MEAN_OF_ALPHAS, {"q5-check": 3}),
    "the target's own tokens are accepted ones": ("q5-answer", COUNTS_ITS_OWN, {"q5-check": 3}),
    "the share of full rounds": ("q5-answer", FULL_ROUNDS, {"q5-check": 3}),
    "alpha first": ("q5-answer", ALPHA_FIRST, {"q5-check": 4}),
    "tokens for a rate": ("q5-answer", metrics("return sum(accepted) / len(accepted), sum(accepted)"), {"q5-check": 4}),
    "the visible rate alone": ("q5-answer", metrics("return 0.25, 0.5"), {"q5-check": 4}),
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
    "the longest draft": ("q7-answer", best("return len(conditional)"), {"q7-check": 4}),
    "the longest draft, if any": ("q7-answer", LONGER_IS_BETTER, {"q7-check": 4}),
    "drafts are free": ("q7-answer", DRAFTS_ARE_FREE, {"q7-check": 4}),
    "the drafter is paid once": ("q7-answer", BEST.replace("k * c", "(k > 0) * c"), {"q7-check": 4}),
    "the speedup, not the length": ("q7-answer", THE_SPEEDUP, {"q7-check": 4}),
    "the visible length alone": ("q7-answer", best("return 2"), {"q7-check": 4}),
    "stops at the first loss": ("q7-answer", CLIMBS, {"q7-check": 1}),
    "every pass costs a plain step": ("q7-answer", BEST.replace("verify(k + 1)", "1"), {"q7-check": 3}),
    "the pass over k tokens": ("q7-answer", BEST.replace("verify(k + 1)", "verify(max(k, 1))"), {"q7-check": 2}),
    "one p for all, and the best k": ("q7-answer", BEST_OF_ONE_P, {"q7-check": 1}),
    "something is always drafted": ("q7-answer", ALWAYS_DRAFTS, {"q7-check": 1}),
    "never to the limit": ("q7-answer", BEST.replace("len(conditional) + 1", "len(conditional)"), {"q7-check": 1}),
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
    ("q5-check", "", "no function metrics"),
    ("q5-check", "metrics = 0.4, 0.8", "no function metrics"),
    ("q5-check", metrics("..."), "return two values, rate and alpha, not None"),
    ("q5-check", metrics("return 0.25"), "not 0.25"),
    ("q5-check", metrics("return 0.5, 0.25"), "metrics([1, 0], 2) gives 0.5"),
    ("q6-check", "", "no function tokens_from_conditional"),
    ("q6-check", tokens("..."), "return one number, not None"),
    ("q6-check", tokens("return sum(conditional)"), "makes 1.5 tokens a round, but yours gives 0.5"),
    ("q7-check", "", "no function best_k"),
    ("q7-check", best("..."), "return one whole number, the draft length, not None"),
    ("q7-check", best("return 1.46"), "not 1.46"),
    ("q7-check", best("return len(conditional)"), "best, not 8"),
]
