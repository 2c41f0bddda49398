"""Train the heads on the target's own hidden states: Medusa heads, an EAGLE layer, an early exit.

    python -m specdec_lab.training.heads medusa TEXT.npz WORK assets/medusa-smollm2-135m
    python -m specdec_lab.training.heads eagle  TEXT.npz WORK assets/eagle-smollm2-135m
    python -m specdec_lab.training.heads exit   TEXT.npz WORK assets/exit-smollm2-135m

The loss is `losses.distillation_loss` against the target's own law over the tokens frequent in its text, at every token of an
answer. The target itself is frozen; its last states are computed once and kept in WORK (2 GB).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch
import typer
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, DynamicCache, LlamaForCausalLM

from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.heads import SAMPLE, WEIGHTS, EagleHead, ExitHead, MedusaHeads
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.training.corpus import Corpus, Row, frequent_tokens, pad, read_corpus, write_hidden
from specdec_lab.training.draft import KEPT, save
from specdec_lab.training.loop import BATCH
from specdec_lab.training.losses import distillation_loss
from specdec_lab.training.part import Labels, Loss, Part, padded_states, train

EXIT_LAYER = 6  # of 30
MEDUSA_INNER = 1024
UNROLLED = 3  # steps in a row that EAGLE is trained for in the end, fed with its own guesses from the second on


def medusa(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, inner: int = MEDUSA_INNER) -> Part:
    heads = MedusaHeads(target.config.hidden_size, inner).to(target.device)
    return Part(heads, lambda rows: list(heads(padded_states(corpus, rows).to(labels.rows))), (2, 3, 4, 5), corpus, labels)


def eagle(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, unrolled: int = UNROLLED, loss: Loss = distillation_loss) -> Part:
    head = EagleHead(target.config, target.model.embed_tokens).to(target.device)
    head.body.embed_tokens.weight.requires_grad_(False)
    head.body.layers[0].load_state_dict(target.model.layers[-1].state_dict())
    head.body.norm.load_state_dict(target.model.norm.state_dict())

    def guesses(rows: list[Row]) -> list[Tensor]:
        tokens, states = pad(corpus, rows, 0)[:, 1:].to(target.device), padded_states(corpus, rows)[:, :-1].to(labels.rows)
        return unrolled_guesses(head, states, tokens, unrolled)

    return Part(head, guesses, (2,) * unrolled, corpus, labels, loss)


def unrolled_guesses(head: EagleHead, states: Tensor, tokens: Tensor, steps: int) -> list[Tensor]:
    """What an EAGLE layer guesses from pairs `[b, n, width]` and `[b, n]`, for each of so many steps, `[b, n, width]`: in step s entry
    t is the guess from pair t, where the state in it and in the s - 1 pairs before it were guessed in the steps before."""
    n, out, cache = tokens.shape[1], [], DynamicCache()
    positions = torch.arange(n, device=tokens.device)[None]
    for step in range(steps):
        guess = head(states, tokens, cache, attention_mask=unrolled_mask(n, step).to(states), position_ids=positions)
        out.append(guess)
        states = torch.cat([states[:, :1], guess[:, :-1]], 1)
    return out


def unrolled_mask(n: int, step: int) -> Tensor:
    """What position t of unrolled step `step` sees: `[1, 1, n, (step + 1) n]`, 0 or -inf, keys of all steps side by side.

    Its own pair, s of the guessed pairs before it, one from each step, and true pairs before those: just what drafting sees.
    """
    t = torch.arange(n)
    behind = t[:, None] - t
    seen = [behind >= step] + [behind == step - s for s in range(1, step + 1)]
    return torch.where(torch.cat(seen, 1), 0.0, -torch.inf)[None, None]


def early_exit(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, layer: int = EXIT_LAYER) -> Part:
    head = ExitHead(target.config, layer).to(target.device)
    head.after.load_state_dict(target.model.norm.state_dict())
    below = LlamaForCausalLM.from_pretrained(embedded_model(), dtype=torch.bfloat16, num_hidden_layers=layer).model.eval().to(target.device)
    below.norm = nn.Identity()

    def guesses(rows: list[Row]) -> list[Tensor]:
        with torch.no_grad():
            hidden = below(pad(corpus, rows, 0).to(target.device), use_cache=False).last_hidden_state
        return [head(hidden.to(labels.rows))]

    return Part(head, guesses, (1,), corpus, labels)


PARTS: dict[str, Callable[..., Part]] = {"medusa": medusa, "eagle": eagle, "exit": early_exit}


def unroll(part: Part, target: LlamaForCausalLM, steps: int) -> Part:
    """The same EAGLE layer, fed with its own guesses for so many steps in a row."""
    longer = eagle(target, part.corpus, part.labels, steps)
    longer.module.load_state_dict(part.module.state_dict())
    return longer


def main(part: str, data: Path, work: Path, out: Path, steps: int = 1200, seed: int = 0, peak: float = 1e-3, batch: int = BATCH) -> None:
    """Train one part. `data`: the target's text; `work`: keeps hidden states and checkpoints. EAGLE learns its first step, and then,
    for a tenth of the steps more and at a third of the rate, to go on from its own guesses."""
    target = AutoModelForCausalLM.from_pretrained(embedded_model(), dtype=torch.bfloat16).eval()
    work.mkdir(parents=True, exist_ok=True)
    hidden = work / "hidden.u16"
    if not hidden.exists():
        write_hidden(target, read_corpus(data), hidden)
    corpus = read_corpus(data, hidden, target.config.hidden_size)
    labels = Labels(target, frequent_tokens(corpus, KEPT, target.config.vocab_size))
    target, began = target.float(), time.perf_counter()
    trained = eagle(target, corpus, labels, unrolled=1) if part == "eagle" else PARTS[part](target, corpus, labels)
    for progress in train(trained, corpus, steps, seed, peak, work / f"{part}.ckpt", batch):
        print(progress, flush=True)
    if part == "eagle":
        trained = unroll(trained, target, UNROLLED)
        for progress in train(trained, corpus, steps // 10, seed + 1, peak / 3, work / f"{part}-unrolled.ckpt", batch):
            print(progress, flush=True)
    minutes = (time.perf_counter() - began) / 60
    card = {
        "target": EMBEDDED,
        "vocabulary": KEPT,
        "seed": seed,
        "steps": steps,
        "trained_on": f"{data.name}, {sum(row.length for row in corpus.training()):,} tokens in {len(corpus.training()):,} turns",
        "held_out": f"{len(corpus.held_out_greedy())} turns that the target answered at temperature 0",
        "trained": f"{date.today()}, {minutes:.0f} minutes, python -m specdec_lab.training.heads {part} {data.name} WORK OUT "
        f"--steps {steps} --seed {seed} --peak {peak} --batch {batch}",
    }
    weights = {n: w for n, w in trained.module.state_dict().items() if "embed_tokens" not in n}
    weights["table_sample"] = labels.rows[:SAMPLE]
    if isinstance(trained.module, ExitHead):
        weights["layers"] = torch.tensor(trained.module.layers)
    save(weights, labels.ids, card, out / WEIGHTS)


if __name__ == "__main__":
    typer.run(main)
