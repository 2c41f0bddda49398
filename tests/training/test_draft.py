"""Distillation in the small: it learns, resumes where it stopped, holds out what it says, and its file is a draft."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

from specdec_lab.models.hf import HFModel
from specdec_lab.models.reduced import load_reduced
from specdec_lab.training import draft as draft_module
from specdec_lab.training.corpus import Corpus, frequent_tokens
from specdec_lab.training.draft import draft_part, new_draft, save
from specdec_lab.training.part import Labels, train

VOCAB = 50


def fresh(target: LlamaForCausalLM) -> LlamaForCausalLM:
    copy = LlamaForCausalLM(target.config)
    copy.load_state_dict(target.state_dict())
    return copy.eval()


def test_held_out_turns_are_not_trained_on(corpus: Corpus):
    trained = {corpus.tokens[r.start : r.start + r.answer].tobytes() for r in corpus.training()}
    held_out = {corpus.tokens[r.start : r.start + r.answer].tobytes() for r in corpus.held_out_greedy()}
    assert held_out and trained and not trained & held_out


def test_hidden_states_give_the_targets_logits(target, corpus: Corpus):
    row = corpus.rows[7]
    ids = torch.from_numpy(corpus.tokens[row.start : row.start + row.length].astype(np.int64))
    stored = torch.from_numpy(np.array(corpus.hidden[row.start : row.start + row.length])).view(torch.bfloat16)
    with torch.no_grad():
        assert torch.allclose(stored @ target.model.embed_tokens.weight.T, target(ids[None]).logits[0], atol=0.1)


def test_training_teaches_the_draft_the_targets_answers(target, corpus: Corpus):
    whole = fresh(target)
    labels = Labels(whole, frequent_tokens(corpus, 40, VOCAB))
    part, rows = draft_part(whole.float(), corpus, labels, (0, 3)), corpus.training()[:60]
    before = part.alphas(rows)[0]
    list(train(part, corpus, 300, 0, 3e-3, None))
    assert part.alphas(rows)[0] > before + 0.15


def test_the_saved_file_is_a_draft_for_its_target(target, corpus: Corpus, tmp_path: Path):
    ids = frequent_tokens(corpus, 40, VOCAB)
    draft = new_draft(fresh(target), (0, 3))
    save({n: w for n, w in draft.model.state_dict().items() if "embed" not in n}, ids, {"seed": 0}, tmp_path / draft_module.WEIGHTS)
    loaded = load_reduced(tmp_path, HFModel(fresh(target).float(), "tiny"))
    context = torch.tensor([[1, 2, 3]])
    logits = loaded(context, loaded.new_cache())
    with torch.no_grad():
        whole = draft(context).logits
    assert torch.allclose(logits[..., ids], whole[..., ids], atol=0.05)
    assert torch.isinf(logits).sum(-1).unique().tolist() == [VOCAB - 40]
