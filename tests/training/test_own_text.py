"""The target's own text, written on the spot: it is what plain decoding writes, with the states that give its logits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.engine import Stopping, generate
from specdec_lab.models.hf import HFModel
from specdec_lab.training import own_text
from specdec_lab.training.corpus import Corpus, read_corpus
from specdec_lab.training.part import states_of

VOCAB, TOKENS = 60, 12
PROMPTS = [torch.tensor(ids) for ids in ([1, 2, 3], [4, 5], [6, 7, 8, 9, 10], [11, 12, 13], [14], [15, 16, 17, 18])]


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
def eos(target: HFModel) -> frozenset[int]:
    """A token that ends some of the texts early."""
    texts = [generate(target, prompt, stopping=Stopping(TOKENS)).tokens for prompt in PROMPTS]
    return frozenset({texts[0][4], texts[2][1]})


@pytest.fixture(scope="module")
def corpus(target: HFModel, eos: frozenset[int]) -> Corpus:
    return own_text.write(target, PROMPTS, [1, 4], TOKENS, eos)


def tokens_of(corpus: Corpus, i: int) -> list[int]:
    row = corpus.rows[i]
    return corpus.tokens[row.start : row.start + row.length].tolist()


def test_it_is_what_plain_decoding_writes(target, eos, corpus):
    lengths = set()
    for i, prompt in enumerate(PROMPTS):
        plain = generate(target, prompt, stopping=Stopping(TOKENS, eos))
        assert tokens_of(corpus, i) == [*prompt.tolist(), *plain.tokens]
        assert corpus.rows[i].answer == len(prompt) and corpus.rows[i].greedy
        lengths.add(len(plain.tokens))
    assert len(lengths) > 1 and TOKENS in lengths, "some texts end early, and leave the batch"


def test_small_batches_write_the_same(target, eos, corpus, monkeypatch):
    monkeypatch.setattr(own_text, "BATCH", 4)
    told: list[int] = []
    again = own_text.write(target, PROMPTS, [1, 4], TOKENS, eos, told.append)
    assert again.tokens.tolist() == corpus.tokens.tolist() and again.rows == corpus.rows


def test_progress_counts_on_from_batch_to_batch(target, monkeypatch):
    monkeypatch.setattr(own_text, "BATCH", 4)
    told: list[int] = []
    own_text.write(target, PROMPTS, [], 16, frozenset(), told.append)
    assert told == [64, 96]


def test_states_give_the_targets_logits_and_the_last_is_not_known(target, corpus):
    for i, row in enumerate(corpus.rows):
        states = states_of(corpus, row)
        with torch.no_grad():
            right = target.model(torch.tensor([tokens_of(corpus, i)])).logits[0]
            ours = target.model.lm_head(states.float())
        assert torch.allclose(ours[:-1], right[:-1], atol=0.1)
        assert not states[-1].any()


def test_held_out_is_what_was_asked_for(corpus):
    assert [row.held_out for row in corpus.rows] == [False, True, False, False, True, False]
    assert len(corpus.held_out_greedy()) == 2 and len(corpus.training()) == 4


def test_questions_are_all_different_and_none_is_learnt_and_judged():
    learnt, judged = own_text.turns()
    assert len(set(learnt + judged)) == len(learnt) + len(judged) == 24 * len(own_text.SUBJECTS)
    few, same = own_text.turns(10)
    assert same == judged and set(few) < set(learnt) and len(few) == 6 * len(own_text.SUBJECTS)


def test_the_courses_prompts_are_not_among_the_questions():
    """They are what chapter 9 tries its draft on."""
    from specdec_lab.measure.workloads import SHORT

    learnt, judged = own_text.turns()
    assert not {prompt for prompts in SHORT.values() for prompt in prompts} & set(learnt + judged)


def test_other_text_is_cut_into_rows_and_read_from_their_starts(target):
    ids = torch.randint(0, VOCAB, (40,), generator=torch.Generator().manual_seed(1))
    corpus = own_text.read(target, ids, [5, 9, 3], batch=2)
    assert [(row.start, row.length, row.answer) for row in corpus.rows] == [(0, 6, 1), (6, 10, 1), (16, 4, 1)]
    assert corpus.tokens.tolist() == ids[:20].tolist()
    row = corpus.rows[1]
    with torch.no_grad():
        right = target.model(ids[None, 6:16]).logits[0]
        assert torch.allclose(target.model.lm_head(states_of(corpus, row).float()), right, atol=0.1)
    with pytest.raises(ValueError, match="too few"):
        own_text.read(target, ids, [20, 20])


def test_other_text_is_judged_by_the_targets_own_answers(target, corpus):
    other = own_text.read(target, torch.arange(30), [8, 8])
    both = own_text.judged_by(other, corpus)
    assert both.training() == other.rows
    assert len(both.held_out_greedy()) == 2
    for mine, theirs in zip(both.held_out_greedy(), corpus.held_out_greedy(), strict=True):
        assert np.array_equal(
            both.tokens[mine.start : mine.start + mine.length], corpus.tokens[theirs.start : theirs.start + theirs.length]
        )
        assert torch.equal(states_of(both, mine), states_of(corpus, theirs))


def test_on_disk_it_is_what_the_trainers_read(corpus, tmp_path):
    own_text.save(corpus, tmp_path / "text.npz")
    again = read_corpus(tmp_path / "text.npz")
    assert again.tokens.tolist() == corpus.tokens.tolist()
    assert [(r.start, r.length, r.answer, r.greedy) for r in again.rows] == [(r.start, r.length, r.answer, r.greedy) for r in corpus.rows]


def test_the_command_answers_a_file_of_questions(target, tmp_path, monkeypatch, capsys):
    class Pair:
        eos = frozenset({7})

        def encode(self, text):
            return torch.tensor([len(text), 3])

    pair = Pair()
    pair.target = target
    monkeypatch.setattr(own_text, "load_pair", lambda name: pair)
    (tmp_path / "questions.txt").write_text("What?\n\nWho is it?\n")
    own_text.main(tmp_path / "text.npz", tmp_path / "questions.txt", 16)
    rows = read_corpus(tmp_path / "text.npz")
    assert [int(rows.tokens[row.start]) for row in rows.rows] == [5, 10] and "tokens" in capsys.readouterr().out
