"""Pictures of a bench: acceptance by workload, predicted against measured, where the time goes, and the crossover over batch size."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from statistics import median

import plotly.graph_objects as go

from specdec_lab.measure.bench.summary import BatchSummary, CellSummary, Results
from specdec_lab.widgets.acceptance import LIGHT
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED
from specdec_lab.widgets.runs import PARTS, SHAPES

EVEN = {"color": "#888", "dash": "dot"}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
LINES = (COLOURS["bonus"], COLOURS["rejected"], COLOURS["accepted"], COLOURS["correction"], COLOURS["draft"], COLOURS["target"])


def heat_figure(cells: Sequence[CellSummary]) -> go.Figure:
    """alpha of every cell by colour and number, and its speedup: workloads down, everything else that varies across."""
    rows, columns = list(dict.fromkeys(c.workload for c in cells)), list(dict.fromkeys(_column(c) for c in cells))
    found = {(c.workload, _column(c)): c for c in cells}
    at = [[found.get((row, column)) for column in columns] for row in rows]
    won = sum(c.spread("speedup").median > 1 for c in cells)
    out = figure(f"Colour is alpha; the clock says: faster in {won} of {len(cells)} cells", "drafter, k and temperature", "workload")
    out.add_heatmap(
        x=columns,
        y=rows,
        z=[[c and c.metrics.alpha for c in row] for row in at],
        text=[["" if c is None else _in_cell(c) for c in row] for row in at],
        texttemplate="%{text}",
        zmin=0,
        zmax=1,
        colorscale=LIGHT,
        colorbar={"title": {"text": "alpha"}},
        xgap=3,
        ygap=3,
    )
    out.update_layout(width=max(760, 220 + 130 * len(columns)), height=150 + 44 * len(rows), margin={"l": 150, "b": 80})
    out.update_yaxes(autorange="reversed")
    out.update_xaxes(type="category")
    return out


def _in_cell(cell: CellSummary) -> str:
    alpha, gain = cell.metrics.alpha, cell.spread("speedup").median
    return f"{'none drafted' if alpha is None else f'{alpha:.2f}'}<br>{'✓' if gain > 1 else '✗'} {gain:.2f}x"


def _column(cell: CellSummary) -> str:
    return f"{_who(cell)}<br>{'own temperature' if cell.temperature is None else f'temperature {cell.temperature:g}'}"


def _who(one: CellSummary | BatchSummary) -> str:
    return f"{one.drafter}, k = {one.k}{'' if one.dtype == 'auto' else f', {one.dtype}'}"


def places_figure(cells: Sequence[CellSummary]) -> go.Figure:
    """Of the tokens tested at each place of a draft, those that stood: a line a drafter and temperature, all workloads, the longest k."""
    longest = max(c.k for c in cells)
    known = list[float]()
    out = figure("", "place in the draft", "share of tested tokens that stood")
    for i, name in enumerate(dict.fromkeys(_column(c) for c in cells if c.k == longest)):
        here = [c for c in cells if c.k == longest and _column(c) == name]
        tested, stood = (_by_place(here, f"{what}_at", longest) for what in ("tested", "accepted"))
        shares = [s / t if t else None for s, t in zip(stood, tested, strict=True)]
        known += [share for share in shares if share is not None]
        out.add_scatter(
            x=list(range(1, longest + 1)),
            y=shares,
            text=[f"{t} tested" for t in tested],
            name=name.replace("<br>", ", "),
            mode="lines+markers",
            line={"color": LINES[i % len(LINES)], "dash": DASHES[i % len(DASHES)], "width": 2},
            marker={"symbol": SHAPES[i % len(SHAPES)], "size": 9},
        )
    between = f"between {min(known):.2f} and {max(known):.2f} of those tested" if known else "nothing was tested"
    out.update_layout(title={"text": f"What stands, place by place: {between}"}, showlegend=True)
    out.update_yaxes(range=[0, 1.03])
    out.update_xaxes(dtick=1)
    return out


def _by_place(cells: Sequence[CellSummary], name: str, k: int) -> list[int]:
    """These counts of all cells, added up for each of k places."""
    counts = [getattr(c.metrics, name) for c in cells]
    return [sum(at[i] for at in counts if i < len(at)) for i in range(k)]


def prediction_figure(cells: Sequence[CellSummary]) -> go.Figure:
    """Measured against predicted speedup, with quartiles, and the diagonal on which they are equal."""
    apart = [abs(c.spread("efficiency").median - 1) for c in cells]
    title = f"Half of the cells are within {median(apart):.0%} of what their parts add up to, all within {max(apart):.0%}"
    out = figure(title, "predicted speedup", "measured speedup")
    ends = [v for c in cells for name in ("predicted_speedup", "speedup") for v in (c.spread(name).low, c.spread(name).high)]
    low, high = 0.95 * min([*ends, 1]), 1.05 * max([*ends, 1])
    out.add_scatter(x=[low, high], y=[low, high], name="as predicted", mode="lines", line={"color": EXPECTED, "width": 2})
    for i, workload in enumerate(dict.fromkeys(c.workload for c in cells)):
        here = [c for c in cells if c.workload == workload]
        x, y = ([c.spread(name) for c in here] for name in ("predicted_speedup", "speedup"))
        out.add_scatter(
            x=[s.median for s in x],
            y=[s.median for s in y],
            error_y={
                "array": [s.high - s.median for s in y],
                "arrayminus": [s.median - s.low for s in y],
                "color": "rgba(0,0,0,0.35)",
                "thickness": 1,
                "width": 3,
            },
            text=[f"{workload}, {_column(c)}" for c in here],
            name=workload,
            mode="markers",
            marker={"color": LINES[i % len(LINES)], "symbol": SHAPES[i % len(SHAPES)], "size": 11, "line": {"color": MEASURED, "width": 1}},
        )
    out.add_hline(y=1, line=EVEN)
    out.add_vline(x=1, line=EVEN)
    out.update_layout(height=520)
    return out


def time_figure(cells: Sequence[CellSummary]) -> go.Figure:
    """Milliseconds a token, stacked by part, and those of plain decoding."""
    several = [name for name in ("drafter", "k", "temperature", "dtype") if len({getattr(c, name) for c in cells}) > 1]
    labels = [_bar(c, several) for c in cells]
    spent = [c.milliseconds for c in cells]
    lose = sum(c.spread("speedup").median < 1 for c in cells)
    title = f"Where a token's time goes: {lose} of {len(cells)} cells take longer than plain decoding"
    out = figure(title, "workload", "milliseconds a token")
    for part, (name, colour, pattern) in PARTS.items():
        out.add_bar(x=labels, y=[parts[part] for parts in spent], name=name, marker={"color": colour, "pattern": {"shape": pattern}})
    out.add_scatter(
        x=labels,
        y=[parts["plain"] for parts in spent],
        name="plain decoding",
        mode="markers",
        marker={"color": MEASURED, "symbol": "line-ew-open", "size": 18, "line": {"width": 3}},
    )
    out.update_layout(
        barmode="stack",
        width=max(760, 120 + 34 * len(cells)),
        height=520,
        margin={"b": 40 + 6 * max(map(len, labels))},
        legend={"y": 1.0, "yanchor": "bottom"},
    )
    out.update_xaxes(type="category", tickangle=-60)
    return out


def _bar(cell: CellSummary, several: Sequence[str]) -> str:
    words = {"drafter": cell.drafter, "k": f"k {cell.k}", "temperature": cell.at.split(" ")[0], "dtype": cell.dtype}
    return ", ".join([cell.workload, *(words[name] for name in several)])


def _series(batches: Sequence[BatchSummary]) -> dict[tuple[str, int, str], list[BatchSummary]]:
    out = dict[tuple[str, int, str], list[BatchSummary]]()
    for batch in sorted(batches, key=lambda batch: batch.batch):
        out.setdefault((batch.drafter, batch.k, batch.dtype), []).append(batch)
    return out


def crossover_figure(results: Results) -> go.Figure:
    """Throughput over that of plain decoding by batch size: predicted as lines, measured as marks; and where the ridge lies."""
    out = figure(_crossover_title(results.batches), "texts at once", "throughput over plain decoding")
    for i, ((_, k, dtype), batches) in enumerate(_series(results.batches).items()):
        sizes, name, colour = [b.batch for b in batches], _who(batches[0]), LINES[i % len(LINES)]
        out.add_scatter(
            x=sizes,
            y=[b.spread("predicted_speedup").median for b in batches],
            name=f"{name}: predicted",
            mode="lines",
            line={"color": colour, "dash": DASHES[i % len(DASHES)], "width": 2},
        )
        spreads = [b.spread("speedup") for b in batches]
        out.add_scatter(
            x=sizes,
            y=[s.median for s in spreads],
            error_y={"array": [s.high - s.median for s in spreads], "arrayminus": [s.median - s.low for s in spreads], "thickness": 1},
            name=f"{name}: measured",
            mode="markers",
            marker={"color": colour, "symbol": SHAPES[i % len(SHAPES)], "size": 11, "line": {"color": MEASURED, "width": 1}},
        )
        ridge = results.ridge(dtype) / (k + 1)
        if sizes[0] <= ridge <= sizes[-1]:
            out.add_vline(x=ridge, line=EVEN)
            where = {"x": log10(ridge), "y": 1, "yref": "paper", "yanchor": "bottom"}  # on such an axis, notes count in powers of ten
            out.add_annotation(text=f"{k + 1} tokens each reach the ridge", showarrow=False, **where)
    out.add_hline(y=1, line=EVEN)
    _by_size(out, results.batches)
    out.update_yaxes(rangemode="tozero")
    return out


def _crossover_title(batches: Sequence[BatchSummary]) -> str:
    """Of the first drafter and k, up to which batch drafting pays."""
    here = next(iter(_series(batches).values()))
    wins = [b.batch for b in here if b.spread("speedup").median > 1]
    losses = [b.batch for b in here if b.spread("speedup").median <= 1]
    who = _who(here[0])
    if not losses:
        return f"{who}: drafting pays at every batch size measured, up to {wins[-1]} texts"
    if not wins:
        return f"{who}: drafting pays at no batch size measured, from {losses[0]} text{'s' if losses[0] > 1 else ''} on"
    if max(wins) < min(losses):
        return f"{who}: drafting pays up to {max(wins)} text{'s' if max(wins) > 1 else ''} at once, and costs from {min(losses)} on"
    return f"{who}: drafting pays at {', '.join(map(str, wins))} texts, and costs at {', '.join(map(str, losses))}"


def throughput_figure(batches: Sequence[BatchSummary]) -> go.Figure:
    """Tokens a second over all texts, both ways."""
    everyone = _series(batches)
    first = next(iter(everyone.values()))
    grows = first[-1].spread("plain_tokens_per_second").median / first[0].spread("plain_tokens_per_second").median
    title = f"Plain decoding of {first[-1].batch} texts at once writes {grows:.1f} times the tokens of {first[0].batch}"
    out = figure(title if len(first) > 1 else "Throughput", "texts at once", "tokens a second, all texts")
    for i, here in enumerate(everyone.values()):
        for way, dash, symbol in (
            ("plain_tokens_per_second", "dot", "circle-open"),
            ("tokens_per_second", "solid", SHAPES[i % len(SHAPES)]),
        ):
            name = f"{'plain, beside ' if way.startswith('plain') else ''}{_who(here[0])}"
            out.add_scatter(
                x=[b.batch for b in here],
                y=[b.spread(way).median for b in here],
                name=name,
                mode="lines+markers",
                line={"color": LINES[i % len(LINES)], "dash": dash, "width": 2},
                marker={"symbol": symbol, "size": 9},
            )
    _by_size(out, batches)
    out.update_yaxes(rangemode="tozero")
    return out


def _by_size(out: go.Figure, batches: Sequence[BatchSummary]) -> None:
    sizes = sorted({b.batch for b in batches})
    out.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes])
    out.update_layout(legend={"y": -0.22, "yanchor": "top"}, margin={"b": 110}, height=480)
