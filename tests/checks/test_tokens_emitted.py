"""The check of chapter 0."""

import pytest

from specdec_lab.checks import check_tokens_emitted
from specdec_lab.checks.start import tokens_emitted

WRONG = {
    "accepted only": (lambda accepted: accepted, "target add of its own"),
    "nothing from a useless draft": (lambda accepted: accepted + 1 if accepted else 0, "not for nothing"),
    "always five": (lambda accepted: 5, "On 3 it gives 5"),
    "a text": (lambda accepted: str(accepted + 1), "is an int"),
    "fails": (lambda accepted: accepted + None, "TypeError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_turn_gets_its_reason(name, capsys):
    attempt, reason = WRONG[name]
    assert check_tokens_emitted(attempt) is tokens_emitted
    assert reason in capsys.readouterr().out


def test_right_and_not_attempted(capsys):
    def mine(accepted):
        return 1 + accepted

    assert check_tokens_emitted(mine) is mine
    assert check_tokens_emitted(lambda accepted: ...) is tokens_emitted
