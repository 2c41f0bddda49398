"""Block verification: the draft is judged as a whole, so that a token the target likes makes up for one before it that it likes less."""

import torch
from torch import Tensor

from specdec_lab.sampling import Rng
from specdec_lab.verify.sampling import residual


def verify_block(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    """How many drafted tokens stand, and the token that follows them: the target's law, as from `verify_sampling`, and on
    average never fewer tokens.

    p: the target's laws `[k + 1, vocab]`, row i after the context and `draft[:i]`.
    q: the laws `[k, vocab]` that the drafted tokens were really drawn from (one-hot if they were not drawn).
    draft: ids `[k]`. Returns (accepted, next_token) with 0 <= accepted <= k.
    Source: algorithm 2 of Sun et al. 2024 (arXiv:2403.10444). It tests every length and takes the longest that passes; so does
    this, beginning with the longest.
    """
    # The chance that at least i of the drafted tokens are to stand: the paper's p_i. Token-wise each factor is held at 1, and a
    # doubtful token stays doubtful; here only the product is.
    weight = [1.0]
    for i, token in enumerate(draft.tolist()):
        weight.append(min(weight[i] * float(p[i, token] / q[i, token]), 1.0))
    q = torch.cat([q, torch.zeros_like(p[:1])])  # nothing was drafted behind the last token
    for i in range(len(draft), -1, -1):
        # Longer blocks, where there were any, have failed. Exactly i tokens stand with probability h_i: `owed`, what
        # p has left to hand out behind them, against the 1 - weight[i] for which fewer are to stand. h_k is weight[k] itself.
        owed = float((weight[i] * p[i] - q[i]).clamp(min=0).sum())
        if i == 0 or rng.uniform() * (owed + 1 - weight[i]) < owed:
            break
    return i, rng.draw(residual(weight[i] * p[i], q[i]))  # correction; behind the whole draft, where q is 0, the bonus from p
