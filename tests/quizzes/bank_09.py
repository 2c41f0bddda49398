"""Answers to the knowledge check of chapter 9, with the marks they must get. What the names mean is said in source.py."""

import json
from functools import partial

from tests.quizzes.texts import changed, function

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
    return "import math\n" + function("learn(logits, p, rate, steps)", body)


judge = partial(function, "judge(p, q, ids)")


# The share of drafted tokens that stand at temperature 1, and at temperature 0; a mean over the places of question 1.
WARM = "sum(min(a, b) for p, q in places for a, b in zip(p, q)) / 3"
COLD = "sum(p.index(max(p)) == q.index(max(q)) for p, q in places) / 3"


def stand(warm: object = WARM, cold: object = COLD) -> str:
    return f"answer_1a = {warm}\nanswer_1b = {cold}"


def chosen(letters: str = "YXYX") -> str:
    return f"answer_2 = list({letters!r})"


def slope(times: object = "p_first / q_first") -> str:
    return f"answer_3 = {times}"


def flatter(letters: str = "AB") -> str:
    return f"answer_4 = {json.dumps(list(letters))}"


OLD, NEW, ROUND = "(1 + alpha_old + alpha_old**2)", "(1 + alpha_new + alpha_new**2)", "(pass_3 + 2 * c)"


def bought(speedup: object = f"{NEW} / {ROUND}", alpha: object = "pass_2 + c - 1", minutes: object = "stop / (s - 1)") -> str:
    return f"answer_5a = {speedup}\nanswer_5b = {alpha}\nanswer_5c = {minutes}"


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
        {"q1-answer": stand(COLD, COLD), "q2-answer": chosen("YYYY"), "q6-answer": learn(FAVOURITE_ALONE)},
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
        {"q5-answer": bought(NEW, "c", "stop")},
        {"q5a-check": 1, "q5b-check": 1, "q5c-check": 1},
    ),
    # The draft's laws are laws over the target's tokens, one by one.
    "ids_forgotten": ({"q7-answer": judge(IDS_FORGOTTEN)}, {"q7-check": 2}),
    # What the draft cannot say does not count.
    "only_what_it_can_say": ({"q1-answer": stand(cold=1), "q7-answer": judge(RENORMALISED)}, {"q1b-check": 1, "q7-check": 1}),
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

MOVED_APART = """
moved = [0.0] * len(p)
for _ in range(steps):
    z = [x + m for x, m in zip(logits, moved)]
    log_sum = max(z) + math.log(math.fsum(math.exp(x - max(z)) for x in z))
    moved = [m + rate * (a - math.exp(x - log_sum)) for m, a, x in zip(moved, p, z)]
return [x + m for x, m in zip(logits, moved)]
"""
BY_DECIMAL = """
from decimal import Decimal
z = [Decimal(x) for x in logits]
for _ in range(steps):
    e = [x.exp() for x in z]
    z = [x - Decimal(rate) * (w / sum(e) - Decimal(a)) for x, w, a in zip(z, e, p)]
return [float(x) for x in z]
"""
LAWS_OVER_ALL = """
alpha = acceptance = 0
for a, b in zip(p, q):
    law = [0.0] * len(a)
    for token, x in zip(ids, b):
        law[token] = x
    alpha += a[law.index(max(law))] == max(a)
    acceptance += 1 - sum(abs(x - y) for x, y in zip(a, law)) / 2
return alpha / len(p), acceptance / len(p)
"""
CHANCES = changed(JUDGED, ("sum(min(a[token], x)", "sum(x * min(1, a[token] / x)"))

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", stand()),
    ("q1-answer", stand(f"round({WARM}, 2)", f"round({COLD}, 2)")),
    ("q1-answer", stand("1 - sum(abs(a - b) for p, q in places for a, b in zip(p, q)) / 6")),
    ("q2-answer", chosen()),
    ("q3-answer", slope()),
    ("q3-answer", slope("p_first / q_first - 1")),
    ("q3-answer", slope("round(p_first / q_first, -1)")),
    ("q4-answer", flatter("BA")),
    ("q5-answer", bought()),
    ("q5-answer", bought(f"round({NEW} / {ROUND}, 2)", "-(1 - pass_2 - c)", "round(1 / (s - 1) * stop)")),
    ("q6-answer", learn(STEPS)),
    ("q6-answer", learn(WITH_NUMPY)),
    ("q6-answer", learn(RECURSIVE)),
    ("q6-answer", learn(MOVED_APART)),
    ("q6-answer", learn(BY_DECIMAL)),
    ("q7-answer", judge(JUDGED)),
    ("q7-answer", judge(LAWS_OVER_ALL)),
    ("q7-answer", judge(CHANCES)),
    ("q7-answer", judge(BY_DICTIONARY)),
    ("q7-answer", judge("import numpy as np\np, q = np.array(p), np.array(q)\n"
                        "return (np.array(ids)[q.argmax(1)] == p.argmax(1)).mean(), np.minimum(p[:, ids], q).sum(1).mean()")),
]  # fmt: skip

