"""Answers to the knowledge check of chapter 10, with the marks they must get. What the names mean is said in source.py."""

import json

from tests.quizzes.texts import changed, function

CHECKS = {
    "q1-check": 2,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3a-check": 1,
    "q3b-check": 1,
    "q3c-check": 1,
    "q4-check": 2,
    "q5a-check": 1,
    "q5b-check": 1,
    "q6a-check": 3,
    "q6b-check": 2,
    "q7-check": 4,
}


def of(head: str, body: str) -> str:
    return function(head, body) + "\n"


LAW = """
falls = 1 - sum(b * x for b, x in zip(q, accept))
return [b * x + falls * y for b, x, y in zip(q, accept, after)]
"""
TV = "return sum(abs(a - b) for a, b in zip(p, law)) / 2"


def laws(law: str = LAW, tv: str = TV) -> str:
    return of("law_of(q, accept, after)", law) + of("distance(p, law)", tv)


def explain(body: str) -> str:
    return of("explain(plain, quick, gaps, near)", body)


def reports(letters: str = "CADB") -> str:
    return f"answer_1 = {json.dumps(list(letters))}"


def steps(step: object = "low / 128", apart: object = "(best - second) * 128 / low") -> str:
    return f"answer_2a = {step}\nanswer_2b = {apart}"


# Question 3: how often token 0 stands after two tests, once it is drafted; and what the two laws have in common.
TWICE, COMMON = "(1 - (1 - p0 / q0) ** 2)", "(p0 + 1 - q0)"


def chance(stands: object = f"1 - q0 + q0 * {TWICE}", zero: object = f"q0 * {TWICE}", least: object = f"taken - {COMMON}") -> str:
    return f"answer_3a = {stands}\nanswer_3b = {zero}\nanswer_3c = {least}"


def drafters(letters: str = "BD") -> str:
    return f"answer_4 = {json.dumps(list(letters))}"


# Question 5: the ratios of tokens 0 and 1, what the four drafts 00, 01, 10, 11 stand with, and how often each is made.
R0, R1 = "p_each[0] / q_each[0]", "p_each[1] / q_each[1]"
STAND = f"(({R0}) ** 2, {R0} * {R1}, {R0}, 1)"
MADE = "(q_each[0] ** 2, q_each[0] * q_each[1], q_each[1] * q_each[0], q_each[1] ** 2)"
OVERLAP = "(p_each[0] + q_each[1])"


def block(draft: object = f"{R0} * {R1}", both: object = f"sum(a * b for a, b in zip({STAND}, {MADE}))") -> str:
    return f"answer_5a = {draft}\nanswer_5b = {both}"


VERDICT = """
if plain == quick:
    return "same"
for i in range(min(len(plain), len(quick))):
    if plain[i] != quick[i]:
        return "rounding" if gaps[i] <= near else "bug"
return "bug"
"""
ANYWHERE = """
if plain == quick:
    return "same"
return "rounding" if min(gaps) <= near else "bug"
"""
ALWAYS_ROUNDING = 'return "same" if plain == quick else "rounding"'

MALFORMED = {
    "q1-answer": 'answer_1 = "CADB"',
    "q2-answer": 'answer_2a = "1/16"\nanswer_2b = None',
    "q3-answer": 'answer_3a = 80\nanswer_3b = "0.6"\nanswer_3c = [0.3]',
    "q4-answer": 'answer_4 = "BD"',
    "q5-answer": 'answer_5a = "3/4"\nanswer_5b = True',
    "q6-answer": laws("return 1", "return [0]"),
    "q7-answer": "explain = 'same'",
}

