"""What `theory.roofline` asks of a model and of a machine: bytes and parameters, counted; bandwidth and FLOP rate, measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from specdec_lab.errors import UserError
from specdec_lab.measure.timer import CPU, seconds_of, time_calls
from specdec_lab.models.hf import HFModel
from specdec_lab.models.placement import free_gib

READ_BYTES = 2**29  # far more than the caches of most machines hold, so that all of it comes from memory
GPU_READ_BYTES = 2**32  # half a gigabyte takes a large GPU a tenth of a millisecond, and starting the call shows
SIDES, GPU_SIDES = (1024, 2048, 4096, 8192), (8192,)  # of the square matrices that are multiplied
LONG = 0.05  # seconds of a product that is large enough to keep all cores at work


def kv_shape(config: Any) -> tuple[int, int, int]:
    """Layers, key-value heads (fewer than the query heads: arXiv:2305.13245) and the width of a head, of a transformers config."""
    text = config.get_text_config()
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return text.num_hidden_layers, text.num_key_value_heads, width


def kv_bytes_per_token(config: Any, bytes_per_value: float) -> int:
    """Bytes that one more token of a text adds to the key-value cache: a key and a value for each layer and key-value head."""
    layers, heads, width = kv_shape(config)
    return int(2 * layers * heads * width * bytes_per_value)


def parameters_read(model: HFModel) -> int:
    """The parameters that every pass reads. Of an embedding table it looks up n rows; a head that shares it reads it all."""
    whole = model.model
    table = whole.get_input_embeddings().weight
    shared = whole.get_output_embeddings().weight is table
    return whole.num_parameters() - (0 if shared else table.numel())


def measure_bandwidth(device: torch.device = CPU) -> float:
    """Bytes a second that this device reads from memory, at best: the fastest of several sums over an array larger than its caches."""
    # Ones, not zeros: zeros that nobody has written to are one page of memory, read again and again.
    array = torch.ones(_bytes_to_read(device) // 4, dtype=torch.float32, device=device)
    return array.nbytes / _fastest(array.sum, device)


def _bytes_to_read(device: torch.device) -> int:
    if device.type != "cuda":
        return READ_BYTES
    return min(GPU_READ_BYTES, int(free_gib(device) * 2**30 / 4))


def measure_flop_rate(dtype: torch.dtype = torch.float32, device: torch.device = CPU) -> float:
    """FLOP a second of this device, at best: the fastest product of two square matrices, which grow until one takes 0.05 s."""
    best = 0.0
    for side in GPU_SIDES if device.type == "cuda" else SIDES:
        a, b = (torch.ones(side, side, dtype=dtype, device=device) for _ in "ab")
        seconds = _fastest(partial(torch.mm, a, b), device)
        best = max(best, 2 * side**3 / seconds)
        if seconds >= LONG:
            break
    return best


@torch.inference_mode()
def time_products(model: HFModel, n: int, repeats: int = 5) -> float:
    """Seconds of the model's matrix products over n tokens and of nothing between them: each weight matrix once.

    The median of `repeats`, after one that is not timed. Raises UserError for n or repeats below 1.
    """
    if n < 1:
        raise UserError(f"n is {n}, but a pass has at least 1 token.")
    layers = [layer for layer in model.model.modules() if isinstance(layer, nn.Linear)]
    fed = {w: torch.ones(1, n, w, dtype=model.model.dtype, device=model.device) for w in {layer.in_features for layer in layers}}

    def products() -> None:
        for layer in layers:
            layer(fed[layer.in_features])

    return time_calls(products, repeats, warmup=1, device=model.device).median


def _fastest(call: Callable[[], Tensor], device: torch.device, least: int = 3, in_all: float = 0.5) -> float:
    """Seconds of the fastest of at least 3 calls, and of more until they add up to half a second, after one that is not timed.

    Not the median: other programs only ever add time, and a bound is to say what cannot be.
    """
    call()
    taken: list[float] = []
    while len(taken) < least or sum(taken) < in_all:
        taken.append(seconds_of(call, device))
    return min(taken)
