"""A target of four layers, and turns that it answered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.training.corpus import Corpus, read_corpus, write_hidden

VOCAB, WIDTH, ANSWER = 50, 32, 12


@pytest.fixture(scope="module")
def target() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=WIDTH, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, tie_word_embeddings=True, initializer_range=0.3,
        bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    return LlamaForCausalLM(config).to(torch.bfloat16).eval()


@pytest.fixture(scope="module")
def text(target, tmp_path_factory) -> Path:
    """Turns of three tokens and the target's own greedy answers to them."""
    file = tmp_path_factory.mktemp("corpus") / "text.npz"
    turns = torch.randint(0, VOCAB, (240, 3), generator=torch.Generator().manual_seed(1))
    answers = target.generate(turns, max_new_tokens=ANSWER, do_sample=False, attention_mask=torch.ones_like(turns))
    np.savez(
        file,
        tokens=answers.numpy().astype(np.uint16).ravel(),
        offsets=np.arange(241, dtype=np.int64) * answers.shape[1],
        prompt_len=np.full(240, 3, np.int32),
        temperature=np.zeros(240, np.float32),
    )
    return file


@pytest.fixture(scope="module")
def corpus(target, text) -> Corpus:
    write_hidden(target, read_corpus(text), text.with_name("hidden.u16"))
    return read_corpus(text, text.with_name("hidden.u16"), WIDTH)
