import pytest
import torch
from transformers import MambaConfig, MambaForCausalLM, MistralConfig, MistralForCausalLM

from specdec_lab.errors import UserError
from specdec_lab.models.hf import HFModel
from specdec_lab.models.registry import EMBEDDED
from tests.support import tiny_llama

IDS = torch.tensor([[5, 9, 2, 7, 7, 1, 30, 12]])
SMALL = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2}
MISTRAL = {**SMALL, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}


def apart(a, b):
    return float((a - b).abs().max())


def test_call_adds_to_the_cache_and_keeps_the_last_rows():
    model = tiny_llama(0)
    cache = model.new_cache()
    whole = model(IDS, cache)
    assert (len(cache), whole.shape) == (8, (1, 8, 64))
    assert apart(model(IDS, model.new_cache(), logits_to_keep=3), whole[:, 5:]) < 1e-12


@pytest.mark.parametrize("kept", range(9))
def test_a_truncated_cache_is_one_that_never_saw_the_rest(kept):
    model, other = tiny_llama(0), torch.tensor([[3, 3, 8]])
    cache, fresh = model.new_cache(), model.new_cache()
    model(IDS, cache)
    cache.truncate(kept)
    assert len(cache) == kept
    if kept:
        model(IDS[:, :kept], fresh)
    assert apart(model(other, cache), model(other, fresh)) < 1e-12
    assert len(cache) == kept + 3


@pytest.mark.parametrize("length", [-1, 9])
def test_a_cache_cannot_be_cut_to_what_it_does_not_hold(length):
    """transformers#47720: it would be emptied without a word."""
    model = tiny_llama(0)
    cache = model.new_cache()
    model(IDS, cache)
    with pytest.raises(AssertionError, match=f"cannot keep {length} of 8"):
        cache.truncate(length)
    assert len(cache) == 8


def test_rollback_round_after_round_leaves_no_trace():
    model, cache = tiny_llama(1), tiny_llama(1).new_cache()
    generator = torch.Generator().manual_seed(0)
    text = torch.randint(64, (1, 1), generator=generator)
    model(text, cache)
    for _ in range(20):
        k, wrong = int(torch.randint(1, 6, (), generator=generator)), torch.randint(64, (1, 8), generator=generator)
        model(wrong[:, : k + 2], cache)
        cache.truncate(text.shape[1])
        new = wrong[:, :k].flip(1)
        seen = model(new, cache)
        text = torch.cat([text, new], dim=1)
    assert apart(seen, model(text, model.new_cache())[:, -new.shape[1] :]) < 1e-9


def test_a_sliding_window_is_refused_by_name():
    """transformers#47447: what slid out of the window does not come back."""
    model = MistralForCausalLM(MistralConfig(**MISTRAL, sliding_window=8))
    with pytest.raises(UserError, match="cache of mistral-tiny cannot be rolled back"):
        HFModel(model, "mistral-tiny")
    HFModel(MistralForCausalLM(MistralConfig(**MISTRAL, sliding_window=None)), "mistral-full")


def test_a_recurrent_state_is_refused_by_name():
    """llama.cpp#20075: it cannot be rewound."""
    with pytest.raises(UserError, match="cache of mamba-tiny cannot be rolled back"):
        HFModel(MambaForCausalLM(MambaConfig(**SMALL, state_size=4)), "mamba-tiny")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        # The pair that is loaded leaves the smaller one no room.
        ("Qwen/Qwen2.5-7B-Instruct", "restart the session (or `del` the pair and its drafters), then load_pair('qwen2.5-3b')"),
        (EMBEDDED, "go on with load_pair(device='cpu')"),
    ],
)
def test_memory_that_runs_out_in_a_pass(monkeypatch, name, way_out):
    model = HFModel(tiny_llama(0).model, name)
    cache = model.new_cache()
    model(IDS, cache)

    def full(**inputs):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(model.model, "forward", full)
    with pytest.raises(UserError) as caught:
        model(IDS[:, :3], cache)
    assert str(caught.value) == (
        f"Memory ran out on cpu in a pass of {name} over 3 tokens with 8 before them; "
        f"shorten the prompt, ask for fewer new tokens, or {way_out}."
    )
    assert caught.value.__context__ is None, "what the pass had made is held by its error"
