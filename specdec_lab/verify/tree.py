"""Verification of a token tree: several drafts at once, sharing their beginnings, in one pass of the target.

A tree of m nodes is its tokens `[m]` and `parents`, m integers: the index of each node's parent, smaller than its own, or -1
for a child of the context's last token. The target's rows are one more than the nodes: row 0 is what it says after the
context, row i + 1 what it says after node i. A chain is the tree `parents = (-1, 0, 1, ...)`.
Source: SpecInfer (Miao et al. 2023, arXiv:2305.09781).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.sampling import Rng
from specdec_lab.verify.sampling import residual

Parents = Sequence[int]


def tree_mask(parents: Parents) -> Tensor:
    """Who sees whom in the pass that verifies a tree: bool `[m, m]`, true where node j is node i itself or an ancestor of it."""
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            mask[i] |= mask[parent]  # an ancestor of my parent is an ancestor of mine
    return mask


def verify_tree_greedy(draft: Tensor, parents: Parents, target: Tensor) -> tuple[list[int], int]:
    """Which nodes stand, from the root down, and the token that follows them.

    draft: ids `[m]`. target: ids `[m + 1]`, the target's choice after the context and after each node.
    Returns (path, next_token): at each step the child that says what the target says, while there is one.
    """
    path: list[int] = []
    while True:
        here = path[-1] if path else -1
        said = int(target[here + 1])
        right = [i for i in children(parents, here) if int(draft[i]) == said]
        if not right:
            return path, said
        path.append(right[0])


def verify_tree_sampling(p: Tensor, q: Tensor, draft: Tensor, parents: Parents, rng: Rng) -> tuple[list[int], int]:
    """Which nodes stand, and the token that follows them, distributed exactly as the target would.

    p: the target's laws `[m + 1, vocab]`, after the context and after each node. q: the laws `[m, vocab]` that the nodes were really
    drawn from, once their elder siblings were known: the same law for independent draws, without the siblings' tokens for
    draws without replacement, one-hot for tokens that were not drawn (top-k children: EAGLE#183). Returns (path, next_token).
    Source: multi-step speculative sampling, algorithm 2 of SpecInfer.
    """
    path: list[int] = []
    while True:
        here = path[-1] if path else -1
        law = p[here + 1]
        for i in children(parents, here):
            token = int(draft[i])
            if rng.uniform() < float(law[token] / q[i, token]):
                path.append(i)
                break
            law = residual(law, q[i])  # the next sibling has to make up for what this one could not
        else:
            return path, rng.draw(law)


def children(parents: Parents, node: int) -> list[int]:
    """The children of a node, -1 for the context, in the order in which they are tested."""
    return [i for i, parent in enumerate(parents) if parent == node]
