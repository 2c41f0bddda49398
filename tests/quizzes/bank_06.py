"""Answers to the knowledge check of chapter 6, with the marks they must get. What the names mean is said in source.py."""

from functools import partial

from tests.quizzes.texts import changed, function

CHECKS = {
    "q1a-check": 1,
    "q1b-check": 1,
    "q2a-check": 1,
    "q2b-check": 1,
    "q3a-check": 1,
    "q3b-check": 1,
    "q3c-check": 1,
    "q4a-check": 1,
    "q4b-check": 1,
    "q4c-check": 1,
    "q5a-check": 1,
    "q5b-check": 1,
    "q6-check": 5,
    "q7-check": 3,
}


follow = partial(function, "follow(tokens, parents, target)")


vote = partial(function, "vote(context, n_max)")


# Where copying may begin in the two texts: behind each earlier place of an ending of 1, 2 and 3 tokens; `best` is the longest that repeats.
PLACES = """
words, more = first_text.split(), second_text.split()
def places(words, n):
    return [i + n for i in range(len(words) - n) if words[i : i + n] == words[-n:]]
def best(words):
    return max(n for n in (1, 2, 3) if places(words, n))
at, behind = places(words, best(words))[-1], len(more) - places(more, best(more))[-1]
"""


def copied(what: str = "words[at : at + first_k]", count: str = "min(behind, second_k)") -> str:
    return f"{PLACES}answer_1a = {what}\nanswer_1b = {count}"


def second(blind: str = "turn_left / (turn_left + turn_right)", hears: str = "turn_right / (turn_left + turn_right)") -> str:
    return f"answer_2a = {blind}\nanswer_2b = {hears}"


# How deep each node is, and which ones go on from node 0.
TREE = """
deep, on = [], []
for i, parent in enumerate(tree_parents):
    deep.append(deep[parent] + 1 if parent >= 0 else 0)
    on += [i] if parent == 0 or parent in on else []
"""


def nodes(places: str = "[context_length + x for x in deep]", who: str = "on", letter: str = "B") -> str:
    return f'{TREE}answer_3a = {places}\nanswer_3b = {who}\nanswer_3c = "{letter}"'


FASTEST = "layer_story / (five_price + layer_drafts)"
SILENT = "lookup_story / (silent + five_price - silent * five_price)"


def rungs(first: str = "lookup", then: str = "layer", fastest: str = FASTEST, silent: str = SILENT) -> str:
    return f'answer_4a = ["{first}", "{then}"]\nanswer_4b = {fastest}\nanswer_4c = {silent}'


# What each of the six nodes adds, the likeliest first, and the tree that is fastest by some measure.
NODES = """
add = sorted([first_1, first_2, first_1 * second_1, first_1 * second_2, first_2 * second_1, first_2 * second_2])[::-1]
def fastest(measure):
    return max(range(1, 7), key=lambda m: measure(1 + sum(add[:m]), node_prices[m - 1]))
"""


def size(brings: str = "1 + sum(add[:4])", best: str = "fastest(lambda tokens, price: tokens / price)") -> str:
    return f"{NODES}answer_5a = {brings}\nanswer_5b = {best}"


WALK = """
path, here = [], -1
while True:
    said = target[here + 1]
    children = [i for i, parent in enumerate(parents) if parent == here and tokens[i] == said]
    if not children:
        return path, said
    here = children[0]
    path.append(here)
"""
VOTE = """
for n in range(min(n_max, len(context) - 1), 0, -1):
    votes = [context[i + n] for i in range(len(context) - n) if context[i:i + n] == context[-n:]]
    if votes:
        return max(reversed(votes), key=votes.count)
return None
"""


EVERY_MATCH = """
path = [i for i, parent in enumerate(parents) if tokens[i] == target[parent + 1]]
return path, target[(path or [-1])[-1] + 1]
"""
A_CHAIN = """
n = 0
while n < len(tokens) and tokens[n] == target[n]:
    n += 1
return list(range(n)), target[n]
"""

