"""What a token tree is expected to yield."""

from __future__ import annotations

from collections.abc import Sequence


def tree_tokens(parents: Sequence[int], accuracy: Sequence[Sequence[float]]) -> float:
    """Tokens a round of a tree, the target's own included: 1 + the sum over its nodes of the chance that the node stands.

    parents: for each node its parent, smaller than its own index, or -1. accuracy: by depth and rank, how often a node's so-manieth
    child is the right one, where the node itself stands. A node stands if all on the way to it do, and at most one of siblings can.
    Source: Medusa (Cai et al. 2024, arXiv:2401.10774), section 2.3.3.
    """
    stands, depth, children = list[float](), list[int](), dict[int, int]()
    for parent in parents:
        rank = children.get(parent, 0)
        children[parent] = rank + 1
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
        stands.append((stands[parent] if parent >= 0 else 1.0) * accuracy[depth[-1]][rank])
    return 1 + sum(stands)
