"""When a text ends: the same rule for every token, whether it came alone or inside an accepted run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

StopReason = Literal["eos", "stop", "length"]


class Decoder(Protocol):
    """The part of a tokenizer that is needed here."""

    def decode(self, token_ids: list[int], skip_special_tokens: bool = ...) -> Any: ...


@dataclass
class Stopping:
    """Ends a text at an end token, at a stop string, or at max_new_tokens.

    The end token and the token that completes a stop string are the last ids kept; the text is cut in front
    of the stop string. `decoder` is needed for stop strings alone.
    """

    max_new_tokens: int
    eos: frozenset[int] = frozenset()
    strings: tuple[str, ...] = ()
    decoder: Decoder | None = None
    tokens: list[int] = field(default_factory=list)
    reason: StopReason | None = None

    def take(self, run: Sequence[int]) -> tuple[int, ...]:
        """Add the tokens of a round one by one; returns those that were still wanted."""
        start = len(self.tokens)
        for token in run:
            if self.reason:
                break
            self.tokens.append(token)
            if token in self.eos:
                self.reason = "eos"
            elif self.strings and self._stop_at() is not None:
                self.reason = "stop"
            elif len(self.tokens) >= self.max_new_tokens:
                self.reason = "length"
        return tuple(self.tokens[start:])

    @property
    def text(self) -> str:
        """The text so far, without special tokens, cut in front of a stop string."""
        assert self.decoder is not None
        text, end = self._decoded(), self._stop_at() if self.strings else None
        return text if end is None else text[:end]

    def _stop_at(self) -> int | None:
        text = self._decoded()
        found = [at for at in map(text.find, self.strings) if at >= 0]
        return min(found, default=None)

    def _decoded(self) -> str:
        assert self.decoder is not None, "stop strings need a decoder"
        return self.decoder.decode(self.tokens, skip_special_tokens=True)
