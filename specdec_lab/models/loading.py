"""Load a pair of target and draft by its name, ready to run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from specdec_lab.assets import asset
from specdec_lab.errors import UserError
from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.hf import HFModel
from specdec_lab.models.hub import HubError, fetch
from specdec_lab.models.reduced import load_reduced
from specdec_lab.models.registry import COURSE_DRAFT, DEFAULT, EMBEDDED, Pair, find_pair, pick

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}


@dataclass(frozen=True)
class LoadedPair:
    """A target, a draft of the same vocabulary, their tokenizer, and the ids that end a text."""

    pair: Pair
    target: HFModel
    draft: HFModel
    tokenizer: PreTrainedTokenizerBase
    eos: frozenset[int]

    def __str__(self) -> str:
        own = {w.data_ptr() for w in self.target.model.parameters()}
        drafts = sum(w.numel() for w in self.draft.model.parameters() if w.data_ptr() not in own)
        dtype = str(self.target.model.dtype).removeprefix("torch.")
        return (
            f"target {self.target.name}: {self.target.model.num_parameters() / 1e6:,.1f} M parameters, {dtype} on {self.target.device}\n"
            f"draft  {self.draft.name}: {drafts / 1e6:,.1f} M parameters of its own"
        )

    def encode(self, text: str) -> Tensor:
        """Ids `[n]` of what a user says, in the chat template if the model has one. Raises UserError if that is nothing."""
        if not text.strip():
            raise UserError("The prompt is empty; give at least one word.")
        if self.tokenizer.chat_template is None:
            return self.tokenizer(text, return_tensors="pt").input_ids[0]
        chat = self.tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True)
        return self.tokenizer(chat, add_special_tokens=False, return_tensors="pt").input_ids[0]


def load_pair(name: str | Pair = "auto", dtype: str = "auto", device: str = "auto") -> LoadedPair:
    """A pair of the registry by its name, or one of your own.

    `auto` is the largest pair that fits the GPU and needs no licence; `cpu-default` without a GPU or without a hub.
    dtype: fp32, bf16, fp16 or fp64; `auto` is fp32 on a CPU, where speculative and plain output are identical,
    and 16 bits on a GPU. device: as torch names it. Raises UserError for whatever is not to be had.
    """
    if isinstance(name, Pair):
        return _load(name, dtype, device)
    if name != "auto":
        return _load(find_pair(name), dtype, device)
    place = _device(device)
    pair = pick(_free_gib(place) * 2 / _dtype(dtype, place).itemsize)
    try:
        return _load(pair, dtype, device)
    except HubError as error:
        warnings.warn(f"{error} Loading {DEFAULT.name} instead of {pair.name}.", stacklevel=2)
        return _load(DEFAULT, dtype, device)


def load_model(name: str, dtype: str = "auto", device: str = "auto", spread: bool = False) -> HFModel:
    """The embedded model, or a hub model by its name; `spread` lays it over all GPUs."""
    place = _device(device)
    return HFModel(_pretrained(AutoModelForCausalLM, name, dtype=_dtype(dtype, place), device_map="auto" if spread else str(place)), name)


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer of the embedded model, or of a hub model."""
    return _pretrained(AutoTokenizer, name)


def _pretrained(kind: Any, name: str, **options: Any) -> Any:
    if name != EMBEDDED:
        return fetch(kind, name, **options)
    folder = embedded_model()
    with _no_bars():
        return kind.from_pretrained(folder, **options)


def _load(pair: Pair, dtype: str, device: str) -> LoadedPair:
    if pair != DEFAULT:
        _check_memory(pair, _device(device), _dtype(dtype, _device(device)))
    tokenizer = load_tokenizer(pair.target)
    if pair.draft == COURSE_DRAFT:
        target = load_model(pair.target, dtype, device)
        draft = load_reduced(asset(COURSE_DRAFT), target)
    else:
        if _words(load_tokenizer(pair.draft)) != _words(tokenizer):
            raise UserError(
                f"{pair.draft} cannot draft for {pair.target}: their tokenizers differ, so the ids of one mean nothing to the "
                f"other; choose two models of one family."
            )
        draft = load_model(pair.draft, dtype, device)  # first, so that a spread target sees what room is left
        target = load_model(pair.target, dtype, device, spread=pair.multi_gpu)
    return LoadedPair(pair, target, draft, tokenizer, _eos(target.model.generation_config, target.model.config, tokenizer))


def _check_memory(pair: Pair, device: torch.device, dtype: torch.dtype) -> None:
    """Raises UserError, before anything is downloaded, if the pair cannot fit."""
    needed = pair.memory_gib * dtype.itemsize / 2
    if device.type == "cuda":
        free = sum(_free_gib(torch.device("cuda", i)) for i in range(torch.cuda.device_count())) if pair.multi_gpu else _free_gib(device)
    else:
        free = psutil.virtual_memory().available / 2**30
    if needed > free:
        raise UserError(
            f"{pair.name} needs about {needed:.0f} GiB in {str(dtype).removeprefix('torch.')}, and {free:.0f} GiB are free on {device}; "
            f"choose a smaller pair (specdec-lab models list), or {DEFAULT.name}."
        )


def _words(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The vocabulary without added tokens: a family renames those, and a draft that errs there only guesses worse."""
    added = tokenizer.get_added_vocab()
    return {token: i for token, i in tokenizer.get_vocab().items() if token not in added}


def _eos(*sources: Any) -> frozenset[int]:
    """Every id that ends a text: a chat model may have several, named in several places, as an id or a list."""
    found = [getattr(source, "eos_token_id", None) for source in sources]
    return frozenset(i for ids in found if ids is not None for i in ([ids] if isinstance(ids, int) else ids))


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(f"There is no device {name!r} here that torch {torch.__version__} can use; choose auto or cpu.") from error


def _free_gib(device: torch.device) -> float:
    return torch.cuda.mem_get_info(device)[0] / 2**30 if device.type == "cuda" else 0.0


def _dtype(name: str, device: torch.device) -> torch.dtype:
    if name in DTYPES:
        return DTYPES[name]
    if name != "auto":
        raise UserError(f"There is no dtype {name!r}; choose auto, {', '.join(DTYPES)}.")
    if device.type == "cpu":
        return torch.float32
    old_gpu = device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.float16 if old_gpu else torch.bfloat16


@contextmanager
def _no_bars() -> Iterator[None]:
    """transformers draws a bar for what is loaded in half a second."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
