"""On the real model in fp32, greedy speculative output is that of transformers' own `generate`, token by token."""

from __future__ import annotations

import functools

import pytest
import torch

from specdec_lab.drafters import AdaptiveDrafter, Drafter, SyntheticDrafter
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.ladder import FOR_EVERY_PAIR, WITH_TRAINED_PARTS
from specdec_lab.drafters.ladder import drafter as ladder_drafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.heads import load_eagle, load_medusa
from specdec_lab.models.loading import LoadedPair
from specdec_lab.theory.closed_forms import optimal_k
from tests.real.prompts import PROMPTS, every_prompt

NEW = 32


@functools.lru_cache(None)
def reference(pair: LoadedPair, text: str) -> tuple[int, ...]:
    """What `generate` of transformers writes."""
    prompt = pair.encode(text)[None]
    out = pair.target.model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=NEW, eos_token_id=sorted(pair.eos)
    )
    return tuple(out[0, prompt.shape[1] :].tolist())


LADDER = [*FOR_EVERY_PAIR, *WITH_TRAINED_PARTS]


@functools.lru_cache(None)
def rung(pair: LoadedPair, name: str) -> Drafter:
    return ladder_drafter(name, pair)


def drafter_of(name: str, pair: LoadedPair, text: str) -> Drafter:
    if name == "synthetic":
        return SyntheticDrafter(reference(pair, text), 0.7, pair.target.vocab_size)
    if name == "adaptive":
        return AdaptiveDrafter(rung(pair, "model"), lambda alpha: optimal_k(alpha, 0.1))
    return rung(pair, name)


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


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in [*LADDER, "adaptive"] if name not in ("model", "ngram")])
@pytest.mark.parametrize(("k", "text"), [(k, PROMPTS[i]) for i, k in enumerate((1, 3, 5, 8, 2, 4))])
def test_every_rung_of_the_ladder(cpu_pair_fp32: LoadedPair, text: str, name: str, k: int):
    pair = cpu_pair_fp32
    run = generate(pair.target, pair.encode(text), drafter_of(name, pair, text), k, stopping=Stopping(NEW, pair.eos))
    assert run.tokens == reference(pair, text)


SHAPES = {"siblings": full(8), "full": full(3, 2, 2), "comb": (-1, -1, -1, 0, 0, 3, 3, 5), "deep": (-1, -1, 0, 1, 2, 3, 4, 5)}


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["medusa", "eagle"])
def test_every_shape_of_tree(cpu_pair_fp32: LoadedPair, kind: str, shape: str):
    pair = cpu_pair_fp32
    heads = {"medusa": lambda s: MedusaDrafter(load_medusa(pair.target), s), "eagle": lambda s: EagleDrafter(load_eagle(pair.target), s)}
    for text in PROMPTS[:3]:
        run = generate(pair.target, pair.encode(text), heads[kind](SHAPES[shape]), 4, stopping=Stopping(NEW, pair.eos))
        assert run.tokens == reference(pair, text)


COPY = "Repeat this sentence three times: The quick brown fox jumps over the lazy dog."


@pytest.mark.parametrize(("name", "least"), [("model", 0.1), ("ngram", 0.1), ("synthetic", 0.3)])
def test_the_drafts_are_accepted_now_and_then(cpu_pair_fp32: LoadedPair, name: str, least: float):
    """Identity would be no news if nothing were ever accepted."""
    pair = cpu_pair_fp32
    run = generate(pair.target, pair.encode(COPY), drafter_of(name, pair, COPY), 3, stopping=Stopping(NEW, pair.eos))
    assert (run.metrics.acceptance_rate or 0) >= least
