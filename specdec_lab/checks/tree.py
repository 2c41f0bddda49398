"""The check of chapter 6's second exercise: `tree_mask`, who sees whom in the pass that verifies a tree."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.stages import Finding, Stage, attempt, check
from specdec_lab.verify.tree import tree_mask

Mask = Callable[..., Any]
#   0 -> 2 -> 4,  0 -> 3,  1 -> 5
EXAMPLE: tuple[int, ...] = (-1, -1, 0, 0, 2, 1)


def ancestors(parents: tuple[int, ...], node: int) -> list[int]:
    """The nodes on the way from the context to `node`, nearest first, itself left out."""
    found = []
    while parents[node] >= 0:
        node = parents[node]
        found.append(node)
    return found


def _mask(size: int, sees: Callable[[int, int], bool]) -> Tensor:
    return torch.tensor([[sees(i, j) for j in range(size)] for i in range(size)], dtype=torch.bool).reshape(size, size)


def wrong_masks(parents: tuple[int, ...]) -> dict[str, Tensor]:
    """What is known about masks that people write instead, each with the mask that it is."""
    m, lines = len(parents), [ancestors(parents, i) for i in range(len(parents))]
    right = tree_mask(parents)
    eye = torch.eye(m, dtype=torch.bool)
    minus_one = eye.clone()
    for i, parent in enumerate(parents):
        minus_one[i] |= minus_one[parent]
    return {
        "This is the mask of one long chain: everybody sees all that stand before them. But siblings, and cousins, are rival "
        "guesses for one text; nobody may see a rival.": torch.ones(m, m, dtype=torch.bool).tril(),
        "Each node sees itself and its parent, but not the parent's parent. The text in front of a node is the whole way from "
        "the context to it: go up until you meet a -1.": _mask(m, lambda i, j: j in (i, parents[i])),
        "A node has to see itself as well: the target says what comes after this token, and for that has to read it. The diagonal is "
        "true.": right & ~eye,
        "Rows and columns are swapped: mask[i] is what node i sees, so an ancestor j of i belongs into row i, column j. Here the "
        "ancestors see their descendants, which are later in the text.": right.T,
        "It is inside out: true means that node i sees node j.": ~right,
        "A parent of -1 is the context, which everybody sees anyway. But Python reads mask[-1], or parents[-1], as the *last* one: "
        "stop at -1.": minus_one,
        "Each node sees two steps up and no further. The text in front of it is the whole way to the context, however long.": _mask(
            m, lambda i, j: j in (i, *lines[i][:2])
        ),
        "Siblings see each other here. They are rival guesses for the same place; a node sees those in front of it, and no one "
        "beside it.": right | _mask(m, lambda i, j: parents[i] == parents[j]),
        "Everybody sees everybody here, so that every node has read what comes after it.": torch.ones(m, m, dtype=torch.bool),
        "Every node sees all that are less deep than itself, also those of other branches. Only those on its own way to the context "
        "are in front of it.": eye | _mask(m, lambda i, j: len(lines[j]) < len(lines[i])),
        "Each node sees itself alone. It has to see the guesses in front of it too, on its way to the context.": eye,
    }


def drawn(mask: Tensor) -> str:
    """A mask row by row, x for sees and . for does not."""
    return " / ".join("".join("x" if seen else "." for seen in row) for row in mask.tolist())


def _plain(answer: Any, parents: tuple[int, ...]) -> Tensor:
    """The answer as bool `[m, m]`. Raises Finding if it is of another kind or size."""
    m, where = len(parents), f"On parents = {list(parents)} it returns"
    try:
        mask = torch.as_tensor(answer)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Finding(f"{where} {answer!r}; a table of m rows and m columns is wanted, such as a tensor [m, m].") from error
    if mask.numel() == m == 0:
        return torch.zeros(0, 0, dtype=torch.bool)
    if tuple(mask.shape) == (m + 1, m + 1):
        raise Finding(
            f"{where} shape {[m + 1, m + 1]}. The context needs no row: all nodes see all of it. [m, m] is wanted, one row a node."
        )
    if tuple(mask.shape) != (m, m):
        raise Finding(f"{where} shape {list(mask.shape)}, but [m, m] = {[m, m]} is wanted: row i says which nodes node i sees.")
    if mask.dtype != torch.bool:
        kind = str(mask.dtype).removeprefix("torch.")
        raise Finding(
            f"{where} numbers ({kind}). True and False are wanted: ~mask of numbers is no opposite, and as an index torch "
            "takes them for places. Start from torch.eye(m, dtype=torch.bool), or end with .bool()."
        )
    return mask


def _asked(function: Mask, parents: tuple[int, ...]) -> Tensor:
    """The learner's mask. Raises Finding with advice where it stops."""
    try:
        return _plain(attempt(function, (parents,)), parents)
    except Finding as finding:
        if isinstance(finding.__cause__, RecursionError | IndexError):
            raise Finding(f"{finding} A parent of -1 is the context, and no node: stop there.") from finding
        if not parents:
            raise Finding(f"{finding} A tree of no nodes is an empty mask, [0, 0].") from finding
        raise


def _compare(function: Mask, parents: tuple[int, ...]) -> None:
    mask, right = _asked(function, parents), tree_mask(parents)
    if torch.equal(mask, right):
        return
    known = (why for why, wrong in wrong_masks(parents).items() if torch.equal(mask, wrong))
    i, j = (mask != right).nonzero()[0].tolist()
    ways = [i, *ancestors(parents, i)]
    odd = f"Node {i} {'sees' if mask[i, j] else 'does not see'} node {j}; on its way to the context are nodes {ways}, itself included."
    raise Finding(f"On parents = {list(parents)} its rows are {drawn(mask)}, but {drawn(right)} is right. {next(known, odd)}")


def _shape(function: Mask) -> None:
    _asked(function, EXAMPLE)


def _mechanism(function: Mask) -> None:
    trees = [EXAMPLE, (-1, 0, 1, 2), (-1, -1, -1), (-1, 0, -1, 2, 1, 3), (-1,), ()]
    for parents in trees:
        _compare(function, parents)


def _reference(function: Mask) -> None:
    rng = random.Random(0)
    for _ in range(300):
        _compare(function, tuple(rng.randrange(-1, i) for i in range(rng.randrange(12))))


def check_tree_mask(function: Mask) -> Mask:
    """Check the learner's `tree_mask(parents) -> bool [m, m]`."""
    stages = [
        Stage("shape", "it returns true or false for each pair of nodes", _shape),
        Stage("mechanism", "a tree, a chain, siblings alone, one node, none", _mechanism),
        Stage("reference", "it agrees with the package's function on 300 random trees", _reference),
    ]
    return check(function, tree_mask, stages, (EXAMPLE,))
