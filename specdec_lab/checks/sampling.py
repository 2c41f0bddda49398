"""The check of chapter 3's second exercise, `verify_sampling(p, q, draft, rng)`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from specdec_lab.checks.probe import GRID, KEPT, REJECTED, ROUND, ROUND_SHARES, Probe, Round, Verify, count, exact_shares, pair, run, shares
from specdec_lab.checks.residual import NOTHING_ABOVE, ONE_STEP, P32, TOLERANCE, P, Q, above, law, random_law, rounded, same, written
from specdec_lab.checks.stages import Finding, Stage, check, shown
from specdec_lab.theory.enumeration import UnknownNumber, exact_law
from specdec_lab.verify import residual, verify_sampling

RIGHT_SHARES = (P / Q).clamp(max=1)


def _verify_shape(function: Verify) -> None:
    answer, on = run(function, Probe(KEPT, KEPT))
    if isinstance(answer, str):
        raise Finding(f"{on} it returns {answer}, but two whole numbers are wanted: return accepted, next_token.")
    swapped, _ = run(function, Probe(KEPT, REJECTED))
    if (answer, swapped) == ((0, 2), (2, 1)):
        raise Finding("The two are in the wrong order: return accepted first, then the token.")


def _verify_chance(function: Verify) -> None:
    """All chance has to come from rng: otherwise no seed repeats a text, and no law can be enumerated."""
    for uniforms in ((KEPT, KEPT), (REJECTED, REJECTED)):
        before = _elsewhere()
        seen = [(run(function, rng)[0], [rounded(x) for x in rng.drawn]) for rng in (Probe(*uniforms) for _ in range(20))]
        for name, state in _elsewhere().items():
            if state != before[name]:
                raise Finding(
                    f"It throws dice of its own, {name}: no seed could repeat a text. Take every chance from rng: "
                    "rng.uniform() and rng.draw(law)."
                )
        if any(other != seen[0] for other in seen):
            raise Finding("Called twice with the same rng.uniform() it returns two things. Where does the other chance come from? Use rng.")


def _elsewhere() -> dict[str, Any]:
    name, keys, *rest = np.random.get_state()
    return {
        "torch.rand or torch.multinomial": torch.get_rng_state().numpy().tobytes(),
        "Python's random": random.getstate(),
        "numpy.random": (name, np.asarray(keys).tobytes(), *rest),
    }


def _verify_acceptance(function: Verify) -> None:
    """One token, each of the three in turn: for which share of all uniforms does it stand?"""
    p = torch.stack([P, law(0.1, 0.2, 0.7)])
    found, probes = shares(function, p, Q[None])
    if not same(found, RIGHT_SHARES, 0.006):
        why = _why_untested(function, found, probes, p) or _why_shares(function, found, p)
        on = f"With p = {rounded(P)}, q = {rounded(Q)} it accepts the three tokens with probability {rounded(found)}, "
        raise Finding(f"{on}but {rounded(RIGHT_SHARES)} is right. {why}")
    impossible = (torch.stack([law(0, 0.6, 0.4), P]), Q[None], torch.tensor([0]))
    answer, on = run(function, Probe(0.0), impossible)
    if count(answer, 1):
        raise Finding(f"{on} it accepts token 0, which the target never says. A uniform can be exactly 0: compare with <, not with <=.")


def _why_untested(function: Verify, found: Tensor, probes: list[Probe], p: Tensor) -> str | None:
    """Where no uniform is asked for."""
    if any(rng.used for rng in probes):
        return None
    exact = exact_shares(function, p, Q[None])
    if exact is not None and same(exact, RIGHT_SHARES):
        raise Finding(
            "It tosses a coin with rng.draw. The coin is right, but rng.draw is for tokens, and this check cannot tell the two apart: "
            "test a token with rng.uniform() < p / q."
        )
    if same(found, law(1, 0, 0)) and all(rng.drawn and same(rng.drawn[0], P) for rng in probes):
        return "It draws from p and keeps matches: the right law, and only sum pq of the tokens stand. Accept with probability p / q."
    run(function, two := Probe(KEPT, KEPT))
    if two.used == 1:
        return "It asks for no uniform here, and for one where two tokens are drafted: is the last drafted token tested?"
    return None


def _why_shares(function: Verify, found: Tensor, p: Tensor) -> str:
    wrongs = [
        ((Q / P).clamp(max=1), "The ratio is upside down: a token the draft says too often has to stand less often, so p / q."),
        (P, "That is p of the token. It has been drawn with probability q already: divide by that."),
        (Q, "That is q of the token; the target has no say in it. Accept with probability p / q."),
        ((P >= Q).double(), "It accepts just where p >= q, without chance. Where p < q the token stands too, with probability p / q."),
        (1 - RIGHT_SHARES, "It accepts where it should reject: accept when rng.uniform() is below p / q."),
        (
            torch.minimum(P, Q),
            "min(p, q) is how often a token is drawn and stands. Given that it was drawn, it stands with probability p / q.",
        ),
        (
            torch.minimum(P, Q).sum().expand(3),
            "0.7, the sum of min(p, q), is the average over the tokens that are drawn. Each has a probability of its own, p / q.",
        ),
        (
            law(0, 0, 0),
            "Nothing stands, not even with a uniform of 0. If all k drafted tokens stand, accepted is k: the bonus comes on top.",
        ),
        ((p[1] / Q).clamp(max=1), "It looks at p one row late: p[i] is the law of the place of draft[i]."),
    ]
    if same(found, law(1, 1, 1)):
        turned, _ = shares(function, torch.stack([Q, Q]), P[None])
        if same(turned, (Q / P)[0].expand(3), 0.006):
            return "It looks at p[i, i] and q[i, i]: i is the place, and the drafted token the column, so p[i, token] / q[i, token]."
        return "Every token stands, so the draft writes the text. Accept with probability p / q."
    return next((why for wrong, why in wrongs if same(found, wrong, 0.006)), "Accept token x when rng.uniform() < p[i, x] / q[i, x].")


def _verify_endings(function: Verify) -> None:
    (p, q, draft) = ROUND
    everything = Probe(KEPT, KEPT)
    answer, on = run(function, everything)
    if everything.used == 1 and answer[0] == 2:
        raise Finding(
            f"{on} it asks for one uniform in all. Each position needs a fresh one: otherwise the fates of the tokens hang together."
        )
    if answer[0] == 0 and run(function, Probe(1 - KEPT / 2, 1 - KEPT / 2))[0][0] == 2:
        raise Finding(
            f"{on} it rejects, and with large uniforms it accepts. The law can be as right, but here a small uniform has to accept: "
            "rng.uniform() < p / q."
        )
    bonus = [
        (
            p[1],
            "That is p of the last drafted token's place. Behind a draft that stands whole comes the bonus, drawn from p[k], the last row.",
        ),
        (q[1], "The bonus is the target's own token: draw it from p[k]."),
        (residual(p[1], q[1]), "Nothing was rejected, so there is no residual to draw from: the bonus comes from p[k]."),
    ]
    _ending(everything, answer, on, 2, p[2], bonus)

    first = Probe(REJECTED, 0.0)
    answer, on = run(function, first)
    _ending(first, answer, on, 0, residual(p[0], q[0]), _corrections(p, q, draft, 0))
    second = Probe(KEPT, REJECTED)
    answer, on = run(function, second)
    _ending(second, answer, on, 1, residual(p[1], q[1]), _corrections(p, q, draft, 1))
    _verify_rows(function)

    plain, nothing = Probe(), (P[None], torch.empty(0, 3, dtype=torch.float64), draft[:0])
    try:
        answer, on = run(function, plain, nothing)
    except Finding as finding:
        raise Finding(f"{finding} An empty draft is a plain step: nothing to test, and a token drawn from p[0].") from finding
    _ending(plain, answer, on, 0, P, [], k=0)

    step = Probe(0.99999999)
    answer, on = run(function, step, (P32.expand(2, 3).clone(), ONE_STEP[None], torch.tensor([0])))
    if any(x.isnan().any() for x in step.drawn):
        raise Finding(f"{on} it draws from {rounded(step.drawn[-1])}: {NOTHING_ABOVE} Then draw from p.")
    _ending(step, answer, on, 0, P32, [(law(0, 0, 0), "Nothing of p is above q there: draw from p.")], k=1)


def _verify_rows(function: Verify) -> None:
    """Two tokens: does each stand with the p / q of its own place?"""
    first = [count(run(function, Probe(u, KEPT))[0], 2) >= 1 for u in GRID]
    second = [count(run(function, Probe(KEPT, u))[0], 2) >= 2 for u in GRID]
    found = law(sum(first) / len(GRID), sum(second) / len(GRID))
    if not same(found, law(*ROUND_SHARES), 0.006):
        raise Finding(
            f"On p, q, draft = {shown(ROUND)} the first token stands with probability {found[0]:.3g}, and the second, once the first "
            f"stands, with {found[1]:.3g}, but {rounded(law(*ROUND_SHARES))} is right. Row i of p and row i of q are those of draft[i]."
        )


def _corrections(p: Tensor, q: Tensor, draft: Tensor, i: int) -> list[tuple[Tensor, str]]:
    other = 1 - i
    without = p[i].clone()
    without[draft[i]] = 0
    return [
        (p[i] - q[i], "p - q is negative where q is above p: cut off at 0, and divide by the sum."),
        (
            without / without.sum(),
            "That is p without the rejected token. Others have been handed out by accepting too: draw from what p has above q.",
        ),
        (residual(p[i], q[other]), "Its q is of another row: the rejected token's place is row i of p and of q."),
        (above(p[i], q[i]), "The residual is not renormalised: it sums to {total:.3g}, and a law sums to 1."),
        (p[i], f"That is p[{i}]. The part of it below q has been handed out already, by accepting: draw from the residual."),
        (q[i], "That is the draft's law, just rejected: draw from the residual."),
        (residual(q[i], p[i]), "The residual is the wrong way round: residual(p, q), what p has above q."),
        (residual(p[other], q[other]), f"That is the residual of position {other}, and the token at position {i} was rejected."),
        (residual(p[i + 1], q[i]), "Its p is one row late: the rejected token's place is row i of p and of q."),
        (
            p[i + 1],
            "That is p of the place behind the rejected token, in a text that is thrown away. Draw from the residual of its own place.",
        ),
        (p[-1], "p[k] is for a draft that stands whole. After a rejection, draw from the residual."),
    ]


def _ending(rng: Probe, answer: Any, on: str, accepted: int, right: Tensor, wrongs: list[tuple[Tensor, str]], k: int = 2) -> None:
    """The count, the law drawn from, and the token."""
    if isinstance(answer, tuple) and answer[0] != accepted:
        raise Finding(f"{on} it accepts {answer[0]} tokens, but {accepted} is right. {_why_count(answer, accepted, k)}")
    token = answer[1] if isinstance(answer, tuple) else None
    if any(same(x, right) and int(x.argmax()) == token for x in rng.drawn):
        return
    why = next((why.format(total=x.sum()) for x in rng.drawn for wrong, why in wrongs if same(x, wrong)), None)
    if why or (rng.drawn and not any(same(x, right) for x in rng.drawn)):
        raise Finding(f"{on} it draws from {rounded(rng.drawn[-1])}, but {rounded(right)} is right. {why or ''}".strip())
    own = f"The next token is the target's own, drawn from {rounded(right)}"
    if token is None:
        raise Finding(f"{on} it returns no token. {own}{': the bonus' if accepted == k else ''}.")
    if rng.drawn:
        drafted = "the draft's token, just rejected" if accepted < k else "not the token that was drawn"
        raise Finding(f"{on} it returns {token}, {drafted}. Return what rng.draw gave.")
    if rng.used <= accepted + (accepted < k):  # one who draws with a uniform of his own is judged by the law alone
        last = f"{token} is the draft's token. " if k and token == 1 else "Has it taken the likeliest one? "
        raise Finding(f"{on} it returns {token} without drawing it. {last}{own}: rng.draw(law).")


def _why_count(answer: tuple[int, Any], right: int, k: int) -> str:
    if answer[0] > k:
        return "It counts drafted tokens only, not the target's own."
    if answer[0] < right:
        return "All of the draft stands, and the bonus comes on top." if right == k else "The tokens before the rejected one stand."
    return "The first rejection ends the round: nothing behind it can stand, as it follows a token that is thrown away."


def _verify_law(function: Verify) -> None:
    """Every branch of every random round, against the package's."""
    generator = torch.Generator().manual_seed(0)
    for trial in range(60):
        k = trial % 4
        p, q = (torch.stack([random_law(generator) for _ in range(4)]) for _ in range(2))
        round_ = (p[: k + 1], q[:k], torch.tensor([int(torch.multinomial(row, 1, generator=generator)) for row in q[:k]], dtype=torch.long))
        _compare_laws(_law_of(function, round_), _law_of(verify_sampling, round_), f"On p, q, draft = {written(*round_)}")


