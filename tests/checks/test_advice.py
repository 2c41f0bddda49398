"""The checks of chapter 7: every wrong turn people take gets its own reason."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from specdec_lab.checks import check_recommend, check_route, check_rule_of_thumb
from specdec_lab.checks.diagnosis import CAUSES, check_diagnosis
from specdec_lab.theory import recommend as package
from specdec_lab.theory.closed_forms import optimal_k, speedup
from tests.theory.test_diagnosis import RUNS, a_run

KINDS = package.PREDICTABLE


def easy(workload):
    return any(kind in workload for kind in KINDS)


# --- rule_of_thumb ---


def rule(cool=lambda t: t <= 0.3, hot=lambda t: t >= 0.9, known=easy, yes=("enable", 5), no=("skip", 0), else_=("benchmark", 3)):
    return lambda workload, temperature: yes if known(workload) and cool(temperature) else no if hot(temperature) else else_


def name_decides(workload, temperature):
    return ("enable", 5) if easy(workload) else ("skip", 0) if workload == "story" else ("benchmark", 3)


def first_hot_code(workload, temperature):
    return ("enable", 5) if easy(workload) and temperature <= 1 else rule()(workload, temperature)


WRONG_RULE = {
    "names compared as a whole": (rule(known=lambda w: w in KINDS), "Is the name compared as a whole?"),
    "cool without 0.3": (rule(cool=lambda t: t < 0.3), "0.3 included"),
    "hot without 0.9": (rule(hot=lambda t: t > 0.9), "0.9 included"),
    "cool is enough": (rule(known=lambda w: True), "Being cool is not enough"),
    "code is enough": (rule(cool=lambda t: True), "Being code is not enough: at 1.0 it is hot"),
    "warm code": (rule(cool=lambda t: t <= 0.6), "0.5 is above 0.3"),
    "skips stories": (lambda w, t: ("skip", 0) if w == "story" else rule()(w, t), "not skipped for being a story"),
    "skips with k = 3": (rule(no=("skip", 3)), "Where drafting is off, nothing is drafted"),
    "begins with 5": (rule(else_=("benchmark", 5)), "begins with fewer tokens: 3"),
    "benchmarks nothing": (rule(else_=("benchmark", 0)), "To benchmark something has to be drafted"),
    "two verdicts only": (rule(hot=lambda t: True), "Between the two lines the rule does not know"),
    "never skips": (rule(hot=lambda t: False), "From 0.9 on the rule says skip, without a benchmark"),
    "no JSON": (rule(known=lambda w: "code" in w or "structured" in w or "extraction" in w), "kinds json is missing"),
    "in capitals": (rule(yes=("ENABLE", 5)), "Write it as 'enable'"),
    "maybe": (rule(yes=("maybe", 5)), "The verdict 'maybe' is not known"),
    "a sentence": (lambda w, t: "enable, k = 5", "a verdict and k are wanted, separated by commas"),
    "no k": (lambda w, t: ("enable",), "It returns 1 of the 2 things wanted"),
    "k first": (lambda w, t: (5, "enable"), "The verdict is 5, but it is one of the words"),
    "half a token": (rule(yes=("enable", 2.5)), "it counts tokens to draft"),
    "nothing predictable": (rule(known=lambda w: False), "both conditions of the first line hold"),
}

# --- route ---


def goal_first(workload, temperature, goal):
    return "bigger batch" if goal == "throughput" else package.route(workload, temperature, goal)


def no_goal(workload, temperature, goal):
    return package.rule_of_thumb(workload, temperature)[0]


def only_the_skipped(workload, temperature, goal):
    verdict, _ = package.rule_of_thumb(workload, temperature)
    return "bigger batch" if verdict == "skip" and goal == "throughput" else "enable" if verdict == "enable" else "benchmark"


def skips_for_latency(workload, temperature, goal):
    found = package.route(workload, temperature, goal)
    return "skip" if found == "benchmark" and temperature >= 0.9 else found


def always_batches(workload, temperature, goal):
    verdict, _ = package.rule_of_thumb(workload, temperature)
    return "enable" if verdict == "enable" else "bigger batch"


def swapped(workload, temperature, goal):
    return package.route(workload, temperature, "latency" if goal == "throughput" else "throughput")


WRONG_ROUTE = {
    "the goal first": (goal_first, "Is the goal asked first?"),
    "no goal": (no_goal, "That is the rule of thumb's word"),
    "only what is skipped": (only_the_skipped, "Not only what is skipped"),
    "skip for latency": (skips_for_latency, "nothing to put in the place of drafting"),
    "always a bigger batch": (always_batches, "a bigger batch makes each text wait longer"),
    "goals swapped": (swapped, "the texts themselves fill the machine"),
    "with k": (lambda *given: package.rule_of_thumb(*given[:2]), "one verdict is wanted, without k"),
    "the seed's word": (lambda *given: "speculative", "The verdict 'speculative' is not known"),
    "always benchmark": (lambda *given: "benchmark", "rule_of_thumb enables it; that verdict stands"),
    "always enable": (lambda *given: "enable", "At temperature 1 nothing is enabled"),
}

# --- recommend ---


def recommend(alpha, c, verify, overhead=0.0, error=0.0, k_max=8, goal="latency", *, price=None, width=2, own=True, plain=1.0,
              at=lambda alpha, high: alpha, shift=1, clip=True, tried=True, longest=None):  # fmt: skip
    """The package's, written out, with places to go wrong in."""
    price = price or (lambda k, v: v(k + shift))
    longest = longest or k_max
    edge = (lambda p: min(max(p, 0), 1)) if clip else (lambda p: p)

    def best(p):
        return int(optimal_k(p, c, longest, lambda n: price(n - 1, verify), overhead))

    def gain(k, p):
        return float(speedup(k, p, c, price(k, verify), overhead)) if k else plain

    low, high = edge(alpha - width * error), edge(alpha + width * error)
    k = best(alpha)
    if (best(low) > 0) if own else (k > 0 and gain(k, low) > 1):
        return "enable", k, gain(k, at(alpha, high))
    if best(high):
        k = (k or best(high)) if tried else k
        return "benchmark", k, gain(k, at(alpha, high))
    return ("bigger batch" if goal == "throughput" else "skip"), 0, gain(0, alpha)


