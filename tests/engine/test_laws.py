"""Lossless, exactly: the law of whole texts from the real engine, against plain decoding and an independent reference."""

import itertools

import pytest
import torch

from specdec_lab.drafters import AdaptiveDrafter, CascadeDrafter, ModelDrafter, NgramDrafter, SuffixDrafter
from specdec_lab.drafters.adaptive import sure
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.toy import ToyLM, markov_lm
from specdec_lab.sampling import SamplingParams
from specdec_lab.theory.enumeration import exact_law, generation_law, total_variation
from specdec_lab.verify import verify_block
from tests.support import (
    SAMPLED,
    FunctionDrafter,
    Moody,
    StrictToy,
    always,
    assert_same_law,
    ids,
    reference_generation_law,
    tiny_llama,
)

VOCAB = 4
PROMPT = [2, 1, 3, 1]
TARGET = StrictToy(markov_lm(0, VOCAB, order=2, scale=0.5))
DRAFT = StrictToy(markov_lm(8, VOCAB))

# Greedy, then every filter on or off at a temperature; the values are such that no two of them give one law.
EVERY_COMBINATION = [SamplingParams(), SamplingParams(repetition_penalty=1.6)] + [
    SamplingParams(*values) for values in itertools.product((0.7,), (0, 3), (1.0, 0.7), (0.0, 0.45), (1.0, 1.6))
]
REPRESENTATIVE = [SamplingParams(), SAMPLED, SamplingParams(1.6, repetition_penalty=0.6), SamplingParams(0.7, 3, 0.8, 0.1, 1.6)]

DRAFTERS = {
    "model": lambda: ModelDrafter(DRAFT, VOCAB),
    "ngram": lambda: NgramDrafter(1, 3),
    "suffix": lambda: SuffixDrafter([[0, 2, 1, 3, 1, 1], [3, 1, 0]], factor=2),
    "cascade": lambda: CascadeDrafter(NgramDrafter(2, 3), ModelDrafter(DRAFT, VOCAB)),
    "adaptive": lambda: AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB, keep_going=sure(0.5)), lambda alpha: 1000 * alpha % 4, probe=2),
    "nothing": lambda: always([]),
    "sometimes nothing": lambda: Moody(ModelDrafter(DRAFT, VOCAB), upto=lambda length: length % 3),
    "deterministic": lambda: always([3, 0, 3]),
    "greedy text of the draft": lambda: FunctionDrafter(greedy_text),
    "more than asked for": lambda: FunctionDrafter(lambda context, k: [1, 3, 1, 3, 1]),
}


def greedy_text(context: list[int], k: int) -> list[int]:
    for _ in range(k):
        context = [*context, int(DRAFT._next_logits(tuple(context)).argmax())]
    return context[-k:]


def assert_lossless(drafter, k: int, params: SamplingParams, tokens: int) -> None:
    law = generation_law(TARGET, PROMPT, drafter, k, params, tokens)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, params, tokens))
    assert_same_law(law, generation_law(TARGET, PROMPT, None, k, params, tokens))


@pytest.mark.parametrize("params", EVERY_COMBINATION, ids=str)
def test_every_combination_of_parameters(params):
    assert_lossless(ModelDrafter(DRAFT, VOCAB), 2, params, tokens=3)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("params", REPRESENTATIVE, ids=str)
@pytest.mark.parametrize("drafter", DRAFTERS)
def test_every_drafter(drafter, params, k):
    assert_lossless(DRAFTERS[drafter](), k, params, tokens=3)


BLOCKS = [(params, 2, 3) for params in EVERY_COMBINATION if not params.greedy] + [(REPRESENTATIVE[-1], 3, 4)]


@pytest.mark.parametrize("params, k, tokens", BLOCKS, ids=str)
def test_block_verification_with_every_combination_of_parameters(params, k, tokens):
    law = generation_law(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), k, params, tokens, verify_block)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, params, tokens))


