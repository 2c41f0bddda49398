"""Greedy verification by hand, and against the definition: decode plainly, one token at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.verify import verify_greedy
from tests.support import ids

CASES = {
    "all agree: bonus": ((5, 7, 9), (5, 7, 9, 4), (3, 4)),
    "the first differs": ((5, 7, 9), (6, 7, 9, 4), (0, 6)),
    "the last differs": ((5, 7, 9), (5, 7, 8, 4), (2, 8)),
    "a match behind a mismatch is worth nothing": ((5, 1, 9), (5, 7, 9, 4), (1, 7)),
    "nothing drafted": ((), (3,), (0, 3)),
    "one drafted, right": ((3,), (3, 8), (1, 8)),
    "one drafted, wrong": ((3,), (4, 8), (0, 4)),
    "token 0 counts like any other": ((0, 0), (0, 0, 0), (2, 0)),
}


@pytest.mark.parametrize("draft, target, verdict", CASES.values(), ids=CASES)
def test_by_hand(draft, target, verdict):
    assert verify_greedy(ids(*draft), ids(*target)) == verdict


@given(st.data(), st.integers(0, 6))
def test_a_round_emits_a_prefix_of_what_the_target_says(data, k):
    tokens = st.integers(0, 2)
    draft = data.draw(st.lists(tokens, min_size=k, max_size=k))
    target = data.draw(st.lists(tokens, min_size=k + 1, max_size=k + 1))
    accepted, next_token = verify_greedy(ids(*draft), ids(*target))
    assert 0 <= accepted <= k and type(accepted) is type(next_token) is int
    assert [*draft[:accepted], next_token] == target[: accepted + 1]
    assert accepted == k or draft[accepted] != target[accepted]
