"""vLLM's counters become the numbers of our own engine, or an error that says why they cannot."""

from __future__ import annotations

import pytest

from specdec_lab.engine import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.errors import UserError
from specdec_lab.serving.metrics import Acceptance, Counters, between, parse
from tests.serving.support import one_sentence


def scrape(drafts: float, drafted: float, accepted: float, at: tuple[float, ...], total: str = "_total", engine: str = "0") -> str:
    """What /metrics writes, with or without `_total`; counters as floats, and each with the time it was made, as the client does."""
    labels = f'engine="{engine}",model_name="m"'
    lines = []
    for name, value in (("drafts", drafts), ("draft_tokens", drafted), ("accepted_tokens", accepted)):
        full = f"vllm:spec_decode_num_{name}"
        lines += [f"# HELP {full}{total} Number of {name}.", f"# TYPE {full}{total} counter", f"{full}{total}{{{labels}}} {value}"]
        lines += [f"# TYPE {full}_created gauge", f"{full}_created{{{labels}}} 1.764e+09"]
    full = "vllm:spec_decode_num_accepted_tokens_per_pos"
    lines += [f"# TYPE {full}{total} counter"]
    lines += [f'{full}{total}{{{labels},position="{i}"}} {value}' for i, value in enumerate(at)]
    return "\n".join(["# TYPE vllm:num_requests_running gauge", f"vllm:num_requests_running{{{labels}}} 1.0", *lines]) + "\n"


@pytest.mark.parametrize("total", ["_total", ""])
def test_the_counters_are_read_with_and_without_total(total):
    assert parse(scrape(26, 130, 84, (24, 20, 17, 13, 10), total)) == Counters(26, 130, 84, (24, 20, 17, 13, 10))


def test_several_engines_are_summed():
    text = scrape(26, 130, 84, (24, 20, 17, 13, 10)) + scrape(4, 12, 3, (2, 1, 0), engine="1")
    assert parse(text) == Counters(30, 142, 87, (26, 21, 17, 13, 10))


def test_large_counts_in_scientific_notation_stay_exact():
    assert parse(scrape(1.234567e06, 5e06, 2e06, (1e06,))).drafts == 1_234_567


def test_between_two_readings_the_names_are_the_engines():
    before, after = parse(scrape(10, 50, 20, (8, 6, 4, 2, 0))), parse(scrape(36, 180, 104, (32, 26, 21, 15, 10)))
    found = between(before, after)
    assert (found.rounds, found.drafted, found.accepted) == (26, 130, 84)
    assert found.acceptance_rate == 84 / 130
    assert found.mean_acceptance_length == 1 + 84 / 26
    assert found.marginal == tuple(n / 26 for n in (24, 20, 17, 13, 10))
    assert sum(found.marginal) + 1 == pytest.approx(found.mean_acceptance_length)
    assert "overstates tokens per target pass" in found.note


def test_the_same_rounds_give_the_same_numbers_as_our_engine():
    """Rounds that accepted (4, 0, 2, 4, 1) of 4: no round without a draft, so the two ways of counting agree."""
    accepted = (4, 0, 2, 4, 1)
    rounds = [Round(9, (7, 7, 7, 7), a, 8, (7,) * a + (8,), 0.0, 0.0, 0.0, target_cache=9 + a, draft_cache=9 + a) for a in accepted]
    ours = Metrics.of(rounds)
    theirs = between(parse(scrape(0, 0, 0, ())), parse(scrape(5, 20, 11, (4, 3, 2, 2))))
    assert (theirs.rounds, theirs.drafted, theirs.accepted) == (ours.rounds, ours.drafted, ours.accepted)
    assert theirs.acceptance_rate == ours.acceptance_rate == 0.55
    assert theirs.mean_acceptance_length == ours.mean_acceptance_length == 3.2
    assert theirs.marginal == ours.marginal == (0.8, 0.6, 0.4, 0.4)


def test_nothing_drafted_is_no_number():
    idle = between(Counters(3, 15, 9, (3,)), Counters(3, 15, 9, (3,)))
    assert (idle.acceptance_rate, idle.mean_acceptance_length, idle.marginal) == (None, None, ())
    assert idle == Acceptance(0, 0, 0, (0,))


def test_positions_that_appear_later_started_at_zero():
    assert between(Counters(1, 2, 1, (1,)), Counters(3, 12, 6, (3, 2, 1))).accepted_at == (2, 2, 1)


OTHERS = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1.0\n"
MISSING = [
    ("", "statistics are off, so start vLLM without --disable-log-stats"),
    ("# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 3.5\n", "either this is another server"),
    (OTHERS, "it runs without speculation, so start it with --speculative-config"),
    (OTHERS + "vllm:spec_decode_num_drafts_total 3.0\n", "its version names them differently"),
    ("<html><body>Not Found</body></html>", "not what Prometheus writes"),
    (OTHERS + 'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="x"} 3.0\n', "not what Prometheus writes"),
]


@pytest.mark.parametrize("text, part", MISSING, ids=[part for _, part in MISSING])
def test_missing_counters_have_a_likely_cause(text, part):
    with pytest.raises(UserError) as refused:
        parse(text)
    assert part in str(refused.value)
    assert one_sentence(refused.value)


@pytest.mark.parametrize("after", [Counters(2, 50, 20, (8,)), Counters(10, 49, 20, (8,)), Counters(10, 50, 19, (8,))])
def test_a_counter_that_fell_means_a_restart(after):
    with pytest.raises(UserError, match=r"fell from \d+ to \d+, so the server was restarted in between: measure again"):
        between(Counters(10, 50, 20, (8,)), after)


def test_fewer_positions_mean_a_restart_too():
    with pytest.raises(UserError, match="restarted with a smaller k"):
        between(Counters(10, 50, 20, (8, 4)), Counters(30, 90, 40, (20,)))
