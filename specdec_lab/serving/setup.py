"""One description of a speculative set-up: who writes, who drafts, how far ahead, how it is sampled and on what it runs.

The renderers (`vllm`, `sglang`, `llama_cpp`, `tensorrt_llm`, `transformers`) turn it into an engine's own configuration, and refuse
by a UserError what that engine cannot do: nothing of a set-up is dropped silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from specdec_lab.errors import UserError

Dtype = Literal["auto", "bfloat16", "float16", "float32"]
Verification = Literal["standard", "block", "synthetic"]
DraftSampling = Literal["greedy", "probabilistic"]


@dataclass(frozen=True)
class Heads:
    """The attention heads of a model and its key-value heads: tensor parallelism splits both over the GPUs."""

    attention: int
    key_value: int


@dataclass(frozen=True)
class NoDrafter:
    """Plain decoding: the baseline of every comparison."""


@dataclass(frozen=True)
class DraftModel:
    """A separate model with the target's vocabulary. `heads`, where known, are checked against the parallelism."""

    model: str
    heads: Heads | None = None


@dataclass(frozen=True)
class Ngram:
    """Prompt lookup: endings of `lookup_max` tokens are tried first, then shorter ones down to `lookup_min`."""

    lookup_min: int = 1
    lookup_max: int = 4


@dataclass(frozen=True)
class Suffix:
    """Suffix decoding (Oliaro et al. 2024, arXiv:2411.04975). `tree_depth`: tokens matched and drafted together, at most."""

    tree_depth: int = 24


@dataclass(frozen=True)
class Eagle3:
    """An EAGLE-3 head (Li et al. 2025, arXiv:2503.01840), trained for this target."""

    head: str


@dataclass(frozen=True)
class Medusa:
    """Medusa heads (Cai et al. 2024, arXiv:2401.10774), trained for this target."""

    head: str


@dataclass(frozen=True)
class Custom:
    """A drafter of your own: a class by its importable name, as vLLM loads it into its own process (`serving.coin_flip` is one)."""

    proposer: str


Drafter = NoDrafter | DraftModel | Ngram | Suffix | Eagle3 | Medusa | Custom


