"""The table and the pictures of chapter 6: every run is in them, and what is said to be the best is."""

import re

import pytest

from specdec_lab.measure.ladder import Rung
from specdec_lab.widgets import ladder_figure, ladder_table, price_figure
from tests.measure.toys import comparison

SPENT = [(0.01, 0.05, 0.07)] * 3
RUNGS = [
    Rung("edit", "ngram", comparison(*SPENT, accepted=2, plain=20.0, speed=35.0)),
    Rung("edit", "model", comparison(*SPENT, accepted=1, plain=20.0, speed=22.0)),
    Rung("story", "ngram", comparison(*SPENT, accepted=0, k=0, plain=20.0, speed=14.0)),  # nothing was ever drafted
    Rung("story", "model", comparison(*SPENT, accepted=0, plain=20.0, speed=19.0)),
]


def rows(page: str) -> list[list[str]]:
    return [[re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)] for row in page.split("<tr>")[2:]]


def test_a_row_a_run_with_the_fastest_and_the_losers_marked():
    table = rows(ladder_table(RUNGS).data)
    assert [row[:2] for row in table] == [[r.workload, r.drafter] for r in RUNGS]
    assert [row[8] for row in table] == ["★ 1.75", "1.10", "✗ 0.70", "★ 0.95"]
    assert table[2][3:5] == ["none", "none"] and table[1][3] == "0.50 ± 0.20"
    assert {row[9] for row in table} == {"yes"}


def test_the_table_can_be_empty_and_names_every_column():
    page = ladder_table([]).data
    assert page.count("<th") == 10 and page.count("<tr>") == 1 and "speedup, by the clock" in page


def test_the_map_holds_measured_and_predicted_and_names_the_fastest():
    figure = ladder_figure(RUNGS[:3])
    (cells,) = figure.data
    assert list(cells.x) == ["edit", "story"] and list(cells.y) == ["ngram", "model"]
    assert cells.z[0] == pytest.approx([1.75, 0.70]) and cells.z[1][1] is None and cells.text[1][1] == ""
    predicted = RUNGS[0].run.predicted_speedup
    assert tuple(cells.text[0]) == (f"1.75x ({predicted:.2f})", f"✗ 0.70x ({RUNGS[2].run.predicted_speedup:.2f})")
    assert "edit: ngram 1.75x" in figure.layout.title.text


def test_a_point_lies_where_its_price_and_its_yield_put_it():
    figure = price_figure(RUNGS[:2])
    even, best, plain, *points = figure.data
    assert [p.name for p in points] == ["ngram", "model"] and plain.x == plain.y == (1,)
    for rung, point in zip(RUNGS, points, strict=False):
        assert point.y[0] / point.x[0] == pytest.approx(rung.run.predicted_speedup)
    assert even.y[1] == even.x[1] and best.y[1] / best.x[1] == pytest.approx(max(r.run.predicted_speedup for r in RUNGS[:2]))
    assert figure.layout.title.text.startswith("edit: ngram brings most")
