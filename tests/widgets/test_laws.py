"""Pictures of laws: the numbers in them are those of the package, in every bar."""

from __future__ import annotations

import json

import pytest
import torch

from specdec_lab.widgets import alpha_figure, frequencies_figure
from specdec_lab.widgets.laws import laws_figure, produced_figure
from specdec_lab.widgets.palette import COLOURS

P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
Q = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
TOKENS = ["left", "ahead", "right"]


def test_the_four_bars_of_the_worked_example():
    out = laws_figure(P, Q, TOKENS)
    assert [list(bar.y) for bar in out.data[:2]] == [P.tolist(), Q.tolist()]
    assert list(out.data[2].y) == [0.2, 0.3, 0.2] and list(out.data[3].y) == [1, 0, 0]
    assert out.layout.title.text == "The two laws share 0.70: acceptance = 1 - TV = 1 - 0.30"
    assert len({bar.marker.pattern.shape for bar in out.data}) == 4, "never by colour alone"
    assert out.data[0].marker.color == COLOURS["target"] and out.data[1].marker.color == COLOURS["draft"]


def test_every_rule_has_its_law_beside_the_true_one():
    out = produced_figure("a finding", P.tolist(), {"wrong": [0.4, 0.6, 0.0], "right": P.tolist()}, TOKENS)
    assert [bar.name for bar in out.data] == ["p, the target's law", "wrong", "right"]
    assert list(out.data[1].y) == [0.4, 0.6, 0.0] and out.layout.title.text == "a finding"
    assert len({bar.marker.pattern.shape for bar in out.data}) == 3
    assert [bar.marker.color for bar in out.data] == [COLOURS[name] for name in ("target", "rejected", "accepted")]


def test_shares_carry_their_luck():
    out = frequencies_figure("a finding", P.tolist(), [0.03, 0.02, 0.01], {"one": [0.5, 0.3, 0.2], "two": [0.4, 0.4, 0.2]}, TOKENS)
    assert [list(points.error_y.array) for points in out.data[1:]] == [[0.03, 0.02, 0.01]] * 2
    assert out.data[1].marker.symbol != out.data[2].marker.symbol
    assert out.layout.xaxis.type == "category", "a token such as '1' is no number"


def test_alpha_says_where_it_is_highest_and_leaves_out_what_was_not_guessed():
    out = alpha_figure({"code": {0.0: 0.8, 1.0: 0.7, 2.0: 0.4}, "story": {0.0: 0.2, 1.0: 0.3, 2.0: 0.25}}, {0.0: 0.9, 1.0: None})
    assert out.layout.title.text == "code: alpha is 0.80 at temperature 0, and 0.40 at 2"
    assert list(out.data[1].y) == [0.2, 0.3, 0.25] and out.data[0].line.dash != out.data[1].line.dash
    assert list(out.data[2].x) == [0.0] and list(out.data[2].y) == [0.9]


def test_figures_are_plain_lists():
    for out in (laws_figure(P, Q, TOKENS), produced_figure("a", P.tolist(), {"b": Q.tolist()}, TOKENS)):
        assert all("bdata" not in json.dumps(trace) for trace in json.loads(out.to_json())["data"])


@pytest.mark.parametrize("p, q", [(P, torch.tensor([1.0, 0, 0], dtype=torch.float64)), (P, P)])
def test_laws_at_the_edges_are_drawn(p, q):
    laws_figure(p, q, TOKENS)