@dataclass(frozen=True)
class Sampling:
    """What a request asks for where it says nothing else. temperature 0 is greedy; top_k 0, top_p 1 and min_p 0 are off."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int = 128


@dataclass(frozen=True)
class Parallel:
    """GPUs: `tensor` split each layer, `pipeline` split the stack of layers, all `nodes` machines together hold tensor x pipeline.

    `draft_tensor` is the draft's own split; None is the engine's choice.
    """

    tensor: int = 1
    pipeline: int = 1
    nodes: int = 1
    draft_tensor: int | None = None

    @property
    def gpus(self) -> int:
        """GPUs over all nodes."""
        return self.tensor * self.pipeline

    @property
    def gpus_per_node(self) -> int:
        return self.gpus // self.nodes


@dataclass(frozen=True)
class Rejection:
    """How drafted tokens are tested: `standard` (rejection sampling), `block` (block verification) or `synthetic`.

    Synthetic acceptance ignores the models' opinions, for timing: the text is worthless. Given `acceptance_length`, that many tokens
    are emitted per target pass on average, the target's own included, spread as the engine likes: vLLM accepts the same number of
    drafted tokens in every round, give or take one. Given `p`, each token that is tested stands with that chance, which is the
    law of the closed forms.
    """

    method: Verification = "standard"
    acceptance_length: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class Setup:
    """A speculative set-up. Raises UserError for what no engine could run.

    target: a hub name or a path. k: tokens drafted per round, 0 without a drafter. max_model_len: prompt and answer together, in
    tokens; None is the model's own. gpu_memory: the share of a GPU's memory that weights and cache may take, in (0, 1]; None is
    the engine's default, as is port None. target_heads, where known, are checked against the parallelism.

    draft_sampling: above temperature 0 a draft token may be the draft's likeliest one (`greedy`: it stands with the target's
    probability of it) or drawn from the draft's law (`probabilistic`: it stands with 1 - TV). None is the engine's default, which is
    greedy in vLLM and llama.cpp.
    """

    target: str
    drafter: Drafter
    k: int = 5
    dtype: Dtype = "bfloat16"
    max_model_len: int | None = None
    sampling: Sampling = Sampling()
    parallel: Parallel = Parallel()
    rejection: Rejection = Rejection()
    draft_sampling: DraftSampling | None = None
    port: int | None = None
    gpu_memory: float | None = None
    enforce_eager: bool = False
    seed: int = 0
    target_heads: Heads | None = None

    def __post_init__(self) -> None:
        _check_names(self)
        _check_length(self)
        _check_lookup(self.drafter)
        _check_sampling(self.sampling)
        _check_parallel(self)
        _check_rejection(self)
        _check_draft_sampling(self)
        _check_limits(self)


def _require(fine: bool, message: str) -> None:
    if not fine:
        raise UserError(message)


def _check_names(setup: Setup) -> None:
    _require(bool(setup.target.strip()), "The set-up has no target: give a model's name or path.")
    drafter = setup.drafter
    if isinstance(drafter, Custom):
        fine = all(part.isidentifier() for part in drafter.proposer.split(".")) and "." in drafter.proposer
        _require(fine, f"{drafter.proposer!r} is no name of a class in a module: write it as package.module.Class.")
    named = drafter.model if isinstance(drafter, DraftModel) else getattr(drafter, "head", "none needed")
    kind = type(drafter).__name__
    _require(bool(named.strip()), f"The drafter {kind} names no model: give its name or path, or take Ngram(), which needs none.")
    _require(setup.dtype in get_args(Dtype), f"dtype is {setup.dtype!r}: take one of {', '.join(get_args(Dtype))}.")


def _check_length(setup: Setup) -> None:
    if isinstance(setup.drafter, NoDrafter):
        _require(setup.k == 0, f"k is {setup.k}, but there is no drafter: set k=0, or name a drafter such as Ngram().")
    else:
        _require(setup.k >= 1, f"k is {setup.k}, but a drafter has to propose at least one token: set k to 1 or more.")
    longest = setup.max_model_len
    fits = longest is None or longest > setup.k + 1
    _require(fits, f"max_model_len is {longest}, which leaves no room for a prompt and {setup.k} drafted tokens: raise it or lower k.")


def _check_lookup(drafter: Drafter) -> None:
    if isinstance(drafter, Ngram):
        fine = 1 <= drafter.lookup_min <= drafter.lookup_max
        shown = f"lookup_min is {drafter.lookup_min} and lookup_max {drafter.lookup_max}"
        _require(fine, f"{shown}, but 1 <= lookup_min <= lookup_max has to hold: 1 and 4 are a fair start.")
    if isinstance(drafter, Suffix):
        _require(drafter.tree_depth >= 2, f"tree_depth is {drafter.tree_depth}: one token to match and one to draft take at least 2.")


def _check_sampling(sampling: Sampling) -> None:
    for name, fine, wanted in (
        ("temperature", sampling.temperature >= 0, "0 (greedy) or more"),
        ("top_p", 0 < sampling.top_p <= 1, "in (0, 1]; 1 is off"),
        ("top_k", sampling.top_k >= 0, "0 (off) or more"),
        ("min_p", 0 <= sampling.min_p < 1, "in [0, 1); 0 is off"),
        ("max_tokens", sampling.max_tokens >= 1, "1 or more"),
    ):
        _require(fine, f"{name} is {getattr(sampling, name)}, but has to be {wanted}.")


def _check_parallel(setup: Setup) -> None:
    parallel = setup.parallel
    for name in ("tensor", "pipeline", "nodes"):
        value = getattr(parallel, name)
        _require(value >= 1, f"{name} is {value}: it counts GPUs or machines, so set it to 1 or more.")
    even = parallel.gpus % parallel.nodes == 0
    _require(even, f"{parallel.gpus} GPUs do not spread evenly over {parallel.nodes} nodes: make tensor x pipeline a multiple of nodes.")
    _check_heads("target", setup.target_heads, parallel.tensor)
    if parallel.draft_tensor is None:
        draft_split = parallel.tensor
    else:
        _require(isinstance(setup.drafter, DraftModel | Eagle3 | Medusa), "draft_tensor is set, but no draft model is: leave it None.")
        allowed = parallel.draft_tensor in (1, parallel.tensor)
        _require(allowed, f"draft_tensor is {parallel.draft_tensor}: it can be 1 or the target's {parallel.tensor}, nothing between.")
        draft_split = parallel.draft_tensor
    if isinstance(setup.drafter, DraftModel):
        _check_heads("draft", setup.drafter.heads, draft_split)


def _check_heads(whose: str, heads: Heads | None, split: int) -> None:
    """Each GPU gets whole attention heads; key-value heads are split too, or repeated where there are fewer than GPUs."""
    if heads is None:
        return
    fits = [n for n in range(1, heads.attention + 1) if _divides(heads, n)]
    way_out = f"{', '.join(map(str, fits))} would do"
    shown = f"{heads.attention} attention heads and {heads.key_value} key-value heads"
    _require(split in fits, f"The {whose} has {shown}, which {split} GPUs cannot share out: {way_out}.")


def _divides(heads: Heads, n: int) -> bool:
    return heads.attention % n == 0 and (heads.key_value % n == 0 if heads.key_value >= n else n % heads.key_value == 0)


def _check_draft_sampling(setup: Setup) -> None:
    how = setup.draft_sampling
    if how is None:
        return
    _require(how in get_args(DraftSampling), f"draft_sampling is {how!r}: take one of {', '.join(get_args(DraftSampling))}, or None.")
    drawn = isinstance(setup.drafter, DraftModel | Eagle3)
    _require(drawn, f"draft_sampling is {how}, but the drafter has no law to draw from: leave it None, or take a DraftModel.")


def _check_rejection(setup: Setup) -> None:
    method, length, p = setup.rejection.method, setup.rejection.acceptance_length, setup.rejection.p
    _require(method in get_args(Verification), f"rejection method {method!r} is none of {', '.join(get_args(Verification))}.")
    drafts = not isinstance(setup.drafter, NoDrafter)
    _require(method == "standard" or drafts, f"{method} verification tests drafted tokens, but there is no drafter: name one.")
    if method != "synthetic":
        alone = length is None and p is None
        _require(alone, f"acceptance_length and p belong to synthetic acceptance: leave them None with the method {method}.")
        return
    wanted = f"tokens per target pass, from 1 to {setup.k + 1}, or the chance p of each tested token"
    _require((length is None) != (p is None), f"synthetic acceptance needs an acceptance_length or a p, one of the two: give {wanted}.")
    fine = length is None or 1 <= length <= setup.k + 1
    _require(fine, f"acceptance_length is {length}, but with k={setup.k} a target pass emits from 1 to {setup.k + 1} tokens.")
    _require(p is None or 0 <= p <= 1, f"p is {p}, but a probability lies in [0, 1].")


def _check_limits(setup: Setup) -> None:
    port, share = setup.port, setup.gpu_memory
    _require(port is None or 1 <= port <= 65535, f"port is {port}: take one from 1 to 65535, above 1023 without root.")
    _require(share is None or 0 < share <= 1, f"gpu_memory is {share}: it is a share of the GPU's memory, in (0, 1].")
    _require(setup.seed >= 0, f"seed is {setup.seed}: engines take 0 or more.")
