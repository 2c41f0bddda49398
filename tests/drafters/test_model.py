"""A model as drafter: it states the law it draws from, and its cache holds no more than the context confirms."""

import pytest
import torch

from specdec_lab.drafters import ModelDrafter
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache, ToyLM, markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import SAMPLED, StrictToy, ids, reference_law

VOCAB = 6


def started(prompt: torch.Tensor, model: ToyLM | None = None, vocab_size: int = VOCAB) -> ModelDrafter:
    drafter = ModelDrafter(model or StrictToy(markov_lm(3, VOCAB, order=2)), vocab_size)
    drafter.begin(prompt, TokenCache())
    return drafter


@pytest.mark.parametrize(
    "params", [SAMPLED, SamplingParams(0.7, top_k=3, top_p=0.9, min_p=0.05, repetition_penalty=1.4)], ids=["plain", "all"]
)
def test_the_stated_laws_are_those_of_the_model_under_the_same_parameters(params):
    prompt = ids(0, 3, 3)
    drafter = started(prompt)
    draft = drafter.propose(prompt, 4, params, SeededRng(1))
    context = prompt.tolist()
    for token, law in zip(draft.tokens.tolist(), draft.probs, strict=True):
        logits = drafter.model._next_logits(tuple(context)).tolist()
        assert law.tolist() == pytest.approx(reference_law(logits, params, context), abs=1e-12)
        assert law[token] > 0
        context.append(token)


def test_a_greedy_draft_is_the_models_own_text_and_deterministic():
    texts = set()
    for params in (SamplingParams(), SamplingParams(repetition_penalty=3.0)):
        context = [1, 2]
        drafter = started(ids(*context))
        draft = drafter.propose(ids(*context), 12, params, SeededRng())
        for token in draft.tokens.tolist():
            assert token == reference_law(drafter.model._next_logits(tuple(context)).tolist(), params, context).argmax()
            context.append(token)
        assert draft.probs is None
        texts.add(tuple(context))
    assert len(texts) == 2, "the penalty makes a difference here"


@pytest.mark.parametrize("accepted, held", [(0, 3), (1, 4), (2, 5), (3, 5)])
def test_the_cache_after_a_round(accepted, held):
    prompt = ids(0, 1, 2)
    drafter = started(prompt)
    assert drafter.cache_length == 2
    draft = drafter.propose(prompt, 3, SamplingParams(), SeededRng())
    assert drafter.cache_length == 5  # the prompt and all drafted tokens but the last
    context = torch.cat([prompt, draft.tokens[:accepted], ids(5)])
    drafter.commit(context)
    assert drafter.cache_length == held
    assert drafter._cache.tokens == context[:held].tolist()


def test_tokens_missing_from_the_cache_are_fed_with_the_next_draft():
    prompt = ids(0, 1)
    drafter = started(prompt)
    later = ids(0, 1, 4, 4, 2)  # three rounds without a draft
    assert (
        drafter.propose(later, 2, SamplingParams(), SeededRng()).tokens.tolist()
        == started(later).propose(later, 2, SamplingParams(), SeededRng()).tokens.tolist()
    )
    assert drafter._cache.tokens[:5] == later.tolist()


def test_a_new_text_forgets_the_last_one():
    drafter = started(ids(0, 1, 2, 3))
    drafter.begin(ids(5, 4), TokenCache())
    assert drafter._cache.tokens == [5]


@pytest.mark.parametrize("length, drafted", [(4, 4), (5, 4), (6, 3), (7, 2), (8, 1), (9, 0), (12, 0)])
def test_a_draft_fills_its_context_to_the_last_place_and_then_drafts_nothing(length, drafted):
    prompt = torch.zeros(length, dtype=torch.long)
    drafter = started(prompt, StrictToy(markov_lm(3, VOCAB), max_context=8))
    assert len(drafter.propose(prompt, 4, SamplingParams(), SeededRng())) == drafted


@pytest.mark.parametrize("draft_vocab", [4, 9])
def test_a_vocabulary_padded_otherwise_is_cut_or_filled_up(draft_vocab):
    prompt = ids(5, 0, 5)  # 5 is beyond the smaller draft's vocabulary
    drafter = started(prompt, StrictToy(markov_lm(0, draft_vocab)))
    draft = drafter.propose(prompt, 40, SAMPLED, SeededRng())
    assert draft.probs.shape == (40, VOCAB)
    assert draft.probs.sum(-1).tolist() == pytest.approx([1.0] * 40)
    assert (draft.probs[:, min(draft_vocab, VOCAB) :] == 0).all() and set(draft.tokens.tolist()) <= set(range(min(draft_vocab, VOCAB)))


def test_another_vocabulary_is_refused():
    with pytest.raises(
        UserError, match=r"draft markov-0 has a vocabulary of 2,000 tokens and the target one of 6; choose a draft that shares"
    ):
        ModelDrafter(markov_lm(0, 2000), VOCAB)
