"""Repairs of chapter 10's bugs that are none, from the verdict to the end of a text; as `wrong_drafts`."""

from __future__ import annotations

from specdec_lab.checks.zoo.repaired import keep_until_end, verify_run
from specdec_lab.checks.zoo.wrong_drafts import NEVER, Wrong
from specdec_lab.verify import residual


def _counted(p, q, draft, rng, correct):
    """The agreeing prefix, then `correct(accepted)`'s law."""
    stands = [rng.uniform() < p[i, x] / q[i, x] for i, x in enumerate(draft.tolist())]
    accepted = [*stands, False].index(False)
    return accepted, rng.draw(correct(accepted))


def _after(p, q):
    return lambda a: residual(p[a], q[a]) if a < len(q) else p[a]


def _one_uniform(p, q, draft, rng):
    u = rng.uniform()
    stands = [u < p[i, x] / q[i, x] for i, x in enumerate(draft.tolist())]
    accepted = [*stands, False].index(False)
    return accepted, rng.draw(_after(p, q)(accepted))


def _last_counts(p, q, draft, rng):
    stands = [rng.uniform() < p[i, x] / q[i, x] for i, x in enumerate(draft.tolist())]
    accepted = len(stands) if all(stands) else max((i for i, stand in enumerate(stands) if stand), default=-1) + 1
    return accepted, rng.draw(_after(p, q)(min(accepted, len(q))))


def _wrong_bonus(p, q, draft, rng):
    return _counted(p, q, draft, rng, lambda a: residual(p[a], q[a]) if a < len(q) else p[a - 1])


RUN: list[Wrong] = [
    (
        lambda p, q, draft, rng: _counted(p, q, draft, rng, lambda a: p[a]),
        "The count is right. But a correction comes from the residual of its place, not from p: the rejected token has had its turn.",
    ),
    (
        lambda p, q, draft, rng: _counted(p, q, draft, rng, lambda a: residual(p[0], q[0]) if a < len(q) else p[a]),
        "The count is right, but the correction is always drawn at the first place. Row `accepted` is the place of the rejected token.",
    ),
    (_wrong_bonus, "The bonus is drawn from the row of the last drafted token, one place too early. Behind the whole draft it is p[k]."),
    (_one_uniform, "One uniform serves all places: once it is below the first ratio, it is no longer uniform for the second."),
    (_last_counts, "It counts up to the last match. What stands behind a rejected token was guessed after a text that does not exist."),
    (
        lambda p, q, draft, rng: (
            (len(draft), rng.draw(p[len(draft)])) if verify_run(p, q, draft, rng)[0] == len(draft) else (0, rng.draw(p[0]))
        ),
        "All or nothing: a draft that fails somewhere loses its good beginning, and the first place is drawn from p once more.",
    ),
    (lambda p, q, draft, rng: (0, rng.draw(p[0])), NEVER),
]


def _penalise(logits, penalty, held, sign=-1.0):
    rows = logits.clone()
    for i in range(len(rows)):
        for token in held(i):
            rows[i, token] += sign * penalty
    return rows


PENALISED: list[Wrong] = [
    (
        lambda logits, context, draft, penalty: _penalise(
            logits, penalty, lambda i: {*context.tolist(), *(draft.tolist() if len(draft) else [])}
        ),
        "Every row is penalised for the whole draft. Row i speaks about the place of draft[i]: only draft[:i] stands before it.",
    ),
    (
        lambda logits, context, draft, penalty: _penalise(logits, penalty, lambda i: {*context.tolist(), *draft[: i + 1].tolist()}),
        "Row i is penalised for draft[i] too, before it has been said. Only draft[:i] stands before its place.",
    ),
    (
        lambda logits, context, draft, penalty: _penalise(logits, penalty, lambda i: {*draft[:i].tolist()}),
        "The drafted tokens count now, and those of the context no longer do. Both stand in the text.",
    ),
    (
        lambda logits, context, draft, penalty: _penalise(logits, penalty, lambda i: [*context.tolist(), *draft[:i].tolist()]),
        "A token that occurs twice is penalised twice. This penalty is for presence: once for each token, as in a set.",
    ),
    (
        lambda logits, context, draft, penalty: _penalise(logits, penalty, lambda i: {*context.tolist(), *draft[:i].tolist()}, 1.0),
        "The penalty is added: repetition is rewarded.",
    ),
    (lambda logits, context, draft, penalty: logits.clone(), "Now nothing is penalised at all."),
    (
        lambda logits, context, draft, penalty: _penalise(
            logits, penalty, lambda i: {*context.tolist(), *draft[max(i - 1, 0) : i].tolist()}
        ),
        "Only the latest drafted token counts. All of draft[:i] stands before the place of row i.",
    ),
]


def _each_child(p, q, children, rng, chance, then, last):
    """A loop over the children with another test, another law for the rest, another law at the end."""
    first = p
    for child in children.tolist():
        if rng.uniform() < chance(p, q, child):
            return True, child
        p, q = then(p, q, child)
    return False, rng.draw(last(first, p))


def _without(law, child, scaled=True):
    law = law.clone()
    law[child] = 0.0
    return law / law.sum() if scaled else law


