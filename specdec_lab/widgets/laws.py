"""Laws as bars: the target's and the draft's, what they share and what is left over; laws that rules produce; alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import plotly.graph_objects as go
import torch
from torch import Tensor

from specdec_lab import verify
from specdec_lab.theory.closed_forms import acceptance_probability
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


def laws_figure(p: Tensor, q: Tensor, tokens: Sequence[str], residual: Callable[[Tensor, Tensor], Tensor] = verify.residual) -> go.Figure:
    """p, q, min(p, q) and the residual of two laws `[vocab]`, a group of bars a token."""
    overlap = float(acceptance_probability(p.tolist(), q.tolist()))
    title = f"The two laws share {overlap:.2f}: acceptance = 1 - TV = 1 - {max(1 - overlap, 0):.2f}"
    out = figure(title, "token", "probability")
    for (name, colour, pattern), law in zip(BARS, (p, q, torch.minimum(p, q), residual(p, q)), strict=True):
        _bars(out, name, colour, pattern, tokens, law.tolist())
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


def _bars(out: go.Figure, name: str, colour: str, pattern: str, tokens: Sequence[str], values: list[float]) -> None:
    marker = {"color": colour, "pattern": {"shape": pattern}}
    out.add_bar(x=list(tokens), y=values, name=name, marker=marker, text=[f"{x:.2f}" for x in values], textposition="outside")