MALFORMED = {
    "q1-answer": 'answer_1a = "ebc"\nanswer_1b = 1.0',
    "q2-answer": 'answer_2a = "1/3"\nanswer_2b = 67',
    "q3-answer": 'answer_3a = [20, 21, 22]\nanswer_3b = (2, 3, 5)\nanswer_3c = "c"',
    "q4-answer": 'answer_4a = "lookup, layer"\nanswer_4b = "1.52"\nanswer_4c = None',
    "q5-answer": 'answer_5a = [2.22]\nanswer_5b = "3"',
    "q6-answer": follow("return [1]"),
    "q7-answer": "vote = 2",
}

LATEST = "words[(i := places(words, 1)[-1]) : i + first_k]"
LEFT, TURN = "turn_left + go_left", "turn_left + turn_right"
RAW = "1 + first_1 + first_2 + second_1 + second_2"

LEARNERS = {
    "perfect": ({}, {}),
    # The best draft is the most accurate one, or the one that brings most, whatever it costs.
    "whatever_it_costs": (
        {"q4-answer": rungs("model", "model", "model_story", "lookup_story"), "q5-answer": size(best="6")},
        {"q4a-check": 1, "q4b-check": 1, "q4c-check": 1, "q5b-check": 1},
    ),
    # A pass over a tree is a pass over a chain: who stands before me belongs to my text.
    "a_tree_is_a_chain": (
        {"q3-answer": nodes("[*range(20, 27)]", "[*range(1, 7)]", "C"), "q6-answer": follow(A_CHAIN)},
        {"q3a-check": 1, "q3b-check": 1, "q3c-check": 1, "q6-check": 5},
    ),
    # What the target says may be kept, wherever it was drafted.
    "keeps_every_match": (
        {"q5-answer": size(RAW), "q6-answer": follow(EVERY_MATCH)},
        {"q5a-check": 1, "q6-check": 2},
    ),
    # The latest place counts, and one matching token is enough.
    "the_latest_token": (
        {
            "q1-answer": copied(LATEST),
            "q7-answer": vote(
                "for i in range(len(context) - 2, -1, -1):\n    if context[i] == context[-1]:\n        return context[i + 1]"
            ),
        },
        {"q1a-check": 1, "q7-check": 3},
    ),
    # The heads are as good as their numbers, one by one.
    "independent_words": (
        {"q2-answer": second(LEFT, LEFT), "q5-answer": size(RAW)},
        {"q2a-check": 1, "q2b-check": 1, "q5a-check": 1},
    ),
    # What the round emits for certain is not counted.
    "no_bonus": (
        {
            "q4-answer": rungs(fastest="(layer_story - 1) / (five_price + layer_drafts)"),
            "q5-answer": size("sum(add[:4])", "fastest(lambda tokens, price: (tokens - 1) / price)"),
            "q6-answer": follow(WALK.replace("return path, said", "return path, said if path != [*range(len(tokens))] else None")),
        },
        {"q4b-check": 1, "q5a-check": 1, "q5b-check": 1, "q6-check": 2},
    ),
}

RECURSIVE = """
def down(here):
    for node in range(here + 1, len(tokens)):
        if parents[node] == here and tokens[node] == target[here + 1]:
            return [node] + down(node)
    return []
path = down(-1)
return path, target[path[-1] + 1 if path else 0]
"""
FROM_THE_LEAVES = """
def stands(i):
    return i < 0 or tokens[i] == target[parents[i] + 1] and stands(parents[i])
path = [i for i in range(len(tokens)) if stands(i)]
return path, target[path[-1] + 1] if path else target[0]
"""
BY_DICTIONARY = """
child = {(parent, token): i for i, (parent, token) in enumerate(zip(parents, tokens))}
path = [-1]
while (path[-1], target[path[-1] + 1]) in child:
    path.append(child[path[-1], target[path[-1] + 1]])
return path[1:], target[path[-1] + 1]
"""
COUNTER = """
from collections import Counter
best = None
for n in range(1, min(n_max, len(context) - 1) + 1):
    places = [i for i in range(len(context) - n) if context[i:i + n] == context[len(context) - n:]]
    if places:
        best = Counter(context[i + n] for i in places[::-1]).most_common(1)[0][0]
return best
"""
TALLY = """
text, votes = tuple(context), {}
for n in range(n_max, 0, -1):
    for start in range(len(text) - n):
        if text[start:start + n] == text[-n:]:
            votes.setdefault(text[start + n], []).append(start)
    if votes:
        return sorted(votes, key=lambda token: (len(votes[token]), votes[token][-1]))[-1]
"""

