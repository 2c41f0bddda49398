"""Answers to the knowledge check of chapter 7, with the marks they must get. What the names mean is said in source.py."""

import json
from functools import partial

from tests.quizzes.texts import changed, function

CHECKS = {
    "q1a-check": 2,
    "q1b-check": 1,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3a-check": 1,
    "q3b-check": 1,
    "q3c-check": 1,
    "q4a-check": 1,
    "q4b-check": 1,
    "q5-check": 2,
    "q6-check": 5,
    "q7-check": 3,
}


cause = partial(function, "diagnose(alpha, cool, usual, k, cost)")


batch = partial(function, "largest_batch(verify, tokens, drafting)")


def runs(which: str = "BCAD", most: object = "1 / (1 - known)") -> str:
    return f"answer_1a = {json.dumps(list(which))}\nanswer_1b = {most}"


COMMON = "sum(map(min, warm_p, warm_q))"
BOTH_DICE = "sum(a * b for a, b in zip(warm_p, warm_q))"


def place(warm: object = COMMON, rise: object = COMMON) -> str:
    return f"answer_2a = {warm}\nanswer_2b = {rise}"


SOLVE = """
v = [1, v2, v3, v4]
t = lambda k, a=measured: sum(a**i for i in range(k + 1))
cost = lambda k: v[k] + k * c + overhead
best = max((1, 2, 3), key=lambda k: t(k) / cost(k))
other = best % 3 + 1
"""


def advice(k: object = "best", gain: object = "t(best) / cost(best)", letter: str = "B") -> str:
    return f'{SOLVE}answer_3a = {k}\nanswer_3b = {gain}\nanswer_3c = "{letter}"'


def texts(gain: object = "brought / (v_8 + draft_price)", most: object = "brought - draft_price") -> str:
    return f"answer_4a = {gain}\nanswer_4b = {most}"


def ways(which: str = "ACBC") -> str:
    return f"answer_5 = {json.dumps(list(which))}"


LINES = """
def tokens(n):
    return sum(alpha ** i for i in range(n + 1))
if alpha < 0.7 * usual:
    if cool < 0.7 * usual:
        return "mismatch"
    return "temperature"
if k > 1 and tokens(k // 2) >= 0.95 * tokens(k):
    return "k too large"
if cost > tokens(k):
    return "price"
return "in order"
"""
LOOP = """
best = 0
for b in sorted(verify):
    if tokens / (verify[b] + drafting) > 1:
        best = b
    else:
        break
return best
"""
UPWARDS = """
total = half = 0
for i in range(k + 1):
    total += alpha ** i
    if i <= k // 2:
        half = total
found = "in order"
if total < cost:
    found = "price"
if k > 1 and half >= 0.95 * total:
    found = "k too large"
if alpha < 0.7 * usual:
    found = "temperature"
    if cool < 0.7 * usual:
        found = "mismatch"
return found
"""
RATE_FIRST = changed(
    LINES,
    ("if alpha < 0.7 * usual:\n", "if k > 1 and (tokens(k) - 1) / k < 0.7 * usual:\n    return 'k too large'\nif alpha < 0.7 * usual:\n"),
)
NO_OWN = changed(LINES, ("sum(alpha ** i for i in range(n + 1))", "sum(alpha ** i for i in range(1, n + 1))"))
LAST_WINNER = "return max([b for b in verify if tokens > verify[b] + drafting], default=0)"

MALFORMED = {
    "q1-answer": 'answer_1a = "BCAD"\nanswer_1b = "5"',
    "q2-answer": 'answer_2a = "0.6"\nanswer_2b = [0.6]',
    "q3-answer": 'answer_3a = 3.0\nanswer_3b = None\nanswer_3c = "c"',
    "q4-answer": 'answer_4a = "1.4"\nanswer_4b = True',
    "q5-answer": 'answer_5 = ("A", "C", "B", "C")',
    "q6-answer": cause("return 1"),
    "q7-answer": "largest_batch = 8",
}

