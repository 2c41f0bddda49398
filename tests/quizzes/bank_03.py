"""Answers to the knowledge check of chapter 3, with the marks they must get. What the names mean is said in source.py."""

import json

from tests.quizzes.texts import function

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q2-check": 2,
    "q3a-check": 2,
    "q3b-check": 1,
    "q4a-check": 1,
    "q4b-check": 1,
    "q5-check": 2,
    "q6a-check": 1,
    "q6b-check": 2,
    "q7-check": 6,
}


def of(head: str, body: str) -> str:
    return function(head, body) + "\n"


def laws(acceptance: str, residual: str) -> str:
    return of("acceptance(p, q)", acceptance) + of("residual(p, q)", residual)


def verdict(body: str) -> str:
    return of("verify_sampling(p, q, draft, uniform, draw)", body)


BODY = """
for i, token in enumerate(draft):
    if not uniform() < p[i][token] / q[i][token]:
        return i, draw(residual(p[i], q[i]))
return len(draft), draw(p[len(draft)])
"""


def rounds(test: str = "uniform() < p[i][token] / q[i][token]", after: str = "residual(p[i], q[i])", last: str = "p[len(draft)]") -> str:
    return verdict(f"""
        for i, token in enumerate(draft):
            if not {test}:
                return i, draw({after})
        return len(draft), draw({last})
    """)


STANDS_1 = "sum(map(min, p1, q1))"
STAND_3 = "[min(x, y) for x, y in zip(p3, q3)]"
OVER_3 = "(1 - sum(map(min, p3, q3)))"
ABOVE_2 = "[max(x - y, 0) for x, y in zip(p2, q2)]"


def scaled(weights: str) -> str:
    """A list of weights, made to sum to 1."""
    return f"[each / sum({weights}) for each in {weights}]"


def one(a: str = STANDS_1, b: str = "p1[0] / q1[0]") -> str:
    return f"answer_1a = {a}\nanswer_1b = {b}"


def three(a: str = scaled(STAND_3), b: str = f"{STAND_3}[0] + {OVER_3} * p3[0]") -> str:
    return f"answer_3a = {a}\nanswer_3b = {b}"


def four(a: str = "p4[1]", b: str = scaled("[p4[0], 0, *p4[2:]]")) -> str:
    return f"answer_4a = {a}\nanswer_4b = {b}"


OVERLAP = "return sum(map(min, p, q))"
LEFT_OVER = """
above = [max(a - b, 0.0) for a, b in zip(p, q)]
return [x / sum(above) for x in above] if any(above) else p
"""
NOT_NORMALISED = "return [max(a - b, 0) for a, b in zip(p, q)]"
INLINE_NOT_NORMALISED = "[max(a - b, 0) for a, b in zip(p[i], q[i])]"
WITHOUT_REJECTED = "[x / (1 - p[i][token]) * (j != token) for j, x in enumerate(p[i])]"
ONE_NUMBER = verdict("""
u = uniform()
for i, token in enumerate(draft):
    if not u < p[i][token] / q[i][token]:
        return i, draw(residual(p[i], q[i]))
return len(draft), draw(p[len(draft)])
""")
AGREEMENT = verdict("""
for i, token in enumerate(draft):
    own = draw(p[i])
    if own != token:
        return i, own
return len(draft), draw(p[len(draft)])
""")

MALFORMED = {
    "q1-answer": 'answer_1a = 60\nanswer_1b = "1/4"',
    "q2-answer": "answer_2 = (0, 0.75, 0.25, 0)",
    "q3-answer": 'answer_3a = [2 / 3]\nanswer_3b = "56 %"',
    "q4-answer": 'answer_4a = True\nanswer_4b = "0.2 0 0.4 0.4"',
    "q5-answer": 'answer_5 = "BD"',
    "q6-answer": "acceptance = 0.6\nresidual = [0, 0.75, 0.25, 0]",
    "q7-answer": verdict("return 1"),
}

