"""What the laws of a finished run were, at every place of its text: found afterwards, from one pass of each model over the text.

It is the trick of verification once more. A model that reads a text states a law behind every token of it, those that it stated while
the text was written; so the loop that is timed does not have to keep any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from specdec_lab.engine.loop import GREEDY, Generation
from specdec_lab.engine.rounds import Origin, Round
from specdec_lab.errors import UserError
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import Rng, SamplingParams, laws
from specdec_lab.verify.tree import children

ROWS = 64  # laws held at a time: with a vocabulary of 150,000 they are 40 MB


class Recorded:
    """An Rng that keeps the uniforms it is asked for: those of a verifier, as drafters and corrections ask for draws.

    Give it to one `generate` alone, and then to `review`.
    """

    def __init__(self, rng: Rng) -> None:
        self._rng, self.uniforms = rng, list[float]()

    def uniform(self) -> float:
        self.uniforms.append(self._rng.uniform())
        return self.uniforms[-1]

    def draw(self, law: Tensor) -> int:
        return self._rng.draw(law)


@dataclass(frozen=True)
class Place:
    """A token and what the models thought of it at its place.

    p: the target's probability of it; rank: its place among the target's choices, 1 the most likely, and equally likely ones share
    theirs. q: the draft model's probability, None without one or where its context ends.
    """

    token: int
    p: float
    rank: int
    q: float | None


@dataclass(frozen=True)
class Verdict(Place):
    """A drafted token that was tested. uniform: the number that decided, accepted where it is below p / q; None if none is known."""

    accepted: bool
    uniform: float | None


@dataclass(frozen=True)
class Review:
    """places: one for each token of the generation. verdicts: those of each round, up to its first rejection; of a token tree
    only those on the accepted path, and without uniforms, as a node is tested against what its elder siblings left of p.

    params: what shaped p and q. A greedy run has laws with all weight on one token, which say nothing; its p and q are the softmax at
    temperature 1 (`greedy` is True then, and rank 1 is what stands).
    """

    places: tuple[Place, ...]
    verdicts: tuple[tuple[Verdict, ...], ...]
    params: SamplingParams
    greedy: bool


def review(
    generation: Generation,
    target: LanguageModel,
    draft: LanguageModel | None = None,
    params: SamplingParams = GREEDY,
    rng: Recorded | None = None,
) -> Review:
    """What `target` and `draft` thought of every token that `generation` wrote, and of every drafted one that was tested.

    draft: the model that drafted, or any other of the target's vocabulary (padding aside). params: those of the run. rng: the one it was
    given, if its verifier was `verify_sampling`. Raises UserError if the uniforms in it are not as many as tokens were tested.
    """
    if params.greedy and rng is not None:
        raise UserError("A greedy run is decided without uniforms: leave rng out, or pass the params that the run was given.")
    shaped = SamplingParams(1.0, repetition_penalty=params.repetition_penalty) if params.greedy else params
    start = len(generation.prompt)
    text = torch.tensor([*generation.prompt, *(token for r in generation.rounds for token in _stood(r))])
    # At each place two tokens are asked about: the one that came to stand there, and the one that was rejected there, if any.
    asked = text[start:, None].repeat(1, 2)
    for r in generation.rounds:
        if r.rejected and r.parents is None:
            asked[r.context_length - start + r.accepted, 1] = r.drafted[r.accepted]
    p, ranks = _along(target, text, asked, shaped, target.vocab_size)
    q, _ = _along(draft, text, asked, shaped, target.vocab_size) if draft else ([], [])

    def place(at: int, which: int) -> tuple[int, float, int, float | None]:
        return int(asked[at, which]), p[at][which], ranks[at][which], q[at][which] if at < len(q) else None

    uniforms = _uniforms(generation, rng)
    verdicts = []
    for r in generation.rounds:
        first, known = r.context_length - start, next(uniforms)
        stood = [Verdict(*place(first + i, 0), True, known[i]) for i in range(r.accepted)]
        failed = [Verdict(*place(first + r.accepted, 1), False, known[r.accepted])] if r.rejected and r.parents is None else []
        verdicts.append((*stood, *failed))
    places = tuple(Place(*place(at, 0)) for at in range(len(generation.tokens)))
    return Review(places, tuple(verdicts), shaped, params.greedy)


def _stood(r: Round) -> list[int]:
    """What a round added to the context, also behind the end of the text."""
    path = range(r.accepted) if r.path is None else r.path
    return [*(r.drafted[node] for node in path), r.next_token]


def _along(
    model: LanguageModel, text: Tensor, asked: Tensor, params: SamplingParams, vocab_size: int
) -> tuple[list[list[float]], list[list[int]]]:
    """Probability and rank of the tokens `asked` [n, 2] at the last n places of `text`, in a vocabulary of the target's size.

    Fewer rows where the model's context ends.
    """
    fed = min(len(text) - 1, model.max_context)
    rows = fed - (len(text) - 1 - len(asked))
    if rows <= 0:
        return [], []
    known = text[:fed].clamp(max=model.vocab_size - 1)  # as `ModelDrafter` feeds and pads it
    logits = model(known[None].to(model.device), model.new_cache(), logits_to_keep=rows)[0]
    p, ranks = list[list[float]](), list[list[int]]()
    for at in range(0, rows, ROWS):
        some = logits[at : at + ROWS]
        some = torch.nn.functional.pad(some, (0, vocab_size - some.shape[-1]), value=-torch.inf)
        law = laws(some, params, text[: fed - rows + at + len(some)])
        its = law.gather(1, asked[at : at + len(some)].to(law.device))
        p += its.tolist()
        ranks += ((law[:, None] > its[:, :, None]).sum(-1) + 1).tolist()
    return p, ranks


def _uniforms(generation: Generation, rng: Recorded | None) -> Iterator[list[float] | list[None]]:
    """For each round the uniforms of the tokens that it tested, or None for each."""
    tested = [_tested(r) for r in generation.rounds]
    if rng is not None and len(rng.uniforms) != sum(tested):
        raise UserError(
            f"{len(rng.uniforms)} uniforms were recorded, but {sum(tested)} drafted tokens were tested; give a new "
            "Recorded(SeededRng(seed)) to one generate alone, with verify_sampling (other rules ask otherwise), and then to review."
        )
    numbers = iter(rng.uniforms if rng else ())
    for r, count in zip(generation.rounds, tested, strict=True):
        of_round = list(islice(numbers, count))
        yield of_round if of_round and r.parents is None else [None] * count


def _tested(r: Round) -> int:
    """How many drafted tokens a round tested; in a tree siblings are tested in their order, until one stands."""
    if r.parents is None:
        return r.accepted + r.rejected
    path, count = r.path or (), 0
    for here, stands in zip((-1, *path), (*path, None), strict=True):
        below = children(r.parents, here)
        count += len(below) if stands is None else below.index(stands) + 1
    return count


def mean_p(generation: Generation, found: Review) -> dict[Origin, float]:
    """How likely the target found the tokens of each origin, on average."""
    p: dict[Origin, list[float]] = {}
    origins = (origin for r in generation.rounds for origin in r.origins)
    for origin, place in zip(origins, found.places, strict=True):
        p.setdefault(origin, []).append(place.p)
    return {origin: sum(values) / len(values) for origin, values in p.items()}
