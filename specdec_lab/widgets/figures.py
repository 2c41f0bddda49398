"""Pictures over numbers computed elsewhere, in one style."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio

from specdec_lab.theory.closed_forms import expected_tokens
from specdec_lab.widgets.palette import EXPECTED, MEASURED

_WHITE = pio.templates["plotly_white"].to_plotly_json()
# Only what is drawn here: plotly copies and checks all of a template for every figure, longer than the rest of a redraw takes.
TEMPLATE = {"layout": _WHITE["layout"], "data": {kind: _WHITE["data"][kind] for kind in ("bar", "heatmap", "scatter")}}


def figure(title: str, x: str, y: str) -> go.Figure:
    """An empty figure in the course's style; the title states the finding, the axes carry units."""
    layout = {
        "title": {"text": title, "font": {"size": 16}},
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
        "width": 760,
        "height": 420,
        "template": TEMPLATE,
        "margin": {"l": 60, "r": 20, "t": 60, "b": 50},
        "legend": {"orientation": "h", "y": -0.22},
        "modebar": {"remove": ["sendChartToCloud"]},  # plotly offers to upload every picture
    }
    return go.Figure(layout=layout)


def passes_figure(tokens: int, k: int, guessed: Mapping[float, float], measured: Mapping[float, int]) -> go.Figure:
    """Target passes for `tokens` tokens against the chance p that a guess stands: your guess (0 is none), the formula, the real runs."""
    fewest = -(-tokens // (k + 1))
    out = figure(
        f"No draft needs more than {tokens} passes; a perfect one needs {fewest}",
        "p, the chance that a drafted token stands",
        f"target passes for {tokens} tokens",
    )
    p = np.linspace(0, 1, 101)
    formula = (tokens / expected_tokens(k, p)).tolist()
    out.add_scatter(x=p.tolist(), y=formula, name="formula", line={"color": EXPECTED, "width": 3})
    guesses = {at: guess for at, guess in guessed.items() if guess}
    marker = {"color": EXPECTED, "symbol": "x", "size": 9}
    out.add_scatter(x=list(guesses), y=list(guesses.values()), name="your prediction", mode="markers", marker=marker)
    marker = {"color": MEASURED, "symbol": "circle", "size": 10}
    out.add_scatter(x=list(measured), y=list(measured.values()), name="measured", mode="markers", marker=marker)
    for y in (fewest, tokens):
        out.add_hline(y=y, line={"color": "#888", "dash": "dot"})
    out.update_yaxes(rangemode="tozero")
    return out
