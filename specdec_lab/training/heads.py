"""Train the heads on the target's own hidden states: Medusa heads, an EAGLE layer, an early exit.

    python -m specdec_lab.training.heads medusa TEXT.npz WORK assets/medusa-smollm2-135m
    python -m specdec_lab.training.heads eagle  TEXT.npz WORK assets/eagle-smollm2-135m
    python -m specdec_lab.training.heads exit   TEXT.npz WORK assets/exit-smollm2-135m

The loss is `losses.distillation_loss` against the target's own law over the tokens frequent in its text, at every token of an
answer. The target itself is frozen; its last states are computed once and kept in WORK (2 GB).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import typer
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, DynamicCache, LlamaForCausalLM

from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.heads import EagleHead, ExitHead, MedusaHeads
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.training.corpus import Corpus, Row, frequent_tokens, pad, read_corpus, write_hidden
from specdec_lab.training.draft import KEPT, save
from specdec_lab.training.loop import Progress, fit
from specdec_lab.training.losses import distillation_loss

WEIGHTS = "head.safetensors"
EXIT_LAYER = 6  # of 30
MEDUSA_INNER = 1024
UNROLLED = 3  # how often in training EAGLE is fed with its own guess: k = 3 without a first-time sight in decoding


def states_of(corpus: Corpus, row: Row) -> Tensor:
    """The target's states `[length, width]` of one row, bfloat16."""
    assert corpus.hidden is not None
    return torch.from_numpy(np.array(corpus.hidden[row.start : row.start + row.length])).view(torch.bfloat16)


def padded_states(corpus: Corpus, rows: list[Row]) -> Tensor:
    """The target's states of `rows` as one tensor `[rows, longest, width]`."""
    return nn.utils.rnn.pad_sequence([states_of(corpus, row) for row in rows], batch_first=True)


def in_answer(row: Row, ahead: int) -> slice:
    """The positions of a row whose prediction `ahead` tokens on is of its answer, and inside it."""
    return slice(max(row.answer - ahead, 0), row.length - ahead)


class Labels:
    """The target's logits over the reduced vocabulary: `rows` `[v, width]` of its table, those of `ids` `[v]`."""

    def __init__(self, target: LlamaForCausalLM, ids: Tensor) -> None:
        self.ids = ids
        self.rows = target.model.embed_tokens.weight.detach()[ids].to(torch.bfloat16)

    def logits(self, states: Tensor) -> Tensor:
        return F.linear(states.to(torch.bfloat16), self.rows).float()


Guess = Callable[[list[Row]], list[Tensor]]


class Part:
    """A module under training. `guesses(rows)` are guessed states, a tensor `[rows, longest, width]` for each distance in
    `ahead`: entry t is the guess of the state `ahead - 1` tokens after t, whose logits predict token t + ahead."""

    def __init__(self, module: nn.Module, guesses: Guess, ahead: tuple[int, ...], corpus: Corpus, labels: Labels) -> None:
        self.module, self.guesses, self.ahead, self.corpus, self.labels = module, guesses, ahead, corpus, labels

    def loss_on(self, rows: list[Row]) -> Tensor:
        """The distillation loss, summed over the distances."""
        total = torch.zeros(())
        meant_at: dict[int, Tensor] = {}
        truth = [states_of(self.corpus, row) for row in rows]
        with torch.autocast("cpu", torch.bfloat16):
            for ahead, guessed in zip(self.ahead, self.guesses(rows), strict=True):
                said = torch.cat([guessed[i, in_answer(row, ahead)] for i, row in enumerate(rows)])
                if ahead not in meant_at:
                    meant = torch.cat([s[max(r.answer - 1, ahead - 1) : r.length - 1] for s, r in zip(truth, rows, strict=True)])
                    meant_at[ahead] = self.labels.logits(meant)
                total = total + distillation_loss(F.linear(said, self.labels.rows).float(), meant_at[ahead])
        return total

    @torch.no_grad()
    def alphas(self, rows: list[Row]) -> tuple[float, ...]:
        """By distance: the share of the target's own answer tokens that are guessed right from what precedes them."""
        hits = torch.zeros(len(self.ahead), len(rows))
        for n, row in enumerate(rows):
            tokens = torch.from_numpy(self.corpus.tokens[row.start : row.start + row.length].astype(np.int64))
            with torch.autocast("cpu", torch.bfloat16):
                for i, (ahead, guessed) in enumerate(zip(self.ahead, self.guesses([row]), strict=True)):
                    where = in_answer(row, ahead)
                    said = self.labels.ids[F.linear(guessed[0, where], self.labels.rows).argmax(-1)]
                    hits[i, n] = (said == tokens[where.start + ahead : where.stop + ahead]).sum()
        total = sum(row.length - row.answer for row in rows)
        return tuple((hits.sum(1) / total).tolist())


