"""Answers to the knowledge check of chapter 5, with the marks they must get; what the names mean is said in source.py."""

from functools import partial

from tests.quizzes.texts import changed, function

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3-check": 2,
    "q4a-check": 1,
    "q4b-check": 1,
    "q5a-check": 1,
    "q5b-check": 1,
    "q6-check": 4,
    "q7a-check": 2,
    "q7b-check": 4,
}


rollback = partial(function, "rollback(cache, context)")


def forget(target: str = "k1 - a1", draft: str = "k1 - 1 - a1") -> str:
    return f"answer_1a, answer_1b = {target}, {draft}"


def whole(held: str = "n2 - 1 + k2", fed: str = "k2 + 1") -> str:
    return f"answer_2a, answer_2b = {held}, {fed}"


TOKEN = "2 * layers * kv_heads * head_dim * number_bytes"
HALF_A_TOKEN = "layers * kv_heads * head_dim * number_bytes"


def weight(token: str = TOKEN, thrown: str = f"(k4 - a4) * {TOKEN}") -> str:
    return f"answer_4a, answer_4b = {token}, {thrown}"


ROUND = "(draft_ms + pass_ms + rest_ms)"


def time(speedup: str = f"emits * plain_ms / {ROUND}", even: str = f"{ROUND} / plain_ms") -> str:
    return f"answer_5a, answer_5b = {speedup}, {even}"


PROPOSE = """
def propose(draft, cache, text, k):
    assert len(cache) < len(text), "Question 7: propose has nothing to feed, as the cache holds all of the text or more; is it rolled back?"
    guesses, new = [], text[len(cache) :]
    for _ in range(k):
        new = draft(cache, new)[-1:]
        guesses += new
    return guesses
"""
LOOP = (
    PROPOSE
    + """
def decode(target, draft, prompt, k, n):
    text, seen, read, rounds = list(prompt), [], [], 0
    while len(text) - len(prompt) < n:
        guesses = propose(draft, read, text, k)
        said = target(seen, text[len(seen):] + guesses)
        said = said[len(said) - k - 1:]
        accepted = 0
        while accepted < k and guesses[accepted] == said[accepted]:
            accepted += 1
        text.extend(guesses[:accepted])
        text.append(said[accepted])
        rollback(seen, text)
        rollback(read, text)
        rounds += 1
    return text[len(prompt):][:n], rounds
"""
)


looping = partial(changed, LOOP)


# Both caches are made to look alike: after full acceptance the draft model's names a token that it has not read.
NOT_REFILLED = looping(("rollback(read, text)", "read[:] = text[:-1]"))
NOT_FED = looping(("new = [], text[len(cache) :]", "new = [], text[-1:] if cache else text"))
PRETENDS = rollback("""
cache[:] = context[:-1]
return context[-1:]
""")
ONE_TOO_MANY_STAYS = rollback("""
del cache[len(context):]
return context[len(cache):]
""")
ONE_TOO_FEW_STAYS = rollback("""
del cache[len(context) - 2:]
return context[len(cache):]
""")
FROM_THE_FRONT = rollback("""
del cache[:len(context) - 1]
return context[len(cache):]
""")
NO_DRAFT_ROLLBACK = looping(("        rollback(read, text)\n", ""))
LAST_TOKEN_ALONE = looping(
    ("        rollback(read, text)\n", ""), ("assert", "1 or"), ("new = [], text[len(cache) :]", "new = [], text[-1:] if cache else text")
)
NO_TARGET_ROLLBACK = looping(
    ("        rollback(seen, text)\n", ""), ("text[len(seen):] + guesses", "(text[-1:] if seen else text) + guesses")
)
NO_BONUS = looping(("text.append(said[accepted])", "text.extend(said[accepted:][: accepted < k])"))
COUNTS_ALL = looping(("        accepted = 0\n", "        accepted = sum(a == b for a, b in zip(guesses, said))\n"))
NO_CACHES = looping(
    ("draft(cache, new)", "draft([], text + guesses)"),
    ("target(seen, text[len(seen):] + guesses)", "target([], text + guesses)"),
)
TOKEN_BY_TOKEN = looping(
    ("target(seen, text[len(seen):] + guesses)", "[target(seen, [token])[0] for token in text[len(seen):] + guesses]"),
)

