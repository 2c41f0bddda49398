"""The pictures of chapter 9 show the numbers that they are given, and a live curve is drawn as they come."""

from __future__ import annotations

import re

import pytest

from specdec_lab.training.loop import Progress
from specdec_lab.widgets import cards_table, compared_figure, humps_figure, training, training_figure, watch_training

SEEN = [Progress(10, 30, 9.0, 0.2, 4.0), Progress(20, 30, 7.0, 0.3, 8.0), Progress(30, 30, 6.0, (0.35, 0.1), 12.0)]


def named(figure):
    return {trace.name: dict(zip(trace.x, trace.y, strict=True)) for trace in figure.data}


def test_the_curve_begins_before_the_first_step():
    figure = training_figure(SEEN, before=0.01, guess=0.6)
    assert named(figure)["measured"] == {0.0: 0.01, 4.0: 0.2, 8.0: 0.3, 12.0: 0.35}
    assert named(figure)["your prediction for the end"] == {0.0: 0.6, 12.0: 0.6}
    assert "30 of 30 steps, 12 seconds: alpha went from 0.01 to 0.35" in figure.layout.title.text
    assert figure.layout.yaxis.range[1] > 0.6, "the prediction is on the picture"


def test_no_guess_and_no_step_yet():
    figure = training_figure([], before=0.02)
    assert named(figure) == {"measured": {0.0: 0.02}} and "no step yet" in figure.layout.title.text


def test_it_is_drawn_anew_with_every_report(monkeypatch):
    drawn, cleared = [], []
    monkeypatch.setattr(training, "display", drawn.append)
    monkeypatch.setattr(training, "clear_output", lambda wait: cleared.append(wait))
    assert watch_training(iter(SEEN), len) == SEEN
    assert drawn == [1, 2, 3] and cleared == [True] * 3


def test_a_training_is_followed_while_it_goes_on(monkeypatch):
    """Each report is drawn before the next is asked for."""
    drawn = []
    monkeypatch.setattr(training, "display", drawn.append)
    monkeypatch.setattr(training, "clear_output", lambda wait: None)

    def progress():
        for i, at in enumerate(SEEN):
            assert len(drawn) == i
            yield at

    watch_training(progress(), len)


def test_humps():
    figure = humps_figure([0.5, 0.5], {"forward_kl": ([0.9, 0.1], 0.4), "total_variation_loss": ([0.5, 0.5], 0.6)})
    assert "total_variation_loss accepts 0.60, forward_kl 0.40" in figure.layout.title.text
    shown = named(figure)
    assert shown["p, the target"] == {0: 0.5, 1: 0.5} and shown["forward_kl: 0.40"] == {0: 0.9, 1: 0.1}


def test_a_pair_of_bars_a_training():
    figure = compared_figure("a finding", {"KL": (0.3, 0.4), "TV": (0.1, 0.2)})
    assert named(figure) == {"temperature 0: alpha": {"KL": 0.3, "TV": 0.1}, "temperature 1: mean of 1 - TV": {"KL": 0.4, "TV": 0.2}}
    assert len({bar.marker.pattern.shape for bar in figure.data}) == 2


CARD = {"trained_on": "text.npz, 9 tokens", "steps": 5, "trained": "2026-11-29, 70 minutes, python -m somewhere"}


def cells(page: str) -> list[list[str]]:
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in page.split("<tr>")[1:]]
    return rows


@pytest.mark.parametrize("key", ["held_out_rounds_of_4", "held_out_greedy_alpha"])
def test_a_card_a_row(key):
    card = CARD | {key: {"all": {"alpha": 0.55, "tokens": 9}, "code": {"alpha": 0.6}}, "cost_ratio_c": {"fp32": 0.093, "bf16": 0.1}}
    head, row = cells(cards_table({"draft": card}).data)
    assert head == ["part", "learnt from", "trained", "alpha, held out", "c"]
    assert row == ["draft", "text.npz, 9 tokens; 5 steps", "2026-11-29, 70 minutes", "0.55", "fp32 0.09, bf16 0.10"]


def test_a_card_may_say_little():
    assert cells(cards_table({"draft": {}}).data)[1] == ["draft", "not stated", "not stated", "not measured", "not measured"]