# Right answers, written differently from the key.
RIGHT = [
    ("q1-answer", copied()),
    ("q1-answer", copied("[words[at + i] for i in range(first_k)]", "len(more[-behind:])")),
    ("q2-answer", second()),
    ("q2-answer", second("round(turn_left / (turn_left + turn_right), 2)", "round(turn_right / (turn_left + turn_right), 2)")),
    ("q2-answer", "answer_2b = turn_right / (1 - go_left - go_ahead)\nanswer_2a = 1 - answer_2b"),
    ("q3-answer", nodes()),
    ("q3-answer", nodes("[x + context_length for x in deep]", "on[::-1]")),
    ("q4-answer", rungs()),
    ("q4-answer", rungs(fastest=f"round({FASTEST}, 2)", silent=f"round({SILENT}, 2)")),
    ("q4-answer", rungs(silent="10 * lookup_story / (10 * silent + five_price * (10 - 10 * silent))")),
    ("q5-answer", size()),
    ("q5-answer", size("round(add[0] + add[1] + add[2] + add[3], 2) + 1")),
    ("q6-answer", follow(WALK)),
    ("q6-answer", follow(RECURSIVE)),
    ("q6-answer", follow(FROM_THE_LEAVES)),
    ("q6-answer", follow(BY_DICTIONARY)),
    ("q7-answer", vote(VOTE)),
    ("q7-answer", vote(COUNTER)),
    ("q7-answer", vote(TALLY)),
]

FIRST_CHILD = changed(WALK, ("and tokens[i] == said]", "]"), ("if not children:", "if not children or tokens[children[0]] != said:"))
LAST_CHILD = changed(
    WALK, ("and tokens[i] == said]", "]"), ("if not children:", "if not children or tokens[children[-1]] != said:"), ("[0]", "[-1]")
)
ONE_LEVEL = changed(WALK, ("path.append(here)", "path.append(here)\n    return path, target[here + 1]"))
CHANGES_ITS_INPUT = """
path, here = [], -1
while True:
    said = target[here + 1]
    found = [i for i, parent in enumerate(parents) if parent == here and tokens[i] == said]
    if not found:
        return path, said
    here = found[0]
    tokens[here] = parents[here] = None
    path.append(here)
"""
DEEPEST = """
paths = [[]]
for i, parent in enumerate(parents):
    if tokens[i] == target[parent + 1]:
        paths.append(next((path for path in paths if path and path[-1] == parent), []) + [i])
best = max(paths, key=len)
return best, target[best[-1] + 1 if best else 0]
"""
ALL_LENGTHS = """
votes = []
for n in range(min(n_max, len(context) - 1), 0, -1):
    votes += [context[i + n] for i in range(len(context) - n) if context[i:i + n] == context[-n:]]
return max(reversed(votes), key=votes.count) if votes else None
"""

