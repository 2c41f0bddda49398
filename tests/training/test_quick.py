"""Chapter 9's training in the small: it learns, with the loss that it is given, and what comes out is a lossless draft."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.engine import Stopping, generate
from specdec_lab.models.hf import HFModel
from specdec_lab.training import own_text, quick
from specdec_lab.training.losses import distillation_loss, total_variation_loss
from specdec_lab.verify import verify_greedy

VOCAB = 24


@pytest.fixture(scope="module")
def target() -> HFModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=128, tie_word_embeddings=True, initializer_range=0.3,
        bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    return HFModel(LlamaForCausalLM(config), "tiny")


@pytest.fixture(scope="module")
def corpus(target):
    prompts = list(torch.randint(0, VOCAB, (80, 3), generator=torch.Generator().manual_seed(1)))
    return own_text.write(target, prompts, range(64, 80), 16, frozenset())


@pytest.fixture(scope="module")
def trained(target, corpus):
    part = quick.new_head(target, torch.arange(VOCAB), corpus)
    before = quick.alpha(part)
    seen = list(quick.train(part, 120, reports=4))
    return part, before, seen


def test_it_learns_from_the_targets_own_text(trained):
    part, before, seen = trained
    assert [at.step for at in seen] == [30, 60, 90, 120]
    assert seen[-1].loss < seen[0].loss and seen[-1].alpha > before + 0.2, (before, seen)
    assert quick.alpha(part) == seen[-1].alpha and not part.module.training


def test_two_heads_start_alike(target, corpus):
    one, two = (quick.new_head(target, torch.arange(VOCAB), corpus, loss) for loss in (distillation_loss, total_variation_loss))
    assert all(torch.equal(a, b) for a, b in zip(one.module.parameters(), two.module.parameters(), strict=True))


def test_the_given_loss_is_the_one_that_trains(target, corpus):
    asked = []

    def mine(draft, target):
        asked.append((draft.shape, target.shape, target.requires_grad))
        return total_variation_loss(draft, target)

    part = quick.new_head(target, torch.arange(5, VOCAB), corpus, mine)
    rows = corpus.training()[:4]
    loss = part.loss_on(rows)
    predicted = sum(row.length - row.answer for row in rows)
    assert asked == [((predicted, VOCAB - 5), (predicted, VOCAB - 5), False)] and 0 < loss.item() < 1


def test_acceptance_is_that_of_the_laws_word_by_word(target, corpus, trained):
    """Against the definition, a place at a time; a draft that cannot say all tokens loses what the target gives the others."""
    part = trained[0]
    few = quick.new_head(target, torch.arange(3, VOCAB, 2), corpus)
    few.module.load_state_dict(part.module.state_dict())
    for head in (part, few):
        overlaps = []
        for row in corpus.held_out_greedy():
            ids = torch.from_numpy(corpus.tokens[row.start : row.start + row.length])[None]
            with torch.no_grad():
                p = target.model(ids).logits[0].softmax(-1)
                q = head.labels.logits(head.guesses([row])[0][0]).softmax(-1)
            for place in range(row.answer, row.length):  # p is the law after place - 1, q was guessed at place - 2
                law = torch.zeros(VOCAB).index_add(0, head.labels.ids, q[place - 2])
                overlaps.append(float(torch.minimum(p[place - 1], law).sum()))
        assert quick.acceptance(head, target) == pytest.approx(sum(overlaps) / len(overlaps), abs=0.02)  # states are kept in 16 bits


def test_it_drafts_what_it_has_learnt_and_the_text_stays(target, corpus, trained):
    part, before, _ = trained
    prompt, stopping = torch.tensor([3, 1, 2]), lambda: Stopping(40)
    plain = generate(target, prompt, stopping=stopping())
    fast = generate(target, prompt, quick.drafter(part, target), 2, stopping=stopping(), verify=verify_greedy)
    assert fast.tokens == plain.tokens
    assert fast.metrics.rounds < plain.metrics.rounds and fast.metrics.alpha > before


def test_a_head_without_text_can_draft(target):
    drafter = quick.drafter(quick.new_head(target, torch.arange(VOCAB)), target)
    assert generate(target, torch.tensor([3, 1]), drafter, 2, stopping=Stopping(10)).metrics.drafted > 0
