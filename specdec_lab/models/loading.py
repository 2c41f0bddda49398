"""Load a pair of target and draft by its name, ready to run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
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
from specdec_lab.models.placement import auto_pairs, choose, find_device, find_dtype, free_gib, release
from specdec_lab.models.reduced import load_reduced
from specdec_lab.models.registry import COURSE_DRAFT, DEFAULT, EMBEDDED, Pair, find_pair, pick


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

    `auto` is the largest pair that fits the GPU and needs no licence, and the next smaller one if memory runs out all the
    same; `cpu-default` without a GPU, or if the hub is out of reach or limits downloads. A warning says what was replaced.
    While the pair that `auto` loaded is held, `auto` with the same dtype and device returns it again.
    dtype: fp32, bf16, fp16 or fp64; `auto` is fp32 on a CPU, where speculative and plain output are identical,
    and 16 bits on a GPU. device: as torch names it. Raises UserError for whatever is not to be had.
    """
    if name == "auto":
        return _load_auto(dtype, device)
    pair = name if isinstance(name, Pair) else find_pair(name)
    try:
        return _load(pair, dtype, device)
    except torch.OutOfMemoryError:
        pass  # the error holds on to what was loaded, so the answer to it comes after it is gone
    release()
    raise UserError(_no_room(pair))


def _load_auto(dtype: str, device: str) -> LoadedPair:
    pair, place, kind = choose(dtype, device)
    if kept := auto_pairs.get((place, kind)):
        return kept
    hub = True
    while True:
        try:
            loaded = _load(pair, dtype, device)
        except HubError as error:
            instead, why, hub = DEFAULT, str(error), False
        except torch.OutOfMemoryError:
            instead, why = None, f"Memory ran out while {pair.name} was loaded."
        else:
            if hub:  # without it, the next call is to ask it again
                auto_pairs[place, kind] = loaded
            return loaded
        if pair == DEFAULT:
            release()
            raise UserError(_no_room(pair))
        instead = instead or choose(dtype, device, below=pair)[0]
        warnings.warn(f"{why} Loading {instead.name} instead of {pair.name}.", stacklevel=3)
        pair = instead


def _no_room(pair: Pair) -> str:
    if pair == DEFAULT:
        return f"Memory ran out even while {DEFAULT.name} was loaded; restart other notebooks' kernels, or load_pair(device='cpu')."
    return f"Memory ran out while {pair.name} was loaded; the next smaller pair is load_pair({pick(inf, below=pair).name!r})."


def load_model(name: str, dtype: str = "auto", device: str = "auto", spread: bool = False) -> HFModel:
    """The embedded model, or a hub model by its name; `spread` lays it over all GPUs."""
    place = find_device(device)
    options = {"dtype": find_dtype(dtype, place), "device_map": "auto" if spread else str(place)}
    return HFModel(_pretrained(AutoModelForCausalLM, name, **options), name)


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
        place = find_device(device)
        _check_memory(pair, place, find_dtype(dtype, place))
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
        free = sum(free_gib(torch.device("cuda", i)) for i in range(torch.cuda.device_count())) if pair.multi_gpu else free_gib(device)
    else:
        free = psutil.virtual_memory().available / 2**30
    if needed > free:
        raise UserError(
            f"{pair.name} needs about {needed:.0f} GiB in {str(dtype).removeprefix('torch.')}, and {free:.0f} GiB are free on {device}; "
            f"restart the session if it holds another pair, or choose a smaller one (specdec-lab models list), or {DEFAULT.name}."
        )


def _words(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The vocabulary without added tokens: a family renames those, and a draft that errs there only guesses worse."""
    added = tokenizer.get_added_vocab()
    return {token: i for token, i in tokenizer.get_vocab().items() if token not in added}


def _eos(*sources: Any) -> frozenset[int]:
    """Every id that ends a text: a chat model may have several, named in several places, as an id or a list."""
    found = [getattr(source, "eos_token_id", None) for source in sources]
    return frozenset(i for ids in found if ids is not None for i in ([ids] if isinstance(ids, int) else ids))


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
