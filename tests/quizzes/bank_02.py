"""Answers to the knowledge check of chapter 2, with the marks they must get; what the names mean is said in source.py."""

from functools import partial

from tests.quizzes.texts import function

CHECKS = {
    "q1-check": 2,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3a-check": 1,
    "q3b-check": 1,
    "q4-check": 2,
    "q5-check": 2,
    "q6-check": 6,
    "q7-check": 4,
}

FEWEST = "-(-goal // (guesses + 1))"  # of question 3


def places(a, b) -> str:
    return f"answer_2a = {a}\nanswer_2b = {b}"


def ends(a, b) -> str:
    return f"answer_3a = {a}\nanswer_3b = {b}"


LATE = """
def verify_greedy(draft, target):
    accepted = 0
    while accepted < len(draft) and draft[accepted] == target[accepted + 1]:
        accepted += 1
    return accepted, target[accepted]
"""
NO_BONUS = """
def verify_greedy(draft, target):
    for i, (guess, own) in enumerate(zip(draft, target)):
        if guess != own:
            return i, own
    return len(draft) - 1, draft[-1]
"""
NO_BONUS_PASSES = """
def passes(text, drafts, n):
    done = count = 0
    while done < n:
        draft, own = drafts[done], text[done:]
        same = [a == b for a, b in zip(draft, own)] + [False]
        done += max(1, min(same.index(False) + 1, len(draft)))
        count += 1
    return count
"""
COUNTS_ALL = """
def verify_greedy(draft, target):
    accepted = sum(guess == own for guess, own in zip(draft, target))
    return accepted, target[accepted]
"""
COUNTS_ALL_PASSES = """
def passes(text, drafts, n):
    done = count = 0
    while done < n:
        done += sum(a == b for a, b in zip(drafts[done], text[done:])) + 1
        count += 1
    return count
"""
DRAFTS_WORD = """
def verify_greedy(draft, target):
    for i, guess in enumerate(draft):
        if guess != target[i]:
            return i, guess
    return len(draft), target[-1]
"""
LOUD = """
import sys, warnings
def verify_greedy(draft, target):
    warnings.warn("I compare lists")
    print("checking", draft, file=sys.stderr)
    return next(((i, target[i]) for i, guess in enumerate(draft) if guess != target[i]), (len(draft), target[-1]))
"""
ENDLESS = """
def passes(text, drafts, n):
    done = count = 0
    while done < n:
        done += verify_greedy(drafts[done], text[done:])[0]
        count += 1
    return count
"""
MALFORMED = {
    "q1-answer": 'answer_1 = "clock struck twelve"',
    "q2-answer": 'answer_2a = "10"\nanswer_2b = 5.0',
    "q3-answer": "answer_3a = 18 / 4\nanswer_3b = [18]",
    "q4-answer": 'answer_4 = "c"',
    "q5-answer": "A = 1\nanswer_5 = A",
    "q6-answer": "def verify_greedy(draft, target):\n    return 2",
    "q7-answer": "passes = 3",
}

# One learner each: the answers, and the points lost by check (a check that is not named earns all of its points).
LEARNERS = {
    "perfect": ({}, {}),
    "late": (
        {"q1-answer": 'answer_1 = ["clock"]', "q2-answer": places("old + 1", "more + 1"), "q6-answer": LATE},
        {"q1-check": 2, "q2a-check": 1, "q6-check": 6},
    ),
    "no_bonus": (
        {
            "q2-answer": places("old", "more"),
            "q3-answer": ends("-(-goal // guesses)", "goal"),
            "q5-answer": 'answer_5 = "A"',
            "q6-answer": NO_BONUS,
            "q7-answer": NO_BONUS_PASSES,
        },
        {"q2b-check": 1, "q3a-check": 1, "q5-check": 2, "q6-check": 4, "q7-check": 1},
    ),
    "counts_all": (
        {
            "q1-answer": 'answer_1 = ["clock", "struck", "twelve", "and", "stopped"]',
            "q6-answer": COUNTS_ALL,
            "q7-answer": COUNTS_ALL_PASSES,
        },
        {"q1-check": 2, "q6-check": 3, "q7-check": 2},
    ),
    "drafts_word": (
        {"q1-answer": 'answer_1 = ["clock", "struck", "ten"]', "q4-answer": 'answer_4 = "A"', "q6-answer": DRAFTS_WORD},
        {"q1-check": 2, "q4-check": 2, "q6-check": 6},
    ),
}