def medusa(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, inner: int = MEDUSA_INNER) -> Part:
    heads = MedusaHeads(target.config.hidden_size, inner)
    return Part(heads, lambda rows: list(heads(padded_states(corpus, rows))), (2, 3, 4, 5), corpus, labels)


def eagle(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, unrolled: int = UNROLLED) -> Part:
    head = EagleHead(target.config, target.model.embed_tokens)
    head.body.embed_tokens.weight.requires_grad_(False)
    head.body.layers[0].load_state_dict(target.model.layers[-1].state_dict())
    head.body.norm.load_state_dict(target.model.norm.state_dict())

    def guesses(rows: list[Row]) -> list[Tensor]:
        tokens, states = pad(corpus, rows, 0)[:, 1:], padded_states(corpus, rows)[:, :-1]
        n, out, cache = tokens.shape[1], [], DynamicCache()
        positions = torch.arange(n)[None]
        for step in range(unrolled):
            guess = head(states, tokens, cache, attention_mask=unrolled_mask(n, step), position_ids=positions)
            out.append(guess)
            states = torch.cat([states[:, :1], guess[:, :-1]], 1)
        return out

    return Part(head, guesses, (2,) * unrolled, corpus, labels)


def unrolled_mask(n: int, step: int) -> Tensor:
    """What position t of unrolled step `step` sees: `[1, 1, n, (step + 1) n]`, 0 or -inf, keys of all steps side by side.

    Its own pair, s of the guessed pairs before it, one from each step, and true pairs before those: just what drafting sees.
    """
    t = torch.arange(n)
    behind = t[:, None] - t
    seen = [behind >= step] + [behind == step - s for s in range(1, step + 1)]
    return torch.where(torch.cat(seen, 1), 0.0, -torch.inf)[None, None]


def early_exit(target: LlamaForCausalLM, corpus: Corpus, labels: Labels, layer: int = EXIT_LAYER) -> Part:
    head = ExitHead(target.config)
    head.after.load_state_dict(target.model.norm.state_dict())
    below = LlamaForCausalLM.from_pretrained(embedded_model(), dtype=torch.bfloat16, num_hidden_layers=layer).model.eval()
    below.norm = nn.Identity()

    def guesses(rows: list[Row]) -> list[Tensor]:
        with torch.no_grad():
            hidden = below(pad(corpus, rows, 0), use_cache=False).last_hidden_state
        return [head(hidden)]

    return Part(head, guesses, (1,), corpus, labels)


PARTS = {"medusa": medusa, "eagle": eagle, "exit": early_exit}


def train(part: Part, corpus: Corpus, steps: int, seed: int, peak: float, checkpoint: Path | None) -> Iterator[Progress]:
    """`loop.fit` on the training rows, judged on 40 held-out ones."""
    probe = corpus.held_out_greedy()[:40]
    return fit(part.module, part.loss_on, lambda: part.alphas(probe), corpus.training(), steps, seed, peak, checkpoint)


def main(part: str, data: Path, work: Path, out: Path, steps: int = 1200, seed: int = 0, peak: float = 1e-3) -> None:
    """Train one part. `data`: the target's text; `work`: keeps hidden states and checkpoints."""
    target = AutoModelForCausalLM.from_pretrained(embedded_model(), dtype=torch.bfloat16).eval()
    work.mkdir(parents=True, exist_ok=True)
    hidden = work / "hidden.u16"
    if not hidden.exists():
        write_hidden(target, read_corpus(data), hidden)
    corpus = read_corpus(data, hidden, target.config.hidden_size)
    labels = Labels(target, frequent_tokens(corpus, KEPT, target.config.vocab_size))
    trained, began = PARTS[part](target.float(), corpus, labels), time.perf_counter()
    for progress in train(trained, corpus, steps, seed, peak, work / f"{part}.ckpt"):
        print(progress, flush=True)
    minutes = (time.perf_counter() - began) / 60
    card = {
        "target": EMBEDDED,
        "vocabulary": KEPT,
        "seed": seed,
        "steps": steps,
        "trained_on": f"{data.name}, {sum(row.length for row in corpus.training()):,} tokens in {len(corpus.training()):,} turns",
        "held_out": f"{len(corpus.held_out_greedy())} turns that the target answered at temperature 0",
        "trained": f"{date.today()}, {minutes:.0f} minutes, python -m specdec_lab.training.heads {part} {data.name} WORK OUT",
    }
    save({n: w for n, w in trained.module.state_dict().items() if "embed_tokens" not in n}, labels.ids, card, out / WEIGHTS)


if __name__ == "__main__":
    typer.run(main)
