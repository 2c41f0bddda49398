"""Answers to the knowledge check of chapter 9, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q2-check": 2,
    "q3-check": 2,
    "q4-check": 2,
    "q5a-check": 1,
    "q5b-check": 1,
    "q5c-check": 1,
    "q6-check": 5,
    "q7-check": 4,
}


def learn(body: str) -> str:
    return "import math\ndef learn(logits, p, rate, steps):\n" + indent(dedent(body).strip(), "    ")


def judge(body: str) -> str:
    return "def judge(p, q, ids):\n" + indent(dedent(body).strip(), "    ")


def stand(warm: object = 0.85, cold: object = 0.5) -> str:
    return f"answer_1a = {warm}\nanswer_1b = {cold}"


def chosen(letters: str = "YXYX") -> str:
    return f"answer_2 = list({letters!r})"


def slope(times: object = 900) -> str:
    return f"answer_3 = {times}"


def flatter(letters: str = "AB") -> str:
    return f"answer_4 = list({letters!r})"


def bought(speedup: object = 1.4, alpha: object = 0.25, minutes: object = 60) -> str:
    return f"answer_5a = {speedup}\nanswer_5b = {alpha}\nanswer_5c = {minutes}"


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


STEPS = """
z = list(logits)
for _ in range(steps):
    top = max(z)
    e = [math.exp(x - top) for x in z]
    q = [x / sum(e) for x in e]
    z = [z[i] - rate * (q[i] - p[i]) for i in range(len(z))]
return z
"""
JUDGED = """
n, alpha, acceptance = len(p), 0, 0
for a, b in zip(p, q):
    best = max(range(len(a)), key=lambda token: a[token])
    guess = ids[max(range(len(b)), key=lambda j: b[j])]
    alpha += best == guess
    acceptance += sum(min(a[token], x) for token, x in zip(ids, b))
return alpha / n, acceptance / n
"""
FAVOURITE_ALONE = changed(STEPS, ("q[i] - p[i]", "q[i] - (p[i] == max(p))"))
SLOPE_OF_TV = changed(STEPS, ("q[i] - p[i]", "q[i] * (q[i] - p[i])"))
IDS_FORGOTTEN = changed(
    JUDGED, ("guess = ids[max(", "guess = (max("), ("key=lambda j: b[j])]", "key=lambda j: b[j]))"), ("zip(ids, b)", "enumerate(b)")
)
RENORMALISED = changed(JUDGED, ("acceptance += sum(min(a[token], x)", "acceptance += sum(min(a[token] / (sum(a[t] for t in ids) or 1), x)"))

MALFORMED = {
    "q1-answer": 'answer_1a = 85\nanswer_1b = "1/2"',
    "q2-answer": 'answer_2 = "YXYX"',
    "q3-answer": 'answer_3 = "900"',
    "q4-answer": 'answer_4 = ("A", "B")',
    "q5-answer": 'answer_5a = "1.4"\nanswer_5b = [0.25]\nanswer_5c = True',
    "q6-answer": learn("return None"),
    "q7-answer": judge("return 0.5"),
}

LEARNERS = {
    "perfect": ({}, {}),
    # What counts is the target's favourite token, at any temperature.
    "the_favourite_alone": (
        {"q1-answer": stand(0.5, 0.5), "q2-answer": chosen("YYYY"), "q6-answer": learn(FAVOURITE_ALONE)},
        {"q1a-check": 1, "q2-check": 2, "q6-check": 5},
    ),
    # The loss that is made small in the end is the best guide from the start.
    "tv_from_the_start": (
        {"q2-answer": chosen("XXXX"), "q3-answer": slope(1), "q6-answer": learn(SLOPE_OF_TV)},
        {"q2-check": 2, "q3-check": 2, "q6-check": 5},
    ),
    # Text that was not trained on is text to judge by.
    "leaks": ({"q4-answer": flatter("")}, {"q4-check": 2}),
    # A higher alpha is a faster decoder; nothing has a price.
    "forgets_prices": (
        {"q5-answer": bought(1.96, 0.05, 30)},
        {"q5a-check": 1, "q5b-check": 1, "q5c-check": 1},
    ),
    # The draft's laws are laws over the target's tokens, one by one.
    "ids_forgotten": ({"q7-answer": judge(IDS_FORGOTTEN)}, {"q7-check": 2}),
    # What the draft cannot say does not count.
    "only_what_it_can_say": ({"q1-answer": stand(0.85, 1), "q7-answer": judge(RENORMALISED)}, {"q1b-check": 1, "q7-check": 1}),
}

WITH_NUMPY = """
import numpy as np
z, p = np.array(logits, float), np.array(p)
for _ in range(steps):
    e = np.exp(z - z.max())
    z = z + rate * (p - e / e.sum())
return list(z)
"""
RECURSIVE = """
if steps == 0:
    return logits[:]