MALFORMED = {
    "q1-answer": 'answer_1a = "4"\nanswer_1b = 3.0',
    "q2-answer": "answer_2a = [46]\nanswer_2b = None",
    "q3-answer": 'answer_3 = "c"',
    "q4-answer": "answer_4a = 24.576\nanswer_4b = '49152'",
    "q5-answer": 'answer_5a = "1.6"\nanswer_5b = (1.875,)',
    "q6-answer": rollback("return cache[: len(context) - 1]"),
    "q7-answer": "decode = [6, 7], 2",
}

# One learner each: the answers, and the points lost by check (a check that is not named earns all of its points).
LEARNERS = {
    "perfect": ({}, {}),
    "two_caches_alike": (
        {"q1-answer": forget(draft="k1 - a1"), "q2-answer": whole("n2 + k2", "k2"), "q6-answer": PRETENDS, "q7-answer": NOT_REFILLED},
        {"q1b-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 2, "q7b-check": 2},
    ),
    "the_correction_is_in_the_cache": (
        {
            "q1-answer": forget("k1 - a1 - 1", "k1 - a1 - 2"),
            "q2-answer": whole("n2 + k2 + 1", "k2 - 1"),
            "q6-answer": ONE_TOO_MANY_STAYS,
        },
        {"q1a-check": 1, "q1b-check": 1, "q2a-check": 1, "q2b-check": 1, "q6-check": 4},
    ),
    "verification_finds_it": (
        {"q3-answer": 'answer_3 = "B"', "q7-answer": NO_TARGET_ROLLBACK},
        {"q3-check": 2, "q7a-check": 2, "q7b-check": 2},
    ),
    "a_bad_draft_spoils_the_text": ({"q3-answer": 'answer_3 = "D"'}, {"q3-check": 2}),
    "verifying_is_all": (
        {"q5-answer": time("emits * plain_ms / pass_ms", "pass_ms / plain_ms")},
        {"q5a-check": 1, "q5b-check": 1},
    ),
    "no_bonus": (
        {"q5-answer": time(f"(emits - 1) * plain_ms / {ROUND}", f"{ROUND} / plain_ms - 1"), "q7-answer": NO_BONUS},
        {"q5a-check": 1, "q5b-check": 1, "q7b-check": 2},
    ),
    "every_head_remembers": (
        {"q4-answer": weight(TOKEN.replace("kv", "q"), f"(k4 - a4) * {TOKEN.replace('kv', 'q')}")},
        {"q4a-check": 1},
    ),
}

POPS = rollback("""
while len(cache) >= len(context):
    cache.pop()
return [token for at, token in enumerate(context) if at >= len(cache)]
""")
BY_COMPARING = rollback("""
same = 0
while same < min(len(cache), len(context) - 1) and cache[same] == context[same]:
    same += 1
cache[:] = cache[:same]
return context[same:]
""")
READS_THE_LAST_GUESS_TOO = looping(
    ("    return guesses\n", "    draft(cache, new)\n    return guesses\n"),
)
READS_THE_PROMPT_FIRST = looping(
    (
        "    while len(text)",
        "    if len(prompt) > 1:\n        draft(read, text[:-1])\n        target(seen, text[:-1])\n    while len(text)",
    ),
)
NO_MORE_THAN_WANTED = looping(
    ("        guesses = ", "        few = min(k, n - (len(text) - len(prompt)) - 1)\n        guesses = "),
    ("read, text, k)", "read, text, few)"),
    ("- k - 1", "- few - 1"),
    ("accepted < k", "accepted < few"),
)
OWN_ROLLBACK = looping(
    ("        rollback(seen, text)\n", "        seen = seen[: len(text) - 1]\n"),
    ("        rollback(read, text)\n", "        del read[len(text) - 1 :]\n"),
)

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", "answer_1a = (n1 + k1) - (n1 + a1)\nanswer_1b = answer_1a - 1"),
    ("q2-answer", "answer_2b = len(range(k2)) + 1\nanswer_2a = (n2 + k2 + 1) - 2"),
    ("q3-answer", "answer_3 = 'C'"),
    ("q4-answer", weight()),
    ("q4-answer", f"answer_4a = {HALF_A_TOKEN} + {HALF_A_TOKEN}\nanswer_4b = answer_4a * (k4 - a4)"),
    ("q5-answer", time()),
    ("q5-answer", time(f"round(emits * plain_ms / {ROUND}, 2)", f"round({ROUND} / plain_ms, 2)")),
    ("q6-answer", POPS),
    ("q6-answer", BY_COMPARING),
    ("q7-answer", LOOP),
    ("q7-answer", READS_THE_LAST_GUESS_TOO),
    ("q7-answer", READS_THE_PROMPT_FIRST),
    ("q7-answer", NO_MORE_THAN_WANTED),
    ("q7-answer", OWN_ROLLBACK),
]

