"""Pictures of chapter 10: the law of a bug beside the target's and the repaired one; what a lossy rule gains and costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import plotly.graph_objects as go

from specdec_lab.checks.zoo import picture
from specdec_lab.widgets.curves import DASHES, SYMBOLS, Points
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.laws import produced_figure
from specdec_lab.widgets.palette import EXPECTED, MEASURED


def repair_figure(function: Callable[..., Any]) -> go.Figure:
    """The exact laws in the first scene of one of the zoo's bugs: the target's, as it was shipped, and as the function has it now."""
    found = picture(function)
    (before, after), (few, many) = found.distance, found.stand
    title = f"{found.report}: TV {before:.2f} as shipped, {after:.2f} now"
    if before < 1e-6:  # the law was never wrong; what was lost are tokens
        title += f"; {few:.2f} and {many:.2f} of a drafted token stand"
    names = list(found.target)
    laws = {"as shipped": list(found.shipped.values()), "now": list(found.now.values())}
    out = produced_figure(title, list(found.target.values()), laws, names)
    out.update_xaxes(title="what comes out", type="category")
    return out


def lossy_figure(title: str, lossless: float, most: float, measured: Mapping[str, Points]) -> go.Figure:
    """What rules accept and what it costs: for each, alphas and total variations; and the least that an alpha costs.

    lossless: the alpha that costs nothing, sum min(p, q). most: the largest alpha to draw. measured: a rule's points, by its name.
    """
    out = figure(title, "alpha, the chance that a drafted token stands", "TV of a token's law to the target's")
    line = {"color": EXPECTED, "width": 2.5}
    out.add_scatter(x=[0, lossless, most], y=[0, 0, most - lossless], name="no rule can be below", mode="lines", line=line)
    for (name, (xs, ys)), dash, symbol in zip(measured.items(), DASHES[1:], SYMBOLS, strict=False):
        style = {"color": MEASURED, "width": 1.5, "dash": dash}
        marker = {"color": MEASURED, "symbol": symbol, "size": 8}
        out.add_scatter(x=list(xs), y=list(ys), name=name, mode="lines+markers", line=style, marker=marker)
    return out
