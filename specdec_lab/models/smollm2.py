"""SmolLM2-135M-Instruct from the GGUF of llama.cpp to a folder of transformers.

transformers reads GGUF files too, but what comes out depends on its version: 5.10 ends a text at `<|im_start|>`,
5.24 may keep the weights packed, and neither splits numbers into digits as the model was trained to see them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader, dequantize
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from tqdm.auto import tqdm
from transformers import GenerationConfig, LlamaConfig, PreTrainedTokenizerFast

HALF_HEAD = 32
IDS: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
CONFIG = LlamaConfig(
    architectures=["LlamaForCausalLM"],
    dtype="bfloat16",
    vocab_size=49152,
    hidden_size=576,
    intermediate_size=1536,
    num_hidden_layers=30,
    num_attention_heads=9,
    num_key_value_heads=3,
    max_position_embeddings=8192,
    rms_norm_eps=1e-5,
    rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
    tie_word_embeddings=True,
    **IDS,
)
NAMES = {  # llama.cpp's, and transformers'
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def convert(gguf: Path, out: Path) -> None:
    """Write weights (bfloat16), configuration and tokenizer of the GGUF into the folder `out`."""
    reader, weights = GGUFReader(gguf), {}
    for tensor in tqdm(reader.tensors, desc="Converting", unit="tensor"):
        name, weight = _renamed(tensor.name), torch.tensor(dequantize(tensor.data, tensor.tensor_type))
        weights[name] = (_halves(weight) if "q_proj" in name or "k_proj" in name else weight).to(torch.bfloat16)
    file = out / "model.safetensors"
    save_file(weights, file, metadata={"format": "pt"})
    file.chmod(0o644)  # a class may share a cache
    CONFIG.save_pretrained(out)
    GenerationConfig(**IDS).save_pretrained(out)
    _tokenizer(reader).save_pretrained(out)


def _renamed(name: str) -> str:
    """`blk.3.attn_q.weight` to `model.layers.3.self_attn.q_proj.weight`."""
    block, part = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.weight", name).groups()  # type: ignore[union-attr]
    return f"model.layers.{block}.{NAMES[part]}.weight" if block else f"{NAMES[part]}.weight"


def _halves(weight: Tensor) -> Tensor:
    """Rows of a head from llama.cpp's order, where neighbours rotate together, to that of transformers, where halves do."""
    return weight.view(-1, HALF_HEAD, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def _tokenizer(reader: GGUFReader) -> PreTrainedTokenizerFast:
    """Byte-level BPE over single digits: `tokenizer.ggml.pre` is "smollm" (llama.cpp, llama-vocab.cpp)."""
    tokens, kinds, merges, template = (
        reader.fields[f"tokenizer.{key}"].contents() for key in ("ggml.tokens", "ggml.token_type", "ggml.merges", "chat_template")
    )
    bpe = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, [tuple(m.split(" ")) for m in merges]))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    bpe.decoder = decoders.ByteLevel()
    control = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]  # <|im_end|> and its like
    bpe.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token=tokens[1], eos_token=tokens[2], pad_token=tokens[2], unk_token=tokens[0], model_max_length=8192
    )
    tokenizer.chat_template = template
    return tokenizer
