"""Answers to the knowledge check of chapter 7, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

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


def cause(body: str) -> str:
    return "def diagnose(alpha, cool, usual, k, cost):\n" + indent(dedent(body).strip(), "    ")


def batch(body: str) -> str:
    return "def largest_batch(verify, tokens, drafting):\n" + indent(dedent(body).strip(), "    ")


def runs(letters: str = "BCAD", most: object = 5) -> str:
    return f"answer_1a = list({letters!r})\nanswer_1b = {most}"


def place(warm: object = 0.6, rise: object = 0.6) -> str:
    return f"answer_2a = {warm}\nanswer_2b = {rise}"


def advice(k: object = 3, gain: object = "2.176 / 1.6", letter: str = "C") -> str:
    return f"answer_3a = {k}\nanswer_3b = {gain}\nanswer_3c = {letter!r}"


def texts(gain: object = 1.385, most: object = 2.57) -> str:
    return f"answer_4a = {gain}\nanswer_4b = {most}"


def ways(letters: str = "ACBC") -> str:
    return f"answer_5 = list({letters!r})"


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


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
        {"q1-answer": runs("BAAD", 80), "q6-answer": cause(RATE_FIRST)},
        {"q1a-check": 1, "q1b-check": 1, "q6-check": 5},
    ),
    # Heat is always to blame, and alpha falls with it.
    "heat_is_to_blame": (
        {
            "q1-answer": runs("BCBD"),
            "q2-answer": place(rise=-0.4),
            "q5-answer": ways("ABBC"),
            "q6-answer": cause(LINES.replace('return "mismatch"', 'return "temperature"')),
        },
        {"q1a-check": 1, "q2b-check": 1, "q5-check": 1, "q6-check": 5},
    ),
    # The goal decides, whatever the text.
    "the_goal_decides": ({"q5-answer": ways("BCBC"), "q4-answer": texts(8 * 1.385)}, {"q5-check": 1, "q4a-check": 1}),
    # The target's own token is not counted.
    "no_own_token": (
        {"q1-answer": runs(most=4), "q3-answer": advice(gain=1.176 / 1.6), "q4-answer": texts(1.77 / 2, 1.57), "q6-answer": cause(NO_OWN)},
        {"q1b-check": 1, "q3b-check": 1, "q4a-check": 1, "q4b-check": 1, "q6-check": 2},
    ),
    # Whoever wins once more further up goes on.
    "the_last_winner": ({"q7-answer": batch(LAST_WINNER)}, {"q7-check": 1}),
}

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", runs()),
    ("q1-answer", 'answer_1a = "B C A D".split()\nanswer_1b = 1 + 0.8 / 0.2'),
    ("q2-answer", place()),
    ("q2-answer", place("1 - 0.4", "min(0.6, 0.2) + min(0.3, 0.7) + 0.1")),
    ("q3-answer", advice()),
    ("q3-answer", advice("1 + 2", 1.36)),
    ("q4-answer", texts()),
    ("q4-answer", texts("2.77 / 2", "2.7731 - 0.2")),
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
    ("q7-answer", batch(LOOP)),
    (
        "q7-answer",
        batch("""
        lost = [b for b, v in verify.items() if v + drafting >= tokens]
        return max((b for b in verify if not lost or b < min(lost)), default=0)
        """),
    ),
]

GEOMETRIC = changed(LINES, ("sum(alpha ** i for i in range(n + 1))", "(1 - alpha ** (n + 1)) / (1 - alpha)"))

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a is {letters}": ("q1-answer", runs(letters), {"q1a-check": lost})
        for letters, lost in (("ACBD", 2), ("BAAD", 1), ("BDAD", 1), ("BCDD", 1), ("BCAC", 1), ("ACAD", 1), ("DDDD", 2))
    },
    **{f"1b is {most}": ("q1-answer", runs(most=most), {"q1b-check": 1}) for most in (101, 4, 4.98, 80, 20, 1.25, 100)},
    **{f"2a is {warm}": ("q2-answer", place(warm), {"q2a-check": 1}) for warm in (0.34, 0.8, 0.4, 0.1, 1.4, 0.7, 0.3)},
    **{f"2b is {rise}": ("q2-answer", place(rise=rise), {"q2b-check": 1}) for rise in (-0.6, -0.4, 0.4, 0, -0.2, 0.34, 1)},
    **{f"3a is {k}": ("q3-answer", advice(k), {"q3a-check": 1}) for k in (0, 1, 2, 4, 5)},
    **{
        f"3b is {gain}": ("q3-answer", advice(gain=gain), {"q3b-check": 1})
        for gain in ("2.176 / 1.5", 2.176, "1.6 / 2.176", "1.96 / 1.8", "2.176 / 1.2", "2.176 / 1.9", "1.875 / 1.6", "2.176 / 1.3")
    },
    **{f"3c is {letter}": ("q3-answer", advice(letter=letter), {"q3c-check": 1}) for letter in "ABD"},
    **{
        f"4a is {gain}": ("q4-answer", texts(gain), {"q4a-check": 1})
        for gain in ("2.77 / 1.8", "8 * 2.77 / 2", "2.77 / 1.4", "2 / 2.77", "1.385 / 8", "1.77 / 2", "2.77 / 4.2")
    },
    **{f"4b is {most}": ("q4-answer", texts(most=most), {"q4b-check": 1}) for most in (2.77, 2.97, 1, 0.8, 5, 4.0, 1.57)},
    **{
        f"5 is {letters}": ("q5-answer", ways(letters), {"q5-check": lost})
        for letters, lost in (("BCBC", 1), ("ABBC", 1), ("ACAC", 1), ("ACBA", 1), ("BBBB", 2), ("CCCC", 2), ("BBAA", 2))
    },
    "heat alone": ("q6-answer", cause(LINES.replace('return "mismatch"', 'return "temperature"')), {"q6-check": 5}),
    "mismatch alone": ("q6-answer", cause(LINES.replace('return "temperature"', 'return "mismatch"')), {"q6-check": 1}),
    "alpha for cool": ("q6-answer", cause(LINES.replace("if cool < 0.7 * usual", "if alpha < 0.7 * usual")), {"q6-check": 1}),
    "below the usual": ("q6-answer", cause(LINES.replace("0.7 * usual", "usual")), {"q6-check": 3}),
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
    "no own token": ("q6-answer", cause(NO_OWN), {"q6-check": 2}),
    "k for half of it": ("q6-answer", cause(LINES.replace("tokens(k // 2)", "tokens(k - 1)")), {"q6-check": 2}),
    "never too large": ("q6-answer", cause(LINES.replace("if k > 1 and", "if k > 100 and")), {"q6-check": 1}),
    "a large number": (
        "q6-answer",
        cause(LINES.replace("k > 1 and tokens(k // 2) >= 0.95 * tokens(k)", "k > 10")),
        {"q6-check": 2},
    ),
    "the price of a plain step": ("q6-answer", cause(LINES.replace("cost > tokens(k)", "cost > 1")), {"q6-check": 2}),
    "upside down": ("q6-answer", cause(LINES.replace("cost > tokens(k)", "cost < tokens(k)")), {"q6-check": 2}),
    "it is always a mismatch": ("q6-answer", cause('return "mismatch"'), {"q6-check": 4}),
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
    "the best speedup": ("q7-answer", batch("return min(verify, key=verify.get) if verify else 0"), {"q7-check": 3}),
    "the visible prices alone": ("q7-answer", batch("return 1"), {"q7-check": 3}),
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\b[ABCD]\b|mismatch|temperature\b|too large|price",
    "q1b-check": r"\b5\b|five",
    "q2a-check": r"\.6\b",
    "q2b-check": r"\.6\b",
    "q3a-check": r"\b3\b|three",
    "q3b-check": r"1\.36",
    "q3c-check": r"\bC\b",
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
