"""What a learner's round is given in its check: a model and a `verify` that look at what they are fed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.stages import Finding
from specdec_lab.models.interface import Cache, LanguageModel
from specdec_lab.verify import verify_greedy


class Watched:
    """A model that notes what it is fed: the ids, and the cache they went to with its length before."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.fed: list[tuple[list[int], Cache, int]] = []
        self.asked_for_device = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    @property
    def device(self) -> torch.device:
        self.asked_for_device = True
        return self.model.device

    def __call__(self, input_ids: Tensor, cache: Cache, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        if input_ids.dim() != 2:
            raise Finding(f"The target was fed ids of shape {list(input_ids.shape)}. It takes a batch of one text, [1, n]: tokens[None].")
        if input_ids.shape[1] == 0:
            raise Finding("The target was fed no token at all. It has to read at least the last token of the context.")
        self.fed.append((input_ids[0].tolist(), cache, len(cache)))
        return self.model(input_ids, cache, logits_to_keep, mask)


class Judge:
    """`verify(draft, logits)`, which notes that it was asked, and looks at what it is given."""

    def __init__(self, draft: Tensor, vocab: int, most: int | None = None) -> None:
        self.draft, self.vocab, self.most, self.asked = draft, vocab, most, 0

    def __call__(self, draft: Tensor, logits: Tensor) -> tuple[int, int]:
        self.asked += 1
        k, ours = len(self.draft), torch.as_tensor(draft)
        if ours.dim() > 1 or (ours.is_floating_point() and len(ours)):
            raise Finding(
                f"verify was given a tensor of shape {list(ours.shape)} as the draft. It is the other way round: verify(draft, logits)."
            )
        if ours.tolist() != self.draft.tolist():
            raise Finding(f"verify was given the draft {ours.tolist()}; it was {self.draft.tolist()}.")
        if not logits.is_floating_point():
            raise Finding("verify was given whole numbers. It takes scores, not choices: leave the argmax to it.")
        if (shape := list(logits.shape)) != [k + 1, self.vocab]:
            raise Finding(
                f"verify was given logits of shape {shape}, and not [k + 1, vocab] = {[k + 1, self.vocab]}. {self._why(shape, k)}"
            )
        accepted, own = verify_greedy(self.draft, logits.argmax(-1))
        return (accepted, own) if self.most is None or accepted <= self.most else (self.most, int(logits[self.most].argmax()))

    @staticmethod
    def _why(shape: list[int], k: int) -> str:
        if len(shape) == 3:
            return "The model answers for a batch; take its first text, [0]."
        if shape[0] == k:
            return "The row after the last token of the context says what belongs in the draft's first place: none may be missing."
        return "Only the last k + 1 rows are about the draft: where the cache is empty, there are more."
