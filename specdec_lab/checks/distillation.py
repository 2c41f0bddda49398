"""The checks of chapter 9's exercises, `total_variation_loss(draft, target)` and `distillation_loss(draft, target)`.

Both are losses: a value to compare, and a slope that training follows downhill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lab.checks.stages import Finding, Stage, attempt, check, shown
from specdec_lab.training import losses

Loss = Callable[[Tensor, Tensor], Any]
Suspects = Callable[[Tensor, Tensor], Iterator[tuple[Tensor, str]]]

# Three positions, four tokens: dividing by the wrong one of these numbers shows, and so does a half too many.
DRAFT = torch.tensor([[1.0, 0.0, -1.0, 0.5], [0.0, 2.0, 0.5, -0.5], [-1.0, 0.0, 0.3, 1.2]], dtype=torch.float64)
TARGET = torch.tensor([[2.0, 0.0, 0.0, -1.0], [1.5, 0.0, -0.5, 1.0], [0.2, -1.0, 2.0, 0.0]], dtype=torch.float64)
EXAMPLE = (DRAFT, TARGET)
CERTAIN = torch.tensor([[120.0, 0.0, -120.0]]), torch.tensor([[0.0, 120.0, -120.0]])
LARGE = torch.tensor([[1001.0, 1000.0, 999.0]]), torch.tensor([[1000.0, 1001.0, 1001.0]])


def close(a: Tensor, b: Tensor, tolerance: float = 1e-5) -> bool:
    """Equal, up to the rounding of 32 bits: a learner may have computed in those."""
    return bool(torch.allclose(a.detach().double().cpu(), b.detach().double().cpu(), rtol=tolerance, atol=1e-7))


def value_and_slope(function: Loss, draft: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """A loss, one finite number, and its gradient, in the shape of `draft`. Raises Finding with the reason where there is none."""
    fed: list[Tensor] = []

    def call(draft: Tensor, target: Tensor) -> Any:
        fed.append(draft)
        return function(draft, target)

    given = (draft.clone().requires_grad_(), target)
    answer, on = attempt(call, given), f"On draft, target = {shown(given)} it"
    if not isinstance(answer, Tensor):
        raise Finding(f"{on} returns {answer!r}, but a tensor is wanted, from which torch can find the way back to the draft.")
    if answer.numel() != 1:
        raise Finding(f"{on} returns the shape {list(answer.shape)}, but a loss is one number: the mean over the positions.")
    if not bool(answer.isfinite().all()):
        raise Finding(f"{on} gives {answer.item()}. {NO_LOG_TARGET if draft is DRAFT else ROUNDED}")
    if not answer.requires_grad:
        raise Finding(
            f"{on} gives a number that torch cannot follow back to the draft, so nothing would be learnt: "
            "leave out .item(), .detach(), no_grad and argmax of the draft."
        )
    answer.sum().backward()
    slope = fed[-1].grad
    if slope is None or not bool(slope.isfinite().all()):
        raise Finding(f"{on} gives {answer.item():.4g}, and a slope that is not a number. {LOGS}")
    return answer.detach().reshape(()), slope


LOGS = "Take logarithms with log_softmax(-1): it does not round a small probability to 0, as softmax(-1).log() does."
ROUNDED = f"A law that is certain gave 0 times infinity, or e to a large logit overflowed. Make laws with softmax(-1), not with exp. {LOGS}"
MAKE_LOGS = "make logarithms of probabilities of them, log_softmax(-1)."
NO_LOG_TARGET = (
    "Something takes the logarithm of a negative number. F.kl_div wants logarithms of the draft first; its second is taken for "
    "probabilities, unless log_target=True says that it is logarithms too."
)


def _suspect(answer: Tensor, arguments: tuple[Tensor, Tensor], suspects: Suspects, otherwise: str) -> str:
    return next((why for wrong, why in suspects(*arguments) if close(answer, wrong)), otherwise)


def _value(reference: Loss, suspects: Suspects, otherwise: str) -> Callable[[Loss], None]:
    """A stage's test: the value on the example; a likely wrong one gets its reason."""

    def test(function: Loss) -> None:
        answer, right = value_and_slope(function, *EXAMPLE)[0], reference(*EXAMPLE)
        if not close(answer, right):
            why = _suspect(answer, EXAMPLE, suspects, otherwise)
            raise Finding(f"On draft, target = {shown(EXAMPLE)} it gives {float(answer):.4f}, but {float(right):.4f} is right. {why}")

    return test


def _slope(reference: Loss) -> Callable[[Loss], None]:
    """A stage's test: the gradient on the example."""

    def test(function: Loss) -> None:
        _, slope = value_and_slope(function, *EXAMPLE)
        _, right = value_and_slope(reference, *EXAMPLE)
        if not close(slope, right):
            raise Finding(
                f"On draft, target = {shown(EXAMPLE)} the value is right, and the slope is not: training would follow another loss. "
                "Is a part of it detached, or made with no_grad or .item()?"
            )

    return test