LEARNERS = {
    "perfect": ({}, {}),
    # A low rate is a bad draft, and its rate is what a draft is worth.
    "the_rate_is_the_draft": (
        {"q1-answer": runs("BAAD", "100 * known"), "q6-answer": cause(RATE_FIRST)},
        {"q1a-check": 1, "q1b-check": 1, "q6-check": 5},
    ),
    # Heat is always to blame, and alpha falls with it.
    "heat_is_to_blame": (
        {
            "q1-answer": runs("BCBD"),
            "q2-answer": place(rise=f"{COMMON} - 1"),
            "q5-answer": ways("ABBC"),
            "q6-answer": cause(LINES.replace('return "mismatch"', 'return "temperature"')),
        },
        {"q1a-check": 1, "q2b-check": 1, "q5-check": 1, "q6-check": 5},
    ),
    # The goal decides, whatever the text.
    "the_goal_decides": (
        {"q5-answer": ways("BCBC"), "q4-answer": texts("8 * brought / (v_8 + draft_price)")},
        {"q5-check": 1, "q4a-check": 1},
    ),
    # The target's own token is not counted.
    "no_own_token": (
        {
            "q1-answer": runs(most="known / (1 - known)"),
            "q3-answer": advice(gain="(t(best) - 1) / cost(best)"),
            "q4-answer": texts("(brought - 1) / (v_8 + draft_price)", "brought - 1 - draft_price"),
            "q6-answer": cause(NO_OWN),
        },
        {"q1b-check": 1, "q3b-check": 1, "q4a-check": 1, "q4b-check": 1, "q6-check": 3},
    ),
    # Whatever is not free, or not certain, had better be left.
    "free_and_certain": (
        {"q3-answer": advice(0, 1, "D"), "q4-answer": texts(most=1)},
        {"q3a-check": 1, "q3b-check": 1, "q3c-check": 1, "q4b-check": 1},
    ),
    # Whoever wins once more further up goes on.
    "the_last_winner": ({"q7-answer": batch(LAST_WINNER)}, {"q7-check": 1}),
}

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", runs()),
    ("q1-answer", 'answer_1a = "B C A D".split()\nanswer_1b = 1 + known / (1 - known)'),
    ("q1-answer", runs(most="round(sum(known**i for i in range(101)), 2)")),
    ("q2-answer", place()),
    ("q2-answer", place("1 - (warm_p[0] - warm_q[0])", "round(warm_q[0] + warm_p[1] + warm_p[2], 2)")),
    ("q3-answer", advice()),
    ("q3-answer", advice("int(best)", "round((1 - measured ** (best + 1)) / (1 - measured) / cost(best), 2)")),
    ("q4-answer", texts()),
    ("q4-answer", texts("round(1 / (v_8 / brought + draft_price / brought), 2)", "-(draft_price - brought)")),
    ("q5-answer", ways()),
    ("q5-answer", 'answer_5 = ["A"] + ["C", "B"] + ["C"]'),
    ("q6-answer", cause(LINES)),
    (
        "q6-answer",
        cause("""
        bad = lambda a: a / usual < 0.7
        t = lambda n: n + 1 if alpha == 1 else (1 - alpha ** (n + 1)) / (1 - alpha)
        if bad(alpha):
            return ["temperature", "mismatch"][bad(cool)]
        if k >= 2 and t(k // 2) / t(k) >= 0.95:
            return "k too large"
        return "in order" if t(k) >= cost else "price"
        """),
    ),
    ("q6-answer", cause(UPWARDS)),
    (
        "q6-answer",
        cause("""
        def t(n):
            return 1 + alpha * t(n - 1) if n else 1
        low, cold = (1 - a / usual > 0.3 for a in (alpha, cool))
        facts = {"mismatch": low and cold, "temperature": low, "k too large": k != 1 and 20 * t(k // 2) >= 19 * t(k), "price": t(k) < cost}
        return next((name for name, fits in facts.items() if fits), "in order")
        """),
    ),
    ("q7-answer", batch(LOOP)),
    (
        "q7-answer",
        batch("""
        from itertools import takewhile
        return max(takewhile(lambda b: verify[b] + drafting < tokens, sorted(verify)), default=0)
        """),
    ),
    (
        "q7-answer",
        batch("""
        first = min(verify, default=0)
        if first == 0 or verify[first] >= tokens - drafting:
            return 0
        return max(first, largest_batch({b: v for b, v in verify.items() if b != first}, tokens, drafting))
        """),
    ),
    (
        "q7-answer",
        batch("""
        lost = [b for b, v in verify.items() if v + drafting >= tokens]
        return max((b for b in verify if not lost or b < min(lost)), default=0)
        """),
    ),
]