TAKEWHILE = """
from itertools import takewhile
def verify_greedy(draft, target):
    accepted = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(draft, target))))
    return (accepted, target[accepted])
"""
RECURSIVE = """
def verify_greedy(draft, target):
    if not draft or draft[0] != target[0]:
        return 0, target[0]
    accepted, token = verify_greedy(draft[1:], target[1:])
    return accepted + 1, token
"""
PASSES_ALONE = """
def passes(text, drafts, n):
    position, count = 0, 0
    while position < n:
        for guess in drafts[position] + [None]:
            position += 1
            if guess != text[position - 1]:
                break
        count += 1
    return count
"""
PASSES_RECURSIVE = """
def passes(text, drafts, n):
    if n <= 0:
        return 0
    step = verify_greedy(drafts[0], text)[0] + 1
    return 1 + passes(text[step:], drafts[step:], n - step)
"""


PASSES_CUT = """
def passes(text, drafts, n):
    written = []
    for count in range(n + 1):
        if len(written) == n:
            return count
        draft = drafts[len(written)][: n - len(written) - 1]
        accepted, token = verify_greedy(draft, text[len(written):])
        written += [*draft[:accepted], token]
"""


greedy = partial(function, "verify_greedy(draft, target)")


counting = partial(function, "passes(text, drafts, n)")


# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", 'answer_1 = "clock struck twelve".split()'),
    ("q2-answer", "answer_2a, answer_2b = old, len(range(old, old + more + 1))"),
    ("q2-answer", "answer_2b = 1 + more\nanswer_2a = old + 1 - 1"),
    ("q3-answer", "import math\nanswer_3a = math.ceil(goal / (guesses + 1))\nanswer_3b = goal"),
    ("q3-answer", ends("(goal + guesses) // (1 + guesses)", "len(range(goal))")),
    ("q4-answer", "answer_4 = 'C'"),
    ("q5-answer", "answer_5 = chr(66)"),
    ("q6-answer", TAKEWHILE),
    ("q6-answer", RECURSIVE),
    ("q6-answer", LOUD),
    ("q7-answer", PASSES_ALONE),
    ("q7-answer", PASSES_RECURSIVE),
    ("q7-answer", PASSES_CUT),
]

NO_EMPTY = """
n = 0
while draft[n] == target[n]:
    n += 1
    if n == len(draft):
        break
return n, target[n]
"""
EATS_ITS_INPUT = """
n = 0
while draft and draft[0] == target[0]:
    draft.pop(0), target.pop(0)
    n += 1
return n, target[0]
"""
NO_CORRECTION_PASSES = """
done = count = 0
while done < n:
    accepted, _ = verify_greedy(drafts[done], text[done:])
    done += max(accepted, 1)
    count += 1
return count
"""
A_PASS_A_TOKEN = PASSES_ALONE.replace("        count += 1", "        count += len(drafts[0])")
CORRECTION_OF_THE_NEXT = greedy("""
n = 0
while n < len(draft) and draft[n] == target[n]:
    n += 1
return n, target[min(n + 1, len(draft))]
""")

