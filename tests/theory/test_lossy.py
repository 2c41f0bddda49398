"""Lossy rules: the closed form of their law is what the verifier does, 1 is lossless, and no rule beats the bound."""

from __future__ import annotations

import pytest
import torch

from specdec_lab.errors import UserError
from specdec_lab.sampling import SamplingParams
from specdec_lab.theory.closed_forms import acceptance_probability
from specdec_lab.theory.enumeration import exact_law, generation_law
from specdec_lab.theory.lossy import accepted, distance, lenient, likely_enough, lossy_law, text_law, typical, verifier
from specdec_lab.verify import verify_sampling

P, Q = (torch.tensor(law, dtype=torch.float64) for law in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]))
RULES = {
    "lossless": lenient(1),
    "lenient 0.8": lenient(0.8),
    "lenient 0.5": lenient(0.5),
    "likely 0.3": likely_enough(0.3),
    "likely 0": likely_enough(0),
    "never": likely_enough(2),
    "typical": typical(0.3, 0.5),
}
every_rule = pytest.mark.parametrize("name", RULES)


def some_laws(n=200, vocab=4):
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(2, n, vocab, dtype=torch.float64, generator=generator) ** 3
    weights[0, : n // 4, 0] = 0  # impossible for one side, as after top-k
    weights[1, n // 8 : n // 3, 1] = 0
    return weights / weights.sum(-1, keepdim=True)


@every_rule
def test_the_verifier_has_the_law_of_the_closed_form(name: str):
    for p, q in [(P, Q), (Q, P), (P, torch.tensor([0, 0, 1.0], dtype=torch.float64)), (P, P)]:

        def play(rng, p=p, q=q):
            draft = torch.tensor([rng.draw(q)])
            stood, token = verifier(RULES[name])(p.expand(2, -1), q[None], draft, rng)
            return (int(draft) if stood else token), stood

        joint = exact_law(play)
        law = [sum(joint.get((token, a), 0.0) for a in (0, 1)) for token in range(3)]
        assert law == pytest.approx(lossy_law(p, q, RULES[name]).tolist(), abs=1e-12)
        stood = sum(chance for (_, a), chance in joint.items() if a)
        assert stood == pytest.approx(float(accepted(p, q, RULES[name])), abs=1e-12)


def test_lenience_1_is_the_lossless_rule():
    p, q = some_laws()
    torch.testing.assert_close(lossy_law(p, q, lenient(1)), p)
    assert accepted(p, q, lenient(1)).tolist() == pytest.approx(acceptance_probability(p, q).tolist())


@every_rule
def test_no_rule_is_below_the_bound(name: str):
    p, q = some_laws()
    law = lossy_law(p, q, RULES[name])
    torch.testing.assert_close(law.sum(-1), torch.ones(len(law), dtype=torch.float64))
    price = distance(p, law) - (accepted(p, q, RULES[name]) - torch.minimum(p, q).sum(-1))
    assert float(price.min()) > -1e-12


@pytest.mark.parametrize("lenience", [0.9, 0.6, 0.3, 0.05])
def test_lenience_pays_just_the_bound_and_no_token_comes_more_than_its_share(lenience: float):
    p, q = some_laws()
    law, share = lossy_law(p, q, lenient(lenience)), accepted(p, q, lenient(lenience))
    torch.testing.assert_close(distance(p, law), share - torch.minimum(p, q).sum(-1))
    assert bool((law <= p / lenience + 1e-12).all())


def test_the_numbers_of_the_chapter():
    assert float(accepted(P, Q, lenient(0.8))) == pytest.approx(0.825)
    assert float(distance(P, lossy_law(P, Q, lenient(0.8)))) == pytest.approx(0.125)
    likely = likely_enough(0.3)
    assert (float(accepted(P, Q, likely)), float(distance(P, lossy_law(P, Q, likely)))) == pytest.approx((0.7, 0.2))
    hostile = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
    assert float(lossy_law(P, hostile, lenient(0.5))[2]) == pytest.approx(0.4)


def test_the_drafts_law_comes_out_where_everything_is_accepted():
    torch.testing.assert_close(lossy_law(P, Q, likely_enough(0)), Q)
    torch.testing.assert_close(lossy_law(P, Q, likely_enough(2)), P)


def test_typical_asks_less_where_the_target_is_unsure():
    flat, sharp = (torch.tensor(law, dtype=torch.float64) for law in ([0.25] * 4, [0.97, 0.01, 0.01, 0.01]))
    rule = typical(0.3, 0.5)
    assert rule(flat, flat).tolist() == [1, 1, 1, 1], "exp(-H) is 1/4, so that the bar is 1/8"
    assert rule(sharp, sharp).tolist() == [1, 0, 0, 0]
    certain = torch.tensor([1.0, 0.0])
    assert rule(certain, certain).tolist() == [1, 0], "an entropy of 0, and no NaN"


def test_laws_of_texts():
    law = text_law(P, 3)
    assert law.shape == (27,) and float(law[5]) == pytest.approx(0.5 * 0.3 * 0.2)  # 5 is 0 1 2 in base 3
    assert text_law(P, 0).tolist() == [1.0]
    assert float(distance(text_law(P, 8), text_law(Q, 8))) > float(distance(P, Q))


def test_the_engine_runs_it():
    """With the lossless rule the texts have the target's law; with another they have not."""
    from specdec_lab.drafters import ModelDrafter
    from specdec_lab.models.toy import markov_lm
    from specdec_lab.theory.enumeration import total_variation

    target, draft, params = markov_lm(0, 3), markov_lm(7, 3), SamplingParams(1.0)

    def law(verify):
        return generation_law(target, [0, 1], ModelDrafter(draft, 3), 2, params, 2, verify)

    plain = generation_law(target, [0, 1], None, 1, params, 2)
    assert total_variation(law(verifier(lenient(1))), plain) < 1e-12
    assert law(verifier(lenient(1))) == pytest.approx(law(verify_sampling))
    assert total_variation(law(verifier(lenient(0.3))), plain) > 0.01


@pytest.mark.parametrize("lenience", [0, -1, 1.5, float("nan")])
def test_a_lenience_that_is_none(lenience: float):
    with pytest.raises(UserError, match="1 is lossless"):
        lenient(lenience)
