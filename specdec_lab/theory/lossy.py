"""Rules that accept more than lossless ones may, and the exact law that each of them gives instead of the target's.

A rule is what it accepts: for each token the probability `[..., vocab]` with which it stands if it is drafted.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lab.errors import UserError
from specdec_lab.sampling import Rng

Rule = Callable[[Tensor, Tensor], Tensor]  # (p, q) [..., vocab] to the chance that each token stands


def lenient(lenience: float) -> Rule:
    """min(1, p / (lenience q)): 1 is lossless; no token comes out more than p / lenience (Leviathan et al. 2023, appendix A.5).

    lenience in (0, 1]. Raises UserError on another.
    """
    if not 0 < lenience <= 1:
        raise UserError(f"lenience is {lenience}, but lies in (0, 1]; 1 is lossless.")
    return lambda p, q: (p / (lenience * q)).nan_to_num(nan=1.0).clamp(max=1.0)


def likely_enough(least: float) -> Rule:
    """Whatever the target gives a probability of `least` or more, always; anything else never."""
    return lambda p, q: (p >= least).to(p)


def typical(epsilon: float, delta: float) -> Rule:
    """Medusa's: always, where p >= min(epsilon, delta exp(-H(p))), so that more is allowed where the target is unsure itself.

    H(p) is the entropy in nats. Source: Cai et al. 2024 (arXiv:2401.10774), section 2.3.1.
    """

    def rule(p: Tensor, q: Tensor) -> Tensor:
        entropy = torch.special.entr(p).sum(-1, keepdim=True)
        return (p >= (delta * (-entropy).exp()).clamp(max=epsilon)).to(p)

    return rule


def accepted(p: Tensor, q: Tensor, rule: Rule) -> Tensor:
    """The chance `[...]` that a token drawn from q stands."""
    return (q * rule(p, q)).sum(-1)


def lossy_law(p: Tensor, q: Tensor, rule: Rule) -> Tensor:
    """The law `[..., vocab]` of the token that comes out, for laws p and q `[..., vocab]`.

    After a rejection it is drawn from what p has above the accepted part, q times the rule: the best that can be done then. With
    `lenient(1)` that is the usual residual, and the law is p.
    """
    stands = q * rule(p, q)
    left = (p - stands).clamp(min=0)
    total = left.sum(-1, keepdim=True)
    rest = torch.where(total > 0, left / total.where(total > 0, torch.ones_like(total)), p)
    return stands + (1 - stands.sum(-1, keepdim=True)).clamp(min=0) * rest


def distance(p: Tensor, law: Tensor) -> Tensor:
    """The total variation `[...]` between laws `[..., vocab]`.

    For the law of any rule it is at least the accepted part less sum min(p, q): a point of acceptance costs a point of distance, or
    more. Accepted mass above p cannot be taken back: sum (law - p)+ >= sum (q rule - p)+ >= sum q rule - sum min(p, q).
    """
    return (p - law).abs().sum(-1) / 2


def text_law(law: Tensor, n: int) -> Tensor:
    """The law `[vocab ** n]` of texts of n tokens, each of them drawn from `law [vocab]`."""
    texts = torch.ones(1, dtype=law.dtype)
    for _ in range(n):
        texts = torch.kron(texts, law)
    return texts


def verifier(rule: Rule) -> Callable[[Tensor, Tensor, Tensor, Rng], tuple[int, int]]:
    """`verify(p, q, draft, rng)` for the engine, with this rule instead of the lossless one."""

    def verify(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
        for i, token in enumerate(draft.tolist()):
            stands = q[i] * rule(p[i], q[i])
            if not rng.uniform() < float(rule(p[i], q[i])[token]):
                left = (p[i] - stands).clamp(min=0)
                return i, rng.draw(left / left.sum() if left.sum() > 0 else p[i])
        return len(draft), rng.draw(p[len(draft)])

    return verify
