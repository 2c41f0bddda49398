"""What every training here has in common: a module that guesses the target's states, and its loss and alpha on rows of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specdec_lab.training.corpus import Corpus, Row
from specdec_lab.training.loop import BATCH, Progress, fit
from specdec_lab.training.losses import distillation_loss


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
    """The target's logits over the reduced vocabulary: `rows` `[v, width]` of its table, those of `ids` `[v]`.

    Training runs on their device and multiplies in their dtype; the weights that are trained stay in float32.
    """

    def __init__(self, target: LlamaForCausalLM, ids: Tensor, dtype: torch.dtype = torch.bfloat16) -> None:
        table = target.model.embed_tokens.weight.detach()
        self.ids = ids.to(table.device)
        self.rows = table[self.ids].to(dtype)

    def logits(self, states: Tensor) -> Tensor:
        return F.linear(states.to(self.rows), self.rows).float()

    def arithmetic(self) -> AbstractContextManager:
        return nullcontext() if self.rows.dtype == torch.float32 else torch.autocast(self.rows.device.type, self.rows.dtype)


Guess = Callable[[list[Row]], list[Tensor]]
Loss = Callable[[Tensor, Tensor], Tensor]  # of logits, the draft's and the target's


class Part:
    """A module under training. `guesses(rows)` are guessed states, a tensor `[rows, longest, width]` for each distance in
    `ahead`: entry t is the guess of the state `ahead - 1` tokens after t, whose logits predict token t + ahead."""

    def __init__(
        self, module: nn.Module, guesses: Guess, ahead: tuple[int, ...], corpus: Corpus, labels: Labels, loss: Loss = distillation_loss
    ) -> None:
        self.module, self.guesses, self.ahead, self.corpus, self.labels, self.loss = module, guesses, ahead, corpus, labels, loss

    def loss_on(self, rows: list[Row]) -> Tensor:
        """The loss, summed over the distances."""
        total = torch.zeros((), device=self.labels.rows.device)
        meant_at: dict[int, Tensor] = {}
        truth = [states_of(self.corpus, row) for row in rows]
        with self.labels.arithmetic():
            for ahead, guessed in zip(self.ahead, self.guesses(rows), strict=True):
                said = torch.cat([guessed[i, in_answer(row, ahead)] for i, row in enumerate(rows)])
                if ahead not in meant_at:
                    meant = torch.cat([s[max(r.answer - 1, ahead - 1) : r.length - 1] for s, r in zip(truth, rows, strict=True)])
                    meant_at[ahead] = self.labels.logits(meant)
                total = total + self.loss(self.labels.logits(said), meant_at[ahead])
        return total

    @torch.no_grad()
    def alphas(self, rows: list[Row]) -> tuple[float, ...]:
        """By distance: the share of the target's own answer tokens that are guessed right from what precedes them."""
        hits = torch.zeros(len(self.ahead), len(rows))
        for n, row in enumerate(rows):
            tokens = torch.from_numpy(self.corpus.tokens[row.start : row.start + row.length].astype(np.int64))
            with self.labels.arithmetic():
                for i, (ahead, guessed) in enumerate(zip(self.ahead, self.guesses([row]), strict=True)):
                    where = in_answer(row, ahead)
                    said = self.labels.ids[self.labels.logits(guessed[0, where]).argmax(-1)].cpu()
                    hits[i, n] = (said == tokens[where.start + ahead : where.stop + ahead]).sum()
        total = sum(row.length - row.answer for row in rows)
        return tuple((hits.sum(1) / total).tolist())


def train(
    part: Part, corpus: Corpus, steps: int, seed: int, peak: float, checkpoint: Path | None, batch: int = BATCH
) -> Iterator[Progress]:
    """`loop.fit` on the training rows, judged on 40 held-out ones."""
    probe = corpus.held_out_greedy()[:40]
    return fit(part.module, part.loss_on, lambda: part.alphas(probe), corpus.training(), steps, seed, peak, checkpoint, batch=batch)