IN_PLACE = changed(STEPS, ("z = list(logits)", "z = logits"), ("    z = [", "    z[:] = ["))

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a: {mistake}": ("q1-answer", stand(warm=value), {"q1a-check": 1})
        for mistake, value in {
            "what falls": f"1 - {WARM}",
            "the whole difference": "1 - sum(abs(a - b) for p, q in places for a, b in zip(p, q)) / 3",
            "all of them stand": "sum(map(min, *places[0])) * sum(map(min, *places[1])) * sum(map(min, *places[2]))",
            "drawn and compared": "sum(a * b for p, q in places for a, b in zip(p, q)) / 3",
            "as at temperature 0": COLD,
            "the first place": "sum(map(min, *places[0]))",
            "the last place": "sum(map(min, *places[2]))",
            "a mean over the tokens, too": f"{WARM} / 3",
            "the mean ratio": "sum(min(1, a / b) for p, q in places for a, b in zip(p, q)) / 9",
            "the draft's favourite alone": "sum(min(p[q.index(max(q))] / max(q), 1) for p, q in places) / 3",
        }.items()
    },
    **{
        f"1b: {mistake}": ("q1-answer", stand(cold=value), {"q1b-check": 1})
        for mistake, value in {
            "as at temperature 1": WARM,
            "where they differ": f"(1 - {COLD}) or 0.99",
            "one law is enough": 1,
            "the target's dice": "sum(max(p) for p, q in places) / 3",
            "the draft's dice": "sum(max(q) for p, q in places) / 3",
            "the target's word on the draft's favourite": "sum(p[q.index(max(q))] for p, q in places) / 3",
            "the draft's word on the target's favourite": "sum(q[p.index(max(p))] for p, q in places) / 3",
        }.items()
    },
    **{
        f"2 is {letters}": ("q2-answer", chosen(letters), {"q2-check": lost})
        for letters, lost in {"XXXX": 2, "YYYY": 2, "YXYY": 1, "YYYX": 1, "YXXX": 1, "XXYX": 1, "YYXX": 2, "XYXY": 2, "YYXY": 2}.items()
    },
    **{
        f"3: {mistake}": ("q3-answer", slope(value), {"q3-check": 2})
        for mistake, value in {
            "a distance falls as it is walked": 1,
            "the factor alone": "1 / q_first",
            "the second token's factor": "(1 - q_first) / q_first",
            "halved": "p_first / q_first / 2",
            "doubled": "p_first / q_first * 2",
            "turned round": "q_first / p_first",
            "forward KL's fall": "p_first - q_first",
            "total variation's fall": "q_first * (1 - q_first)",
            "the factor twice": "p_first / q_first**2",
            "the factor of the second token": "(p_first - q_first) / (1 - q_first)",
            "how large they are": "(p_first * 6.8 + (1 - p_first) * -2.3) / (p_first - q_first)",
        }.items()
    },
    **{
        f"4 is {letters or 'nothing'}": ("q4-answer", flatter(letters), {"q4-check": lost})
        for letters, lost in {"": 2, "A": 1, "B": 1, "ABC": 1, "ABD": 1, "ABE": 1, "AC": 2, "CD": 2, "AD": 2, "ABCDE": 2, "E": 2}.items()
    },
    **{
        f"5a: {mistake}": ("q5-answer", bought(value), {"q5a-check": 1})
        for mistake, value in {
            "before the training": f"{OLD} / {ROUND}",
            "drafting is free": f"{NEW} / pass_3",
            "one token drafted": f"{NEW} / (pass_3 + c)",
            "nothing has a price": NEW,
            "no token of the target's own": f"({NEW} - 1) / {ROUND}",
            "the second guess as often as the first": f"(1 + 2 * alpha_new) / {ROUND}",
            "compared with before": f"{NEW} / {OLD}",
            "the first guess alone": f"(1 + alpha_new) / {ROUND}",
            "k is one": "(1 + alpha_new) / (pass_2 + c)",
            "turned round": f"{ROUND} / {NEW}",
            "three tokens drafted": f"({NEW} + alpha_new**3) / (pass_3 + 3 * c)",
            "a pass costs one step": f"{NEW} / (1 + 2 * c)",
        }.items()
    },
    **{
        f"5b: {mistake}": ("q5-answer", bought(alpha=value), {"q5b-check": 1})
        for mistake, value in {
            "drafting is free": "pass_2 - 1",
            "a pass costs one step": "c",
            "no token of the target's own": "pass_2 + c",
            "two tokens with alpha": "(pass_2 + c) / 2",
            "k is two": "pass_3 + 2 * c - 1",
            "two tokens drafted": "pass_2 + 2 * c - 1",
            "turned round": "1 / (pass_2 + c)",
        }.items()
    },
    **{
        f"5c: {mistake}": ("q5-answer", bought(minutes=value), {"q5c-check": 1})
        for mistake, value in {
            "times the speedup": "stop * s",
            "by the speedup": "stop / s",
            "as long as it stood": "stop",
            "the training counted": "stop + stop / (s - 1)",
            "times the gain": "stop * (s - 1)",
            "the gain by the speedup": "stop * s / (s + 1)",
        }.items()
    },
    "each logit after the other": (
        "q6-answer",
        learn(
            "z = list(logits)\nfor _ in range(steps):\n    for i in range(len(z)):\n        e = [math.exp(x - max(z)) for x in z]\n"
            "        z[i] -= rate * (e[i] / sum(e) - p[i])\nreturn z"
        ),
        {"q6-check": 5},
    ),
    "two tokens alone": (
        "q6-answer",
        learn(
            "a, b = logits[:2]\nfor _ in range(steps):\n    x = rate * (p[0] - 1 / (1 + math.exp(max(-500, min(500, b - a)))))\n"
            "    a, b = a + x, b - x\nreturn [a, b, *logits[2:]]"
        ),
        {"q6-check": 5},
    ),
    "the first logits forgotten": ("q6-answer", learn(changed(STEPS, ("z = list(logits)", "z = [0.0] * len(p)"))), {"q6-check": 5}),
    "the mean over the tokens": ("q6-answer", learn(changed(STEPS, ("(q[i] - p[i])", "(q[i] - p[i]) / len(z)"))), {"q6-check": 5}),
    "the slope kept in p": (
        "q6-answer",
        learn(changed(STEPS, ("    z = [", "    p[:] = [b - a for a, b in zip(p, q)]\n    z = ["), ("(q[i] - p[i])", "p[i]"))),
        {"q6-check": 3},
    ),
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
    "shifted by the first logit": ("q6-answer", learn(changed(STEPS, ("top = max(z)", "top = z[0]"))), {"q6-check": 1}),
    "shifted by the mean": ("q6-answer", learn(changed(STEPS, ("top = max(z)", "top = sum(z) / len(z)"))), {"q6-check": 1}),
    "shifted down alone": ("q6-answer", learn(changed(STEPS, ("top = max(z)", "top = max(0, *z)"))), {"q6-check": 1}),
    "the favourite where exp fails": (
        "q6-answer",
        learn(
            changed(
                STEPS,
                ("x - top", "x"),
                ("    e = ", "    try:\n        e = "),
                ("    q = ", "    except OverflowError:\n        e = [float(x == top) for x in z]\n    q = "),
            )
        ),
        {"q6-check": 1},
    ),
    "tokens found by what p gives them": (
        "q6-answer",
        learn(
            changed(
                STEPS,
                ("z = [z[i] - rate * (q[i] - p[i]) for i in range(len(z))]", "z = [z[p.index(a)] - rate * (q[p.index(a)] - a) for a in p]"),
            )
        ),
        {"q6-check": 3},
    ),
    "stops when near": (
        "q6-answer",
        learn(changed(STEPS, ("    z = [", "    if max(abs(b - a) for a, b in zip(p, q)) < 0.001:\n        break\n    z = ["))),
        {"q6-check": 1},
    ),
    "logits moved to 0": ("q6-answer", learn(changed(STEPS, ("    q = [", "    z = [x - top for x in z]\n    q = ["))), {"q6-check": 5}),
    "a rate that falls": ("q6-answer", learn(changed(STEPS, ("for _ in", "for n in"), ("rate *", "rate / (n + 1) *"))), {"q6-check": 2}),
    "one step at least": ("q6-answer", learn(changed(STEPS, ("range(steps)", "range(max(1, steps))"))), {"q6-check": 1}),
    "all steps as one long one": ("q6-answer", learn("rate, steps = rate * steps, 1\n" + STEPS), {"q6-check": 2}),
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
    "ids sorted": ("q7-answer", judge("ids = sorted(ids)\n" + JUDGED), {"q7-check": 2}),
    "ids sorted in place": ("q7-answer", judge("ids.sort()\n" + JUDGED), {"q7-check": 2}),
    "the laws sorted in place": (
        "q7-answer",
        judge(changed(JUDGED, ("return", "for a in p:\n    a.sort()\nreturn"))),
        {"q7-check": 4},
    ),
    "likely enough": ("q7-answer", judge(changed(JUDGED, ("best == guess", "a[guess] >= 0.3"))), {"q7-check": 2}),
    "likely enough is half": ("q7-answer", judge(changed(JUDGED, ("best == guess", "a[guess] >= 0.5"))), {"q7-check": 2}),
    "laws as long as the largest token that can be said": (
        "q7-answer",
        judge(changed(BY_DICTIONARY, ("enumerate(own)", "enumerate(own[: max(ids) + 1])"))),
        {"q7-check": 1},
    ),
    "the difference among the same tokens": (
        "q7-answer",
        judge(changed(JUDGED, ("sum(min(a[token], x)", "1 - 0.5 * sum(abs(a[token] - x)"))),
        {"q7-check": 1},
    ),
    "places that can be won alone": (
        "q7-answer",
        judge(
            "keep = [i for i, a in enumerate(p) if a.index(max(a)) in ids]\np, q = [p[i] for i in keep], [q[i] for i in keep]\n" + JUDGED
        ),
        {"q7-check": 2},
    ),
    "the list read the other way": (
        "q7-answer",
        judge(
            "place = {token: j for j, token in enumerate(ids)}\nids = [place.get(j, len(p[0]) - 1) for j in range(len(ids))]\n" + JUDGED,
        ),
        {"q7-check": 2},
    ),
    "up to the first miss": (
        "q7-answer",
        judge(
            changed(
                JUDGED,
                ("alpha += best == guess", "alpha += best == guess and alpha == len(seen)\n    seen.append(a)"),
                ("n, alpha,", "seen = []\nn, alpha,"),
            )
        ),
        {"q7-check": 1},
    ),
    "the middle place": (
        "q7-answer",
        judge(changed(BY_DICTIONARY, ("1 - sum(tv) / len(tv)", "1 - __import__('statistics').median(tv)"))),
        {"q7-check": 2},
    ),
    "rounded": ("q7-answer", judge(changed(JUDGED, ("acceptance / n", "round(acceptance / n, 2)"))), {"q7-check": 2}),
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

# The words of the chapter that say what is wrong with a wrong letter.
NAMED = {
    "q4-check": {
        "C": "They are other *questions*, not just other places in the same answers",
        "D": "It is to say what *this target* will say.",
        "E": "the *loss on the texts it reads* goes on falling: it begins to know them by heart",
    }
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\.76|\.77",
    "q1b-check": r"\.33|1/3|third",
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
