"""Answers to the knowledge check of chapter 8, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q2a-check": 1,
    "q2b-check": 1,
    "q2c-check": 1,
    "q3a-check": 1,
    "q3b-check": 1,
    "q4a-check": 1,
    "q4b-check": 1,
    "q4c-check": 1,
    "q5a-check": 1,
    "q5b-check": 1,
    "q6-check": 4,
    "q7-check": 4,
}


def speculation(body: str) -> str:
    return "def speculation(text):\n" + indent(dedent(body).strip(), "    ")


def choose(body: str) -> str:
    return "def choose(offers, milliseconds, users, k_max):\n" + indent(dedent(body).strip(), "    ")


TODAY = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1}


def recipe(config: object = TODAY, shortest: object = 4) -> str:
    return f"answer_1a = {config}\nanswer_1b = {shortest}"


def counted(rate: object = 0.6, length: object = 3.4, alpha: object = "120 / 153") -> str:
    return f"answer_2a = {rate}\nanswer_2b = {length}\nanswer_2c = {alpha}"


def silent(passes: object = 64, brings: object = "100 / 64") -> str:
    return f"answer_3a = {passes}\nanswer_3b = {brings}"


def gap(ours: object = "2.533 / 1.55", theirs: object = "2.533 / 2.25", letter: str = "C") -> str:
    return f"answer_4a = {ours}\nanswer_4b = {theirs}\nanswer_4c = {letter!r}"


def crowd(four: object = "2.2 * 11 / 14", most: object = 8) -> str:
    return f"answer_5a = {four}\nanswer_5b = {most}"


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


READ = """
found = [0, 0, 0]
for line in text.splitlines():
    if not line.strip() or line.startswith("#"):
        continue
    name, value = line.split("{")[0], float(line.split()[-1])
    for i, wanted in enumerate(("num_drafts_total", "num_draft_tokens_total", "num_accepted_tokens_total")):
        if name.endswith(wanted):
            found[i] += int(value)
return tuple(found)
"""
BEST = """
best, most = ("plain", 0), 1.0
for name, alpha, c in offers:
    for k in range(1, k_max + 1):
        tokens = (1 - alpha ** (k + 1)) / (1 - alpha)
        cost = milliseconds[users * (k + 1)] / milliseconds[users] + k * c
        if tokens / cost > most:
            best, most = (name, k), tokens / cost
return best
"""

MALFORMED = {
    "q1-answer": "answer_1a = ['ngram', 3, 4, 1]\nanswer_1b = 4.0",
    "q2-answer": "answer_2a = 60\nanswer_2b = '3.4'\nanswer_2c = True",
    "q3-answer": "answer_3a = 64.0\nanswer_3b = '100 / 64'",
    "q4-answer": "answer_4a = [1.63]\nanswer_4b = None\nanswer_4c = 'c'",
    "q5-answer": "answer_5a = '1.73'\nanswer_5b = [8]",
    "q6-answer": speculation("return 50"),
    "q7-answer": "choose = ('small', 6)",
}

LEARNERS = {
    "perfect": ({}, {}),
    # Counters count since this morning.
    "no_difference": (
        {"q2-answer": counted("190 / 360", "1 + 190 / 90", "190 / 245")},
        {"q2a-check": 1, "q2b-check": 1, "q2c-check": 1},
    ),
    # The target's own token is no part of what a round brings.
    "no_own_token": (
        {
            "q2-answer": counted(length=2.4),
            "q3-answer": silent(36, 3),
            "q4-answer": gap("1.533 / 1.55", "1.533 / 2.25"),
            "q7-answer": choose(changed(BEST, ("/ (1 - alpha)", "/ (1 - alpha) - 1"))),
        },
        {"q2b-check": 1, "q3a-check": 1, "q3b-check": 1, "q4a-check": 1, "q4b-check": 1, "q7-check": 4},
    ),
    # A pass over many tokens costs about one token, whoever else is there.
    "verifying_is_free": (
        {
            "q4-answer": gap("2.533 / 1.3", "2.533 / 1.75"),
            "q5-answer": crowd(2.2, 32),
            "q7-answer": choose(changed(BEST, ("milliseconds[users * (k + 1)] / milliseconds[users]", "1"))),
        },
        {"q4a-check": 1, "q4b-check": 1, "q5a-check": 1, "q5b-check": 1, "q7-check": 4},
    ),
    # One user's prices hold for sixteen.
    "one_user_is_many": (
        {"q5-answer": crowd(2.0, 32), "q7-answer": choose(changed(BEST, ("users * (k + 1)", "k + 1"), ("[users]", "[1]")))},
        {"q5a-check": 1, "q5b-check": 1, "q7-check": 2},
    ),
    # The acceptance rate is all there is.
    "rate_is_all": (
        {
            "q2-answer": counted(alpha=0.6),
            "q4-answer": gap("0.7 * 3", "0.7 * 3", "A"),
            "q7-answer": choose(
                "if not offers:\n    return 'plain', 0\nname, alpha, c = max(offers, key=lambda o: o[1])\nreturn name, k_max"
            ),
        },
        {"q2c-check": 1, "q4a-check": 1, "q4b-check": 1, "q4c-check": 1, "q7-check": 4},
    ),
    # The old words still hold, and the server counts every pass.
    "old_words": (
        {
            "q1-answer": recipe({"speculative_model": "[ngram]", "num_speculative_tokens": 3, "ngram_prompt_lookup_max": 4, "x": 1}, 1),
            "q3-answer": silent(12, "1 + 36 / 12"),
        },
        {"q1a-check": 1, "q1b-check": 1, "q3a-check": 1, "q3b-check": 1},
    ),
}

BY_PATTERN = r"""
import re
def total(name):
    return sum(int(float(value)) for value in re.findall(r"^vllm:spec_decode_" + name + r"_total\{.*\} (\S+)$", text, re.M))
