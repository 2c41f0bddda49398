"""The round that the course was made from: a target that says the, cat, sat, down."""

import pytest
import torch

from specdec_lab.drafters import Draft
from specdec_lab.engine import Stopping, stream
from specdec_lab.models.toy import table_lm
from specdec_lab.sampling import SamplingParams

WORDS = ["<s>", "the", "cat", "sat", "down", "XXX", "END"]
SAYS = ["the", "cat", "sat", "down"]
TARGET = table_lm({("<s>", *SAYS[:i]): word for i, word in enumerate(SAYS)}, WORDS)


class Says:
    """Proposes the same words in every round."""

    name, cache_length = "says", None

    def __init__(self, *words: str) -> None:
        self.words = words

    def begin(self, context): ...

    def propose(self, context, k, params, rng):
        return Draft(torch.tensor([WORDS.index(word) for word in self.words[:k]]))

    def commit(self, context): ...


@pytest.mark.parametrize(
    ("draft", "emitted"),
    [
        (["the", "cat", "XXX"], ["the", "cat", "sat"]),
        (["the", "cat", "sat"], ["the", "cat", "sat", "down"]),  # the bonus token, which the seed's own round forgets
        (["XXX", "cat", "sat"], ["the"]),
    ],
)
def test_one_round(draft, emitted):
    first = next(stream(TARGET, torch.tensor([0]), Says(*draft), 3, SamplingParams(), Stopping(10)))
    assert [WORDS[token] for token in first.emitted] == emitted
