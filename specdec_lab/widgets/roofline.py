"""Chapter 1's pictures: what a pass takes, against the bound that bytes and FLOP set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import sleep

import plotly.graph_objects as go
from IPython.display import clear_output, display

from specdec_lab.measure.cost import CostCurve, Pass
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED

REST = 0.3  # seconds in which a browser draws: it may not take the processor from the next timing


def watch_passes(passes: Iterable[Pass], draw: Callable[[CostCurve], go.Figure]) -> CostCurve:
    """The cost curve of timed passes; it is drawn anew whenever a sweep over the lengths is complete, and once at the end.

    The output of the cell is replaced each time, so a cell should show nothing else.
    """
    seen: list[Pass] = []
    for timed in passes:
        if seen and timed.tokens <= seen[-1].tokens:  # the first of the next sweep
            _replace(draw(CostCurve.of(seen)))
        seen.append(timed)
    curve = CostCurve.of(seen)
    _replace(draw(curve))
    return curve


def _replace(picture: go.Figure) -> None:
    clear_output(wait=True)
    display(picture)
    sleep(REST)


def pass_figure(
    bound: Mapping[int, float],
    measured: CostCurve,
    guessed: Mapping[int, float] | None = None,
    products: Mapping[int, float] | None = None,
) -> go.Figure:
    """Milliseconds of a pass against its tokens: the bound, your guess (0 is none), the matrix products alone, whole passes.

    bound and products are in seconds, guessed in milliseconds.
    """
    many = max((n for n in measured.timings if n <= 8), default=1)
    title = f"A pass over {many} tokens takes {measured.v(many):.1f} times as long as one over a single token"
    out = figure(title, "n, tokens in the pass", "milliseconds")
    out.add_scatter(x=list(bound), y=[s * 1000 for s in bound.values()], name="bound", mode="lines", line={"color": EXPECTED, "width": 3})
    _points(out, "your prediction", {n: ms for n, ms in (guessed or {}).items() if ms}, EXPECTED, "x")
    _points(out, "matrix products alone", {n: s * 1000 for n, s in (products or {}).items()}, COLOURS["target"], "square-open", line=True)
    _points(out, "measured", measured.milliseconds, MEASURED, "circle", line=True)
    _logarithmic(out, list(measured.timings))
    out.update_yaxes(rangemode="tozero")
    return out


def batch_figure(
    n: int, predicted: Mapping[int, float], measured: Mapping[int, float], guessed: Mapping[int, float] | None = None
) -> go.Figure:
    """v(n), the cost of a pass over n tokens of every text in passes over one, against the number of texts."""
    few, many = min(measured), max(measured)
    title = f"Checking {n - 1} guesses costs {measured[few]:.1f} steps for {few} text, and {measured[many]:.1f} for {many} texts"
    out = figure(title, "texts in the pass", f"v({n}), in passes over one token a text")
    out.add_scatter(x=list(predicted), y=list(predicted.values()), name="predicted", mode="lines", line={"color": EXPECTED, "width": 3})
    _points(out, "your prediction", {b: v for b, v in (guessed or {}).items() if v}, EXPECTED, "x")
    _points(out, "measured", measured, MEASURED, "circle", line=True)
    out.add_hline(y=1, line={"color": "#888", "dash": "dot"}, annotation_text="free")
    out.add_hline(y=n, line={"color": "#888", "dash": "dot"}, annotation_text=f"as dear as {n} single tokens")
    _logarithmic(out, list(measured))
    out.update_yaxes(range=[0, n + 0.6])
    return out


def ridge_figure(costs: Mapping[str, Mapping[int, float]], ridges: Mapping[str, float], title: str) -> go.Figure:
    """Predicted v(n) of several machines by their names, and the tokens at which each begins to climb."""
    out = figure(title, "n, tokens in the pass", "v(n), in passes over one token")
    dashes = ("dot", "solid", "dash", "dashdot")
    for i, (name, cost) in enumerate(costs.items()):
        line = {"color": EXPECTED, "width": 3, "dash": dashes[i % len(dashes)]}
        label = f"{name}: flat up to {ridges[name]:.0f} tokens"
        out.add_scatter(x=list(cost), y=list(cost.values()), name=label, mode="lines", line=line)
    _logarithmic(out, [2**i for i in range(11)])
    out.update_yaxes(type="log", tickvals=[1, 2, 5, 10, 20, 50, 100, 200])
    return out


def _points(out: go.Figure, name: str, points: Mapping[int, float], colour: str, symbol: str, line: bool = False) -> None:
    if points:
        mode, thin = ("lines+markers" if line else "markers"), {"color": colour, "width": 1}
        marker = {"color": colour, "symbol": symbol, "size": 9}
        out.add_scatter(x=list(points), y=list(points.values()), name=name, mode=mode, marker=marker, line=thin)


def _logarithmic(out: go.Figure, ticks: list[int]) -> None:
    out.update_xaxes(type="log", tickvals=ticks, ticktext=[str(n) for n in ticks])
