"""The checks of chapter 9: every wrong turn people take gets its own reason, and a loss with a wrong slope is found."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from specdec_lab.checks import check_distillation_loss, check_total_variation_loss
from specdec_lab.checks.distillation import EXAMPLE, _not_distillation, _not_tv
from specdec_lab.training import losses
from specdec_lab.training.losses import cross_entropy, distillation_loss, forward_kl, reverse_kl, total_variation_loss


def q_and_p(draft, target):
    return draft.softmax(-1), target.softmax(-1)


def apart(draft, target):
    return (draft.softmax(-1) - target.softmax(-1)).abs()


# --- total_variation_loss ---


def changes_the_target(draft, target):
    answer = total_variation_loss(draft, target)
    target -= target.max()
    return answer


def not_tv_but_right_value(draft, target):
    return total_variation_loss(draft, target).detach() + 0 * draft.sum()


def through_exp(draft, target):
    q, p = (x.exp() / x.exp().sum(-1, keepdim=True) for x in (draft, target))
    return 0.5 * (q - p).abs().sum(-1).mean()


TV_WRONG = {
    "no half": (lambda d, t: apart(d, t).sum(-1).mean(), "twice the total variation"),
    "acceptance": (lambda d, t: torch.minimum(*q_and_p(d, t)).sum(-1).mean(), "That is the acceptance, 1 - TV"),
    "uphill": (lambda d, t: -total_variation_loss(d, t), "would drive the two laws apart"),
    "sum": (lambda d, t: 0.5 * apart(d, t).sum(), "A loss is their mean"),
    "sum, no half": (lambda d, t: apart(d, t).sum(), "adds up the positions, without the half"),
    "mean over tokens": (lambda d, t: 0.5 * apart(d, t).mean(), "mean over tokens too"),
    "mean over all": (lambda d, t: apart(d, t).mean(), "mean over everything"),
    "largest": (lambda d, t: apart(d, t).max(-1).values.mean(), "largest difference of a row"),
    "squares": (lambda d, t: (apart(d, t) ** 2).sum(-1).mean(), "Those are squares."),
    "halved squares": (lambda d, t: 0.5 * (apart(d, t) ** 2).sum(-1).mean(), "squares, halved"),
    "no abs": (lambda d, t: (t.softmax(-1) - d.softmax(-1)).sum(-1).mean(), "Without abs()"),
    "logits": (lambda d, t: 0.5 * (d - t).abs().sum(-1).mean(), "differences of logits"),
    "target's logits": (lambda d, t: 0.5 * (d.softmax(-1) - t).abs().sum(-1).mean(), "the target still logits"),
    "draft's logits": (lambda d, t: 0.5 * (d - t.softmax(-1)).abs().sum(-1).mean(), "the draft still logits"),
    "over positions": (lambda d, t: 0.5 * (d.softmax(0) - t.softmax(0)).abs().sum(-1).mean(), "runs over the positions"),
    "a row each": (lambda d, t: 0.5 * apart(d, t).sum(-1), "a loss is one number"),
    "a float": (lambda d, t: total_variation_loss(d, t).item(), "a tensor is wanted"),
    "detached": (lambda d, t: total_variation_loss(d.detach(), t), "cannot follow back"),
    "agreement": (lambda d, t: (d.argmax(-1) != t.argmax(-1)).float().mean(), "cannot follow back"),
    "a slope of nothing": (not_tv_but_right_value, "the slope is not"),
    "overflow": (through_exp, "not with exp"),
    "changes its input": (changes_the_target, "changes its input"),
    "three positions": (lambda d, t: 0.5 * apart(d, t).sum() / 3, "Does a number of positions"),
}


# --- distillation_loss ---


def kl_div(draft, target, reduction="batchmean", log_target=True):
    return F.kl_div(draft, target, reduction=reduction, log_target=log_target)


def logs(draft, target):
    return draft.log_softmax(-1), target.log_softmax(-1)


def with_ce(kl):
    return lambda d, t: kl(d, t) + 0.5 * cross_entropy(d, t)


def with_kl(ce):
    return lambda d, t: forward_kl(d, t) + ce(d, t)


def softmax_then_log(draft, target):
    q, p = q_and_p(draft, target)
    return (p * (p.log() - q.log())).sum(-1).mean() + 0.5 * cross_entropy(draft, target)


def half_detached(draft, target):
    return forward_kl(draft, target) + 0.5 * cross_entropy(draft.detach(), target)


def slope_of_reverse(draft, target):
    return reverse_kl(draft, target) + (forward_kl(draft, target) - reverse_kl(draft, target)).detach() + 0.5 * cross_entropy(draft, target)


LOSS_WRONG = {
    "reverse": (with_ce(reverse_kl), "KL is the wrong way round"),
    "reverse alone": (reverse_kl, "(F.kl_div takes the draft first.) The second part is missing"),
    "KL alone": (forward_kl, "The second part is missing"),
    "cross-entropy alone": (lambda d, t: 0.5 * cross_entropy(d, t), "The first part, KL(p || q), is missing."),
    "whole cross-entropy": (with_kl(cross_entropy), "The cross-entropy counts half"),
    "both halved": (lambda d, t: 0.5 * (forward_kl(d, t) + cross_entropy(d, t)), "Both parts are halved"),
    "the other halved": (lambda d, t: 0.5 * forward_kl(d, t) + cross_entropy(d, t), "at the wrong part"),
    "mean over tokens": (with_ce(lambda d, t: kl_div(*logs(d, t), "none").mean()), "reduction='batchmean'"),
    "sum": (lambda d, t: len(d) * distillation_loss(d, t), "It adds up the positions"),
    "KL summed": (with_ce(lambda d, t: kl_div(*logs(d, t), "sum")), "Its KL adds up the positions"),
    "cross-entropy summed": (with_kl(lambda d, t: 0.5 * F.cross_entropy(d, t.argmax(-1), reduction="sum")), "cross-entropy adds up"),
    "uphill": (lambda d, t: -distillation_loss(d, t), "drive the draft away from the target"),
    "no log of the target": (with_ce(lambda d, t: kl_div(d.log_softmax(-1), t)), "In its KL the target's side is logits"),
    "target's logits": (with_ce(lambda d, t: (t.softmax(-1) * (t - d.log_softmax(-1))).sum(-1).mean()), "the target's side is logits"),
    "no log of the draft": (with_ce(lambda d, t: kl_div(d, t.log_softmax(-1))), "In its KL the draft's side is logits"),
    "probabilities": (with_ce(lambda d, t: kl_div(*q_and_p(d, t), log_target=False)), "In its KL the draft's side is probabilities"),
    "no log_target": (with_ce(lambda d, t: kl_div(*logs(d, t), log_target=False)), "log_target=True"),
    "logits subtracted": (with_ce(lambda d, t: (t.softmax(-1) * (t - d)).sum(-1).mean()), "Its KL subtracts logits"),
    "no entropy": (with_ce(lambda d, t: F.cross_entropy(d, t.softmax(-1))), "KL has log p in it too"),
    "over positions": (with_ce(lambda d, t: kl_div(d.log_softmax(0), t.log_softmax(0))), "runs over the positions"),
    "total variation": (with_ce(total_variation_loss), "Its first part is the total variation"),
    "squares": (with_ce(F.mse_loss), "compares logits by squares"),
    "its own favourite": (with_kl(lambda d, t: 0.5 * F.cross_entropy(d, d.argmax(-1))), "its own favourite"),
    "changed places": (with_kl(lambda d, t: 0.5 * cross_entropy(t, d)), "have changed places"),
    "all of the law": (with_kl(lambda d, t: 0.5 * F.cross_entropy(d, t.softmax(-1))), "takes all of the target's law"),
    "softmax twice": (with_kl(lambda d, t: 0.5 * F.cross_entropy(d.softmax(-1), t.argmax(-1))), "softmax twice"),
    "no logarithm": (with_kl(lambda d, t: -0.5 * d.softmax(-1).gather(1, t.argmax(-1)[:, None]).mean()), "Cross-entropy is -log q"),
    "two things at once": (lambda d, t: reverse_kl(d, t) + cross_entropy(d, t), "The cross-entropy counts half"),
    "a float": (lambda d, t: distillation_loss(d, t).item(), "a tensor is wanted"),
    "no way back": (lambda d, t: torch.tensor(distillation_loss(d, t).item()), "cannot follow back"),
    "half detached": (half_detached, "the slope is not"),
    "another slope": (slope_of_reverse, "the slope is not"),
    "rounded to nothing": (softmax_then_log, "as softmax(-1).log() does"),
}  # fmt: skip
CHECKS = {
    check_total_variation_loss: (losses.total_variation_loss, TV_WRONG),
    check_distillation_loss: (losses.distillation_loss, LOSS_WRONG),
}


@pytest.mark.parametrize(("check", "name"), [(check, name) for check, (_, wrong) in CHECKS.items() for name in wrong])
def test_a_wrong_turn_gets_its_reason(check, name, capsys):
    reference, wrong = CHECKS[check]
    attempt, reason = wrong[name]
    assert check(attempt) is reference
    printed = " ".join(capsys.readouterr().out.split())
    assert reason in printed and "✗" in printed and "★" not in printed


def tv_by_hand(draft, target):
    """With a loop over positions, and through the overlap."""
    total = 0
    for d, t in zip(draft, target, strict=True):
        total = total + 1 - torch.minimum(torch.softmax(d, 0), torch.softmax(t, 0)).sum()
    return total / len(draft)


def tv_above(draft, target):
    """What the target has above the draft."""
    q, p = q_and_p(draft, target.detach())
    return (p - q).clamp(min=0).sum(dim=1).mean()


def tv_by_norm(draft, target):
    return torch.norm(draft.softmax(1) - target.softmax(1), p=1, dim=1).mean() / 2


def tv_in_32_bits(draft, target):
    return total_variation_loss(draft.float(), target.float())[None]


def loss_by_hand(draft, target):
    log_q, log_p = draft.log_softmax(-1), target.detach().log_softmax(-1)
    kl = (log_p.exp() * (log_p - log_q)).sum(-1)
    ce = -log_q[torch.arange(len(log_q)), target.argmax(-1)]
    return (kl + 0.5 * ce).mean()


def loss_in_a_loop(draft, target):
    total = 0.0
    for d, t in zip(draft, target, strict=True):
        log_q, log_p = d - d.logsumexp(0), t - t.logsumexp(0)
        total = total + sum(np.exp(float(b)) * (b - a) for a, b in zip(log_q, log_p, strict=True)) - 0.5 * log_q[int(t.argmax())]
    return total / len(draft)


def loss_with_torchs_own(draft, target):
    kl = F.kl_div(F.log_softmax(draft, dim=-1), F.softmax(target, dim=-1), reduction="sum") / draft.size(0)
    return kl + F.cross_entropy(draft, target.argmax(dim=-1)) / 2


@pytest.mark.parametrize("right", [tv_by_hand, tv_above, tv_by_norm, tv_in_32_bits])
def test_any_right_total_variation_is_the_one_that_runs(right, capsys):
    assert check_total_variation_loss(right) is right
    assert capsys.readouterr().out.count("✓") == 5


@pytest.mark.parametrize("right", [loss_by_hand, loss_in_a_loop, loss_with_torchs_own])
def test_any_right_loss_is_the_one_that_runs(right, capsys):
    assert check_distillation_loss(right) is right
    assert capsys.readouterr().out.count("✓") == 5


def untouched(draft, target): ...


@pytest.mark.parametrize("check", CHECKS)
def test_not_attempted_goes_on_with_the_packages_own(check, capsys):
    assert check(untouched) is CHECKS[check][0]
    assert "not attempted yet" in capsys.readouterr().out


def test_the_examples_tell_all_suspects_apart():
    """A value gives one mistake away, and none is that of the right answer; but for three that have two names each."""
    two_names = []
    for suspects, reference in ((_not_tv, total_variation_loss), (_not_distillation, distillation_loss)):
        by_value: dict[float, set[str]] = {}
        for value, why in suspects(*EXAMPLE):
            by_value.setdefault(round(float(value), 5), set()).add(why)
        assert round(float(reference(*EXAMPLE)), 5) not in by_value
        two_names += [sorted(whys) for whys in by_value.values() if len(whys) > 1]
    assert len(two_names) == 3, two_names
    assert all(any("sign is the wrong way" in why or "positions" in why or "-p log q alone" in why for why in whys) for whys in two_names)
