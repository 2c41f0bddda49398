"""Plotly's traces, drawn on matplotlib's axes: scatters, bars and heat maps, as far as the course uses them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from specdec_lab.errors import UserError

DASHES: dict[str, Any] = {
    **{"solid": "-", "dot": (0, (1, 1.5)), "dash": (0, (4, 2)), "dashdot": (0, (4, 2, 1, 2))},
    **{"longdash": (0, (8, 3)), "longdashdot": (0, (8, 2, 1, 2))},
}
STEPS = {"linear": "default", "hv": "steps-post", "vh": "steps-pre"}
BOWTIE = [(-1, -1), (-1, 1), (1, -1), (1, 1), (-1, -1)]
MARKERS: dict[str, Any] = {
    **{"circle": "o", "square": "s", "diamond": "D", "cross": "P", "x": "X", "star": "*", "hexagon": "h", "pentagon": "p"},
    **{"triangle-up": "^", "triangle-down": "v", "triangle-left": "<", "triangle-right": ">", "line-ew": "_", "line-ns": "|"},
    **{"bowtie": BOWTIE, "hourglass": [(y, x) for x, y in BOWTIE]},
}
COLOURS = ("#636efa", "#EF553B", "#00cc96", "#ab63fa", "#FFA15A", "#19d3f3")  # plotly's, for what names none
FINE = 600  # cells of a heat map from which on it is a bitmap


class Marks:
    """Draws one trace after the other, and keeps what later ones, the axes and the legend need to know of them."""

    def __init__(self, figure: go.Figure, page: Any, axes: Any) -> None:
        self.figure, self.page, self.axes = figure, page, axes
        self.handles: list[Any] = []  # of the legend
        self.categories: dict[str, list[str]] = {"x": [], "y": []}
        self._tops: dict[tuple[float, bool], float] = {}  # of stacked bars, by place and sign
        self._last: np.ndarray | None = None  # heights of the scatter before, for an area between two

    def trace(self, trace: Any, colour: str) -> None:
        """Raises UserError for a type, a pair of axes or a marker that this cannot draw."""
        kinds: dict[str, Callable[[Any, str], None]] = {"scatter": self._scatter, "bar": self._bar, "heatmap": self._heatmap}
        if trace.type not in kinds:
            raise UserError(f"A still is drawn of {', '.join(kinds)}, not of {trace.type}; give the widget a picture made of those.")
        if {trace.xaxis, trace.yaxis} - {None, "x", "y"}:
            raise UserError("A still has one pair of axes; make a picture of each pair.")
        kinds[trace.type](trace, colour)

    def places(self, letter: str, values: Sequence[Any] | None, count: int = 0) -> np.ndarray:
        """Where values of an axis stand; a category stands at its number."""
        values = range(count) if values is None else list(values)
        known = self.categories[letter]
        if not known and self.figure.layout[f"{letter}axis"].type != "category" and not any(isinstance(v, str) for v in values):
            return numbers(values)
        known.extend(name for name in dict.fromkeys(map(str, values)) if name not in known)
        return np.array([known.index(str(value)) for value in values], dtype=float)

    def _scatter(self, trace: Any, colour: str) -> None:
        from matplotlib.lines import Line2D

        y = self.places("y", trace.y, len(trace.x or ()))
        x = self.places("x", trace.x, len(y))
        mode = trace.mode or ("lines+markers" if len(x) < 20 else "lines")
        stroke = rgba(trace.line.color or (trace.marker.color if isinstance(trace.marker.color, str) else colour))
        handle = Line2D([], [], color=stroke, linestyle="", label=plain(trace.name))
        if trace.fill not in (None, "none"):
            under = self._last if trace.fill == "tonexty" and self._last is not None else np.zeros_like(y)
            self.axes.fill_between(x, under, y, color=rgba(trace.fillcolor or stroke), alpha=None if trace.fillcolor else 0.3, lw=0)
        if "lines" in mode:
            style = {"linestyle": dashes(trace.line.dash), "linewidth": 2 if trace.line.width is None else trace.line.width}
            drawn = STEPS.get(trace.line.shape, "default")
            self.axes.plot(x, y, color=stroke, drawstyle=drawn, alpha=trace.opacity, **style)
            handle.set(**style)
        if "markers" in mode:
            self._points(trace, x, y, stroke, handle)
        for name, bars in (("yerr", trace.error_y), ("xerr", trace.error_x)):
            if bars.array is not None and len(x):
                spread = np.vstack([numbers(bars.array if bars.arrayminus is None else bars.arrayminus), numbers(bars.array)])
                self.axes.errorbar(x, y, **{name: spread}, fmt="none", ecolor=rgba(bars.color or stroke), elinewidth=1.5, capsize=3)
        if "text" in mode:
            self._labels(trace, x, y)
        self._last = y
        self._entry(trace, handle)

    def _points(self, trace: Any, x: np.ndarray, y: np.ndarray, stroke: Any, handle: Any) -> None:
        marker, count = trace.marker, len(x)
        fills = each(rgba(stroke if marker.color is None else marker.color), count)
        symbols, areas = each(marker.symbol or "circle", count), np.square(each(marker.size or 6, count))
        edge = rgba(marker.line.color) if marker.line.width else None
        for symbol in dict.fromkeys(symbols):
            shape = MARKERS.get(symbol.removesuffix("-open"))
            if shape is None:
                raise UserError(f"A still has no marker {symbol!r}; it has {', '.join(MARKERS)}, and each with -open.")
            here = [i for i, name in enumerate(symbols) if name == symbol]
            fill, thin, hollow = [fills[i] for i in here], shape in ("_", "|"), symbol.endswith("-open")
            look = {"color": fill} if thin else {"facecolors": "none" if hollow else fill, "edgecolors": edge or fill}
            line, alpha = max(marker.line.width or 0, 1.5 * (thin or hollow)), trace.opacity if marker.opacity is None else marker.opacity
            self.axes.scatter(x[here], y[here], s=areas[here], marker=shape, linewidths=line, alpha=alpha, zorder=3, **look)
            handle.set(marker=shape, markersize=min(math.sqrt(areas[here[0]]), 11), markeredgewidth=line)
            handle.set(markerfacecolor="none" if hollow else fill[0], markeredgecolor=edge or fill[0])

    def _labels(self, trace: Any, x: np.ndarray, y: np.ndarray) -> None:
        up, side = (trace.textposition or "middle center").split()
        look = {
            "va": {"top": "bottom", "bottom": "top"}.get(up, "center"),
            "ha": {"left": "right", "right": "left"}.get(side, "center"),
            "fontsize": trace.textfont.size or 12,
            "color": rgba(trace.textfont.color or "#333"),
        }
        for at, height, text in zip(x, y, each(trace.text, len(x)), strict=True):
            self.axes.text(at, height, plain(text), **look)

    def _bar(self, trace: Any, colour: str) -> None:
        from matplotlib.patches import Patch

        flat, mode = trace.orientation == "h", self.figure.layout.barmode or "group"
        letter, long = ("y", numbers(trace.x)) if flat else ("x", numbers(trace.y))
        at = self.places(letter, trace[letter], len(long))
        rows = (
            [other for other in self.figure.data if other.type == "bar" and other.visible in (None, True)] if mode == "group" else [trace]
        )
        gap = 0.2 if self.figure.layout.bargap is None else self.figure.layout.bargap
        thick = float(min(np.diff(np.unique(at)), default=1.0)) * (1 - gap) / len(rows)
        at = at + thick * (next(i for i, other in enumerate(rows) if other is trace) - (len(rows) - 1) / 2)
        foot = np.zeros_like(long) if trace.base is None else np.array(each(trace.base, len(long)), dtype=float)
        if mode in ("stack", "relative"):
            foot = np.array([self._tops.get((a, v < 0), 0.0) for a, v in zip(at, long, strict=True)])
            self._tops.update({(a, v < 0): f + v for a, f, v in zip(at, foot, np.nan_to_num(long), strict=True)})
        fill, hatch = rgba(colour if trace.marker.color is None else trace.marker.color), trace.marker.pattern.shape
        look: dict[str, Any] = {
            "edgecolor": "#333",
            "linewidth": trace.marker.line.width or 0,
            "hatch": hatch if isinstance(hatch, str) else "",
        }
        look["alpha"] = trace.opacity if trace.marker.opacity is None else trace.marker.opacity
        bars = trace.error_x if flat else trace.error_y
        error = {} if bars.array is None else {"xerr" if flat else "yerr": numbers(bars.array)}
        pen = {"ecolor": rgba(bars.color or "#333"), "capsize": 3}
        width = thick if trace.width is None else np.array(each(trace.width, len(long)), dtype=float)
        (self.axes.barh if flat else self.axes.bar)(at, long, width, foot, color=fill, error_kw=pen, **error, **look)
        if trace.text is not None:
            inside = trace.textposition == "inside"
            size = 11 if len(at) * len(rows) < 16 else 9
            for a, end, text in zip(at, foot if inside else foot + long, each(trace.text, len(at)), strict=True):
                spot, move, ha, va = ((end, a), (3, 0), "left", "center") if flat else ((a, end), (0, 3), "center", "bottom")
                self.axes.annotate(plain(text), spot, move, textcoords="offset points", ha=ha, va=va, fontsize=size)
        self._entry(trace, Patch(facecolor=each(fill, 1)[0], label=plain(trace.name), **look))

    def _heatmap(self, trace: Any, colour: str) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        z = np.array([numbers(row) for row in trace.z])
        x, y = self.places("x", trace.x, z.shape[1]), self.places("y", trace.y, z.shape[0])
        scale = LinearSegmentedColormap.from_list("scale", [(at, rgba(c)) for at, c in trace.colorscale]) if trace.colorscale else "plasma"
        drawn = {"cmap": scale, "vmin": trace.zmin, "vmax": trace.zmax, "rasterized": z.size >= FINE, "linewidth": 0}
        mesh = self.axes.pcolormesh(edges(x), edges(y), z, **drawn)
        if trace.showscale is not False:
            self.page.colorbar(mesh, ax=self.axes, label=plain(trace.colorbar.title.text))
        look = {"ha": "center", "va": "center", "fontsize": trace.textfont.size or 11, "color": rgba(trace.textfont.color or "black")}
        for row, column in np.ndindex(z.shape) if trace.texttemplate else ():
            text = trace.text[row][column] if trace.text is not None else ""
            self.axes.text(x[column], y[row], filled(trace.texttemplate, text, float(z[row, column])), **look)

    def _entry(self, trace: Any, handle: Any) -> None:
        if trace.showlegend is not False and trace.name and len(trace.x):  # what is still to be measured has no mark yet
            self.handles.append(handle)


def plain(text: object) -> str:
    """Plotly's text without its tags."""
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r"<br ?/?>", "\n", "" if text is None else str(text))))


