"""Answers to the knowledge check of chapter 6, with the marks they must get. What the names mean is said in source.py."""

from textwrap import dedent, indent

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


def follow(body: str) -> str:
    return "def follow(tokens, parents, target):\n" + indent(dedent(body).strip(), "    ")


def vote(body: str) -> str:
    return "def vote(context, n_max):\n" + indent(dedent(body).strip(), "    ")


def copied(what: str = "ebc", count: object = 1) -> str:
    return f"answer_1a = list({what!r})\nanswer_1b = {count}"


def second(blind: object = "1 / 3", hears: object = "2 / 3") -> str:
    return f"answer_2a = {blind}\nanswer_2b = {hears}"


def nodes(places: object = (20, 20, 21, 21, 21, 22, 20), who: object = (2, 3, 5), letter: str = "C") -> str:
    return f"answer_3a = list({places})\nanswer_3b = list({who})\nanswer_3c = {letter!r}"


def rungs(first: str = "lookup", then: str = "layer", fastest: object = "2.2 / 1.45", silent: object = "1.2 / 1.05") -> str:
    return f"answer_4a = [{first!r}, {then!r}]\nanswer_4b = {fastest}\nanswer_4c = {silent}"


def size(brings: object = 2.22, best: object = 3) -> str:
    return f"answer_5a = {brings}\nanswer_5b = {best}"


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


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with these pieces in the place of others."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


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

