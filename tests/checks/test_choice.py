"""The check of `choose_setup`: every wrong turn gets its own reason."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from specdec_lab.checks import check_choose_setup
from specdec_lab.checks.choice import SITUATIONS, choose_setup, chosen
from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup
from specdec_lab.serving.vllm import speculative_config
from specdec_lab.theory.choice import Offer
from specdec_lab.theory.closed_forms import expected_tokens, optimal_k, speedup


def plain(target):
    return Setup(target, NoDrafter(), k=0)


def by(gain):
    """The best of all pairs by `gain(k, offer, verify)`, if it is above 1."""

    def choose(target, offers, verify, k_max=8):
        pairs = [(gain(k, offer, verify), offer.drafter, k) for offer in offers for k in range(1, k_max + 1)]
        most, drafter, k = max(pairs, key=lambda pair: pair[0], default=(0.0, None, 0))
        return Setup(target, drafter, k) if most > 1 else plain(target)

    return choose


def full(k, offer, verify):
    return float(speedup(k, offer.alpha, offer.c, verify(k + 1)))


right = by(full)


def of_one(pick):
    """The best k of one offer that `pick` chooses."""

    def choose(target, offers, verify, k_max=8):
        return right(target, [pick(offers)], verify, k_max) if offers else plain(target)

    return choose


def the_last_that_helps(target, offers, verify, k_max=8):
    best = plain(target)
    for offer in offers:
        if (k := int(optimal_k(offer.alpha, offer.c, k_max, verify))) > 0:
            best = Setup(target, offer.drafter, k)
    return best


def never_plain(target, offers, verify, k_max=8):
    if not offers:
        return plain(target)
    k, offer = max(((k, offer) for offer in offers for k in range(1, k_max + 1)), key=lambda pair: full(*pair, verify))
    return Setup(target, offer.drafter, k)


def alpha_above_c(target, offers, verify, k_max=8):
    some = [offer for offer in offers if offer.alpha > offer.c > 0] or [offer for offer in offers if offer.alpha > offer.c]
    return never_plain(target, some, verify, k_max) if right(target, offers, verify, k_max).k == 0 else right(target, offers, verify, k_max)


def until_it_falls(target, offers, verify, k_max=8):
    best, most = plain(target), 1.0
    for offer in offers:
        before = 0.0
        for k in range(1, k_max + 1):
            gain = full(k, offer, verify)
            if gain < before:
                break
            before = gain
            if gain > most:
                best, most = Setup(target, offer.drafter, k), gain
    return best


def below_k_max(target, offers, verify, k_max=8):
    return right(target, offers, verify, k_max - 1)


def beyond_k_max(target, offers, verify, k_max=8):
    return right(target, offers, verify, 31)


def fails_on_nothing(target, offers, verify, k_max=8):
    max(offers, key=lambda offer: offer.alpha)
    return right(target, offers, verify, k_max)


def a_drafter_at_k_0(target, offers, verify, k_max=8):
    found = right(target, offers, verify, k_max)
    return found if found.k or not offers else Setup(target, offers[0].drafter, k=0)


def no_drafter_at_5(target, offers, verify, k_max=8):
    found = right(target, offers, verify, k_max)
    return found if found.k else Setup(target, NoDrafter())


def default_k(target, offers, verify, k_max=8):
    found = right(target, offers, verify, k_max)
    return Setup(target, found.drafter) if found.k else found


def an_index(target, offers, verify, k_max=8):
    found = right(target, offers, verify, k_max)
    return replace(found, k=found.k - 1) if found.k > 1 else found


def eats_the_offers(target, offers, verify, k_max=8):
    found = right(target, offers, verify, k_max)
    offers.clear()
    return found


def right_for_short_drafts(target, offers, verify, k_max=8):
    return right(target, offers, verify, min(k_max, 8))


WRONG = {
    "returns the mapping": (lambda t, o, v, k_max=8: speculative_config(right(t, o, v, k_max)), "It returns a mapping"),
    "returns a pair": (lambda t, o, v, k_max=8: (o[0].drafter, 3), "several things"),
    "returns the drafter": (lambda t, o, v, k_max=8: o[0].drafter, "It returns a drafter"),
    "returns the offer": (lambda t, o, v, k_max=8: o[0], "It returns an offer"),
    "returns k": (lambda t, o, v, k_max=8: 3, "It returns 3, but a set-up is wanted"),
    "returns a generator": (lambda t, o, v, k_max=8: (x for x in o), "of type generator"),
    "another target": (lambda t, o, v, k_max=8: right("SmolLM2", o, v, k_max), "hand on what the function is given"),
    "another drafter": (lambda t, o, v, k_max=8: Setup(t, Ngram(2, 3), 3), "was not on offer"),
    "the longest draft": (by(lambda k, o, v: float(expected_tokens(k, o.alpha))), "longest draft allowed"),
    "the pass costs one step": (by(lambda k, o, v: float(speedup(k, o.alpha, o.c))), "the best k if every pass costs one step"),
    "k as it comes": (default_k, "k = 5 is what Setup takes"),
    "drafting for nothing": (by(lambda k, o, v: float(speedup(k, o.alpha, 0.0, v(k + 1)))), "a draft that costs nothing"),
    "a pass over k": (by(lambda k, o, v: float(speedup(k, o.alpha, o.c, v(k)))), "Is verify(k) asked?"),
    "an index for a k": (an_index, "an index, from 0"),
    "one guess": (lambda t, o, v, k_max=8: right(t, o, v, 1), "One guess is not the best here"),
    "always plain": (lambda t, o, v, k_max=8: plain(t), "A speedup above 1 is on offer"),
    "the most accurate": (of_one(lambda offers: max(offers, key=lambda o: o.alpha)), "That is the most accurate draft"),
    "the cheapest": (of_one(lambda offers: min(offers, key=lambda o: o.c)), "That is the cheapest draft"),
    "the last that helps": (the_last_that_helps, "That is the cheapest draft, or the last one"),
    "the first": (of_one(lambda offers: offers[0]), "That is the most accurate draft"),
    "a pass over k + 2": (by(lambda k, o, v: float(speedup(k, o.alpha, o.c, v(k + 2)))), "verify(k + 1), not more"),
    "until it falls": (until_it_falls, "Prices have bumps; look at every k"),
    "below k_max": (below_k_max, "4 is one of the k to be tried"),
    "beyond k_max": (beyond_k_max, "is beyond k_max"),
    "never plain": (never_plain, "the least bad of them"),
    "alpha above c": (alpha_above_c, "Its alpha is above its c"),
    "a drafter at k = 0": (a_drafter_at_k_0, "has to propose at least one token"),
    "no drafter at k = 5": (no_drafter_at_5, "there is no drafter"),
    "fails on nothing": (fails_on_nothing, "The list may be empty"),
    "verify not called": (by(lambda k, o, v: float(speedup(k, o.alpha, o.c, v))), "verify is a function: call it"),
    "eats its input": (eats_the_offers, "It changes its input"),
    "one argument too few": (lambda t, o: plain(t), "Keep the stub's arguments"),
    "right for short drafts": (right_for_short_drafts, "is right."),
}


def with_optimal_k(target, offers, verify, k_max=8):
    found = [(offer, int(optimal_k(offer.alpha, offer.c, k_max, verify))) for offer in offers]
    found = [(full(k, offer, verify), offer.drafter, k) for offer, k in found if k]
    return Setup(target, *max(found, key=lambda one: one[0])[1:]) if found else Setup(target, NoDrafter(), 0)


def with_plain_in_the_race(target, offers, verify, k_max=8):
    race = {(NoDrafter(), 0): 1.0}
    for offer in offers:
        for k in range(1, k_max + 1):
            race[offer.drafter, k] = (1 - offer.alpha ** (k + 1)) / (1 - offer.alpha) / (verify(k + 1) + k * offer.c)
    drafter, k = max(race, key=race.get)
    return Setup(target, drafter, k=k)


def from_the_longest_down(target, offers, verify, k_max=8):
    best, most = plain(target), 1 + 1e-12
    for k in range(k_max, 0, -1):
        for offer in reversed(offers):
            if full(k, offer, verify) > most:
                most, best = full(k, offer, verify), replace(best, drafter=offer.drafter, k=k)
    return best


RIGHT = [right, with_optimal_k, with_plain_in_the_race, from_the_longest_down]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_turn_gets_its_reason(name, capsys):
    attempt, reason = WRONG[name]
    assert check_choose_setup(attempt) is choose_setup
    said = " ".join(capsys.readouterr().out.split())
    assert reason in said, said
    assert "The chapter goes on with the package's own choose_setup" in said


@pytest.mark.parametrize("attempt", RIGHT, ids=lambda attempt: attempt.__name__)
def test_right_in_another_way(attempt, capsys):
    assert check_choose_setup(attempt) is attempt
    assert "★" in capsys.readouterr().out


def test_the_stub_is_not_attempted(capsys):
    def stub(target, offers, verify, k_max=8):
        """Not written yet."""
        ...  # your code here

    assert check_choose_setup(stub) is choose_setup
    assert "not attempted yet" in capsys.readouterr().out


def test_the_packages_own_is_recognised(capsys):
    assert check_choose_setup(choose_setup) is choose_setup
    assert "package's own function" in capsys.readouterr().out


def test_each_foreseen_wrong_choice_is_wrong():
    for situation in SITUATIONS:
        assert chosen(choose_setup(*situation.arguments)) not in situation.wrong, situation


def test_it_chooses_by_hand():
    small = Offer(DraftModel("d"), 0.8, 0.1)
    assert choose_setup("m", [small], lambda n: 1.0) == Setup("m", DraftModel("d"), k=6), "chapter 4's 2.47 at k = 6"
    assert choose_setup("m", [small], lambda n: 1.0, 3).k == 3
    assert choose_setup("m", [], lambda n: 1.0) == choose_setup("m", [Offer(Ngram(), 0.1, 0.0)], lambda n: n) == plain("m")
    assert list(inspect.signature(choose_setup).parameters) == ["target", "offers", "verify", "k_max"]
