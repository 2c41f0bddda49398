"""Speedup against draft length for prices you can move, and for those of this machine as they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from specdec_lab.errors import UserError
from specdec_lab.measure.cost import CostCurve
from specdec_lab.measure.pair import time_pair
from specdec_lab.measure.traces import DraftStep, Measured, Trace, load_trace, recorded
from specdec_lab.models.loading import LoadedPair
from specdec_lab.theory import closed_forms
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, choice, slider
from specdec_lab.widgets.measured import Seen
from specdec_lab.widgets.palette import EXPECTED, MEASURED, tint
from specdec_lab.widgets.still import still

ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9)
DASHES = ("dot", "dash", "dashdot", "longdash", "longdashdot")
K_MAX = 20
P_GRID, K_GRID = [i / 10 for i in range(1, 11)], (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
FLAT, CURVE, NONE = "flat: the slider below", "v(k + 1) as measured", "none yet"
GREY = "#8885"  # what is neither model's


@dataclass
class Prices:
    """What a round costs, in plain steps; `curve` takes the place of the flat `verify` where it is given."""

    c: float
    verify: float = 1.0
    overhead: float = 0.0
    curve: CostCurve | None = None

    @property
    def k_max(self) -> int:
        """The longest draft whose price is known."""
        return K_MAX if self.curve is None else min(K_MAX, max(self.curve.timings, default=1) - 1)

    def v(self, n: int) -> float:
        return self.verify if self.curve is None else self.curve.v(n)


@dataclass
class Formulas:
    """The functions that are drawn: the package's, or a learner's own."""

    expected_tokens: Callable[..., Any] = closed_forms.expected_tokens
    speedup: Callable[..., Any] = closed_forms.speedup
    optimal_k: Callable[..., Any] = closed_forms.optimal_k

    def gain(self, k: int, p: float, prices: Prices) -> float:
        return 1.0 if k == 0 else float(self.speedup(k, p, prices.c, prices.v(k + 1), prices.overhead))

    def best(self, p: float, prices: Prices) -> int:
        return int(self.optimal_k(p, prices.c, prices.k_max, prices.v, prices.overhead))


def speedup_explorer(
    expected_tokens: Callable[..., Any] = closed_forms.expected_tokens,
    speedup: Callable[..., Any] = closed_forms.speedup,
    optimal_k: Callable[..., Any] = closed_forms.optimal_k,
    pair: LoadedPair | None = None,
    trace: Trace | None = None,
) -> Explorer:
    """Move p, k and the prices of a round; see its tokens and its cost as bars, the speedup against k, and the map over p and k.

    The functions draw everything: hand in your own. pair: what "Measure this machine" times; without one there is no such
    button. trace: what is shown as measured to begin with; the course's recorded ones are in the list.
    """
    formulas = Formulas(expected_tokens, speedup, optimal_k)
    explorer = Explorer("speedup explorer")
    p = slider("p, a tested guess stands", 0.8, 0.0, 1.0, 0.01)
    k = slider("k, tokens drafted", 5, 0, K_MAX)
    c = slider("c, a drafted token", 0.1, 0.0, 1.0, 0.005)
    kind = choice("verify, the target's pass", [FLAT, CURVE], FLAT)
    verify = slider("verify, if flat", 1.0, 0.8, 2.5, 0.05)
    overhead = slider("overhead of a round", 0.0, 0.0, 1.5, 0.05)
    kept = [load_trace(name) for name in recorded()] + ([trace] if trace else [])
    traces = {f"{one.label} ({one.pair}, {one.dtype})": one for one in kept}
    source = choice("measured points", [NONE, *traces], NONE)
    source.layout.width = "800px"
    seen, setting = Seen(), False
    bars, table = widgets.HTML(), widgets.HTML()

    def prices() -> Prices:
        curve = seen.curve if kind.value == CURVE else None
        if curve and len(curve.timings) < 2:
            raise UserError(f"No pass has been measured yet: choose recorded points, or {'press Measure' if pair else FLAT}.")
        return Prices(c.value, verify.value, overhead.value, curve)

    first = prices()
    curves = Picture(speedup_curves(formulas, p.value, k.value, first, seen), "Speedup against draft length")
    heat = Picture(speedup_map(formulas, p.value, k.value, first), "Speedup over p and draft length")

    def draw() -> None:
        if setting:
            return
        now = prices()
        bars.value = bars_of(formulas, p.value, min(k.value, now.k_max), now)
        curves.show(speedup_curves(formulas, p.value, k.value, now, seen))
        heat.show(speedup_map(formulas, p.value, k.value, now))

    def follow(pass_cost: str, chance: float) -> None:
        """Show what was measured so far; the controls snap to it, all of them before anything is drawn."""
        nonlocal setting
        table.value, setting = seen.table(), True
        kind.value, p.value = pass_cost, chance
        if seen.c is not None:
            c.value = round(seen.c / c.step) * c.step
        setting = False
        draw()

    def load() -> None:
        seen.clear()
        explorer.say("")
        if at := traces.get(source.value):
            seen.where, seen.events = at.label, list(at.events)
        follow(CURVE if at else FLAT, at.p if at else p.value)

    def steps() -> Iterator[str]:
        assert pair is not None
        source.value = NONE
        seen.where = "this machine"
        for event in time_pair(pair, p.value):
            if event is not None:
                seen.events.append(event)
                table.value = seen.table()
            if isinstance(event, DraftStep | Measured):  # not after each pass: drawing would take the processor from the next
                follow(CURVE if isinstance(event, Measured) else kind.value, p.value)
            yield seen.progress()

    explorer.react(draw, p, k, c, kind, verify, overhead)
    explorer.react(load, source)
    if trace:
        source.value = next(label for label, one in traces.items() if one is trace)
    buttons = [explorer.measure("Measure this machine", steps)] if pair else []
    slides = {f"{x:.2f}": speedup_curves(formulas, x, 5, Prices(0.1), Seen()) for x in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)}
    picture = still(slides["0.80"], "Speedup against draft length for five values of p at c = 0.1", slides, "p =")
    return explorer.of(p, k, c, kind, verify, overhead, source, *buttons, bars, curves, table, heat, still=picture)


def speedup_curves(formulas: Formulas, p: float, k: int, prices: Prices, seen: Seen) -> go.Figure:
    """Speedup against k: grey lines for round values of p, a black one for the chosen, stars at the best k, marks for what was measured."""
    ks, best = list(range(prices.k_max + 1)), formulas.best(p, prices)
    top = formulas.gain(best, p, prices)
    finding = f"the best k is {best}: {top:.2f}x" if best else "no draft length helps"
    out = figure(f"At p = {p:.2f} and c = {prices.c:.3g} {finding}", "k, tokens drafted a round", "speedup over plain decoding")
    stars = []
    for alpha, dash in zip(ALPHAS, DASHES, strict=True):
        gains = [formulas.gain(n, alpha, prices) for n in ks]
        out.add_scatter(
            x=ks, y=gains, name=f"p = {alpha}", mode="lines", line={"color": EXPECTED, "width": 1.5, "dash": dash}, showlegend=False
        )
        out.add_annotation(x=ks[-1], y=gains[-1], text=f"p = {alpha}", showarrow=False, xanchor="left", xshift=6)
        stars.append(max(range(len(ks)), key=lambda n: gains[n]))
    chosen = [formulas.gain(n, p, prices) for n in ks]
    out.add_scatter(x=ks, y=chosen, name=f"p = {p:.2f}, chosen", mode="lines", line={"color": MEASURED, "width": 3})
    shown = ([*stars, best], [*(formulas.gain(n, a, prices) for n, a in zip(stars, ALPHAS, strict=True)), top])
    _marks(out, "best k", *shown, "star", "#FFFFFF", 13)
    at = min(k, prices.k_max)
    _marks(out, f"your k = {k}", [at], [formulas.gain(at, p, prices)], "circle-open", MEASURED, 16)
    _marks(out, "predicted for a run's own alpha", [r.k for r in seen.runs], [r.predicted for r in seen.runs], "x", EXPECTED, 10)
    for name, symbol, of in (("synthetic", "circle", "coin flips at p"), ("real", "square", "the draft itself")):
        runs = [run for run in seen.runs if run.acceptance == name]
        _marks(out, f"measured, {of}", [run.k for run in runs], [run.measured for run in runs], symbol, MEASURED, 10)
    out.add_hline(y=1, line={"color": "#888", "dash": "dot"})
    out.update_layout(width=860, height=480, margin={"r": 80})
    return out


def speedup_map(formulas: Formulas, p: float, k: int, prices: Prices) -> go.Figure:
    """Speedup over p and k as a heat map with its numbers written in, losses marked, and a ring at the chosen point."""
    ks = [n for n in K_GRID if n <= prices.k_max]
    gains = [[formulas.gain(n, x, prices) for x in P_GRID] for n in ks]
    lost = sum(gain < 1 for row in gains for gain in row)
    title = f"Drafting loses in {lost} of {len(ks) * len(P_GRID)} fields (✗)"
    out = figure(title, "p, the chance that a tested guess stands", "k, tokens drafted a round")
    rows = list(range(len(ks)))
    out.add_heatmap(
        x=P_GRID,
        y=rows,
        z=gains,
        zmin=0,
        zmax=2,
        text=[[f"{'✗ ' * (gain < 1)}{gain:.2f}" for gain in row] for row in gains],
        texttemplate="%{text}",
        textfont={"color": "black"},
        colorscale=[[0, tint("rejected", 0.7)], [0.5, "#FFFFFF"], [1, tint("accepted", 0.7)]],
        colorbar={"title": {"text": "speedup"}},
    )
    _marks(out, "chosen", [p], [float(np.interp(k, ks, rows))], "circle-open", MEASURED, 30)
    out.update_layout(width=860, height=400, showlegend=False)
    out.update_xaxes(tickvals=P_GRID, range=[0.05, 1.05])
    out.update_yaxes(tickvals=rows, ticktext=[str(n) for n in ks], range=[-0.5, len(ks) - 0.5])
    return out


def _marks(out: go.Figure, name: str, x: Sequence[float], y: Sequence[float], symbol: str, colour: str, size: int) -> None:
    marker = {"color": colour, "symbol": symbol, "size": size, "line": {"color": MEASURED, "width": 1.5}}
    out.add_scatter(x=list(x), y=list(y), name=name, mode="markers", marker=marker)


def bars_of(formulas: Formulas, p: float, k: int, prices: Prices) -> str:
    """What a round brings, in tokens, and what it costs, in plain steps: two bars of one scale."""
    spent = [("target", "target's pass", 1.0)]
    if k:
        drafting = float(closed_forms.round_cost(k, prices.c, 0.0))
        spent = [("target", "target's pass", prices.v(k + 1)), ("draft", "drafting", drafting), ("", "overhead", prices.overhead)]
    tokens = float(formulas.expected_tokens(k, p)) if k else 1.0
    gain, best = formulas.gain(k, p, prices), formulas.best(p, prices)
    brings = [("accepted", "guesses that stand", tokens - 1), ("bonus", "the target's own", 1.0)]
    widest = max(tokens, sum(size for *_, size in spent), 6.0)
    verdict = "faster" if gain > 1 else "slower" if gain < 1 else "as fast as plain decoding"
    more = " (draft nothing)" if best == 0 else " or more" if best == prices.k_max else ""
    return (
        f"{_bar('brings, tokens', brings, widest)}{_bar('costs, plain steps', spent, widest)}"
        f'<p style="font-size:120%"><b>{gain:.2f}x</b>, {verdict}. The best k at these prices: <b>{best}</b>{more}.</p>'
    )


def _bar(title: str, parts: Sequence[tuple[str, str, float]], widest: float) -> str:
    """Parts of a bar, each (origin or "" for grey, name, size), with their names above it. `widest` fills 800 pixels."""
    shape = "display:inline-block;height:24px;border-right:1px solid #444"
    drawn, named = "", []
    for origin, name, size in parts:
        colour = f"background:{tint(origin, 0.6) if origin else GREY}"
        if size > 0:
            drawn += f'<span style="{shape};width:{800 * size / widest:.0f}px;{colour}"></span>'
        named.append(f'<span style="{colour};padding:0 6px">{name} {size:.2f}</span>')
    total = sum(size for *_, size in parts)
    return f'<div style="margin:8px 0;line-height:24px"><b>A round {title}: {total:.2f}</b> = {" + ".join(named)}<br>{drawn}</div>'
