"""What several tests need: an independent statement of every law, toys that watch their bounds, scripted drafters."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters import Draft
from specdec_lab.drafters.interface import NOTHING
from specdec_lab.drafters.shapes import Growth, Shape
from specdec_lab.engine import Round
from specdec_lab.models.heads import EagleHead, ExitHead, MedusaHeads
from specdec_lab.models.hf import HFModel
from specdec_lab.models.interface import Cache, LanguageModel
from specdec_lab.models.reduced import reduced_head
from specdec_lab.models.toy import TokenCache, ToyLM
from specdec_lab.sampling import Rng, SamplingParams

Law = dict[Hashable, float]
SAMPLED = SamplingParams(temperature=1.0)


def ids(*tokens: int) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long)


# --- the laws, written once more and otherwise: in numpy, on probabilities, by sets of kept tokens ---


def reference_law(logits: Sequence[float], params: SamplingParams, context: Sequence[int]) -> np.ndarray:
    """What `sampling.laws` has to say about one row."""
    scores = np.array(logits, dtype=np.float64)
    for token in set(context):
        scores[token] = scores[token] / params.repetition_penalty if scores[token] > 0 else scores[token] * params.repetition_penalty
    if params.temperature == 0:
        return np.eye(len(scores))[int(np.argmax(scores))]
    weights = np.exp((scores - scores.max()) / params.temperature)
    if params.top_k:
        kth = sorted(weights, reverse=True)[min(params.top_k, len(weights)) - 1]
        weights = np.where(weights >= kth, weights, 0.0)
    p = weights / weights.sum()
    total, least = 0.0, math.inf
    for share in sorted(p, reverse=True):
        if total < params.top_p:
            total, least = total + share, share
    p = np.where((p >= least) & (p >= params.min_p * p.max()), p, 0.0)
    return p / p.sum()


def reference_generation_law(model: ToyLM, prompt: Sequence[int], params: SamplingParams, tokens: int) -> Law:
    """The law of the next `tokens` ids of plain decoding, as a product of `reference_law`s."""
    if tokens == 0:
        return {(): 1.0}
    law: Law = {}
    for token, p in enumerate(reference_law(model._next_logits(tuple(prompt)).tolist(), params, prompt)):
        if p > 0:
            rest = reference_generation_law(model, [*prompt, token], params, tokens - 1)
            law.update({(token, *ending): p * q for ending, q in rest.items()})
    return law


def assert_same_law(law: Law, reference: Law, tolerance: float = 1e-12) -> None:
    apart = max(abs(law.get(x, 0.0) - reference.get(x, 0.0)) for x in law.keys() | reference.keys())
    assert apart <= tolerance, f"the laws are {apart:.3g} apart"
    assert abs(sum(law.values()) - 1.0) <= tolerance


# --- toys ---


class StrictToy(ToyLM):
    """A toy that remembers its answers and refuses what an embedding would: ids and positions out of range."""

    def __init__(self, toy: ToyLM, max_context: int | None = None) -> None:
        super().__init__(functools.lru_cache(None)(toy._next_logits), toy.vocab_size, max_context or toy.max_context, toy.name)

    def __call__(self, input_ids: Tensor, cache: TokenCache, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        assert 0 <= int(input_ids.min()) <= int(input_ids.max()) < self.vocab_size, "an id outside the vocabulary was fed"
        assert len(cache) + input_ids.shape[1] <= self.max_context, "a position outside the context was fed"
        return super().__call__(input_ids, cache, logits_to_keep, mask)


@functools.lru_cache(None)
def tiny_llama(seed: int, noise: float = 0.0, vocab: int = 64) -> HFModel:
    """A random two-layer Llama in float64, whose text does not fall into a loop at once; with noise on its weights, a
    draft that resembles the one without (0.02: about 6 of 10 tokens stand)."""
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config).double()
        for weights in model.parameters() if noise else ():
            weights.data.add_(torch.randn_like(weights), alpha=noise)
    return HFModel(model, f"tiny-{seed}")


class Watched:
    """A model whose latest cache can be looked at."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def __getattr__(self, name: str):
        return getattr(self._model, name)

    def new_cache(self) -> Cache:
        self.cache = self._model.new_cache()
        return self.cache

    def __call__(self, *args, **kwargs) -> Tensor:
        return self._model(*args, **kwargs)