def rgba(colour: Any) -> Any:
    """A colour of CSS, or several, as matplotlib takes them."""
    if isinstance(colour, (list, tuple, np.ndarray)):
        return [rgba(one) for one in colour]
    if isinstance(colour, str) and colour.startswith("rgb"):
        *channels, alpha = [*map(float, re.findall(r"[\d.]+", colour)), 1.0][:4]
        return (*(channel / 255 for channel in channels), alpha)
    return colour


def dashes(name: str | None) -> Any:
    return DASHES.get(name or "solid", "-")


def each(value: Any, count: int) -> list[Any]:
    """A value for each of so many marks, from one for all (a colour may be a tuple) or from a list of them."""
    return list(value) if isinstance(value, (list, np.ndarray)) or (isinstance(value, tuple) and len(value) == count) else [value] * count


def numbers(values: Sequence[Any]) -> np.ndarray:
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def edges(middles: np.ndarray) -> np.ndarray:
    """The borders of cells, from their middles."""
    if len(middles) == 1:
        return middles[0] + np.array([-0.5, 0.5])
    between = (middles[:-1] + middles[1:]) / 2
    return np.concatenate([[2 * middles[0] - between[0]], between, [2 * middles[-1] - between[-1]]])


def filled(template: str, text: object, z: float) -> str:
    """A cell's text, from plotly's template: %{text} and %{z}, with or without a format."""
    said = template.replace("%{text}", plain(text))
    return plain(re.sub(r"%\{z(?::([^}]*))?\}", lambda found: "" if math.isnan(z) else format(z, found[1] or "g"), said))
