"""An rng that is told what to answer, and one round to ask a verifier about: for the check of `verify_sampling`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.residual import P, Q, law
from specdec_lab.checks.stages import Finding, attempt, shown
from specdec_lab.sampling import Rng
from specdec_lab.theory.enumeration import exact_law

Verify = Callable[[Tensor, Tensor, Tensor, Rng], tuple[int, int]]
Round = tuple[Tensor, Tensor, Tensor]


class Probe:
    """Uniforms from a list, then 0; a draw notes its law and takes the likeliest token of it."""

    def __init__(self, *uniforms: float) -> None:
        self.uniforms, self.used, self.drawn = uniforms, 0, list[Tensor]()

    def __repr__(self) -> str:
        return "rng"

    def uniform(self) -> float:
        self.used += 1
        return self.uniforms[self.used - 1] if self.used <= len(self.uniforms) else 0.0

    def draw(self, law: Tensor) -> int:
        if not isinstance(law, Tensor) or law.dim() != 1:
            raise TypeError(f"rng.draw takes a law, a tensor [vocab], and was given {law!r}")
        self.drawn.append(law)
        return int(law.argmax())


# A round of two tokens in which every law is another, and so is every token that may come out.
ROUND = (
    torch.stack([P, law(0.3, 0.1, 0.6), law(0.7, 0.1, 0.2)]),
    torch.stack([Q, law(0.45, 0.4, 0.15)]),
    torch.tensor([1, 1]),
)
ROUND_SHARES = (0.6, 0.25)  # p / q of the two drafted tokens
KEPT, REJECTED = 0.1, 0.9  # uniforms with which they stand, and do not
GRID = [(i + 0.5) / 200 for i in range(200)]


def pair(answer: Any) -> Any:
    """(accepted, next_token) as whole numbers; anything else as it is written."""
    try:
        accepted, token = (value.item() if hasattr(value, "item") else value for value in answer)
    except (TypeError, ValueError, RuntimeError):
        return str(answer)
    return (accepted, token) if type(accepted) is int and (token is None or type(token) is int) else str(answer)


def run(function: Verify, rng: Probe, round_: Round = ROUND) -> tuple[Any, str]:
    """What it returns, and the words for the input."""
    said = f"p, q, draft = {shown(round_)}"
    try:
        answer = pair(attempt(lambda p, q, draft: function(p, q, draft, rng), round_))
    except Finding as finding:
        if "IndexError" in str(finding):
            raise Finding(f"{finding} p has k + 1 rows and q has k; row i of both is that of draft[i].") from finding
        raise
    return answer, f"On {said}, with rng.uniform() giving {', '.join(map(str, rng.uniforms)) or 'nothing'},"


def count(answer: Any, k: int) -> int:
    """How many of k drafted tokens stand."""
    if isinstance(answer, str) or not 0 <= answer[0] <= k:
        raise Finding(f"With k = {k} it returns {answer}: accepted has to be between 0 and {k}. It counts drafted tokens only.")
    return int(answer[0])


def shares(function: Verify, p: Tensor, q: Tensor) -> tuple[Tensor, list[Probe]]:
    """p `[2, vocab]`, q `[1, vocab]`: for which share of all uniforms each token stands, and the first run of each."""
    stand, first = list[float](), list[Probe]()
    for token in range(p.shape[1]):
        probes = [Probe(u) for u in GRID]
        stand.append(sum(count(run(function, rng, (p, q, torch.tensor([token])))[0], 1) for rng in probes) / len(GRID))
        first.append(probes[0])
    return law(*stand), first


def exact_shares(function: Verify, p: Tensor, q: Tensor) -> Tensor | None:
    """The same over all chances, rng.draw's too; None where they cannot be enumerated."""

    def stands(token: int, rng: Rng) -> int:
        return count(pair(function(p.clone(), q.clone(), torch.tensor([token]), rng)), 1)

    try:
        return law(*(exact_law(partial(stands, token)).get(1, 0.0) for token in range(p.shape[1])))
    except Exception:  # whatever a learner's function may raise
        return None