# Wrong answers by their misconception: the answer cell, what stands in it, and the points lost by check.
WRONG = {
    "1a the oldest place": ("q1-answer", copied("words[(i := places(words, best(words))[0]) : i + first_k]"), {"q1a-check": 1}),
    "1a one token is ending enough": ("q1-answer", copied(LATEST), {"q1a-check": 1}),
    "1a a token too many": ("q1-answer", copied("words[at : at + first_k + 1]"), {"q1a-check": 1}),
    "1a one token": ("q1-answer", copied("words[at : at + 1]"), {"q1a-check": 1}),
    "1a the ending itself": ("q1-answer", copied("words[-best(words) :]"), {"q1a-check": 1}),
    "1a a token late": ("q1-answer", copied("words[at + 1 : at + 1 + first_k]"), {"q1a-check": 1}),
    "1a a token early": ("q1-answer", copied("words[at - 1 : at - 1 + first_k]"), {"q1a-check": 1}),
    "1a backwards": ("q1-answer", copied("words[at : at + first_k][::-1]"), {"q1a-check": 1}),
    "1a nothing": ("q1-answer", copied("[]"), {"q1a-check": 1}),
    "1b always k": ("q1-answer", copied(count="second_k"), {"q1b-check": 1}),
    "1b no place may overlap": ("q1-answer", copied(count="0"), {"q1b-check": 1}),
    "1b as many as match": ("q1-answer", copied(count="best(more)"), {"q1b-check": 1}),
    "1b a token too many": ("q1-answer", copied(count="behind + 1"), {"q1b-check": 1}),
    "1b all before the match": ("q1-answer", copied(count="len(more)"), {"q1b-check": 1}),
    "2a all in all": ("q2-answer", second(LEFT), {"q2a-check": 1}),
    "2a both": ("q2-answer", second("turn_left"), {"q2a-check": 1}),
    "2a independent words": ("q2-answer", second(f"({LEFT}) * ({TURN})"), {"q2a-check": 1}),
    "2a hears": ("q2-answer", second("turn_right / (turn_left + turn_right)"), {"q2a-check": 1}),
    "2a the likeliest text": ("q2-answer", second("turn_right"), {"q2a-check": 1}),
    "2a the first word": ("q2-answer", second(TURN), {"q2a-check": 1}),
    "2a certain": ("q2-answer", second("1"), {"q2a-check": 1}),
    "2b both": ("q2-answer", second(hears="turn_right"), {"q2b-check": 1}),
    "2b does not hear": ("q2-answer", second(hears="turn_left / (turn_left + turn_right)"), {"q2b-check": 1}),
    "2b all in all": ("q2-answer", second(hears=LEFT), {"q2b-check": 1}),
    "2b the first word": ("q2-answer", second(hears=TURN), {"q2b-check": 1}),
    "2b certain": ("q2-answer", second(hears="1"), {"q2b-check": 1}),
    "2b independent words": ("q2-answer", second(hears=f"turn_right * ({TURN})"), {"q2b-check": 1}),
    "3a the order in the pass": ("q3-answer", nodes("[*range(context_length, context_length + 7)]"), {"q3a-check": 1}),
    "3a without the context": ("q3-answer", nodes("deep"), {"q3a-check": 1}),
    "3a one early": ("q3-answer", nodes("[context_length - 1 + x for x in deep]"), {"q3a-check": 1}),
    "3a one late": ("q3-answer", nodes("[context_length + 1 + x for x in deep]"), {"q3a-check": 1}),
    "3a behind the parent's number": ("q3-answer", nodes("[context_length + 1 + p for p in tree_parents]"), {"q3a-check": 1}),
    "3a two levels": ("q3-answer", nodes("[context_length + (p >= 0) * 1 for p in tree_parents]"), {"q3a-check": 1}),
    "3a all for one place": ("q3-answer", nodes("[context_length] * 7"), {"q3a-check": 1}),
    "3b its children": ("q3-answer", nodes(who="[i for i in range(7) if tree_parents[i] == 0]"), {"q3b-check": 1}),
    "3b all behind it": ("q3-answer", nodes(who="[*range(1, 7)]"), {"q3b-check": 1}),
    "3b itself": ("q3-answer", nodes(who="[0, *on]"), {"q3b-check": 1}),
    "3b its rivals": ("q3-answer", nodes(who="[i for i in range(1, 7) if tree_parents[i] < 0]"), {"q3b-check": 1}),
    "3b nobody": ("q3-answer", nodes(who="[]"), {"q3b-check": 1}),
    "3b all that are deeper": ("q3-answer", nodes(who="[i for i in range(7) if deep[i]]"), {"q3b-check": 1}),
    "3b its leaves": ("q3-answer", nodes(who="[i for i in on if i not in tree_parents]"), {"q3b-check": 1}),
    **{f"3c is {letter}": ("q3-answer", nodes(letter=letter), {"q3c-check": 1}) for letter in "ACD"},
    **{
        f"4a is {a} and {b}": ("q4-answer", rungs(a, b), {"q4a-check": 1})
        for a, b in (
            ("model", "model"),
            ("lookup", "lookup"),
            ("lookup", "model"),
            ("layer", "layer"),
            ("layer", "lookup"),
            ("model", "layer"),
        )
    },
    "4b the tokens": ("q4-answer", rungs(fastest="layer_story"), {"q4b-check": 1}),
    "4b by the pass alone": ("q4-answer", rungs(fastest="layer_story / five_price"), {"q4b-check": 1}),
    "4b of the most accurate": ("q4-answer", rungs(fastest="model_story / (five_price + model_drafts)"), {"q4b-check": 1}),
    "4b a pass as cheap as a step": ("q4-answer", rungs(fastest="layer_story / (1 + layer_drafts)"), {"q4b-check": 1}),
    "4b upside down": ("q4-answer", rungs(fastest="(five_price + layer_drafts) / layer_story"), {"q4b-check": 1}),
    "4b the target's token on top": ("q4-answer", rungs(fastest="(layer_story + 1) / (five_price + layer_drafts)"), {"q4b-check": 1}),
    "4b without the target's token": ("q4-answer", rungs(fastest="(layer_story - 1) / (five_price + layer_drafts)"), {"q4b-check": 1}),
    "4b the most tokens": ("q4-answer", rungs(fastest="model_story"), {"q4b-check": 1}),
    "4c all passes long": ("q4-answer", rungs(silent="lookup_story / five_price"), {"q4c-check": 1}),
    "4c the tokens": ("q4-answer", rungs(silent="lookup_story"), {"q4c-check": 1}),
    "4c an average of speedups": ("q4-answer", rungs(silent="silent + (lookup_story - silent) / five_price"), {"q4c-check": 1}),
    "4c where it drafts": ("q4-answer", rungs(silent="(lookup_story - silent) / (1 - silent) / five_price"), {"q4c-check": 1}),
    "4c nothing gained": ("q4-answer", rungs(silent="1"), {"q4c-check": 1}),
    "4c upside down": ("q4-answer", rungs(silent="(silent + five_price - silent * five_price) / lookup_story"), {"q4c-check": 1}),
    "4c silent rounds write nothing": (
        "q4-answer",
        rungs(silent=SILENT.replace("lookup_story", "(lookup_story - silent)")),
        {"q4c-check": 1},
    ),
    "5a without the target's token": ("q5-answer", size("sum(add[:4])"), {"q5a-check": 1}),
    "5a without the parents": ("q5-answer", size(RAW), {"q5a-check": 1}),
    "5a neither": ("q5-answer", size(RAW.removeprefix("1 + ")), {"q5a-check": 1}),
    "5a another fourth node": ("q5-answer", size("1 + sum(add[:3]) + add[4]"), {"q5a-check": 1}),
    "5a three nodes": ("q5-answer", size("1 + sum(add[:3])"), {"q5a-check": 1}),
    "5a five nodes": ("q5-answer", size("1 + sum(add[:5])"), {"q5a-check": 1}),
    "5a a chain": ("q5-answer", size("1 + first_1 + first_1 * second_1"), {"q5a-check": 1}),
    "5a all nodes": ("q5-answer", size("1 + sum(add)"), {"q5a-check": 1}),
    "5a every node stands": ("q5-answer", size("4"), {"q5a-check": 1}),
    "5b what brings most": ("q5-answer", size(best="6"), {"q5b-check": 1}),
    "5b what is cheapest": ("q5-answer", size(best="1"), {"q5b-check": 1}),
    "5b without the target's token": ("q5-answer", size(best="fastest(lambda tokens, price: (tokens - 1) / price)"), {"q5b-check": 1}),
    "5b the largest difference": ("q5-answer", size(best="fastest(lambda tokens, price: tokens - price)"), {"q5b-check": 1}),
    "5b a step for the target on top": ("q5-answer", size(best="fastest(lambda tokens, price: tokens / (1 + price))"), {"q5b-check": 1}),
    "the first child alone": ("q6-answer", follow(FIRST_CHILD), {"q6-check": 5}),
    "the last child alone": ("q6-answer", follow(LAST_CHILD), {"q6-check": 3}),
    "a chain": ("q6-answer", follow(A_CHAIN), {"q6-check": 5}),
    "every match": ("q6-answer", follow(EVERY_MATCH), {"q6-check": 2}),
    "the deepest match": ("q6-answer", follow(DEEPEST), {"q6-check": 2}),
    "one node a round": ("q6-answer", follow(ONE_LEVEL), {"q6-check": 4}),
    "tokens for nodes": ("q6-answer", follow(WALK.replace("path.append(here)", "path.append(tokens[here])")), {"q6-check": 5}),
    "the node's own row": (
        "q6-answer",
        follow("path = [i for i in range(len(tokens)) if tokens[i] == target[i]]\nreturn path, target[(path or [-1])[-1] + 1]"),
        {"q6-check": 5},
    ),
    "one row early": ("q6-answer", follow(WALK.replace("target[here + 1]", "target[max(here, 0)]")), {"q6-check": 5}),
    "the row of the path's length": (
        "q6-answer",
        follow(WALK.replace("return path, said", "return path, target[len(path)]")),
        {"q6-check": 5},
    ),
    "the draft has the last word": (
        "q6-answer",
        follow(WALK.replace("return path, said", "return path, next((tokens[i] for i, x in enumerate(parents) if x == here), said)")),
        {"q6-check": 4},
    ),
    "no token behind a draft that stands": (
        "q6-answer",
        follow(
            "if not tokens:\n    return [], None\n"
            + WALK.strip().replace("return path, said", "return path, said if here + 1 < len(tokens) else 0")
        ),
        {"q6-check": 5},
    ),
    "from the end": ("q6-answer", follow(WALK.replace("path.append(here)", "path.insert(0, here)")), {"q6-check": 4}),
    "fails on an empty tree": ("q6-answer", follow("assert tokens\n" + WALK.strip()), {"q6-check": 1}),
    "any word that the target says": (
        "q6-answer",
        follow(WALK.replace("tokens[i] == said]", "tokens[i] in target]").replace("return path, said", "return path, target[here + 1]")),
        {"q6-check": 4},
    ),
    "the tree is changed": ("q6-answer", follow(CHANGES_ITS_INPUT), {"q6-check": 4}),
    "the visible tree alone": ("q6-answer", follow("return [1], 2"), {"q6-check": 5}),
    "the latest place alone": ("q7-answer", vote(VOTE.replace("max(reversed(votes), key=votes.count)", "votes[-1]")), {"q7-check": 2}),
    "the oldest place alone": ("q7-answer", vote(VOTE.replace("max(reversed(votes), key=votes.count)", "votes[0]")), {"q7-check": 2}),
    "of several the oldest": ("q7-answer", vote(VOTE.replace("reversed(votes)", "votes")), {"q7-check": 1}),
    "of several the largest": (
        "q7-answer",
        vote(VOTE.replace("max(reversed(votes), key=votes.count)", "max(votes, key=lambda token: (votes.count(token), token))")),
        {"q7-check": 1},
    ),
    "of several any": ("q7-answer", vote(VOTE.replace("reversed(votes)", "set(votes)")), {"q7-check": 1}),
    "one token is ending enough": ("q7-answer", vote(VOTE.replace("range(min(n_max, len(context) - 1), 0, -1)", "(1,)")), {"q7-check": 1}),
    "the longest allowed or none": (
        "q7-answer",
        vote(VOTE.replace("range(min(n_max, len(context) - 1), 0, -1)", "(min(n_max, len(context) - 1) or 1,)")),
        {"q7-check": 3},
    ),
    "the shortest first": (
        "q7-answer",
        vote(VOTE.replace("range(min(n_max, len(context) - 1), 0, -1)", "range(1, n_max + 1)")),
        {"q7-check": 1},
    ),
    "all lengths vote": ("q7-answer", vote(ALL_LENGTHS), {"q7-check": 1}),
    "the most frequent token": ("q7-answer", vote("return max(reversed(context[1:]), key=context.count)"), {"q7-check": 3}),
    "a list where nothing repeats": ("q7-answer", vote(VOTE.replace("return None", "return []")), {"q7-check": 1}),
    "the last token where nothing repeats": ("q7-answer", vote(VOTE.replace("return None", "return context[-1]")), {"q7-check": 1}),
    "no place may overlap": (
        "q7-answer",
        vote(VOTE.replace("range(len(context) - n) if", "range(len(context) - 2 * n + 1) if")),
        {"q7-check": 1},
    ),
    "the text is eaten": (
        "q7-answer",
        vote("context.reverse()\n" + "context.reverse()\n" + VOTE.strip().replace("return max", "context.pop()\n        return max")),
        {"q7-check": 3},
    ),
    "the visible text alone": ("q7-answer", vote("return 2"), {"q7-check": 3}),
}

