"""Prompt lookup: which earlier place is found, and what of it is proposed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.drafters import NgramDrafter
from specdec_lab.drafters.ngram import lookup
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import SAMPLED, ids

CASES = {
    "what followed last time": ([1, 2, 3, 4, 9, 1, 2], 2, 1, 4, [3, 4]),
    "the longest ending wins over a more recent short one": ([1, 2, 7, 5, 2, 8, 1, 2], 1, 1, 4, [7]),
    "among equally long ones the most recent wins": ([1, 2, 7, 1, 2, 8, 1, 2], 1, 1, 4, [8]),
    "no more than k": ([1, 2, 3, 4, 5, 1], 3, 1, 4, [2, 3, 4]),
    "no more than there is": ([1, 2, 3, 1], 9, 1, 4, [2, 3, 1]),
    "a match at the very end overlaps the ending": ([5, 5, 5], 4, 1, 4, [5]),
    "nothing repeats": ([1, 2, 3, 4], 4, 1, 4, []),
    "a one-token prompt": ([1], 4, 1, 4, []),
    "two equal tokens": ([1, 1], 4, 1, 4, [1]),
    "n_max bounds the ending": ([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3], 1, 1, 2, [8]),
    "with a longer one the older place is found": ([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3], 1, 1, 3, [7]),
    "n_min refuses a chance match": ([1, 2, 3, 1], 4, 2, 4, []),
    "n_min of the whole context": ([1, 2, 1, 2], 4, 2, 4, [1, 2]),
    "n_max beyond the context": ([1, 2, 1], 4, 1, 99, [2, 1]),
}


@pytest.mark.parametrize("context, k, n_min, n_max, wanted", CASES.values(), ids=CASES)
def test_by_hand(context, k, n_min, n_max, wanted):
    assert lookup(context, k, n_min, n_max) == wanted


@given(st.lists(st.integers(0, 2), min_size=1, max_size=20), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3))
def test_against_the_definition(context, k, n_min, more):
    n_max, length = n_min + more, len(context)
    # Every (length of the match, place behind it) there is; the longest and then the latest is the one to take.
    found = [(n, end) for n in range(n_min, n_max + 1) for end in range(n, length) if context[end - n : end] == context[length - n :]]
    wanted = context[max(found)[1] :][:k] if found else []
    assert lookup(context, k, n_min, n_max) == wanted


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED])
def test_the_proposal_is_deterministic_and_says_so(params):
    drafter = NgramDrafter()
    drafter.begin(ids(1, 2, 1), TokenCache())
    draft = drafter.propose(ids(1, 2, 1), 2, params, SeededRng())
    assert draft.tokens.tolist() == [2, 1] and draft.probs is None
    assert drafter.cache_length is None


def test_no_match_is_an_empty_draft():
    assert len(NgramDrafter().propose(ids(1, 2, 3), 4, SamplingParams(), SeededRng())) == 0


@pytest.mark.parametrize("n_min, n_max", [(0, 3), (3, 2), (-1, 0)])
def test_bad_bounds_are_named(n_min, n_max):
    with pytest.raises(UserError, match=f"n_min is {n_min} and n_max {n_max}, but 1 <= n_min <= n_max has to hold"):
        NgramDrafter(n_min, n_max)
