"""Why did it not help? Read off the numbers of a run: acceptance first, latency second.

End-to-end latency says that something is wrong, and not what. Which guesses stood, and what a round cost, tell the causes apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from specdec_lab.theory import closed_forms

Cause = Literal["mismatch", "temperature", "text", "drift", "k too large", "batch", "drafting", "pass", "overhead", "unseen", "healthy"]

LOW = 0.7  # of the usual alpha: below, something has happened to it
DRIFT = 0.5  # of the first place's share: a later place below that, of enough tests, has lost the thread
ENOUGH = 20
SATURATED = 0.9  # of the most tokens that a pass can bring at this alpha
WASTED = 0.05  # of the speedup that a better k would give
UNSEEN = 0.8  # of the predicted speedup: a run below it spends time on what is in none of its parts


@dataclass(frozen=True)
class Signature:
    """A run in numbers. Costs are in plain decoding steps of the same batch.

    conditional: for each place of a draft the share of its tested tokens that stood; None where none was tested.
    length: tokens a target pass. verify: the pass over k + 1 tokens. speedup: measured, over plain decoding of the same batch.
    """

    k: int
    alpha: float
    conditional: tuple[float | None, ...]
    length: float
    verify: float
    c: float
    overhead: float
    speedup: float
    usual: float | None = None  # alpha of this draft on such text at temperature 0, where it is known to be in order
    cool: float | None = None  # alpha of this very set-up at temperature 0
    alone: float | None = None  # speedup of this set-up with one text at a time
    tested: tuple[int, ...] = ()  # how many tokens were tested at each place, where that is known
    rate: float | None = None  # acceptance rate: shown, and not used, as it says nothing without k and alpha

    @property
    def cost(self) -> float:
        """A round, in plain decoding steps."""
        return float(closed_forms.round_cost(self.k, self.c, self.verify, self.overhead))

    @property
    def predicted(self) -> float:
        """The speedup that its own tokens and prices add up to."""
        return self.length / self.cost


class Diagnosis(NamedTuple):
    cause: Cause
    reason: str
    repair: str


def diagnose(run: Signature) -> Diagnosis:
    """The first thing that is wrong with a run, in the order in which it is looked for; "healthy" if nothing is."""
    return _acceptance(run) or _batch(run) or _draft_length(run) or _latency(run) or Diagnosis("healthy", _sum(run), "Keep it.")


def _acceptance(run: Signature) -> Diagnosis | None:
    first = run.conditional[0] if run.conditional else None
    later = [share for share, n in zip(run.conditional[1:3], run.tested[1:3], strict=False) if share is not None and n >= ENOUGH]
    if first and later and min(later) < DRIFT * first:
        return Diagnosis(
            "drift",
            f"A first guess stands with {first:.2f}, and a later one, when tested, with {min(later):.2f}: the draft loses the thread.",
            "Look at the draft's cache and positions after a rejection; a head that cannot hear its own guesses needs a smaller k.",
        )
    if run.usual is None or run.alpha >= LOW * run.usual:
        return None
    if run.cool is not None and run.cool >= LOW * run.usual:
        return Diagnosis(
            "temperature",
            f"Alpha is {run.alpha:.2f}, and {run.cool:.2f} at temperature 0, where the same set-up is in order.",
            "Lower the temperature if the task allows it, or switch drafting off for this workload.",
        )
    return Diagnosis(
        "mismatch",
        f"Alpha is {run.alpha:.2f} where this draft is known for {run.usual:.2f}"
        + ("" if run.cool is None else f", and {run.cool:.2f} even at temperature 0")
        + ": from the first guess on it seems to read another text.",
        "Feed the draft the very ids that the target reads, and compare chat template, tokenizer and vocabulary of the two.",
    )


def _batch(run: Signature) -> Diagnosis | None:
    if run.alone is None or not run.alone > 1 > run.speedup:
        return None
    return Diagnosis(
        "batch",
        f"One text alone is {run.alone:.2f} times as fast; in this batch, {run.k + 1} tokens of each cost {run.verify:.2f} steps.",
        "Draft less or nothing from this batch size on: the other texts have the arithmetic that the guesses would use.",
    )


def _draft_length(run: Signature) -> Diagnosis | None:
    """k is too large if a smaller one is expected to win by more; or to lose by less, where the last of k guesses hardly ever matter.

    A pass over fewer tokens is taken to cost less in proportion.
    """
    ks = range(1, run.k + 1)
    gains = [float(closed_forms.speedup(k, run.alpha, run.c, _verify(run, k + 1), run.overhead)) for k in ks]
    most = max(gains, default=0.0)
    best = gains.index(most) + 1 if gains else 0
    limit = 1 / (1 - run.alpha) if run.alpha < 1 else float("inf")
    saturated = run.k > 2 * best and float(closed_forms.expected_tokens(run.k, run.alpha)) > SATURATED * limit
    if best in (0, run.k) or gains[-1] >= (1 - WASTED) * most or not (most > 1 or saturated):
        return None
    return Diagnosis(
        "k too large",
        f"At alpha {run.alpha:.2f} a pass brings {run.length:.2f} tokens, of at most {limit:.2f} however much is drafted; the last of "
        f"{run.k} guesses are paid in vain.",
        f"Draft about {best}." if most > 1 else f"Draft about {best}, which is expected to lose less, {most:.2f}; then look at the prices.",
    )


def _verify(run: Signature, n: int) -> float:
    return 1 + (run.verify - 1) * (n - 1) / run.k


def _latency(run: Signature) -> Diagnosis | None:
    if run.speedup >= 1 and run.speedup >= UNSEEN * run.predicted:
        return None
    if run.speedup < UNSEEN * run.predicted:
        return Diagnosis(
            "unseen",
            f"Its parts add up to {run.predicted:.2f} times plain decoding, and the clock says {run.speedup:.2f}.",
            "Something is in none of the parts: another program, copies to and fro, a wait. Time the pieces of a round.",
        )
    return _dearest(run)


def _dearest(run: Signature) -> Diagnosis:
    """A loss that the parts explain: the dearest of them, or the text, where the run would lose even without that part."""
    prices: dict[Cause, tuple[float, str]] = {
        "drafting": (run.k * run.c, "Take a smaller or shallower draft, or a lookup, which costs next to nothing."),
        "pass": (run.verify - 1, "Try another k: on some machines a pass over two to four tokens is oddly dear. Or a smaller batch."),
        "overhead": (run.overhead, "Time what a round does besides its passes. It is paid once a round, so longer drafts share it."),
    }
    cause = max(prices, key=lambda cause: prices[cause][0])
    price, repair = prices[cause]
    if run.length < run.cost - price:
        return Diagnosis("text", f"{_sum(run)} Were the {cause} free, it would still lose.", "Take a draft that knows such text, or none.")
    return Diagnosis(cause, f"{_sum(run)} The dearest extra is the {cause}: {price:.2f} steps.", repair)


def _sum(run: Signature) -> str:
    return f"A round brings {run.length:.2f} tokens and costs {run.cost:.2f} plain steps."
