"""The scenes of chapter 10's bugs: for each kind one function, from laws to a `Scene`."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.residual import written
from specdec_lab.checks.stages import Finding
from specdec_lab.checks.zoo.scene import Function, Law, Scene, as_law
from specdec_lab.sampling import Rng
from specdec_lab.verify import residual, verify_sampling

NAMES = ("left", "ahead", "right", "back")
LEFT_AHEAD, END = ("left", "ahead"), 1
DELIBERATE = (ArithmeticError, AssertionError, RuntimeError, ValueError)  # how one refuses to go on; a UserError is a ValueError


def _single(values: Tensor) -> dict[Hashable, float]:
    return dict(enumerate(values.tolist()))


def _names(words: tuple[str, ...] = NAMES) -> dict[Hashable, str]:
    return dict(enumerate(words))


def _test(token: int, stated: Tensor, p: Tensor, rng: Rng) -> tuple[int, int]:
    """The test of chapter 3, on one drafted token: what comes out, and whether the token stood."""
    if rng.uniform() < float(p[token] / stated[token]):
        return token, 1
    return rng.draw(residual(p, stated)), 0


def _proposal(answer: Any, vocab: int) -> tuple[int, Tensor]:
    token, stated = _pair(answer, "token, law")
    return _token(token, vocab), as_law(stated, vocab, "The law that it states")


def _pair(answer: Any, wanted: str) -> tuple[Any, Any]:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Finding(f"It returns {answer!r}, but a pair is wanted: {wanted}.")
    return answer[0], answer[1]


def _number(value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Finding(f"It returns {value!r} where a whole number is wanted.") from error
    if number != value:
        raise Finding(f"It returns {value!r} where a whole number is wanted.")
    return number


def _token(value: Any, vocab: int) -> int:
    if not 0 <= (token := _number(value)) < vocab:
        raise Finding(f"It returns the token {token}, which is none of the {vocab}.")
    return token


# --- what the draft says about itself ---


def likeliest(p: Tensor, q: Tensor) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        return _test(*_proposal(function(q), len(q)), p, rng)

    return Scene(f"With {written(p, q)}", _single(p), play, _names())


def drawn(p: Tensor, q: Tensor) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        return _test(*_proposal(function(q, rng), len(q)), p, rng)

    return Scene(f"With {written(p, q)}", _single(p), play, _names())


def top_k(p: Tensor, q: Tensor, k: int) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        return _test(*_proposal(function(q, k, rng), len(q)), wanted, rng)

    wanted = p * (p >= p.topk(k).values[-1])
    wanted = wanted / wanted.sum()
    return Scene(f"With top-k {k} of {written(p, q)}", _single(wanted), play, _names())


def temperature(p: Tensor, q: Tensor, t: float) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        answer = _pair(function(p.log(), q.log(), t), "p, q")
        ours, theirs = (as_law(value, len(p), name) for value, name in zip(answer, "pq", strict=True))
        for name, value in (("p", ours), ("q", theirs)):
            if not torch.isclose(value.sum(), torch.tensor(1.0, dtype=torch.float64), atol=1e-6):
                raise Finding(f"{name} sums to {float(value.sum()):.4g}, so it is no law. Divide the logits, before the softmax.")
        if torch.equal(ours, theirs) and not torch.equal(p, q):
            raise Finding("p and q are one and the same law. q is the draft's: make it of the draft's logits.")
        return _test(rng.draw(theirs), theirs, ours, rng)

    wanted = (p.log() / t).softmax(-1)
    return Scene(f"At temperature {t:g}, with logits log p and log q of {written(p, q)},", _single(wanted), play, _names())


def padded(p: Tensor, q: Tensor) -> Scene:
    """q has another number of entries than p."""

    def play(function: Function, rng: Rng) -> tuple[int, int]:
        stated = as_law(function(q.log(), len(p)), len(p), f"The law for a vocabulary of {len(p)}")
        return _test(rng.draw(stated), stated, p, rng)

    return Scene(f"With {written(p, q)}, so {len(q)} logits for a vocabulary of {len(p)},", _single(p), play, _names())


# --- what the target does with it ---


@dataclass(frozen=True)
class Pair:
    """Two models over two tokens whose law depends on the token before: rows `[3, 2]`, at the start, after left, after ahead."""

    p: Tensor
    q: Tensor

    def text_law(self) -> Law:
        return {(a, b): float(self.p[0, a] * self.p[1 + a, b]) for a in (0, 1) for b in (0, 1)}


def run_of_two(pair: Pair, k: int = 2) -> Scene:
    """A draft of k tokens; then the target goes on alone to the second token."""

    def play(function: Function, rng: Rng) -> tuple[tuple[int, ...], int]:
        text = list[int]()
        for _ in range(k):
            text.append(rng.draw(pair.q[1 + text[-1] if text else 0]))
        rows = [0, *(1 + token for token in text)]
        answer = _pair(function(pair.p[rows], pair.q[rows[:-1]], torch.tensor(text), rng), "accepted, next token")
        if not 0 <= (accepted := _number(answer[0])) <= k:
            raise Finding(f"It accepts {accepted} of {k} drafted tokens.")
        out = [*text[:accepted], _token(answer[1], 2)]
        if len(out) < 2:
            out.append(rng.draw(pair.p[1 + out[-1]]))
        return tuple(out[:2]), accepted

    names: dict[Hashable, str] = {(a, b): f"{x} {y}" for a, x in enumerate(LEFT_AHEAD) for b, y in enumerate(LEFT_AHEAD)}
    given = f"With a draft of {k}, p = {_rows(pair.p)} and q = {_rows(pair.q)} (at the start, after left, after ahead)"
    return Scene(given, pair.text_law(), play, names)


def _rows(rows: Tensor) -> str:
    return ", ".join(f"({', '.join(f'{x:.3g}' for x in row)})" for row in rows.tolist())


def presence(p: Tensor, q: Tensor, context: tuple[int, ...], penalty: float, k: int) -> Scene:
    """Both models have one law everywhere, less the penalty. A draft of k, then the target's own token."""
    logits, seen = p.log(), torch.tensor(context, dtype=torch.long)

    def after(held: tuple[int, ...]) -> Tensor:
        return (logits - penalty * torch.tensor([token in held for token in range(len(p))])).softmax(-1)

    def play(function: Function, rng: Rng) -> tuple[tuple[int, ...], int]:
        draft = torch.tensor([rng.draw(q) for _ in range(k)])
        rows = function(logits.expand(k + 1, -1).clone(), seen.clone(), draft.clone(), penalty)
        if not isinstance(rows, Tensor) or rows.shape != (k + 1, len(p)):
            raise Finding(f"It returns {rows!r}, but logits [k + 1, vocab] = [{k + 1}, {len(p)}] are wanted.")
        accepted, token = verify_sampling(rows.double().softmax(-1), q.expand(k, -1), draft, rng)
        out = [*draft[:accepted].tolist(), token]
        while len(out) < k + 1:
            out.append(rng.draw(after((*context, *out))))
        return tuple(out), accepted

    target: Law = {}
    texts = list(itertools.product(range(len(p)), repeat=k + 1))
    for text in texts:
        target[text] = 1.0
        for i, token in enumerate(text):
            target[text] *= float(after((*context, *text[:i]))[token])
    names: dict[Hashable, str] = {text: " ".join(NAMES[token] for token in text) for text in texts}
    said = ", ".join(NAMES[token] for token in context) or "nothing"
    given = f"With {written(p, q)}, penalty {penalty:g}, a text that holds {said}, and a draft of {k},"
    return Scene(given, target, play, names)


