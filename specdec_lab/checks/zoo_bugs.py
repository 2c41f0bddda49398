"""The bugs of chapter 10, one small function each, as the learner first sees it.

`buggy_X` is what the exercise cell of X holds; `zoo_repaired.X` is the repair. Each is a bug of a real system reduced to the
lines that matter (`zoo.ZOO` has the reports), not that system's code.
"""

from __future__ import annotations

import torch

from specdec_lab.verify import residual


def buggy_propose_likeliest(q):
    token = int(q.argmax())
    return token, q


def buggy_propose_drawn(q, rng):
    token = rng.draw(q)
    law = torch.zeros_like(q)
    law[token] = 1.0
    return token, law


def buggy_propose_top_k(q, k, rng):
    kept = q * (q >= q.topk(k).values[-1])
    return rng.draw(kept / kept.sum()), q


def buggy_both_laws(target_logits, draft_logits, temperature):
    p = target_logits.softmax(-1)
    q = (draft_logits / temperature).softmax(-1)
    return p, q


def buggy_draft_law(logits, vocab):
    return logits.softmax(-1)[:vocab]


def buggy_verify_run(p, q, draft, rng):
    tokens = draft.tolist()
    stands = [rng.uniform() < p[i, x] / q[i, x] for i, x in enumerate(tokens)]
    accepted = sum(stands)
    if accepted == len(tokens):
        return accepted, rng.draw(p[accepted])
    return accepted, rng.draw(residual(p[accepted], q[accepted]))


def buggy_penalised(logits, context, draft, penalty):
    rows = logits.clone()
    for i in range(len(rows)):
        for token in {*context.tolist()}:
            rows[i, token] -= penalty
    return rows


def buggy_verify_children(p, q, children, rng):
    for child in children.tolist():
        if rng.uniform() < p[child] / q[child]:
            return True, child
        p = residual(p, q)
        q = q.clone()
        q[child] = 0.0
        q = q / q.sum()
    return False, rng.draw(p)


def buggy_keep_until_end(run, end):
    return run, run[-1] == end


def buggy_draw_by_hand(weights, rng):
    u, reached = rng.uniform(), 0.0
    for token, weight in enumerate(weights.tolist()):
        reached += weight
        if u < reached:
            return token
    return len(weights)


def buggy_tokens_to_draft(k, written, wanted):
    return k


def buggy_propose_if_sure(q, least, rng):
    token = rng.draw(q)
    if q[token] < least:
        return None
    return token, q