LEARNERS = {
    "perfect": ({}, {}),
    # Identical in theory means identical in bf16, and identical words at any temperature.
    "identical_or_broken": (
        {"q1-answer": reports("BABB"), "q7-answer": explain('return "same" if plain == quick else "bug"')},
        {"q1-check": 2, "q7-check": 4},
    ),
    # Every difference is excused with rounding.
    "it_is_the_arithmetic": (
        {"q1-answer": reports("CCCC"), "q7-answer": explain(ALWAYS_ROUNDING)},
        {"q1-check": 2, "q7-check": 3},
    ),
    # After a rejection the target has the last word, so the law is its own.
    "rejections_repair": (
        {"q3-answer": chance(zero="p0", least=0), "q4-answer": drafters("")},
        {"q3b-check": 1, "q3c-check": 1, "q4-check": 2},
    ),
    # A draft whose end depends on anything is suspect; so is one that claims what is not so.
    "fears_every_stop": ({"q4-answer": drafters("ABCDF")}, {"q4-check": 2}),
    # Token by token is all there is; what is above 1 is cut off.
    "cuts_at_one": ({"q5-answer": block(R0, f"{OVERLAP} ** 2")}, {"q5a-check": 1, "q5b-check": 1}),
    # What is left over need not add up, and the sum of the differences is the distance.
    "not_halved": (
        {
            "q3-answer": chance(least=f"(taken - {COMMON}) * 2"),
            "q6-answer": laws("return [b * x + y for b, x, y in zip(q, accept, after)]", "return sum(abs(a - b) for a, b in zip(p, law))"),
        },
        {"q3c-check": 1, "q6a-check": 3, "q6b-check": 2},
    ),
}

BY_CASES = """
law = [0.0] * len(q)
for token, chance in enumerate(q):
    law[token] += chance * accept[token]
    for other, share in enumerate(after):
        law[other] += chance * (1 - accept[token]) * share
return law
"""
WITH_NUMPY = """
import numpy as np
stands = np.array(q) * accept
return (stands + (1 - stands.sum()) * np.array(after)).tolist()
"""
WHILE = """
i = 0
while i < len(plain) and i < len(quick) and plain[i] == quick[i]:
    i += 1
if i == len(plain) == len(quick):
    return "same"
if i in (len(plain), len(quick)) or gaps[i] > near:
    return "bug"
return "rounding"
"""
FIRST_OF_ALL = """
apart = [gap for a, b, gap in zip(plain, quick, gaps) if a != b]
if not apart:
    return "same" if len(plain) == len(quick) else "bug"
return ("bug", "rounding")[apart[0] <= near]
"""

BY_MATRIX = """
n = range(len(q))
return [sum(q[i] * ((i == j) * accept[i] + (1 - accept[i]) * after[j]) for i in n) for j in n]
"""
BY_FRACTIONS = """
from fractions import Fraction
stands = [Fraction(b) * Fraction(x) for b, x in zip(q, accept)]
return [float(x + (1 - sum(stands)) * Fraction(y)) for x, y in zip(stands, after)]
"""
BY_EVENTS = """
n = len(p)
return max(sum(p[i] - law[i] for i in range(n) if event >> i & 1) for event in range(2**n))
"""
UNTIL_AN_END = """
if plain == quick:
    return "same"
i = 0
try:
    while plain[i] == quick[i]:
        i += 1
except IndexError:
    return "bug"
return "rounding" if gaps[i] <= near else "bug"
"""
COMMON_BEGINNING = """
from os.path import commonprefix
n = len(commonprefix([plain, quick]))
if n == len(plain) or n == len(quick):
    return "same" if len(plain) == len(quick) else "bug"
return "rounding" if not gaps[n] > near else "bug"
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", reports()),
    ("q2-answer", steps()),
    ("q2-answer", steps("2.0 ** -7 * low", "round((best - second) / low * 128)")),
    ("q3-answer", chance()),
    ("q3-answer", chance("p0 + 1 - q0 + (q0 - p0) * p0 / q0", "p0 + (q0 - p0) * p0 / q0", "(taken - (1 - q0)) - p0")),
    ("q4-answer", drafters("DB")),
    ("q5-answer", block(f"round({R0} * {R1}, 2)")),
    ("q5-answer", block(f"int({R0} * {R1} * 100 + 0.5) / 100")),
    ("q5-answer", block(f"round({R0} * {R1}, 3)", f"{OVERLAP} ** 2 + p_each[0] * p_each[1] - p_each[0] * q_each[1]")),
    ("q6-answer", laws()),
    ("q6-answer", laws(BY_CASES, "return sum(max(a - b, 0) for a, b in zip(p, law))")),
    ("q6-answer", laws(WITH_NUMPY, "return 1 - sum(map(min, p, law))")),
    ("q6-answer", laws(BY_MATRIX, "return sum(map(max, p, law)) - 1")),
    ("q6-answer", laws(BY_FRACTIONS, BY_EVENTS)),
    ("q7-answer", explain(VERDICT)),
    ("q7-answer", explain(UNTIL_AN_END)),
    ("q7-answer", explain(COMMON_BEGINNING)),
    ("q7-answer", explain(WHILE)),
    ("q7-answer", explain(FIRST_OF_ALL)),
]

LAST_DIFFERENCE = changed(
    VERDICT, ("for i in range(min(len(plain), len(quick))):", "for i in reversed(range(min(len(plain), len(quick)))):")
)
ALL_TIES = """
if plain == quick:
    return "same"
