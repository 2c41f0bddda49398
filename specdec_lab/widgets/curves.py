"""Pictures of chapter 4: logs, curves with what was measured on them, the map of the best k, estimates and their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import plotly.graph_objects as go
from IPython.display import HTML

from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import EXPECTED, MEASURED, tint

Points = tuple[Sequence[float], Sequence[float]]
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up")
CELL = "border:1px solid #8888;padding:3px 14px;text-align:center"


def log_view(accepted: Sequence[int], k: int) -> HTML:
    """Rounds as a table: ✓ for a guess that stood, ✗ for one that was tested and failed, · for one that nobody tested."""
    rows = [["round", *(f"guess {i}" for i in range(1, k + 1))]]
    rows += [[str(n), *("✓" if i < a else "✗" if i == a else "·" for i in range(k))] for n, a in enumerate(accepted, 1)]
    marks = {"✓": "accepted", "✗": "rejected"}

    def cell(text: str) -> str:
        background = f";background:{tint(marks[text])}" if text in marks else ""
        return f'<td style="{CELL}{background}">{text}</td>'

    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    legend = "✓ stood &nbsp; ✗ tested, and failed &nbsp; · behind a failure, never tested"
    return HTML(f'<table style="border-collapse:collapse">{body}</table><p>{legend}</p>')


def curves_figure(
    title: str,
    x: str,
    y: str,
    expected: Mapping[str, Points],
    measured: Mapping[str, Points] | None = None,
    marked: Mapping[str, Points] | None = None,
    level: float | None = None,
) -> go.Figure:
    """Grey lines for what is expected, each with its name at its end; black marks for what was measured, of the same order.

    marked: points on the lines to look at, as stars. level: a dotted line across, such as plain decoding at 1.
    """
    out = figure(title, x, y)
    for (name, (xs, ys)), dash in zip(expected.items(), cycle(DASHES), strict=False):
        line = {"color": EXPECTED, "width": 2.5, "dash": dash}
        out.add_scatter(x=list(xs), y=list(ys), name=name, mode="lines", line=line)
        out.add_annotation(x=xs[-1], y=ys[-1], text=name, showarrow=False, xanchor="left", xshift=6)
    for (name, (xs, ys)), symbol in zip((measured or {}).items(), cycle(SYMBOLS), strict=False):
        out.add_scatter(x=list(xs), y=list(ys), name=name, mode="markers", marker={"color": MEASURED, "symbol": symbol, "size": 10})
    for name, (xs, ys) in (marked or {}).items():
        marker = {"color": "#FFFFFF", "symbol": "star", "size": 14, "line": {"color": MEASURED, "width": 1.5}}
        out.add_scatter(x=list(xs), y=list(ys), name=name, mode="markers", marker=marker)
    if level is not None:
        out.add_hline(y=level, line={"color": "#888", "dash": "dot"})
    out.update_layout(margin={"r": 110})
    return out


def best_k_figure(p: Sequence[float], c: Sequence[float], k: Sequence[Sequence[int]], gain: Sequence[Sequence[float]]) -> go.Figure:
    """The best k (rows as in c, columns as in p) and the speedup it reaches, as a heat map with its numbers written in."""
    most = max(max(row) for row in gain)
    out = figure(
        f"The better and the cheaper the draft, the longer it should be: up to {most:.1f} times faster",
        "p, the chance that a tested guess stands",
        "c, a drafted token in plain steps",
    )
    text = [[f"k = {n}<br>{g:.2f}x" for n, g in zip(*rows, strict=True)] for rows in zip(k, gain, strict=True)]
    out.add_heatmap(
        x=[str(value) for value in p],
        y=[str(value) for value in c],
        z=[[float(g) for g in row] for row in gain],
        text=text,
        texttemplate="%{text}",
        textfont={"color": "black"},
        colorscale=[[0, "#FFFFFF"], [1, "#F0E442"]],  # light throughout, so that the numbers can be read
        colorbar={"title": "speedup"},
    )
    out.update_xaxes(type="category")
    out.update_yaxes(type="category", autorange="reversed")
    return out


def estimates_figure(rounds: Sequence[int], means: Sequence[float], errors: Sequence[float], truth: float) -> go.Figure:
    """Tokens a round from so many simulated rounds, with two standard errors each way, against the formula."""
    out = figure(
        f"Over {rounds[0]} rounds luck decides; over {rounds[-1]:,} it hardly counts",
        "rounds played",
        "tokens a round",
    )
    out.add_scatter(x=[rounds[0], rounds[-1]], y=[truth, truth], name="formula", mode="lines", line={"color": EXPECTED, "width": 3})
    bars = {"type": "data", "array": [2 * e for e in errors], "color": MEASURED}
    marker = {"color": MEASURED, "size": 9}
    out.add_scatter(x=list(rounds), y=list(means), error_y=bars, name="dice, ± 2 standard errors", mode="markers", marker=marker)
    out.update_xaxes(type="log", dtick=1)
    return out
