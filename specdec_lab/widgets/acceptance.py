"""Acceptance by kind of text and temperature; and behind each number its positions, its words, and the k that it calls for."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
import plotly.graph_objects as go
from ipywidgets import HTML

from specdec_lab.errors import UserError
from specdec_lab.measure.compare import Comparison
from specdec_lab.measure.cost import CostCurve
from specdec_lab.theory.closed_forms import acceptance_rate, expected_accepted, optimal_k, speedup
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, choice
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED
from specdec_lab.widgets.runs import Runs
from specdec_lab.widgets.still import still

At = tuple[str, float]  # workload and temperature
PALE = "rgba(102,102,102,0.15)"
LIGHT = [[0, "#FFFFFF"], [1, "#E2B6D1"]]  # of the draft's colour, light throughout, so that the numbers can be read


def acceptance_explorer(runs: Runs, curve: CostCurve | None = None, at: At | None = None) -> Explorer:
    """A heat map of alpha; and for a chosen run its acceptance by position, what its numbers mean, and which k to draft.

    runs: of chains, as a chapter's table has them; some may be missing yet. curve: the pass over 1 to n tokens, as `cost_curve`
    timed it: without it the pass is known at the k of the run alone, and only that k is priced. at: the run to begin with.
    Raises UserError for no runs.
    """
    if not runs:
        raise UserError("There is no run to show; run the cell that fills the table first.")
    at = at or next(iter(runs))
    workload = choice("kind of text", list(dict.fromkeys(name for name, _ in runs)), at[0])
    temperature = choice("temperature", [(f"{t:g}", t) for t in sorted({t for _, t in runs})], at[1])
    overview = Picture(alpha_map(runs, at), "Heat map of alpha: kinds of text down, temperatures across")
    positions = Picture(positions_figure(runs, at), "Acceptance by position in the draft, marginal and conditional")
    advice = Picture(advice_figure(runs, at, curve), "Expected speedup by draft length") if curve else None
    words = HTML()

    def draw() -> None:
        here = (workload.value, temperature.value)
        overview.show(alpha_map(runs, here))
        positions.show(positions_figure(runs, here))
        if advice and curve:
            advice.show(advice_figure(runs, here, curve))
        words.value = _words(runs, here, curve)

    explorer = Explorer("Acceptance by kind of text and temperature")
    explorer.react(draw, workload, temperature)
    parts = (overview, workload, temperature, positions, words, *([advice] if advice else []))
    return explorer.of(*parts, still=_still(runs, at, overview, positions, words.value))


def alpha_map(runs: Runs, at: At) -> go.Figure:
    """alpha and its standard error, a cell a run; a frame around the one that is looked at."""
    return alpha_cells({place: (run.metrics.alpha, run.metrics.alpha_error) for place, run in runs.items()}, at)


def alpha_cells(cells: Mapping[At, tuple[float | None, float | None]], at: At) -> go.Figure:
    """The same of alphas and their errors, wherever they come from."""
    texts, temperatures = list(dict.fromkeys(name for name, _ in cells)), sorted({t for _, t in cells})
    found = [[cells.get((text, t), (None, None)) for t in temperatures] for text in texts]
    known = [alpha for row in found for alpha, _ in row if alpha is not None]
    title = f"alpha goes from {min(known):.2f} to {max(known):.2f}" if known else "Nothing was drafted, so there is no alpha"
    out = figure(f"{title}; two closer than three errors are not told apart", "temperature", "kind of text")
    out.add_heatmap(
        x=[f"{t:g}" for t in temperatures],
        y=texts,
        z=[[alpha for alpha, _ in row] for row in found],
        text=[
            [_with_error(*cell) if (text, t) in cells else "" for t, cell in zip(temperatures, row, strict=True)]
            for text, row in zip(texts, found, strict=True)
        ],
        texttemplate="%{text}",
        textfont={"color": "black", "size": 14},
        colorscale=LIGHT,
        zmin=0,
        zmax=1,
        colorbar={"title": "alpha"},
        hovertemplate="%{y}, temperature %{x}: alpha %{text}<extra></extra>",
    )
    column, row = temperatures.index(at[1]), texts.index(at[0])
    frame = {"color": MEASURED, "width": 4}
    out.add_shape(type="rect", x0=column - 0.49, x1=column + 0.49, y0=row - 0.47, y1=row + 0.47, line=frame)
    out.update_xaxes(type="category")
    out.update_yaxes(type="category", autorange="reversed")
    out.update_layout(height=130 + 36 * len(texts), margin={"l": 110 if max(map(len, texts)) < 13 else 150})
    return out


def positions_figure(runs: Runs, at: At) -> go.Figure:
    """Per position of the draft: the share of rounds in which it stood, and of those in which it was tested; with the counts, and
    grey what one and the same alpha at every position would make of them."""
    run = runs.get(at)
    alpha, k = (run.metrics.alpha, len(run.metrics.drafted_at)) if run else (None, 0)
    places = list(range(1, k + 1))
    out = figure(_positions_title(run, at, k), "position in the draft", "share that stood")
    equal = [] if alpha is None else np.diff(expected_accepted(np.arange(k + 1), alpha)).tolist()
    for name, y, dash in (
        ("if each stood with alpha: out of all drafted", equal, "solid"),
        ("if each stood with alpha: out of all tested", [alpha] * k if equal else [], "dot"),
    ):
        out.add_scatter(x=places, y=y, name=name, mode="lines", line={"color": EXPECTED, "dash": dash, "width": 2})
    m = run.metrics if run else None
    for name, stood, out_of, symbol, dash, colour, side in (
        ("marginal: stood, out of all drafted", m and m.marginal, m and m.drafted_at, "circle", "solid", "accepted", "bottom center"),
        ("conditional: stood, out of all tested", m and m.conditional, m and m.tested_at, "square", "dash", "draft", "top center"),
    ):
        out.add_scatter(
            x=places,
            y=list(stood or ()),
            text=[f"{a} of {n}" for a, n in zip(m.accepted_at, out_of, strict=True)] if m and out_of else [],
            name=name,
            mode="lines+markers+text",
            textposition=side,
            line={"color": COLOURS[colour], "dash": dash, "width": 3},
            marker={"color": MEASURED, "symbol": symbol, "size": 9},
        )
    out.update_xaxes(dtick=1, range=[0.6, max(k, 1) + 0.4])
    out.update_yaxes(range=[-0.12, 1.15])
    out.update_layout(height=430)
    return out


def _positions_title(run: Comparison | None, at: At, k: int) -> str:
    where = f"{at[0]} at temperature {at[1]:g}"
    if run is None:
        return f"{where}: not measured"
    if run.metrics.alpha is None:
        return f"{where}: nothing was drafted"
    return f"{where}: token {k} of a draft stood in {run.metrics.marginal[-1]:.2f} of the rounds that drafted it"


def advice_figure(runs: Runs, at: At, curve: CostCurve) -> go.Figure:
    """Speedup that alpha and the prices of a run lead to expect for each k whose pass was timed; k = 0 is plain decoding."""
    run = runs.get(at)
    alphas = _alphas(run)
    ks = list(range(_longest(curve) + 1)) if alphas else []
    low, gains, high = ([_expected(run, curve, k, alpha) for k in ks] for alpha in alphas or (0.0,) * 3)
    best = _best(run, curve, alphas[1]) if alphas else 0
    out = figure(_advice_title(run, at, best, gains), "k, tokens drafted a round", "speedup, in times plain decoding")
    line = {"color": EXPECTED, "width": 1, "dash": "dot"}
    out.add_scatter(
        x=ks + ks[::-1], y=high + low[::-1], name="alpha a standard error off", mode="lines", line=line, fill="toself", fillcolor=PALE
    )
    out.add_scatter(x=ks, y=gains, name="expected", mode="lines", line={"color": EXPECTED, "width": 3})
    star = {"color": COLOURS["bonus"], "symbol": "star", "size": 15}
    out.add_scatter(x=[best] if ks else [], y=gains[best : best + 1], name="best k expected", mode="markers", marker=star)
    dot = {"color": MEASURED, "symbol": "circle", "size": 10}
    measured = [(len(run.metrics.drafted_at), run.speedup)] if run and ks else []
    out.add_scatter(x=[k for k, _ in measured], y=[gain for _, gain in measured], name="measured", mode="markers", marker=dot)
    out.add_hline(y=1, line={"color": "#888", "dash": "dash"})
    out.update_xaxes(dtick=1)
    out.update_yaxes(rangemode="tozero")
    out.update_layout(height=380, showlegend=True)
    return out


def _advice_title(run: Comparison | None, at: At, best: int, gains: list[float]) -> str:
    where = f"{at[0]} at temperature {at[1]:g}"
    if run is None or not gains:
        return f"{where}: no alpha, no advice"
    return f"{where}: k = {best} is expected to be best, {gains[best]:.2f}x" if best else f"{where}: no k is expected to help"


def _words(runs: Runs, at: At, curve: CostCurve | None) -> str:
    run = runs.get(at)
    if run is None:
        return f"<p>{escape(at[0])} at temperature {at[1]:g} has not been measured.</p>"
    m = run.metrics
    if m.alpha is None or m.acceptance_rate is None:
        return "<p>Nothing was drafted in this run, so that there is neither a rate nor an alpha.</p>"
    tested, k = m.accepted + m.rejections, len(m.drafted_at)
    rows = (
        ("acceptance rate", "accepted / drafted", f"{m.accepted} / {m.drafted}", f"{m.acceptance_rate:.2f}"),
        ("alpha", "accepted / tested", f"{m.accepted} / {tested}", _with_error(m.alpha, m.alpha_error)),
        ("mean acceptance length", "tokens / target passes", f"{m.tokens} / {m.rounds}", f"{m.mean_acceptance_length:.2f}"),
    )
    table = "".join("<tr>" + "".join(f'<td style="padding:2px 9px">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    return (
        f'<div style="max-width:860px;line-height:1.5"><table>{table}</table>'
        f"<p>Of {m.drafted} drafted tokens {m.drafted - tested} were never tested: they stood behind a rejection, or behind the end of the "
        f"text. The rate counts them, alpha does not. If each tested token stood with alpha, the rate at k = {k} would be "
        f"{float(acceptance_rate(k, m.alpha)):.2f}.</p><p>{_advice(run, curve, k)}</p></div>"
    )


def _advice(run: Comparison, curve: CostCurve | None, k: int) -> str:
    prices = (
        f"In plain steps, a drafted token costs {run.c:.2f}, the pass over {k + 1} tokens {run.verify:.2f}, overhead {run.overhead:.2f}"
    )
    low, alpha, high = _alphas(run)
    if curve is None:
        gain = float(speedup(k, alpha, run.c or 0.0, run.verify, run.overhead))
        return (
            f"{prices}: alpha leads to expect {gain:.2f} times plain decoding. Only k = {k} was run, and a pass of another length has not "
            f"been timed. So there is no advice on another k here."
        )
    best, least, most = (_best(run, curve, a) for a in (alpha, low, high))
    told = f"With alpha a standard error lower the best k would be {least}, a standard error higher {most}. "
    ends = "" if best < _longest(curve) else f"No pass over more than {best + 1} tokens was timed; a longer draft may be better still. "
    draft = f"draft k = {best}, and expect {_expected(run, curve, best, alpha):.2f}x. " if best else "draft nothing here. "
    return f"{prices}. With the passes as timed for every k: {draft}{told}{ends}"


def _alphas(run: Comparison | None) -> tuple[float, ...]:
    """alpha, and before and after it a standard error off; nothing where nothing was drafted."""
    if run is None or run.metrics.alpha is None:
        return ()
    alpha, error = run.metrics.alpha, run.metrics.alpha_error or 0.0
    return max(alpha - error, 0.0), alpha, min(alpha + error, 1.0)


def _longest(curve: CostCurve) -> int:
    return int(max(curve.timings)) - 1


def _expected(run: Comparison | None, curve: CostCurve, k: int, alpha: float) -> float:
    assert run is not None
    return float(speedup(k, alpha, run.c or 0.0, curve.v(k + 1), run.overhead)) if k else 1.0


def _best(run: Comparison | None, curve: CostCurve, alpha: float) -> int:
    assert run is not None
    return int(optimal_k(alpha, run.c or 0.0, _longest(curve), curve.v, run.overhead))


def _with_error(value: float | None, error: float | None) -> str:
    return "none" if value is None else f"{value:.2f} ± {error:.2f}"


def _still(runs: Runs, at: At, overview: Picture, positions: Picture, words: str) -> str:
    """The map, and the positions of each kind of text at the chosen temperature."""
    slides = {text: positions_figure(runs, (text, t)) for text, t in runs if t == at[1]}
    return still(overview.figure, overview.alt) + still(positions.figure, positions.alt, slides, "kind of text") + words
