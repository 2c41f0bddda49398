"""The course's plotly figures as SVG, by matplotlib: one pair of axes with its traces, lines, notes, title and legend."""

from __future__ import annotations

import logging
import textwrap
from io import StringIO
from math import ceil
from typing import Any

import plotly.graph_objects as go

from specdec_lab.errors import UserError
from specdec_lab.widgets.marks import COLOURS, Marks, dashes, plain, rgba

STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "still", "text.parse_math": False, "font.size": 12, "hatch.linewidth": 0.8}
TEXT, GRID = "#333", "#E5E8F0"
MOST_TICKS = 21
SIDES = {"middle": "center"}  # plotly's word to matplotlib's, where they differ


def svg(figure: go.Figure) -> str:
    """The figure as SVG in its own size, on white. Raises UserError for traces, axes, markers and shapes that it cannot draw."""
    for name in ("matplotlib", "matplotlib.font_manager"):  # the first time, it would tell stderr that it looks for fonts
        logging.getLogger(name).setLevel(logging.ERROR)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    layout = figure.layout
    width, height = layout.width or 700, layout.height or 450
    out = StringIO()
    with rc_context(STYLE):
        page = Figure(figsize=(width / 72, height / 72), layout="constrained", facecolor="white")  # a point is a pixel
        marks = Marks(figure, page, page.add_subplot())
        for i, trace in enumerate(figure.data):
            if trace.visible in (None, True):
                marks.trace(trace, COLOURS[i % len(COLOURS)])
        for letter in "xy":
            _axis(marks, letter, layout[f"{letter}axis"])
        for shape in layout.shapes:
            _shape(marks, shape)
        for note in layout.annotations:
            _note(marks, note)
        lines = [textwrap.fill(line, int(width / 9.5)) for line in plain(layout.title.text).split("\n")]
        page.suptitle("\n".join(lines), x=0.03, ha="left", fontsize=16)
        _legend(marks, width)
        page.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _axis(marks: Marks, letter: str, axis: Any) -> None:
    axes, known = marks.axes, marks.categories[letter]
    get_limits, set_limits = (getattr(axes, f"{verb}_{letter}lim") for verb in ("get", "set"))
    if axis.type == "log":
        getattr(axes, f"set_{letter}scale")("log")
    if axis.range is not None:
        set_limits(*(10**end if axis.type == "log" else end for end in axis.range))
    elif axis.rangemode == "tozero" and get_limits()[0] > 0:
        set_limits(0, get_limits()[1])
    if axis.autorange == "reversed":
        getattr(axes, f"invert_{letter}axis")()
    if known:
        getattr(axes, f"set_{letter}ticks")(range(len(known)), [plain(name) for name in known])
        if letter == "x" and 7 * sum(len(name) + 2 for name in known) > 0.85 * (marks.figure.layout.width or 700):
            axes.tick_params("x", rotation=30)
    else:
        _ticks(getattr(axes, f"{letter}axis"), axis)
        if axis.showgrid is not False and not any(trace.type == "heatmap" for trace in marks.figure.data):
            axes.grid(axis=letter, color=GRID)
    getattr(axes, f"set_{letter}label")(plain(axis.title.text))
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.tick_params(axis=letter, length=0, labelcolor=TEXT)
    if axis.showticklabels is False or axis.visible is False:
        axes.tick_params(axis=letter, label1On=False)


def _ticks(own: Any, axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullLocator

    low, high = sorted(own.get_view_interval())
    if axis.type == "log":
        own.set_minor_locator(NullLocator())
        own.set_major_locator(LogLocator(subs=(1,) if axis.dtick == 1 else (1, 2, 5)))
    elif isinstance(axis.dtick, (int, float)):
        own.set_major_locator(MultipleLocator(axis.dtick * ceil((high - low) / axis.dtick / MOST_TICKS)))
    if axis.tickvals is not None:
        own.set_ticks(list(axis.tickvals), [plain(text) for text in axis.ticktext or axis.tickvals])
        own.set_view_interval(low, high, ignore=True)  # ticks outside would widen it
    else:
        form = (axis.tickformat or "g").replace("d", ".0f")
        before, after = axis.tickprefix or "", axis.ticksuffix or ""
        own.set_major_formatter(FuncFormatter(lambda value, _: f"{before}{value:{form}}{after}"))


def _shape(marks: Marks, shape: Any) -> None:
    from matplotlib.patches import Rectangle
    from matplotlib.transforms import blended_transform_factory

    data, box = marks.axes.transData, marks.axes.transAxes
    to = blended_transform_factory(*(data if _on_axis(ref) else box for ref in (shape.xref, shape.yref)))
    x0, x1 = (_at(marks, "x", end, shape.xref) for end in (shape.x0, shape.x1))
    y0, y1 = (_at(marks, "y", end, shape.yref) for end in (shape.y0, shape.y1))
    look = {"linewidth": 2 if shape.line.width is None else shape.line.width, "linestyle": dashes(shape.line.dash)}
    look |= {"zorder": 0.5 if shape.layer == "below" else 2, "alpha": shape.opacity, "transform": to}
    colour = rgba(shape.line.color or "#444")
    if shape.type == "line":
        marks.axes.plot([x0, x1], [y0, y1], color=colour, **look)
    elif shape.type == "rect":
        fill = rgba(shape.fillcolor or "none")
        marks.axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=fill, edgecolor=colour, **look))
    else:
        raise UserError(f"A still has lines and rects, but no {shape.type}; make the shape of those.")


def _note(marks: Marks, note: Any) -> None:
    """An annotation. For a place on a logarithmic axis plotly wants the exponent, unlike everywhere else."""
    spot: list[float] = []
    for letter, value, ref in (("x", note.x, note.xref), ("y", note.y, note.yref)):
        power = _on_axis(ref) and marks.figure.layout[f"{letter}axis"].type == "log"
        spot.append(10**value if power else _at(marks, letter, value, ref))
    arrow = note.showarrow is not False
    away = (-10 if note.ax is None else note.ax, 30 if note.ay is None else -note.ay)
    marks.axes.annotate(
        plain(note.text),
        spot,
        away if arrow else (note.xshift or 0, note.yshift or 0),
        xycoords=tuple("data" if _on_axis(ref) else "axes fraction" for ref in (note.xref, note.yref)),
        textcoords="offset points",
        ha=SIDES.get(note.xanchor, note.xanchor) if note.xanchor not in (None, "auto") else "center",
        va=SIDES.get(note.yanchor, note.yanchor) if note.yanchor not in (None, "auto") else "center",
        fontsize=note.font.size or 12,
        color=rgba(note.font.color or TEXT),
        annotation_clip=False,
        arrowprops={"arrowstyle": "->", "color": rgba(note.arrowcolor or "#444")} if arrow else None,
    )


def _legend(marks: Marks, width: float) -> None:
    count, wanted = len(marks.handles), marks.figure.layout.showlegend
    if count and (wanted or (wanted is None and count > 1)):
        widest = 50 + 8 * max(len(handle.get_label()) for handle in marks.handles)
        rows = ceil(count / max(1, int(width // widest)))
        look = {"loc": "outside lower center", "ncols": ceil(count / rows), "frameon": False, "handlelength": 2.6}
        marks.page.legend(handles=marks.handles, **look)


def _on_axis(ref: str | None) -> bool:
    return ref in (None, "x", "y")


def _at(marks: Marks, letter: str, value: Any, ref: str | None) -> float:
    """A number on an axis of categories that is none of them counts them from 0."""
    known = marks.categories[letter]
    return float(known.index(str(value))) if _on_axis(ref) and str(value) in known else float(value)
