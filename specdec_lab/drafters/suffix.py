"""Suffix decoding: what followed this ending most often, in this text and in earlier ones, and no further than the evidence goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache
from specdec_lab.sampling import Rng, SamplingParams

BETWEEN = -1  # stands between two texts: no token, so that no match reaches over it


class SuffixIndex:
    """Texts one behind the other, each token with the list of the places where it stands. It only grows at its end."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.places: dict[int, list[int]] = defaultdict(list)

    def extend(self, tokens: Iterable[int]) -> None:
        for token in tokens:
            self.places[token].append(len(self.tokens))
            self.tokens.append(token)

    def cut(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        while len(self.tokens) > length:
            self.places[self.tokens.pop()].pop()

    def longest_match(self, n_max: int) -> tuple[int, list[int]]:
        """The length n <= n_max of the longest ending that stands elsewhere too, and the places of its last token there, oldest
        first. (0, []) if the last token is new."""
        tokens, last = self.tokens, len(self.tokens) - 1
        n, found, places = 0, [], self.places[tokens[last]][:-1] if tokens else []
        while places:
            n, found = n + 1, places
            if n == n_max or tokens[last - n] == BETWEEN:
                break
            places = [at for at in found if at >= n and tokens[at - n] == tokens[last - n]]
        return n, found

    def continuation(self, places: list[int], most: int, least: float) -> list[int]:
        """At most `most` tokens, each the one that stands most often behind those before it (among equals the one seen last), while
        at least the share `least` of the occurrences at `places` goes on like this."""
        tokens, length, all_places = self.tokens, len(self.tokens), len(places)
        drafted: list[int] = []
        places = [at + 1 for at in places]
        while len(drafted) < most:
            following = Counter(tokens[at] for at in reversed(places) if tokens[at] != BETWEEN)
            token, votes = following.most_common(1)[0] if following else (BETWEEN, 0)
            if votes < least * all_places or not votes:
                break
            drafted.append(token)
            tokens.append(token)  # an occurrence that overlaps the ending goes on into the draft itself
            places = [at + 1 for at in places if tokens[at] == token]
        del tokens[length:]
        return drafted


class SuffixDrafter:
    """Continues the longest ending that stood before, in prompt, output or earlier texts, as it was continued most often.

    Prompt lookup (`ngram.lookup`) copies k tokens from the latest place that matches a few tokens, however thin the match; here the
    match is as long as it can be, all its places vote, and the draft ends where too few of them agree, or where it is `factor` times
    as long as the match. One wants it where text repeats in several versions or over several requests: the more of it has matched the
    more is copied in a round, and a chance match of one token costs one drafted token instead of k.
    Source: SuffixDecoding (Oliaro et al. 2024, arXiv:2411.04975), which also weighs shorter matches and drafts a tree.
    """

    name = "suffix"
    cache_length = None

    def __init__(
        self,
        corpus: Iterable[Sequence[int]] = (),
        remember: bool = False,
        n_min: int = 1,
        n_max: int = 32,
        factor: float = 1.0,
        least: float = 0.1,
    ) -> None:
        """corpus: earlier texts, as ids. remember: keep every text that this drafter has worked on for those that follow.

        n_min, n_max: tokens that a match has to have, and is looked for at most. factor: drafted tokens per matched one.
        least: the share of the occurrences that has to agree with the whole draft. Raises UserError on values that make no sense.
        """
        if not 1 <= n_min <= n_max:
            raise UserError(f"n_min is {n_min} and n_max {n_max}, but 1 <= n_min <= n_max has to hold.")
        if not factor > 0:
            raise UserError(f"factor is {factor}, but has to be above 0: it is the tokens drafted per token matched.")
        if not 0 <= least <= 1:
            raise UserError(f"least is {least}, but a share lies in [0, 1].")
        self.remember, self.n_min, self.n_max, self.factor, self.least = remember, n_min, n_max, factor, least
        self._index = SuffixIndex()
        for text in corpus:
            self._index.extend([*text, BETWEEN])
        self._start = len(self._index.tokens)  # of the present text

    def begin(self, context: Tensor, target_cache: Cache) -> None:
        if self.remember and len(self._index.tokens) > self._start:
            self._index.extend([BETWEEN])
            self._start = len(self._index.tokens)
        self._index.cut(self._start)
        self.commit(context)

    def propose(self, context: Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        n, places = self._index.longest_match(self.n_max)
        if n < self.n_min:
            return NOTHING
        found = self._index.continuation(places, min(k, int(self.factor * n)), self.least)
        return Draft(context.new_tensor(found)) if found else NOTHING

    def commit(self, context: Tensor) -> None:
        known = len(self._index.tokens) - self._start
        self._index.extend(context[known:].tolist())