LEARNERS = {
    "perfect": ({}, {}),
    # A draft stands if the target would have drawn the same token; a failed one is redrawn from the target.
    "draws_and_compares": (
        {
            "q1-answer": one("sum(x * y for x, y in zip(p1, q1))", "p1[0]"),
            "q2-answer": "answer_2 = p2",
            "q6-answer": laws("return sum(a * b for a, b in zip(p, q))", "return p"),
            "q7-answer": AGREEMENT,
        },
        {"q1a-check": 1, "q1b-check": 1, "q2-check": 2, "q6a-check": 1, "q6b-check": 2, "q7-check": 6},
    ),
    # What is left over need not add up to 1.
    "not_normalised": (
        {
            "q2-answer": f"answer_2 = {ABOVE_2}",
            "q3-answer": three(STAND_3),
            "q4-answer": four(b="[p4[0], 0, *p4[2:]]"),
            "q6-answer": laws(OVERLAP, NOT_NORMALISED),
            "q7-answer": rounds(after=INLINE_NOT_NORMALISED),
        },
        {"q2-check": 2, "q3a-check": 2, "q4b-check": 1, "q6b-check": 2, "q7-check": 2},
    ),
    # A token stands where the target finds it at least as likely as the draft does.
    "no_dice": (
        {
            "q1-answer": one("sum(y for x, y in zip(p1, q1) if x >= y)", "0"),
            "q4-answer": four("0"),
            "q7-answer": rounds(test="p[i][token] >= q[i][token]"),
        },
        {"q1a-check": 1, "q1b-check": 1, "q4a-check": 1, "q7-check": 4},
    ),
    # Whoever tests before writing writes what the target wants, whatever comes after a rejection.
    "redraws": (
        {
            "q2-answer": "answer_2 = p2",
            "q3-answer": three("p3", "p3[0]"),
            "q4-answer": four(b="p4"),
            "q6-answer": laws(OVERLAP, "return p"),
            "q7-answer": rounds(after="p[i]"),
        },
        {"q2-check": 2, "q3a-check": 2, "q3b-check": 1, "q4b-check": 1, "q6b-check": 2, "q7-check": 2},
    ),
    # A bad draft, or one whose sampling differs from the target's, spoils the text; a greedy draft has its softmax for a law.
    "fears_the_draft": (
        {"q4-answer": four("1"), "q5-answer": 'answer_5 = ["A", "C", "F"]'},
        {"q4a-check": 1, "q5-check": 2},
    ),
}

ALL_AT_ONCE = """
numbers = [uniform() for _ in draft]
stands = [u * q[i][x] < p[i][x] for i, (x, u) in enumerate(zip(draft, numbers))]
accepted = (stands + [False]).index(False)
law = residual(p[accepted], q[accepted]) if accepted < len(draft) else p[-1]
return accepted, draw(law)
"""
RECURSIVE = """
if not draft:
    return 0, draw(p[0])
x = draft[0]
if uniform() >= min(1.0, p[0][x] / q[0][x]):
    return 0, draw(residual(p[0], q[0]))
accepted, token = verify_sampling(p[1:], q[1:], draft[1:], uniform, draw)
return accepted + 1, token
"""
PADDED = """
k = len(draft)
q = q + [[0.0] * len(p[0])]
n = 0
while n < k and uniform() < p[n][draft[n]] / q[n][draft[n]]:
    n += 1
above = [max(0.0, a - b) for a, b in zip(p[n], q[n])]
return (n, draw([x / sum(above) for x in above]))
"""
LOUD = """
import sys, warnings
warnings.warn("dice")
print("drafted", draft, file=sys.stderr)
for i in range(len(draft)):
    ratio = p[i][draft[i]] / q[i][draft[i]]
    if ratio < 1 and uniform() >= ratio or ratio >= 1 and uniform() is None:
        return i, draw(residual(p[i], q[i]))
return len(draft), draw(p[len(draft)])
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", one("1 - sum(max(x - y, 0) for x, y in zip(p1, q1))", "round(p1[0] / q1[0], 2)")),
    ("q1-answer", one("round(1 - sum(abs(x - y) for x, y in zip(p1, q1)) / 2, 2)", "1 - (q1[0] - p1[0]) / q1[0]")),
    ("q2-answer", f"answer_2 = {scaled(ABOVE_2)}"),
    ("q2-answer", f"answer_2 = [round(x, 2) for x in {scaled(ABOVE_2)}]"),
    ("q3-answer", three(f"[round(x, 2) for x in {scaled(STAND_3)}]", f"round(min(p3[0], q3[0]) + {OVER_3} * p3[0], 2)")),
    ("q3-answer", three(f"[x / (1 - {OVER_3}) for x in {STAND_3}]", f"1 - min(p3[1], q3[1]) - {OVER_3} * p3[1]")),
    ("q4-answer", four()),
    ("q4-answer", four("1 - p4[0] - p4[2] - p4[3]", "[round((i != 1) * x / (1 - p4[1]), 2) for i, x in enumerate(p4)]")),
    ("q5-answer", 'answer_5 = list("DB")'),
    ("q6-answer", laws("return 1 - sum(abs(a - b) for a, b in zip(p, q)) / 2", LEFT_OVER)),
    (
        "q6-answer",
        "import math\n"
        + laws("return math.fsum(b * min(1, a / b) for a, b in zip(p, q) if b)", "if p == q:\n    return list(p)\n" + LEFT_OVER),
    ),
    (
        "q6-answer",
        laws(
            "total = 0\nfor i in range(len(p)):\n    total += p[i] if p[i] < q[i] else q[i]\nreturn total",
            LEFT_OVER.replace("else p", "else tuple(p)"),
        ),
    ),
    ("q7-answer", verdict(ALL_AT_ONCE)),
    ("q7-answer", verdict(RECURSIVE)),
    ("q7-answer", verdict(PADDED)),
    ("q7-answer", verdict(LOUD)),
]

COUNTS_ALL = """
n = sum(uniform() < p[i][x] / q[i][x] for i, x in enumerate(draft))
return n, draw(residual(p[n], q[n]) if n < len(draft) else p[n])
"""
NO_BONUS = """
for i, token in enumerate(draft):
    if not uniform() < p[i][token] / q[i][token]:
        return i, draw(residual(p[i], q[i]))
