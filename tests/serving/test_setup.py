"""A set-up that no engine could run is refused in one sentence with a way out."""

from __future__ import annotations

from typing import Any

import pytest

from specdec_lab.errors import UserError
from specdec_lab.models.registry import find_pair
from specdec_lab.serving import presets
from specdec_lab.serving.setup import (
    Custom,
    DraftModel,
    Eagle3,
    Heads,
    Medusa,
    Ngram,
    NoDrafter,
    Parallel,
    Rejection,
    Sampling,
    Setup,
    Suffix,
)
from tests.serving.support import one_sentence

DRAFT = DraftModel("draft", Heads(9, 3))
BROKEN: list[tuple[Any, dict[str, Any], str]] = [
    (Ngram(), {"target": " "}, "no target"),
    (DraftModel(""), {}, "DraftModel names no model"),
    (Eagle3(""), {}, "Eagle3 names no model"),
    (Ngram(), {"k": 0}, "at least one token"),
    (Ngram(), {"k": -1}, "at least one token"),
    (NoDrafter(), {"k": 5}, "there is no drafter: set k=0"),
    (Ngram(), {"dtype": "int3"}, "take one of auto, bfloat16"),
    (Ngram(), {"max_model_len": 6}, "no room for a prompt and 5 drafted"),
    (Ngram(5, 4), {}, "lookup_min is 5 and lookup_max 4"),
    (Ngram(0, 4), {}, "1 <= lookup_min"),
    (Suffix(1), {}, "tree_depth is 1"),
    (Ngram(), {"sampling": Sampling(temperature=-0.1)}, "temperature is -0.1"),
    (Ngram(), {"sampling": Sampling(top_p=0)}, "top_p is 0"),
    (Ngram(), {"sampling": Sampling(top_k=-1)}, "top_k is -1"),
    (Ngram(), {"sampling": Sampling(min_p=1)}, "min_p is 1"),
    (Ngram(), {"sampling": Sampling(max_tokens=0)}, "max_tokens is 0"),
    (Ngram(), {"parallel": Parallel(tensor=0)}, "tensor is 0"),
    (Ngram(), {"parallel": Parallel(pipeline=0)}, "pipeline is 0"),
    (Ngram(), {"parallel": Parallel(tensor=3, nodes=2)}, "3 GPUs do not spread evenly over 2 nodes"),
    (Ngram(), {"parallel": Parallel(tensor=2), "target_heads": Heads(9, 3)}, "9 attention heads and 3 key-value heads, which 2 GPUs"),
    (Ngram(), {"parallel": Parallel(tensor=3), "target_heads": Heads(24, 8)}, "1, 2, 4, 8, 24 would do"),
    (DRAFT, {"parallel": Parallel(tensor=4), "target_heads": Heads(32, 8)}, "The draft has 9 attention heads"),
    (DRAFT, {"parallel": Parallel(tensor=4, draft_tensor=2)}, "it can be 1 or the target's 4"),
    (Ngram(), {"parallel": Parallel(tensor=2, draft_tensor=1)}, "no draft model is: leave it None"),
    (Ngram(), {"rejection": Rejection("typical")}, "none of standard, block, synthetic"),  # type: ignore[arg-type]
    (NoDrafter(), {"k": 0, "rejection": Rejection("block")}, "there is no drafter: name one"),
    (NoDrafter(), {"k": 0, "rejection": Rejection("synthetic", 1.0)}, "there is no drafter: name one"),
    (Ngram(), {"rejection": Rejection("synthetic")}, "needs an acceptance_length"),
    (Ngram(), {"rejection": Rejection("synthetic", 6.5)}, "emits from 1 to 6 tokens"),
    (Ngram(), {"rejection": Rejection("synthetic", 2.0, p=0.5)}, "one of the two"),
    (Ngram(), {"rejection": Rejection("synthetic", p=1.5)}, "p is 1.5, but a probability"),
    (Ngram(), {"rejection": Rejection("standard", 2.0)}, "belong to synthetic acceptance"),
    (Ngram(), {"rejection": Rejection("block", p=0.5)}, "belong to synthetic acceptance"),
    (Custom("Mine"), {}, "'Mine' is no name of a class in a module"),
    (Custom("mine/Mine.py"), {}, "write it as package.module.Class"),
    (Ngram(), {"draft_sampling": "probabilistic"}, "the drafter has no law to draw from"),
    (DRAFT, {"draft_sampling": "argmax"}, "take one of greedy, probabilistic"),
    (Ngram(), {"port": 0}, "port is 0"),
    (Ngram(), {"gpu_memory": 90}, "gpu_memory is 90"),
    (Ngram(), {"seed": -1}, "seed is -1"),
]


@pytest.mark.parametrize("drafter, changed, part", BROKEN, ids=[part for _, _, part in BROKEN])
def test_what_no_engine_could_run_is_refused(drafter, changed, part):
    with pytest.raises(UserError) as refused:
        Setup(**{"target": "T", "drafter": drafter} | changed)
    assert part in str(refused.value)
    assert one_sentence(refused.value)


@pytest.mark.parametrize("split", [1, 2, 4, 8, 16, 32, 64])
def test_fewer_key_value_heads_than_gpus_are_repeated(split):
    assert Setup("T", Ngram(), parallel=Parallel(tensor=split), target_heads=Heads(64, 8)).parallel.gpus == split


def test_one_gpu_of_a_draft_spares_its_heads():
    """A head of Medusa or EAGLE may stay on one GPU; a draft model's own heads are checked against its own split."""
    parallel = Parallel(tensor=4, draft_tensor=1)
    assert Setup("T", DRAFT, parallel=parallel).parallel.draft_tensor == 1
    assert Setup("T", Medusa("M"), parallel=parallel).k == 5


def test_the_ends_of_synthetic_acceptance_are_allowed():
    assert [Setup("T", Ngram(), k=2, rejection=Rejection("synthetic", length)).k for length in (1, 3.0)] == [2, 2]


@pytest.mark.parametrize("make, name", [(presets.llama_70b_1b, "llama-3.1-70b"), (presets.llama_70b_8b, "llama-3.1-70b-8b")])
@pytest.mark.parametrize("gpus, nodes", [(4, 1), (8, 1), (16, 2)])
def test_the_large_pairs_are_the_registrys(make, name, gpus, nodes):
    setup = make(gpus, nodes)
    assert (setup.target, setup.drafter.model) == (find_pair(name).target, find_pair(name).draft)
    assert setup.parallel.gpus == gpus
    assert setup.parallel.gpus_per_node == gpus // nodes <= 8


def test_the_embedded_model_splits_in_three_at_most():
    assert presets.embedded_ngram("/model").drafter == Ngram(1, 4)
    assert presets.embedded_draft("/model", "/draft", k=3).k == 3
    with pytest.raises(UserError, match="1, 3, 9 would do"):
        Setup("/model", Ngram(), parallel=Parallel(tensor=2), target_heads=presets.EMBEDDED_HEADS)
