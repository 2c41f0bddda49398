"""Answers to the rehearsal of chapter 0, with the marks they must get; what the names mean is said in source.py."""

CHECKS = {"q1-check": 1, "q2-check": 1, "q3-check": 2}


def written(value: str) -> str:
    return f"def written(accepted):\n    return {value}"


MALFORMED = {"q1-answer": 'answer_1 = "28"', "q2-answer": 'answer_2 = "d"', "q3-answer": "written = 3"}

LEARNERS = {
    "perfect": ({}, {}),
    "no_token_of_its_own": ({"q1-answer": "answer_1 = n", "q3-answer": written("sum(accepted)")}, {"q1-check": 1, "q3-check": 2}),
    "passes_are_time": ({"q2-answer": 'answer_2 = "A"'}, {"q2-check": 1}),
    "one_more_at_the_end": ({"q3-answer": written("sum(accepted) + 1")}, {"q3-check": 2}),
    "a_round_needs_a_draft": ({"q3-answer": written("sum(a + 1 for a in accepted if a)")}, {"q3-check": 2}),
}

RIGHT = [
    ("q1-answer", "answer_1 = -(a - n)"),
    ("q1-answer", "answer_1 = len(range(a, n))"),
    ("q2-answer", "answer_2 = 'D'"),
    ("q3-answer", written("sum(accepted) + len(accepted)")),
    ("q3-answer", "def written(accepted):\n    total = 0\n    for a in accepted:\n        total += 1 + a\n    return total"),
    ("q3-answer", "written = lambda accepted: len(accepted) + sum(accepted)"),
]

WRONG = {
    "every_token_a_pass": ("q1-answer", "answer_1 = n", {"q1-check": 1}),
    "accepted_tokens_are_passes": ("q1-answer", "answer_1 = a", {"q1-check": 1}),
    "last_pass_forgotten": ("q1-answer", "answer_1 = n - a - 1", {"q1-check": 1}),
    "prompt_counted": ("q1-answer", "answer_1 = n - a + 1", {"q1-check": 1}),
    "accepted_on_top": ("q1-answer", "answer_1 = n + a", {"q1-check": 1}),
    "passes_are_time": ("q2-answer", 'answer_2 = "A"', {"q2-check": 1}),
    "reading_together_is_cheaper": ("q2-answer", 'answer_2 = "B"', {"q2-check": 1}),
    "tokens_are_time": ("q2-answer", 'answer_2 = "C"', {"q2-check": 1}),
    "several_letters": ("q2-answer", 'answer_2 = ["A", "D"]', {"q2-check": 1}),
    "none_of_its_own": ("q3-answer", written("sum(accepted)"), {"q3-check": 2}),
    "rounds_only": ("q3-answer", written("len(accepted)"), {"q3-check": 2}),
    "one_at_the_end": ("q3-answer", written("sum(accepted) + 1"), {"q3-check": 2}),
    "one_round_forgotten": ("q3-answer", written("sum(accepted) + len(accepted) - 1"), {"q3-check": 2}),
    "easy_case_only": ("q3-answer", written("3"), {"q3-check": 2}),
    "first_round_only": ("q3-answer", written("accepted[0] + 1"), {"q3-check": 2}),
    "rounds_with_nothing_write_nothing": ("q3-answer", written("sum(a + 1 for a in accepted if a)"), {"q3-check": 2}),
    "a_list_of_them": ("q3-answer", written("[a + 1 for a in accepted]"), {"q3-check": 2}),
    "prints_it": ("q3-answer", "def written(accepted):\n    print(sum(accepted) + len(accepted))", {"q3-check": 2}),
    "fails_without_rounds": ("q3-answer", written("(max(accepted) and 0) + sum(accepted) + len(accepted)"), {"q3-check": 1}),
    "the_longest_round": ("q3-answer", written("max(accepted) + 1"), {"q3-check": 2}),
}

NAMED = {
    "q2-check": {
        "A": "If the time fell by less than the passes did (it usually does), these parts say why.",
        "B": "which part had you taken for free?",
        "C": "checking several tokens costs so little more than writing one",
    }
}

KEYS = {"q1-check": r"\b28\b", "q2-check": r"\bD\b"}

FORMS = [
    ("q1-check", "answer_1 = ...", "no answer yet"),
    ("q1-check", "answer_1 = 28.5", "whole number"),
    ("q1-check", 'answer_1 = "28"', "whole number"),
    ("q2-check", "answer_2 = ...", "no answer yet"),
    ("q2-check", "answer_2 = 4", "letter in quotes"),
    ("q2-check", 'answer_2 = "d"', "capital letters"),
    ("q3-check", "written = ...", "no function written"),
    ("q3-check", written("2"), "writes 3 tokens"),
]
