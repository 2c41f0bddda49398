"""Greedy verification: keep the agreeing prefix, then emit the target's own token."""

from torch import Tensor


def verify_greedy(draft: Tensor, target: Tensor) -> tuple[int, int]:
    """How many drafted tokens stand, and the token that follows them.

    draft: ids `[k]`, proposed one after another (k may be 0).
    target: ids `[k + 1]`; `target[i]` is what the target says after the context and `draft[:i]`.
    Returns (accepted, next_token) with 0 <= accepted <= k: the length of the agreeing prefix, and the
    target's token behind it, a correction where the draft went wrong or a bonus where it never did.
    Source: Stern et al. 2018 (arXiv:1811.03115); Leviathan et al. 2023 (arXiv:2211.17192) at temperature 0.
    """
    agrees = draft == target[:-1]
    accepted = int(agrees.cumprod(0).sum())  # nothing counts behind the first disagreement
    return accepted, int(target[accepted])
