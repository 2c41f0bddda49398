"""Every picture can be read on a page of 1000 pixels, in black and white: nothing is cut off, and nothing is told apart by colour alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from math import ceil
from pkgutil import iter_modules

import plotly.graph_objects as go
import pytest
import torch

from specdec_lab import widgets
from specdec_lab.checks.zoo.specimens import ZOO
from specdec_lab.measure import CostCurve, Pass
from specdec_lab.measure.ladder import TEXTS, Rung
from specdec_lab.measure.serving import Expected
from specdec_lab.measure.traces import Bounds, Measured, TargetPass
from specdec_lab.measure.workloads import NAMES, SHORT
from specdec_lab.sampling import SeededRng
from specdec_lab.theory.rules import rules
from specdec_lab.training.loop import Progress
from specdec_lab.widgets import bench_figures
from specdec_lab.widgets.acceptance import advice_figure, alpha_map, positions_figure
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.laws import laws_figure, produced_figure
from specdec_lab.widgets.measured import Seen
from specdec_lab.widgets.rejection import drawn_figure
from specdec_lab.widgets.roofline import Device, roofline_figure
from specdec_lab.widgets.serving import SPEEDUP, served_figure
from specdec_lab.widgets.speedup import Formulas, Prices, speedup_curves, speedup_map
from specdec_lab.widgets.verdict import Known, crossover_figure, throughput_figure
from tests.measure.batches import ALPHAS, BOUNDS, PRICES, point
from tests.measure.bench.toys import workload
from tests.measure.toys import comparison
from tests.served import recording
from tests.widgets.test_bench_report import batches, results
from tests.widgets.test_serving import coin

LETTER = 7  # pixels, a little more than the mean of the 12-pixel font
P, Q = (torch.tensor(law, dtype=torch.float64) for law in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]))
TOKENS = ["left", "ahead", "right"]
GREEDY = "greedy draft, states its softmax"
CURVE = CostCurve.of([Pass(1, 0.010), Pass(8, 0.014), Pass(64, 0.050)])
RUNS = {(workload, t): comparison((0.01, 0.05, 0.07), accepted=2 - int(t), k=3) for workload in SHORT for t in (0.0, 0.5, 1.0)}
RULES = ("greedy, states its softmax", "not renormalised", "redraw from p", "if p >= q", "yours")
KS = [1, 2, 3]
SERVED = [run for name in ("plain", "n-gram", "draft model") for run in recording().sweep(name)]
MEASURED_RUNS = Seen("here", [Measured(kind, k, 0.8, 1.5, 1.4) for kind in ("synthetic", "real") for k in (1, 3)])
LADDER = ("ngram", "suffix", "model", "cascade", "untrained exit", "early exit", "medusa", "medusa tree", "eagle", "eagle tree")
RUNGS = [Rung(text, drafter, comparison((0.01, 0.05, 0.07))) for text in TEXTS for drafter in LADDER]
POINTS = {("question-answering", 0.0, 4): [point(1), point(16)]}
BATCHED = Known({(a.workload, a.temperature): a for a in ALPHAS}, {p.batch: p for p in PRICES}, BOUNDS, POINTS)
# With as many lines, bars and marks, and as long names, as the fullest picture of a chapter has.
FIGURES: dict[str, Callable[[], go.Figure]] = {
    "advice_figure": lambda: advice_figure(RUNS, ("extraction", 0.5), CURVE),
    "alpha_cells": lambda: widgets.alpha_cells({(name, t): (0.5, 0.1) for name in NAMES for t in (0.0, 0.3, 0.6, 1.0)}, ("chat", 0.3)),
    "alpha_map": lambda: alpha_map(RUNS, ("extraction", 0.5)),
    "alpha_figure": lambda: widgets.alpha_figure({name: {0.0: 0.8, 2.0: 0.4} for name in ("code", "story", "code, top-p 0.9")}, {0.0: 0.9}),
    "best_k_figure": lambda: widgets.best_k_figure((0.6, 0.9), (0.1,), [[3, 10]], [[1.67, 13.43]]),
    "compared_figure": lambda: widgets.compared_figure(
        "Same text, same steps: what each loss has made of the same layer",
        {name: (0.31, 0.44) for name in ("cross_entropy", "forward_kl", "reverse_kl", "total_variation_loss", "mine")},
    ),
    "curves_figure": lambda: widgets.curves_figure(
        "This machine: lines are the formula with its prices, marks the clock",
        "k, tokens drafted a round",
        "speedup",
        {f"p = {p}": (KS, [p, 2 * p, 3 * p]) for p in (0.5, 0.6, 0.8, 0.9)},
        {f"measured, p = {p}": (KS, [p, p, p]) for p in (0.5, 0.8, 1.0)},
        {"best k": ([2], [1.0])},
        level=1,
    ),
    "speedup_curves": lambda: speedup_curves(Formulas(), 0.8, 5, Prices(0.1), MEASURED_RUNS),
    "speedup_map": lambda: speedup_map(Formulas(), 0.8, 5, Prices(0.1)),
    "crossover_figure": lambda: crossover_figure(BATCHED, ("question-answering", 0.0, 4)),
    "drawn_figure": lambda: drawn_figure(
        GREEDY, P, rules()[GREEDY].law(P, Q), list(rules()[GREEDY].draws(P, Q, SeededRng(0), [10_000]))[-1], TOKENS
    ),
    "estimates_figure": lambda: widgets.estimates_figure([20, 200_000], [3.5, 3.7], [0.4, 0.04], truth=3.69),
    "figure": lambda: figure("a finding", "x", "y"),
    "frequencies_figure": lambda: widgets.frequencies_figure(
        "Further off than luck: 10 of 10, and 10 by the wrong rule",
        P.tolist(),
        [0.01] * 3,
        {"verify_sampling": P.tolist(), "redraw from p": Q.tolist()},
        TOKENS,
    ),
    "humps_figure": lambda: widgets.humps_figure(
        P.tolist(),
        {name: (Q.tolist(), 0.5) for name in ("cross_entropy", "forward_kl", "reverse_kl", "total_variation_loss")},
    ),
    "ladder_figure": lambda: widgets.ladder_figure(RUNGS),
    "laws_figure": lambda: laws_figure(P, Q, TOKENS),
    "lossy_figure": lambda: widgets.lossy_figure(
        "Lossless alpha 0.35; each point above it costs a point of TV, or more",
        0.35,
        1.0,
        {name: ([0.3, 0.6, 0.9], [0.0, 0.3, 0.6]) for name in ("lenience", "likely enough", "typical")},
    ),
    "pass_figure": lambda: widgets.pass_figure({1: 0.002, 64: 0.006}, CURVE, {1: 5, 64: 70}, {1: 0.008}),
    "positions_figure": lambda: positions_figure(RUNS, ("extraction", 0.5)),
    "passes_figure": lambda: widgets.passes_figure(100, 4, {0.0: 40, 1.0: 9}, {0.0: 40, 1.0: 8}),
    "prediction_figure": lambda: widgets.prediction_figure(RUNS),
    "price_figure": lambda: widgets.price_figure(RUNGS[4:14]),
    "produced_figure": lambda: produced_figure(
        "Four wrong rules, four wrong laws, and one that gives p back", P.tolist(), {name: P.tolist() for name in RULES}, TOKENS
    ),
    "repair_figure": lambda: widgets.repair_figure(ZOO["presence_penalised"].bug),
    "roofline_figure": lambda: roofline_figure(
        Device(Bounds(1e9, 2, 4.8e12, 989e12), "recorded on NVIDIA H200, 2026-11-30", [TargetPass(1, 0.01), TargetPass(5, 0.02, 64)]),
        15,
        64,
    ),
    "dial_figure": lambda: widgets.dial_figure([coin(k, p) for k in (2, 5, 8) for p in (0.0, 0.5, 1.0)], SERVED[0]),
    "served_figure": lambda: served_figure(SERVED, {run.name: Expected.of(run, SERVED[:5]) for run in SERVED[5::5]}, SPEEDUP, 16),
    "throughput_figure": lambda: throughput_figure(BATCHED, ("question-answering", 0.0, 4)),
    "time_figure": lambda: widgets.time_figure(RUNS),
    "training_figure": lambda: widgets.training_figure([Progress(300, 300, 6.0, 0.35, 120.0)], 0.01, 0.4),
}
BENCH, SIZES = results(workloads=tuple(workload(name, 0.0) for name in NAMES)), batches(1.4, 1.1, 0.9, 0.8)
FIGURES |= {
    f"bench_figures.{draw.__name__}": partial(draw, of)
    for draw, of in (
        (bench_figures.heat_figure, BENCH.cells),
        (bench_figures.places_figure, BENCH.cells),
        (bench_figures.prediction_figure, BENCH.cells),
        (bench_figures.time_figure, BENCH.cells),
        (bench_figures.crossover_figure, SIZES),
        (bench_figures.throughput_figure, SIZES.batches),
    )
}
pictured = pytest.mark.parametrize("name", FIGURES)


def test_no_figure_is_left_out():
    modules = [import_module(f"{widgets.__name__}.{module.name}") for module in iter_modules(widgets.__path__)]
    functions = [f for module in modules for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    drawn = [f for f in functions if "Figure" in str(f.__annotations__.get("return")) and not f.__name__.startswith("_")]
    page = bench_figures.__name__  # has its own of some names
    found = {f"bench_figures.{f.__name__}" if f.__module__ == page else f.__name__ for f in drawn}
    assert found == set(FIGURES)


@pictured
def test_it_fits_the_page(name: str):
    layout = FIGURES[name]().layout
    assert layout.width and layout.width <= 1000 and layout.height
    assert layout.title.font.size == 16
    for line in layout.title.text.split("<br>"):
        assert 0 < len(line) <= layout.width / 8, "the title is cut off; a letter of it is about 8 pixels wide"
    for axis in (layout.xaxis, layout.yaxis):
        assert axis.title.text
        assert all((font.size or 12) >= 12 for font in (axis.title.font, axis.tickfont, layout.font, layout.legend.font))


@pictured
def test_its_legend_and_its_notes_are_not_cut_off(name: str):
    """A legend in a row goes on in columns as wide as its longest name; one that is too high gets a scrollbar."""
    out = FIGURES[name]()
    names = [trace.name for trace in out.data if trace.type != "heatmap"]
    assert all(names) and len(set(names)) == len(names)
    room = out.layout.width - out.layout.margin.l - out.layout.margin.r
    widest = max((40 + LETTER * len(name) for name in names), default=1)
    assert out.layout.legend.orientation == "h" and widest <= room
    assert 20 * ceil(len(names) / (room // widest)) <= out.layout.height / 4
    for note in out.layout.annotations:
        assert LETTER * len(note.text) <= (out.layout.margin.r if note.xanchor == "left" else room)


@pictured
def test_it_can_be_read_in_black_and_white(name: str):
    looks = [look(trace) for trace in FIGURES[name]().data]
    assert len(set(looks)) == len(looks)


def look(trace: go.Bar | go.Scatter | go.Heatmap) -> tuple[str | None, ...]:
    """What tells a trace apart besides its colour; a heat map has its numbers written in."""
    if trace.type == "bar":
        return "bar", trace.marker.pattern.shape or ""
    if trace.type == "scatter":
        mode = trace.mode or "lines"
        dash, symbol = trace.line.dash or "solid", trace.marker.symbol or "circle"
        return mode, dash if "lines" in mode else None, symbol if "markers" in mode else None
    assert trace.texttemplate
    return (trace.type,)