WHERE_IN_THE_LIST = greedy("""
for guess, own in zip(draft, target):
    if guess != own:
        return target.index(own), own
return len(draft), target[-1]
""")
SAME_OBJECT = greedy("""
n = 0
while n < len(draft) and draft[n] is target[n]:
    n += 1
return n, target[n]
""")
LAST_AGREEMENT = greedy("""
n = max((i + 1 for i in range(len(draft)) if draft[i] == target[i]), default=0)
return n, target[n]
""")
ALL_OR_NOTHING_PASSES = """
done = count = 0
while done < n:
    draft = drafts[done]
    done += len(draft) + 1 if draft == text[done : done + len(draft)] else 1
    count += 1
return count
"""
# Wrong numbers by their misconception, for the parts of questions 2 and 3.
FIRST = {
    "its own": "old + 1",
    "the first of all": 1,
    "the last of all": "old + more",
    "one place early": "old - 1",
    "counted from 0": 0,
    "counted within the draft": "more",
}
NEEDED = {
    "no bonus": "more",
    "the first alone": 1,
    "every one of them": "old + more",
    "those of the text": "old",
    "two that follow": "more + 2",
}
SMALLEST = {
    "no bonus": "-(-goal // guesses)",
    "the rest forgotten": "goal // (guesses + 1)",
    "one pass checks everything": 1,
    "as without a draft": "goal",
    "one round too many": f"{FEWEST} + 1",
    "the drafted tokens counted": "goal * guesses // (guesses + 1)",
}
LARGEST = {
    "a pass for each drafted token": "goal * guesses",
    "a pass for each token read": "goal * (guesses + 1)",
    "a pass to repair each failure": "2 * goal",
    "one left over": "goal + 1",
    "the last one saved": "goal - 1",
    "wrong guesses on top": "goal + guesses",
}

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    "the draft has the last word": ("q1-answer", 'answer_1 = ["clock", "struck", "ten"]', {"q1-check": 2}),
    "a match behind the correction is kept": ("q1-answer", 'answer_1 = ["clock", "struck", "twelve", "and"]', {"q1-check": 2}),
    "all predictions": ("q1-answer", 'answer_1 = ["clock", "struck", "twelve", "and", "stopped"]', {"q1-check": 2}),
    "no correction": ("q1-answer", 'answer_1 = ["clock", "struck"]', {"q1-check": 2}),
    "all matches, no correction": ("q1-answer", 'answer_1 = ["clock", "struck", "and"]', {"q1-check": 2}),
    "the correction alone": ("q1-answer", 'answer_1 = ["twelve"]', {"q1-check": 2}),
    "nothing": ("q1-answer", "answer_1 = []", {"q1-check": 2}),
    **{f"2a: {why}": ("q2-answer", places(a, "more + 1"), {"q2a-check": 1}) for why, a in FIRST.items()},
    **{f"2b: {why}": ("q2-answer", places("old", b), {"q2b-check": 1}) for why, b in NEEDED.items()},
    **{f"3a: {why}": ("q3-answer", ends(a, "goal"), {"q3a-check": 1}) for why, a in SMALLEST.items()},
    **{f"3b: {why}": ("q3-answer", ends(FEWEST, b), {"q3b-check": 1}) for why, b in LARGEST.items()},
    "3: the two ends the wrong way round": ("q3-answer", ends("goal", FEWEST), {"q3a-check": 1, "q3b-check": 1}),
    "3: the bonus left out at both ends": ("q3-answer", ends("-(-goal // guesses)", "goal + 1"), {"q3a-check": 1, "q3b-check": 1}),
    **{f"4 is {letter}": ("q4-answer", f'answer_4 = "{letter}"', {"q4-check": 2}) for letter in "ABD"},
    **{f"5 is {letter}": ("q5-answer", f'answer_5 = "{letter}"', {"q5-check": 2}) for letter in "ACD"},
    "one position late": ("q6-answer", LATE, {"q6-check": 6}),
    "the draft's token for the correction": ("q6-answer", DRAFTS_WORD, {"q6-check": 6}),
    "all taken for right": ("q6-answer", greedy("return len(draft), target[-1]"), {"q6-check": 6}),
    "the visible case alone": ("q6-answer", greedy("return 2, 8"), {"q6-check": 6}),
    "all or nothing": ("q6-answer", greedy("n = len(draft) * (draft == target[:-1])\nreturn n, target[n]"), {"q6-check": 6}),
    "the correction of the next position": ("q6-answer", CORRECTION_OF_THE_NEXT, {"q6-check": 6}),
    "no bonus, one token short": ("q6-answer", NO_BONUS, {"q6-check": 4}),
    "no bonus but None": ("q6-answer", NO_BONUS.replace("len(draft) - 1, draft[-1]", "len(draft), None"), {"q6-check": 4}),
    "no bonus but an error": ("q6-answer", NO_BONUS.replace("len(draft) - 1, draft[-1]", "next(iter([]))"), {"q6-check": 4}),
    "no empty draft": ("q6-answer", greedy(NO_EMPTY), {"q6-check": 2}),
    "every match counted": ("q6-answer", COUNTS_ALL, {"q6-check": 3}),
    "a match at any position": ("q6-answer", greedy("n = sum(x in target for x in draft)\nreturn n, target[n]"), {"q6-check": 3}),
    "where the correction stands first": ("q6-answer", WHERE_IN_THE_LIST, {"q6-check": 3}),
    "the same object, not the same token": ("q6-answer", SAME_OBJECT, {"q6-check": 3}),
    "up to the last agreement": ("q6-answer", LAST_AGREEMENT, {"q6-check": 3}),
    "the input is eaten up": ("q6-answer", greedy(EATS_ITS_INPUT), {"q6-check": 1}),
    "a pass for each token": ("q7-answer", counting("return n"), {"q7-check": 4}),
    "every draft taken for right": ("q7-answer", counting("return -(-n // (len(drafts[0]) + 1))"), {"q7-check": 4}),
    "the visible count alone": ("q7-answer", counting("return 3"), {"q7-check": 4}),
    "one pass too many": ("q7-answer", PASSES_ALONE.replace("< n", "<= n"), {"q7-check": 4}),
    "drafts counted by round": ("q7-answer", PASSES_ALONE.replace("drafts[position]", "drafts[count]"), {"q7-check": 4}),
    "tokens for passes": ("q7-answer", PASSES_ALONE.replace("return count", "return position"), {"q7-check": 4}),
    "a pass for each drafted token": ("q7-answer", A_PASS_A_TOKEN, {"q7-check": 4}),
    "the correction not counted": ("q7-answer", counting(NO_CORRECTION_PASSES), {"q7-check": 4}),
    "all or nothing in passes": ("q7-answer", counting(ALL_OR_NOTHING_PASSES), {"q7-check": 4}),
    "the draft of the next position": ("q7-answer", PASSES_ALONE.replace("drafts[position]", "drafts[position + 1]"), {"q7-check": 4}),
    "the bonus not counted": ("q7-answer", NO_BONUS_PASSES, {"q7-check": 1}),
    "every match counted in passes": ("q7-answer", COUNTS_ALL_PASSES, {"q7-check": 2}),
}

