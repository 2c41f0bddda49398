"""Pictures of comparisons of plain and speculative runs, each by its workload and temperature."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from statistics import median

import plotly.graph_objects as go
from IPython.display import HTML

from specdec_lab.measure.compare import Comparison
from specdec_lab.measure.workloads import milliseconds_per_token
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED

Runs = Mapping[tuple[str, float], Comparison]  # by workload and temperature

COLUMNS = {
    "workload": "",
    "temp.": "temperature",
    "tokens": "written by the speculative run",
    "rate": "acceptance rate: accepted / drafted",
    "alpha": "accepted / tested, give or take a standard error",
    "tokens a pass": "mean acceptance length",
    "verify": "a target pass, in plain steps",
    "c": "drafting one token, in plain steps",
    "predicted": "speedup, from the parts",
    "measured": "speedup, by the clock; ✗ where it is below 1",
    "efficiency": "measured / predicted",
}
PARTS = {
    "target": ("target passes and verdicts", COLOURS["target"], ""),
    "drafting": ("drafting", COLOURS["draft"], "/"),
    "bookkeeping": ("bookkeeping", EXPECTED, "x"),
}
SHAPES = ("circle", "square", "diamond", "cross", "triangle-up", "star", "hexagon", "x")


def runs_table(runs: Runs) -> HTML:
    """A row a comparison; a speedup below 1 is marked."""
    head = "".join(f'<th title="{escape(what)}" style="padding:2px 7px;text-align:right">{name}</th>' for name, what in COLUMNS.items())
    rows = "".join(f"<tr>{''.join(map(_cell, _row(*at, run)))}</tr>" for at, run in runs.items())
    return HTML(f'<table style="border-collapse:collapse"><tr>{head}</tr>{rows}</table>')


def _row(workload: str, temperature: float, run: Comparison) -> list[str]:
    m = run.metrics
    alpha = "none" if m.alpha is None else f"{m.alpha:.2f} ± {m.alpha_error:.2f}"
    return [
        workload,
        f"{temperature:g}",
        str(m.tokens),
        _number(m.acceptance_rate),
        alpha,
        _number(m.mean_acceptance_length),
        _number(run.verify),
        _number(run.c),
        _number(run.predicted_speedup),
        ("✗ " if run.speedup < 1 else "") + _number(run.speedup),
        _number(run.efficiency),
    ]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _cell(text: str) -> str:
    return f'<td style="padding:2px 7px;text-align:right;white-space:nowrap">{escape(text)}</td>'


def acceptance_figure(runs: Runs) -> go.Figure:
    """alpha by workload, a bar a temperature, with its standard error."""
    known = {at: run.metrics for at, run in runs.items() if run.metrics.alpha is not None}
    low, high = (pick(m.alpha or 0.0 for m in known.values()) for pick in (min, max))
    title = f"alpha goes from {low:.2f} to {high:.2f}; two that differ by less than three error bars are not told apart"
    out = figure(title, "workload", "alpha, the share of tested tokens that stood")
    temperatures = sorted({temperature for _, temperature in known})
    for i, t in enumerate(temperatures):
        here = {workload: m for (workload, temperature), m in known.items() if temperature == t}
        alphas = [m.alpha for m in here.values()]
        out.add_bar(
            x=list(here),
            y=alphas,
            error_y={"type": "data", "array": [m.alpha_error for m in here.values()], "color": EXPECTED, "width": 3},
            name=f"temperature {t:g}",
            text=[f"{alpha:.2f}" for alpha in alphas],
            textposition="inside",
            insidetextanchor="start",
            marker={
                "color": COLOURS["draft"],
                "opacity": 1 - 0.6 * i / max(len(temperatures) - 1, 1),
                "pattern": {"shape": ("", "/", ".")[i % 3]},
            },
        )
    out.update_layout(barmode="group", width=820)
    out.update_yaxes(range=[0, 1])
    return out


def time_figure(runs: Runs) -> go.Figure:
    """Milliseconds a token, stacked by part, and those of plain decoding."""
    labels = [f"{workload} {temperature:g}" for workload, temperature in runs]
    spent = [milliseconds_per_token(run) for run in runs.values()]
    lose = sum(run.speedup < 1 for run in runs.values())
    title = f"Where the time goes: {lose} of {len(runs)} runs took longer than plain decoding"
    out = figure(title, "workload and temperature", "milliseconds a token")
    for part, (name, colour, pattern) in PARTS.items():
        marker = {"color": colour, "pattern": {"shape": pattern}}
        out.add_bar(x=labels, y=[parts[part] for parts in spent], name=name, marker=marker)
    out.add_scatter(
        x=labels,
        y=[parts["plain"] for parts in spent],
        name="plain decoding",
        mode="markers",
        marker={"color": MEASURED, "symbol": "line-ew-open", "size": 26, "line": {"width": 3}},
    )
    out.update_layout(barmode="stack", width=820, legend={"y": -0.4})
    return out


def prediction_figure(runs: Runs) -> go.Figure:
    """Measured against predicted speedup, with the diagonal on which they are equal."""
    apart = [abs(run.efficiency - 1) for run in runs.values()]
    title = f"Half of the runs are within {median(apart):.0%} of what their parts add up to, all within {max(apart):.0%}"
    out = figure(title, "predicted speedup (the darker a mark, the higher the temperature)", "measured speedup")
    values = [value for run in runs.values() for value in (run.predicted_speedup, run.speedup)]
    low, high = 0.95 * min(values), 1.05 * max(values)
    out.add_scatter(x=[low, high], y=[low, high], name="as predicted", mode="lines", line={"color": EXPECTED, "width": 2})
    for i, workload in enumerate(dict.fromkeys(workload for workload, _ in runs)):
        here = {t: run for (name, t), run in runs.items() if name == workload}
        out.add_scatter(
            x=[run.predicted_speedup for run in here.values()],
            y=[run.speedup for run in here.values()],
            text=[f"{workload}, temperature {t:g}" for t in here],
            name=workload,
            mode="markers",
            marker={
                "color": [f"rgba(0,0,0,{min(t, 1):g})" for t in here],
                "symbol": SHAPES[i % len(SHAPES)],
                "size": 11,
                "line": {"color": MEASURED, "width": 1.5},
            },
        )
    even = {"color": "#888", "dash": "dot"}
    out.add_hline(y=1, line=even)
    out.add_vline(x=1, line=even)
    out.update_layout(height=480)
    return out
