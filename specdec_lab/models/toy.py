"""Language models small enough to know exactly, called like the real ones. Logits are float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

NextLogits = Callable[[tuple[int, ...]], Tensor]


class TokenCache:
    """A toy's cache: the tokens themselves."""

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def __len__(self) -> int:
        return len(self.tokens)

    def truncate(self, length: int) -> None:
        assert 0 <= length <= len(self), f"cannot keep {length} of {len(self)} tokens"
        del self.tokens[length:]

    def select(self, length: int, rows: Sequence[int]) -> None:
        assert 0 <= length <= len(self), f"cannot keep {length} of {len(self)} tokens"
        self.tokens[length:] = [self.tokens[length + row] for row in rows]


class ToyLM:
    """A model given by a function from a context (a tuple of ids) to logits `[vocab]`."""

    def __init__(self, next_logits: NextLogits, vocab_size: int, max_context: int = 4096, name: str = "toy") -> None:
        self.name, self.vocab_size, self.max_context = name, vocab_size, max_context
        self.device = torch.device("cpu")
        self._next_logits = next_logits

    def new_cache(self) -> TokenCache:
        return TokenCache()

    def __call__(self, input_ids: Tensor, cache: TokenCache, logits_to_keep: int = 0, mask: Tensor | None = None) -> Tensor:
        held, fed = tuple(cache.tokens), input_ids[0]
        mask = torch.ones(len(fed), len(fed), dtype=torch.bool).tril() if mask is None else mask
        cache.tokens += fed.tolist()
        rows = [self._next_logits((*held, *fed[seen].tolist())) for seen in mask]
        return torch.stack(rows[-logits_to_keep:])[None]


def markov_lm(seed: int, vocab_size: int, order: int = 1, scale: float = 1.5, like: ToyLM | None = None, drift: float = 0.5) -> ToyLM:
    """Random logits for every context of the last `order` tokens; with `like`, that model's logits plus noise.

    `scale` is the spread of the logits, `drift` that of the noise: a draft that resembles its target.
    """

    def logits(context: tuple[int, ...]) -> Tensor:
        key = 0
        for token in context[-order:]:
            key = key * (vocab_size + 1) + token + 1
        generator = torch.Generator().manual_seed(seed * 1_000_003 + key)
        noise = torch.randn(vocab_size, dtype=torch.float64, generator=generator)
        return noise * scale if like is None else like._next_logits(context) + noise * drift

    return ToyLM(logits, vocab_size, name=f"markov-{seed}")


def table_lm(table: Mapping[Sequence[str], str], words: Sequence[str], end: str = "END") -> ToyLM:
    """A deterministic model: after the words of a key comes its value, after anything else `end`."""
    ids = {word: i for i, word in enumerate(words)}
    known = {tuple(ids[w] for w in key): ids[value] for key, value in table.items()}

    def logits(context: tuple[int, ...]) -> Tensor:
        out = torch.full((len(words),), -100.0, dtype=torch.float64)
        out[known.get(context, ids[end])] = 100.0
        return out

    return ToyLM(logits, len(words), name="table")


def scripted_lm(script: Sequence[int], vocab_size: int, start: int) -> ToyLM:
    """A model that says `script[i]` as its i-th token after a prompt of `start` tokens, whatever was said before."""

    def logits(context: tuple[int, ...]) -> Tensor:
        out = torch.zeros(vocab_size, dtype=torch.float64)
        out[script[(len(context) - start) % len(script)]] = 100.0
        return out

    return ToyLM(logits, vocab_size, name="script")


def law_lm(law: Sequence[float], name: str = "law") -> ToyLM:
    """A model whose every token has the same law, whatever the context."""
    fixed = torch.tensor(law, dtype=torch.float64).log()
    return ToyLM(lambda context: fixed, len(law), name=name)
