"""Laws as bars: the target's and the draft's, what they share and what is left over; laws that rules produce; alpha."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import ipywidgets as widgets
import plotly.graph_objects as go
import torch
from torch import Tensor

from specdec_lab.sampling import SamplingParams
from specdec_lab.sampling import laws as laws_of
from specdec_lab.theory.closed_forms import acceptance_probability
from specdec_lab.verify import residual
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED

# name, colour, pattern
BARS = (
    ("p, the target's law", COLOURS["target"], ""),
    ("q, the draft's law", COLOURS["draft"], "/"),
    ("min(p, q), accepted", COLOURS["accepted"], "x"),
    ("the residual, after a rejection", COLOURS["correction"], "."),
)
PATTERNS = ("/", "x", ".", "\\", "+")


def laws_figure(p: Tensor, q: Tensor, tokens: Sequence[str]) -> go.Figure:
    """p, q, min(p, q) and the residual of two laws `[vocab]`, a group of bars a token."""
    overlap = float(acceptance_probability(p.tolist(), q.tolist()))
    out = figure(f"What the two laws share is accepted: {overlap:.0%} of the drafted tokens", "token", "probability")
    for (name, colour, pattern), row in zip(BARS, _four(p, q), strict=True):
        _bars(out, name, colour, pattern, tokens, row.tolist())
    return out


def produced_figure(title: str, true: Sequence[float], produced: Mapping[str, Sequence[float]], tokens: Sequence[str]) -> go.Figure:
    """The law that each rule produces beside the target's own: in one colour those that give it back, in another those that do not."""
    out = figure(title, "token", "probability of coming out")
    _bars(out, BARS[0][0], COLOURS["target"], "", tokens, list(true))
    for i, (name, law) in enumerate(produced.items()):
        right = all(math.isclose(x, y, abs_tol=1e-6) for x, y in zip(law, true, strict=True))
        _bars(out, name, COLOURS["accepted" if right else "rejected"], PATTERNS[i % len(PATTERNS)], tokens, list(law))
    return out


def frequencies_figure(
    title: str, law: Sequence[float], luck: Sequence[float], produced: Mapping[str, Sequence[float]], tokens: Sequence[str]
) -> go.Figure:
    """Shares of the runs, by rule, over the law that is known; `luck` is what chance does to a share, either way."""
    out = figure(title, "first token", "probability, and share of the runs")
    out.add_bar(x=list(tokens), y=list(law), name=BARS[0][0], marker={"color": COLOURS["target"]})
    symbols, colours = ("circle", "x"), (MEASURED, COLOURS["rejected"])
    for (name, shares), symbol, colour in zip(produced.items(), symbols, colours, strict=False):
        bars = {"type": "data", "array": list(luck), "color": colour}
        out.add_scatter(
            x=list(tokens), y=list(shares), error_y=bars, mode="markers", name=name, marker={"symbol": symbol, "color": colour, "size": 9}
        )
    out.update_xaxes(type="category")
    return out


def alpha_figure(measured: Mapping[str, Mapping[float, float]], guessed: Mapping[float, float | None]) -> go.Figure:
    """alpha against temperature, a line for each setting, and what was guessed (None is no guess)."""
    name, first = next(iter(measured.items()))
    low, high = min(first, key=lambda t: first[t]), max(first, key=lambda t: first[t])
    title = f"{name}: alpha is {first[high]:.2f} at temperature {high:g}, and {first[low]:.2f} at {low:g}"
    out = figure(title, "temperature of both models", "alpha, the mean of sum min(p, q)")
    styles = (("solid", "circle"), ("dash", "square"), ("dot", "diamond"))
    for (name, alphas), (dash, symbol) in zip(measured.items(), styles, strict=False):
        line, marker = {"dash": dash, "color": MEASURED}, {"symbol": symbol, "size": 8}
        out.add_scatter(x=list(alphas), y=list(alphas.values()), mode="lines+markers", name=name, line=line, marker=marker)
    guesses = {at: alpha for at, alpha in guessed.items() if alpha is not None}
    marker = {"color": EXPECTED, "symbol": "x", "size": 11}
    out.add_scatter(x=list(guesses), y=list(guesses.values()), name="your prediction", mode="markers", marker=marker)
    out.update_yaxes(range=[0, 1.02])
    return out


def laws_explorer(p: Tensor, q: Tensor, tokens: Sequence[str]) -> widgets.VBox:
    """Two laws to be moved with sliders, and one temperature for both; the bars and the acceptance follow.

    A slider is a logit: the model's score of that token.
    """
    columns, sliders = [], []
    for name, law in (("target", p), ("draft", q)):
        column = [_slider(token, math.log(max(x, 0.01))) for token, x in zip(tokens, law.tolist(), strict=True)]
        sliders.append(column)
        columns.append(widgets.VBox([widgets.HTML(f"<b>{name}</b>, a score for each token"), *column]))
    temperature = widgets.FloatSlider(value=1.0, min=0.1, max=4.0, step=0.1, description="temperature", style={"description_width": "90px"})
    view = widgets.HTML()

    def show(_: object = None) -> None:
        scores = torch.tensor([[slider.value for slider in column] for column in sliders], dtype=torch.float64)
        moved = laws_of(scores, SamplingParams(temperature.value), torch.empty(0, dtype=torch.long))
        view.value = _explained(moved[0], moved[1], tokens)

    for slider in (*sliders[0], *sliders[1], temperature):
        slider.observe(show, "value")
    show()
    return widgets.VBox([widgets.HBox(columns), temperature, view])


def _slider(name: str, value: float) -> widgets.FloatSlider:
    return widgets.FloatSlider(value=round(value, 2), min=-5.0, max=3.0, step=0.01, description=name)


def _explained(p: Tensor, q: Tensor, tokens: Sequence[str]) -> str:
    """The bars of `laws_figure` as a table."""
    rows = []
    for (name, colour, _), law in zip(BARS, _four(p, q), strict=True):
        cells = "".join(f'<td style="width:170px;text-align:left;padding:2px 8px">{_bar(x, colour)} {x:.2f}</td>' for x in law.tolist())
        rows.append(f'<tr><th style="text-align:right;padding-right:8px;font-weight:normal">{name}</th>{cells}</tr>')
    head = "".join(f'<th style="text-align:left;padding:2px 8px">{escape(token)}</th>' for token in tokens)
    overlap = float(acceptance_probability(p.tolist(), q.tolist()))
    table = f'<table style="border-collapse:collapse"><tr><th></th>{head}</tr>{"".join(rows)}</table>'
    return f'<div style="max-width:860px">{table}<p>accepted: <b>{overlap:.0%}</b> of the drafted tokens</p></div>'


def _bar(share: float, colour: str) -> str:
    return f'<span style="display:inline-block;height:0.8em;width:{round(110 * share)}px;background:{colour}"></span>'


def _four(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return p, q, torch.minimum(p, q), residual(p, q)


def _bars(out: go.Figure, name: str, colour: str, pattern: str, tokens: Sequence[str], values: list[float]) -> None:
    marker = {"color": colour, "pattern": {"shape": pattern}}
    out.add_bar(x=list(tokens), y=values, name=name, marker=marker, text=[f"{x:.2f}" for x in values], textposition="outside")
