"""The checks of chapter 7's first exercises, `rule_of_thumb` and `route`, and what they share with that of `recommend`."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import eq
from typing import Any

from specdec_lab.checks.numbers import number
from specdec_lab.checks.stages import Case, Finding, Stage, attempt, check, run_cases, shown
from specdec_lab.theory import recommend as package

Function = Callable[..., Any]
Draws = Callable[[random.Random], tuple[Any, ...]]
VERDICTS = ("enable", "skip", "benchmark", "bigger batch")


def verdict_of(answer: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(answer, str):
        raise Finding(f"The verdict is {answer!r}, but it is one of the words {', '.join(allowed)}, in quotes.")
    if answer not in allowed:
        hint = f" Write it as {answer.lower().strip()!r}." if answer.lower().strip() in allowed else ""
        raise Finding(f"The verdict {answer!r} is not known; it is one of {', '.join(allowed)}.{hint}")
    return answer


def parts_of(answer: Any, wanted: str, count: int) -> tuple[Any, ...]:
    if not isinstance(answer, (tuple, list)):
        raise Finding(f"It returns {answer!r}, but {wanted} are wanted, separated by commas.")
    if len(answer) < count:
        raise Finding(f"It returns {len(answer)} of the {count} things wanted: {wanted}.")
    return tuple(answer)


def k_of(answer: Any) -> int:
    k = number(answer)
    if not isinstance(k, int) or k < 0:
        raise Finding(f"k is {answer!r}, but it counts tokens to draft: a whole number, 0 or more.")
    return k


# --- rule_of_thumb(workload, temperature) ---

RULE_EXAMPLE = ("code", 0.1)
ENABLE, SKIP, BENCHMARK = ("enable", 5), ("skip", 0), ("benchmark", 3)
RULE_CASES = [
    Case(
        RULE_EXAMPLE,
        ENABLE,
        {BENCHMARK: "Code at 0.1 is predictable and cool: both conditions of the first line hold.", SKIP: "0.1 is not hot."},
        "Predictable, and not above 0.3: enable, and draft 5 at first.",
    ),
    Case(
        ("story", 1.0),
        SKIP,
        {
            ("skip", 3): "Where drafting is off, nothing is drafted: k is 0.",
            ("skip", 5): "Where drafting is off, nothing is drafted: k is 0.",
            BENCHMARK: "From 0.9 on the rule says skip, without a benchmark.",
            ENABLE: "A story is none of the predictable kinds, and 1.0 is hot.",
        },
        "0.9 or more: skip, and draft nothing.",
    ),
    Case(
        ("chat", 0.5),
        BENCHMARK,
        {
            SKIP: "0.5 is neither cool nor hot. Between the two lines the rule does not know, and says so.",
            ENABLE: "A chat is none of the predictable kinds.",
            ("benchmark", 5): "Where the rule is in doubt it begins with fewer tokens: 3.",
            ("benchmark", 0): "To benchmark something has to be drafted: begin with 3.",
        },
        "Neither of the other two: benchmark, from k = 3.",
    ),
    Case(
        ("code-completion", 0.1),
        ENABLE,
        {BENCHMARK: "Is the name compared as a whole? code-completion is a kind of code: look whether a kind is part of the name."},
        "A workload counts as predictable if one of the four words is part of its name.",
    ),
    Case(
        ("chat", 0.1),
        BENCHMARK,
        {ENABLE: "Being cool is not enough: a chat at 0.1 is none of the predictable kinds.", SKIP: "0.1 is not hot."},
        "Cool, but none of the predictable kinds: the rule is in doubt.",
    ),
    Case(
        ("code", 1.0),
        SKIP,
        {ENABLE: "Being code is not enough: at 1.0 it is hot.", BENCHMARK: "From 0.9 on the rule says skip, whatever the kind of text."},
        "Hot, whatever it is: skip.",
    ),
    Case(
        ("story", 0.0),
        BENCHMARK,
        {SKIP: "A story is not skipped for being a story: the second line of the rule looks at the temperature alone."},
        "Cool and not predictable: benchmark.",
    ),
    Case(("code", 0.3), ENABLE, {BENCHMARK: "Up to 0.3 counts as cool, 0.3 included."}, "0.3 itself is still cool."),
    Case(("chat", 0.9), SKIP, {BENCHMARK: "From 0.9 on counts as hot, 0.9 included."}, "0.9 itself is already hot."),
    Case(("code", 0.5), BENCHMARK, {ENABLE: "0.5 is above 0.3.", SKIP: "0.5 is below 0.9."}, "Predictable, and not cool: benchmark."),
    *(
        Case((kind, 0.0), ENABLE, {BENCHMARK: f"Of the four predictable kinds {kind} is missing."}, "code, json, structured, extraction")
        for kind in ("json", "extraction", "structured-output")
    ),
]


def _advice(answer: Any) -> tuple[str, int]:
    verdict, k = parts_of(answer, "a verdict and k", 2)[:2]
    return verdict_of(verdict, VERDICTS[:3]), k_of(k)


def returns(plain: Callable[[Any], Any], example: tuple[Any, ...]) -> Callable[[Function], None]:
    def test(function: Function) -> None:
        plain(attempt(function, example))

    return test


def right_on(cases: list[Case], plain: Callable[[Any], Any]) -> Callable[[Function], None]:
    return lambda function: run_cases(function, cases, plain)


def agrees(
    reference: Function, plain: Callable[[Any], Any], draws: Draws, same: Callable[[Any, Any], bool] = eq
) -> Callable[[Function], None]:
    def test(function: Function) -> None:
        rng = random.Random(0)
        for _ in range(200):
            given = draws(rng)
            right, answer = (plain(attempt(f, given)) for f in (reference, function))
            if not same(answer, right):
                raise Finding(f"On {shown(given)} it gives {answer}, but {right} is right.")

    return test


def _workload(rng: random.Random) -> tuple[Any, ...]:
    names = ("code-edit", "json", "extraction", "structured-output", "summary", "question-answering", "chat", "story")
    return rng.choice(names), round(rng.random() * 1.2, 1)


def check_rule_of_thumb(function: Function) -> Function:
    """Check the learner's `rule_of_thumb(workload, temperature)`."""
    stages = [
        Stage("shape", "it returns a verdict and k", returns(_advice, RULE_EXAMPLE)),
        Stage("mechanism", "each of the three lines, and their limits", right_on(RULE_CASES, _advice)),
        Stage("reference", "it agrees with the package's on 200 random workloads", agrees(package.rule_of_thumb, _advice, _workload)),
    ]
    return check(function, package.rule_of_thumb, stages, RULE_EXAMPLE)


