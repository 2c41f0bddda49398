"""Folders with nothing but a configuration, under the models' own names: enough for vLLM to check a set-up of models that are not here.

The numbers are those of the models' own config.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TARGET, DRAFT, SMALL = "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.2-1B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"
EAGLE3, MEDUSA, TWO_LAYERS, EMBEDDED = "Org/Eagle3-Head", "Org/Medusa-Head", "Org/Draft", "Org/Target"
ROPE = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": ROPE,
    "torch_dtype": "bfloat16",
}
SMOLLM2 = LLAMA | {"vocab_size": 49152, "max_position_embeddings": 8192, "rope_theta": 100000.0, "rope_scaling": None}
MEDUSA_HEAD = {"architectures": ["MedusaModel"], "model_type": "medusa", "num_heads": 5, "num_hidden_layers": 1}


def _sizes(hidden: int, layers: int, heads: int, key_value: int, inner: int) -> dict[str, int]:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "intermediate_size")
    return dict(zip(names, (hidden, layers, heads, key_value, inner), strict=True))


CONFIGS: dict[str, dict[str, Any]] = {
    TARGET: LLAMA | _sizes(8192, 80, 64, 8, 28672),
    SMALL: LLAMA | _sizes(4096, 32, 32, 8, 14336),
    DRAFT: LLAMA | _sizes(2048, 16, 32, 8, 8192) | {"head_dim": 64, "tie_word_embeddings": True},
    EAGLE3: LLAMA | _sizes(8192, 1, 64, 8, 28672) | {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000},
    MEDUSA: MEDUSA_HEAD | {"hidden_size": 8192, "vocab_size": 128256, "truncated_vocab_size": 128256},
    EMBEDDED: SMOLLM2 | _sizes(576, 30, 9, 3, 1536) | {"tie_word_embeddings": True},
    TWO_LAYERS: SMOLLM2 | _sizes(576, 2, 9, 3, 1536) | {"tie_word_embeddings": True},
}


def write(folder: Path) -> None:
    """Each model's configuration, in a folder named like it below `folder`."""
    for name, config in CONFIGS.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text(json.dumps(config))
