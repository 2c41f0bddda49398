"""Chapter 9's pictures: drafts of too little capacity, alpha while a draft is trained, losses and texts compared, and the cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
from IPython.display import HTML, clear_output, display

from specdec_lab.training.cards import stated_alpha
from specdec_lab.training.loop import Progress
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED

LINES = (("dash", "square"), ("solid", "circle"), ("dot", "diamond"), ("dashdot", "cross"))
SHADES = ("#CC79A7", "#7A3E5E", "#000000", "#999999")
Fit = tuple[Sequence[float], float]  # a law, and its acceptance
CARD_COLUMNS = ("part", "learnt from", "trained", "alpha, held out", "c")


def humps_figure(p: Sequence[float], fits: Mapping[str, Fit]) -> go.Figure:
    """The target's law as bars, and the best draft of one hump under each loss."""
    best, worst = (pick(fits, key=lambda name: fits[name][1]) for pick in (max, min))
    title = f"One hump for two: {best} accepts {fits[best][1]:.2f}, {worst} {fits[worst][1]:.2f}"
    out = figure(title, "token, by number", "probability")
    out.add_bar(x=list(range(len(p))), y=list(p), name="p, the target", marker={"color": COLOURS["target"]})
    for (name, (q, acceptance)), (dash, symbol), shade in zip(fits.items(), LINES, SHADES, strict=False):
        out.add_scatter(
            x=list(range(len(q))),
            y=list(q),
            name=f"{name}: {acceptance:.2f}",
            mode="lines+markers",
            line={"color": shade, "dash": dash, "width": 2},
            marker={"color": shade, "symbol": symbol, "size": 6},
        )
    out.update_layout(width=860, legend={"y": -0.25})
    return out


def training_figure(seen: Sequence[Progress], before: float, guess: float = 0.0) -> go.Figure:
    """alpha on held-out answers against seconds of training, from `before` the first step; your guess for the end (0 is none)."""
    seconds, alphas = [0.0, *(at.seconds for at in seen)], [before, *(_first(at.alpha) for at in seen)]
    steps = f"{seen[-1].step} of {seen[-1].steps} steps" if seen else "no step yet"
    title = f"{steps}, {seconds[-1]:.0f} seconds: alpha went from {before:.2f} to {alphas[-1]:.2f}"
    out = figure(title, "seconds of training", "alpha on answers never trained on")
    line, marker = {"color": COLOURS["draft"], "width": 3}, {"color": MEASURED, "symbol": "circle", "size": 9}
    out.add_scatter(x=seconds, y=alphas, name="measured", mode="lines+markers", line=line, marker=marker)
    if guess:
        line = {"color": EXPECTED, "dash": "dot", "width": 2}
        out.add_scatter(x=[0.0, max(seconds[-1], 1.0)], y=[guess] * 2, name="your prediction for the end", mode="lines", line=line)
    out.update_xaxes(rangemode="tozero")
    out.update_yaxes(range=[0, max(0.5, 1.1 * guess, 1.1 * max(alphas))])
    out.update_layout(showlegend=True)
    return out


def watch_training(progress: Iterable[Progress], draw: Callable[[Sequence[Progress]], go.Figure]) -> list[Progress]:
    """Follow a training to its end; its picture is drawn anew with each report.

    The output of the cell is replaced each time, so a cell should show nothing else.
    """
    seen: list[Progress] = []
    for at in progress:
        seen.append(at)
        clear_output(wait=True)
        display(draw(seen))
    return seen


def compared_figure(title: str, found: Mapping[str, tuple[float, float]]) -> go.Figure:
    """For each of several trainings, two bars: greedy alpha, and 1 - TV at temperature 1."""
    out = figure(title, "trained with", "share of tokens that stand")
    for i, (name, colour, pattern) in enumerate(
        (("temperature 0: alpha", COLOURS["draft"], ""), ("temperature 1: mean of 1 - TV", COLOURS["accepted"], "/"))
    ):
        shares = [pair[i] for pair in found.values()]
        out.add_bar(
            x=[one.replace("_", "<br>") for one in found],  # or long names would stand at a slant
            y=shares,
            name=name,
            text=[f"{share:.2f}" for share in shares],
            textposition="outside",
            marker={"color": colour, "pattern": {"shape": pattern}},
        )
    out.update_layout(barmode="group", height=460, legend={"y": -0.35})
    out.update_yaxes(range=[0, max(0.5, 1.2 * max(share for pair in found.values() for share in pair))])
    return out


def cards_table(cards: Mapping[str, Mapping[str, Any]]) -> HTML:
    """A row a trained part, from its card: what it learnt from, when and how long, its alpha on held-out answers, its price c."""
    head = "".join(f'<th style="padding:2px 9px;text-align:left">{name}</th>' for name in CARD_COLUMNS)
    rows = "".join(f"<tr>{''.join(map(_cell, _row(name, card)))}</tr>" for name, card in cards.items())
    return HTML(f'<table style="border-collapse:collapse">{"<tr>" + head + "</tr>"}{rows}</table>')


def _row(name: str, card: Mapping[str, Any]) -> tuple[str, ...]:
    alpha, prices = stated_alpha(card), card.get("cost_ratio_c", {})
    return (
        name,
        f"{card['trained_on']}; {card['steps']} steps" if "steps" in card else "not stated",
        str(card.get("trained", "not stated")).split(", python")[0],
        "not measured" if alpha is None else f"{alpha:.2f}",
        ", ".join(f"{dtype} {price:.2f}" for dtype, price in prices.items()) or "not measured",
    )


def _cell(text: str) -> str:
    return f'<td style="padding:2px 9px;text-align:left;vertical-align:top;max-width:340px">{escape(text)}</td>'


def _first(alpha: float | tuple[float, ...]) -> float:
    return alpha[0] if isinstance(alpha, tuple) else alpha
