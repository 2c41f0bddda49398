"""Chapter 4's pictures: every number drawn is one that was handed in."""

import re

from specdec_lab.theory.closed_forms import speedup
from specdec_lab.widgets import best_k_figure, curves_figure, estimates_figure, log_view


def test_the_log_tells_failed_guesses_from_untested_ones():
    page = log_view([4, 0, 2], k=4).data
    body = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    assert body[0] == ["round", "guess 1", "guess 2", "guess 3", "guess 4"]
    assert body[1:] == [["1", "✓", "✓", "✓", "✓"], ["2", "✗", "·", "·", "·"], ["3", "✓", "✓", "✗", "·"]]


def test_curves_are_named_at_their_ends_and_told_apart_without_colour():
    lines = {"p = 0.5": ([1, 2, 3], [1.0, 1.2, 1.1]), "p = 0.9": ([1, 2, 3], [1.5, 2.0, 2.4])}
    marks = {"one": ([2], [1.3]), "two": ([2], [1.9])}
    figure = curves_figure("t", "x", "y", lines, marks, {"best": ([2], [1.2])}, level=1)
    first, second, one, two, best = figure.data
    assert list(first.y) == [1.0, 1.2, 1.1] and list(second.y) == [1.5, 2.0, 2.4] and list(best.y) == [1.2]
    assert first.line.dash != second.line.dash and one.marker.symbol != two.marker.symbol
    assert [(a.text, a.x, a.y) for a in figure.layout.annotations] == [("p = 0.5", 3, 1.1), ("p = 0.9", 3, 2.4)]
    assert figure.layout.shapes[0].y0 == 1
    assert (figure.layout.title.text, figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("t", "x", "y")
    assert curves_figure("t", "x", "y", lines).layout.shapes == ()


def test_the_map_writes_k_and_speedup_into_each_field():
    figure = best_k_figure((0.6, 0.9), (0.1,), [[3, 10]], [[1.67, 3.43]])
    assert list(figure.data[0].text[0]) == ["k = 3<br>1.67x", "k = 10<br>3.43x"]
    assert list(figure.data[0].x) == ["0.6", "0.9"] and list(figure.data[0].y) == ["0.1"]
    assert "3.4" in figure.layout.title.text


def test_estimates_carry_two_standard_errors():
    figure = estimates_figure([20, 2000], [3.5, 3.7], [0.4, 0.04], truth=3.69)
    line, points = figure.data
    assert list(line.y) == [3.69, 3.69] and list(points.y) == [3.5, 3.7]
    assert list(points.error_y.array) == [0.8, 0.08]
    assert "20 rounds" in figure.layout.title.text and "2,000" in figure.layout.title.text


def test_figures_hold_lists_that_a_notebook_can_store():
    figure = curves_figure("t", "x", "y", {"a": (range(3), [speedup(k, 0.8, 0.1) for k in range(3)])})
    assert isinstance(figure.to_dict()["data"][0]["y"], (list, tuple))
