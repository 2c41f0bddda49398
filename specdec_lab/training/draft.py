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

import numpy as np
import torch
import torch.nn.functional as F
import typer
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaForCausalLM

from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.training.corpus import Corpus, Row, frequent_tokens, pad, read_corpus, write_hidden
from specdec_lab.training.loop import fit
from specdec_lab.training.losses import distillation_loss

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


def loss_on(draft, head: torch.Tensor, corpus: Corpus, rows: list[Row]) -> torch.Tensor:
    """The distillation loss over the reduced vocabulary `head` `[v, width]`: the mean over all positions that predict a token
    of an answer."""
    assert corpus.hidden is not None
    with torch.autocast("cpu", torch.bfloat16):
        states = draft.model(pad(corpus, rows, 0), use_cache=False).last_hidden_state
        states = torch.cat([states[i, row.answer - 1 : row.length - 1] for i, row in enumerate(rows)])
        wanted = np.concatenate([corpus.hidden[row.start + row.answer - 1 : row.start + row.length - 1] for row in rows])
        with torch.no_grad():
            p = F.linear(torch.from_numpy(wanted).view(torch.bfloat16), head).float()
        q = F.linear(states, head).float()
    return distillation_loss(q, p)


@torch.no_grad()
def greedy_alpha(draft, head: torch.Tensor, ids: torch.Tensor, corpus: Corpus, rows: list[Row]) -> float:
    """Share of the target's own greedy answer tokens that the draft, given what precedes, says too."""
    hits = total = 0
    for row in rows:
        with torch.autocast("cpu", torch.bfloat16):
            states = draft.model(pad(corpus, [row], 0), use_cache=False).last_hidden_state[0]
            said = ids[F.linear(states[row.answer - 1 : row.length - 1], head).argmax(-1)]
        meant = torch.from_numpy(corpus.tokens[row.start + row.answer : row.start + row.length].astype(np.int64))
        hits, total = hits + int((said == meant).sum()), total + len(meant)
    return hits / total


def train(
    target, corpus: Corpus, steps: int, seed: int, peak: float, checkpoint: Path, layers: tuple[int, ...] = LAYERS
) -> tuple[LlamaForCausalLM, torch.Tensor]:
    """Train for `steps` batches of 16 rows; resumes from `checkpoint`."""
    ids = frequent_tokens(corpus, TRAINED, target.config.vocab_size)
    draft = new_draft(target.float(), layers)
    head = target.model.embed_tokens.weight.detach()[ids].to(torch.bfloat16)
    probe = corpus.held_out_greedy()[:40]
    for progress in fit(
        draft,
        lambda rows: loss_on(draft, head, corpus, rows),
        lambda: greedy_alpha(draft, head, ids, corpus, probe),
        corpus.training(),
        steps,
        seed,
        peak,
        checkpoint,
    ):
        print(progress, flush=True)
    return draft, ids


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
    draft, _ = train(target, corpus, steps, seed, peak, work / "draft.ckpt")
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
    kept = {n: w for n, w in draft.model.state_dict().items() if "embed" not in n}
    save(kept, frequent_tokens(corpus, KEPT, target.config.vocab_size), card, out / WEIGHTS)


if __name__ == "__main__":
    typer.run(main)
