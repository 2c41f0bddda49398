"""The check of chapter 2: every wrong turn people take gets its own reason."""

from __future__ import annotations

import pytest
import torch

from specdec_lab import verify
from specdec_lab.checks import check_verify_greedy


def prefix(draft, target) -> int:
    return int((draft == target[: len(draft)]).cumprod(0).sum())


def not_attempted(draft, target): ...


def counts_later_matches(draft, target):
    accepted = int((draft == target[:-1]).sum())
    return accepted, int(target[accepted])


def stops_one_short(draft, target):
    for i in range(len(draft)):
        if draft[i] != target[i]:
            return i, int(target[i])
    return len(draft) - 1, int(draft[-1])


def no_bonus(draft, target):
    accepted = prefix(draft, target)
    return accepted, int(target[accepted]) if accepted < len(draft) else None


def emits_the_drafts_token(draft, target):
    accepted = prefix(draft, target)
    return accepted, int(draft[accepted]) if accepted < len(draft) else int(target[-1])


def compares_one_late(draft, target):
    accepted = int((draft == target[1:]).cumprod(0).sum())
    return accepted, int(target[accepted])


def always_the_last_prediction(draft, target):
    return prefix(draft, target), int(target[-1])


def fails_on_an_empty_draft(draft, target):
    if draft[0] != target[0]:
        return 0, int(target[0])
    return verify.verify_greedy(draft, target)


def returns_the_tokens(draft, target):
    return target[: prefix(draft, target) + 1].tolist()


def changes_its_input(draft, target):
    answer = verify.verify_greedy(draft, target)
    target[0] = 0
    return answer


def right_on_short_drafts_only(draft, target):
    accepted = min(prefix(draft, target), 3)
    return accepted, int(target[accepted])


def swaps_the_pair(draft, target):
    accepted, token = verify.verify_greedy(draft, target)
    return token, accepted


def counts_its_own_token(draft, target):
    accepted, token = verify.verify_greedy(draft, target)
    return accepted + 1, token


def compares_everything(draft, target):
    return int((draft == target).cumprod(0).sum()), int(target[0])


def returns_the_run(draft, target):
    accepted, token = verify.verify_greedy(draft, target)
    return draft[:accepted], token


def halves(draft, target):
    accepted, token = verify.verify_greedy(draft, target)
    return accepted, token + 0.5


WRONG = {
    swaps_the_pair: "wrong order",
    counts_its_own_token: "drafted tokens only",
    compares_everything: "one entry more than draft",
    returns_the_run: "two whole numbers",
    halves: "two whole numbers",
    counts_later_matches: "after the first disagreement was counted",
    stops_one_short: "the bonus token",
    no_bonus: "bonus token",
    emits_the_drafts_token: "the draft's token, just rejected",
    compares_one_late: "one place late",
    always_the_last_prediction: "after the rejected 9",
    fails_on_an_empty_draft: "An empty draft is a plain step",
    returns_the_tokens: "a pair is wanted",
    changes_its_input: "changes its input",
    right_on_short_drafts_only: "is right",
}


@pytest.mark.parametrize("attempt", WRONG, ids=lambda attempt: attempt.__name__)
def test_a_wrong_turn_gets_its_reason(attempt, capsys):
    assert check_verify_greedy(attempt) is verify.verify_greedy
    printed = " ".join(capsys.readouterr().out.split())
    assert WRONG[attempt] in printed and "✗" in printed and "★" not in printed
    assert "package's own verify_greedy" in printed


def test_the_reasons_differ(capsys):
    reasons = set()
    for attempt in WRONG:
        check_verify_greedy(attempt)
        reasons.add(capsys.readouterr().out)
    assert len(reasons) == len(WRONG)


def prints_instead(draft, target):
    print(verify.verify_greedy(draft, target))


@pytest.mark.parametrize("nothing", [not_attempted, prints_instead])
def test_not_attempted_goes_on_with_the_packages_own(nothing, capsys):
    assert check_verify_greedy(nothing) is verify.verify_greedy
    assert "not attempted yet" in capsys.readouterr().out


def with_a_loop(draft, target):
    accepted = 0
    while accepted < len(draft) and draft[accepted] == target[accepted]:
        accepted += 1
    return accepted, target[accepted]


def with_tensors(draft, target):
    wrong = (draft != target[:-1]).nonzero()
    accepted = wrong[0, 0] if len(wrong) else torch.tensor(len(draft))
    return accepted, target[accepted]


@pytest.mark.parametrize("right", [with_a_loop, with_tensors])
def test_any_right_answer_is_the_one_that_runs(right, capsys):
    assert check_verify_greedy(right) is right
    assert capsys.readouterr().out.count("✓") == 3


def test_a_second_run_of_the_check_does_not_praise_the_packages_own(capsys):
    """The check replaces a wrong attempt; checking that replacement says nothing about the learner."""
    check_verify_greedy(check_verify_greedy(no_bonus))
    assert "★" not in capsys.readouterr().out
