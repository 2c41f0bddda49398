"""The bugs of chapter 10, one small function each, as the learner first sees it.

`buggy_X` is what the exercise cell of X holds, word for word; `repaired.X` is the repair. Each is a bug of a real system reduced to the
lines that matter (`specimens.ZOO` has the reports), not that system's code.
"""

from __future__ import annotations

import torch

from specdec_lab.verify import residual


def buggy_propose_likeliest(q):
    """The draft's likeliest token of q [vocab], and the law [vocab] that it came from."""
    token = int(q.argmax())
    return token, q


def buggy_propose_drawn(q, rng):
    """A token drawn from q [vocab], and the law [vocab] that it came from."""
    token = rng.draw(q)
    law = torch.zeros_like(q)
    law[token] = 1.0
    return token, law


def buggy_propose_top_k(q, k, rng):
    """A token drawn among the k likeliest of q [vocab], and the law [vocab] it came from."""
    kept = q * (q >= q.topk(k).values[-1])
    return rng.draw(kept / kept.sum()), q


def buggy_both_laws(target_logits, draft_logits, temperature):
    """p and q [vocab] at the temperature that the user asked for."""
    p = target_logits.softmax(-1)
    q = (draft_logits / temperature).softmax(-1)
    return p, q


def buggy_draft_law(logits, vocab):
    """The draft's law over the target's vocab tokens; logits [n], n may differ."""
    return logits.softmax(-1)[:vocab]


def buggy_verify_run(p, q, draft, rng):
    """(accepted, next token) of a draft [k]; p [k + 1, vocab], q [k, vocab]."""
    tokens = draft.tolist()
    stands = [rng.uniform() < p[i, x] / q[i, x] for i, x in enumerate(tokens)]
    accepted = sum(stands)
    if accepted == len(tokens):
        return accepted, rng.draw(p[accepted])
    return accepted, rng.draw(residual(p[accepted], q[accepted]))


def buggy_presence_penalised(logits, context, draft, penalty):
    """Logits [k + 1, vocab] less penalty, once for each token the row's text holds."""
    rows = logits.clone()
    for i in range(len(rows)):
        for token in {*context.tolist()}:
            rows[i, token] -= penalty
    return rows


def buggy_verify_children(p, q, children, rng):
    """(stands, token): children [n] are the n likeliest tokens of q [vocab]."""
    for child in children.tolist():
        if rng.uniform() < p[child] / q[child]:
            return True, child
        p = residual(p, q)
        q = q.clone()
        q[child] = 0.0
        q = q / q.sum()
    return False, rng.draw(p)


def buggy_keep_until_end(run, end):
    """What a run of tokens adds to the text, and whether the text has ended."""
    return run, run[-1] == end


def buggy_draw_by_hand(weights, rng):
    """A token drawn in proportion to weights [vocab]; an error if there is none."""
    u, reached = rng.uniform(), 0.0
    for token, weight in enumerate(weights.tolist()):
        reached += weight
        if u < reached:
            return token
    return len(weights)


def buggy_tokens_to_draft(k, written, wanted):
    """How many tokens to draft, k at most, with written of wanted tokens there."""
    return k


def buggy_propose_if_sure(q, least, rng):
    """(token, law) drawn from q [vocab]; None if the draft is not sure enough."""
    token = rng.draw(q)
    if q[token] < least:
        return None
    return token, q