def _law_of(function: Verify, round_: Round) -> dict[Any, float]:
    try:
        return exact_law(lambda rng: pair(function(*round_, rng)))
    except UnknownNumber as error:
        raise Finding(
            f"It is right on plain numbers, but it computes with rng.uniform(). ({error}) The course takes both branches of a "
            "comparison, so compare the uniform itself: rng.uniform() < p / q."
        ) from error
    except Exception as error:
        raise Finding(f"It stopped with {type(error).__name__}: {error}, on {written(*round_)}.") from error


def _compare_laws(found: dict[Any, float], right: dict[Any, float], on: str) -> None:
    total = sum(found.values())
    if abs(total - 1) > TOLERANCE:
        raise Finding(f"{on} the probabilities of all that it returns add up to {total:.4g}, not to 1: it draws from what is no law.")
    outcome = max(found.keys() | right.keys(), key=lambda x: abs(found.get(x, 0.0) - right.get(x, 0.0)))
    has, wants = found.get(outcome, 0.0), right.get(outcome, 0.0)
    if abs(has - wants) > TOLERANCE:
        raise Finding(f"{on} it returns {outcome} with probability {has:.4g}, but {wants:.4g} is right.")


def check_verify_sampling(function: Verify) -> Verify:
    """Check the learner's `verify_sampling(p [k+1, vocab], q [k, vocab], draft [k], rng) -> (accepted, next_token)`."""
    stages = [
        Stage("shape", "it returns a pair", _verify_shape),
        Stage("chance", "all of it comes from rng", _verify_chance),
        Stage("acceptance", "each token stands with probability min(1, p / q)", _verify_acceptance),
        Stage("endings", "correction, bonus, empty draft", _verify_endings),
        Stage("law", "exactly the package's law on 60 random rounds", _verify_law),
    ]
    return check(function, verify_sampling, stages, (*ROUND, Probe(KEPT, KEPT)))
