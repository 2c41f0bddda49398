"""Chapter 4's pictures: every number drawn is one that was handed in, and the explorer uses the functions it is given."""

import re

import pytest

from specdec_lab.theory.closed_forms import expected_tokens, optimal_k, speedup
from specdec_lab.widgets import best_k_figure, curves_figure, estimates_figure, log_view, speedup_explorer


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


def explorer(calls=None):
    def counted(k, p):
        if calls is not None:
            calls.append((k, p))
        return expected_tokens(k, p)

    *controls, view = speedup_explorer(counted, speedup, optimal_k).children
    return controls, view


def shown(view) -> str:
    return re.sub(r"<[^>]+>", " ", view.value)


def test_the_explorer_follows_its_sliders_with_the_functions_given():
    calls = []
    (p, k, c, verify, overhead), view = explorer(calls)
    assert "2.46x" in shown(view) and "faster" in shown(view) and re.search(r"best k at these prices:\s+6", shown(view))
    assert "brings, tokens: 3.69" in shown(view) and "costs, plain steps: 1.50" in shown(view)
    verify.value, overhead.value = 1.2, 0.3
    assert "1.84x" in shown(view) and "costs, plain steps: 2.00" in shown(view)
    dearer = int(optimal_k(0.8, 0.1, verify=lambda n: 1.2, overhead=0.3))
    assert dearer > 6 and re.search(rf"best k at these prices:\s+{dearer}\b", shown(view))
    p.value, verify.value, overhead.value, c.value = 0.2, 1.0, 0.0, 0.3
    assert "slower" in shown(view) and "0  (draft nothing)" in shown(view)
    k.value = 7
    assert calls[-1] == (7, 0.2)


def test_the_explorer_at_its_ends():
    (p, k, c, _, overhead), view = explorer()
    overhead.value, k.value = 1.0, 0
    assert "1.00x" in shown(view) and "as fast as plain decoding" in shown(view) and "costs, plain steps: 1.00" in shown(view)
    p.value, c.value, k.value = 1.0, 0.0, 20
    assert "31  or more" in shown(view)
    for p.value in (0.0, 1.0):
        for k.value in (1, 20):
            assert "x" in shown(view)


@pytest.mark.parametrize("wrong", [lambda k, p: 1 / 0])
def test_the_explorer_does_not_hide_a_function_that_fails(wrong):
    with pytest.raises(ZeroDivisionError):
        speedup_explorer(wrong, speedup, optimal_k)
