"""The converted model itself: the real download."""

import time

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from specdec_lab.models.loading import load_model, load_tokenizer
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.models.smollm2 import CONFIG, _halves, _renamed


@pytest.fixture(scope="module")
def tokenizer(embedded):
    return AutoTokenizer.from_pretrained(embedded)


def test_every_weight_has_its_name_and_shape(target_fp32):
    with torch.device("meta"):
        wanted = LlamaForCausalLM(CONFIG).state_dict()
    found = target_fp32.model.state_dict()
    assert {name: w.shape for name, w in found.items()} == {name: w.shape for name, w in wanted.items()}
    assert sum(w.numel() for w in target_fp32.model.parameters()) == 134_515_008


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("blk.12.attn_k.weight", "model.layers.12.self_attn.k_proj.weight"),
        ("blk.0.ffn_norm.weight", "model.layers.0.post_attention_layernorm.weight"),
    ],
)
def test_names(theirs, ours):
    assert _renamed(theirs) == ours


def test_head_rows_go_back_to_where_llama_cpp_took_them():
    """llama.cpp, convert_hf_to_gguf.py, LlamaModel.permute; heads of 64."""
    weight = torch.arange(3 * 64 * 2.0).view(3 * 64, 2)
    permuted = weight.view(3, 2, 32, 2).transpose(1, 2).reshape(weight.shape)
    assert not torch.equal(permuted, weight)
    assert torch.equal(_halves(permuted), weight)


def test_it_knows_what_the_model_knows(target_fp32, tokenizer):
    """A wrong permutation, scale or rotary base leaves fluent nonsense at best."""
    ids = tokenizer("The capital of France is the city of", return_tensors="pt").input_ids
    logits = target_fp32(ids, target_fp32.new_cache())[0]
    assert tokenizer.decode([int(logits[-1].argmax())]) == " Paris"
    text = tokenizer("Once upon a time, there was a little girl who lived in a small house near the forest.", return_tensors="pt").input_ids
    logits = target_fp32(text, target_fp32.new_cache())[0]
    assert float(torch.nn.functional.cross_entropy(logits[:-1], text[0, 1:])) < 3.0


def test_float32_and_bfloat16_have_the_same_weights(target_fp32):
    half = load_model(EMBEDDED, "bf16", "cpu").model.state_dict()
    assert all(torch.equal(half[name].float(), w) for name, w in target_fp32.model.state_dict().items())


@pytest.mark.parametrize("text", ["for i in range(10):\n    x += 1.5\n", "é 😀 naïve  日本\u200d", "a▁b", " leading and trailing "])
def test_decoding_is_the_inverse_of_encoding(tokenizer, text):
    assert tokenizer.decode(tokenizer(text).input_ids) == text


def test_numbers_are_split_into_digits(tokenizer):
    assert tokenizer.convert_ids_to_tokens(tokenizer("x = [\n    2024]").input_ids)[-6:] == ["ĊĠĠĠĠ", "2", "0", "2", "4", "]"]


def test_special_tokens(tokenizer):
    assert tokenizer("<|im_start|>user\nHi<|im_end|>").input_ids[:1] == [1]
    assert tokenizer("<|im_start|>user\nHi<|im_end|>").input_ids[-1:] == [2]
    assert tokenizer.decode([1, 2, 0], skip_special_tokens=True) == ""
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, len(tokenizer)) == (1, 2, 2, 49152)


def test_it_loads_quickly(embedded):
    """Promised: 1.5 s. The best of five tries, on the processor's clock, as the machine may be busy with something else."""

    def seconds() -> float:
        began = time.process_time()
        load_model(EMBEDDED, "fp32", "cpu")
        load_tokenizer(EMBEDDED)
        return time.process_time() - began

    assert min(seconds() for _ in range(5)) < 1.5


def test_loading_shows_no_progress_bar(embedded, capfd):
    load_model(EMBEDDED, "bf16", "cpu")
    load_tokenizer(EMBEDDED)
    assert capfd.readouterr() == ("", "")
