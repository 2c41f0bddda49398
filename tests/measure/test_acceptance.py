"""The map's alpha is that of the engine's runs, and at each place the overlap of two laws."""

import pytest
import torch

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.measure.acceptance import acceptance_map
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import ids, one_thread, tiny_llama

assert one_thread
PROMPTS = {"one": [ids(1, 2, 3), ids(4)], "other": [ids(5, 6)]}


def test_a_row_for_each_kind_of_text_and_temperature():
    found = list(acceptance_map(tiny_llama(1), tiny_llama(1, 0.02), PROMPTS, (0.0, 1.0), tokens=8))
    assert [(f.workload, f.temperature, f.tokens) for f in found] == [
        ("one", 0.0, 16),
        ("one", 1.0, 16),
        ("other", 0.0, 8),
        ("other", 1.0, 8),
    ]
    assert all(0 <= f.alpha <= 1 and 0 <= f.error <= 0.5 / f.tokens**0.5 for f in found)


def test_a_draft_that_is_the_target_has_alpha_1_and_no_error():
    for found in acceptance_map(tiny_llama(1), tiny_llama(1), PROMPTS, (0.0, 0.7), tokens=6):
        assert found.alpha == pytest.approx(1.0, abs=1e-6) and found.error == pytest.approx(0.0, abs=1e-6)


def test_at_temperature_0_it_counts_places_where_both_say_the_same():
    target, draft = tiny_llama(1), tiny_llama(1, 0.02)
    run = generate(target, PROMPTS["one"][0], stopping=Stopping(12))
    text = torch.tensor([*run.prompt, *run.tokens])
    said = draft(text[None, :-1], draft.new_cache())[0, len(run.prompt) - 1 :].argmax(-1)
    (found,) = acceptance_map(target, draft, {"one": PROMPTS["one"][:1]}, (0.0,), tokens=12)
    assert found.alpha == pytest.approx(float((said == text[len(run.prompt) :]).float().mean()))
    assert 0 < found.alpha < 1
    assert found.error == pytest.approx((found.alpha * (1 - found.alpha) / 12) ** 0.5)


def test_it_agrees_with_what_runs_accept():
    target, params = markov_lm(3, 12), SamplingParams(1.0)
    draft = markov_lm(4, 12, like=target, drift=0.5)
    prompts = [ids(i % 12) for i in range(40)]
    (found,) = acceptance_map(target, draft, {"one": prompts}, (1.0,), tokens=20)
    runs = [generate(target, p, ModelDrafter(draft, 12), 3, params, Stopping(20), SeededRng(i)) for i, p in enumerate(prompts)]
    accepted, rejected = (sum(getattr(run.metrics, name) for run in runs) for name in ("accepted", "rejections"))
    assert found.alpha == pytest.approx(accepted / (accepted + rejected), abs=0.05)
    assert found.alpha < 0.95


def test_a_text_that_ends_counts_up_to_its_end():
    toy = markov_lm(1, 6)
    run = generate(toy, ids(1), stopping=Stopping(5))
    (found,) = acceptance_map(toy, toy, {"one": [ids(1)]}, (0.0,), tokens=5, eos=frozenset({run.tokens[2]}))
    assert found.tokens == run.tokens.index(run.tokens[2]) + 1


def test_columns_that_only_the_draft_has_are_padding():
    for found in acceptance_map(markov_lm(1, 6), markov_lm(2, 8), {"one": [ids(1), ids(2)]}, (0.0, 1.0), tokens=6):
        assert 0 <= found.alpha <= 1


def test_nothing_to_write():
    with pytest.raises(UserError, match="nothing to write for one"):
        list(acceptance_map(markov_lm(1, 6), markov_lm(1, 6), {"one": []}))