def variant(**wrong):
    return lambda *given, **named: recommend(*given, **{**named, **wrong})


def never_longer(alpha, c, verify, overhead=0.0, error=0.0, k_max=8, goal="latency"):
    verdict = package.recommend(alpha, c, verify, overhead, error, k_max, goal).verdict
    return verdict, 0 if verdict == "skip" else 5, float(speedup(5, alpha, c, verify(6), overhead)) if verdict != "skip" else 1.0


def changed(change):
    """The package's answer, with something done to it: change(verdict, k, gain, arguments) -> the three."""

    def wrong(alpha, c, verify, overhead=0.0, error=0.0, k_max=8, goal="latency"):
        verdict, k, gain, _ = package.recommend(alpha, c, verify, overhead, error, k_max, goal)
        return change(verdict, k, gain, (alpha, c, verify, overhead, error, k_max, goal))

    return wrong


def at_another_k(choose):
    def change(verdict, k, gain, given):
        alpha, c, verify, overhead, *_ = given
        k = choose(given) if k else 0
        return verdict, k, float(speedup(k, alpha, c, verify(k + 1), overhead)) if k else gain

    return changed(change)


WRONG_RECOMMEND = {
    "flat passes": (variant(price=lambda k, v: 1.0), "verify was ignored: from 5 tokens on"),
    "flat passes in choosing k": (
        at_another_k(lambda g: int(optimal_k(g[0], g[1], g[5], overhead=g[3]))),
        "verify was ignored in choosing k",
    ),
    "verify(k)": (variant(shift=0), "It asks verify(k)"),
    "no overhead": (lambda a, c, v, o=0.0, *rest: recommend(a, c, v, 0.0, *rest), "overhead was ignored: each round pays"),
    "no overhead in k": (at_another_k(lambda g: int(optimal_k(g[0], g[1], g[5], g[2]))), "overhead was ignored in choosing k"),
    "no error": (lambda a, c, v, o=0.0, e=0.0, *rest: recommend(a, c, v, o, 0.0, *rest), "error was ignored"),
    "one error": (variant(width=1), "One standard error leaves out a third"),
    "no clipping": (variant(clip=False), "no probability is"),
    "one k for both edges": (variant(own=False), "an edge loses if no k wins there"),
    "k of the lower edge": (
        at_another_k(lambda g: int(optimal_k(max(g[0] - 2 * g[4], 0), g[1], g[5], g[2], g[3])) or recommend(*g)[1]),
        "That is the best k of the lower edge",
    ),
    "k of the upper edge": (
        at_another_k(lambda g: int(optimal_k(min(g[0] + 2 * g[4], 1), g[1], g[5], g[2], g[3]))),
        "best k of the upper edge",
    ),
    "benchmarks nothing": (variant(tried=False), "take the one of the upper edge"),
    "speedup of the upper edge": (
        changed(lambda v, k, s, g: (v, k, s if s >= 1 else float(speedup(k, 0.42, g[1], g[2](k + 1), g[3])))),
        "That is the speedup at the upper edge",
    ),
    "no speedup for skip": (variant(plain=0.0), "Plain decoding has speedup 1"),
    "skips with k = 1": (
        changed(lambda v, k, s, g: (v, 1, float(speedup(1, g[0], g[1], g[2](2), g[3]))) if v == "skip" else (v, k, s)),
        "Where drafting is off nothing is drafted",
    ),
    "always enables": (changed(lambda v, k, s, g: ("enable", k, s)), "That is no enable"),
    "no goal": (changed(lambda v, k, s, g: ("skip" if v == "bigger batch" else v, k, s)), "goal was ignored"),
    "the goal first": (
        changed(lambda v, k, s, g: ("bigger batch", 0, 1.0) if g[6] == "throughput" else (v, k, s)),
        "Is the goal asked first?",
    ),
    "batches what is in doubt": (
        changed(lambda v, k, s, g: ("bigger batch", 0, 1.0) if g[6] == "throughput" and v == "benchmark" else (v, k, s)),
        "A doubt is no loss",
    ),
    "no k_max": (lambda a, c, v, o=0.0, e=0.0, k_max=8, *rest: recommend(a, c, v, o, e, 8, *rest), "k_max was ignored"),
    "the rule's k": (never_longer, "5 is the rule of thumb's k"),
    "k_max": (at_another_k(lambda g: g[5]), "That is k_max"),
    "no speedup": (changed(lambda v, k, s, g: (v, k)), "It returns 2 of the 3 things wanted"),
    "speedup of plain decoding": (changed(lambda v, k, s, g: (v, k, 1.0)), "The third thing is the speedup predicted for this k"),
    "losers win": (changed(lambda v, k, s, g: ("skip" if v == "enable" else v, k, s)), "A speedup above 1 is a gain"),
    "never sure": (changed(lambda v, k, s, g: ("benchmark" if k else v, k, s)), "error is 0 here, so there is no doubt"),
    "sure of a skip in doubt": (
        changed(lambda v, k, s, g: ("skip", 0, 1.0) if v == "benchmark" else (v, k, s)),
        "Where the two edges disagree",
    ),
    "a text": (changed(lambda v, k, s, g: f"{v} {k} {s}"), "separated by commas"),
    "speedup as a word": (changed(lambda v, k, s, g: (v, k, f"{s:.2f}")), "one number is wanted"),
}