GEOMETRIC = changed(LINES, ("sum(alpha ** i for i in range(n + 1))", "(1 - alpha ** (n + 1)) / (1 - alpha)"))

COLD_FIRST = changed(
    LINES,
    ("if alpha < 0.7 * usual:\n", 'if cool < 0.7 * usual:\n    return "mismatch"\nif alpha < 0.7 * usual:\n'),
    ('    if cool < 0.7 * usual:\n        return "mismatch"\n', ""),
)
K, PRICE = (
    'if k > 1 and tokens(k // 2) >= 0.95 * tokens(k):\n    return "k too large"\n',
    'if cost > tokens(k):\n    return "price"\n',
)
PRICE_BEFORE_K = changed(LINES, (K + PRICE, PRICE + K))
EITHER = changed(
    LINES,
    (
        'if alpha < 0.7 * usual:\n    if cool < 0.7 * usual:\n        return "mismatch"\n',
        'if alpha < 0.7 * usual and cool < 0.7 * usual:\n    return "mismatch"\nif alpha < 0.7 * usual or cool < 0.7 * usual:\n',
    ),
)
FIRST_CROSSING = """
found = sorted(verify)
wins = [tokens > verify[b] + drafting for b in found]
if found and all(wins):
    return found[-1]
return next((b for b, here, there in zip(found, wins, wins[1:]) if here and not there), 0)
"""
GROWING = """
best = most = 0
for b in sorted(verify):
    gain = tokens / (verify[b] + drafting)
    if gain <= 1 or b * gain < most:
        break
    best, most = b, b * gain
return best
"""

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a is {which}": ("q1-answer", runs(which), {"q1a-check": lost})
        for which, lost in (("ACBD", 2), ("BAAD", 1), ("BDAD", 1), ("BCDD", 1), ("BCAC", 1), ("ACAD", 1), ("DDDD", 2))
    },
    **{
        f"1b: {what}": ("q1-answer", runs(most=most), {"q1b-check": 1})
        for what, most in {
            "each guess stands": 101,
            "the guesses alone": "known / (1 - known)",
            "as with the shorter draft": "nearly",
            "alpha is the rate": "100 * known",
            "so many are rejected": "100 * (1 - known)",
            "alpha upside down": "1 / known",
            "each guess stands, and no more": 100,
        }.items()
    },
    **{
        f"2a: {what}": ("q2-answer", place(warm), {"q2a-check": 1})
        for what, warm in {
            "both dice show the same": BOTH_DICE,
            "the differences": f"2 * (1 - {COMMON})",
            "what they do not have in common": f"1 - {COMMON}",
            "where they agree": "warm_p[2]",
            "the larger chances": "sum(map(max, warm_p, warm_q))",
            "what is drafted most": "max(warm_q)",
            "what the target says most": "max(warm_p)",
            "what the draft says, by the target": "warm_p[1]",
        }.items()
    },
    **{
        f"2b: {what}": ("q2-answer", place(rise=rise), {"q2b-check": 1})
        for what, rise in {
            "a fall": f"-{COMMON}",
            "cold laws agree": f"{COMMON} - 1",
            "what they do not have in common": f"1 - {COMMON}",
            "no change": 0,
            "both dice show the same": BOTH_DICE,
            "warm laws agree": 1,
            "from agreement to both dice": f"{BOTH_DICE} - 1",
        }.items()
    },
    **{
        f"3a: {what}": ("q3-answer", advice(k), {"q3a-check": 1})
        for what, k in {
            "none": 0,
            "the next": "other",
            "the one after": "other % 3 + 1",
            "the tokens of the pass": 4,
            "the rule of thumb": 5,
        }.items()
    },
    **{
        f"3b: {what}": ("q3-answer", advice(gain=gain), {"q3b-check": 1})
        for what, gain in {
            "no overhead": "t(best) / (v[best] + best * c)",
            "the tokens": "t(best)",
            "upside down": "cost(best) / t(best)",
            "of another k": "t(other) / cost(other)",
            "the pass alone": "t(best) / v[best]",
            "the pass over k tokens": "t(best) / (v[best - 1] + best * c + overhead)",
            "at the lower edge": "t(best, measured - 2 * error) / cost(best)",
            "drafting is free": "t(best) / (v[best] + overhead)",
            "no own token": "(t(best) - 1) / cost(best)",
            "every guess stands": "(best + 1) / cost(best)",
        }.items()
    },
    **{f"3c is {letter}": ("q3-answer", advice(letter=letter), {"q3c-check": 1}) for letter in "ACD"},
    **{
        f"4a: {what}": ("q4-answer", texts(gain), {"q4a-check": 1})
        for what, gain in {
            "drafting is free": "brought / v_8",
            "of all texts": "8 * brought / (v_8 + draft_price)",
            "one text": "brought / (v_1 + draft_price)",
            "the most texts": "brought / (v_32 + draft_price)",
            "upside down": "(v_8 + draft_price) / brought",
            "shared by the texts": "brought / (v_8 + draft_price) / 8",
            "no own token": "(brought - 1) / (v_8 + draft_price)",
            "drafting for each text": "brought / (v_8 + 8 * draft_price)",
        }.items()
    },
    **{
        f"4b: {what}": ("q4-answer", texts(most=most), {"q4b-check": 1})
        for what, most in {
            "drafting is free": "brought",
            "drafting is a gift": "brought + draft_price",
            "a round costs a step": 1,
            "a round costs a step, with its draft": "1 - draft_price",
            "every guess stands": "k_each + 1",
            "the first that loses": "v_32",
            "the last that wins": "v_8",
            "no own token": "brought - 1 - draft_price",
        }.items()
    },
    **{
        f"5 is {which}": ("q5-answer", ways(which), {"q5-check": lost})
        for which, lost in (("BCBC", 1), ("ABBC", 1), ("ACAC", 1), ("ACBA", 1), ("BBBB", 2), ("CCCC", 2), ("BBAA", 2))
    },
    "heat alone": ("q6-answer", cause(LINES.replace('return "mismatch"', 'return "temperature"')), {"q6-check": 5}),
    "mismatch alone": ("q6-answer", cause(LINES.replace('return "temperature"', 'return "mismatch"')), {"q6-check": 1}),
    "alpha for cool": ("q6-answer", cause(LINES.replace("if cool < 0.7 * usual", "if alpha < 0.7 * usual")), {"q6-check": 1}),
    "below the usual": ("q6-answer", cause(LINES.replace("0.7 * usual", "usual")), {"q6-check": 4}),
    "0.7 of 1": ("q6-answer", cause(LINES.replace("0.7 * usual", "0.7")), {"q6-check": 4}),
    "price first": (
        "q6-answer",
        cause(changed(LINES, ("if alpha < 0.7 * usual:\n", "if cost > tokens(k):\n    return 'price'\nif alpha < 0.7 * usual:\n"))),
        {"q6-check": 5},
    ),
    "the rate": ("q6-answer", cause(RATE_FIRST), {"q6-check": 5}),
    "k too large first": (
        "q6-answer",
        cause(
            changed(
                LINES,
                (
                    "if alpha < 0.7 * usual:\n",
                    "if k > 1 and tokens(k // 2) >= 0.95 * tokens(k):\n    return 'k too large'\nif alpha < 0.7 * usual:\n",
                ),
            )
        ),
        {"q6-check": 5},
    ),
    "0/0": ("q6-answer", cause(GEOMETRIC), {"q6-check": 1}),
    "k = 1 is too large": ("q6-answer", cause(LINES.replace("k > 1 and ", "")), {"q6-check": 1}),
    "no own token": ("q6-answer", cause(NO_OWN), {"q6-check": 3}),
    "k for half of it": ("q6-answer", cause(LINES.replace("tokens(k // 2)", "tokens(k - 1)")), {"q6-check": 2}),
    "never too large": ("q6-answer", cause(LINES.replace("if k > 1 and", "if k > 100 and")), {"q6-check": 1}),
    "a large number": (
        "q6-answer",
        cause(LINES.replace("k > 1 and tokens(k // 2) >= 0.95 * tokens(k)", "k > 10")),
        {"q6-check": 2},
    ),
    "the price of a plain step": ("q6-answer", cause(LINES.replace("cost > tokens(k)", "cost > 1")), {"q6-check": 2}),
    "upside down": ("q6-answer", cause(LINES.replace("cost > tokens(k)", "cost < tokens(k)")), {"q6-check": 2}),
    "low when cold, whatever alpha is": ("q6-answer", cause(COLD_FIRST), {"q6-check": 1}),
    "half of it, rounded up": ("q6-answer", cause(changed(LINES, ("tokens(k // 2)", "tokens((k + 1) // 2)"))), {"q6-check": 1}),
    "the usual alpha in the formula": ("q6-answer", cause(changed(LINES, ("alpha ** i", "usual ** i"))), {"q6-check": 1}),
    "as many as they can get": (
        "q6-answer",
        cause(changed(LINES, ("tokens(k // 2) >= 0.95 * tokens(k)", "alpha < 1 and tokens(k) >= 0.95 / (1 - alpha)"))),
        {"q6-check": 1},
    ),
    "one token short": ("q6-answer", cause(changed(LINES, ("range(n + 1)", "range(n)"))), {"q6-check": 3}),
    "every guess counts the same": (
        "q6-answer",
        cause(changed(LINES, ("sum(alpha ** i for i in range(n + 1))", "1 + alpha * n"))),
        {"q6-check": 2},
    ),
    "two is never too large": ("q6-answer", cause(changed(LINES, ("k > 1", "k > 2"))), {"q6-check": 1}),
    "a draw is a loss": ("q6-answer", cause(changed(LINES, ("cost > tokens(k)", "cost >= tokens(k)"))), {"q6-check": 1}),
    "the price before k": ("q6-answer", cause(PRICE_BEFORE_K), {"q6-check": 1}),
    "cold is as good as warm": ("q6-answer", cause(EITHER), {"q6-check": 1}),
    "k tokens, if all stand": (
        "q6-answer",
        cause(changed(GEOMETRIC, ("return (1", "return n if alpha == 1 else (1"))),
        {"q6-check": 1},
    ),
    "half of it, beside the limit": (
        "q6-answer",
        cause(changed(LINES, ("tokens(k // 2) >= 0.95 * tokens(k)", "(1 - alpha) * tokens(k // 2) >= 0.95"))),
        {"q6-check": 1},
    ),
    "it is always a mismatch": ("q6-answer", cause('return "mismatch"'), {"q6-check": 5}),
    "the last that wins": ("q7-answer", batch(LAST_WINNER), {"q7-check": 1}),
    "the first that loses": (
        "q7-answer",
        batch("return min([b for b in verify if tokens <= verify[b] + drafting], default=max(verify, default=0))"),
        {"q7-check": 3},
    ),
    "in the order given": ("q7-answer", batch(LOOP.replace("sorted(verify)", "verify")), {"q7-check": 1}),
    "no drafting": ("q7-answer", batch(LOOP.replace(" + drafting", "")), {"q7-check": 2}),
    "on the line": ("q7-answer", batch(LOOP.replace("> 1", ">= 1")), {"q7-check": 1}),
    "without the target's own": ("q7-answer", batch(LOOP.replace("tokens /", "(tokens - 1) /")), {"q7-check": 3}),
    "with a token more": ("q7-answer", batch(LOOP.replace("tokens /", "(tokens + 1) /")), {"q7-check": 3}),
    "times the batch": ("q7-answer", batch(LOOP.replace("tokens /", "b * tokens /")), {"q7-check": 3}),
    "over the batch": ("q7-answer", batch(LOOP.replace("tokens /", "tokens / b /")), {"q7-check": 3}),
    "the largest measured": ("q7-answer", batch("return max(verify)"), {"q7-check": 3}),
    "fails where nothing was measured": ("q7-answer", batch("min(verify)\n" + LOOP.strip()), {"q7-check": 1}),
    "prices are eaten": (
        "q7-answer",
        batch("""
        best = 0
        while verify and tokens > verify[min(verify)] + drafting:
            best = min(verify)
            del verify[best]
        return best
        """),
        {"q7-check": 3},
    ),
    "how many of them win": ("q7-answer", batch(LOOP.replace("best = b", "best += 1")), {"q7-check": 3}),
    "by their prices": ("q7-answer", batch(LOOP.replace("sorted(verify)", "sorted(verify, key=verify.get)")), {"q7-check": 1}),
    "drafting for each text": ("q7-answer", batch(LOOP.replace("+ drafting", "+ b * drafting")), {"q7-check": 2}),
    "the best speedup": ("q7-answer", batch("return min(verify, key=verify.get) if verify else 0"), {"q7-check": 3}),
    "the usual batches alone": (
        "q7-answer",
        batch(changed(LOOP, ("for b in sorted(verify):", "for b in [b for b in (1, 2, 4, 8, 16, 32, 64) if b in verify]:"))),
        {"q7-check": 1},
    ),
    "the first crossing, whatever is below": ("q7-answer", batch(FIRST_CROSSING), {"q7-check": 1}),
    "as long as all together gain by it": ("q7-answer", batch(GROWING), {"q7-check": 1}),
    "the visible prices alone": ("q7-answer", batch("return 1"), {"q7-check": 3}),
}

