"""Rejection-sampling verification: whatever the draft's law, what comes out has the target's."""

from torch import Tensor

from specdec_lab.sampling import Rng


def residual(p: Tensor, q: Tensor) -> Tensor:
    """The law `[vocab]` to draw from after a rejection: what p has above q, normalised.

    (p - q)+ / sum (p - q)+, equation 1 of Chen et al. 2023 (arXiv:2302.01318). Where p = q nothing is above,
    but then nothing can be rejected either; rounding can still lead here, and then p itself is the answer.
    """
    above = (p - q).clamp(min=0)
    total = above.sum()
    return above / total if total > 0 else p


def verify_sampling(p: Tensor, q: Tensor, draft: Tensor, rng: Rng) -> tuple[int, int]:
    """How many drafted tokens stand, and the token that follows them, distributed exactly as the target would.

    p: the target's laws `[k + 1, vocab]`, row i after the context and `draft[:i]`.
    q: the laws `[k, vocab]` that the drafted tokens were really drawn from (one-hot if they were not drawn).
    draft: ids `[k]`. Returns (accepted, next_token) with 0 <= accepted <= k.
    Source: algorithm 1 of Leviathan et al. 2023 (arXiv:2211.17192).
    """
    for i, token in enumerate(draft.tolist()):
        # Accept x with probability min(1, p(x) / q(x)): one fresh uniform a position.
        if not rng.uniform() < float(p[i, token] / q[i, token]):
            return i, rng.draw(residual(p[i], q[i]))  # correction
    return len(draft), rng.draw(p[len(draft)])  # bonus
