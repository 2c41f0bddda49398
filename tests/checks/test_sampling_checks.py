"""The checks of chapter 3: every wrong turn people take gets its own reason, and every right style passes."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from specdec_lab import verify
from specdec_lab.checks import check_residual, check_verify_sampling
from specdec_lab.verify import residual


def above(p, q):
    return (p - q).clamp(min=0)


# --- residual: wrong ---


def not_renormalised(p, q):
    return above(p, q)


def not_cut_off(p, q):
    return p - q


def absolute(p, q):
    return (p - q).abs() / (p - q).abs().sum()


def wrong_way_round(p, q):
    return residual(q, p)


def what_was_accepted(p, q):
    return torch.minimum(p, q) / torch.minimum(p, q).sum()


def p_itself(p, q):
    return p


def the_drafts_law(p, q):
    return q


def with_softmax(p, q):
    return (p - q).softmax(-1)


def over_the_largest(p, q):
    return above(p, q) / above(p, q).max()


def zero_by_zero(p, q):
    return above(p, q) / above(p, q).sum()


def with_a_small_number(p, q):
    return above(p, q) / (above(p, q).sum() + 1e-12)


def uniform_where_empty(p, q):
    return residual(p, q) if above(p, q).sum() > 0 else torch.full_like(p, 1 / len(p))


def careless_threshold(p, q):
    return residual(p, q) if above(p, q).sum() > 1e-6 else p


def equal_laws_only(p, q):
    return p if (p == q).all() else zero_by_zero(p, q)


def zeros_for_one_step(p, q):
    return p if (p == q).all() else with_a_small_number(p, q) if p.dtype == torch.float32 else residual(p, q)


def wrong_way_round_unscaled(p, q):
    return above(q, p)


def absolute_unscaled(p, q):
    return (p - q).abs()


def cut_off_then_softmax(p, q):
    return above(p, q).softmax(-1)


def all_of_p_where_it_is_above(p, q):
    return torch.where(p > q, p, 0.0) / torch.where(p > q, p, 0.0).sum()


def all_of_p_unscaled(p, q):
    return torch.where(p > q, p, 0.0)


def all_on_one(p, q):
    return torch.nn.functional.one_hot((p - q).argmax(), len(p)).to(p)


def relative(p, q):
    return p / q - 1


def relative_as_a_law(p, q):
    return (p / q - 1).clamp(min=0) / (p / q - 1).clamp(min=0).sum()


def not_cut_off_but_scaled(p, q):
    return (p - q) / (p - q).abs().sum()


def as_a_list(p, q):
    return residual(p, q).tolist()


def a_single_number(p, q):
    return above(p, q).sum()


def changes_p(p, q):
    p -= q
    return p.clamp(min=0) / p.clamp(min=0).sum()


def right_unless_disjoint(p, q):
    return residual(p, q) if torch.minimum(p, q).sum() > 0 else p.flip(0)


WRONG_RESIDUAL = {
    not_renormalised: "divide by its sum",
    not_cut_off: "p - q is negative",
    absolute: "the absolute value",
    wrong_way_round: "what q has above p",
    what_was_accepted: "accepted already",
    p_itself: "That is p itself",
    the_drafts_law: "the draft's law",
    with_softmax: "A softmax",
    over_the_largest: "its largest entry",
    zero_by_zero: "divides 0 by 0",
    with_a_small_number: "it gives zeros",
    uniform_where_empty: "p itself is the answer",
    careless_threshold: "a small residual is a residual",
    equal_laws_only: "Ask whether the sum is 0, not whether p equals q",
    zeros_for_one_step: "differ by one rounding step, and nothing of p is above q: return p",
    wrong_way_round_unscaled: "what q has above p. The tokens the draft says too seldom are missing: p - q. And divide by the sum",
    absolute_unscaled: "Cut off at 0. And divide by the sum",
    cut_off_then_softmax: "and then a softmax",
    all_of_p_where_it_is_above: "all of p where p is above q",
    all_of_p_unscaled: "only p - q is left. And divide by the sum",
    all_on_one: "everything on one token",
    relative: "That is p / q - 1",
    relative_as_a_law: "a difference, not a ratio",
    not_cut_off_but_scaled: "so put 0",
    as_a_list: "a tensor is wanted",
    a_single_number: "a probability for each token",
    changes_p: "changes its input",
    right_unless_disjoint: "is right",
}


# --- verify_sampling: wrong ---


def rule(accepts=None, correction=None, bonus=None, goes_on=False):
    """The right rule with one part exchanged."""
    accepts = accepts or (lambda p, q, i, x, rng: rng.uniform() < float(p[i, x] / q[i, x]))
    correction = correction or (lambda p, q, i, x, rng: rng.draw(residual(p[i], q[i])))
    bonus = bonus or (lambda p, q, draft, rng: rng.draw(p[len(draft)]))

    def verify_sampling(p, q, draft, rng):
        for i, x in enumerate(draft.tolist()):
            if not accepts(p, q, i, x, rng):
                return i, correction(p, q, i, x, rng)
        return len(draft), bonus(p, q, draft, rng)

    return verify_sampling


def one_uniform(p, q, draft, rng):
    u = rng.uniform()
    return rule(lambda p, q, i, x, rng: u < float(p[i, x] / q[i, x]))(p, q, draft, rng)


def goes_on_after_a_rejection(p, q, draft, rng):
    stands = [rng.uniform() < float(p[i, x] / q[i, x]) for i, x in enumerate(draft.tolist())]
    accepted = sum(stands)
    last = p[accepted] if accepted == len(draft) else residual(p[accepted], q[accepted])
    return accepted, rng.draw(last)


def draw_and_compare(p, q, draft, rng):
    for i, x in enumerate(draft.tolist()):
        own = rng.draw(p[i])
        if own != x:
            return i, own
    return len(draft), rng.draw(p[len(draft)])


def swapped(p, q, draft, rng):
    return verify.verify_sampling(p, q, draft, rng)[::-1]


def counts_its_own_token(p, q, draft, rng):
    accepted, token = verify.verify_sampling(p, q, draft, rng)
    return accepted + 1, token


def stops_one_short(p, q, draft, rng):
    accepted, token = verify.verify_sampling(p, q, draft, rng)
    return (accepted - 1, int(draft[-1])) if accepted == len(draft) > 0 else (accepted, token)


def returns_the_run(p, q, draft, rng):
    accepted, token = verify.verify_sampling(p, q, draft, rng)
    return [*draft[:accepted].tolist(), token]


def fails_on_an_empty_draft(p, q, draft, rng):
    assert q[0].sum() > 0
    return verify.verify_sampling(p, q, draft, rng)


def right_on_short_drafts_only(p, q, draft, rng):
    accepted, token = verify.verify_sampling(p, q, draft, rng)
    return min(accepted, 2), token


def no_law_behind_three(p, q, draft, rng):
    return rule(bonus=lambda p, q, draft, rng: rng.draw(p[len(draft)] * (0.999 if len(draft) == 3 else 1)))(p, q, draft, rng)


def logarithms(p, q, draft, rng):
    return rule(lambda p, q, i, x, rng: np.log(float(rng.uniform()) + 1e-300) < float((p[i, x] / q[i, x]).log()))(p, q, draft, rng)


def last_one_untested(p, q, draft, rng):
    for i in range(len(draft) - 1):
        if not rng.uniform() < float(p[i, draft[i]] / q[i, draft[i]]):
            return i, rng.draw(residual(p[i], q[i]))
    return len(draft), rng.draw(p[len(draft)])


def last_one_untested_and_not_counted(p, q, draft, rng):
    accepted, token = verify.verify_sampling(p[: len(draft)], q[:-1], draft[:-1], rng) if len(draft) else (0, rng.draw(p[0]))
    return accepted, token


def unguarded(p, q, draft, rng):
    return rule(correction=lambda p, q, i, x, rng: rng.draw(zero_by_zero(p[i], q[i])))(p, q, draft, rng)


def guarded_by_equality(p, q, draft, rng):
    return rule(correction=lambda p, q, i, x, rng: rng.draw(zeros_for_one_step(p[i], q[i])))(p, q, draft, rng)


def without_x(p, q, i, x, rng):
    rest = p[i].clone()
    rest[x] = 0
    return rng.draw(rest / rest.sum())


def coin(p, q, i, x, rng):
    r = min(1.0, float(p[i, x] / q[i, x]))
    return rng.draw(torch.tensor([r, 1 - r], dtype=torch.float64)) == 0


def late(q, i):
    return q[min(i + 1, len(q) - 1)]


COIN = rule(coin)
ABOVE_ONE_LESS = rule(lambda p, q, i, x, rng: rng.uniform() > 1 - float(p[i, x] / q[i, x]))
ONE_LESS_U = rule(lambda p, q, i, x, rng: 1 - rng.uniform() < float(p[i, x] / q[i, x]))
DIFFERENCE = rule(lambda p, q, i, x, rng: rng.uniform() * q[i, x] - p[i, x] < 0)
CONVERTED = rule(lambda p, q, i, x, rng: float(rng.uniform()) < float(p[i, x] / q[i, x]))
NEGATIVE = rule(lambda p, q, i, x, rng: rng.uniform() * -q[i, x] > -p[i, x])
BY_PLACE = rule(lambda p, q, i, x, rng: rng.uniform() < float(p[i, i] / q[i, i]))
AVERAGE = rule(lambda p, q, i, x, rng: rng.uniform() < float(torch.minimum(p[i], q[i]).sum()))
WITHOUT_X = rule(correction=without_x)
UNCUT = rule(correction=lambda p, q, i, x, rng: rng.draw(p[i] - q[i]))
LATE_Q = rule(
    lambda p, q, i, x, rng: rng.uniform() < float(p[i, x] / late(q, i)[x]),
    lambda p, q, i, x, rng: rng.draw(residual(p[i], late(q, i))),
)
LATE_Q_IN_THE_TEST = rule(lambda p, q, i, x, rng: rng.uniform() < float(p[i, x] / late(q, i)[x]))
Q_TOO_FAR = rule(lambda p, q, i, x, rng: rng.uniform() < float(p[i, x] / q[i + 1, x]))
MULTINOMIAL = rule(correction=lambda p, q, i, x, rng: int(torch.multinomial(residual(p[i], q[i]), 1)))
OF_TORCH = rule(lambda p, q, i, x, rng: torch.rand(()) < p[i, x] / q[i, x])
OF_PYTHON = rule(lambda p, q, i, x, rng: random.random() < p[i, x] / q[i, x])
OF_NUMPY = rule(lambda p, q, i, x, rng: np.random.rand() < float(p[i, x] / q[i, x]))
OF_ITS_OWN = rule(lambda p, q, i, x, rng: np.random.default_rng().random() < float(p[i, x] / q[i, x]))
UNNORMALISED = rule(correction=lambda p, q, i, x, rng: rng.draw(above(p[i], q[i])))
FROM_P = rule(correction=lambda p, q, i, x, rng: rng.draw(p[i]))
FROM_Q = rule(correction=lambda p, q, i, x, rng: rng.draw(q[i]))
TURNED = rule(correction=lambda p, q, i, x, rng: rng.draw(residual(q[i], p[i])))
FIRST_RESIDUAL = rule(correction=lambda p, q, i, x, rng: rng.draw(residual(p[0], q[0])))
P_ONE_LATE = rule(correction=lambda p, q, i, x, rng: rng.draw(residual(p[i + 1], q[i])))
FROM_NEXT_P = rule(correction=lambda p, q, i, x, rng: rng.draw(p[i + 1]))
DRAFTS_TOKEN = rule(correction=lambda p, q, i, x, rng: x)
DRAWN_BUT_NOT_RETURNED = rule(correction=lambda p, q, i, x, rng: (rng.draw(residual(p[i], q[i])), x)[1])
LIKELIEST = rule(bonus=lambda p, q, draft, rng: int(p[len(draft)].argmax()))
LAST_P = rule(bonus=lambda p, q, draft, rng: rng.draw(p[max(len(draft) - 1, 0)]))
NO_BONUS = rule(bonus=lambda p, q, draft, rng: None)
UPSIDE_DOWN = rule(lambda p, q, i, x, rng: rng.uniform() < float(q[i, x] / p[i, x]) if p[i, x] > 0 else True)
P_ABOVE_Q = rule(lambda p, q, i, x, rng: p[i, x] >= q[i, x])
ONLY_P = rule(lambda p, q, i, x, rng: rng.uniform() < float(p[i, x]))
ONLY_Q = rule(lambda p, q, i, x, rng: rng.uniform() < float(q[i, x]))
REJECTS = rule(lambda p, q, i, x, rng: rng.uniform() > float(p[i, x] / q[i, x]))
MINIMUM = rule(lambda p, q, i, x, rng: rng.uniform() < float(min(p[i, x], q[i, x])))
EVERYTHING = rule(lambda p, q, i, x, rng: True)
LATE_ROW = rule(lambda p, q, i, x, rng: rng.uniform() < float(p[i + 1, x] / q[i, x]))
WITH_EQUAL = rule(lambda p, q, i, x, rng: rng.uniform() <= float(p[i, x] / q[i, x]))

WRONG_VERIFY = {
    "swapped": (swapped, "wrong order"),
    "the run": (returns_the_run, "two whole numbers are wanted"),
    "counts its own": (counts_its_own_token, "drafted tokens only"),
    "multinomial": (MULTINOMIAL, "torch.rand or torch.multinomial"),
    "torch.rand": (OF_TORCH, "torch.rand or torch.multinomial"),
    "random": (OF_PYTHON, "Python's random"),
    "numpy": (OF_NUMPY, "numpy.random"),
    "a generator of its own": (OF_ITS_OWN, "Where does the other chance come from?"),
    "draw and compare": (draw_and_compare, "only sum pq"),
    "upside down": (UPSIDE_DOWN, "upside down"),
    "p >= q": (P_ABOVE_Q, "just where p >= q"),
    "p alone": (ONLY_P, "drawn with probability q already"),
    "q alone": (ONLY_Q, "the target has no say"),
    "rejects": (REJECTS, "accepts where it should reject"),
    "min": (MINIMUM, "is how often a token is drawn and stands"),
    "everything": (EVERYTHING, "the draft writes the text"),
    "late row": (LATE_ROW, "p one row late"),
    "<=": (WITH_EQUAL, "not with <="),
    "one uniform": (one_uniform, "a fresh one"),
    "goes on": (goes_on_after_a_rejection, "The first rejection ends the round"),
    "one short": (stops_one_short, "the bonus comes on top"),
    "no bonus": (NO_BONUS, ": the bonus"),
    "last p": (LAST_P, "p of the last drafted token's place"),
    "likeliest": (LIKELIEST, "taken the likeliest one"),
    "unnormalised": (UNNORMALISED, "not renormalised: it sums to 0.3"),
    "from p": (FROM_P, "That is p[0]"),
    "from q": (FROM_Q, "the draft's law, just rejected"),
    "turned": (TURNED, "wrong way round"),
    "first residual": (FIRST_RESIDUAL, "the residual of position 0"),
    "p one late": (P_ONE_LATE, "Its p is one row late"),
    "next p": (FROM_NEXT_P, "the place behind the rejected token"),
    "draft's token": (DRAFTS_TOKEN, "1 is the draft's token"),
    "drawn, not returned": (DRAWN_BUT_NOT_RETURNED, "Return what rng.draw gave"),
    "empty draft": (fails_on_an_empty_draft, "An empty draft is a plain step"),
    "short only": (right_on_short_drafts_only, "is right"),
    "not a law": (no_law_behind_three, "not to 1"),
    "logarithms": (logarithms, "compare the uniform itself"),
    "unguarded": (unguarded, "Ask whether the sum is 0, not whether p equals q. Then draw from p"),
    "guarded by equality": (guarded_by_equality, "Nothing of p is above q there"),
    "last untested": (last_one_untested, "is the last drafted token tested?"),
    "last untested, not counted": (last_one_untested_and_not_counted, "is the last drafted token tested?"),
    "coin": (COIN, "The coin is right"),
    "above 1 - r": (ABOVE_ONE_LESS, "a small uniform has to accept"),
    "1 - u": (ONE_LESS_U, "has to accept"),
    "difference": (DIFFERENCE, "compare the uniform itself"),
    "converted": (CONVERTED, "compare the uniform itself"),
    "negative": (NEGATIVE, "turns comparisons round"),
    "p[i, i]": (BY_PLACE, "It looks at p[i, i]"),
    "average": (AVERAGE, "is the average over the tokens"),
    "p without x": (WITHOUT_X, "p without the rejected token"),
    "uncut": (UNCUT, "p - q is negative where q is above p"),
    "late q": (LATE_Q, "Its q is of another row"),
    "late q in the test": (LATE_Q_IN_THE_TEST, "Row i of p and row i of q"),
    "q too far": (Q_TOO_FAR, "q has k; row i of both"),
}


@pytest.mark.parametrize("attempt", WRONG_RESIDUAL, ids=lambda attempt: attempt.__name__)
def test_a_wrong_residual_gets_its_reason(attempt, capsys):
    assert check_residual(attempt) is verify.residual
    printed = " ".join(capsys.readouterr().out.split())
    assert WRONG_RESIDUAL[attempt] in printed and "✗" in printed and "★" not in printed


@pytest.mark.parametrize("name", WRONG_VERIFY)
def test_a_wrong_verifier_gets_its_reason(name, capsys):
    attempt, reason = WRONG_VERIFY[name]
    assert check_verify_sampling(attempt) is verify.verify_sampling
    printed = " ".join(capsys.readouterr().out.split())
    assert reason in printed and "✗" in printed and "★" not in printed


def test_the_reasons_differ(capsys):
    def said(check, attempt):
        check(attempt)
        return capsys.readouterr().out

    assert len({said(check_residual, attempt) for attempt in WRONG_RESIDUAL}) == len(WRONG_RESIDUAL)
    # Three pairs are told the same: two draw from torch's global generator, two convert the uniform, two turn it round.
    assert len({said(check_verify_sampling, attempt) for attempt, _ in WRONG_VERIFY.values()}) == len(WRONG_VERIFY) - 3


# --- not attempted ---


def test_stubs_go_on_with_the_packages_own(capsys):
    def residual(p, q): ...

    def verify_sampling(p, q, draft, rng): ...

    assert check_residual(residual) is verify.residual
    assert check_verify_sampling(verify_sampling) is verify.verify_sampling
    assert capsys.readouterr().out.count("not attempted yet") == 2


def test_a_second_run_does_not_praise_the_packages_own(capsys):
    check_residual(check_residual(p_itself))
    check_verify_sampling(check_verify_sampling(FROM_P))
    assert "★" not in capsys.readouterr().out


# --- right, in other styles ---


def with_a_loop(p, q):
    rest = [max(float(a - b), 0.0) for a, b in zip(p, q, strict=True)]
    total = sum(rest)
    return torch.tensor([x / total for x in rest]) if total else p


def with_numpy(p, q):
    rest = np.maximum(p.numpy() - q.numpy(), 0)
    return torch.from_numpy(rest / rest.sum()) if rest.any() else p.clone()


def with_where(p, q):
    rest = torch.where(p > q, p - q, torch.zeros_like(p))
    return p if rest.sum() == 0 else torch.nn.functional.normalize(rest, p=1, dim=0)


def less_the_minimum(p, q):
    rest = p - torch.minimum(p, q)
    return rest / rest.sum() if rest.sum() > 0 else p


@pytest.mark.parametrize("right", [with_a_loop, with_numpy, with_where, less_the_minimum])
def test_any_right_residual_is_the_one_that_runs(right, capsys):
    assert check_residual(right) is right
    assert capsys.readouterr().out.count("✓") == 4


def with_while(p, q, draft, rng):
    i = 0
    while i < len(draft) and rng.uniform() < min(1, p[i, draft[i]] / q[i, draft[i]]):
        i += 1
    law = p[i] if i == len(draft) else residual(p[i], q[i])
    return i, rng.draw(law)


def recursive(p, q, draft, rng):
    if len(draft) == 0:
        return 0, rng.draw(p[0])
    if rng.uniform() >= p[0][draft[0]] / q[0][draft[0]]:
        return torch.tensor(0), rng.draw(residual(p[0], q[0]))
    accepted, token = recursive(p[1:], q[1:], draft[1:], rng)
    return accepted + 1, token


def uniforms_first(p, q, draft, rng):
    u = [rng.uniform() for _ in draft]
    for i, x in enumerate(draft):
        if u[i] > (p[i][x] / q[i][x]).item():
            return i, rng.draw(with_a_loop(p[i], q[i]))
        if p[i][x] == 0:
            return i, rng.draw(with_a_loop(p[i], q[i]))
    return len(draft), rng.draw(p[-1])


def without_dividing(p, q, draft, rng):
    for i, x in enumerate(draft.tolist()):
        if p[i, x] > q[i, x] * rng.uniform():
            continue
        return i, rng.draw(residual(p[i], q[i]))
    return len(draft), rng.draw(p[len(draft)])


def tensor_on_the_left(p, q, draft, rng):
    k = draft.shape[0]
    ratio = p[:k].gather(1, draft[:, None])[:, 0] / q.gather(1, draft[:, None])[:, 0] if k else []
    for i in range(k):
        if not ratio[i] > rng.uniform():
            return np.int64(i), torch.tensor(rng.draw(residual(p[i], q[i])))
    return k, rng.draw(p[k])


def draws_by_hand(p, q, draft, rng):
    """An inverse of the cumulative sum, in place of rng.draw."""

    def draw(law):
        u, total = rng.uniform(), 0.0
        for token, x in enumerate(law.tolist()):
            total += x
            if u < total:
                return token
        return int(law.nonzero()[-1])

    for i, x in enumerate(draft.tolist()):
        if not rng.uniform() < float(p[i, x] / q[i, x]):
            return i, draw(residual(p[i], q[i]))
    return len(draft), draw(p[len(draft)])


def both_drawn_first(p, q, draft, rng):
    """Draws a correction for each position before it knows whether it needs one."""
    corrections = [rng.draw(residual(p[i], q[i])) for i in range(len(draft))]
    accepted, token = rule(correction=lambda p, q, i, x, rng: corrections[i])(p, q, draft, rng)
    return accepted, token


RIGHT_VERIFY = [with_while, recursive, uniforms_first, without_dividing, tensor_on_the_left, draws_by_hand, both_drawn_first]


@pytest.mark.parametrize("right", RIGHT_VERIFY, ids=lambda right: right.__name__)
def test_any_right_verifier_is_the_one_that_runs(right, capsys):
    assert check_verify_sampling(right) is right, capsys.readouterr().out
    assert capsys.readouterr().out.count("✓") == 5