# For each wrong letter, words of the chapter about it.
NAMED = {
    "q3c-check": {
        "A": "*right* would read *left* too, though the two are rivals for one place",
        "C": "Verification does not find this: it compares the guesses with what the target says",
        "D": "None of them can change the text; they differ in what they look at and in what they cost",
    }
}

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\be\b",
    "q1b-check": r"\b1\b|\bone\b",
    "q2a-check": r"\.33|1 ?/ ?3|third",
    "q2b-check": r"\.6[67]|2 ?/ ?3|third",
    "q3a-check": r"\b2[0-2]\b",
    "q3b-check": r"\b[235]\b",
    "q3c-check": r"\bB\b",
    "q4a-check": r"lookup|layer",
    "q4b-check": r"1\.5[12]",
    "q4c-check": r"1\.14",
    "q5a-check": r"2\.22",
    "q5b-check": r"\b3\b|three",
}

# Wrong forms: the check cell, what stands in the answer cell, and a part of what the check says.
FORMS = [
    ("q1a-check", "", "no answer yet"),
    ("q1a-check", 'answer_1a = "abc"', "in square brackets"),
    ("q1a-check", 'answer_1a = ["a b c"]', "small letters"),
    ("q1b-check", "answer_1b = ...", "no answer yet"),
    ("q1b-check", 'answer_1b = "2"', "whole number without quotes"),
    ("q2a-check", "", "no answer yet"),
    ("q2a-check", "answer_2a = 33", "from 0 to 1"),
    ("q2b-check", "answer_2b = True", "one number from 0 to 1"),
    ("q3a-check", "", "no answer yet"),
    ("q3a-check", "answer_3a = [1, 2]", "list of seven numbers"),
    ("q3a-check", "answer_3a = ['a'] * 7", "whole numbers without quotes"),
    ("q3b-check", "answer_3b = 2", "in square brackets"),
    ("q3b-check", "answer_3b = [7]", "whole number from 0 to 6"),
    ("q3c-check", "answer_3c = 3", "letter in quotes"),
    ("q3c-check", 'answer_3c = "A, B"', "exactly one"),
    ("q4a-check", "", "no answer yet"),
    ("q4a-check", 'answer_4a = ["lookup"]', "list of two names"),
    ("q4a-check", 'answer_4a = ["lookup", "tree"]', "lookup, model or layer"),
    ("q4b-check", 'answer_4b = "1"', "one number without quotes"),
    ("q4c-check", "", "no answer yet"),
    ("q4c-check", "answer_4c = [1]", "one number without quotes"),
    ("q5a-check", 'answer_5a = "two"', "one number without quotes"),
    ("q5b-check", "answer_5b = 2.0", "one whole number"),
    ("q6-check", "", "no function follow"),
    ("q6-check", follow("..."), "return two values, the nodes and the next token, not None"),
    ("q6-check", follow("return (1,), 2"), "have to be a list, not (1,)"),
    ("q6-check", follow("return [], 8"), "but give ([], 8)"),
    ("q7-check", "vote = 2", "no function vote"),
    ("q7-check", vote("..."), "return one token here, not None"),
    ("q7-check", vote("return 1"), "has to give 2, but gives 1"),
]
