"""On the real model in fp32, greedy speculative output is that of transformers' own `generate`, token by token."""

from __future__ import annotations

import functools

import pytest
import torch

from specdec_lab.drafters import Drafter, ModelDrafter, NgramDrafter, SyntheticDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.loading import LoadedPair
from tests.real.prompts import every_prompt

NEW = 32


@functools.lru_cache(None)
def reference(pair: LoadedPair, text: str) -> tuple[int, ...]:
    """What `generate` of transformers writes."""
    prompt = pair.encode(text)[None]
    out = pair.target.model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=NEW, eos_token_id=sorted(pair.eos)
    )
    return tuple(out[0, prompt.shape[1] :].tolist())


def drafter_of(name: str, pair: LoadedPair, text: str) -> Drafter | None:
    vocab = pair.target.vocab_size
    return {
        "none": lambda: None,
        "model": lambda: ModelDrafter(pair.draft, vocab),
        "ngram": NgramDrafter,
        "synthetic": lambda: SyntheticDrafter(reference(pair, text), 0.7, vocab),
    }[name]()


@pytest.mark.parametrize("k", [1, 3, 5, 8])
@pytest.mark.parametrize("name", ["model", "ngram", "synthetic"])
@every_prompt
def test_speculative_output_is_that_of_transformers(cpu_pair_fp32: LoadedPair, text: str, name: str, k: int):
    pair = cpu_pair_fp32
    run = generate(pair.target, pair.encode(text), drafter_of(name, pair, text), k, stopping=Stopping(NEW, pair.eos))
    assert run.tokens == reference(pair, text)


@every_prompt
def test_plain_output_is_that_of_transformers(cpu_pair_fp32: LoadedPair, text: str):
    run = generate(cpu_pair_fp32.target, cpu_pair_fp32.encode(text), stopping=Stopping(NEW, cpu_pair_fp32.eos))
    assert run.tokens == reference(cpu_pair_fp32, text)


COPY = "Repeat this sentence three times: The quick brown fox jumps over the lazy dog."


@pytest.mark.parametrize(("name", "least"), [("model", 0.1), ("ngram", 0.1), ("synthetic", 0.3)])
def test_the_drafts_are_accepted_now_and_then(cpu_pair_fp32: LoadedPair, name: str, least: float):
    """Identity would be no news if nothing were ever accepted."""
    pair = cpu_pair_fp32
    run = generate(pair.target, pair.encode(COPY), drafter_of(name, pair, COPY), 3, stopping=Stopping(NEW, pair.eos))
    assert (run.metrics.acceptance_rate or 0) >= least
