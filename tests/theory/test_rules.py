"""Rules and the laws they let through: exactly as LESSONS has them worked out by hand, and as the dice fall."""

from __future__ import annotations

import pytest
import torch

from specdec_lab.errors import UserError
from specdec_lab.sampling import SeededRng
from specdec_lab.theory.closed_forms import acceptance_probability
from specdec_lab.theory.rules import Outcome, draw_places, favourite, law_of, place_law, redraw_from_p, rules
from specdec_lab.verify import verify_greedy, verify_sampling

P, Q = (torch.tensor(law, dtype=torch.float64) for law in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]))
# On the worked example, by hand: what comes out, and the share that stands.
BY_HAND = {
    "the right rule": ([0.5, 0.3, 0.2], 0.7),
    "roll p and compare": ([0.5, 0.3, 0.2], 0.31),
    "redraw from p": ([0.35, 0.39, 0.26], 0.7),
    "accept if p >= q": ([0.6, 0.24, 0.16], 0.2),
    "residual not rescaled": ([0.29, 0.3, 0.41], 0.7),
    "likeliest of the residual": ([0.5, 0.3, 0.2], 0.7),
    "greedy draft, states its softmax": ([0.4, 0.6, 0.0], 0.6),
    "greedy draft, states one-hot": ([0.5, 0.3, 0.2], 0.3),
    # u <= 0.6 in 154 of 256 cases, u <= 2/3 in 171
    "accept with <=, 8-bit uniforms": (None, 0.2 + 0.5 * 154 / 256 + 0.3 * 171 / 256),
    "lossy: min(1, p/(0.8 q))": ([0.375, 0.375, 0.25], 0.825),
}
every_rule = pytest.mark.parametrize("name", BY_HAND)


def test_every_rule_is_here():
    assert list(rules()) == list(BY_HAND)


@every_rule
def test_the_law_on_the_worked_example(name: str):
    law, share = BY_HAND[name]
    found = rules()[name].law(P, Q)
    assert found.share == pytest.approx(share)
    if law is None:  # ahead and right get what they should not, from left
        assert found.law[0] < 0.5 and found.law[1] > 0.3 and found.law[2] > 0.2
    else:
        assert found.law == pytest.approx(law)
    assert sum(found.law) == pytest.approx(1) and found.n is None and found.errors == [0, 0, 0]


def test_the_two_tokens_of_transformers_32867():
    p, q = law_of([60, 40]), law_of([80, 20])
    assert rules()["greedy draft, states its softmax"].law(p, q).law == pytest.approx([0.75, 0.25])
    assert rules()["greedy draft, states one-hot"].law(p, q).law == pytest.approx([0.6, 0.4])


def test_a_token_that_p_never_says_comes_out_once_in_256():
    p, q = law_of([60, 40, 0]), law_of([0, 0, 1])
    assert rules()["accept with <=, 8-bit uniforms"].law(p, q).law == pytest.approx([0.6 * 255 / 256, 0.4 * 255 / 256, 1 / 256])
    assert rules()["the right rule"].law(p, q).law == pytest.approx([0.6, 0.4, 0])


def test_the_likeliest_of_the_residual_is_wrong_where_two_tokens_are_short():
    assert rules()["likeliest of the residual"].law(P, law_of([0, 1, 0])).law == pytest.approx([0.7, 0.3, 0])


@pytest.mark.parametrize("name", ["the right rule", "roll p and compare", "greedy draft, states one-hot"])
def test_right_rules_are_right_on_any_laws(name: str):
    generator = torch.Generator().manual_seed(0)
    for weights in torch.rand(10, 2, 4, dtype=torch.float64, generator=generator).tolist():
        p, q = (law_of(some) for some in weights)
        assert rules()[name].law(p, q).law == pytest.approx(p.tolist())
    assert rules()["the right rule"].law(p, q).share == pytest.approx(float(acceptance_probability(p.tolist(), q.tolist())))


@pytest.mark.parametrize("name", ["the right rule", "redraw from p", "greedy draft, states its softmax"])
def test_the_dice_meet_the_exact_law(name: str):
    """Of 3 tokens, each within 4 standard errors; the wrong rules are 20 and more away from p."""
    rule = rules()[name]
    found = list(rule.draws(P, Q, SeededRng(1), [100, 3900]))
    assert [outcome.n for outcome in found] == [100, 4000]
    for x, law in zip(found[1].law, rule.law(P, Q).law, strict=True):
        assert abs(x - law) <= 4 * (law * (1 - law) / 4000) ** 0.5
    assert found[1].errors[0] == pytest.approx((found[1].law[0] * (1 - found[1].law[0]) / 4000) ** 0.5)


def test_draws_go_on_from_what_has_been_drawn():
    whole = list(draw_places(verify_sampling, P, Q, SeededRng(2), [300, 700]))[-1]
    rng = SeededRng(2)
    (first,) = draw_places(verify_sampling, P, Q, rng, [300])
    (rest,) = draw_places(verify_sampling, P, Q, rng, [700], so_far=first)
    assert rest == whole and rest.n == 1000


def test_the_right_rule_is_the_one_given():
    def nothing_stands(p, q, draft, rng):
        return 0, rng.draw(p[0])

    mine = rules(nothing_stands)
    assert mine["the right rule"].law(P, Q) == Outcome([0, 0, 0], pytest.approx([0.5, 0.3, 0.2]))
    assert mine["greedy draft, states one-hot"].law(P, Q).share == 0
    assert mine["redraw from p"].verify is redraw_from_p


def test_a_stated_law_is_not_the_one_drawn_from():
    assert place_law(verify_sampling, P, Q, torch.tensor([0.0, 1.0, 0.0])).law == pytest.approx([0.4, 0.6, 0])
    assert favourite(Q).tolist() == [0, 1, 0] and favourite(Q).dtype == Q.dtype


def test_laws_of_weights():
    assert law_of([50, 30, 20]).tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert law_of([2, 1, 0], 0.5).tolist() == pytest.approx([0.8, 0.2, 0])
    assert law_of([2, 3, 0], 0.0).tolist() == [0, 1, 0]
    with pytest.raises(UserError, match="give one of them something"):
        law_of([0, 0])


def test_at_temperature_0_it_is_chapter_2():
    p, q = law_of([50, 30, 20], 0.0), law_of([20, 50, 30], 0.0)
    accepted, own = verify_greedy(q.argmax()[None], torch.stack([p, p]).argmax(-1))
    assert rules()["the right rule"].law(p, q) == Outcome([0, 0, 0], [1, 0, 0]) and (accepted, own) == (0, 0)
