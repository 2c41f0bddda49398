"""A separate small model as the drafter."""

from __future__ import annotations

import torch
from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.models.interface import Cache, LanguageModel
from specdec_lab.sampling import Rng, SamplingParams, choices, laws


class ModelDrafter:
    """Drafts with a language model of the target's vocabulary, one token a pass.

    The model sees the same sampling parameters as the target; its tokens are drawn from the law it states.
    """

    name = "model"

    def __init__(self, model: LanguageModel, vocab_size: int) -> None:
        """`vocab_size` is the target's; columns the model has beyond it are padding and are cut off."""
        self.model, self.vocab_size = model, vocab_size
        self._cache: Cache = model.new_cache()

    @property
    def cache_length(self) -> int:
        return len(self._cache)

    def begin(self, context: Tensor) -> None:
        self._cache = self.model.new_cache()
        if 1 < len(context) <= self.model.max_context:
            self._logits(context[:-1])

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        # A draft whose context is exhausted drafts nothing; the text does not change (vllm#48894).
        k = min(k, self.model.max_context - len(context) + 1)
        if k <= 0:
            return NOTHING
        tokens: list[int] = []
        probs = []
        for _ in range(k):
            logits = self._logits(context[len(self._cache) :])
            if params.greedy:
                tokens.append(int(choices(logits, params, context)))
            else:
                law = laws(logits, params, context)[0]
                probs.append(law)
                tokens.append(rng.draw(law))
            context = torch.cat([context, context.new_tensor(tokens[-1:])])
        return Draft(torch.tensor(tokens), torch.stack(probs) if probs else None)

    def commit(self, context: Tensor) -> None:
        # Fed: the old context and all drafted tokens but the last. What the new context confirms of that is
        # everything but its own last token. After full acceptance one token is missing, and is fed next round.
        self._cache.truncate(min(len(self._cache), len(context) - 1))

    def _logits(self, tokens: Tensor) -> Tensor:
        """Feed tokens `[n]`; logits `[1, vocab]` after the last, in the target's vocabulary."""
        logits = self.model(tokens[None].to(self.model.device), self._cache, logits_to_keep=1)[0]
        missing = self.vocab_size - logits.shape[-1]
        return torch.nn.functional.pad(logits, (0, missing), value=-torch.inf) if missing else logits