log_sum = max(logits) + math.log(sum(math.exp(x - max(logits)) for x in logits))
return learn([x + rate * (a - math.exp(x - log_sum)) for x, a in zip(logits, p)], p, rate, steps - 1)
"""
BY_DICTIONARY = """
laws = [dict(zip(ids, law)) for law in q]
alpha = [max(law, key=law.get) == own.index(max(own)) for own, law in zip(p, laws)]
tv = [sum(abs(x - law.get(token, 0)) for token, x in enumerate(own)) / 2 for own, law in zip(p, laws)]
return sum(alpha) / len(alpha), 1 - sum(tv) / len(tv)
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", stand()),
    ("q1-answer", stand("1 - (0.1 + 0.2) / 2", "1 / 2")),
    ("q2-answer", chosen()),
    ("q3-answer", slope("0.9 / 0.001")),
    ("q3-answer", slope(899)),
    ("q4-answer", flatter("BA")),
    ("q5-answer", bought()),
    ("q5-answer", bought("1.96 / 1.4", "1 / 4", "0.5 * 120")),
    ("q6-answer", learn(STEPS)),
    ("q6-answer", learn(WITH_NUMPY)),
    ("q6-answer", learn(RECURSIVE)),
    ("q7-answer", judge(JUDGED)),
    ("q7-answer", judge(BY_DICTIONARY)),
    ("q7-answer", judge("import numpy as np\np, q = np.array(p), np.array(q)\n"
                        "return (np.array(ids)[q.argmax(1)] == p.argmax(1)).mean(), np.minimum(p[:, ids], q).sum(1).mean()")),
]  # fmt: skip

