"""A run while it goes on, and pictures of comparisons of plain and speculative runs, each by its workload and temperature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from statistics import median

import plotly.graph_objects as go
from IPython.display import HTML, display

from specdec_lab.engine import Generation, Metrics, Round
from specdec_lab.engine.stopping import Decoder
from specdec_lab.measure.compare import Comparison, milliseconds_per_token
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED, tint
from specdec_lab.widgets.tokens import token_view

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


def watch_run(rounds: Iterable[Round], decoder: Decoder, beside: Sequence[Round] = ()) -> list[Round]:
    """Follow a run of `engine.stream` to its end: its text, its acceptance and what a token takes, drawn anew with each round.

    beside: rounds of another run, plain decoding's say, to compare with. A round is timed where it runs, so that no drawing is in it.
    """
    seen: list[Round] = []
    shown = display(HTML(_so_far(seen, decoder, beside)), display_id=True)
    for r in rounds:
        seen.append(r)
        shown.update(HTML(_so_far(seen, decoder, beside)))
    return seen


def _so_far(rounds: Sequence[Round], decoder: Decoder, beside: Sequence[Round]) -> str:
    if not rounds:
        return "<p>Reading the prompt …</p>"
    m = Metrics.of(rounds)
    tokens = tuple(token for r in rounds for token in r.emitted)
    text = token_view(Generation((), tokens, tuple(rounds), "length", None, 0.0), decoder).data
    alpha = "" if m.alpha is None else f", alpha {m.alpha:.2f} ± {m.alpha_error:.2f} ({m.accepted} of {m.accepted + m.rejections} stood)"
    bars = [("a token of this run", _spent(rounds)), *([("a token of the other", _spent(beside))] if beside else [])]
    longest = max(sum(parts.values()) for _, parts in bars)
    return (
        f"{text}<p>{m.rounds} passes, {m.tokens} tokens: <b>{m.mean_acceptance_length:.2f} tokens a pass</b>{alpha}</p>"
        f"{''.join(_bar(name, parts, longest) for name, parts in bars)}"
    )


def _spent(rounds: Sequence[Round]) -> dict[str, float]:
    """Milliseconds a token, by part."""
    target, drafting, whole = (sum(getattr(r, f"{part}seconds") for r in rounds) for part in ("verify_", "draft_", ""))
    tokens = sum(len(r.emitted) for r in rounds)
    return {part: 1000 * s / tokens for part, s in (("target", target), ("drafting", drafting), ("bookkeeping", whole - target - drafting))}


def _bar(title: str, parts: Mapping[str, float], longest: float) -> str:
    """`longest` milliseconds fill 600 pixels."""
    fills = {"target": tint("target", 0.6), "drafting": tint("draft", 0.6), "bookkeeping": "#88888899"}
    drawn = "".join(
        f'<span style="display:inline-block;height:20px;width:{600 * ms / longest:.0f}px;background:{fills[part]}"></span>'
        for part, ms in parts.items()
    )
    named = " + ".join(
        f'<span style="background:{fills[part]};padding:0 5px">{name} {parts[part]:.1f}</span>' for part, (name, *_) in PARTS.items()
    )
    return f'<div style="margin:6px 0;line-height:22px"><b>{title}: {sum(parts.values()):.1f} ms</b> = {named}<br>{drawn}</div>'


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