# Where the chapter speaks of the misconception, or says what is true instead.
NAMED = {
    "q4-check": {
        "A": "that *a bad draft corrupts the output*",
        "B": "that *guessing makes the output approximate*",
        "D": "the target was looking at exactly the text that it would have written itself",
    },
    "q5-check": {
        "A": "when all k stand it emits k + 1, never just k",
        "C": "So the round emits *the cat sat*: three tokens, for one pass.",
        "D": "Keeping matches behind a rejection even saves passes: it is fast because it is wrong.",
    },
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1-check": "twelve",
    "q2a-check": r"\b10\b",
    "q2b-check": r"\b5\b",
    "q3a-check": r"\b4\b",
    "q3b-check": r"\b18\b",
    "q4-check": r"\bC\b",
    "q5-check": r"\bB\b",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1-check", "", "no answer yet"),
    ("q1-check", "answer_1 = ...", "no answer yet"),
    ("q1-check", 'answer_1 = "clock struck"', "list, in square brackets"),
    ("q1-check", 'answer_1 = ("clock", "struck")', "list, in square brackets"),
    ("q1-check", "answer_1 = [1, 2]", "word in quotes"),
    ("q1-check", 'answer_1 = ["clock", "sturck"]', "spelling"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", 'answer_2a = "7"', "whole number without quotes"),
    ("q2a-check", "answer_2a = True", "whole number without quotes"),
    ("q2b-check", "answer_2b = ...", "no answer yet"),
    ("q2b-check", "answer_2b = [1, 2, 3]", "one whole number"),
    ("q3a-check", "answer_3a = 18 / 5", "whole number"),
    ("q3b-check", "answer_3b = None", "whole number"),
    ("q4-check", "answer_4 = ...", "no answer yet"),
    ("q4-check", 'answer_4 = "c"', "capital letters A, B, C, D"),
    ("q4-check", 'answer_4 = "A, B"', "exactly one"),
    ("q4-check", "answer_4 = 3", "letter in quotes"),
    ("q5-check", "", "no answer yet"),
    ("q5-check", 'answer_5 = "E"', "exactly one"),
    ("q6-check", "", "no function verify_greedy"),
    ("q6-check", "verify_greedy = 2, 8", "no function verify_greedy"),
    ("q6-check", greedy("..."), "return two values, accepted and next_token, not None"),
    ("q6-check", greedy("return [2, 8]"), "not [2, 8]"),
    ("q6-check", greedy("return 2, 9"), "have to give (2, 8), but give (2, 9)"),
    ("q7-check", "", "no function passes"),
    ("q7-check", counting("..."), "yours gives None"),
    ("q7-check", counting("return n"), "takes 3 passes, but yours gives 5"),
]