def children(p: Tensor, q: Tensor, width: int) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        stands, token = _pair(function(p, q, q.topk(width).indices, rng), "whether a child stands, token")
        return _token(token, len(p)), int(bool(stands))

    given = f"With {written(p, q)}, and the {width} likeliest tokens of q as children"
    return Scene(given, _single(p), play, _names())


# --- where a text ends, and what may go wrong around it ---


def ending(p: Tensor, q: Tensor, k: int) -> Scene:
    """Tokens: 0 is left, 1 the end. A draft of k; the text is cut at k + 1 tokens, or at its end."""

    def play(function: Function, rng: Rng) -> tuple[tuple[int, ...], int]:
        draft = torch.tensor([rng.draw(q) for _ in range(k)])
        accepted, token = verify_sampling(p.expand(k + 1, -1), q.expand(k, -1), draft, rng)
        run = [*draft[:accepted].tolist(), token]
        answer, wanted = function(run, END), "the tokens kept, whether the text has ended"
        tokens, ended = _pair(answer, wanted)
        if not isinstance(tokens, (list, tuple)):
            raise Finding(f"It returns {answer!r}, but a pair is wanted: {wanted}.")
        kept = [_token(token, 2) for token in tokens]
        at_once = len(kept)
        while not ended and len(kept) < k + 1:
            kept.append(rng.draw(p))
            ended = kept[-1] == END
        return tuple(kept[: k + 1]), at_once

    stop, go = float(p[END]), float(p[0])
    target: Law = {(*[0] * i, END): go**i * stop for i in range(k + 1)}
    target[(0,) * (k + 1)] = go ** (k + 1)
    texts = [text for n in range(k + 2) for text in itertools.product((0, END), repeat=n)]
    names: dict[Hashable, str] = {text: " ".join(("left", "END")[token] for token in text) or "(nothing)" for text in texts}
    given = f"With p = ({p[0]:.2g}, {p[1]:.2g}), q = ({q[0]:.2g}, {q[1]:.2g}) for (left, END) and a draft of {k},"
    return Scene(given, target, play, names)