# Where the chapter names what is behind a wrong letter, or says why it is wrong.
NAMED = {
    "q1a-check": {
        "A": "the acceptance rate is low for a bad draft and for a long one alike",
        "B": "low from the first guess on, and low at temperature 0 too",
        "C": "alpha as usual, rate low, tokens a pass as many as they can get",
    },
    "q3c-check": {
        "A": "alpha was measured on few tokens, so the truth may lie two standard errors lower or higher.",
        "C": "If even the lower edge has a k that wins: **enable**, with the best k of *alpha*.",
        "D": "Past the ridge they are not free, but they may still pay.",
    },
    "q5-check": {
        "A": "and the temperature is at most 0.3: *enable*",
        "B": "whatever it enables is decoded speculatively; of the rest, what has throughput for its goal gets a **bigger batch**",
    },
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\b[ABCD]\b|mismatch|temperature\b|too large|price",
    "q1b-check": r"\b5\b|five",
    "q2a-check": r"\.6\b",
    "q2b-check": r"\.6\b",
    "q3a-check": r"\b3\b|three",
    "q3b-check": r"1\.36",
    "q3c-check": r"\bB\b",
    "q4a-check": r"1\.3[89]",
    "q4b-check": r"2\.57",
    "q5-check": r"\b[BC]\b",  # A is a word of its section's title
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", 'answer_1a = "BCAD"', "in square brackets"),
    ("q1a-check", 'answer_1a = ["B", "C", "A"]', "list of four letters"),
    ("q1a-check", 'answer_1a = ["b", "c", "a", "d"]', "capital letters"),
    ("q1b-check", 'answer_1b = "5"', "one number without quotes"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = [0.6]", "one number without quotes"),
    ("q2b-check", "answer_2b = True", "one number without quotes"),
    ("q3a-check", "answer_3a = 3.0", "one whole number"),
    ("q3b-check", "", "no answer yet"),
    ("q3c-check", "answer_3c = 3", "letter in quotes"),
    ("q3c-check", 'answer_3c = "A, B"', "exactly one"),
    ("q4a-check", "", "no answer yet"),
    ("q4b-check", 'answer_4b = "2.5"', "one number without quotes"),
    ("q5-check", "", "no answer yet"),
    ("q5-check", 'answer_5 = ["A", "C", "B", "D"]', "A, B, C, in quotes"),
    ("q6-check", "", "no function diagnose"),
    ("q6-check", cause("..."), "return a text, not None"),
    ("q6-check", cause('return "price"'), "but gives price"),
    ("q7-check", "largest_batch = 2", "no function largest_batch"),
    ("q7-check", batch("..."), "return one whole number, not None"),
    ("q7-check", batch("return 8"), "has to give 1, but gives 8"),
]