def assert_cache_confirms(model: LanguageModel, cache: Cache, context: Tensor) -> None:
    """What the cache holds predicts the same as a pass over the context that starts from nothing."""
    cached = model(context[None, len(cache) :], copy.deepcopy(cache))[0, -1]
    fresh = model(context[None], model.new_cache())[0, -1]
    assert float((cached - fresh).abs().max()) < 1e-9, f"a cache of {len(cache)} tokens is stale"


# --- drafters ---


class FunctionDrafter:
    """Proposes `propose(context, k)`, a list of ids: a deterministic draft of any length, too long ones included."""

    name, cache_length = "function", None

    def __init__(self, propose: Callable[[list[int], int], Sequence[int]]) -> None:
        self._propose = propose

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        pass

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        return Draft(ids(*self._propose(context.tolist(), k)))

    def commit(self, context: Tensor) -> None:
        pass


def always(draft: Sequence[int]) -> FunctionDrafter:
    """The same tokens in every round."""
    return FunctionDrafter(lambda context, k: draft[:k])


class Moody:
    """Another drafter, which says nothing, or less than it is asked for, according to the length of the context."""

    def __init__(self, inner, upto: Callable[[int], int]) -> None:
        self._inner, self._upto, self.name = inner, upto, "moody"
        self.begin, self.commit = inner.begin, inner.commit

    @property
    def cache_length(self) -> int | None:
        return self._inner.cache_length

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        k = min(k, self._upto(len(context)))
        return self._inner.propose(context, k, params, rng) if k else NOTHING


class TreeDrafter:
    """Draws a token tree from a toy; `independent` siblings may be equal, others are drawn without replacement, and at
    temperature 0, or for `ranked`, they are the most likely ones."""

    name, cache_length = "tree", None

    def __init__(self, toy: ToyLM, shape: Shape, way: str = "without replacement") -> None:
        self._toy, self._shape, self._way = toy, shape, way

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        pass

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        growth = Growth(self._shape, k, context, SamplingParams() if self._way == "ranked" else params, rng)
        for level in range(len(growth.levels)):
            for node in growth.branches(level):
                logits = self._toy._next_logits(tuple([*context.tolist(), *growth.path(node).tolist()]))
                growth.grow(level, node, logits)
        return growth.draft()

    def commit(self, context: Tensor) -> None:
        pass


# --- trained parts, untrained ---


@functools.lru_cache(None)
def tiny_heads(seed: int, vocab: int = 64) -> dict[str, Any]:
    """Random heads for `tiny_llama(seed, vocab=vocab)`: Medusa, EAGLE, and an exit behind its first layer."""
    target = tiny_llama(seed, vocab=vocab)
    with torch.random.fork_rng():
        torch.manual_seed(seed + 100)
        made = {
            "medusa": MedusaHeads(32, 16, 3),
            "eagle": EagleHead(target.model.config, target.model.model.embed_tokens),
            "exit": ExitHead(target.model.config, 1),
        }
        for part in made.values():
            part.double().requires_grad_(False).eval()
            part.output = reduced_head(torch.arange(vocab), target)
        for weight in (*made["medusa"].fall.parameters(), made["exit"].block.down_proj.weight):
            weight.normal_(0, 0.3)
    return made


# --- the rest ---


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Models this small lose time to a second thread. Import it to use it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class ScriptedRng:
    """Uniforms from a list; a draw takes the most likely token and notes the law it was given."""

    def __init__(self, *uniforms: float) -> None:
        self._uniforms, self.drawn = list(uniforms), []

    def uniform(self) -> float:
        return self._uniforms.pop(0)

    def draw(self, law: Tensor) -> int:
        self.drawn.append(law)
        return int(law.argmax())

    @property
    def left(self) -> int:
        return len(self._uniforms)


class PieceTokenizer:
    """Token i is written `pieces[i]`; the last piece is a special token, which decoding skips when asked to."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = list(pieces)

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        shown = len(self.pieces) - 1 if skip_special_tokens else len(self.pieces)
        return "".join(self.pieces[i] for i in token_ids if i < shown)


def rounds(*accepted: int, k: int) -> list[Round]:
    """Records of rounds that drafted k tokens each and accepted so many."""
    return [
        Round(
            context_length=10,
            drafted=tuple(range(k)),
            accepted=a,
            next_token=9,
            emitted=(*range(a), 9),
            draft_seconds=0.0,
            verify_seconds=0.0,
            seconds=0.0,
            target_cache=0,
            draft_cache=None,
        )
        for a in accepted
    ]