return total("num_drafts"), total("num_draft_tokens"), total("num_accepted_tokens")
"""
BY_DICTIONARY = """
sums = {}
for line in text.split(chr(10)):
    if "{" in line and line[0] != "#":
        name, rest = line.split("{", 1)
        sums[name] = sums.get(name, 0) + float(rest.rsplit(" ", 1)[1])
return [sums.get("vllm:spec_decode_num_" + name + "_total", 0.0) for name in ("drafts", "draft_tokens", "accepted_tokens")]
"""
IN_A_LIST = """
race = [(1.0, "plain", 0)]
for name, alpha, c in offers:
    for k in range(1, k_max + 1):
        plain, round_ = milliseconds[users], milliseconds[users * (k + 1)]
        race.append((sum(alpha ** i for i in range(k + 1)) * plain / (round_ + k * c * plain), name, k))
return max(race)[1:]
"""
DOWNWARDS = """
answer, least = ["plain", 0], milliseconds[users]
for k in range(k_max, 0, -1):
    for name, alpha, c in offers:
        tokens = 1
        for _ in range(k):
            tokens = 1 + alpha * tokens
        a_token = (milliseconds[users * (k + 1)] + k * c * milliseconds[users]) / tokens
        if a_token < least - 1e-9:
            answer, least = [name, k], a_token