return len(draft) - 1, draft[-1]
"""
DRAWS_TWICE = """
for i, token in enumerate(draft):
    correction = draw(residual(p[i], q[i]))
    if not uniform() < p[i][token] / q[i][token]:
        return i, correction
return len(draft), draw(p[len(draft)])
"""
ALWAYS_BONUS = """
n = 0
while n < len(draft) and uniform() < p[n][draft[n]] / q[n][draft[n]]:
    n += 1
return n, draw(p[n])
"""
USED_UP = """
i = 0
while draft:
    token = draft.pop(0)
    if not uniform() < p[i][token] / q[i][token]:
        return i, draw(residual(p[i], q[i]))
    i += 1
return i, draw(p[i])
"""
CHANGES_ITS_INPUT = """
for i in range(len(p)):
    p[i] = max(p[i] - q[i], 0.0)
return [x / sum(p) for x in p]
"""


def only_acceptance(body: str) -> str:
    return laws(body, LEFT_OVER)


def only_residual(body: str) -> str:
    return laws(OVERLAP, body)


# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a: {what}": ("q1-answer", one(a=a), {"q1a-check": 1})
        for what, a in {
            "both draw the same": "sum(x * y for x, y in zip(p1, q1))",
            "what falls": f"1 - {STANDS_1}",
            "the whole difference": "sum(abs(x - y) for x, y in zip(p1, q1))",
            "one minus the whole difference": "1 - sum(abs(x - y) for x, y in zip(p1, q1))",
            "the mean of the tests": "sum(min(1, x / y) for x, y in zip(p1, q1)) / 4",
            "only what p likes better": "sum(y for x, y in zip(p1, q1) if x >= y)",
            "one minus the greatest difference": "1 - max(abs(x - y) for x, y in zip(p1, q1))",
            "everything": "1",
            "nothing, as the laws differ": "0",
        }.items()
    },
    **{
        f"1b: {what}": ("q1-answer", one(b=b), {"q1b-check": 1})
        for what, b in {
            "the target's probability": "p1[0]",
            "never": "0",
            "always": "1",
            "the draft's probability": "q1[0]",
            "both draw it": "p1[0] * q1[0]",
            "what falls": "1 - p1[0] / q1[0]",
            "as any token": STANDS_1,
            "the difference": "q1[0] - p1[0]",
        }.items()
    },
    **{
        f"2: {what}": ("q2-answer", f"answer_2 = {law}", {"q2-check": 2})
        for what, law in {
            "not scaled": ABOVE_2,
            "p again": "p2",
            "q again": "q2",
            "below zero": "[x - y for x, y in zip(p2, q2)]",
            "p without the token drafted most too often": scaled(
                "[x * (y - x < max(y - x for x, y in zip(p2, q2))) for x, y in zip(p2, q2)]"
            ),
            "q above p": scaled("[max(y - x, 0) for x, y in zip(p2, q2)]"),
            "the shortest takes all": "[float(x - y == max(x - y for x, y in zip(p2, q2))) for x, y in zip(p2, q2)]",
            "the whole of p where it is above": scaled("[x * (x > y) for x, y in zip(p2, q2)]"),
            "all differences": scaled("[abs(x - y) for x, y in zip(p2, q2)]"),
            "evenly": "[0.25] * 4",
            "evenly among the short": "[0.5 * (x > y) for x, y in zip(p2, q2)]",
        }.items()
    },
    **{
        f"3a: {what}": ("q3-answer", three(a=law), {"q3a-check": 2})
        for what, law in {
            "p after all": "p3",
            "q as drafted": "q3",
            "the first try alone": STAND_3,
            "redrawn from p": f"[x + {OVER_3} * y for x, y in zip({STAND_3}, p3)]",
            "what is rejected": scaled("[max(x - y, 0) for x, y in zip(q3, p3)]"),
            "the tokens mixed up": f"{scaled(STAND_3)}[::-1]",
            "the tests' chances": scaled("[min(1, x / y) for x, y in zip(p3, q3)]"),
        }.items()
    },
    **{
        f"3b: {what}": ("q3-answer", three(b=b), {"q3b-check": 1})
        for what, b in {
            "p after all": "p3[0]",
            "over a rejection only": f"{OVER_3} * p3[0]",
            "as drafted": "q3[0]",
            "acceptance taken for rejection": f"min(p3[0], q3[0]) + (1 - {OVER_3}) * p3[0]",
            "asked again": f"{scaled(STAND_3)}[0]",
            "the other token": f"min(p3[1], q3[1]) + {OVER_3} * p3[1]",
        }.items()
    },
    **{
        f"4a: {what}": ("q4-answer", four(a=a), {"q4a-check": 1})
        for what, a in {
            "always": "1",
            "never": "0",
            "one of four": "0.25",
            "what falls": "1 - p4[1]",
            "the target draws twice": "sum(x * x for x in p4)",
            "rock twice": "p4[1] ** 2",
        }.items()
    },
    **{
        f"4b: {what}": ("q4-answer", four(b=law), {"q4b-check": 1})
        for what, law in {
            "not scaled": "[p4[0], 0, *p4[2:]]",
            "p again": "p4",
            "rock after all": "[0, 1, 0, 0]",
            "evenly among the others": "[1 / 3, 0, 1 / 3, 1 / 3]",
            "the likeliest of the others": "[float(x == max(p4[0], *p4[2:])) * (i != 1) for i, x in enumerate(p4)]",
            "divided by rock": "[p4[0] / p4[1], 0, p4[2] / p4[1], p4[3] / p4[1]]",
            "below zero": "[p4[0], p4[1] - 1, *p4[2:]]",
        }.items()
    },
    **{
        f"5 is {letters or 'nothing'}": ("q5-answer", f"answer_5 = {json.dumps([*letters])}", {"q5-check": lost})
        for letters, lost in {
            "": 2,
            "B": 1,
            "D": 1,
            "BDC": 1,
            "BDA": 1,
            "BDF": 1,
            "BDE": 1,
            "BCD": 1,
            "ABDF": 2,
            "BC": 2,
            "CD": 2,
            "AF": 2,
            "ABCDEF": 2,
        }.items()
    },
    "the chance of drawing the same": ("q6-answer", only_acceptance("return sum(a * b for a, b in zip(p, q))"), {"q6a-check": 1}),
    "the larger of the two": (
        "q6-answer",
        only_acceptance("return 2 - sum(map(max, p, q)) if p == q else sum(map(max, p, q))"),
        {"q6a-check": 1},
    ),
    "the mean of the tests": (
        "q6-answer",
        only_acceptance("return sum(min(1, a / b) if b else 1 for a, b in zip(p, q)) / len(p)"),
        {"q6a-check": 1},
    ),
    "the whole difference": ("q6-answer", only_acceptance("return 1 - sum(abs(a - b) for a, b in zip(p, q))"), {"q6a-check": 1}),
    "the tokens that p likes better": ("q6-answer", only_acceptance("return sum(b for a, b in zip(p, q) if a >= b)"), {"q6a-check": 1}),
    "always": ("q6-answer", only_acceptance("return 1"), {"q6a-check": 1}),
    "the greatest difference": ("q6-answer", only_acceptance("return 1 - max(abs(a - b) for a, b in zip(p, q))"), {"q6a-check": 1}),
    "divides by a zero of q": (
        "q6-answer",
        only_acceptance("return sum(b * min(1, a / b) if a else 0 for a, b in zip(p, q))"),
        {"q6a-check": 1},
    ),
    "laws used up": ("q6-answer", only_acceptance("return sum(min(p.pop(), q.pop()) for _ in range(len(p)))"), {"q6a-check": 1}),
    "left over, and not a law": ("q6-answer", only_residual(NOT_NORMALISED), {"q6b-check": 2}),
    "the target's law again": ("q6-answer", only_residual("return p"), {"q6b-check": 2}),
    "p without the tokens of q": (
        "q6-answer",
        only_residual("left = [a if a > b else 0 for a, b in zip(p, q)]\nreturn [x / sum(left) for x in left] if any(left) else p"),
        {"q6b-check": 2},
    ),
    "distances for what is above": (
        "q6-answer",
        only_residual("d = [abs(a - b) if a != b else 0 for a, b in zip(p, q)]\nreturn [x / sum(d) for x in d] if any(d) else p"),
        {"q6b-check": 2},
    ),
    "q above p": ("q6-answer", only_residual("p, q = q, p\n" + LEFT_OVER), {"q6b-check": 2}),
    "nothing left over": ("q6-answer", only_residual(LEFT_OVER.replace(" if any(above) else p", "")), {"q6b-check": 1}),
    "zeros when the laws are equal": ("q6-answer", only_residual(LEFT_OVER.replace("else p", "else above")), {"q6b-check": 1}),
    "evenly when the laws are equal": (
        "q6-answer",
        only_residual(LEFT_OVER.replace("else p", "else [1 / len(p)] * len(p)")),
        {"q6b-check": 1},
    ),
    "all to the shortest": (
        "q6-answer",
        only_residual("d = [a - b for a, b in zip(p, q)]\nreturn [float(x == max(d)) for x in d] if p != q else p"),
        {"q6b-check": 2},
    ),
    "the input overwritten": ("q6-answer", only_residual(CHANGES_ITS_INPUT), {"q6b-check": 2}),
    "the target's law after a rejection": ("q7-answer", rounds(after="p[i]"), {"q7-check": 2}),
    "the draft's law after a rejection": ("q7-answer", rounds(after="q[i]"), {"q7-check": 2}),
    "a residual that is no law": ("q7-answer", rounds(after=INLINE_NOT_NORMALISED), {"q7-check": 2}),
    "p without the rejected token": ("q7-answer", rounds(after=WITHOUT_REJECTED), {"q7-check": 2}),
    "the residual of the next position": (
        "q7-answer",
        rounds(after="residual(p[i + 1], q[min(i + 1, len(q) - 1)])"),
        {"q7-check": 2},
    ),
    "the residual of the first position": ("q7-answer", rounds(after="residual(p[0], q[0])"), {"q7-check": 2}),
    "the likeliest correction": ("q7-answer", rounds(after="[float(x == max(p[i])) for x in p[i]]"), {"q7-check": 2}),
    "the bonus from the last draft's position": ("q7-answer", rounds(last="p[len(draft) - 1]"), {"q7-check": 1}),
    "the bonus from the draft": ("q7-answer", rounds(last="q[-1]"), {"q7-check": 2}),
    "the bonus from a residual": ("q7-answer", rounds(last="residual(p[-1], q[-1])"), {"q7-check": 2}),
    "no bonus": ("q7-answer", verdict(NO_BONUS), {"q7-check": 6}),
    "no bonus but an error": (
        "q7-answer",
        verdict(NO_BONUS.replace("len(draft) - 1, draft[-1]", "len(draft), draft[-1]")),
        {"q7-check": 6},
    ),
    "one random number a round": ("q7-answer", ONE_NUMBER, {"q7-check": 1}),
    "at most for less than": ("q7-answer", rounds(test="uniform() <= p[i][token] / q[i][token]"), {"q7-check": 1}),
    "the ratio upside down": ("q7-answer", rounds(test="uniform() < q[i][token] / p[i][token]"), {"q7-check": 5}),
    "no dice": ("q7-answer", rounds(test="p[i][token] >= q[i][token]"), {"q7-check": 4}),
    "the target's probability for the test": ("q7-answer", rounds(test="uniform() < p[i][token]"), {"q7-check": 4}),
    "likely enough": ("q7-answer", rounds(test="p[i][token] > 0.15"), {"q7-check": 4}),
    "all taken for right": ("q7-answer", verdict("return len(draft), draw(p[-1])"), {"q7-check": 4}),
    "every accepted token counted": ("q7-answer", verdict(COUNTS_ALL), {"q7-check": 2}),
    "the rejected token counted": ("q7-answer", rounds().replace("return i,", "return i + 1,"), {"q7-check": 4}),
    "the bonus in any case": ("q7-answer", verdict(ALWAYS_BONUS), {"q7-check": 2}),
    "the first row of q for all": ("q7-answer", rounds(test="uniform() < p[i][token] / q[0][token]"), {"q7-check": 3}),
    "its input overwritten": ("q7-answer", verdict("q.append([0.0] * len(p[0]))\n" + BODY), {"q7-check": 1}),
    "the draft used up": ("q7-answer", verdict(USED_UP), {"q7-check": 1}),
    "drawn and compared": ("q7-answer", AGREEMENT, {"q7-check": 6}),
    "a token drawn and thrown away": ("q7-answer", verdict(DRAWS_TWICE), {"q7-check": 3}),
    "drawn twice": (
        "q7-answer",
        rounds(after="residual(p[i], q[i])) * 0 + draw(residual(p[i], q[i])", last="p[len(draft)]) * 0 + draw(p[len(draft)]"),
        {"q7-check": 4},
    ),
    "the rejected token for the correction": ("q7-answer", rounds(after="residual(p[i], q[i])) and (token"), {"q7-check": 2}),
    "the visible case alone": ("q7-answer", verdict("return 1, 0"), {"q7-check": 6}),
}

# Where the chapter names, or refutes, what a wrong letter stands for.
NAMED = {
    "q5-check": {
        "A": "The *draft* may have any law it likes, as long as it states the one it was drawn from.",
        "C": "A bad draft costs acceptance, and never the law.",
        "E": "All steps are Earth's rolls, so the law is p, whatever the draft.",
        "F": "a token that is left in only one of the two laws can never stand.",
    }
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\.6\b|\.60",
    "q1b-check": r"\.25|1/4|quarter",
    "q2-check": r"\.75|\.25|3/4",
    "q3a-check": r"\.66|\.67|2 ?/ ?3|third",
    "q3b-check": r"\.56",
    "q4a-check": r"\.6\b|\.60",
    "q4b-check": r"\.25|\.50?\b|quarter",
    "q5-check": r"\b[BD]\b",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", "answer_1a = 60", "one number from 0 to 1"),
    ("q1b-check", "answer_1b = ...", "no answer yet"),
    ("q1b-check", "answer_1b = '1/4'", "without quotes"),
    ("q1b-check", "answer_1b = float('nan')", "from 0 to 1"),
    ("q2-check", "", "no answer yet"),
    ("q2-check", "answer_2 = 0.75", "list of four numbers"),
    ("q2-check", "answer_2 = [0.5, 0.5]", "list of four numbers"),
    ("q2-check", "answer_2 = ['0', '1', '0', '0']", "numbers without quotes"),
    ("q3a-check", "answer_3a = ...", "no answer yet"),
    ("q3a-check", "answer_3a = (0.5, 0.5)", "in square brackets"),
    ("q3a-check", "answer_3a = ['a', 'b']", "numbers without quotes"),
    ("q3b-check", "answer_3b = [0.5]", "one number from 0 to 1"),
    ("q4a-check", "", "no answer yet"),
    ("q4a-check", "answer_4a = True", "one number from 0 to 1"),
    ("q4b-check", "answer_4b = [0.2, 0.4, 0.4]", "list of four numbers"),
    ("q4b-check", "answer_4b = [0.2, None, 0.4, 0.4]", "numbers without quotes"),
    ("q5-check", "", "no answer yet"),
    ("q5-check", "answer_5 = 'A'", "in square brackets"),
    ("q5-check", "answer_5 = ['a']", "capital letters A, B, C, D, E, F"),
    ("q5-check", "answer_5 = ['A, C']", "capital letters A, B, C, D, E, F"),
    ("q5-check", "answer_5 = [['A']]", "capital letters A, B, C, D, E, F"),
    ("q6a-check", "", "no function acceptance"),
    ("q6a-check", laws("...", "..."), "return one number, not None"),
    ("q6a-check", laws("return 0", "..."), "has to give 1, but gives 0"),
    ("q6b-check", "residual = [1, 0]", "no function residual"),
    ("q6b-check", laws("...", "..."), "a list as long as p, not None"),
    ("q6b-check", laws("...", "return [1.0]"), "not [1.0]"),
    ("q6b-check", laws("...", "return q"), "but give [0.0, 1.0]"),
    ("q7-check", "", "no function verify_sampling"),
    ("q7-check", verdict("..."), "return two values, accepted and next_token, not None"),
    ("q7-check", verdict("return [1, 0]"), "not [1, 0]"),
    ("q7-check", verdict("return 0, 0"), "have to give (1, 0), but give (0, 0)"),
]
