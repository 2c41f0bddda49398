"""What the checks of chapter 5 run on: a real transformers model made in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.models.hf import HFModel

VOCAB = 64


@lru_cache(None)
def tiny_llama(seed: int) -> HFModel:
    """A random Llama of 2 layers and 64 tokens, in float64."""
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return HFModel(LlamaForCausalLM(config).double(), f"tiny-{seed}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Models this small lose time to a second thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