@pytest.mark.parametrize("params", REPRESENTATIVE[1:], ids=str)
@pytest.mark.parametrize("drafter", DRAFTERS)
def test_block_verification_of_every_drafter(drafter, params):
    law = generation_law(TARGET, PROMPT, DRAFTERS[drafter](), 2, params, 3, verify_block)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, params, 3))


def test_three_accepted_tokens_and_a_round_behind_them():
    alike, params = StrictToy(markov_lm(4, VOCAB, like=TARGET, drift=0.4)), SamplingParams(0.7, 2, 1.0, 0.1, 1.6)
    assert_lossless(ModelDrafter(alike, VOCAB), 3, params, tokens=5)

    def accepted(rng) -> tuple[int, ...]:
        return tuple(r.accepted for r in generate(TARGET, ids(*PROMPT), ModelDrafter(alike, VOCAB), 3, params, Stopping(5), rng).rounds)

    assert {(3, 0), (2, 1), (0, 2, 0), (0, 0, 0, 0, 0)} <= exact_law(accepted).keys()


def test_no_two_combinations_give_one_law():
    """Otherwise a filter that does nothing would pass unseen."""
    laws = [reference_generation_law(TARGET, PROMPT, params, 3) for params in EVERY_COMBINATION]
    assert all(total_variation(a, b) > 0.04 for a, b in itertools.combinations(laws, 2))


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_with_an_end_token_texts_of_every_length_keep_their_law(drafter):
    def law_with(drafter):
        return exact_law(lambda rng: generate(TARGET, ids(*PROMPT), drafter, 2, SAMPLED, Stopping(3, frozenset({1})), rng).tokens)

    law, plain = law_with(DRAFTERS[drafter]()), law_with(None)
    assert {len(text) for text in plain} == {1, 2, 3}
    assert_same_law(law, plain)


def test_float32_models_keep_the_law_to_float32():
    target, draft = (ToyLM(lambda context, m=m: m._next_logits(context).float(), VOCAB) for m in (TARGET, DRAFT))
    law = generation_law(target, PROMPT, ModelDrafter(draft, VOCAB), 2, SamplingParams(0.7, 3, 0.9), 3)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, SamplingParams(0.7, 3, 0.9), 3), tolerance=1e-6)


def test_a_draft_with_a_padded_vocabulary_keeps_the_law():
    for draft_vocab in (3, 6):
        drafter = ModelDrafter(StrictToy(markov_lm(5, draft_vocab)), VOCAB)
        assert_lossless(drafter, 2, SAMPLED, tokens=3)


def test_a_draft_whose_context_runs_out_keeps_the_law():
    drafter = ModelDrafter(StrictToy(DRAFT, max_context=len(PROMPT)), VOCAB)
    assert_lossless(drafter, 2, SAMPLED, tokens=3)


def test_the_acceptance_of_the_first_position_is_the_overlap():
    """1 - TV(p, q), exactly, and no accident of the frequencies."""

    def first_accepted(rng) -> bool:
        return generate(TARGET, ids(*PROMPT), ModelDrafter(DRAFT, VOCAB), 1, SAMPLED, Stopping(2), rng).rounds[0].accepted == 1

    p, q = (m._next_logits(tuple(PROMPT)).softmax(-1) for m in (TARGET, DRAFT))
    assert exact_law(first_accepted)[True] == pytest.approx(float(torch.minimum(p, q).sum()), abs=1e-12)


def test_a_transformer_keeps_its_law():
    """Two tokens of a real cache, under filters that leave few texts, against uncached logits."""
    target, prompt, params = tiny_llama(0), [5, 9, 5], SamplingParams(1.0, top_k=2, repetition_penalty=1.3)
    oracle = ToyLM(lambda context: target(ids(*context)[None], target.new_cache())[0, -1], 64)
    law = generation_law(target, prompt, ModelDrafter(tiny_llama(0, 0.02), 64), 2, params, 3)
    assert_same_law(law, reference_generation_law(oracle, prompt, params, 3), tolerance=1e-9)