# --- route(workload, temperature, goal) ---

ROUTE_EXAMPLE = ("code-completion", 0.1, "latency")
ROUTE_CASES = [
    Case(
        ROUTE_EXAMPLE,
        "enable",
        {
            "benchmark": "rule_of_thumb enables it; that verdict stands.",
            "bigger batch": "One text is wanted soon here; a bigger batch makes each of them wait longer.",
            "skip": "rule_of_thumb enables it; that verdict stands.",
        },
        "What the rule of thumb enables goes to speculation.",
    ),
    Case(
        ("code-completion", 0.1, "throughput"),
        "enable",
        {
            "bigger batch": "Is the goal asked first? What the rule of thumb enables goes to speculation, whatever the goal.",
            "benchmark": "What the rule of thumb enables goes to speculation, whatever the goal.",
        },
        "Predictable and cool comes first.",
    ),
    Case(
        ("creative-writing", 1.0, "throughput"),
        "bigger batch",
        {
            "skip": "That is the rule of thumb's word. Here is a way to use the machine instead: more texts at once.",
            "benchmark": "Where drafting is doubtful and many texts an hour are wanted, the texts themselves fill the machine.",
            "enable": "At temperature 1 nothing is enabled.",
        },
        "Not enabled, and throughput is the goal: a bigger batch.",
    ),
    Case(
        ("chat", 0.5, "throughput"),
        "bigger batch",
        {
            "benchmark": "Not only what is skipped: whatever is not enabled goes to a bigger batch if throughput is the goal.",
            "skip": "route never says skip.",
        },
        "Not enabled, and throughput is the goal: a bigger batch.",
    ),
    Case(
        ("creative-writing", 1.0, "latency"),
        "benchmark",
        {
            "skip": "Where one text is wanted soon there is nothing to put in the place of drafting, so the routing measures both ways.",
            "bigger batch": "The goal is latency here; a bigger batch makes each text wait longer.",
        },
        "Not enabled, and latency is the goal: benchmark both ways.",
    ),
    Case(
        ("chat", 0.5, "latency"),
        "benchmark",
        {"bigger batch": "The goal is latency here; a bigger batch makes each text wait longer.", "skip": "route never says skip."},
        "Not enabled, and latency is the goal: benchmark both ways.",
    ),
]


def _way(answer: Any) -> str:
    if isinstance(answer, (tuple, list)):
        raise Finding(f"It returns {answer!r}, but one verdict is wanted, without k: rule_of_thumb(...)[0] is the first of the two.")
    return verdict_of(answer, VERDICTS)


def check_route(function: Function) -> Function:
    """Check the learner's `route(workload, temperature, goal)`."""
    stages = [
        Stage("shape", "it returns a verdict", returns(_way, ROUTE_EXAMPLE)),
        Stage("mechanism", "what is enabled, then throughput, then the rest", right_on(ROUTE_CASES, _way)),
        Stage(
            "reference",
            "it agrees with the package's on 200 random workloads",
            agrees(package.route, _way, lambda rng: (*_workload(rng), rng.choice(("latency", "throughput")))),
        ),
    ]
    return check(function, package.route, stages, ROUTE_EXAMPLE)
