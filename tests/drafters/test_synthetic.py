"""Coin-flip acceptance: alpha is p, the text is the target's."""

import pytest

from specdec_lab.drafters import ModelDrafter, NgramDrafter, SyntheticDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SeededRng
from tests.support import SAMPLED, StrictToy, ids

TARGET = StrictToy(markov_lm(1, 16, order=2))
PROMPT = ids(3, 1, 4)
PLAIN = generate(TARGET, PROMPT, stopping=Stopping(600))


def run(p: float, k: int = 4, timed=None, seed: int = 0):
    return generate(TARGET, PROMPT, SyntheticDrafter(PLAIN.tokens, p, 16, timed), k, stopping=Stopping(600), rng=SeededRng(seed))


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_alpha_is_p_within_its_standard_error_and_the_text_is_the_same(p):
    run_ = run(p)
    tested = run_.metrics.accepted + run_.metrics.rejections
    assert run_.tokens == PLAIN.tokens
    assert abs(run_.metrics.alpha - p) < 3 * (p * (1 - p) / tested) ** 0.5


def test_the_ends_are_exact():
    assert run(0.0).metrics.accepted == 0 and len(run(0.0).rounds) == 600
    assert run(1.0).metrics.acceptance_rate == 1.0 and len(run(1.0).rounds) == 120


def test_the_coin_follows_the_seed():
    assert run(0.5).metrics == run(0.5).metrics != run(0.5, seed=1).metrics


def test_a_timed_drafter_works_each_round_and_is_not_listened_to():
    draft = StrictToy(markov_lm(9, 16))
    run_ = run(0.7, timed=ModelDrafter(draft, 16))
    assert run_.tokens == PLAIN.tokens and run_.metrics == run(0.7).metrics
    assert all(r.draft_cache is not None for r in run_.rounds)


def test_a_timed_drafter_decides_how_many_tokens_there_are():
    run_ = run(1.0, timed=NgramDrafter(n_min=2))
    assert run_.tokens == PLAIN.tokens
    assert not run_.rounds[0].drafted and any(r.drafted for r in run_.rounds)


def test_sampling_is_refused():
    with pytest.raises(UserError, match=r"knows the target's greedy text only; use temperature 0"):
        generate(TARGET, PROMPT, SyntheticDrafter(PLAIN.tokens, 0.5, 16), params=SAMPLED)


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_a_p_that_is_no_probability_is_refused(p):
    with pytest.raises(UserError, match=f"p is {p}, but a probability lies in"):
        SyntheticDrafter([], p, 4)