CHILDREN: list[Wrong] = [
    (
        lambda p, q, c, rng: _each_child(p, q, c, rng, lambda p, q, x: p[x], lambda p, q, x: (_without(p, x, False), q), lambda a, p: p),
        "What is left of p after a rejected child has to sum to 1 again before the next is tested.",
    ),
    (
        lambda p, q, c, rng: _each_child(p, q, c, rng, lambda p, q, x: p[x], lambda p, q, x: (p, q), lambda a, p: p),
        "p stays as it was, so a rejected child has another chance at the end. Take it out, and scale.",
    ),
    (
        lambda p, q, c, rng: _each_child(p, q, c, rng, lambda p, q, x: p[x], lambda p, q, x: (_without(p, x), q), lambda a, p: a),
        "At the end it draws from the p of the beginning, and the rejected children come out after all.",
    ),
    (
        lambda p, q, c, rng: _each_child(
            p, q, c, rng, lambda p, q, x: p[x] / q[x], lambda p, q, x: (_without(p, x), _without(q, x)), lambda a, p: p
        ),
        "The rest is right, but the test still divides by q. These children were not drawn from q: each was proposed for certain.",
    ),
    (
        lambda p, q, c, rng: _each_child(p, q, c, rng, lambda p, q, x: p[x], lambda p, q, x: (residual(p, q), q), lambda a, p: p),
        "The test is right, but the rest still subtracts q. With a one-hot law the residual is p without the child, scaled.",
    ),
    (
        lambda p, q, c, rng: _each_child(p, q, c[:1], rng, lambda p, q, x: p[x], lambda p, q, x: (_without(p, x), q), lambda a, p: p),
        "Only the first child is tested: right, and all the others were fed to the target for nothing.",
    ),
    (lambda p, q, c, rng: (False, rng.draw(p)), NEVER),
]
ENDING: list[Wrong] = [
    (
        lambda run, end: (run[: run.index(end)], True) if end in run else (run, False),
        "The text is cut in front of the end. The end token itself belongs to the text: it says that the target wanted to stop.",
    ),
    (
        lambda run, end: (run[: run.index(end) + 1], False) if end in run else (run, False),
        "It is cut in the right place, but it reports that the text goes on: the next round writes behind the end.",
    ),
    (lambda run, end: (run, end in run), "It notices an end anywhere now, but still keeps the tokens behind it."),
    (
        lambda run, end: (run[: len(run) - run[::-1].index(end)], True) if end in run else (run, False),
        "It is cut at the last end in the run. The text was over at the first.",
    ),
    (lambda run, end: (run[:1], run[0] == end), "It keeps one token of a run, so that nothing is ever gained."),
    (
        lambda run, end: ([x for x in run if x != end], end in run),
        "It takes the end out and keeps what stands behind it.",
    ),
    (lambda run, end: (keep_until_end(run, end)[0], True), "It reports an end after every run, so that a text stops after one round."),
]


def _by_hand(weights, rng, total, off_the_end):
    u, reached = rng.uniform(), 0.0
    for token, weight in enumerate(weights.tolist()):
        reached += weight / total
        if u < reached:
            return token
    return off_the_end


BY_HAND: list[Wrong] = [
    (
        lambda w, rng: _by_hand(w, rng, 1.0, len(w) - 1),
        "Whoever runs off the end gets the last token: a law that is wrong in silence (chapter 3 has met it). Why does it run off?",
    ),
    (
        lambda w, rng: _by_hand(w, rng, float(w.sum()), len(w) - 1),
        "The weights are scaled now. But nothing is below NaN, so that such a law always gives the last token: raise an error.",
    ),
    (
        lambda w, rng: _by_hand(w, rng, float(w.sum()), len(w)),
        "The weights are scaled now. But nothing is below NaN, so that the loop still runs off the end: raise an error there.",
    ),
    (
        lambda w, rng: _by_hand(w.nan_to_num(), rng, max(float(w.nan_to_num().sum()), 1e-9), len(w) - 1),
        "NaN is taken for 0, and a broken model goes on talking. Nobody will look for the cause: raise an error that names it.",
    ),
    (lambda w, rng: int(w.nan_to_num().argmax()), "It does not draw any more: the largest weight always wins."),
    (
        lambda w, rng: rng.draw(w) if w.sum() > 0 else 0,
        "NaN is not above 0 either, and then token 0 comes out, in silence: raise an error.",
    ),
]
TO_DRAFT: list[Wrong] = [
    (
        lambda k, written, wanted: min(k, wanted - written),
        "One too many: the target's own token comes behind a draft that stands whole, and takes a place as well.",
    ),
    (lambda k, written, wanted: 0, "Never too long, and never a draft: as many passes as tokens."),
    (
        lambda k, written, wanted: k if written + k + 1 <= wanted else 0,
        "Never too long, but as soon as a whole draft does not fit, it drafts nothing. Draft what does fit.",
    ),
    (lambda k, written, wanted: max(min(k, wanted - written - 2), 0), "One less than fits. A draft of n tokens can bring n + 1."),
    (lambda k, written, wanted: max(min(k, wanted - written - 1) - 1, 0), "One less than fits. A draft of n tokens can bring n + 1."),
]
