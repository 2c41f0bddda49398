"""Distil the course's draft model: two layers of the target, retrained to say what all thirty say.

The draft keeps the target's tokenizer and its embedding table (which is not stored again), starts from the
target's own first and last layer, and scores only the tokens that are frequent in the target's own text.

    python -m specdec_lab.training.draft TEXT.npz WORK assets/draft-smollm2-135m

Loss: `losses.distillation_loss` over the reduced vocabulary, on text that the target wrote (reduced output
vocabulary: FR-Spec, arXiv:2502.14856).
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import torch
import typer
from safetensors.torch import save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.training.corpus import Corpus, Row, frequent_tokens, pad, read_corpus, write_hidden
from specdec_lab.training.part import Labels, Part, train

LAYERS = (0, 29)
TRAINED = 8192  # tokens the loss is taken over, the most frequent ones
KEPT = 5120  # of them, those the draft can say: the rest would add 0.006 to alpha and a tenth to the cost of a step
WEIGHTS = "draft.safetensors"


def new_draft(target: LlamaForCausalLM, layers: tuple[int, ...]) -> LlamaForCausalLM:
    """A Llama that shares the target's embedding and starts from copies of some of its layers."""
    config = type(target.config)(**{**target.config.to_dict(), "num_hidden_layers": len(layers)})
    draft = LlamaForCausalLM(config)
    for new, old in enumerate(layers):
        draft.model.layers[new].load_state_dict(target.model.layers[old].state_dict())
    draft.model.norm.load_state_dict(target.model.norm.state_dict())
    draft.model.embed_tokens.weight = draft.lm_head.weight = target.model.embed_tokens.weight
    draft.model.embed_tokens.weight.requires_grad_(False)
    return draft


def draft_part(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, layers: tuple[int, ...] = LAYERS) -> Part:
    draft: Any = new_draft(target, layers)
    draft.to(target.device)

    def guesses(rows: list[Row]) -> list[Tensor]:
        return [draft.model(pad(corpus, rows, 0).to(target.device), use_cache=False).last_hidden_state]

    return Part(draft, guesses, (1,), corpus, labels)


def save(weights: dict[str, torch.Tensor], ids: torch.Tensor, card: dict, file: Path) -> None:
    """Weights, in bfloat16 if they are fractions, and the map of the reduced vocabulary; the card beside them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = {n: w.to(torch.bfloat16) if w.is_floating_point() else w for n, w in weights.items()}
    save_file({n: w.contiguous() for n, w in kept.items()} | {"vocab_ids": ids.to(torch.int32)}, file)
    (file.parent / "card.json").write_text(json.dumps(card, indent=2) + "\n")


def main(data: Path, work: Path, out: Path, model: Path | None = None, steps: int = 2400, seed: int = 0, peak: float = 1e-3) -> None:
    """Distil the draft. `data`: the target's text; `work`: keeps hidden states and checkpoints, 2 GB; `model`: the target's
    folder, the embedded one by default."""
    target = AutoModelForCausalLM.from_pretrained(model or embedded_model(), dtype=torch.bfloat16).eval()
    work.mkdir(parents=True, exist_ok=True)
    hidden = work / "hidden.u16"
    if not hidden.exists():
        write_hidden(target, read_corpus(data), hidden)
    corpus = read_corpus(data, hidden, target.config.hidden_size)
    labels = Labels(target, frequent_tokens(corpus, TRAINED, target.config.vocab_size))
    part = draft_part(target.float(), corpus, labels)
    for progress in train(part, corpus, steps, seed, peak, work / "draft.ckpt"):
        print(progress, flush=True)
    card = {
        "target": EMBEDDED,
        "layers_started_from": list(LAYERS),
        "vocabulary": KEPT,
        "seed": seed,
        "steps": steps,
        "trained_on": f"{data.name}, {sum(row.length for row in corpus.training()):,} tokens in {len(corpus.training()):,} turns",
        "held_out": f"{len(corpus.held_out_greedy())} turns that the target answered at temperature 0",
        "trained": f"{date.today()}, python -m specdec_lab.training.draft {data.name} WORK OUT",
    }
    kept = {n.removeprefix("model."): w for n, w in part.module.state_dict().items() if n.startswith("model.") and "embed" not in n}
    save(kept, frequent_tokens(corpus, KEPT, target.config.vocab_size), card, out / WEIGHTS)


if __name__ == "__main__":
    typer.run(main)