IN_PLACE = changed(STEPS, ("z = list(logits)", "z = logits"), ("    z = [", "    z[:] = ["))

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{f"1a is {a}": ("q1-answer", stand(warm=a), {"q1a-check": 1}) for a in (0.15, 0.7, 0.72, 0.465, 0.5, 0.9, 0.8)},
    **{f"1b is {b}": ("q1-answer", stand(cold=b), {"q1b-check": 1}) for b in (0.85, 1, 0, 0.7, 0.55, 0.45, 0.65)},
    **{
        f"2 is {letters}": ("q2-answer", chosen(letters), {"q2-check": lost})
        for letters, lost in {"XXXX": 2, "YYYY": 2, "YXYY": 1, "YYYX": 1, "YXXX": 1, "XXYX": 1, "YYXX": 2, "XYXY": 2, "YYXY": 2}.items()
    },
    **{f"3 is {times}": ("q3-answer", slope(times), {"q3-check": 2}) for times in (1, 1000, 450, 1800, 0.00111, 0.9, 999, 900_000, 10, 9)},
    **{
        f"4 is {letters or 'nothing'}": ("q4-answer", flatter(letters), {"q4-check": lost})
        for letters, lost in {"": 2, "A": 1, "B": 1, "ABC": 1, "ABD": 1, "ABE": 1, "AC": 2, "CD": 2, "AD": 2, "ABCDE": 2, "E": 2}.items()
    },
    **{
        f"5a is {a}": ("q5-answer", bought(a), {"q5a-check": 1})
        for a in ("1.39 / 1.4", "1.96 / 1.3", "1.96 / 1.35", 1.96, "0.96 / 1.4", "2.2 / 1.4", "1.96 / 1.39", "1.6 / 1.4", "1.4 / 1.96", 2)
    },
    **{f"5b is {b}": ("q5-answer", bought(alpha=b), {"q5b-check": 1}) for b in (0.2, 0.05, 1.25, 0.4, 0.5, 0.8, 0.33)},
    **{f"5c is {c}": ("q5-answer", bought(minutes=c), {"q5c-check": 1}) for c in (45, 20, 30, 90, 15, 75)},
    "the wrong way": ("q6-answer", learn(changed(STEPS, ("z[i] - rate", "z[i] + rate"))), {"q6-check": 5}),
    "the favourite alone": ("q6-answer", learn(FAVOURITE_ALONE), {"q6-check": 5}),
    "the slope of total variation": ("q6-answer", learn(SLOPE_OF_TV), {"q6-check": 5}),
    "logits for a law": (
        "q6-answer",
        learn("z = list(logits)\nfor _ in range(steps):\n    z = [x - rate * (x - a) for x, a in zip(z, p)]\nreturn z"),
        {"q6-check": 5},
    ),
    "weights that are no law": ("q6-answer", learn(changed(STEPS, ("x / sum(e)", "x"))), {"q6-check": 5}),
    "no rate": ("q6-answer", learn(changed(STEPS, ("rate * ", "0.5 * "))), {"q6-check": 4}),
    "one step": ("q6-answer", learn(changed(STEPS, ("range(steps)", "range(1)"))), {"q6-check": 2}),
    "one step too many": ("q6-answer", learn(changed(STEPS, ("range(steps)", "range(steps + 1)"))), {"q6-check": 5}),
    "all steps from the first law": (
        "q6-answer",
        learn(
            "e = [math.exp(x - max(logits)) for x in logits]\nreturn [x - steps * rate * (b / sum(e) - a) for x, a, b in zip(logits, p, e)]"
        ),
        {"q6-check": 2},
    ),
    "exp of a thousand": ("q6-answer", learn(changed(STEPS, ("x - top", "x"))), {"q6-check": 1}),
    "logits held small": ("q6-answer", learn(changed(STEPS, ("x - top", "min(x, 500)"))), {"q6-check": 1}),
    "the law for the logits": (
        "q6-answer",
        learn(changed(STEPS, ("return z", "e = [math.exp(x) for x in z]\nreturn [x / sum(e) for x in e]"))),
        {"q6-check": 5},
    ),
    "the input overwritten": ("q6-answer", learn(IN_PLACE), {"q6-check": 1}),
    "the steps on the law": ("q6-answer", learn(changed(STEPS, ("z[i] - rate", "q[i] - rate"))), {"q6-check": 5}),
    "the visible case alone": ("q6-answer", learn("return [0.25, -0.25]"), {"q6-check": 5}),
    "ids forgotten": ("q7-answer", judge(IDS_FORGOTTEN), {"q7-check": 2}),
    "the target among the same tokens": ("q7-answer", judge(RENORMALISED), {"q7-check": 1}),
    "total variation for acceptance": ("q7-answer", judge(changed(JUDGED, ("acceptance / n", "1 - acceptance / n"))), {"q7-check": 2}),
    "the whole difference": (
        "q7-answer",
        judge(changed(JUDGED, ("sum(min(a[token], x)", "1 - sum(abs(a[token] - x)"))),
        {"q7-check": 4},
    ),
    "drawn and compared": ("q7-answer", judge(changed(JUDGED, ("min(a[token], x)", "a[token] * x"))), {"q7-check": 4}),
    "the ratio's mean": (
        "q7-answer",
        judge(changed(JUDGED, ("min(a[token], x) for", "min(1, a[token] / x) / len(b) for"))),
        {"q7-check": 4},
    ),
    "the favourite's probability": ("q7-answer", judge(changed(JUDGED, ("best == guess", "a[guess]"))), {"q7-check": 4}),
    "the favourites both ways round": (
        "q7-answer",
        judge(changed(JUDGED, ("return alpha / n, acceptance / n", "return acceptance / n, alpha / n"))),
        {"q7-check": 4},
    ),
    "sums for means": ("q7-answer", judge(changed(JUDGED, ("alpha / n, acceptance / n", "alpha, acceptance"))), {"q7-check": 4}),
    "the first place alone": ("q7-answer", judge(changed(JUDGED, ("zip(p, q)", "zip(p[:1], q)"), ("len(p)", "1"))), {"q7-check": 4}),
    "all places have to agree": ("q7-answer", judge(changed(JUDGED, ("alpha / n,", "float(alpha == n),"))), {"q7-check": 2}),
    "the target's favourite among the sayable": (
        "q7-answer",
        judge(changed(JUDGED, ("max(range(len(a))", "max(ids"))),
        {"q7-check": 1},
    ),
    "the visible places alone": ("q7-answer", judge("return 0, 0.5"), {"q7-check": 4}),
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\.85",
    "q1b-check": r"\.5\b|1/2",
    "q2-check": r"\b[XY]\b",
    "q3-check": r"\b900\b|\b899",
    "q4-check": r"\b[AB]\b",
    "q5a-check": r"\b1\.40?\b",
    "q5b-check": r"\.25\b|1/4|quarter",
    "q5c-check": r"\b60\b",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", "answer_1a = 85", "one number from 0 to 1"),
    ("q1b-check", "answer_1b = '1/3'", "without quotes"),
    ("q2-check", "answer_2 = ...", "no answer yet"),
    ("q2-check", "answer_2 = ['X']", "list of four letters"),
    ("q2-check", "answer_2 = ['X', 'Y', 'Z', 'X']", 'has to be "X" or "Y"'),
    ("q3-check", "", "no answer yet"),
    ("q3-check", "answer_3 = '10 times'", "one number without quotes"),
    ("q4-check", "", "no answer yet"),
    ("q4-check", "answer_4 = 'C'", "in square brackets"),
    ("q4-check", "answer_4 = ['C, D']", "one of the capital letters"),
    ("q5a-check", "answer_5a = True", "one number without quotes"),
    ("q5b-check", "", "no answer yet"),
    ("q5b-check", "answer_5b = '10 %'", "one number without quotes"),
    ("q5c-check", "answer_5c = [1]", "one number without quotes"),
    ("q6-check", "learn = 1", "no function learn"),
    ("q6-check", learn("..."), "a list as long as logits, not None"),
    ("q6-check", learn("return logits"), "but gives [0.0, 0.0]"),
    ("q7-check", "", "no function judge"),
    ("q7-check", judge("..."), "return two values, alpha and acceptance, not None"),
    ("q7-check", judge("return 1, 1"), "but give (1, 1)"),
]
