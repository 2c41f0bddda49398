"""Text that the target wrote itself, with the target's own last hidden states beside every token.

Training on the target's own text, with the target's own law as the label, is what makes a draft agree
with it: DistillSpec (Zhou et al. 2023, arXiv:2310.08461).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

HELD_OUT = 20  # one user turn in this many is never trained on


@dataclass(frozen=True)
class Row:
    """One chat turn: where it stands in the corpus, where its answer starts, and whether it is held out."""

    start: int
    length: int
    answer: int
    greedy: bool
    held_out: bool


@dataclass(frozen=True)
class Corpus:
    """Tokens `[n]` of all rows end to end; `hidden` is `[n, width]`, bfloat16 bits as uint16 (see `write_hidden`)."""

    tokens: np.ndarray
    rows: list[Row]
    hidden: np.ndarray | None = None

    def training(self) -> list[Row]:
        return [row for row in self.rows if not row.held_out]

    def held_out_greedy(self) -> list[Row]:
        """The rows a draft is judged on: answers the target gave at temperature 0 to turns never trained on."""
        return [row for row in self.rows if row.held_out and row.greedy]


def read_corpus(path: Path, hidden: Path | None = None, width: int = 0) -> Corpus:
    """Read chat turns that the target wrote: an npz of `tokens`, `offsets`, `prompt_len` and `temperature`."""
    data = dict(np.load(path))
    tokens, rows = data["tokens"], []
    for start, end, answer, temperature in zip(
        data["offsets"][:-1], data["offsets"][1:], data["prompt_len"], data["temperature"], strict=True
    ):
        # Held out by user turn, so that no answer to a held-out question is ever seen in training.
        turn = tokens[start : start + answer].tobytes()
        rows.append(
            Row(
                start=int(start),
                length=int(end - start),
                answer=int(answer),
                greedy=float(temperature) == 0.0,
                held_out=sha256(turn).digest()[0] % HELD_OUT == 0,
            )
        )
    states = np.memmap(hidden, np.uint16, "r", shape=(len(tokens), width)) if hidden else None
    return Corpus(tokens, rows, states)


def frequent_tokens(corpus: Corpus, size: int, vocab: int) -> torch.Tensor:
    """Ids `[size]`, ascending, of the tokens most frequent in the training rows."""
    counts = np.zeros(vocab, np.int64)
    for row in corpus.training():
        counts += np.bincount(corpus.tokens[row.start : row.start + row.length], minlength=vocab)
    return torch.from_numpy(np.sort(np.argsort(-counts, kind="stable")[:size]))


def pad(corpus: Corpus, rows: list[Row], filler: int) -> torch.Tensor:
    """Tokens of `rows` as one tensor `[rows, longest]`, filled on the right."""
    ids = torch.full((len(rows), max(row.length for row in rows)), filler)
    for i, row in enumerate(rows):
        ids[i, : row.length] = torch.from_numpy(corpus.tokens[row.start : row.start + row.length].astype(np.int64))
    return ids


@torch.no_grad()
def write_hidden(target, corpus: Corpus, path: Path, batch: int = 16) -> None:
    """Store the target's hidden state after its final norm for every token: its logits are `hidden @ head.T`.

    `target` is a transformers causal LM in bfloat16. About 20 minutes for 2 M tokens on 2 cores.
    """
    partial = path.with_suffix(".partial")
    out = np.memmap(partial, np.uint16, "w+", shape=(len(corpus.tokens), target.config.hidden_size))
    rows = sorted(corpus.rows, key=lambda row: row.length)
    for i in tqdm(range(0, len(rows), batch), desc="hidden states of the target"):
        group = rows[i : i + batch]
        states = target.model(pad(corpus, group, 0), use_cache=False).last_hidden_state
        bits = states.contiguous().view(torch.uint16).numpy()
        for row, values in zip(group, bits, strict=True):
            out[row.start : row.start + row.length] = values[: row.length]
    out.flush()
    partial.rename(path)
