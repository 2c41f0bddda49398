"""Shapes of token trees, and how a node's children are chosen from a law.

A shape is `parents`: for each node its parent's index, smaller than its own, or -1 for a child of the context's last token.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.drafters.interface import Draft
from specdec_lab.sampling import Rng, SamplingParams, laws, penalised

Shape = tuple[int, ...]


def chain(k: int) -> Shape:
    """k tokens, each behind the one before it: the tree that does not branch."""
    return tuple(range(-1, k - 1))


def full(*widths: int) -> Shape:
    """`widths[0]` children of the context, `widths[1]` of each of those, and so on."""
    shape: list[int] = []
    level = [-1]
    for width in widths:
        first = len(shape)
        shape += [node for node in level for _ in range(width)]
        level = list(range(first, len(shape)))
    return tuple(shape)


def best(accuracy: Sequence[Sequence[float]], nodes: int) -> Shape:
    """The shape of so many nodes that expects the most accepted tokens.

    accuracy: by depth and rank, how often a node's so-manieth child is the right one, most likely child first. A node stands if all on
    the way to it do; the likeliest are taken, one after another (Medusa, section 2.3.3, arXiv:2401.10774).
    """
    shape: list[int] = []
    coming = [(-accuracy[0][0], -1, 0, 0)]  # minus the chance that it stands, its parent, depth and rank
    while coming and len(shape) < nodes:
        chance, parent, depth, rank = heapq.heappop(coming)
        me = len(shape)
        shape.append(parent)
        if rank + 1 < len(accuracy[depth]):
            sibling = chance / accuracy[depth][rank] * accuracy[depth][rank + 1] if accuracy[depth][rank] else 0.0
            heapq.heappush(coming, (sibling, parent, depth, rank + 1))
        if depth + 1 < len(accuracy):
            heapq.heappush(coming, (chance * accuracy[depth + 1][0], me, depth + 1, 0))
    return tuple(shape)


def depths(shape: Sequence[int]) -> list[int]:
    """How far each node is from the context's last token: 1 for its children."""
    found: list[int] = []
    for parent in shape:
        found.append(1 if parent < 0 else found[parent] + 1)
    return found


def levels(shape: Sequence[int], k: int) -> list[list[int]]:
    """The nodes at depth 1, 2, ..., at most k."""
    found: list[list[int]] = [[] for _ in range(min(k, max(depths(shape), default=0)))]
    for node, depth in enumerate(depths(shape)):
        if depth <= k:
            found[depth - 1].append(node)
    return found


def siblings(logits: Tensor, width: int, params: SamplingParams, context: Tensor, rng: Rng) -> tuple[list[int], Tensor | None]:
    """Up to `width` different tokens to follow `context`, from logits `[vocab]`, and the laws `[tokens, vocab]` they were drawn from.

    Greedy: the most likely ones, and no laws, for none was drawn. Sampling: drawn one after another, each from what the
    ones before it left of the law; fewer where it runs out (a law cut to top-k = 1 has one token to give).
    """
    if params.greedy:
        ranked = penalised(logits[None], params, context)[0].topk(min(width, len(logits)))
        return ranked.indices[ranked.values > -torch.inf].tolist(), None
    law = laws(logits[None], params, context)[0]
    tokens: list[int] = []
    drawn_from: list[Tensor] = []
    while len(tokens) < width and float(total := law.sum()) > 0:
        law = law / total
        tokens.append(rng.draw(law))
        drawn_from.append(law)
        law = law.index_fill(0, torch.tensor(tokens[-1:], device=law.device), 0.0)
    return tokens, torch.stack(drawn_from)


class Growth:
    """A draft that grows into a shape, at most `k` deep, from logits that come in as it grows."""

    def __init__(self, shape: Shape, k: int, context: Tensor, params: SamplingParams, rng: Rng) -> None:
        self.shape, self.context, self.params, self.rng = shape, context, params, rng
        self.levels = levels(shape, k)
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.node: dict[int, int] = {-1: -1}  # nodes of the shape that exist to their place in the draft
        self._laws: list[Tensor] = []

    def branches(self, level: int) -> list[int]:
        """The nodes of the shape that exist and have children at this level: level 0 hangs on the context alone."""
        return sorted({self.shape[i] for i in self.levels[level]} & self.node.keys())

    def grow(self, level: int, node: int, logits: Tensor) -> None:
        """Give a node of the shape (-1: the context) its children at this level, from the logits `[vocab]` behind it."""
        wanted = [i for i in self.levels[level] if self.shape[i] == node]
        tokens, laws_ = siblings(logits, len(wanted), self.params, torch.cat([self.context, self.path(node)]), self.rng)
        for child, token in zip(wanted, tokens, strict=False):
            self.node[child] = len(self.tokens)
            self.tokens.append(token)
            self.parents.append(self.node[node])
        if laws_ is not None:
            self._laws += laws_

    def path(self, node: int) -> Tensor:
        """The ids from the context to a node of the shape, itself included."""
        found, at = [], self.node[node]
        while at >= 0:
            found.append(self.tokens[at])
            at = self.parents[at]
        return self.context.new_tensor(found[::-1])

    def draft(self) -> Draft:
        """What has grown; where it does not branch, a chain."""
        parents = tuple(self.parents)
        return Draft(
            torch.tensor(self.tokens, dtype=torch.long),
            torch.stack(self._laws) if self._laws else None,
            None if parents == chain(len(parents)) else parents,
        )