def _edges(reference: Loss) -> Callable[[Loss], None]:
    """A stage's test: laws that are certain, and large logits, in 32 bits."""

    def test(function: Loss) -> None:
        for given in (CERTAIN, LARGE):
            answer, right = value_and_slope(function, *given)[0], reference(*given)
            if not close(answer, right, 1e-4):
                raise Finding(f"On draft, target = {shown(given)} it gives {float(answer):.4g}, but {float(right):.4g} is right. {ROUNDED}")

    return test


def _agrees(reference: Loss, trials: int = 200) -> Callable[[Loss], None]:
    """A stage's test: value and slope on random logits of random shapes."""

    def test(function: Loss) -> None:
        generator = torch.Generator().manual_seed(0)
        for _ in range(trials):
            n, vocab = (int(torch.randint(low, 7, (), generator=generator)) for low in (1, 2))
            given = tuple(2 * torch.randn(n, vocab, generator=generator, dtype=torch.float64) for _ in range(2))
            (answer, slope), (right, down) = (value_and_slope(f, *given) for f in (function, reference))
            if not close(answer, right) or not close(slope, down):
                what = "gives another value" if not close(answer, right) else "has another slope"
                rows = [[round(x, 2) for x in row] for logits in given for row in logits.tolist()]
                raise Finding(
                    f"On draft, target = {rows} ({n} positions each, {vocab} tokens) it {what} than the package's. "
                    "Does a number of positions or tokens stand in it?"
                )

    return test


def check_total_variation_loss(function: Loss) -> Loss:
    """Check the learner's `total_variation_loss(draft [n, vocab], target [n, vocab]) -> []`."""
    otherwise = "Make a law of each row, take the difference token by token, without its sign, and halve the sum."
    return _check(function, losses.total_variation_loss, _not_tv, otherwise, "half the difference of the two laws")


def check_distillation_loss(function: Loss) -> Loss:
    """Check the learner's `distillation_loss(draft [n, vocab], target [n, vocab]) -> []`."""
    otherwise = "Look at the two parts one by one: forward_kl(draft, target), then cross_entropy(draft, target) with the weight 0.5."
    return _check(function, losses.distillation_loss, _not_distillation, otherwise, "KL(p || q), and half the cross-entropy")


def _check(function: Loss, reference: Loss, suspects: Suspects, otherwise: str, known: str) -> Loss:
    stages = [
        Stage("shape", "it returns one number, and torch can follow it back", _one_number),
        Stage("value", known, _value(reference, suspects, otherwise)),
        Stage("slope", "training goes downhill on it", _slope(reference)),
        Stage("reference", "it agrees with the package's function on 200 random batches", _agrees(reference)),
        Stage("edges", "certain laws, large logits", _edges(reference)),
    ]
    return check(function, reference, stages, EXAMPLE)


def _one_number(function: Loss) -> None:
    value_and_slope(function, *EXAMPLE)


def _not_tv(draft: Tensor, target: Tensor) -> Iterator[tuple[Tensor, str]]:
    """What people return in place of the total variation, and what it is."""
    q, p = draft.softmax(-1), target.softmax(-1)
    apart, right = (p - q).abs(), losses.total_variation_loss(draft, target)
    yield 2 * right, "That is twice the total variation: what one law has too much the other lacks, and both were counted. Halve it."
    yield 1 - right, "That is the acceptance, 1 - TV. Training goes downhill, so what is to be made small is TV."
    yield -right, "The sign is the wrong way round: training goes downhill, and would drive the two laws apart."
    yield right * len(p), "It adds up the positions. A loss is their mean, or it would grow with the batch."
    yield 2 * right * len(p), "It adds up the positions, without the half: the mean over them, and half of it."
    yield 0.5 * apart.mean(), "That is the mean over tokens too. Within a position the differences are added up: .sum(-1), then .mean()."
    yield apart.mean(), "That is the mean over everything, tokens too. Add up over the tokens, .sum(-1), halve, and then take the mean."
    yield apart.max(-1).values.mean(), "That is the largest difference of a row. All tokens count: half of their sum."
    yield (apart**2).sum(-1).mean(), "Those are squares. TV takes the differences without their sign: abs()."
    yield 0.5 * (apart**2).sum(-1).mean(), "Those are squares, halved. TV takes the differences without their sign: abs()."
    yield (p - q).sum(-1).mean(), "Without abs() what one law has too much cancels what it lacks elsewhere, and the sum is 0."
    yield 0.5 * (draft - target).abs().sum(-1).mean(), "Those are differences of logits. Make a law of each row first: softmax(-1)."
    yield 0.5 * (q - target).abs().sum(-1).mean(), "The draft is a law there, and the target still logits: softmax both."
    yield 0.5 * (draft - p).abs().sum(-1).mean(), "The target is a law there, and the draft still logits: softmax both."
    over_positions = 0.5 * (draft.softmax(0) - target.softmax(0)).abs()
    for wrong in (over_positions.sum(-1).mean(), over_positions.sum(0).mean()):
        yield wrong, "The softmax runs over the positions. A law is over the tokens of one position: softmax(-1)."


