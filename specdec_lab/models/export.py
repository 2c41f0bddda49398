"""The course's draft as a folder that other engines read: an ordinary Llama with the target's whole vocabulary.

The draft of `models.reduced` scores 5,120 tokens and borrows the target's embedding. vLLM, SGLang and transformers want a model
that stands alone and scores as many tokens as its target. The one written here has the same two layers, a copy of the embedding,
and that embedding as its head: all 49,152 rows of it, where ours reads 5,120. So a drafted token costs them more. What it says is
the same in practice: in rounds of 5 after ten prompts of five workloads, 64 tokens each, 233 of its tokens stood and 234 of
ours (2026-11-30, greedy, fp32), as the other rows seldom win. On our 5,120 tokens both have the same logits.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from filelock import FileLock
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from specdec_lab.assets import asset, cache_folder
from specdec_lab.errors import UserError
from specdec_lab.models.embedded import embedded_model

DRAFT = "draft-smollm2-135m"
EMBEDDING = "model.embed_tokens.weight"
AS_IS = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")
MADE_FROM = "made_from.json"  # written last: what a later call compares


def exported_draft() -> Path:
    """The course's draft, exported into the cache on first use (75 MB). Raises UserError as `export_draft` does."""
    return _cached(DRAFT, export_draft)


def exported_random_draft() -> Path:
    """`export_random_draft` in the cache."""
    return _cached(f"random-{DRAFT}", export_random_draft)


def export_draft(folder: Path) -> Path:
    """Write configuration, tokenizer and weights (bfloat16) of the draft into `folder`, and return it.

    Raises UserError if the draft or its target is missing or damaged, or the folder cannot be written.
    """
    target = embedded_model()
    return _write(folder, target, _weights(target))


def export_random_draft(folder: Path, seed: int = 0) -> Path:
    """The same shapes with random weights: a draft that knows nothing, to see that it costs time and never the text."""
    target, rng = embedded_model(), torch.Generator().manual_seed(seed)
    weights = {
        name: torch.ones_like(w) if w.ndim == 1 else torch.empty(w.shape).normal_(std=0.02, generator=rng).to(w.dtype)
        for name, w in _weights(target).items()
    }
    return _write(folder, target, weights)


def _weights(target: Path) -> dict[str, Tensor]:
    """The draft's tensors under the names of transformers, all of them its own; no head, as it is the embedding."""
    file = asset(DRAFT) / "draft.safetensors"
    try:
        part = load_file(file)
        embedding = load_file(target / "model.safetensors")[EMBEDDING]
    except (OSError, SafetensorError, KeyError) as error:
        raise UserError(
            f"The draft cannot be exported, as {file} or the embedded model's weights are missing or damaged ({error}); restore the "
            f"one with `git checkout -- {file}` or by installing again, the other with `specdec-lab models fetch`."
        ) from error
    return {f"model.{name}": weight for name, weight in part.items() if name != "vocab_ids"} | {EMBEDDING: embedding}


def _write(folder: Path, target: Path, weights: dict[str, Tensor]) -> Path:
    config = json.loads((target / "config.json").read_text())
    config["num_hidden_layers"] = len({name.split(".")[2] for name in weights if name.startswith("model.layers.")})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in AS_IS:
            if (target / name).exists():
                shutil.copyfile(target / name, folder / name)
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "model.safetensors").chmod(0o644)
    except (OSError, SafetensorError) as error:
        raise UserError(
            f"The draft cannot be written to {folder} ({getattr(error, 'strerror', None) or error}); name a folder that can be "
            f"written, with 80 MB free."
        ) from error
    return folder


def _cached(name: str, export: Callable[[Path], Path]) -> Path:
    """What `export` writes, in the cache under `name`; made again after the draft was trained again."""
    folder, file = cache_folder() / name, asset(DRAFT) / "draft.safetensors"
    source = {"draft": hashlib.sha256(file.read_bytes()).hexdigest()} if file.exists() else {}  # `export` says what is missing
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            stamp = folder / MADE_FROM
            if not source or not stamp.exists() or json.loads(stamp.read_text()) != source:
                partial = folder.with_suffix(".partial")
                shutil.rmtree(partial, ignore_errors=True)
                export(partial)
                (partial / MADE_FROM).write_text(json.dumps(source))
                shutil.rmtree(folder, ignore_errors=True)
                os.replace(partial, folder)
    except (OSError, ValueError) as error:
        raise UserError(
            f"The draft cannot be kept in {folder.parent} ({getattr(error, 'strerror', None) or error}); free 80 MB there, or set "
            f"SPECDEC_LAB_CACHE to a folder that can be written."
        ) from error
    return folder
