"""The check of chapter 0."""

import pytest

from specdec_lab.checks import check_tokens_emitted
from specdec_lab.checks.start import tokens_emitted

WRONG = {
    "accepted only": (lambda accepted: accepted, "target add of its own"),
    "nothing from a useless draft": (lambda accepted: accepted + 1 if accepted else 0, "not for nothing"),
    "one fewer": (lambda accepted: accepted - 1, "takes none of them back"),
    "one too many": (lambda accepted: accepted + 2, "Only one token of a pass is the target's own"),
    "twice": (lambda accepted: 2 * accepted, "Each was counted twice"),
    "always k + 1": (lambda accepted: 5, "That is k + 1 for a draft of 4"),
    "always one": (lambda accepted: 1, "the target's own token alone"),
    "always four": (lambda accepted: 4, "The more is accepted, the more"),
    "right up to five": (lambda accepted: min(accepted, 5) + 1, "hold for every number"),
    "a text": (lambda accepted: str(accepted + 1), "is an int"),
    "fails": (lambda accepted: accepted + None, "TypeError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_turn_gets_its_reason(name, capsys):
    attempt, reason = WRONG[name]
    assert check_tokens_emitted(attempt) is tokens_emitted
    assert reason in " ".join(capsys.readouterr().out.split())


def test_right_and_not_attempted(capsys):
    def mine(accepted):
        return 1 + accepted

    assert check_tokens_emitted(mine) is mine
    assert check_tokens_emitted(lambda accepted: ...) is tokens_emitted