UNTIL_IT_LOOKS_RIGHT = rollback("""
while cache and cache[-1] != context[-2]:
    cache.pop()
return context[len(cache):]
""")
WHATEVER_IS_IN_THE_TEXT = rollback("""
while cache and cache[-1] not in context:
    cache.pop()
return context[len(cache):]
""")
ONE_AT_A_TIME = rollback("""
del cache[len(context) - 1:]
return context[-1:]
""")
ALL_AGAIN = rollback("""
cache.clear()
return context[:]
""")
EATS_THE_TEXT = rollback("""
del cache[len(context) - 1:]
del context[:len(cache)]
return context
""")

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    "1a as the draft model": ("q1-answer", forget("k1 - a1 - 1"), {"q1a-check": 1}),
    "1a and one accepted token": ("q1-answer", forget("k1 - a1 + 1"), {"q1a-check": 1}),
    "1a are those that stay": ("q1-answer", forget("a1"), {"q1a-check": 1}),
    "1a are all guesses": ("q1-answer", forget("k1"), {"q1a-check": 1}),
    "1a is all that was fed": ("q1-answer", forget("k1 + 1"), {"q1a-check": 1}),
    "1a is nothing": ("q1-answer", forget("0"), {"q1a-check": 1}),
    "1a is what the cache then holds": ("q1-answer", forget("n1 + a1"), {"q1a-check": 1}),
    "1b as the target": ("q1-answer", forget(draft="k1 - a1"), {"q1b-check": 1}),
    "1b are those that stay": ("q1-answer", forget(draft="a1"), {"q1b-check": 1}),
    "1b are all guesses": ("q1-answer", forget(draft="k1"), {"q1b-check": 1}),
    "1b are all guesses that were fed": ("q1-answer", forget(draft="k1 - 1"), {"q1b-check": 1}),
    "1b is nothing": ("q1-answer", forget(draft="0"), {"q1b-check": 1}),
    "1b is what the cache then holds": ("q1-answer", forget(draft="n1 + a1"), {"q1b-check": 1}),
    "2a as the target": ("q2-answer", whole("n2 + k2"), {"q2a-check": 1}),
    "2a is the whole text": ("q2-answer", whole("n2 + k2 + 1"), {"q2a-check": 1}),
    "2a without the context's last token": ("q2-answer", whole("n2 + k2 - 2"), {"q2a-check": 1}),
    "2a is what was there before": ("q2-answer", whole("n2 - 1"), {"q2a-check": 1}),
    "2a is the context": ("q2-answer", whole("n2"), {"q2a-check": 1}),
    "2a is what this round added": ("q2-answer", whole("k2"), {"q2a-check": 1}),
    "2b as after a rejection": ("q2-answer", whole(fed="k2"), {"q2b-check": 1}),
    "2b before the first guess": ("q2-answer", whole(fed="2"), {"q2b-check": 1}),
    "2b and the last guess": ("q2-answer", whole(fed="k2 + 2"), {"q2b-check": 1}),
    "2b without the text": ("q2-answer", whole(fed="k2 - 1"), {"q2b-check": 1}),
    "2b and all accepted ones again": ("q2-answer", whole(fed="2 * k2"), {"q2b-check": 1}),
    "2b without a cache": ("q2-answer", whole(fed="n2 + 2 * k2"), {"q2b-check": 1}),
    **{f"3 is {letter}": ("q3-answer", f'answer_3 = "{letter}"', {"q3-check": 2}) for letter in "ABD"},
    "4a keys alone": ("q4-answer", weight(HALF_A_TOKEN), {"q4a-check": 1}),
    "4a for each query head": ("q4-answer", weight(TOKEN.replace("kv", "q")), {"q4a-check": 1}),
    "4a keys of each query head": ("q4-answer", weight(HALF_A_TOKEN.replace("kv", "q")), {"q4a-check": 1}),
    "4a for all heads": ("q4-answer", weight(TOKEN.replace("kv_heads", "(q_heads + kv_heads)")), {"q4a-check": 1}),
    "4a for one layer": ("q4-answer", weight(TOKEN.replace("layers *", "")), {"q4a-check": 1}),
    "4a numbers of the keys": ("q4-answer", weight("layers * kv_heads * head_dim"), {"q4a-check": 1}),
    "4a numbers": ("q4-answer", weight("2 * layers * kv_heads * head_dim"), {"q4a-check": 1}),
    "4a bits": ("q4-answer", weight(f"8 * {TOKEN}"), {"q4a-check": 1}),
    "4a numbers of a vector": ("q4-answer", weight("kv_heads * head_dim"), {"q4a-check": 1}),
    "4a is nothing": ("q4-answer", weight("0"), {"q4a-check": 1}),
    "4b as the draft model": ("q4-answer", weight(thrown=f"(k4 - 1 - a4) * {TOKEN}"), {"q4b-check": 1}),
    "4b are those that stay": ("q4-answer", weight(thrown=f"a4 * {TOKEN}"), {"q4b-check": 1}),
    "4b are all guesses": ("q4-answer", weight(thrown=f"k4 * {TOKEN}"), {"q4b-check": 1}),
    "4b is all that was fed": ("q4-answer", weight(thrown=f"(k4 + 1) * {TOKEN}"), {"q4b-check": 1}),
    "4b and one accepted token": ("q4-answer", weight(thrown=f"(k4 - a4 + 1) * {TOKEN}"), {"q4b-check": 1}),
    "4b in tokens": ("q4-answer", weight(thrown="k4 - a4"), {"q4b-check": 1}),
    "4b follows a wrong 4a": ("q4-answer", weight(HALF_A_TOKEN, f"(k4 - a4) * {HALF_A_TOKEN}"), {"q4a-check": 1}),
    "5a are the tokens": ("q5-answer", time("emits"), {"q5a-check": 1}),
    "5a by the pass alone": ("q5-answer", time("emits * plain_ms / pass_ms"), {"q5a-check": 1}),
    "5a without the rest": ("q5-answer", time("emits * plain_ms / (draft_ms + pass_ms)"), {"q5a-check": 1}),
    "5a without drafting": ("q5-answer", time("emits * plain_ms / (pass_ms + rest_ms)"), {"q5a-check": 1}),
    "5a without the target's token": ("q5-answer", time(f"(emits - 1) * plain_ms / {ROUND}"), {"q5a-check": 1}),
    "5a with the target's token twice": ("q5-answer", time(f"(emits + 1) * plain_ms / {ROUND}"), {"q5a-check": 1}),
    "5a upside down": ("q5-answer", time(f"{ROUND} / (emits * plain_ms)"), {"q5a-check": 1}),
    "5a against a pass over five": ("q5-answer", time(f"emits * pass_ms / {ROUND}"), {"q5a-check": 1}),
    "5a is nothing gained": ("q5-answer", time("1"), {"q5a-check": 1}),
    "5b is a token": ("q5-answer", time(even="1"), {"q5b-check": 1}),
    "5b is a guess and the target's": ("q5-answer", time(even="2"), {"q5b-check": 1}),
    "5b by the pass alone": ("q5-answer", time(even="pass_ms / plain_ms"), {"q5b-check": 1}),
    "5b without the rest": ("q5-answer", time(even="(draft_ms + pass_ms) / plain_ms"), {"q5b-check": 1}),
    "5b without drafting": ("q5-answer", time(even="(pass_ms + rest_ms) / plain_ms"), {"q5b-check": 1}),
    "5b upside down": ("q5-answer", time(even=f"plain_ms / {ROUND}"), {"q5b-check": 1}),
    "5b are the guesses": ("q5-answer", time(even=f"{ROUND} / plain_ms - 1"), {"q5b-check": 1}),
    "5b are the tokens of the first text": ("q5-answer", time(even="emits"), {"q5b-check": 1}),
    "the cache pretends": ("q6-answer", PRETENDS, {"q6-check": 2}),
    "only the last token is fed": ("q6-answer", ONE_AT_A_TIME, {"q6-check": 2}),
    "one token too many stays": ("q6-answer", ONE_TOO_MANY_STAYS, {"q6-check": 4}),
    "one token too few stays": ("q6-answer", ONE_TOO_FEW_STAYS, {"q6-check": 4}),
    "forgets from the front": ("q6-answer", FROM_THE_FRONT, {"q6-check": 4}),
    "forgets everything": ("q6-answer", ALL_AGAIN, {"q6-check": 4}),
    "forgets nothing": ("q6-answer", rollback("return context[-1:]"), {"q6-check": 4}),
    "a copy is cut": ("q6-answer", rollback("cache = cache[: len(context) - 1]\nreturn context[len(cache) :]"), {"q6-check": 4}),
    "until the last token looks right": ("q6-answer", UNTIL_IT_LOOKS_RIGHT, {"q6-check": 3}),
    "whatever occurs in the text stays": ("q6-answer", WHATEVER_IS_IN_THE_TEXT, {"q6-check": 1}),
    "the text is eaten": ("q6-answer", EATS_THE_TEXT, {"q6-check": 4}),
    "a single token is forgotten": (
        "q6-answer",
        rollback("if len(cache) >= len(context):\n    cache.pop()\nreturn context[len(cache) :]"),
        {"q6-check": 4},
    ),
    "whatever is not in the text goes": (
        "q6-answer",
        rollback("for token in [*cache]:\n    if token not in context:\n        cache.remove(token)\nreturn context[len(cache) :]"),
        {"q6-check": 1},
    ),
    "the visible case alone": ("q6-answer", rollback("del cache[4:]\nreturn [5]"), {"q6-check": 4}),
    "the draft's cache names a token too many": ("q7-answer", NOT_REFILLED, {"q7b-check": 2}),
    "the draft model misses a token": ("q7-answer", NOT_FED, {"q7b-check": 2}),
    "the draft's cache is not rolled back": ("q7-answer", NO_DRAFT_ROLLBACK, {"q7a-check": 2, "q7b-check": 4}),
    "the draft reads the last token alone": ("q7-answer", LAST_TOKEN_ALONE, {"q7b-check": 3}),
    "the target's cache is not rolled back": ("q7-answer", NO_TARGET_ROLLBACK, {"q7a-check": 2, "q7b-check": 2}),
    "no bonus token": ("q7-answer", NO_BONUS, {"q7b-check": 2}),
    "every match counted": ("q7-answer", COUNTS_ALL, {"q7a-check": 2, "q7b-check": 2}),
    "no cache at all": ("q7-answer", NO_CACHES, {"q7b-check": 1}),
    "the target is asked token by token": ("q7-answer", TOKEN_BY_TOKEN, {"q7b-check": 1}),
    "the draft has the last word": (
        "q7-answer",
        looping(("said[accepted])", "[*guesses, 0][accepted])")),
        {"q7a-check": 2, "q7b-check": 4},
    ),
    "one place late": ("q7-answer", looping(("- k - 1:]", "- k:] + [0]")), {"q7a-check": 2, "q7b-check": 4}),
    "tokens behind the end": ("q7-answer", looping(("[:n], rounds", ", rounds")), {"q7a-check": 2, "q7b-check": 1}),
    "the prompt as well": ("q7-answer", looping(("text[len(prompt):][:n]", "text[:n]")), {"q7a-check": 2, "q7b-check": 3}),
    "the prompt is written on": (
        "q7-answer",
        looping(
            ("text, seen, read, rounds = list(prompt)", "text, start, seen, read, rounds = prompt, len(prompt)"),
            ("- len(prompt) < n", "- start < n"),
            ("text[len(prompt):]", "text[start:]"),
        ),
        {"q7a-check": 2},
    ),
    "tokens for rounds": ("q7-answer", looping(("rounds += 1", "rounds += accepted + 1")), {"q7b-check": 3}),
    "a round for each guess": ("q7-answer", looping(("rounds += 1", "rounds += k")), {"q7b-check": 4}),
    "plain decoding": (
        "q7-answer",
        looping(("propose(draft, read, text, k)", "[]"), ("- k - 1", "- 1"), ("accepted < k", "accepted < 0")),
        {"q7b-check": 3},
    ),
}

