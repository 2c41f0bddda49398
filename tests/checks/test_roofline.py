"""The checks of chapter 1: every wrong turn people take gets its own reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from specdec_lab.checks import check_arithmetic_intensity, check_pass_time
from specdec_lab.theory import roofline


def no_factor_two(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * bytes_per_parameter + cache_bytes) / bandwidth, parameters * n / flop_rate)


def bits(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(8 * (parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def a_sum(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return (parameters * bytes_per_parameter + cache_bytes) / bandwidth + 2 * parameters * n / flop_rate


def the_faster(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return min((parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def reads_for_each_token(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(n * (parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def the_read_alone(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return (parameters * bytes_per_parameter + cache_bytes) / bandwidth


def the_arithmetic_alone(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return 2 * parameters * n / flop_rate


def exchanged(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return roofline.pass_time(n, parameters, bytes_per_parameter, flop_rate, bandwidth, cache_bytes)


def a_cache_beside(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth, cache_bytes / bandwidth, 2 * parameters * n / flop_rate)


def a_cache_on_top(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth, 2 * parameters * n / flop_rate) + cache_bytes / bandwidth


def a_cache_of_flop(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth, (2 * parameters * n + cache_bytes) / flop_rate)


def a_cache_in_both(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * bytes_per_parameter + cache_bytes) / bandwidth, (2 * parameters * n + cache_bytes) / flop_rate)


def a_cache_at_the_flop_rate(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth + cache_bytes / flop_rate, 2 * parameters * n / flop_rate)


def no_cache(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth, 2 * parameters * n / flop_rate)


def a_cache_for_each_token(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * bytes_per_parameter + n * cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def a_cache_of_parameters(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters + cache_bytes) * bytes_per_parameter / bandwidth, 2 * parameters * n / flop_rate)


def cache_bytes_as_seconds(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(parameters * bytes_per_parameter / bandwidth + cache_bytes, 2 * parameters * n / flop_rate)


def always_two_bytes(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * 2 + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def always_four_bytes(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * 4 + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def twice_the_bytes(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return 2 * roofline.pass_time(n, parameters, bytes_per_parameter, bandwidth, 2 * flop_rate, cache_bytes)


def twice_the_flop(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return roofline.pass_time(n, parameters, bytes_per_parameter, bandwidth, flop_rate / 2, cache_bytes)


def parameters_for_bytes(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate)


def flop_from_bytes(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max((parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * bytes_per_parameter * n / flop_rate)


def milliseconds(*arguments):
    return 1000 * roofline.pass_time(*arguments)


def upside_down(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return max(bandwidth / (parameters * bytes_per_parameter + cache_bytes), 2 * parameters * n / flop_rate)


def both_times(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return (parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate


def a_text(*arguments):
    return f"{roofline.pass_time(*arguments)} s"


def stops(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return n + None


def right_for_few_tokens(n, *rest):
    return roofline.pass_time(min(n, 64), *rest)


WRONG = {
    no_factor_two: "2 FLOP for each token, not 1",
    bits: "no bits in it",
    a_sum: "one after the other",
    the_faster: "the faster of the two, or the arithmetic alone",
    reads_for_each_token: "once for each of the 3 tokens",
    exchanged: "are exchanged",
    the_read_alone: "the read alone",
    no_cache: "made no difference here",
    a_cache_in_both: "they are no FLOP",
    a_cache_on_top: "inside the max",
    a_cache_at_the_flop_rate: "are read, not computed: divide them",
    a_cache_for_each_token: "not once for each token",
    a_cache_of_parameters: "in bytes already",
    cache_bytes_as_seconds: "are bytes; divide them by the bandwidth",
    always_two_bytes: "not a fixed 2",
    always_four_bytes: "a fixed 4",
    parameters_for_bytes: "the time for one byte of each",
    twice_the_bytes: "twice the bytes",
    flop_from_bytes: "bytes_per_parameter has no place there",
    twice_the_flop: "twice the FLOP",
    milliseconds: "milliseconds",
    upside_down: "upside down",
    both_times: "one number is wanted",
    a_text: "0.12 s', but one number is wanted",
    stops: "TypeError",
    right_for_few_tokens: "is right",
}


# Their number is that of another wrong turn, and so is their sentence: it has to be true of both.
TOLD_ALIKE = {
    the_arithmetic_alone: "or the arithmetic alone",
    a_cache_beside: "made no difference here",
    a_cache_of_flop: "made no difference here",
}


@pytest.mark.parametrize("attempt, reason", [*WRONG.items(), *TOLD_ALIKE.items()], ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_time_gets_its_reason(attempt, reason, capsys):
    assert check_pass_time(attempt) is roofline.pass_time
    printed = " ".join(capsys.readouterr().out.split())
    assert reason in printed and "✗" in printed and "★" not in printed
    assert "package's own pass_time" in printed


WRONG_INTENSITY = {
    "no factor 2": (lambda n, bytes_per_parameter: n / bytes_per_parameter, "multiplied and added"),
    "bits": (lambda n, bytes_per_parameter: 2 * n / (8 * bytes_per_parameter), "no bits in it"),
    "of one token": (lambda n, bytes_per_parameter: 2 / bytes_per_parameter, "does not grow with n"),
    "always two bytes": (lambda n, bytes_per_parameter: 2 * n / 2, "not a fixed 2"),
    "a product": (lambda n, bytes_per_parameter: 2 * n * bytes_per_parameter, "is a quotient"),
    "of a parameter": (lambda n, bytes_per_parameter: 2 * n, "for each parameter"),
    "upside down": (lambda n, bytes_per_parameter: bytes_per_parameter / (2 * n), "bytes for each FLOP"),
    "n twice": (lambda n, bytes_per_parameter: 2 * n * n / bytes_per_parameter, "n came in twice"),
    "whole numbers": (lambda n, bytes_per_parameter: 2 * n // bytes_per_parameter, "is right"),
}


@pytest.mark.parametrize("name", WRONG_INTENSITY)
def test_a_wrong_intensity_gets_its_reason(name, capsys):
    attempt, reason = WRONG_INTENSITY[name]
    assert check_arithmetic_intensity(attempt) is roofline.arithmetic_intensity
    printed = " ".join(capsys.readouterr().out.split())
    assert reason in printed and "✗" in printed


def pass_time_not_attempted(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0): ...


def test_not_attempted_goes_on_with_the_packages_own(capsys):
    assert check_pass_time(pass_time_not_attempted) is roofline.pass_time
    assert check_arithmetic_intensity(lambda n, bytes_per_parameter: ...) is roofline.arithmetic_intensity
    assert capsys.readouterr().out.count("not attempted yet") == 2


def with_an_if(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    weights = parameters * bytes_per_parameter
    reading, computing = weights / bandwidth + cache_bytes / bandwidth, n * (parameters + parameters) / flop_rate
    if reading > computing:
        return reading
    return computing


def with_numpy(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    return np.max(np.array([(parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate]))


def with_float32_tensors(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    times = torch.tensor([(parameters * bytes_per_parameter + cache_bytes) / bandwidth, 2 * parameters * n / flop_rate])
    return times.max()


def by_intensity(n, parameters, bytes_per_parameter, bandwidth, flop_rate, cache_bytes=0):
    moved, done = parameters * bytes_per_parameter + cache_bytes, 2 * parameters * n
    return done / min(flop_rate, bandwidth * done / moved)


@pytest.mark.parametrize("right", [with_an_if, with_numpy, with_float32_tensors, by_intensity])
def test_any_right_answer_is_the_one_that_runs(right, capsys):
    assert check_pass_time(right) is right
    assert capsys.readouterr().out.count("✓") == 3


def test_a_right_intensity_is_the_one_that_runs(capsys):
    def mine(n, bytes_per_parameter):
        return torch.tensor(n + n) / bytes_per_parameter

    assert check_arithmetic_intensity(mine) is mine
    assert capsys.readouterr().out.count("✓") == 3
