"""A distillation small enough for a chapter: an EAGLE layer, some minutes, and nothing on disk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.models.hf import HFModel
from specdec_lab.models.reduced import reduced_head
from specdec_lab.training.corpus import Corpus, Row
from specdec_lab.training.heads import eagle
from specdec_lab.training.loop import Progress, fit
from specdec_lab.training.losses import distillation_loss
from specdec_lab.training.part import Labels, Loss, Part, in_answer, states_of

ROWS = 4  # a step
PEAK = 2e-3  # learning rate
NO_TEXT = Corpus(np.empty(0, np.int64), [])


def new_head(target: HFModel, ids: Tensor, corpus: Corpus = NO_TEXT, loss: Loss = distillation_loss, seed: int = 0) -> Part:
    """An EAGLE layer before its first step, to be trained for one guess on `corpus` with `loss`, over the tokens `ids` `[v]`.

    In 32 bits, whatever the device: not every CPU multiplies in 16.
    """
    torch.manual_seed(seed)
    return eagle(target.model, corpus, Labels(target.model, ids, torch.float32), unrolled=1, loss=loss)


def train(part: Part, steps: int, reports: int = 10, seed: int = 0) -> Iterator[Progress]:
    """Train it, and report so often how it does on the held-out rows of its corpus."""
    rows = part.corpus.held_out_greedy()
    every = max(1, steps // reports)
    return fit(part.module, part.loss_on, lambda: part.alphas(rows)[0], part.corpus.training(), steps, seed, PEAK, every=every, batch=ROWS)


def alpha(part: Part) -> float:
    """Of the target's own greedy tokens in the held-out answers, the share that is guessed right with one look at its state."""
    part.module.eval()
    return part.alphas(part.corpus.held_out_greedy())[0]


@torch.no_grad()
def acceptance(part: Part, target: HFModel) -> float:
    """The mean of 1 - TV(p, q) at temperature 1 over the held-out answers, p over the whole vocabulary, which q has only a part of."""
    rows = part.corpus.held_out_greedy()
    overlaps = [_overlap(part, target, row) for row in rows]
    return float(torch.cat(overlaps).mean())


def _overlap(part: Part, target: HFModel, row: Row) -> Tensor:
    """sum min(p, q) at each place of an answer that is drafted."""
    labels, ahead = part.labels, part.ahead[0]
    with labels.arithmetic():
        guessed = part.guesses([row])[0][0, in_answer(row, ahead)]
    first = in_answer(row, ahead).start + ahead - 1
    seen = states_of(part.corpus, row)[first : row.length - 1].to(labels.rows)
    p = target.model.lm_head(seen.to(target.model.dtype)).float().softmax(-1)[:, labels.ids]
    return torch.minimum(p, labels.logits(guessed).softmax(-1)).sum(-1)


def drafter(part: Part, target: HFModel) -> EagleDrafter:
    """The layer as it stands, as a drafter for its target."""
    head = part.module.eval()
    head.output = reduced_head(part.labels.ids, target)
    return EagleDrafter(head)  # type: ignore[arg-type]
