"""The numbers of a run, computed by hand."""

import pytest

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Metrics, Stopping, generate
from specdec_lab.models.toy import markov_lm, scripted_lm
from tests.support import Moody, StrictToy, always, ids, rounds

EXAMPLE = Metrics.of(rounds(4, 0, 2, 4, 1, k=4))


def test_the_example_of_chapter_4():
    assert (EXAMPLE.drafted, EXAMPLE.accepted, EXAMPLE.rejections, EXAMPLE.tokens, EXAMPLE.rounds) == (20, 11, 3, 16, 5)
    assert EXAMPLE.acceptance_rate == pytest.approx(11 / 20)
    assert EXAMPLE.alpha == pytest.approx(11 / 14)
    assert EXAMPLE.mean_acceptance_length == pytest.approx(16 / 5)
    assert EXAMPLE.marginal == pytest.approx((0.8, 0.6, 0.4, 0.4))
    assert EXAMPLE.conditional == pytest.approx((0.8, 0.75, 2 / 3, 1.0))


def test_tokens_per_round_are_one_and_the_marginal_rates():
    assert EXAMPLE.mean_acceptance_length == pytest.approx(1 + sum(EXAMPLE.marginal))


def test_drafts_of_different_lengths_count_where_they_were_tested():
    metrics = Metrics.of([*rounds(3, 1, k=3), *rounds(1, k=1), *rounds(0, k=0), *rounds(2, 0, k=2)])
    assert metrics.drafted_at == (5, 4, 2)
    assert metrics.tested_at == (5, 3, 1)  # the draft of one token tested no second one
    assert metrics.marginal == pytest.approx((4 / 5, 2 / 4, 1 / 2))
    assert metrics.conditional == pytest.approx((4 / 5, 2 / 3, 1.0))
    assert sum(metrics.tested_at) == metrics.accepted + metrics.rejections
    assert metrics.mean_acceptance_length == pytest.approx((7 + 6) / 6)


def test_a_position_that_was_never_tested_has_no_conditional_rate():
    assert Metrics.of(rounds(0, 0, k=2)).conditional == (0.0, None)


@pytest.mark.parametrize("records", [[], rounds(0, 0, k=0)])
def test_without_a_draft_there_is_no_acceptance(records):
    metrics = Metrics.of(records)
    assert metrics.acceptance_rate is metrics.alpha is None and metrics.marginal == metrics.conditional == ()
    assert metrics.mean_acceptance_length == (1.0 if records else None)


def test_the_metrics_of_a_run_are_those_of_its_records():
    target = StrictToy(markov_lm(0, 8, order=2))
    drafter = Moody(ModelDrafter(StrictToy(markov_lm(0, 8, like=target, drift=1.0)), 8), upto=lambda length: length % 5)
    run = generate(target, ids(1, 2), drafter, 4, stopping=Stopping(100))
    accepted = [r.accepted for r in run.rounds]
    assert len(set(accepted)) > 2
    assert run.metrics.tokens == len(run.tokens) == 100
    assert run.metrics.accepted == sum(accepted)
    assert run.metrics.rejections == sum("correction" in r.origins for r in run.rounds)
    assert run.tokens_per_second == pytest.approx(100 / sum(r.seconds for r in run.rounds))
    assert all(0 <= r.draft_seconds + r.verify_seconds <= r.seconds for r in run.rounds)


@pytest.mark.parametrize("behind_the_end", [(7, 0), (0, 0)])
def test_tokens_behind_the_end_of_the_text_are_neither_accepted_nor_rejected(behind_the_end):
    """The text ends with 9; whether the guesses behind it are right says nothing about the draft."""
    target = scripted_lm([5, 9, 7, 8, 1], 10, start=2)
    run = generate(target, ids(1, 2), always([5, 9, *behind_the_end]), 4, stopping=Stopping(8, frozenset({9})))
    m = run.metrics
    assert (m.tokens, m.drafted, m.accepted, m.rejections, m.alpha) == (2, 4, 2, 0, 1.0)
    assert (m.drafted_at, m.tested_at, m.accepted_at) == ((1, 1, 1, 1), (1, 1, 0, 0), (1, 1, 0, 0))
    assert run.rounds[0].origins.count("accepted") == m.accepted  # what the coloured text shows is what is counted


def test_the_standard_error_of_alpha_is_that_of_a_share_of_the_tested():
    m = Metrics.of(rounds(4, 0, 2, 4, 1, k=4))  # 11 of 14
    assert m.alpha_error == pytest.approx((11 / 14 * 3 / 14 / 14) ** 0.5)
    assert Metrics.of(rounds(0, k=0)).alpha_error is None
