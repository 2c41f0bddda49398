"""Repairs of chapter 10's bugs that are none, on the draft's side: what people write next, and what to say to it.

Each is recognised by what it does, the exact law and the tokens that stand, not by how it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from specdec_lab.checks.zoo.repaired import both_laws, propose_likeliest
from specdec_lab.sampling import Rng

Wrong = tuple[Callable[..., Any], str]
NEVER = "The law is right because nothing is accepted: the draft is paid for, and not used."


def _one_hot(token: int, like: torch.Tensor, height: float = 1.0) -> torch.Tensor:
    law = torch.zeros_like(like)
    law[token] = height
    return law


def _kept(q: torch.Tensor, k: int) -> torch.Tensor:
    return q * (q >= q.topk(k).values[-1])


LIKELIEST: list[Wrong] = [
    (
        lambda q: (int(q.argmax()), _one_hot(int(q.argmax()), q, float(q.max()))),
        "The others are 0, but the chosen token still has its softmax. It is certain to be proposed: its law has a 1 there.",
    ),
    (
        lambda q: (int(q.argmin()), _one_hot(int(q.argmin()), q)),
        "That is the unlikeliest token, honestly stated: lossless, and hardly ever accepted.",
    ),
    (
        lambda q: (int(q.argmax()), torch.full_like(q, 1 / len(q))),
        "A uniform law says that the token was drawn among all alike. No die was rolled: what is the chance of a sure thing?",
    ),
    (
        lambda q: (int(q.argmax()), torch.ones_like(q)),
        "A 1 everywhere gets the test right, but the correction is drawn from what p has above the law: nothing, above 1. "
        "Only the proposed token has a 1; the others are never proposed.",
    ),
]
DRAWN: list[Wrong] = [
    (lambda q, rng: (int(q.argmax()), q), "Now the token is no longer drawn, and q is not its law: the bug before this one."),
    (
        lambda q, rng: (rng.draw(torch.full_like(q, 1 / len(q))), q),
        "The token is drawn from a uniform law, but q is stated. Draw from the law that you state.",
    ),
    (
        lambda q, rng: (token := rng.draw(q), _one_hot(token, q, float(q[token]))),
        "The test is right, but the law has zeros at the tokens that were not drawn this time. They might have been: "
        "state q whole, as the correction needs all of it.",
    ),
    (lambda q, rng: propose_likeliest(q), "Honest, but the token is not drawn any more. Draw from q, and say so."),
]
TOP_K: list[Wrong] = [
    (
        lambda q, k, rng: (rng.draw(_kept(q, k)), _kept(q, k)),
        "What is stated does not sum to 1: the tokens that were kept still have their old probabilities, which is the bug itself. "
        "Divide by the sum.",
    ),
    (lambda q, k, rng: (rng.draw(q), q), "Stated truly, but drawn from all of q: it proposes tokens that top-k has taken from the target."),
    (
        lambda q, k, rng: (token := rng.draw(_kept(q, k)), _one_hot(token, q)),
        "A one-hot law is safe and wasteful (the bug before this one). The token was drawn from the kept law: state that.",
    ),
    (
        lambda q, k, rng: (rng.draw(q), _kept(q, k) / _kept(q, k).sum()),
        "Now the law has top-k and the draw has not: a token outside it may be proposed, of which the stated law says never.",
    ),
]
TEMPERATURE: list[Wrong] = [
    (
        lambda a, b, t: (a.softmax(-1), b.softmax(-1)),
        "The two sides agree now, but on temperature 1: that is not what the user asked for.",
    ),
    (
        lambda a, b, t: ((a / t).softmax(-1), b.softmax(-1)),
        "The law is right: a draft may have any law, if it states it. But its temperature is another, so it is accepted less.",
    ),
    (lambda a, b, t: ((a * t).softmax(-1), (b * t).softmax(-1)), "Divide the logits by the temperature: a low one sharpens."),
    (lambda a, b, t: both_laws(b, a, t), "p and q have changed places."),
]
PADDED: list[Wrong] = [
    (
        lambda logits, vocab: _padded(logits, vocab, 0.0),
        "A missing logit of 0 is a real score: the draft then proposes tokens that it does not know. Give them probability 0.",
    ),
    (
        lambda logits, vocab: torch.full((vocab,), 1 / vocab, dtype=logits.dtype),
        "A uniform law is a law, but not the draft's.",
    ),
    (
        lambda logits, vocab: torch.nn.functional.pad(logits.softmax(-1)[:vocab], (0, max(vocab - len(logits), 0))),
        "It has the right length now, but where entries were cut off, it no longer sums to 1. Cut the logits, or divide by the sum.",
    ),
]


def _padded(logits: torch.Tensor, vocab: int, value: float) -> torch.Tensor:
    return torch.nn.functional.pad(logits[:vocab], (0, max(vocab - len(logits), 0)), value=value).softmax(-1)


def _sure(q: torch.Tensor, least: float, rng: Rng, token: int) -> Any:
    return None if q.max() < least else (token, q)


IF_SURE: list[Wrong] = [
    (
        lambda q, least, rng: (token, _one_hot(token, q)) if q[(token := rng.draw(q))] >= least else None,
        "A one-hot law makes the verdict right, whatever was dropped. But it dropped good guesses after looking at them.",
    ),
    (
        lambda q, least, rng: _sure(q, least, rng, int(q.argmax())),
        "It decides before it draws. But then it proposes the likeliest token for certain, and states q: the first bug of the zoo.",
    ),
    (
        lambda q, least, rng: (
            (token, q * (q >= least) / (q * (q >= least)).sum()) if q.max() >= least and q[(token := rng.draw(q))] >= least else None
        ),
        "True for those that are kept, so the law is right. But it still throws away drafted tokens after looking at them.",
    ),
    (lambda q, least, rng: None, NEVER),
]
