"""A separate small model as the drafter."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache, LanguageModel, rollback
from specdec_lab.sampling import Rng, SamplingParams, choices, laws

MAX_PADDING = 1024  # Qwen2.5 pads one tokenizer to 151,936 rows in its small models and to 152,064 in its large ones


class ModelDrafter:
    """Drafts with a language model of the target's vocabulary, one token a pass.

    The model sees the same sampling parameters as the target; its tokens are drawn from the law it states.
    """

    name = "model"

    def __init__(
        self,
        model: LanguageModel,
        vocab_size: int,
        rollback: Callable[[Cache, Tensor], None] = rollback,
        keep_going: Callable[[Tensor], bool] | None = None,
    ) -> None:
        """`vocab_size` is the target's; a few columns more or less are padding (vllm#10913). Raises UserError on more.

        rollback: a stand-in for `models.interface.rollback`: a learner's own function runs here.
        keep_going: asked behind each drafted token about the law `[vocab]` that the model had for it (the softmax of its logits,
        before sampling parameters), such as `adaptive.sure`; False ends the draft with that token, which stays in it.
        """
        if abs(model.vocab_size - vocab_size) > MAX_PADDING:
            raise UserError(
                f"The draft {model.name} has a vocabulary of {model.vocab_size:,} tokens and the target one of {vocab_size:,}; "
                "choose a draft that shares the target's tokenizer."
            )
        self.model, self.vocab_size, self._rollback, self._keep_going = model, vocab_size, rollback, keep_going
        self._cache: Cache = model.new_cache()

    @property
    def cache_length(self) -> int:
        return len(self._cache)

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        self._cache = self.model.new_cache()
        if 1 < len(context) <= self.model.max_context:
            self._logits(context[:-1]).cpu()

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
            if self._keep_going and not self._keep_going(logits[0].softmax(-1)):
                break
        return Draft(torch.tensor(tokens), torch.stack(probs) if probs else None)

    def commit(self, context: Tensor) -> None:
        self._rollback(self._cache, context)

    def _logits(self, tokens: Tensor) -> Tensor:
        """Feed tokens `[n]`; logits `[1, vocab]` after the last, in the target's vocabulary: columns beyond it are cut
        off, missing ones never drawn. An id the draft does not know is fed as its last one; a guess may be wrong."""
        known = tokens.clamp(max=self.model.vocab_size - 1)
        logits = self.model(known[None].to(self.model.device), self._cache, logits_to_keep=1)[0]
        return torch.nn.functional.pad(logits, (0, self.vocab_size - logits.shape[-1]), value=-torch.inf)