# For each wrong letter, words of the chapter about it.
NAMED = {
    "q3-check": {
        "A": "The draft may be wrong in any way it likes; being misled is one of them.",
        "B": "verification compares the draft faithfully with what the target says, but the target now answers for a text",
        "D": "In the **draft's** memory it costs acceptance, if anything, and the text stays what it was",
    }
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\b4\b|\bfour\b",
    "q1b-check": r"\b3\b|\bthree\b",
    "q2a-check": r"\b46\b",
    "q2b-check": r"\b7\b|\bseven\b",
    "q3-check": r"\bC\b",
    "q4a-check": r"24.?576",
    "q4b-check": r"49.?152|\b2\b|\btwo\b",
    "q5a-check": r"\b1\.60?\b",
    "q5b-check": r"1\.8[78]",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", 'answer_1a = "6"', "whole number without quotes"),
    ("q1b-check", "answer_1b = ...", "no answer yet"),
    ("q1b-check", "answer_1b = 6.0", "one whole number"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = True", "whole number without quotes"),
    ("q2b-check", "answer_2b = ...", "no answer yet"),
    ("q2b-check", "answer_2b = [7, 8]", "one whole number"),
    ("q3-check", "", "no answer yet"),
    ("q3-check", "answer_3 = 1", "letter in quotes"),
    ("q3-check", 'answer_3 = "A and B"', "exactly one"),
    ("q4a-check", "answer_4a = ...", "no answer yet"),
    ("q4a-check", "answer_4a = 24 * 2.5", "one whole number"),
    ("q4b-check", "", "no answer yet"),
    ("q4b-check", 'answer_4b = "1000"', "whole number without quotes"),
    ("q5a-check", "", "no answer yet"),
    ("q5a-check", 'answer_5a = "2"', "one number without quotes"),
    ("q5b-check", "answer_5b = ...", "no answer yet"),
    ("q5b-check", "answer_5b = [1]", "one number without quotes"),
    ("q6-check", "", "no function rollback"),
    ("q6-check", "rollback = [1, 2]", "no function rollback"),
    ("q6-check", rollback("del cache[len(context) - 1 :]"), "return the list of tokens to feed next, not None"),
    ("q6-check", rollback("return cache[:4]"), "the cache itself has to become [1, 2, 3, 7], but it is [1, 2, 3, 7, 8, 9]"),
    ("q6-check", rollback("del cache[4:]\nreturn context"), "but yours gives [1, 2, 3, 7, 5]"),
    ("q7a-check", "", "no function decode"),
    ("q7a-check", "def decode(target, draft, prompt, k, n): ...", "but yours returns None"),
    ("q7a-check", "def decode(target, draft, prompt, k, n): return [5, 4], 2", "but yours returns ([5, 4], 2)"),
    ("q7b-check", "", "no function decode"),
    ("q7b-check", "def decode(target, draft, prompt, k, n): return [6, 7]", "return two values, the new tokens and the rounds, not [6, 7]"),
    ("q7b-check", "def decode(target, draft, prompt, k, n): return [6, 7], 4", "2 rounds for 2 tokens, but yours counts 4"),
]
