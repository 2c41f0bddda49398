"""Exact laws by enumeration: right on what can be worked out by hand, wrong rules included (chapter 3)."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from specdec_lab.drafters import ModelDrafter
from specdec_lab.errors import UserError
from specdec_lab.models.toy import law_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.theory.enumeration import UnknownNumber, exact_law, generation_law, total_variation
from specdec_lab.verify import residual, verify_sampling

P = torch.tensor([1 / 2, 3 / 10, 1 / 5], dtype=torch.float64)
Q = torch.tensor([1 / 5, 1 / 2, 3 / 10], dtype=torch.float64)
TRUE = {0: 0.5, 1: 0.3, 2: 0.2}


def near(law):
    return pytest.approx(law, abs=1e-12)


def one_round(rng, p, q, drafted):
    """The first token that `verify_sampling` lets out, and whether it is the drafted one."""
    accepted, following = verify_sampling(torch.stack([p, p]), q[None], torch.tensor([drafted]), rng)
    return (drafted, True) if accepted else (following, False)


def first(law):
    """The law of the token alone."""
    return {x: sum(w for (token, _), w in law.items() if token == x) for x in {token for token, _ in law}}


# --- the worked example ---


def test_rejection_sampling_gives_the_targets_law():
    law = exact_law(lambda rng: one_round(rng, P, Q, rng.draw(Q)))
    assert first(law) == near(TRUE)
    assert sum(w for (_, accepted), w in law.items() if accepted) == near(7 / 10)
    assert residual(P, Q).tolist() == near([1, 0, 0])


def test_drawing_from_the_target_and_keeping_matches_is_lossless_but_accepts_less():
    def rule(rng):
        drafted, meant = rng.draw(Q), rng.draw(P)
        return meant, drafted == meant

    law = exact_law(rule)
    assert first(law) == near(TRUE)
    assert sum(w for (_, accepted), w in law.items() if accepted) == near(31 / 100)


def accept_if_likelier(rng):
    x = rng.draw(Q)
    return x if P[x] >= Q[x] else rng.draw(P)


def redraw_from_target(rng):
    x = rng.draw(Q)
    return x if rng.uniform() < float(P[x] / Q[x]) else rng.draw(P)


def greedy_draft_against_softmax(rng):
    return one_round(rng, P, Q, int(Q.argmax()))[0]


def greedy_draft_as_one_hot(rng):
    return one_round(rng, P, torch.eye(3, dtype=torch.float64)[Q.argmax()], int(Q.argmax()))[0]


def residual_not_renormalised(rng):
    """Drawn by adding up weights until they pass a uniform: what is missing from them goes to the last token."""
    x = rng.draw(Q)
    if rng.uniform() < float(P[x] / Q[x]):
        return x
    u = rng.uniform()
    return next((token for token, sum_ in enumerate((P - Q).clamp(min=0).cumsum(0).tolist()) if u < sum_), 2)


@pytest.mark.parametrize(
    ("rule", "law"),
    [
        (residual_not_renormalised, {0: 0.29, 1: 0.30, 2: 0.41}),
        (accept_if_likelier, {0: 0.60, 1: 0.24, 2: 0.16}),
        (redraw_from_target, {0: 0.35, 1: 0.39, 2: 0.26}),
        (greedy_draft_against_softmax, {0: 0.40, 1: 0.60}),
        (greedy_draft_as_one_hot, TRUE),
    ],
)
def test_each_rule_gives_the_law_of_the_lesson(rule, law):
    assert exact_law(rule) == near(law)


def test_two_token_case_of_transformers_32867():
    p, q = torch.tensor([0.6, 0.4], dtype=torch.float64), torch.tensor([0.8, 0.2], dtype=torch.float64)
    assert exact_law(lambda rng: one_round(rng, p, q, 0)[0]) == near({0: 0.75, 1: 0.25})
    assert exact_law(lambda rng: one_round(rng, p, q, rng.draw(q))[0]) == near({0: 0.6, 1: 0.4})


# --- uniforms ---


def test_a_uniform_used_twice_is_the_same_number():
    def run(rng):
        u = rng.uniform()
        return u < 0.3, u < 0.6, u >= 0.3

    assert exact_law(run) == near({(True, True, False): 0.3, (False, True, True): 0.3, (False, False, True): 0.4})


def test_two_uniforms_are_two_numbers():
    law = exact_law(lambda rng: (rng.uniform() < 0.3, rng.uniform() < 0.6))
    assert law == near({(True, True): 0.18, (True, False): 0.12, (False, True): 0.42, (False, False): 0.28})


def test_comparisons_from_either_side_and_at_the_ends():
    assert exact_law(lambda rng: torch.tensor(0.25) > rng.uniform()) == near({True: 0.25, False: 0.75})
    assert exact_law(lambda rng: rng.uniform() > 0.3) == near({True: 0.7, False: 0.3})
    assert exact_law(lambda rng: rng.uniform() < 0.0) == {False: 1.0}
    assert exact_law(lambda rng: rng.uniform() < 1.0) == {True: 1.0}
    assert exact_law(lambda rng: rng.uniform() < 1.7) == {True: 1.0}
    assert exact_law(lambda rng: rng.uniform() < float("nan")) == {False: 1.0}


def test_a_uniform_may_be_multiplied():
    """Accepting by u * q < p needs no division, and is as right."""
    assert exact_law(lambda rng: rng.uniform() * 0.5 < torch.tensor(0.125)) == near({True: 0.25, False: 0.75})
    assert exact_law(lambda rng: torch.tensor(0.125) <= torch.tensor(0.5) * rng.uniform()) == near({True: 0.75, False: 0.25})
    assert exact_law(lambda rng: rng.uniform() * 0.0 < 0.1) == {True: 1.0}
    assert exact_law(lambda rng: 0.0 * rng.uniform() >= 0.0) == {True: 1.0}


@pytest.mark.parametrize("factor", [-1, -0.5, torch.tensor(-0.25)])
def test_a_negative_factor_is_refused(factor):
    """It would turn every comparison round."""
    for multiplied in (lambda rng: rng.uniform() * factor > -0.1, lambda rng: factor * rng.uniform() > -0.1):
        with pytest.raises(UnknownNumber, match="turns comparisons round"):
            exact_law(multiplied)


@pytest.mark.parametrize(
    "run",
    [
        lambda rng: 1 - rng.uniform() < 0.3,
        lambda rng: rng.uniform() * torch.tensor(0.5) - torch.tensor(0.2) < 0,
        lambda rng: torch.tensor(0.2) - 0.5 * rng.uniform() > 0,
        lambda rng: float(rng.uniform()) < 0.3,
        lambda rng: math.log(rng.uniform()) < -1,
        lambda rng: np.log(0.5 * rng.uniform()) < -1,
        lambda rng: torch.tensor(rng.uniform()) < 0.3,
        lambda rng: torch.log(rng.uniform()) < -1,
        lambda rng: rng.uniform() < rng.uniform(),
    ],
)
def test_computing_with_a_uniform_is_refused_with_a_way_out(run):
    with pytest.raises(UnknownNumber, match="can be compared here, not computed with"):
        exact_law(run)


def test_other_errors_are_left_as_they_are():
    with pytest.raises(ZeroDivisionError):
        exact_law(lambda rng: rng.uniform() < 1 / 0)


def test_a_uniform_narrows_with_every_answer():
    """Searching for the bin of one number: the branches are as long as the bins, and impossible ones are not taken."""
    edges = [0.0, 0.1, 0.4, 0.45, 1.0]

    def run(rng):
        u = rng.uniform()
        return next(i for i, edge in enumerate(edges[1:]) if u < edge)

    assert exact_law(run) == near({i: b - a for i, (a, b) in enumerate(pairwise(edges))})


# --- draws and branches ---


def test_a_token_of_probability_0_is_not_a_branch():
    assert set(exact_law(lambda rng: rng.draw(torch.tensor([0.0, 0.25, 0.0, 0.75])))) == {1, 3}


def test_later_choices_may_depend_on_earlier_ones():
    def run(rng):  # two draws without replacement
        x = rng.draw(P)
        rest = P.clone()
        rest[x] = 0
        return x, rng.draw(rest / rest.sum())

    law = exact_law(run)
    assert len(law) == 6 and sum(law.values()) == near(1)
    assert law[0, 1] == near(0.5 * 0.6) and law[2, 0] == near(0.2 * 0.625)


def test_every_branch_is_taken_once():
    runs = []
    law = exact_law(lambda rng: runs.append(1) or tuple(rng.draw(P) for _ in range(4)))
    assert len(runs) == len(law) == 3**4
    assert sum(law.values()) == near(1)


def test_the_engine_is_lossless_where_a_text_can_be_multiplied_out():
    params, target = SamplingParams(temperature=1.0), law_lm(P.tolist())
    law = generation_law(target, [0], ModelDrafter(law_lm(Q.tolist()), 3), k=2, params=params, tokens=3)
    p = P.tolist()
    assert law == near({(a, b, c): p[a] * p[b] * p[c] for a in range(3) for b in range(3) for c in range(3)})


def test_the_engine_with_a_wrong_verifier_is_caught():
    def redraws(p, q, draft, rng):
        for i, token in enumerate(draft.tolist()):
            if not rng.uniform() < float(p[i, token] / q[i, token]):
                return i, rng.draw(p[i])
        return len(draft), rng.draw(p[-1])

    params = SamplingParams(temperature=1.0)
    law = generation_law(law_lm(P.tolist()), [0], ModelDrafter(law_lm(Q.tolist()), 3), 1, params, 2, redraws)
    assert law[0, 0] == near(0.35 * 0.5)  # first a redraw, then a plain step
    plain = generation_law(law_lm(P.tolist()), [0], None, 1, params, 2)
    assert total_variation(law, plain) == near(0.15)


def test_frequencies_of_the_seeded_generator_agree():
    rng = SeededRng(0)
    n, counts = 4000, [0, 0, 0]
    for _ in range(n):
        counts[greedy_draft_against_softmax(rng)] += 1
    assert counts[2] == 0
    assert abs(counts[0] / n - 0.4) < 5 * (0.4 * 0.6 / n) ** 0.5


def test_total_variation():
    assert total_variation(TRUE, TRUE) == 0
    assert total_variation({0: 1.0}, {1: 1.0}) == 1
    assert total_variation(dict(enumerate(P.tolist())), dict(enumerate(Q.tolist()))) == near(0.3)  # 1 - the acceptance
    assert total_variation({0: 0.5, 1: 0.5}, {0: 0.5, 2: 0.5}) == near(0.5)


def test_a_bound_may_be_a_tensor():
    law = exact_law(lambda rng: bool(rng.uniform() < torch.tensor(0.25, dtype=torch.float64)))
    assert law == {True: 0.25, False: 0.75} and all(type(p) is float for p in law.values())


def test_nothing_to_draw_from_is_said():
    with pytest.raises(UserError, match="nothing to draw from"):
        exact_law(lambda rng: rng.draw(torch.zeros(3)))
