"""Each sealed set-up leaves the signature of its fault, on a pair that is in order without it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.measure import sealed
from specdec_lab.models.foreign import ForeignIds
from specdec_lab.sampling import SamplingParams
from specdec_lab.theory.diagnosis import diagnose
from tests.support import ids, one_thread, tiny_llama

assert one_thread
PROMPTS = [ids(i, i + 1, i + 2) for i in range(6)]
PAIR = SimpleNamespace(target=tiny_llama(1), draft=tiny_llama(1, 0.02), eos=frozenset())


@pytest.fixture(scope="module")
def usual():
    return sealed.examine(PAIR, sealed.IN_ORDER, PROMPTS).alpha


def test_the_pair_itself_is_in_order(usual):
    seen = sealed.examine(PAIR, sealed.IN_ORDER, PROMPTS, usual)
    assert usual > 0.4 and seen.cool == seen.alpha == usual
    assert seen.rate < seen.alpha and len(seen.conditional) == len(seen.tested) == 4


def test_other_ids_are_bad_from_the_first_guess_on_and_at_any_temperature(usual):
    seen = sealed.examine(PAIR, sealed.sealed()["c"], PROMPTS, usual)
    assert seen.conditional[0] < 0.4 * usual and seen.cool < 0.4 * usual
    assert diagnose(seen).cause == "mismatch"


def test_too_many_guesses_leave_alpha_as_it_is(usual):
    seen = sealed.examine(PAIR, sealed.sealed()["b"], PROMPTS, usual)
    assert seen.k == 16 and seen.alpha == pytest.approx(usual, abs=0.15) and seen.rate < 0.5 * seen.alpha
    assert diagnose(replace(seen, c=0.1, verify=1.8, overhead=0.05)).cause == "k too large", "at the prices of the course's pair"


def test_heat_is_cured_by_cooling(usual):
    seen = sealed.examine(PAIR, sealed.sealed()["a"], PROMPTS, usual)
    assert seen.cool == pytest.approx(usual)


def test_every_fault_has_words():
    assert all(len(setup.fault) > 10 for setup in sealed.sealed().values()) and set(sealed.sealed()) == {"a", "b", "c"}


# --- ids of another tokenizer ---


def test_later_ids_are_one_off_and_the_first_quarter_is_not():
    model = tiny_llama(1)
    foreign, right = ForeignIds(model), tiny_llama(1)
    text = ids(1, 2, 20, 63)
    logits = foreign(text[None], foreign.new_cache())[0]
    theirs = right(ids(1, 2, 21, 16)[None], right.new_cache())[0]
    assert torch.equal(logits[:, :16], theirs[:, :16])
    assert torch.equal(logits[:, 16:63], theirs[:, 17:64]) and torch.equal(logits[:, 63], theirs[:, 16])


def test_a_draft_behind_another_tokenizer_changes_no_text():
    model = PAIR.target
    plain = generate(model, PROMPTS[0], stopping=Stopping(20))
    run = generate(model, PROMPTS[0], ModelDrafter(ForeignIds(PAIR.draft), model.vocab_size), 4, stopping=Stopping(20))
    assert run.tokens == plain.tokens and run.metrics.alpha < 0.3


def test_a_draft_that_is_the_target_is_ruined_at_any_temperature():
    model = PAIR.target
    for temperature in (0.0, 1.0):
        drafter = ModelDrafter(ForeignIds(model), model.vocab_size)
        run = generate(model, PROMPTS[1], drafter, 4, SamplingParams(temperature), Stopping(40))
        assert run.metrics.alpha < 0.5