def _not_distillation(draft: Tensor, target: Tensor) -> Iterator[tuple[Tensor, str]]:
    """What people return in place of the distillation loss: a wrong first part, a wrong second, or both, and what they are."""
    right = losses.distillation_loss(draft, target)
    yield -right, "The sign is the wrong way round: training goes downhill, and would drive the draft away from the target."
    yield right * len(draft), "It adds up the positions. A loss is their mean, or it would grow with the batch."
    kl, ce = losses.forward_kl(draft, target), losses.cross_entropy(draft, target)
    yield 0.5 * (kl + ce), "Both parts are halved. The half belongs to the cross-entropy alone."
    yield 0.5 * kl + ce, "The half stands at the wrong part: it belongs to the cross-entropy."
    first, second = list(_first_parts(draft, target)), list(_second_parts(draft, target))
    for a, why in first:
        for b, because in second:
            if why or because:
                yield a + b, " ".join(filter(None, (why, because)))


def _first_parts(draft: Tensor, target: Tensor) -> Iterator[tuple[Tensor, str]]:
    log_q, log_p = draft.log_softmax(-1), target.log_softmax(-1)
    q, p = log_q.exp(), log_p.exp()
    right = losses.forward_kl(draft, target)
    yield right, ""
    yield (
        losses.reverse_kl(draft, target),
        (
            "The KL is the wrong way round, KL(q || p). Wanted is KL(p || q): the weights in front of the logarithms are the target's. "
            "(F.kl_div takes the draft first.)"
        ),
    )
    yield right / draft.shape[1], "Its KL is divided by the tokens as well, which F.kl_div's own mean does: reduction='batchmean'."
    yield right * len(p), "Its KL adds up the positions; take the mean over them."
    yield -right, "Its KL has the wrong sign: p (log p - log q), or training drives the draft away."
    yield (
        -(p * log_q).sum(-1).mean(),
        ("Its first part is -p log q alone. That has the right slope, but is not 0 where the laws agree: KL has log p in it too."),
    )
    yield (p * (target - log_q)).sum(-1).mean(), f"In its KL the target's side is logits: {MAKE_LOGS}"
    yield (target.exp() * (target - log_q)).sum(-1).mean(), f"In its KL the target's side is logits: {MAKE_LOGS}"
    yield (p * (log_p - draft)).sum(-1).mean(), f"In its KL the draft's side is logits: {MAKE_LOGS}"
    yield (
        (p * (log_p - q)).sum(-1).mean(),
        "In its KL the draft's side is probabilities, where F.kl_div wants their logarithms: log_softmax(-1).",
    )
    yield (p * (target - draft)).sum(-1).mean(), "Its KL subtracts logits: make logarithms of probabilities of both first, log_softmax(-1)."
    over_positions = F.kl_div(draft.log_softmax(0), target.log_softmax(0), reduction="batchmean", log_target=True)
    yield over_positions, "In its KL the softmax runs over the positions. A law is over the tokens of one position: log_softmax(-1)."
    yield losses.total_variation_loss(draft, target), "Its first part is the total variation. Wanted here is KL(p || q)."
    yield F.mse_loss(draft, target), "Its first part compares logits by squares. Wanted is KL(p || q), which compares laws."
    yield right.new_zeros(()), "The first part, KL(p || q), is missing."


def _second_parts(draft: Tensor, target: Tensor) -> Iterator[tuple[Tensor, str]]:
    log_q, p = draft.log_softmax(-1), target.softmax(-1)
    right = losses.cross_entropy(draft, target)
    yield 0.5 * right, ""
    yield right, "The cross-entropy counts half: 0.5 times."
    yield right.new_zeros(()), "The second part is missing: half the cross-entropy on the target's most likely token."
    yield (
        0.5 * F.cross_entropy(draft, draft.argmax(-1)),
        ("Its cross-entropy praises the draft for its own favourite. The token to be said is the target's: target.argmax(-1)."),
    )
    for weight in (0.5, 1.0):
        yield (
            weight * F.cross_entropy(target, draft.argmax(-1)),
            ("In its cross-entropy the two have changed places: the draft's logits first, then the target's favourite, target.argmax(-1)."),
        )
        yield (
            weight * -(p * log_q).sum(-1).mean(),
            ("Its cross-entropy takes all of the target's law. Wanted is its most likely token alone: target.argmax(-1)."),
        )
        yield (
            weight * F.cross_entropy(draft.softmax(-1), target.argmax(-1)),
            ("Its cross-entropy takes the softmax twice: F.cross_entropy wants the logits as they are."),
        )
    yield 0.5 * right * len(p), "Its cross-entropy adds up the positions; take the mean over them."
    yield -0.5 * right, "Its cross-entropy has the wrong sign: it is -log q, which is positive."
    yield 0.5 * -log_q.exp().gather(1, target.argmax(-1, keepdim=True)).mean(), "Its second part is -q. Cross-entropy is -log q."
