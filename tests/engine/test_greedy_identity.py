"""At temperature 0 the engine writes what transformers' own `generate` writes, token by token (random Llamas, float64)."""

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.drafters import AdaptiveDrafter, CascadeDrafter, ModelDrafter, NgramDrafter, SuffixDrafter
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.heads import untrained_exit
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams
from specdec_lab.theory.closed_forms import optimal_k
from tests.support import SAMPLED, Moody, StrictToy, always, ids, tiny_heads, tiny_llama

TOKENS = 10
PROMPTS = [(7,), (0, 0), (1, 2, 3, 1, 2, 3), (9, 8, 9, 8, 9), tuple(range(40, 60)), (63, 5, 63)]
DRAFTERS = {
    "the target itself": lambda seed: ModelDrafter(tiny_llama(seed), 64),
    "alike": lambda seed: ModelDrafter(tiny_llama(seed, 0.02), 64),
    "unlike": lambda seed: ModelDrafter(tiny_llama(seed + 1), 64),
    "ngram": lambda seed: NgramDrafter(1, 3),
    "always wrong": lambda seed: always([0, 0, 0, 0, 0, 0]),
    "medusa tree": lambda seed: MedusaDrafter(tiny_heads(seed)["medusa"], full(3, 2, 1)),
    "eagle": lambda seed: EagleDrafter(tiny_heads(seed)["eagle"]),
    "eagle tree": lambda seed: EagleDrafter(tiny_heads(seed)["eagle"], full(2, 2)),
    "early exit": lambda seed: EarlyExitDrafter(tiny_llama(seed), untrained_exit(tiny_llama(seed), 1)),
    "suffix": lambda seed: SuffixDrafter(),
    "cascade": lambda seed: CascadeDrafter(NgramDrafter(1, 3), ModelDrafter(tiny_llama(seed, 0.02), 64)),
    "adaptive": lambda seed: AdaptiveDrafter(ModelDrafter(tiny_llama(seed, 0.02), 64), lambda alpha: optimal_k(alpha, 0.1)),
    "now and then": lambda seed: Moody(ModelDrafter(tiny_llama(seed, 0.02), 64), upto=lambda length: length % 4),
}


@functools.lru_cache(None)
def by_transformers(seed: int, prompt: tuple[int, ...], eos: int | None, penalty: float) -> list[int]:
    output = tiny_llama(seed).model.generate(
        ids(*prompt)[None],
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        max_new_tokens=TOKENS,
        do_sample=False,
        eos_token_id=eos,
        pad_token_id=0,
        repetition_penalty=penalty,
    )
    return output[0, len(prompt) :].tolist()


@pytest.mark.parametrize("drafter", DRAFTERS)
@given(
    seed=st.integers(0, 2),
    prompt=st.sampled_from(PROMPTS),
    k=st.integers(1, 7),
    penalty=st.sampled_from([1.0, 1.3]),
    end=st.integers(0, 2 * TOKENS),
)
@settings(max_examples=30, deadline=None)
def test_token_by_token(drafter, seed, prompt, k, penalty, end):
    unending = by_transformers(seed, prompt, None, penalty)
    eos = unending[end] if end < TOKENS else None  # an end token inside the text, in half of the cases
    stopping = Stopping(TOKENS, frozenset() if eos is None else frozenset({eos}))
    run = generate(tiny_llama(seed), ids(*prompt), DRAFTERS[drafter](seed), k, SamplingParams(repetition_penalty=penalty), stopping)
    assert list(run.tokens) == by_transformers(seed, prompt, eos, penalty)


@pytest.mark.parametrize("seed", range(3))
def test_plain_decoding_is_identical_too(seed):
    for prompt in PROMPTS:
        run = generate(tiny_llama(seed), ids(*prompt), stopping=Stopping(TOKENS))
        assert list(run.tokens) == by_transformers(seed, prompt, None, 1.0)


def test_the_cases_tell_right_from_wrong():
    """The texts vary, and the drafters are accepted always, sometimes and never."""
    texts = {tuple(by_transformers(seed, prompt, None, 1.0)) for seed in range(3) for prompt in PROMPTS}
    assert len(texts) == 3 * len(PROMPTS) and sum(len(set(text)) > 3 for text in texts) >= 15
    rates = {
        name: generate(tiny_llama(0), ids(*PROMPTS[2]), make(0), 3, stopping=Stopping(40)).metrics.acceptance_rate
        for name, make in DRAFTERS.items()
    }
    assert rates["the target itself"] == 1.0 and rates["always wrong"] == 0.0
    assert 0.2 < rates["alike"] < 0.9 and rates["unlike"] < 0.2


def test_a_draft_that_is_the_target_stays_at_full_acceptance_for_200_rounds():
    """A cache trimmed too far, or holding a wrong token, shows as a slow decay (mlxcel#994)."""
    run = generate(tiny_llama(0), ids(1, 2, 3), ModelDrafter(tiny_llama(0), 64), 2, stopping=Stopping(600))
    assert len(run.rounds) == 200 and all(r.accepted == len(r.drafted) == 2 for r in run.rounds)


def test_under_sampling_too():
    model = StrictToy(markov_lm(2, 12, order=2))
    run = generate(model, ids(1, 2), ModelDrafter(model, 12), 4, SAMPLED, Stopping(1000))
    assert len(run.rounds) == 200 and run.metrics.acceptance_rate == 1.0
