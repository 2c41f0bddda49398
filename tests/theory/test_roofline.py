"""The closed forms of the roofline."""

from __future__ import annotations

import pytest

from specdec_lab.theory.roofline import arithmetic_intensity, free_guesses, free_texts, pass_time, ridge

H200 = {"bandwidth": 4.8e12, "flop_rate": 989e12}


def test_few_tokens_wait_for_memory_and_many_for_arithmetic():
    assert pass_time(1, 134.5e6, 2, 35e9, 1e15) == pytest.approx(7.686e-3, rel=1e-3)
    assert pass_time(64, 134.5e6, 2, 35e9, 1e15) == pass_time(1, 134.5e6, 2, 35e9, 1e15)
    assert pass_time(64, 134.5e6, 2, 35e15, 1e12) == pytest.approx(2 * 134.5e6 * 64 / 1e12)


def test_at_the_ridge_both_take_equally_long():
    at = ridge(2, **H200)
    assert at == pytest.approx(206, abs=0.1)
    assert arithmetic_intensity(at, 2) == pytest.approx(989 / 4.8)
    one = pass_time(1, 8e9, 2, **H200)
    assert pass_time(at, 8e9, 2, **H200) == pytest.approx(one)
    assert pass_time(2 * at, 8e9, 2, **H200) == pytest.approx(2 * one)


def test_the_ridge_depends_on_the_width_of_a_parameter_and_not_on_their_number():
    assert ridge(4, 1e9, 6e9) == pytest.approx(2 * ridge(2, 1e9, 6e9))
    v = [pass_time(300, size, 2, **H200) / pass_time(1, size, 2, **H200) for size in (1e9, 70e9)]
    assert v[0] == pytest.approx(v[1])


def test_a_cache_is_read_beside_the_weights():
    assert pass_time(1, 1e9, 2, 1e9, 1e15, cache_bytes=1e9) == pytest.approx(3.0)
    assert pass_time(5, 1e9, 2, 1e9, 1e15, cache_bytes=1e9) == pytest.approx(3.0)  # five tokens of a text share it


def test_what_is_free_stays_within_the_ridge_and_one_more_does_not():
    at = ridge(2, **H200)
    for k in (0, 1, 4, 15):
        texts = free_texts(k, at)
        assert texts * (k + 1) <= at < (texts + 1) * (k + 1)
    for batch in (1, 4, 100):
        k = free_guesses(batch, at)
        assert batch * (k + 1) <= at < batch * (k + 2)
    assert free_texts(4, 4.9) == 0 and free_guesses(207, at) == 0