ALL = {
    check_rule_of_thumb: (package.rule_of_thumb, WRONG_RULE),
    check_route: (package.route, WRONG_ROUTE),
    check_recommend: (package.recommend, WRONG_RECOMMEND),
}
each_wrong = pytest.mark.parametrize(
    ("check", "name"), [(check, name) for check, (_, wrong) in ALL.items() for name in wrong], ids=lambda x: getattr(x, "__name__", x)
)


@each_wrong
def test_a_wrong_turn_gets_its_reason(check, name, capsys):
    reference, wrong = ALL[check]
    function, reason = wrong[name]
    assert check(function) is reference
    told = " ".join(capsys.readouterr().out.split())
    assert reason in told, told


def by_steps(workload, temperature):
    verdict, k = "benchmark", np.int64(3)
    if temperature >= 0.9:
        verdict, k = "skip", 0.0
    elif workload.startswith(("code", "json", "structured", "extraction")) and not temperature > 0.3:
        verdict, k = "enable", 5
    return [verdict, k]


def nested(workload, temperature, goal):
    if by_steps(workload, temperature)[0] == "enable":
        return "enable"
    return {"throughput": "bigger batch"}.get(goal, "benchmark")


def in_32_bits(*given, **named):
    verdict, k, gain = recommend(*given, **named)
    return [verdict, np.int32(k), np.float32(gain)]


