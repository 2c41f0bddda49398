"""The first check of chapter 6: every wrong turn of a lookup gets its own reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from specdec_lab.checks import check_lookup
from specdec_lab.drafters import ngram


def search(context, k, n_min, n_max, *, starts=None, copy=None, longest=None, lengths=None):
    """The right search with one thing about it changed."""
    most = min(n_max, len(context) - 1) if longest is None else longest(context, n_max)
    for n in (lengths or (lambda low, high: range(high, low - 1, -1)))(n_min, most):
        for start in (starts or (lambda size, n: range(size - n - 1, -1, -1)))(len(context), n):
            if context[start : start + n] == context[len(context) - n :]:
                return copy(context, start, n, k) if copy else context[start + n : start + n + k]
    return []


def not_attempted(context, k, n_min, n_max): ...


def matches_itself(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, starts=lambda size, n: range(size - n, -1, -1))


def takes_the_first(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, starts=lambda size, n: range(size - n))


def shortest_first(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, lengths=lambda low, high: range(low, high + 1))


def longest_only(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, lengths=lambda low, high: [n_max] if high == n_max else [])


def any_length(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, longest=lambda context, n_max: len(context) - 1)


def any_thin_match(context, k, n_min, n_max):
    return search(context, k, 1, n_max)


def returns_the_match(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start : start + k])


def match_and_copy(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start : start + n + k])


def one_late(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start + n + 1 : start + n + 1 + k])


def one_early(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start + n - 1 : start + n - 1 + k])


def forgets_k(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start + n :])


def one_too_many(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, copy=lambda context, start, n, k: context[start + n : start + n + k + 1])


def one_token(context, k, n_min, n_max):
    found = ngram.lookup(context, k, n_min, n_max)
    return found[0] if found else []


def one_token_in_a_list(context, k, n_min, n_max):
    return ngram.lookup(context, k, n_min, n_max)[:1]


def wants_all_k(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, starts=lambda size, n: range(size - n - k, -1, -1))


def not_up_to_the_ending(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, starts=lambda size, n: range(size - n - 2, -1, -1))


def no_overlap(context, k, n_min, n_max):
    return search(context, k, n_min, n_max, starts=lambda size, n: range(size - 2 * n, -1, -1))


def a_short_text_is_its_own_ending(context, k, n_min, n_max):
    for n in range(n_max, n_min - 1, -1):
        ending = context[-n:]
        for start in reversed(range(len(context))):
            if start != len(context) - n and context[start : start + n] == ending:
                return context[start + n : start + n + k]
    return []


def nothing_at_all_if_nothing_repeats(context, k, n_min, n_max):
    return ngram.lookup(context, k, n_min, n_max) or None


def crashes_if_nothing_repeats(context, k, n_min, n_max):
    found = ngram.lookup(context, k, n_min, n_max)
    if context.index(context[-1]) == len(context) - 1:
        raise ValueError("not in list")
    return found


def crashes_on_an_empty_text(context, k, n_min, n_max):
    return ngram.lookup(context, k, n_min, n_max) if context[-1] >= 0 else []


def eats_its_input(context, k, n_min, n_max):
    found = ngram.lookup(context, k, n_min, n_max)
    context.append(0)
    return found


def backwards(context, k, n_min, n_max):
    return ngram.lookup(context, k, n_min, n_max)[::-1]


def right_on_small_ids_only(context, k, n_min, n_max):
    return ngram.lookup(context, k, n_min, min(n_max, 3))


WRONG = {
    matches_itself: "where it stands itself",
    takes_the_first: "the first of them; the most recent one",
    shortest_first: "what followed the last 7 alone",
    longest_only: "go on with a shorter one",
    any_length: "n_max is 1 here",
    any_thin_match: "too thin a match",
    returns_the_match: "starts with the match itself",
    match_and_copy: "starts with the match itself",
    one_late: "off by one",
    forgets_k: "everything up to the end",
    one_too_many: "more than k tokens",
    one_token: "It returns 9",
    one_token_in_a_list: "One token only",
    wants_all_k: "may be shorter than k",
    not_up_to_the_ending: "at the very end was missed",
    no_overlap: "overlaps the ending",
    a_short_text_is_its_own_ending: "min(n_max, len(context) - 1)",
    nothing_at_all_if_nothing_repeats: "where nothing repeats an empty one",
    crashes_if_nothing_repeats: "ValueError",
    crashes_on_an_empty_text: "An empty text has nothing to copy",
    eats_its_input: "changes its input",
    backwards: "in the wrong order",
    right_on_small_ids_only: "is right",
}


@pytest.mark.parametrize("attempt", [*WRONG, one_early], ids=lambda attempt: attempt.__name__)
def test_a_wrong_turn_gets_its_reason(attempt, capsys):
    assert check_lookup(attempt) is ngram.lookup
    printed = " ".join(capsys.readouterr().out.split())
    assert WRONG.get(attempt, "off by one") in printed and "✗" in printed and "★" not in printed
    assert "package's own lookup" in printed


def test_not_attempted_goes_on_with_the_packages_own(capsys):
    assert check_lookup(not_attempted) is ngram.lookup
    assert "not attempted yet" in capsys.readouterr().out


def from_the_left(context, k, n_min, n_max):
    for n in range(n_max, n_min - 1, -1):
        found = None
        for end in range(n, len(context)):
            if list(context[end - n : end]) == list(context[len(context) - n :]) and len(context) > n:
                found = tuple(context[end : end + k])
        if found is not None:
            return found
    return ()


def by_growing_matches(context, k, n_min, n_max):
    best, where = 0, None
    for end in range(1, len(context)):
        n = 0
        while n < min(n_max, end) and context[end - 1 - n] == context[-1 - n]:
            n += 1
        if n >= n_min and n >= best:
            best, where = n, end
    return [] if where is None else context[where : where + k]


def as_a_tensor(context, k, n_min, n_max):
    return torch.tensor(ngram.lookup(context, k, n_min, n_max), dtype=torch.long)


def as_an_array(context, k, n_min, n_max):
    return np.array(by_growing_matches(context, k, n_min, n_max), dtype=np.int64)


@pytest.mark.parametrize("right", [from_the_left, by_growing_matches, as_a_tensor, as_an_array], ids=lambda f: f.__name__)
def test_any_right_answer_is_the_one_that_runs(right, capsys):
    assert check_lookup(right) is right, capsys.readouterr().out
    assert capsys.readouterr().out.count("✓") == 3


def test_a_second_run_of_the_check_does_not_praise_the_packages_own(capsys):
    check_lookup(check_lookup(takes_the_first))
    assert "★" not in capsys.readouterr().out
