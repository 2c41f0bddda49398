"""The repairs of chapter 10's bugs: what each small function of `bugs` should have been."""

from __future__ import annotations

import torch
from torch import Tensor

from specdec_lab.sampling import Rng
from specdec_lab.verify import residual


def propose_likeliest(q: Tensor) -> tuple[int, Tensor]:
    """The draft's likeliest token, and the law `[vocab]` that it came from. A choice without dice has a one-hot law."""
    token = int(q.argmax())
    law = torch.zeros_like(q)
    law[token] = 1.0
    return token, law


def propose_drawn(q: Tensor, rng: Rng) -> tuple[int, Tensor]:
    """A token drawn from the draft's law `[vocab]`, and the law that it came from."""
    return rng.draw(q), q


def propose_top_k(q: Tensor, k: int, rng: Rng) -> tuple[int, Tensor]:
    """A token drawn among the k likeliest of q `[vocab]`, and the law `[vocab]` that it came from."""
    kept = q * (q >= q.topk(k).values[-1])
    kept = kept / kept.sum()
    return rng.draw(kept), kept


def both_laws(target_logits: Tensor, draft_logits: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """p and q `[vocab]` at the temperature that the user asked for, above 0."""
    p = (target_logits / temperature).softmax(-1)
    q = (draft_logits / temperature).softmax(-1)
    return p, q


def draft_law(logits: Tensor, vocab: int) -> Tensor:
    """The draft's law over the target's `vocab` tokens; logits `[n]`, where n may be less or more: that is padding."""
    law = logits[:vocab].softmax(-1)
    return torch.nn.functional.pad(law, (0, vocab - len(law)))


def verify_run(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    """(accepted, next token) of a draft `[k]`; p `[k + 1, vocab]`, q `[k, vocab]`."""
    tokens = draft.tolist()
    stands = [rng.uniform() < p[i, x] / q[i, x] for i, x in enumerate(tokens)]
    accepted = [*stands, False].index(False)
    if accepted == len(tokens):
        return accepted, rng.draw(p[accepted])
    return accepted, rng.draw(residual(p[accepted], q[accepted]))


def presence_penalised(logits: Tensor, context: Tensor, draft: Tensor, penalty: float) -> Tensor:
    """logits `[k + 1, vocab]` less `penalty` for each token that the text of the row holds: context `[n]` and `draft[:i]`."""
    rows = logits.clone()
    for i in range(len(rows)):
        for token in {*context.tolist(), *draft[:i].tolist()}:
            rows[i, token] -= penalty
    return rows


def verify_children(p: Tensor, q: Tensor, children: Tensor, rng: Rng) -> tuple[bool, int]:
    """Whether one of the children, the likeliest tokens of q, stands; and the token that comes out. p, q `[vocab]`."""
    for child in children.tolist():
        if rng.uniform() < p[child]:  # it was not drawn, so its law is one-hot
            return True, child
        p = p.clone()
        p[child] = 0.0
        p = p / p.sum()
    return False, rng.draw(p)


def keep_until_end(run: list[int], end: int) -> tuple[list[int], bool]:
    """What a round's run of tokens adds to the text, and whether the text has ended: the first `end` is its last token."""
    if end in run:
        return run[: run.index(end) + 1], True
    return run, False


def draw_by_hand(weights: Tensor, rng: Rng) -> int:
    """A token drawn in proportion to weights `[vocab]`. Raises ValueError where there is nothing to draw from."""
    total = float(weights.sum())
    if not 0.0 < total < float("inf"):  # NaN included
        raise ValueError(f"These weights sum to {total}; look for a division by zero.")
    u, reached = rng.uniform(), 0.0
    for token, weight in enumerate((weights / total).tolist()):
        reached += weight
        if weight and u < reached:
            return token
    return int(weights.nonzero()[-1])  # rounding has left a last bit unreached


def tokens_to_draft(k: int, written: int, wanted: int) -> int:
    """How many tokens to draft, k at most, where `written` of `wanted` tokens stand already."""
    return min(k, wanted - written - 1)  # the target's own token takes a place


def propose_if_sure(q: Tensor, least: float, rng: Rng) -> tuple[int, Tensor] | None:
    """A token drawn from q `[vocab]` with its law; None where the draft is unsure: no token of q reaches `least`."""
    if q.max() < least:
        return None
    return rng.draw(q), q
