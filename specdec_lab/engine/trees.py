"""The round of a token tree: like `loop.speculative_round`, but the pass has a mask, and a path is kept instead of a prefix."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lab.drafters.interface import Draft
from specdec_lab.models.interface import Cache, LanguageModel
from specdec_lab.sampling import Rng, SamplingParams, choices, laws
from specdec_lab.verify.tree import tree_mask, verify_tree_greedy, verify_tree_sampling


def tree_round(
    target: LanguageModel, cache: Cache, context: Tensor, draft: Draft, params: SamplingParams, rng: Rng
) -> tuple[Tensor, tuple[int, ...]]:
    """One pass of the target over the last token and all nodes, the verdict, and the cache compacted to the accepted path.

    cache: the target's, which holds a start of `context` (ids `[n]`), and afterwards the new context less its last token.
    Returns the new context, ids `[n + len(path) + 1]`, and the path: the nodes that stand, from the root down.
    """
    assert draft.parents is not None
    mask, n = tree_mask(draft.parents), len(context)
    seen = torch.cat([context, draft.tokens])[len(cache) :]
    logits = target(seen[None].to(target.device), cache, mask=_behind(n - len(cache), mask))[0, -len(draft) - 1 :]
    if params.greedy:
        said = _each(choices, logits, params, context, draft.tokens, mask).cpu()
        path, next_token = verify_tree_greedy(draft.tokens, draft.parents, said)
    else:
        p = _each(laws, logits, params, context, draft.tokens, mask)
        path, next_token = verify_tree_sampling(p, draft.laws(p), draft.tokens, draft.parents, rng)
    cache.select(n, path)
    return torch.cat([context, draft.tokens[path], context.new_tensor([next_token])]), tuple(path)


def _behind(fed: int, mask: Tensor) -> Tensor:
    """The mask `[m, m]` of a tree behind `fed` tokens of the text, each of which sees those before it, and the tree all of them."""
    whole = torch.ones(fed + len(mask), fed + len(mask), dtype=torch.bool).tril()
    whole[fed:, fed:] = mask
    return whole


def _each(
    shape: Callable[[Tensor, SamplingParams, Tensor], Tensor], logits: Tensor, params: SamplingParams, context: Tensor,
    tokens: Tensor, mask: Tensor,
) -> Tensor:  # fmt: skip
    """`shape`, which is `laws` or `choices`, of every row of logits `[m + 1, vocab]`, each after its own branch of the tree."""
    if params.repetition_penalty == 1.0:
        return shape(logits, params, context)  # all that depends on the text before is the penalty
    branches = [context, *(torch.cat([context, tokens[ancestors]]) for ancestors in mask)]
    return torch.cat([shape(row[None], params, branch) for row, branch in zip(logits, branches, strict=True)])
