"""Answers to the knowledge check of chapter 8, with the marks they must get. What the names mean is said in source.py."""

from functools import partial

from tests.quizzes.texts import changed, function

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


speculation = partial(function, "speculation(text)")


choose = partial(function, "choose(offers, milliseconds, users, k_max)")


TODAY = '{"method": "ngram", "num_speculative_tokens": guesses, "prompt_lookup_max": longest, "prompt_lookup_min": 1}'


def recipe(config: str = TODAY, shortest: object = "longest") -> str:
    return f"answer_1a = {config}\nanswer_1b = {shortest}"


COUNTED = """
rounds, drafted, stood, *at = [y - x for x, y in zip(before, after)]
"""


def counted(
    rate: object = "stood / drafted", length: object = "1 + stood / rounds", alpha: object = "stood / (stood + rounds - at[-1])"
) -> str:
    return f"{COUNTED}answer_2a = {rate}\nanswer_2b = {length}\nanswer_2c = {alpha}"


def silent(passes: object = "written - accepted", brings: object = "written / (written - accepted)") -> str:
    return f"answer_3a = {passes}\nanswer_3b = {brings}"


PRICED = """
t = 1 + alpha_both + alpha_both**2 + alpha_both**3
mine, its = own_v + 3 * own_c, (pass_ms + 3 * draft_ms) / plain_ms
"""


def gap(ours: object = "t / mine", theirs: object = "t / its", letter: str = "D") -> str:
    return f'{PRICED}answer_4a = {ours}\nanswer_4b = {theirs}\nanswer_4c = "{letter}"'


MOST = "max(b for b in (1, 2, 4, 8, 16, 32) if brings * takes[b] > takes[4 * b])"


def crowd(four: object = "brings * takes[4] / takes[16]", most: object = MOST) -> str:
    return f"answer_5a = {four}\nanswer_5b = {most}"


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

OLD_WORDS = changed(TODAY, ('"method": "ngram"', '"speculative_model": "[ngram]"'), ("prompt_lookup", "ngram_prompt_lookup"))