def searched(alpha, c, verify, overhead=0.0, error=0.0, k_max=8, goal="latency"):
    def gains(p):
        found = {0: 1.0}
        for k in range(1, k_max + 1):
            found[k] = sum(p**i for i in range(k + 1)) / (verify(k + 1) + k * c + overhead)
        return found

    middle, low, high = (gains(min(1.0, max(0.0, alpha + d * error))) for d in (0, -2, 2))
    k = max(middle, key=middle.get)
    if max(low.values()) > 1:
        return "enable", k, middle[k]
    if max(high.values()) <= 1:
        return {"latency": "skip", "throughput": "bigger batch"}[goal], 0, 1
    return "benchmark", k or max(high, key=high.get), middle[k or max(high, key=high.get)]


@pytest.mark.parametrize(
    ("check", "function"),
    [
        (check_rule_of_thumb, by_steps),
        (check_route, nested),
        (check_recommend, recommend),
        (check_recommend, in_32_bits),
        (check_recommend, searched),
    ],
)
def test_a_right_answer_written_differently_passes(check, function, capsys):
    assert check(function) is function, capsys.readouterr().out


@pytest.mark.parametrize("check", ALL)
def test_the_stub_is_not_attempted(check, capsys):
    reference, _ = ALL[check]
    count = len(inspect.signature(reference).parameters)
    stubs = {2: lambda a, b: ..., 3: lambda a, b, c: ..., 7: lambda a, b, c, d=0.0, e=0.0, f=8, g="latency": ...}
    stub = stubs[count]
    assert check(stub) is reference
    assert "not attempted yet" in capsys.readouterr().out


# --- the diagnoses ---

SEEN = {
    "mismatch": RUNS["mismatch"],
    "temperature": RUNS["temperature"],
    "k too large": a_run(k=16, alpha=0.6, c=0.1, verify=1.6, usual=0.6, cool=0.6),
    "price": a_run(verify=4.0, usual=0.8, cool=0.8),
}


def said(capsys):
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("cause", CAUSES)
def test_a_right_diagnosis_is_told_why_and_what_to_do(cause, capsys):
    assert check_diagnosis("a", f" {cause.capitalize()} ", SEEN[cause])
    told = said(capsys)
    assert told.startswith("★ a: yes.") and "What to do:" in told


@pytest.mark.parametrize(("right", "answer"), [(r, a) for r in CAUSES[:3] for a in CAUSES if a != r])
def test_a_wrong_diagnosis_is_told_the_number_that_speaks_against_it(right, answer, capsys):
    run = SEEN[right]
    assert not check_diagnosis("b", answer, run)
    told = said(capsys)
    assert told.startswith("✗ b: ")
    assert f"{run.alpha:.2f}" in told or f"{run.cool:.2f}" in told


def test_nine_wrong_diagnoses_get_at_least_six_reasons(capsys):
    told = set()
    for right in CAUSES[:3]:
        for answer in CAUSES:
            if answer != right:
                check_diagnosis("b", answer, SEEN[right])
                told.add("".join(c for c in said(capsys) if not c.isdigit()))
    assert len(told) >= 6


def test_no_diagnosis_and_an_unknown_one(capsys):
    assert not check_diagnosis("c", "?", SEEN["mismatch"])
    assert "not diagnosed yet" in said(capsys)
    assert not check_diagnosis("c", "the weather", SEEN["mismatch"])
    assert "is none of the causes" in said(capsys)
