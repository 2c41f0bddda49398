"""Distil the course's draft model: two layers of the target, retrained to say what all thirty say.

The draft keeps the target's tokenizer and its embedding table (which is not stored again), starts from the
target's own first and last layer, and scores only the tokens that are frequent in the target's own text.

    python -m specdec_lab.training.draft TEXT.npz WORK assets/draft-smollm2-135m

Loss: KL(target || draft) plus cross-entropy on the target's most likely token, both over the reduced
vocabulary, on text that the target wrote (DistillSpec, arXiv:2310.08461; reduced output vocabulary:
FR-Spec, arXiv:2502.14856).
"""

from __future__ import annotations

import json
import math
import random
import time
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
from specdec_lab.training.corpus import Corpus, Row, pad, read_corpus, write_hidden

LAYERS = (0, 29)
TRAINED = 8192  # tokens the loss is taken over, the most frequent ones
KEPT = 5120  # of them, those the draft can say: the rest would add 0.006 to alpha and a tenth to the cost of a step
BATCH = 16
EVERY = 100  # steps between checkpoints


def frequent_tokens(corpus: Corpus, size: int, vocab: int) -> torch.Tensor:
    """Ids `[size]`, ascending, of the tokens most frequent in the training rows."""
    counts = np.zeros(vocab, np.int64)
    for row in corpus.training():
        counts += np.bincount(corpus.tokens[row.start : row.start + row.length], minlength=vocab)
    return torch.from_numpy(np.sort(np.argsort(-counts, kind="stable")[:size]))


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


def batches(rows: list[Row], rng: random.Random):
    """Rows of like length together, in random order, for ever."""
    while True:
        order = sorted(rows, key=lambda row: row.length + rng.uniform(-16, 16))
        groups = [order[i : i + BATCH] for i in range(0, len(order) - BATCH + 1, BATCH)]
        rng.shuffle(groups)
        yield from groups


def loss_on(draft, head: torch.Tensor, corpus: Corpus, rows: list[Row]) -> torch.Tensor:
    """KL(p || q) + half the cross-entropy on argmax p, over the reduced vocabulary `head` `[v, width]`: the mean over all
    positions that predict a token of an answer."""
    assert corpus.hidden is not None
    with torch.autocast("cpu", torch.bfloat16):
        states = draft.model(pad(corpus, rows, 0), use_cache=False).last_hidden_state
        states = torch.cat([states[i, row.answer - 1 : row.length - 1] for i, row in enumerate(rows)])
        wanted = np.concatenate([corpus.hidden[row.start + row.answer - 1 : row.start + row.length - 1] for row in rows])
        with torch.no_grad():
            p = F.linear(torch.from_numpy(wanted).view(torch.bfloat16), head).float().softmax(-1)
        log_q = F.linear(states, head).float().log_softmax(-1)
    return F.kl_div(log_q, p, reduction="batchmean") + 0.5 * F.nll_loss(log_q, p.argmax(-1))


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
    """Train for `steps` batches of 16 rows; resumes from `checkpoint`, written every EVERY steps."""
    torch.manual_seed(seed)
    ids = frequent_tokens(corpus, TRAINED, target.config.vocab_size)
    draft = new_draft(target.float(), layers).train()
    head = target.model.embed_tokens.weight.detach()[ids].to(torch.bfloat16)
    weights = [w for w in draft.parameters() if w.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=peak, betas=(0.9, 0.95), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min(1.0, (i + 1) / 100) * (0.05 + 0.475 * (1 + math.cos(math.pi * min(1.0, i / steps))))
    )
    first = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        draft.load_state_dict(state["draft"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        first = state["step"]
    feed, began = batches(corpus.training(), random.Random(seed)), time.time()
    probe, running = corpus.held_out_greedy()[:40], 0.0
    for step, rows in zip(range(steps), feed, strict=False):
        if step < first:
            continue
        loss = loss_on(draft, head, corpus, rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        running = 0.98 * running + 0.02 * loss.item() if step > first else loss.item()
        if (step + 1) % EVERY == 0 or step + 1 == steps:
            alpha = greedy_alpha(draft.eval(), head, ids, corpus, probe)
            draft.train()
            print(
                f"step {step + 1}/{steps}  loss {running:.3f}  held-out greedy alpha {alpha:.3f}  {time.time() - began:.0f} s", flush=True
            )
            state = {"draft": {n: w for n, w in draft.state_dict().items() if "embed" not in n and "lm_head" not in n}}
            state |= {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "step": step + 1}
            torch.save(state, checkpoint.with_suffix(".partial"))
            checkpoint.with_suffix(".partial").rename(checkpoint)
    return draft.eval(), ids


def save(draft: LlamaForCausalLM, ids: torch.Tensor, card: dict, out: Path) -> None:
    """Weights in bfloat16 without the embedding, the map of the reduced vocabulary, the configuration and the card."""
    out.mkdir(parents=True, exist_ok=True)
    kept = {n: w.to(torch.bfloat16) for n, w in draft.model.state_dict().items() if "embed" not in n}
    save_file({**kept, "vocab_ids": ids.to(torch.int32)}, out / "draft.safetensors")
    (out / "card.json").write_text(json.dumps(card, indent=2) + "\n")


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
    save(draft, frequent_tokens(corpus, KEPT, target.config.vocab_size), card, out)


if __name__ == "__main__":
    typer.run(main)
