"""What a draft is pulled towards: the target's law, measured in four ways.

All take logits `[n, vocab]` of n positions, the draft's and the target's over the same tokens, and return the mean over them.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def forward_kl(draft: Tensor, target: Tensor) -> Tensor:
    """KL(p || q) = sum p log(p / q), in nats: the draft pays wherever the target may go and it does not."""
    return F.kl_div(draft.log_softmax(-1), target.log_softmax(-1), reduction="batchmean", log_target=True)


def reverse_kl(draft: Tensor, target: Tensor) -> Tensor:
    """KL(q || p), in nats: the draft pays wherever it goes and the target does not."""
    return forward_kl(target, draft)


def total_variation_loss(draft: Tensor, target: Tensor) -> Tensor:
    """TV(p, q) = half the sum of |p - q| = 1 - the acceptance of speculative sampling: the very thing to be made small."""
    return 0.5 * (draft.softmax(-1) - target.softmax(-1)).abs().sum(-1).mean()


def cross_entropy(draft: Tensor, target: Tensor) -> Tensor:
    """-log q of the target's most likely token, in nats: all that greedy decoding asks of a draft."""
    return F.cross_entropy(draft, target.argmax(-1))


def distillation_loss(draft: Tensor, target: Tensor) -> Tensor:
    """The loss of everything this course trained: KL(p || q), and half the cross-entropy on the target's most likely token.

    The first teaches the law, for sampling; the second adds weight where greedy decoding looks (DistillSpec compares such
    losses: Zhou et al. 2023, arXiv:2310.08461).
    """
    return forward_kl(draft, target) + 0.5 * cross_entropy(draft, target)
