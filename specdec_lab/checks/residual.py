"""The check of chapter 3's first exercise, `residual(p, q)`, and what its two checks share."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from specdec_lab.checks.stages import Finding, Stage, attempt, check, shown
from specdec_lab.verify import residual

Residual = Callable[[Tensor, Tensor], Tensor]
TOLERANCE = 1e-6  # a law that went through Python's numbers comes back as float32


def law(*probabilities: float) -> Tensor:
    return torch.tensor(probabilities, dtype=torch.float64)


def same(a: Tensor, b: Tensor, tolerance: float = TOLERANCE) -> bool:
    a, b = a.double().cpu(), b.double().cpu()
    return a.shape == b.shape and bool(((a - b).abs() <= tolerance).all())


def rounded(values: Tensor) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in values.tolist()) + ")"


def written(*tensors: Tensor) -> str:
    """Random laws, short enough to read."""
    return ", ".join(str(_short(t.tolist())) for t in tensors)


def _short(values: list) -> list:
    return [_short(value) if isinstance(value, list) else round(value, 3) for value in values]


def above(p: Tensor, q: Tensor) -> Tensor:
    return (p - q).clamp(min=0)


P, Q = law(0.5, 0.3, 0.2), law(0.2, 0.5, 0.3)
P32 = P.float()
ONE_STEP = P32.clone()  # P, but for one rounding step upwards
ONE_STEP[0] = torch.nextafter(P32[0], torch.tensor(1.0))
NOTHING_ABOVE = (
    "p and q differ by one rounding step, nothing of p is above q, and it divides 0 by 0. Ask whether the sum is 0, not whether p equals q."
)


def _residual_of(function: Residual, p: Tensor, q: Tensor) -> Tensor:
    answer = attempt(function, (p, q))
    if not isinstance(answer, Tensor):
        raise Finding(f"On {shown((p, q))} it returns {answer!r}, but a tensor is wanted: rng.draw takes nothing else. torch.tensor(...).")
    if answer.shape != p.shape:
        raise Finding(
            f"On {shown((p, q))} it returns the shape {list(answer.shape)}, but a law has a probability for each token: {list(p.shape)}."
        )
    return answer


def _residual_shape(function: Residual) -> None:
    _residual_of(function, P, Q)


def _not_above(p: Tensor, q: Tensor) -> list[tuple[Tensor, str]]:
    """What people return in place of the residual of p and q, scaled or not, and what it is."""
    least, favourite = torch.minimum(p, q), torch.zeros_like(p)
    favourite[(p - q).argmax()] = 1
    return [
        (p, "That is p itself. The part of p below q has been handed out already, by accepting; only the rest is left over."),
        (q, "That is the draft's law; it has just been rejected."),
        (above(q, p), "That is what q has above p. The tokens the draft says too seldom are missing: p - q."),
        ((p - q).abs(), "Where q is above p nothing is missing: the absolute value puts it back. Cut off at 0."),
        (least, "min(p, q) is what has been accepted already; what is missing is the rest of p."),
        (p * (p > q), "It gives all of p where p is above q. Of that, q has been handed out already: only p - q is left."),
        (favourite, "It puts everything on one token. Each token that is short gets its share of the rest."),
        (p / q - 1, "That is p / q - 1. By how much a token is short is a difference, not a ratio: p - q, cut off at 0."),
        ((p / q - 1).clamp(min=0), "That comes from p / q. By how much a token is short is a difference, not a ratio: p - q."),
        ((p - q).softmax(-1), "A softmax gives every token something. Tokens that p has nothing of above q get exactly 0."),
        (above(p, q).softmax(-1), "It is cut off at 0, and then a softmax gives every token something again: divide by the sum instead."),
    ]


def _why_not_above(answer: Tensor, p: Tensor, q: Tensor) -> str:
    rest = above(p, q)
    if same(answer, rest):
        return "That is what p has above q, but it is not a law yet: divide by its sum."
    if same(answer, rest / rest.max()):
        return "It was divided by its largest entry: divide by the sum, so that it adds up to 1."
    for wrong, why in _not_above(p, q):
        if same(answer, wrong / wrong.sum()):
            return why
        if same(answer, wrong):
            return f"{why} And divide by the sum, so that it adds up to 1."
    if not bool((answer >= 0).all()):
        return "Where the draft says a token more often than the target, p - q is negative: nothing is left over there, so put 0."
    return "Look at p - q, token by token."


def _residual_cases(function: Residual) -> None:
    for p, q in ((Q, P), (P, Q), (P, law(1, 0, 0)), (law(0, 1, 0), Q)):
        answer, right = _residual_of(function, p, q), residual(p, q)
        if not same(answer, right):
            raise Finding(f"On {shown((p, q))} it gives {rounded(answer)}, but {rounded(right)} is right. {_why_not_above(answer, p, q)}")


def _residual_edges(function: Residual) -> None:
    answer = _residual_of(function, P, P)
    if answer.isnan().any():
        raise Finding(f"On p = q = {shown((P,))} it divides 0 by 0 and gives {rounded(answer)}. Nothing is above there: return p then.")
    if not answer.sum():
        raise Finding(f"On p = q = {shown((P,))} it gives zeros: there is nothing to draw from. Return p where nothing is above.")
    if not same(answer, P):
        raise Finding(f"On p = q = {shown((P,))} it gives {rounded(answer)}. Where nothing is above, p itself is the answer.")
    p, q = law(1 - 1e-9, 1e-9), law(1, 0)
    if not same(answer := _residual_of(function, p, q), law(0, 1)):
        raise Finding(
            f"On {shown((p, q))} it gives {rounded(answer)}, but (0, 1) is right: a small residual is a residual. "
            "Fall back to p only where the sum is 0, and add no small number to it."
        )
    answer = _residual_of(function, P32, ONE_STEP)
    if not same(answer, P32):
        why = NOTHING_ABOVE if answer.isnan().any() else "p and q differ by one rounding step, and nothing of p is above q: return p."
        raise Finding(f"On {shown((P32, ONE_STEP))} it gives {rounded(answer)}. {why}")


def _residual_reference(function: Residual) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        p, q = random_law(generator), random_law(generator)
        if not same(answer := _residual_of(function, p, q), right := residual(p, q)):
            raise Finding(f"On {written(p, q)} it gives {rounded(answer)}, but {rounded(right)} is right.")


def check_residual(function: Residual) -> Residual:
    """Check the learner's `residual(p [vocab], q [vocab]) -> [vocab]`."""
    stages = [
        Stage("shape", "it returns a probability for each token", _residual_shape),
        Stage("mechanism", "what p has above q, as a law", _residual_cases),
        Stage("edges", "p = q, and almost", _residual_edges),
        Stage("reference", "it agrees with the package's function on 300 random pairs of laws", _residual_reference),
    ]
    return check(function, residual, stages, (P, Q))


def random_law(generator: torch.Generator, vocab: int = 4) -> Tensor:
    """Some tokens are impossible, as after top-k."""
    weights = torch.rand(vocab, generator=generator, dtype=torch.float64) * torch.randint(0, 3, (vocab,), generator=generator)
    weights[int(torch.randint(0, vocab, (), generator=generator))] += 0.2
    return weights / weights.sum()
