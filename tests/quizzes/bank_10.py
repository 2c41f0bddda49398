"""Answers to the knowledge check of chapter 10, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

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
    return f"def {head}:\n" + indent(dedent(body).strip(), "    ") + "\n"


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
    return f"answer_1 = list({letters!r})"


def steps(step: object = 0.0625, apart: object = 3) -> str:
    return f"answer_2a = {step}\nanswer_2b = {apart}"


def chance(stands: object = 0.8, zero: object = 0.6, least: object = 0.3) -> str:
    return f"answer_3a = {stands}\nanswer_3b = {zero}\nanswer_3c = {least}"


def drafters(letters: str = "BD") -> str:
    return f"answer_4 = list({letters!r})"


def block(draft: object = 0.75, both: object = 0.625) -> str:
    return f"answer_5a = {draft}\nanswer_5b = {both}"


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


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
        {"q3-answer": chance(0.8, 0.4, 0), "q4-answer": drafters("")},
        {"q3b-check": 1, "q3c-check": 1, "q4-check": 2},
    ),
    # A draft whose end depends on anything is suspect; so is one that claims what is not so.
    "fears_every_stop": ({"q4-answer": drafters("ABCDF")}, {"q4-check": 2}),
    # Token by token is all there is; what is above 1 is cut off.
    "cuts_at_one": ({"q5-answer": block(0.5, 0.5625)}, {"q5a-check": 1, "q5b-check": 1}),
    # What is left over need not add up, and the sum of the differences is the distance.
    "not_halved": (
        {
            "q3-answer": chance(least=0.6),
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

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", reports()),
    ("q2-answer", steps()),
    ("q2-answer", steps("1 / 16", "0.1875 * 16")),
    ("q3-answer", chance()),
    ("q3-answer", chance("0.6 + 0.2", "0.4 + 0.4 * 0.5", "1 - 0.7")),
    ("q4-answer", drafters("DB")),
    ("q5-answer", block("3 / 4", "10 / 16")),
    ("q6-answer", laws()),
    ("q6-answer", laws(BY_CASES, "return sum(max(a - b, 0) for a, b in zip(p, law))")),
    ("q6-answer", laws(WITH_NUMPY, "return 1 - sum(map(min, p, law))")),
    ("q7-answer", explain(VERDICT)),
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
    **{f"2a is {a}": ("q2-answer", steps(a), {"q2a-check": 1}) for a in (0.25, 0.125, 0.03125, 1, 0.5, 0.0039, "2 ** -8", 0.1)},
    **{f"2b is {b}": ("q2-answer", steps(apart=b), {"q2b-check": 1}) for b in (0.1875, 1, 2, 0.75, 1.5, 6, 0.19)},
    "2b follows a wrong 2a": ("q2-answer", steps(0.125, 1.5), {"q2a-check": 1}),
    "2a is nothing": ("q2-answer", steps(0), {"q2a-check": 1}),
    **{f"3a is {a}": ("q3-answer", chance(a), {"q3a-check": 1}) for a in (0.6, 0.75, 0.84, 1, 0.875, 0.2, 0.7)},
    **{f"3b is {b}": ("q3-answer", chance(zero=b), {"q3b-check": 1}) for b in (0.4, 0.75, 0.8, 0.68, 0.2, 0.5)},
    **{f"3c is {c}": ("q3-answer", chance(least=c), {"q3c-check": 1}) for c in (0.1, 0.9, 0, 0.5, 0.2, 0.4, 0.6, 0.15)},
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
    **{f"5a is {a}": ("q5-answer", block(a), {"q5a-check": 1}) for a in (0.5, 1, 0.5625, 0.1875, 0.375, 0.25)},
    **{f"5b is {b}": ("q5-answer", block(both=b), {"q5b-check": 1}) for b in ("9 / 16", 0.6875, 0.75, 0.5, 0.8125, 1)},
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
    "the visible rule alone": ("q6-answer", laws("return after"), {"q6a-check": 3}),
    "not halved": ("q6-answer", laws(tv=changed(TV, (" / 2", ""))), {"q6b-check": 2}),
    "the largest difference": ("q6-answer", laws(tv="return max(abs(a - b) for a, b in zip(p, law))"), {"q6b-check": 2}),
    "differences that cancel": ("q6-answer", laws(tv="return abs(sum(a - b for a, b in zip(p, law))) / 2"), {"q6b-check": 2}),
    "squares": ("q6-answer", laws(tv="return sum((a - b) ** 2 for a, b in zip(p, law)) ** 0.5"), {"q6b-check": 2}),
    "the mean difference": ("q6-answer", laws(tv="return sum(abs(a - b) for a, b in zip(p, law)) / len(p)"), {"q6b-check": 2}),
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
    "near is two": ("q7-answer", explain(changed(VERDICT, ("<= near", "<= 2"))), {"q7-check": 4}),
    "the visible texts alone": ("q7-answer", explain('return "same"'), {"q7-check": 4}),
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1-check": r"\b[A-D]\b",
    "q2a-check": r"\.062|1/16",
    "q2b-check": r"\b3\b|three",
    "q3a-check": r"\.8\b",
    "q3b-check": r"\.6\b",
    "q3c-check": r"\.3\b",
    "q4-check": r"\b[BD]\b",
    "q5a-check": r"\.75|3/4",
    "q5b-check": r"\.625|10/16|5/8",
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
