"""Pictures of the ladder: every drafter on every kind of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go
from IPython.display import HTML

from specdec_lab.measure.ladder import Rung
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import EXPECTED, MEASURED

COLUMNS = {
    "text": "",
    "drafter": "",
    "tokens a pass": "mean acceptance length",
    "alpha": "accepted / tested, give or take a standard error; in a tree, siblings are tested for one place and count once",
    "c": "drafting one token, in plain steps; none where nothing was drafted",
    "drafting": "drafting a round, in plain steps",
    "verify": "a target pass over the draft and one token more, in plain steps",
    "predicted": "speedup, from the parts",
    "measured": "speedup, by the clock; ✗ where it is below 1, ★ for the fastest on this kind of text",
    "same text": "whether the text is plain decoding's, token for token",
}
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "cross",
    "x",
    "triangle-up",
    "triangle-down",
    "star",
    "hexagon",
    "bowtie",
    "pentagon",
    "hourglass",
)


def ladder_table(rungs: Sequence[Rung]) -> HTML:
    """A row a run; in each kind of text the fastest is marked, and whatever is slower than plain decoding."""
    best = fastest(rungs)
    head = "".join(f'<th title="{escape(what)}" style="padding:2px 7px;text-align:right">{name}</th>' for name, what in COLUMNS.items())
    rows = ""
    for i, rung in enumerate(rungs):
        line = ";border-top:2px solid #8888" if i and rungs[i - 1].workload != rung.workload else ""
        cells = "".join(
            f'<td style="padding:1px 7px;text-align:right;white-space:nowrap{line}">{escape(text)}</td>' for text in _row(rung, best)
        )
        rows += f"<tr>{cells}</tr>"
    return HTML(f'<table style="border-collapse:collapse"><tr>{head}</tr>{rows}</table>')


def fastest(rungs: Sequence[Rung]) -> dict[str, Rung]:
    """By kind of text: the run with the highest measured speedup."""
    best: dict[str, Rung] = {}
    for rung in rungs:
        if rung.workload not in best or rung.run.speedup > best[rung.workload].run.speedup:
            best[rung.workload] = rung
    return best


def _row(rung: Rung, best: Mapping[str, Rung]) -> list[str]:
    run, m = rung.run, rung.run.metrics
    mark = "★ " if best[rung.workload] is rung else "✗ " if run.speedup < 1 else ""
    return [
        rung.workload,
        rung.drafter,
        f"{m.mean_acceptance_length:.2f}",
        "none" if m.alpha is None else f"{m.alpha:.2f} ± {m.alpha_error:.2f}",
        "none" if run.c is None else f"{run.c:.3f}",
        f"{rung.drafting:.2f}",
        f"{run.verify:.2f}",
        f"{run.predicted_speedup:.2f}",
        f"{mark}{run.speedup:.2f}",
        "yes" if run.identical_to_baseline else "NO",
    ]


def ladder_figure(rungs: Sequence[Rung]) -> go.Figure:
    """Measured speedups as a heat map, drafters by kinds of text, with the predicted ones in brackets."""
    texts, drafters = (list(dict.fromkeys(names)) for names in ([r.workload for r in rungs], [r.drafter for r in rungs]))
    at = {(r.drafter, r.workload): r.run for r in rungs}
    best = [f"{text}: {rung.drafter} {rung.run.speedup:.2f}x" for text, rung in fastest(rungs).items()]
    title = "<br>".join(", ".join(best[i : i + 2]) for i in range(0, len(best), 2))
    out = figure(f"Fastest on<br>{title}", "kind of text", "drafter")
    runs = [[at.get((drafter, text)) for text in texts] for drafter in drafters]
    out.add_heatmap(
        x=texts,
        y=drafters,
        z=[[run and float(run.speedup) for run in row] for row in runs],
        text=[
            [f"{'✗ ' * (run.speedup < 1)}{run.speedup:.2f}x ({run.predicted_speedup:.2f})" if run else "" for run in row] for row in runs
        ],
        texttemplate="%{text}",
        textfont={"color": "black"},
        colorscale=[[0, "#FFFFFF"], [1, "#F0E442"]],  # light throughout, so that the numbers can be read
        colorbar={"title": "speedup"},
    )
    out.update_yaxes(autorange="reversed")
    out.update_layout(height=190 + 34 * len(drafters), margin={"l": 120, "t": 60 + 20 * len(best) // 2})
    return out


def price_figure(rungs: Sequence[Rung]) -> go.Figure:
    """What a round of each drafter brings against what it costs, on one kind of text; a steeper line is a higher speedup."""
    by_parts = max(rungs, key=lambda rung: rung.run.predicted_speedup)
    brings = by_parts.run.metrics.mean_acceptance_length or 0.0
    out = figure(
        f"{by_parts.workload}: {by_parts.drafter} brings most for its price, {brings:.2f} tokens for {by_parts.round_cost:.2f} steps",
        "what a round costs, in plain steps: pass, drafting, bookkeeping",
        "what it brings: tokens a pass",
    )
    most = 1.08 * max(r.round_cost for r in rungs)
    for gain, dash in ((1.0, "solid"), (by_parts.run.predicted_speedup, "dot")):
        line = {"color": EXPECTED, "width": 2, "dash": dash}
        out.add_scatter(x=[0, most], y=[0, gain * most], name=f"speedup {gain:.2f}", mode="lines", line=line)
    marker = {"color": "#FFFFFF", "symbol": "circle", "size": 11, "line": {"color": MEASURED, "width": 1.5}}
    out.add_scatter(x=[1], y=[1], name="plain decoding", mode="markers", marker={**marker, "symbol": "circle-open", "color": MEASURED})
    for rung, symbol in zip(rungs, SYMBOLS, strict=False):
        marker = {"color": MEASURED, "symbol": symbol, "size": 11}
        out.add_scatter(x=[rung.round_cost], y=[rung.run.metrics.mean_acceptance_length], name=rung.drafter, mode="markers", marker=marker)
    top = 1.1 * max(rung.run.metrics.mean_acceptance_length or 0.0 for rung in rungs)
    out.update_xaxes(range=[0.9, most])
    out.update_yaxes(range=[0.8, top])
    out.update_layout(height=480, legend={"y": -0.2})
    return out
