"""A run as it goes on, and the pictures of chapter 5: every run is in them, and the titles say what was found."""

import re

import pytest

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, stream
from specdec_lab.engine.loop import GREEDY
from specdec_lab.widgets import prediction_figure, runs, runs_table, time_figure, watch_run
from tests.measure.toys import comparison
from tests.support import ids, tiny_llama

SPENT = [(0.01, 0.05, 0.07)] * 3
RUNS = {
    ("code", 0.0): comparison(*SPENT, accepted=2, plain=20.0, speed=35.0),
    ("code", 1.0): comparison(*SPENT, accepted=1, plain=20.0, speed=22.0),
    ("story", 0.0): comparison(*SPENT, accepted=0, plain=20.0, speed=12.0),
    ("story", 1.0): comparison(*SPENT, accepted=0, k=0, plain=20.0, speed=14.0),  # nothing was ever drafted
}


def text(cell: str) -> str:
    return re.sub("<[^>]+>", "", cell)


def test_a_row_a_run_and_losers_are_marked():
    rows = [[text(cell) for cell in re.findall(r"<td.*?</td>", row)] for row in runs_table(RUNS).data.split("<tr>")[2:]]
    assert [row[:2] for row in rows] == [["code", "0"], ["code", "1"], ["story", "0"], ["story", "1"]]
    assert [row[9] for row in rows] == ["1.75", "1.10", "✗ 0.60", "✗ 0.70"]
    assert rows[1][3:5] == ["0.50", "0.50 ± 0.20"] and rows[3][3:5] == ["none", "none"]


def test_the_table_can_be_empty_and_names_every_column():
    page = runs_table({}).data
    assert page.count("<th") == 11 and page.count("<tr>") == 1 and "speedup, by the clock" in page


def test_the_stack_adds_up_and_stands_beside_plain_decoding():
    figure = time_figure(RUNS)
    *stack, plain = figure.data
    assert [bar.name for bar in stack] == ["target passes and verdicts", "drafting", "bookkeeping"]
    assert sum(bar.y[0] for bar in stack) == pytest.approx(70 / 3) and sum(bar.y[2] for bar in stack) == pytest.approx(70)
    assert list(plain.y) == [50.0] * 4 and figure.layout.barmode == "stack"
    assert "2 of 4 runs took longer" in figure.layout.title.text


def test_predicted_against_measured_lies_on_axes_that_hold_every_run():
    figure = prediction_figure(RUNS)
    diagonal, *points = figure.data
    assert list(diagonal.x) == list(diagonal.y)
    shown = [(x, y) for series in points for x, y in zip(series.x, series.y, strict=True)]
    assert sorted(shown) == sorted((run.predicted_speedup, run.speedup) for run in RUNS.values())
    assert all(diagonal.x[0] < value < diagonal.x[1] for point in shown for value in point)
    apart = sorted(abs(run.efficiency - 1) for run in RUNS.values())
    assert f"all within {apart[-1]:.0%}" in figure.layout.title.text
    assert f"within {(apart[1] + apart[2]) / 2:.0%} of" in figure.layout.title.text
    assert len({series.marker.symbol for series in points}) == len(points)
    assert points[0].marker.color == ("rgba(0,0,0,0)", "rgba(0,0,0,1)"), "temperatures are told apart"


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return " ".join(f"w{i}" for i in token_ids)


@pytest.fixture
def pages(monkeypatch):
    """What `watch_run` has shown, page after page."""
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page.data)

    def display(page, display_id):
        shown.append(page.data)
        return Handle()

    monkeypatch.setattr(runs, "display", display)
    return shown


def live(drafter=None):
    return stream(tiny_llama(0), ids(1, 2, 3), drafter, 3, GREEDY, Stopping(8))


def test_a_run_is_shown_round_by_round_and_before_the_next_one_runs(pages):
    def rounds():
        for i, r in enumerate(live(ModelDrafter(tiny_llama(0, 0.02), 64))):
            assert len(pages) == i + 1, "what is known is shown before the next round begins"
            yield r

    seen = watch_run(rounds(), Words())
    assert len(pages) == len(seen) + 1 and "Reading the prompt" in pages[0]
    m = comparison().metrics.of(seen)
    assert m.accepted > 0 and m.rounds < m.tokens == 8
    assert f"{m.rounds} passes, 8 tokens: <b>{m.mean_acceptance_length:.2f} tokens a pass</b>" in pages[-1]
    assert f"alpha {m.alpha:.2f} ± {m.alpha_error:.2f} ({m.accepted} of {m.accepted + m.rejections} stood)" in pages[-1]
    assert f"w{seen[-1].emitted[-1]}" in text(pages[-1])


def test_where_a_token_s_time_goes_beside_another_run(pages):
    plain = [r for r in comparison((0.0, 0.04, 0.04), (0.0, 0.04, 0.04), accepted=0, k=0).speculative.rounds]
    ours = comparison((0.01, 0.05, 0.07), (0.01, 0.05, 0.07), accepted=1).speculative.rounds  # two tokens a round
    assert watch_run(ours, Words(), plain) == list(ours)
    page = text(pages[-1])
    assert "a token of this run: 35.0 ms = target passes and verdicts 25.0 + drafting 5.0 + bookkeeping 5.0" in page
    assert "a token of the other: 40.0 ms = target passes and verdicts 40.0 + drafting 0.0 + bookkeeping 0.0" in page
    widths = [int(w) for w in re.findall(r"height:20px;width:(\d+)px", pages[-1])]
    assert widths == [375, 75, 75, 600, 0, 0], "both bars on one scale"


def test_plain_decoding_has_no_alpha(pages):
    watch_run(live(), Words())
    assert "1.00 tokens a pass" in pages[-1] and "alpha" not in pages[-1] and "the other" not in pages[-1]