return answer
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", recipe()),
    (
        "q1-answer",
        "answer_1a = dict(prompt_lookup_min=1, prompt_lookup_max=4, num_speculative_tokens=3, method='ngram')\nanswer_1b = 2 + 2",
    ),
    ("q2-answer", counted()),
    ("q2-answer", counted("120 / 200", "170 / 50", 0.78)),
    ("q3-answer", silent()),
    ("q3-answer", silent(12 + 52, 1.56)),
    ("q4-answer", gap()),
    ("q4-answer", gap(1.63, 1.13)),
    ("q5-answer", crowd()),
    ("q5-answer", crowd(1.73, 8)),
    ("q6-answer", speculation(READ)),
    ("q6-answer", speculation(BY_PATTERN)),
    ("q6-answer", speculation(BY_DICTIONARY)),
    ("q7-answer", choose(BEST)),
    ("q7-answer", choose(IN_A_LIST)),
    ("q7-answer", choose(DOWNWARDS)),
]

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
OLD = {"speculative_model": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1}
WRONG = {
    **{
        f"1a is {a}": ("q1-answer", recipe(a), {"q1a-check": 1})
        for a in (
            OLD,
            {"model": "[ngram]", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1},
            {"method": "ngram", "num-speculative-tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1},
            {"method": "[ngram]", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1},
            {"method": "ngram", "k": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1},
            {"method": "ngram", "num_speculative_tokens": 3, "ngram_prompt_lookup_max": 4, "ngram_prompt_lookup_min": 1},
            {**TODAY, "prompt_lookup_min": 4},
            {**TODAY, "num_speculative_tokens": "3"},
        )
    },
    **{f"1b is {b}": ("q1-answer", recipe(shortest=b), {"q1b-check": 1}) for b in (0, 1, 2, 3, 5)},
    **{f"2a is {a}": ("q2-answer", counted(rate=a), {"q2a-check": 1}) for a in ("190 / 360", "120 / 153", "70 / 160", "17 / 50", 1, 0.5)},
    **{
        f"2b is {b}": ("q2-answer", counted(length=b), {"q2b-check": 1})
        for b in (2.4, "1 + 190 / 90", "190 / 90", 4, 1.6, 0.6, "1 + 120 / 90")
    },
    **{
        f"2c is {c}": ("q2-answer", counted(alpha=c), {"q2c-check": 1})
        for c in (0.6, "120 / 170", "45 / 50", "17 / 50", 0.5, "190 / 245", "17 / 24")
    },
    **{f"3a is {a}": ("q3-answer", silent(passes=a), {"q3a-check": 1}) for a in (12, 100, 52, 25, 88, 36, 76, 60)},
    **{f"3b is {b}": ("q3-answer", silent(brings=b), {"q3b-check": 1}) for b in (4, 3, "100 / 12", 0.64, 0.75, 1.36, 1.92)},
    **{
        f"4a is {a}": ("q4-answer", gap(ours=a), {"q4a-check": 1})
        for a in (2.533, "2.533 / 1.25", "2.533 / 1.35", "1.533 / 1.55", "3.1 / 1.55", "2.533 / 1.3", 2.1, "1.55 / 2.533", "4 / 1.55")
    },
    **{
        f"4b is {b}": ("q4-answer", gap(theirs=b), {"q4b-check": 1})
        for b in ("2.533 / 1.5", "2.533 / 1.55", "2.533 / 1.75", "1.533 / 2.25", "4 / 2.25", "2.533 / 27", "2.25 / 2.533", 1)
    },
    **{f"4c is {letter}": ("q4-answer", gap(letter=letter), {"q4c-check": 1}) for letter in "ABD"},
    **{
        f"5a is {a}": ("q5-answer", crowd(four=a), {"q5a-check": 1})
        for a in (2, 2.2, "2.2 * 10 / 14", "2.2 * 4 * 11 / 14", "14 / 11 / 2.2", "14 / 11", "2.2 / 4 * 11 / 14")
    },
    **{f"5b is {b}": ("q5-answer", crowd(most=b), {"q5b-check": 1}) for b in (1, 2, 4, 16, 32, 64)},
    "the first engine alone": (
        "q6-answer",
        speculation(changed(READ, ("found[i] += int(value)", "found[i] = found[i] or int(value)"))),
        {"q6-check": 1},
    ),
    "the last engine alone": (
        "q6-answer",
        speculation(changed(READ, ("found[i] += int(value)", "found[i] = int(value)"))),
        {"q6-check": 1},
    ),
    "a name within the line": (
        "q6-answer",
        speculation(changed(READ, ("name.endswith(wanted)", "wanted.replace('_total', '') in name"))),
        {"q6-check": 1},
    ),
    "comments are lines too": ("q6-answer", speculation(changed(READ, (' or line.startswith("#")', ""))), {"q6-check": 1}),
    "empty lines are none": (
        "q6-answer",
        speculation(changed(READ, ("not line.strip() or ", ""))),
        {"q6-check": 2},
    ),
    "by their order": (
        "q6-answer",
        speculation("return tuple(int(float(line.split()[-1])) for line in text.splitlines() if 'num_' in line)[:3]"),
        {"q6-check": 4},
    ),
    "three must be there": ("q6-answer", speculation(changed(READ, ("return tuple", "assert all(found)\nreturn tuple"))), {"q6-check": 1}),
    "digits alone": (
        "q6-answer",
        speculation(changed(READ, ("float(line.split()[-1])", "line.split()[-1].split('.')[0]"))),
        {"q6-check": 1},
    ),
    "positions added": (
        "q6-answer",
        speculation(changed(READ, ("name.endswith(wanted)", "name.endswith(wanted) or i == 2 and 'per_pos_total' in name"))),
        {"q6-check": 1},
    ),
    "the visible text alone": ("q6-answer", speculation("return 2, 8, 5"), {"q6-check": 4}),
    "a pass over k": (
        "q7-answer",
        choose(changed(BEST, ("users * (k + 1)", "users * k"))),
        {"q7-check": 4},
    ),
    "users forgotten in the step": ("q7-answer", choose(changed(BEST, ("/ milliseconds[users]", "/ milliseconds[1]"))), {"q7-check": 1}),
    "users forgotten": ("q7-answer", choose(changed(BEST, ("users * (k + 1)", "k + 1"), ("[users]", "[1]"))), {"q7-check": 2}),
    "c forgotten": ("q7-answer", choose(changed(BEST, (" + k * c", ""))), {"q7-check": 3}),
    "c once": ("q7-answer", choose(changed(BEST, ("k * c", "c"))), {"q7-check": 3}),
    "the first that gains": (
        "q7-answer",
        choose(changed(BEST, ("best, most = (name, k), tokens / cost", "return name, k"))),
        {"q7-check": 3},
    ),
    "the last draft": (
        "q7-answer",
        choose(changed(BEST, ("for name, alpha, c in offers:", "for name, alpha, c in offers[-1:]:"))),
        {"q7-check": 1},
    ),
    "the most accurate draft": (
        "q7-answer",
        choose(changed(BEST, ("for name, alpha, c in offers:", "for name, alpha, c in sorted(offers, key=lambda o: o[1])[-1:]:"))),
        {"q7-check": 1},
    ),
    "never plain": ("q7-answer", choose(changed(BEST, ('most = ("plain", 0), 1.0', 'most = ("plain", 0), 0.0'))), {"q7-check": 1}),
    "fails on no offer": ("q7-answer", choose("offers[0]\n" + BEST.strip()), {"q7-check": 1}),
    "beyond k_max": (
        "q7-answer",
        choose(
            changed(BEST, ("k_max + 1)", "k_max + 2)")).replace("milliseconds[users * (k + 1)]", "milliseconds.get(users * (k + 1), 1e9)")
        ),
        {"q7-check": 3},
    ),
    "no own token": ("q7-answer", choose(changed(BEST, ("/ (1 - alpha)", "/ (1 - alpha) - 1"))), {"q7-check": 4}),
    "the visible case alone": ("q7-answer", choose("return 'lookup', 1"), {"q7-check": 4}),
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\bngram\b|prompt_lookup",
    "q1b-check": r"\b4\b|four",
    "q2a-check": r"0?\.60?\b|120",
    "q2b-check": r"3\.4",
    "q2c-check": r"\.78|153",
    "q3a-check": r"\b64\b",
    "q3b-check": r"1\.56",
    "q4a-check": r"1\.63|1\.55\b",
    "q4b-check": r"1\.13|2\.25",
    "q4c-check": r"\bC\b",
    "q5a-check": r"1\.73",
    "q5b-check": r"\b8\b(?! ?\.)(?<!chapter 8)|eight",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", "answer_1a = 'ngram'", "in curly brackets"),
    ("q1a-check", "answer_1a = {'method': 'ngram'}", "four keys"),
    ("q1b-check", "answer_1b = ...", "no answer yet"),
    ("q1b-check", "answer_1b = '4'", "whole number without quotes"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = 60", "from 0 to 1"),
    ("q2b-check", "answer_2b = '3'", "one number without quotes"),
    ("q2c-check", "answer_2c = True", "from 0 to 1"),
    ("q3a-check", "", "no answer yet"),
    ("q3a-check", "answer_3a = 1.0", "one whole number"),
    ("q3b-check", "answer_3b = [1]", "one number without quotes"),
    ("q4a-check", "", "no answer yet"),
    ("q4a-check", "answer_4a = '1.6'", "one number without quotes"),
    ("q4b-check", "answer_4b = None", "one number without quotes"),
    ("q4c-check", "answer_4c = 3", "letter in quotes"),
    ("q4c-check", "answer_4c = 'A, B'", "exactly one"),
    ("q5a-check", "answer_5a = 'two'", "one number without quotes"),
    ("q5b-check", "", "no answer yet"),
    ("q5b-check", "answer_5b = 2.0", "one whole number"),
    ("q6-check", "", "no function speculation"),
    ("q6-check", speculation("..."), "return three numbers, not None"),
    ("q6-check", speculation("return 1, 2, 3"), "have to be 2, 8 and 5, but they are (1, 2, 3)"),
    ("q7-check", "choose = 2", "no function choose"),
    ("q7-check", choose("..."), "return two things, a name and k, not None"),
    ("q7-check", choose("return 'plain', 0"), "has to be lookup and 1, but is 'plain' and 0"),
]