LEARNERS = {
    "perfect": ({}, {}),
    # The best draft is the most accurate one, or the one that brings most, whatever it costs.
    "whatever_it_costs": (
        {"q4-answer": rungs("model", "model", 2.7, 1.2), "q5-answer": size(best=6)},
        {"q4a-check": 1, "q4b-check": 1, "q4c-check": 1, "q5b-check": 1},
    ),
    # A pass over a tree is a pass over a chain: who stands before me belongs to my text.
    "a_tree_is_a_chain": (
        {"q3-answer": nodes(range(20, 27), range(1, 7), "B"), "q6-answer": follow(A_CHAIN)},
        {"q3a-check": 1, "q3b-check": 1, "q3c-check": 1, "q6-check": 5},
    ),
    # What the target says may be kept, wherever it was drafted.
    "keeps_every_match": (
        {"q5-answer": size(2.5), "q6-answer": follow(EVERY_MATCH)},
        {"q5a-check": 1, "q6-check": 2},
    ),
    # The latest place counts, and one matching token is enough.
    "the_latest_token": (
        {
            "q1-answer": copied("fab", 1),
            "q7-answer": vote(
                "for i in range(len(context) - 2, -1, -1):\n    if context[i] == context[-1]:\n        return context[i + 1]"
            ),
        },
        {"q1a-check": 1, "q7-check": 3},
    ),
    # The heads are as good as their numbers, one by one.
    "independent_words": (
        {"q2-answer": second(0.5, 0.5), "q5-answer": size(2.5)},
        {"q2a-check": 1, "q2b-check": 1, "q5a-check": 1},
    ),
    # What the round emits for certain is not counted.
    "no_bonus": (
        {
            "q4-answer": rungs(fastest=1.2 / 1.45),
            "q5-answer": size(1.22, 4),
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
    ("q1-answer", 'answer_1a = "a b c d a b c e b c f a b c".split()[7:10]\nanswer_1b = 4 - 3'),
    ("q2-answer", second()),
    ("q2-answer", second(0.33, 0.67)),
    ("q3-answer", nodes()),
    ("q3-answer", nodes([20 + depth for depth in (0, 0, 1, 1, 1, 2, 0)], [5, 3, 2])),
    ("q4-answer", rungs()),
    ("q4-answer", rungs(fastest=1.52, silent=1.14)),
    ("q4-answer", rungs(fastest="2.2 / (5 / 4 + 1 / 5)", silent="6 / (1.25 + 4)")),
    ("q5-answer", size("1 + 0.6 + 0.3 + 0.2 + 0.12")),
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
    **{
        f"1a is {a or 'nothing'}": ("q1-answer", copied(a), {"q1a-check": 1})
        for a in ("dab", "fab", "ebcf", "e", "abc", "bcf", "", "cba", "bce")
    },
    **{f"1b is {b}": ("q1-answer", copied(count=b), {"q1b-check": 1}) for b in (0, 2, 3, 4, 5)},
    **{f"2a is {a}": ("q2-answer", second(blind=a), {"q2a-check": 1}) for a in (0.5, 0.2, 0.3, "2 / 3", 0.4, 0.6, 1)},
    **{f"2b is {b}": ("q2-answer", second(hears=b), {"q2b-check": 1}) for b in (0.4, "1 / 3", 0.5, 0.6, 1, 0.24, 0.2)},
    **{
        f"3a is {a}": ("q3-answer", nodes(places=a), {"q3a-check": 1})
        for a in (
            [20, 21, 22, 23, 24, 25, 26],
            [0, 0, 1, 1, 1, 2, 0],
            [19, 19, 20, 20, 20, 21, 19],
            [21, 21, 22, 22, 22, 23, 21],
            [20, 20, 22, 23, 21, 23, 20],
            [20, 20, 20, 20, 21, 23, 20],
            [20, 20, 21, 21, 21, 21, 20],
        )
    },
    **{
        f"3b is {b}": ("q3-answer", nodes(who=b), {"q3b-check": 1})
        for b in ([2, 3], [1, 2, 3, 4, 5, 6], [0, 2, 3, 5], [1, 6], [], [2, 3, 4, 5], [5])
    },
    **{f"3c is {letter}": ("q3-answer", nodes(letter=letter), {"q3c-check": 1}) for letter in "ABD"},
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
    **{
        f"4b is {b}": ("q4-answer", rungs(fastest=b), {"q4b-check": 1})
        for b in (2.2, "2.2 / 1.25", "2.7 / 2.05", "2.2 / 1.2", "1.45 / 2.2", "3.2 / 1.45", "1.2 / 1.45", 2.7)
    },
    **{
        f"4c is {c}": ("q4-answer", rungs(silent=c), {"q4c-check": 1})
        for c in ("1.2 / 1.25", 1.2, "0.2 * 2 / 1.25 + 0.8", "2 / 1.25", 1, "1.05 / 1.2", "(0.2 * 2) / 1.05")
    },
    **{f"5a is {a}": ("q5-answer", size(a), {"q5a-check": 1}) for a in (1.22, 2.5, 1.5, 2.2, 2.1, 2.32, 1.9, 2.36, 4)},
    **{f"5b is {b}": ("q5-answer", size(best=b), {"q5b-check": 1}) for b in (1, 2, 4, 5, 6)},
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
    "the tree is changed": ("q6-answer", follow(CHANGES_ITS_INPUT), {"q6-check": 4}),
    "the visible tree alone": ("q6-answer", follow("return [1], 2"), {"q6-check": 5}),
    "the latest place alone": ("q7-answer", vote(VOTE.replace("max(reversed(votes), key=votes.count)", "votes[-1]")), {"q7-check": 2}),
    "the oldest place alone": ("q7-answer", vote(VOTE.replace("max(reversed(votes), key=votes.count)", "votes[0]")), {"q7-check": 2}),
    "of several the oldest": ("q7-answer", vote(VOTE.replace("reversed(votes)", "votes")), {"q7-check": 1}),
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

# What feedback on a wrong answer must not say.
KEYS = {
    "q1a-check": r"\be\b",
    "q1b-check": r"\b1\b|\bone\b",
    "q2a-check": r"\.33|1 ?/ ?3|third",
    "q2b-check": r"\.6[67]|2 ?/ ?3|third",
    "q3a-check": r"\b2[0-2]\b",
    "q3b-check": r"\b[235]\b",
    "q3c-check": r"\bC\b",
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