LEARNERS = {
    "perfect": ({}, {}),
    # Counters count since this morning.
    "no_difference": (
        {"q2-answer": counted("after[2] / after[1]", "1 + after[2] / after[0]", "after[2] / (after[2] + after[0] - after[-1])")},
        {"q2a-check": 1, "q2b-check": 1, "q2c-check": 1},
    ),
    # The target's own token is no part of what a round brings.
    "no_own_token": (
        {
            "q2-answer": counted(length="stood / rounds"),
            "q3-answer": silent("accepted", "accepted / drafts"),
            "q4-answer": gap("(t - 1) / mine", "(t - 1) / its"),
            "q7-answer": choose(changed(BEST, ("/ (1 - alpha)", "/ (1 - alpha) - 1"))),
        },
        {"q2b-check": 1, "q3a-check": 1, "q3b-check": 1, "q4a-check": 1, "q4b-check": 1, "q7-check": 4},
    ),
    # A pass over many tokens costs about one token, whoever else is there.
    "verifying_is_free": (
        {
            "q4-answer": gap("t / (1 + 3 * own_c)", "t * plain_ms / (plain_ms + 3 * draft_ms)"),
            "q5-answer": crowd("brings", 32),
            "q7-answer": choose(changed(BEST, ("milliseconds[users * (k + 1)] / milliseconds[users]", "1"))),
        },
        {"q4a-check": 1, "q4b-check": 1, "q5a-check": 1, "q5b-check": 1, "q7-check": 4},
    ),
    # One user's prices hold for sixteen.
    "one_user_is_many": (
        {
            "q5-answer": crowd("brings * takes[1] / takes[4]", 32),
            "q7-answer": choose(changed(BEST, ("users * (k + 1)", "k + 1"), ("[users]", "[1]"))),
        },
        {"q5a-check": 1, "q5b-check": 1, "q7-check": 2},
    ),
    # The acceptance rate is all there is.
    "rate_is_all": (
        {
            "q2-answer": counted(alpha="stood / drafted"),
            "q4-answer": gap("alpha_both * 3", "alpha_both * 3", "A"),
            "q7-answer": choose(
                "if not offers:\n    return 'plain', 0\nname, alpha, c = max(offers, key=lambda o: o[1])\nreturn name, k_max"
            ),
        },
        {"q2c-check": 1, "q4a-check": 1, "q4b-check": 1, "q4c-check": 1, "q7-check": 4},
    ),
    # The old words still hold, and the server counts every pass.
    "old_words": (
        {
            "q1-answer": recipe(OLD_WORDS, 1),
            "q3-answer": silent("drafts", "1 + accepted / drafts"),
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
BY_COUNTER = """
from collections import Counter
sums = Counter()
for line in filter(None, text.splitlines()):
    if line[0] != "#":
        head, value = line.rsplit(" ", 1)
        sums[head.partition("{")[0].rpartition("num_")[2]] += float(value)
return tuple(round(sums[name + "_total"]) for name in ("drafts", "draft_tokens", "accepted_tokens"))
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

AS_A_TABLE = """
gains = {("plain", 0): 1}
for name, alpha, c in offers:
    tokens = power = 1
    for k in range(1, k_max + 1):
        power *= alpha
        tokens += power
        gains[name, k] = tokens / (milliseconds[users + k * users] / milliseconds[users] + c * k)
return max(gains, key=gains.get)
"""
EACH_FOR_ITSELF = """
won = []
for name, alpha, c in offers:
    def gain(k):
        return (1 - alpha ** (k + 1)) / (1 - alpha) / (milliseconds[users * (k + 1)] / milliseconds[users] + k * c)
    k = max(range(1, k_max + 1), key=gain)
    won.append((gain(k), name, k))
won.sort(reverse=True)
return won[0][1:] if won and won[0][0] > 1 else ("plain", 0)
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", recipe()),
    (
        "q1-answer",
        "answer_1a = dict(prompt_lookup_min=1, prompt_lookup_max=longest, num_speculative_tokens=guesses, method='ngram')\n"
        "answer_1b = answer_1a['prompt_lookup_max']",
    ),
    ("q2-answer", counted()),
    ("q2-answer", counted("sum(at) / (len(at) * rounds)", "(rounds + sum(at)) / rounds", "round(sum(at) / (rounds + sum(at[:-1])), 2)")),
    ("q3-answer", silent()),
    ("q3-answer", silent("drafts + (written - accepted - drafts)", "round(1 + accepted / (written - accepted), 2)")),
    ("q4-answer", gap()),
    (
        "q4-answer",
        gap("round((1 - alpha_both**4) / (1 - alpha_both) / mine, 2)", "round(t / (pass_ms / plain_ms + 3 * draft_ms / plain_ms), 2)"),
    ),
    ("q5-answer", crowd()),
    (
        "q5-answer",
        crowd("round(brings / (takes[16] / takes[4]), 2)", "[b for b in (1, 2, 4, 8, 16, 32) if brings * takes[b] > takes[4 * b]][-1]"),
    ),
    ("q6-answer", speculation(READ)),
    ("q6-answer", speculation(BY_PATTERN)),
    ("q6-answer", speculation(BY_DICTIONARY)),
    ("q6-answer", speculation(BY_COUNTER)),
    ("q7-answer", choose(BEST)),
    ("q7-answer", choose(IN_A_LIST)),
    ("q7-answer", choose(DOWNWARDS)),
    ("q7-answer", choose(AS_A_TABLE)),
    ("q7-answer", choose(EACH_FOR_ITSELF)),
]

ANYWHERE = """
found = [0, 0, 0]
for line in text.splitlines():
    for i, wanted in enumerate(("num_drafts_total{", "num_draft_tokens_total{", "num_accepted_tokens_total{")):
        if wanted in line:
            found[i] += float(line.split()[-1])
return found
"""
CLIMB = """
best, most = ("plain", 0), 1.0
for name, alpha, c in offers:
    last = 0
    for k in range(1, k_max + 1):
        gain = sum(alpha ** i for i in range(k + 1)) / (milliseconds[users * (k + 1)] / milliseconds[users] + k * c)
        if gain < last:
            break
        last = gain
        if gain > most:
            best, most = (name, k), gain
return best
"""

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    **{
        f"1a: {what}": ("q1-answer", recipe(changed(TODAY, *changes)), {"q1a-check": 1})
        for what, changes in {
            "the old model": [('"method"', '"speculative_model"')],
            "a model in brackets": [('"method": "ngram"', '"model": "[ngram]"')],
            "hyphens": [("num_speculative_tokens", "num-speculative-tokens")],
            "a method in brackets": [('"ngram"', '"[ngram]"')],
            "k": [("num_speculative_tokens", "k")],
            "the old bounds": [("prompt_lookup", "ngram_prompt_lookup")],
            "both bounds the same": [('"prompt_lookup_min": 1', '"prompt_lookup_min": longest')],
            "numbers in quotes": [("guesses", "str(guesses)")],
            "the two numbers swapped": [("guesses", "x"), ("longest", "guesses"), (": x", ": longest")],
        }.items()
    },
    **{
        f"1b: {what}": ("q1-answer", recipe(shortest=b), {"q1b-check": 1})
        for what, b in {
            "none is too short": 0,
            "the old default": 1,
            "a pair": 2,
            "as many as are drafted": "guesses",
            "longer than the longest": "longest + 1",
            "ending and draft": "longest + guesses",
        }.items()
    },
    **{
        f"2a: {what}": ("q2-answer", counted(rate=a), {"q2a-check": 1})
        for what, a in {
            "no difference": "after[2] / after[1]",
            "alpha": "stood / (stood + rounds - at[-1])",
            "the requests before": "before[2] / before[1]",
            "whole drafts": "at[-1] / rounds",
            "the first position": "at[0] / rounds",
            "per round": "min(stood / rounds, 1)",
            "one before, one after": "stood / after[1]",
        }.items()
    },
    **{
        f"2b: {what}": ("q2-answer", counted(length=b), {"q2b-check": 1})
        for what, b in {
            "no own token": "stood / rounds",
            "no difference": "1 + after[2] / after[0]",
            "neither": "after[2] / after[0]",
            "all that are drafted": "len(at)",
            "all that are drafted, and one": "len(at) + 1",
            "the rate, and one": "1 + stood / drafted",
            "the rate": "stood / drafted",
            "one before, one after": "1 + stood / after[0]",
        }.items()
    },
    **{
        f"2c: {what}": ("q2-answer", counted(alpha=c), {"q2c-check": 1})
        for what, c in {
            "the rate": "stood / drafted",
            "each round ends with a rejection": "stood / (stood + rounds)",
            "the first position": "at[0] / rounds",
            "whole drafts": "at[-1] / rounds",
            "no difference": "after[2] / (after[2] + after[0] - after[-1])",
            "no rejection": 1,
            "each position counts the same": "sum(x / y for x, y in zip(at, [rounds, *at])) / len(at)",
            "a root of the whole drafts": "(at[-1] / rounds) ** (1 / len(at))",
        }.items()
    },
    **{
        f"3a: {what}": ("q3-answer", silent(passes=a), {"q3a-check": 1})
        for what, a in {
            "the drafts": "drafts",
            "a pass a token": "written",
            "rejected ones, too": "written - proposed",
            "all as good as the counted": "round(written / (1 + accepted / drafts))",
            "a draft saves one": "written - drafts",
            "the accepted ones": "accepted",
            "drafts come on top": "written - accepted + drafts",
            "silent ones alone": "written - accepted - drafts",
        }.items()
    },
    **{
        f"3b: {what}": ("q3-answer", silent(brings=b), {"q3b-check": 1})
        for what, b in {
            "as counted": "1 + accepted / drafts",
            "as counted, without its own": "accepted / drafts",
            "passes with a draft": "written / drafts",
            "upside down": "(written - accepted) / written",
            "the rate": "accepted / proposed",
            "drafts come on top": "written / (written - accepted + drafts)",
            "rejected ones, too": "written / (written - proposed)",
            "accepted, over all": "1 + accepted / written",
        }.items()
    },
    **{
        f"4a: {what}": ("q4-answer", gap(ours=a), {"q4a-check": 1})
        for what, a in {
            "the tokens": "t",
            "drafting is free": "t / own_v",
            "one drafted": "t / (own_v + own_c)",
            "no own token": "(t - 1) / mine",
            "each as likely": "(1 + 3 * alpha_both) / mine",
            "the pass is a step": "t / (1 + 3 * own_c)",
            "no cost": "3 * alpha_both",
            "upside down": "mine / t",
            "every guess stands": "4 / mine",
        }.items()
    },
    **{
        f"4b: {what}": ("q4-answer", gap(theirs=b), {"q4b-check": 1})
        for what, b in {
            "drafting is free": "t * plain_ms / pass_ms",
            "the prices of the other": "t / mine",
            "one drafted": "t * plain_ms / (pass_ms + draft_ms)",
            "the pass is a step": "t * plain_ms / (plain_ms + 3 * draft_ms)",
            "no own token": "(t - 1) / its",
            "every guess stands": "4 / its",
            "in milliseconds": "t / (pass_ms + 3 * draft_ms)",
            "over the other's step": "t * own_ms / (pass_ms + 3 * draft_ms)",
            "upside down": "its / t",
            "nothing gained": 1,
        }.items()
    },
    **{f"4c is {letter}": ("q4-answer", gap(letter=letter), {"q4c-check": 1}) for letter in "ABC"},
    **{
        f"5a: {what}": ("q5-answer", crowd(four=a), {"q5a-check": 1})
        for what, a in {
            "one user": "brings * takes[1] / takes[4]",
            "the tokens": "brings",
            "a step of one": "brings * takes[1] / takes[16]",
            "of all users": "4 * brings * takes[4] / takes[16]",
            "upside down": "takes[16] / takes[4] / brings",
            "the price": "takes[16] / takes[4]",
            "shared by the users": "brings / 4 * takes[4] / takes[16]",
        }.items()
    },
    **{
        f"5b: {what}": ("q5-answer", crowd(most=b), {"q5b-check": 1})
        for what, b in {
            "one user": 1,
            "one too early": f"{MOST} // 2",
            "one too late": f"{MOST} * 2",
            "all of them": 32,
            "tokens for users": f"4 * {MOST}",
            "between two of them": f"{MOST} + 1",
            "beside a step of one": "max(b for b in (1, 2, 4, 8, 16, 32) if brings * takes[1] > takes[4 * b])",
        }.items()
    },
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
    "somewhere in the name": ("q6-answer", speculation(changed(READ, ("name.endswith(wanted)", "wanted in name"))), {"q6-check": 1}),
    "nothing for a missing one": (
        "q6-answer",
        speculation(changed(READ, ("return tuple(found)", "return tuple(x or None for x in found)"))),
        {"q6-check": 1},
    ),
    "engine 0 alone": (
        "q6-answer",
        speculation(changed(READ, ("name.endswith(wanted)", "name.endswith(wanted) and 'engine=\"0\"' in line"))),
        {"q6-check": 1},
    ),
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
    "a comment that reads like a counter": ("q6-answer", speculation(ANYWHERE), {"q6-check": 1}),
    "two engines and no more": (
        "q6-answer",
        speculation(
            changed(READ, ("name.endswith(wanted)", "name.endswith(wanted) and ('engine=\"0\"' in line or 'engine=\"1\"' in line)"))
        ),
        {"q6-check": 1},
    ),
    "each name has a num_": (
        "q6-answer",
        speculation(changed(READ, ('line.split("{")[0]', '"num_" + line.split("{")[0].split("num_")[1]'))),
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
    "the draft counted once": ("q7-answer", choose(changed(BEST, ("users * (k + 1)", "users + k"))), {"q7-check": 2}),
    "c for each user": ("q7-answer", choose(changed(BEST, ("k * c", "k * c * users"))), {"q7-check": 1}),
    "every guess counts the same": (
        "q7-answer",
        choose(changed(BEST, ("(1 - alpha ** (k + 1)) / (1 - alpha)", "1 + alpha * k"))),
        {"q7-check": 3},
    ),
    "up to the first that is no better": (
        "q7-answer",
        choose(
            changed(BEST, ("        if tokens / cost > most:\n", "        if tokens / cost <= most:\n            break\n        else:\n"))
        ),
        {"q7-check": 2},
    ),
    "each draft up to its first hill": ("q7-answer", choose(CLIMB), {"q7-check": 1}),
    "a draw is a gain": ("q7-answer", choose(changed(BEST, ("> most", ">= most"))), {"q7-check": 1}),
    "c shared by the users": ("q7-answer", choose(changed(BEST, ("k * c", "k * c / users"))), {"q7-check": 1}),
    "c in steps of one user": (
        "q7-answer",
        choose(changed(BEST, ("k * c", "k * c * milliseconds[1] / milliseconds[users]"))),
        {"q7-check": 1},
    ),
    "the draft with the most alpha for its c": (
        "q7-answer",
        choose(changed(BEST, ("for name, alpha, c in offers:", "for name, alpha, c in sorted(offers, key=lambda o: o[1] - o[2])[-1:]:"))),
        {"q7-check": 1},
    ),
    "offers are eaten": (
        "q7-answer",
        choose(changed(BEST, ("for name, alpha, c in offers:", "while offers:\n    name, alpha, c = offers.pop()"))),
        {"q7-check": 4},
    ),
    "no own token": ("q7-answer", choose(changed(BEST, ("/ (1 - alpha)", "/ (1 - alpha) - 1"))), {"q7-check": 4}),
    "the visible case alone": ("q7-answer", choose("return 'lookup', 1"), {"q7-check": 4}),
}

# Where the chapter names what is behind a wrong letter, or says why it is wrong.
NAMED = {
    "q4c-check": {
        "A": "You can measure it anywhere and take it with you.",
        "B": "When many users fill it, each guess takes the place of somebody's certain word",
        "C": "a round without a draft is in none of the counters",
    }
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
    "q4c-check": r"\bD\b",
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