apart = [gap for a, b, gap in zip(plain, quick, gaps) if a != b]
return "rounding" if apart and all(gap <= near for gap in apart) else "bug"
"""
ANY_TIE = changed(ALL_TIES, ("all(", "any("))
FEW_PLACES = """
if plain == quick:
    return "same"
return "rounding" if sum(a != b for a, b in zip(plain, quick)) <= near else "bug"
"""

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1 is {letters}": ("q1-answer", reports(letters), {"q1-check": lost})
        for letters, lost in {
            "BADB": 1,
            "DADB": 1,
            "CBDB": 1,
            "CDDB": 1,
            "CABB": 1,
            "CACB": 1,
            "CADC": 1,
            "CCCC": 2,
            "BABB": 2,
            "ABCD": 2,
            "DDDD": 2,
            "CBDC": 2,
        }.items()
    },
    **{
        f"2a: {mistake}": ("q2-answer", steps(value), {"q2a-check": 1})
        for mistake, value in {
            "as far apart everywhere": 0.25,
            "a doubling too few": "low / 64",
            "a doubling too many": "low / 256",
            "the other way": "8 / low",
            "twice as far": 0.5,
            "whole numbers": 1,
            "eight digits behind the point": "2 ** -8",
            "the same in decimals": 0.1,
            "the gap of the scores": "best - second",
            "nothing": 0,
        }.items()
    },
    **{
        f"2b: {mistake}": ("q2-answer", steps(apart=value), {"q2b-check": 1})
        for mistake, value in {
            "no steps but scores": "best - second",
            "the steps of larger numbers": "(best - second) / 0.25",
            "steps of twice the size": "(best - second) * 64 / low",
            "steps of half the size": "(best - second) * 256 / low",
            "both ends counted": "(best - second) * 128 / low + 1",
            "what lies between": "(best - second) * 128 / low - 1",
            "a near-tie": 1,
            "the ratio": "best / second",
        }.items()
    },
    "2b follows a wrong 2a": ("q2-answer", steps("low / 64", "(best - second) * 64 / low"), {"q2a-check": 1}),
    **{
        f"3a: {mistake}": ("q3-answer", chance(value), {"q3a-check": 1})
        for mistake, value in {
            "one test": COMMON,
            "token 0 once drafted": TWICE,
            "the average guess twice": f"1 - (1 - {COMMON}) ** 2",
            "a second test never fails": 1,
            "the tokens drafted equally often": f"({TWICE} + 1) / 2",
            "what falls": f"q0 * (1 - {TWICE})",
            "token 0 alone": f"q0 * {TWICE}",
        }.items()
    },
    **{
        f"3b: {mistake}": ("q3-answer", chance(zero=value), {"q3b-check": 1})
        for mistake, value in {
            "as the target says": "p0",
            "once drafted": TWICE,
            "at its first test": "p0 / q0",
            "drafted": "q0",
            "corrected by the target's law": f"q0 * {TWICE} + q0 * (1 - {TWICE}) * p0",
            "drafted and fallen": f"q0 * (1 - {TWICE})",
            "the mean of the laws": "(p0 + q0) / 2",
            "twice as often": "p0 * 2 if p0 < 0.5 else 1",
        }.items()
    },
    **{
        f"3c: {mistake}": ("q3-answer", chance(least=value), {"q3c-check": 1})
        for mistake, value in {
            "what falls": "1 - taken",
            "all of it": "taken",
            "nothing": 0,
            "only token 0 is free": "taken - p0",
            "what is free": COMMON,
            "the laws' own": f"1 - {COMMON}",
            "half a point": f"(taken - {COMMON}) / 2",
            "two points": f"(taken - {COMMON}) * 2",
        }.items()
    },
    **{
        f"4 is {letters or 'nothing'}": ("q4-answer", drafters(letters), {"q4-check": lost})
        for letters, lost in {
            "": 2,
            "B": 1,
            "D": 1,
            "ABD": 1,
            "BCD": 1,
            "BDE": 1,
            "BDF": 1,
            "AB": 2,
            "BE": 2,
            "BF": 2,
            "DF": 2,
            "ABC": 2,
            "DEF": 2,
            "ABCDEF": 2,
        }.items()
    },
    **{
        f"5a: {mistake}": ("q5-answer", block(value), {"q5a-check": 1})
        for mistake, value in {
            "token by token": R0,
            "made up for completely": 1,
            "the average over drafts": f"{OVERLAP} ** 2",
            "as the target writes it": "p_each[0] * p_each[1]",
            "the first token's drafting": f"q_each[0] * {R0} * {R1}",
            "the target's law": "p_each[0]",
            "ratios turned round": "q_each[1] / p_each[1]",
        }.items()
    },
    **{
        f"5b: {mistake}": ("q5-answer", block(both=value), {"q5b-check": 1})
        for mistake, value in {
            "token by token": f"{OVERLAP} ** 2",
            "made up for backwards, too": f"sum(a * b for a, b in zip((({R0}) ** 2, {R0} * {R1}, {R0} * {R1}, 1), {MADE}))",
            "one of four drafts": f"{R0} * {R1}",
            "a rejected token": R0,
            "the same token twice": f"sum(a * b for a, b in zip((1, {R0} * {R1}, {R0}, 1), {MADE}))",
            "equally often": f"sum({STAND}) / 4",
            "one token": OVERLAP,
        }.items()
    },
    "what stands alone": ("q6-answer", laws("return [b * x for b, x in zip(q, accept)]"), {"q6a-check": 3}),
    "drawn until one stands": (
        "q6-answer",
        laws("s = [b * x for b, x in zip(q, accept)]\nreturn [x / sum(s) for x in s] if sum(s) else after"),
        {"q6a-check": 3},
    ),
    "after as it is": ("q6-answer", laws(changed(LAW, ("falls * y", "y"))), {"q6a-check": 3}),
    "each token's own fall": (
        "q6-answer",
        laws("return [b * x + b * (1 - x) * y for b, x, y in zip(q, accept, after)]"),
        {"q6a-check": 3},
    ),
    "the mean chance": (
        "q6-answer",
        laws(changed(LAW, ("sum(b * x for b, x in zip(q, accept))", "sum(accept) / len(accept)"))),
        {"q6a-check": 3},
    ),
    "accepted without being drafted": ("q6-answer", laws(changed(LAW, ("[b * x +", "[x +"))), {"q6a-check": 3}),
    "a fallen token never comes again": (
        "q6-answer",
        laws(
            "rest = [y * (1 - x) for x, y in zip(accept, after)]\nfalls = 1 - sum(b * x for b, x in zip(q, accept))\n"
            "return [b * x + falls * y / (sum(rest) or 1) for b, x, y in zip(q, accept, rest)]"
        ),
        {"q6a-check": 3},
    ),
    "the likeliest of after": ("q6-answer", laws(changed(LAW, ("falls * y", "falls * (y == max(after))"))), {"q6a-check": 3}),
    "falls for stands": ("q6-answer", laws(changed(LAW, ("falls = 1 - sum", "falls = sum"))), {"q6a-check": 3}),
    "all or nothing": ("q6-answer", laws("return q if min(accept) > 0 else after"), {"q6a-check": 3}),
    "the draft's law changed": (
        "q6-answer",
        laws("q[:] = [b * x for b, x in zip(q, accept)]\nfalls = 1 - sum(q)\nreturn [x + falls * y for x, y in zip(q, after)]"),
        {"q6a-check": 3},
    ),
    "rounded": ("q6-answer", laws(changed(LAW, ("[b * x + falls * y", "[round(b * x + falls * y, 3)"))), {"q6a-check": 2}),
    "what comes after is tested, too": (
        "q6-answer",
        laws(
            "falls = 1 - sum(b * x for b, x in zip(q, accept))\ns = [b * x + falls * y * x for b, x, y in zip(q, accept, after)]\n"
            "return [x + (1 - sum(s)) * y for x, y in zip(s, after)]"
        ),
        {"q6a-check": 2},
    ),
    "after for the target": (
        "q6-answer",
        laws(
            "rest = [max(y - b, 0) for b, y in zip(q, after)]\nfalls = 1 - sum(b * x for b, x in zip(q, accept))\n"
            "return [b * x + falls * y / (sum(rest) or 1) for b, x, y in zip(q, accept, rest)]"
        ),
        {"q6a-check": 3},
    ),
    "only a sure token stands": ("q6-answer", laws(changed(LAW, ("b * x", "b * (x == 1)"))), {"q6a-check": 3}),
    "a mean of q and after": (
        "q6-answer",
        laws("s = sum(b * x for b, x in zip(q, accept))\nreturn [s * b + (1 - s) * y for b, y in zip(q, after)]"),
        {"q6a-check": 3},
    ),
    "the last fall alone": (
        "q6-answer",
        laws("for b, x in zip(q, accept):\n    f = b * (1 - x)\nreturn [b * x + f * y for b, x, y in zip(q, accept, after)]"),
        {"q6a-check": 3},
    ),
    "the visible rule alone": ("q6-answer", laws("return after"), {"q6a-check": 3}),
    "the overlap": ("q6-answer", laws(tv="return sum(map(min, p, law))"), {"q6b-check": 2}),
    "the first token alone": ("q6-answer", laws(tv="return abs(p[0] - law[0])"), {"q6b-check": 2}),
    "the laws sorted": ("q6-answer", laws(tv="p, law = sorted(p), sorted(law)\n" + TV), {"q6b-check": 2}),
    "the law used up": ("q6-answer", laws(tv="return sum(abs(a - law.pop(0)) for a in p) / 2"), {"q6b-check": 2}),
    "not halved": ("q6-answer", laws(tv=changed(TV, (" / 2", ""))), {"q6b-check": 2}),
    "the largest difference": ("q6-answer", laws(tv="return max(abs(a - b) for a, b in zip(p, law))"), {"q6b-check": 2}),
    "differences that cancel": ("q6-answer", laws(tv="return abs(sum(a - b for a, b in zip(p, law))) / 2"), {"q6b-check": 2}),
    "squares": ("q6-answer", laws(tv="return sum((a - b) ** 2 for a, b in zip(p, law)) ** 0.5"), {"q6b-check": 2}),
    "the mean difference": ("q6-answer", laws(tv="return sum(abs(a - b) for a, b in zip(p, law)) / len(p)"), {"q6b-check": 2}),
    "the distance rounded": ("q6-answer", laws(tv="return round(sum(abs(a - b) for a, b in zip(p, law)) / 2, 2)"), {"q6b-check": 2}),
    "the largest difference of the sums": (
        "q6-answer",
        laws(tv="from itertools import accumulate\nreturn max(map(abs, accumulate(a - b for a, b in zip(p, law))))"),
        {"q6b-check": 2},
    ),
    "by the tokens less one": (
        "q6-answer",
        laws(tv="return sum(abs(a - b) for a, b in zip(p, law)) / (len(p) - 1)"),
        {"q6b-check": 2},
    ),
    "each difference once": ("q6-answer", laws(tv="return sum({abs(a - b) for a, b in zip(p, law)}) / 2"), {"q6b-check": 2}),
    "the target's favourite": ("q6-answer", laws(tv="return max(p) - law[p.index(max(p))]"), {"q6b-check": 2}),
    "half the range": (
        "q6-answer",
        laws(tv="d = [a - b for a, b in zip(p, law)]\nreturn (max(d) - min(d)) / 2"),
        {"q6b-check": 2},
    ),
    "different or not": ("q6-answer", laws(tv="return int(p != law)"), {"q6b-check": 2}),
    "the mean of the ratios": (
        "q6-answer",
        laws(tv="return 1 - sum(min(1, a / b) if b else 1 for a, b in zip(p, law)) / len(p)"),
        {"q6b-check": 2},
    ),
    "a near-tie anywhere": ("q7-answer", explain(ANYWHERE), {"q7-check": 2}),
    "the last difference": ("q7-answer", explain(LAST_DIFFERENCE), {"q7-check": 4}),
    "all differences have to be ties": ("q7-answer", explain(ALL_TIES), {"q7-check": 4}),
    "any difference may be a tie": ("q7-answer", explain(ANY_TIE), {"q7-check": 1}),
    "the token after": ("q7-answer", explain(changed(VERDICT, ("gaps[i]", "gaps[min(i + 1, len(gaps) - 1)]"))), {"q7-check": 4}),
    "the token before": ("q7-answer", explain(changed(VERDICT, ("gaps[i]", "gaps[i - 1]"))), {"q7-check": 4}),
    "less than near": ("q7-answer", explain(changed(VERDICT, ("<=", "<"))), {"q7-check": 4}),
    "always rounding": ("q7-answer", explain(ALWAYS_ROUNDING), {"q7-check": 3}),
    "always a bug": ("q7-answer", explain('return "same" if plain == quick else "bug"'), {"q7-check": 4}),
    "few differences are rounding": ("q7-answer", explain(FEW_PLACES), {"q7-check": 4}),
    "the mean gap": ("q7-answer", explain(changed(ANYWHERE, ("min(gaps)", "sum(gaps) / len(gaps)"))), {"q7-check": 4}),
    "the beginning is enough": (
        "q7-answer",
        explain(
            changed(VERDICT, ('    return "same"', '    return "same"\nif plain[: len(quick)] == quick[: len(plain)]:\n    return "same"'))
        ),
        {"q7-check": 1},
    ),
    "an early end is rounding": ("q7-answer", explain(VERDICT.strip().removesuffix('return "bug"') + 'return "rounding"'), {"q7-check": 1}),
    "the same tokens, in any order": (
        "q7-answer",
        explain(changed(VERDICT, ("plain == quick", "sorted(plain) == sorted(quick)"))),
        {"q7-check": 1},
    ),
    "the texts used up": (
        "q7-answer",
        explain(
            'if plain == quick:\n    return "same"\nwhile plain[:1] == quick[:1] and plain:\n    del plain[0], quick[0], gaps[0]\n'
            'return "rounding" if plain and quick and gaps[0] <= near else "bug"'
        ),
        {"q7-check": 4},
    ),
    "the place of the first such token": (
        "q7-answer",
        explain(changed(VERDICT, ("gaps[i]", "gaps[plain.index(plain[i])]"))),
        {"q7-check": 1},
    ),
    "whole steps alone": ("q7-answer", explain(changed(VERDICT, ("gaps[i]", "int(gaps[i])"))), {"q7-check": 1}),
    "run together": (
        "q7-answer",
        explain(changed(VERDICT, ("plain == quick", '"".join(map(str, plain)) == "".join(map(str, quick))'))),
        {"q7-check": 1},
    ),
    "a near-tie from there on": ("q7-answer", explain(changed(VERDICT, ("gaps[i]", "min(gaps[i:])"))), {"q7-check": 1}),
    "a near-tie up to there": ("q7-answer", explain(changed(VERDICT, ("gaps[i]", "min(gaps[: i + 1])"))), {"q7-check": 1}),
    "no gap is no tie": ("q7-answer", explain(changed(VERDICT, ("if gaps[i]", "if gaps[i] and gaps[i]"))), {"q7-check": 4}),
    "lengths that differ are a bug": (
        "q7-answer",
        explain(changed(VERDICT, ("for i in", 'if len(plain) != len(quick):\n    return "bug"\nfor i in'))),
        {"q7-check": 4},
    ),
    "an early end is a place": (
        "q7-answer",
        explain(
            changed(VERDICT, ("range(min(len(plain), len(quick)))", "range(len(plain))"), ("plain[i] !=", "i == len(quick) or plain[i] !="))
        ),
        {"q7-check": 1},
    ),
    "near is two": ("q7-answer", explain(changed(VERDICT, ("<= near", "<= 2"))), {"q7-check": 4}),
    "the visible texts alone": ("q7-answer", explain('return "same"'), {"q7-check": 4}),
}

# The words of the chapter that say what is wrong with a wrong letter.
NAMED = {
    "q1-check": {
        "B": "*Identical in theory means identical in bf16* is a belief to drop.",
        "C": "But do not excuse every difference with it",
        "D": "no test of the code against *its own formula* shows it",
    },
    "q4-check": {
        "A": "**A draft may end anywhere, if the reason is known before the token is drawn**",
        "C": "k depends on rounds that are over, and never on a token that is still to be tested",
        "E": "q is the law that the token was really drawn from",
        "F": "To claim more certainty than there is costs acceptance; to claim less costs the law.",
    },
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1-check": r"\b[A-D]\b",
    "q2a-check": r"\.062|1/16",
    "q2b-check": r"\b3\b|three",
    "q3a-check": r"\.73\b",
    "q3b-check": r"\.48\b",
    "q3c-check": r"\.35\b",
    "q4-check": r"\b[BD]\b",
    "q5a-check": r"\.66|2/3",
    "q5b-check": r"\.68|17/25",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1-check", "", "no answer yet"),
    ("q1-check", "answer_1 = ['A']", "list of four letters"),
    ("q1-check", "answer_1 = ['A', 'B', 'C', 'E']", "capital letters from A to D"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = '1/2'", "one number without quotes"),
    ("q2b-check", "answer_2b = ...", "no answer yet"),
    ("q2b-check", "answer_2b = True", "one number without quotes"),
    ("q3a-check", "answer_3a = 90", "one number from 0 to 1"),
    ("q3b-check", "answer_3b = float('nan')", "from 0 to 1"),
    ("q3c-check", "", "no answer yet"),
    ("q3c-check", "answer_3c = '10 %'", "without quotes"),
    ("q4-check", "answer_4 = 'A'", "in square brackets"),
    ("q4-check", "answer_4 = ['a']", "one of the capital letters"),
    ("q5a-check", "", "no answer yet"),
    ("q5a-check", "answer_5a = 1.5", "from 0 to 1"),
    ("q5b-check", "answer_5b = [0.5]", "one number from 0 to 1"),
    ("q6a-check", "", "no function law_of"),
    ("q6a-check", laws("..."), "a list as long as q, not None"),
    ("q6a-check", laws("return q"), "but give [1.0, 0.0]"),
    ("q6b-check", "distance = 0", "no function distance"),
    ("q6b-check", laws(tv="..."), "return one number, not None"),
    ("q6b-check", laws(tv="return 1"), "but give 1"),
    ("q7-check", "", "no function explain"),
    ("q7-check", explain("..."), "but give None"),
    ("q7-check", explain("return 'bug'"), "but give 'bug'"),
]