def hand_draw(weights: Tensor) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[str | int, int]:
        try:
            token = function(weights, rng)
        except Exception as error:
            if healthy or not isinstance(error.__cause__ or error, DELIBERATE):
                raise
            return "error", 0
        return _number(token), 0

    total = float(weights.sum())
    healthy = 0 < total < float("inf")
    target: Law = _single(weights / total) if healthy else {"error": 1.0}
    names: dict[Hashable, str] = {**_names(), 3: "id 3, which is none", "error": "an error"}
    return Scene(f"With weights {tuple(round(w, 3) for w in weights.tolist())}", target, play, names)


def to_the_end(k: int, wanted: int, alpha: float) -> Scene:
    """Rounds until at least `wanted` tokens are written; each drafted token that is tested stands with probability alpha."""

    def play(function: Function, rng: Rng) -> tuple[int, float]:
        written, rounds = 0, 0
        while written < wanted:
            n = _number(function(k, written, wanted))
            if not 0 <= n <= k:
                raise Finding(f"With k = {k}, {written} written and {wanted} wanted it asks for {n} tokens; 0 to {k} can be drafted.")
            stand = 0
            while stand < n and rng.uniform() < alpha:
                stand += 1
            written, rounds = written + stand + 1, rounds + 1
        return written, -float(rounds)

    names: dict[Hashable, str] = {n: f"{n} tokens" for n in range(wanted, wanted + k + 1)}
    return Scene(f"With k = {k}, {wanted} tokens wanted and alpha {alpha:g}", {wanted: 1.0}, play, names)


def if_sure(p: Tensor, q: Tensor, least: float) -> Scene:
    def play(function: Function, rng: Rng) -> tuple[int, int]:
        answer = function(q, least, rng)
        if answer is None:
            return rng.draw(p), 0
        if bool(q.max() < least):
            raise Finding(f"With q = {q.tolist()} no token reaches {least:g}, and yet it drafts: return None there.")
        return _test(*_proposal(answer, len(q)), p, rng)

    return Scene(f"With {written(p, q)} and least = {least:g}", _single(p), play, _names())


def positive_law(generator: torch.Generator, vocab: int = 3) -> Tensor:
    """A random law in which nothing is impossible."""
    weights = torch.rand(vocab, generator=generator, dtype=torch.float64) + 0.05
    return weights / weights.sum()


def random_pair(generator: torch.Generator) -> Pair:
    rows = [positive_law(generator, 2) for _ in range(6)]
    return Pair(torch.stack(rows[:3]), torch.stack(rows[3:]))
