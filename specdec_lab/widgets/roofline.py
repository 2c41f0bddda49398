"""Chapter 1's pictures: what a pass takes, against the bound that bytes and FLOP set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from math import inf, log10
from time import sleep
from typing import NamedTuple

import plotly.graph_objects as go
from ipywidgets import HTML

from specdec_lab.errors import UserError
from specdec_lab.measure.cost import CostCurve, time_passes
from specdec_lab.measure.traces import Bounds, TargetPass, curve_of, load_trace, recorded
from specdec_lab.models.interface import LanguageModel
from specdec_lab.theory import roofline
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, choice, slider
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED
from specdec_lab.widgets.still import still

HERE = "this machine"
# Bytes and FLOP (16 bits, dense) a second, as NVIDIA's data sheets say.
SHEETS = {
    "T4, data sheet": (320e9, 65e12),
    "A100 80 GB, data sheet": (2.039e12, 312e12),
    "H200, data sheet": (4.8e12, 989e12),
}
UNMEASURED = "predicted, not measured"
BATCHES = (1, 2, 4, 8, 16, 32, 64)
MOST_GUESSES = 15
TICKS = [2**i for i in range(11)]
REPEATS = 3
CELL = "border:1px solid #8888;padding:3px 12px;text-align:left"
REST = 0.1  # seconds in which a browser draws: it may not take the processor from the next timing


class Device(NamedTuple):
    """What is known of a machine: its bounds, where its points come from, and the points; a live machine's list grows."""

    bounds: Bounds
    origin: str
    passes: list[TargetPass]


class Formulas(NamedTuple):
    """What draws the lines: a learner's functions, or those of `theory.roofline`."""

    pass_time: Callable[..., float] = roofline.pass_time
    arithmetic_intensity: Callable[..., float] = roofline.arithmetic_intensity

    def seconds(self, tokens: float, b: Bounds, bandwidth: float | None = None, flop_rate: float | None = None) -> float:
        return self.pass_time(tokens, b.parameters, b.bytes_per_parameter, bandwidth or b.bandwidth, flop_rate or b.flop_rate)

    def steps(self, k: int, batch: int, b: Bounds) -> float:
        """v(k + 1) of a batch, one bound over the other."""
        return self.seconds((k + 1) * batch, b) / self.seconds(batch, b)


def roofline_explorer(
    model: LanguageModel,
    bounds: Bounds,
    pass_time: Callable[..., float] = roofline.pass_time,
    arithmetic_intensity: Callable[..., float] = roofline.arithmetic_intensity,
    passes: Iterable[TargetPass] = (),
    device: str = HERE,
) -> Explorer:
    """What a pass over k + 1 tokens of each of B texts takes at least, and where checking k guesses stops being free.

    bounds: of `model` on this machine. Your own two functions draw the lines. passes: timed before, to be shown at once; "Measure
    this machine" adds more. device: to begin with. Caches are left out: they are small while the texts are short.
    Raises UserError for a device that is not listed.
    """
    formulas = Formulas(pass_time, arithmetic_intensity)
    devices = _devices(bounds, list(passes))
    if device not in devices:
        raise UserError(f"There is no {device!r} to begin with; the list has: {', '.join(devices)}.")
    k, batch = slider("k, guesses checked for each text", 4, 0, MOST_GUESSES), slider("B, texts in the pass", 1, 1, BATCHES[-1])
    machine = choice("machine", list(devices), device)
    picture = Picture(roofline_figure(devices[device], 4, 1, formulas), "Time of a pass against the tokens in it, with its two bounds")
    numbers = HTML()

    def draw() -> None:
        chosen = devices[machine.value]
        picture.show(roofline_figure(chosen, k.value, batch.value, formulas))
        numbers.value = _numbers(chosen, k.value, batch.value, formulas)

    def measure() -> Iterator[str]:
        machine.value = HERE  # which draws it
        lengths = {1, k.value + 1}
        every = (TargetPass(*timed, texts) for texts in BATCHES for timed in time_passes(model, [*lengths], repeats=REPEATS, batch=texts))
        for i, timed in enumerate(every, 1):
            devices[HERE].passes.append(timed)
            draw()
            sleep(REST)
            took = f"{timed.batch} x {timed.tokens} tokens took {timed.seconds * 1000:.1f} ms"
            yield f"{i} of {len(BATCHES) * len(lengths) * REPEATS} passes: {took}"

    explorer = Explorer("Time of a pass, by guesses and texts")
    explorer.react(draw, k, batch, machine)
    buttons = explorer.measure("Measure this machine", measure, done="Measured: every point is the median, its bar the middle half.")
    slides = {str(texts): roofline_figure(devices[device], 4, texts, formulas) for texts in BATCHES}
    shown = still(slides["1"], picture.alt, slides, label="B, texts in the pass:")
    shown += f"<p>With k = 4 and B = 1:</p>{_numbers(devices[device], 4, 1, formulas)}"
    return explorer.of(k, batch, machine, picture, numbers, buttons, still=shown)


def roofline_figure(device: Device, k: int, batch: int, formulas: Formulas | None = None) -> go.Figure:
    """Milliseconds of a pass against its tokens: the two bounds, the points measured, and where k guesses for so many texts stand."""
    formulas, b = formulas or Formulas(), device.bounds
    ridge = roofline.ridge(b.bytes_per_parameter, b.bandwidth, b.flop_rate)
    out = figure(
        _title(k, batch, ridge, formulas.steps(k, batch, b)),
        "tokens in the pass, those of all texts",
        f"milliseconds ({device.origin})",
    )
    lengths = sorted({*TICKS, min(max(ridge, TICKS[0]), TICKS[-1])})
    for name, free, dash in (
        ("reading the weights", {"flop_rate": inf}, "dot"),
        ("arithmetic", {"bandwidth": inf}, "dash"),
        ("bound", {}, "solid"),
    ):
        line = {"color": EXPECTED, "width": 3 if dash == "solid" else 1.5, "dash": dash}
        milliseconds = [formulas.seconds(n, b, **free) * 1000 for n in lengths]
        out.add_scatter(x=lengths, y=milliseconds, name=name, mode="lines", line=line)
    _timed(out, "measured, 1 token a text", [p for p in device.passes if p.tokens == 1], "circle-open")
    _timed(out, "measured, more", [p for p in device.passes if p.tokens > 1], "circle")
    for name, tokens, symbol in ((f"plain step, B = {batch}", batch, "diamond"), (f"with k = {k} guesses", (k + 1) * batch, "star")):
        marker = {"color": "#FFFFFF", "symbol": symbol, "size": 14, "line": {"color": MEASURED, "width": 1.5}}
        out.add_scatter(x=[tokens], y=[formulas.seconds(tokens, b) * 1000], name=name, mode="markers", marker=marker)
    if ridge <= TICKS[-1]:
        out.add_vline(x=ridge, line={"color": "#888", "dash": "dot", "width": 1})
        note = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
        out.add_annotation(x=log10(ridge), text=f"ridge, {ridge:.0f} tokens", **note)
    _logarithmic(out, TICKS)
    out.update_xaxes(range=[-0.05, log10(TICKS[-1]) + 0.05])
    out.update_yaxes(type="log", dtick=1)
    out.update_layout(margin={"t": 75})
    return out


def _devices(here: Bounds, passes: list[TargetPass]) -> dict[str, Device]:
    """This machine, the recorded ones, and the data sheets, for the model whose bounds are given."""
    found = {HERE: Device(here, "measured here", passes)}
    for trace in map(load_trace, recorded()):
        found[f"{trace.device}, recorded"] = Device(trace.bounds, trace.label, [p for p in trace.events if isinstance(p, TargetPass)])
    for name, (bandwidth, flop_rate) in SHEETS.items():
        found[name] = Device(Bounds(here.parameters, 2, bandwidth, flop_rate), UNMEASURED, [])
    return found


def _title(k: int, batch: int, ridge: float, steps: float) -> str:
    texts, tokens = _count(batch, "text"), (k + 1) * batch
    if k == 0:
        return f"{texts}, no guesses: {_count(tokens, 'token')} in the pass, a plain step"
    place = f"{tokens:,} tokens, {'within' if tokens <= ridge else 'past'} the ridge of {ridge:.0f}"
    price = "they are free" if tokens <= ridge else f"they make it {steps:.1f} steps"
    return f"{texts}, {k} {'guess' if k == 1 else 'guesses'} each: {place}, {price}"


def _numbers(device: Device, k: int, batch: int, formulas: Formulas) -> str:
    """What the picture is made of, as a table."""
    b, tokens = device.bounds, (k + 1) * batch
    read, ridge = b.parameters * b.bytes_per_parameter, roofline.ridge(b.bytes_per_parameter, b.bandwidth, b.flop_rate)
    intensity = formulas.arithmetic_intensity(tokens, b.bytes_per_parameter)
    moving, computing = (formulas.seconds(tokens, b, **free) * 1000 for free in ({"flop_rate": inf}, {"bandwidth": inf}))
    timed = curve_of(device.passes, batch)
    measured = f"; measured {timed.v(k + 1):.2f}" if {1, k + 1} <= timed.timings.keys() else ""
    texts, at_work = _count(batch, "text"), formulas.arithmetic_intensity(ridge, b.bytes_per_parameter)
    most_texts, most_guesses = _count(roofline.free_texts(k, ridge), "text"), roofline.free_guesses(batch, ridge)
    rows = {
        "machine": escape(device.origin),
        "reads": f"{read / 1e6:,.0f} MB in {moving:.3g} ms",
        "computes": f"{intensity * read / 1e9:,.2f} GFLOP in {computing:.3g} ms",
        "intensity": f"{intensity:,.1f} FLOP a byte; arithmetic sets the time from {at_work:,.1f} on: the ridge, {ridge:,.1f} tokens",
        f"v({k + 1})": f"at least {formulas.steps(k, batch, b):.2f} plain steps of the same {texts}{measured}",
        "free up to": f"{most_texts} with k = {k}, or k = {most_guesses} with {texts}",
    }
    cells = "".join(
        f'<tr><th scope="row" style="{CELL};font-weight:bold">{name}</th><td style="{CELL}">{text}</td></tr>' for name, text in rows.items()
    )
    return f'<table style="border-collapse:collapse">{cells}</table>'


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _timed(out: go.Figure, name: str, passes: list[TargetPass], symbol: str) -> None:
    """A point for each pair of texts and tokens: the median of its passes, with their middle half as its bar."""
    curves = {batch: curve_of(passes, batch) for batch in sorted({timed.batch for timed in passes})}
    found = [(batch, n, timing) for batch, curve in curves.items() for n, timing in curve.timings.items()]
    middle = [timing.median * 1000 for *_, timing in found]
    low, high = ([timing.quartiles[i] * 1000 for *_, timing in found] for i in (0, 1))
    bars = {
        "type": "data",
        "array": [slow - m for slow, m in zip(high, middle, strict=True)],
        "arrayminus": [m - quick for quick, m in zip(low, middle, strict=True)],
        "color": MEASURED,
    }
    out.add_scatter(
        x=[batch * n for batch, n, _ in found],
        y=middle,
        error_y=bars,
        text=[f"{batch} x {n} tokens" for batch, n, _ in found],
        name=name,
        mode="markers",
        marker={"color": MEASURED, "symbol": symbol, "size": 8},
    )


def pass_figure(
    bound: Mapping[int, float],
    measured: CostCurve,
    guessed: Mapping[int, float] | None = None,
    products: Mapping[int, float] | None = None,
) -> go.Figure:
    """Milliseconds of a pass against its tokens: the bound, your guess (0 is none), the matrix products alone, whole passes.

    bound and products are in seconds, guessed in milliseconds.
    """
    many = max((n for n in measured.timings if n <= 8), default=1)
    title = f"A pass over {many} tokens takes {measured.v(many):.1f} times as long as one over a single token"
    out = figure(title, "n, tokens in the pass", "milliseconds")
    out.add_scatter(x=list(bound), y=[s * 1000 for s in bound.values()], name="bound", mode="lines", line={"color": EXPECTED, "width": 3})
    _points(out, "your prediction", {n: ms for n, ms in (guessed or {}).items() if ms}, EXPECTED, "x")
    _points(out, "matrix products alone", {n: s * 1000 for n, s in (products or {}).items()}, COLOURS["target"], "square-open", line=True)
    _points(out, "measured", measured.milliseconds, MEASURED, "circle", line=True)
    _logarithmic(out, list(measured.timings))
    out.update_yaxes(rangemode="tozero")
    return out


def _points(out: go.Figure, name: str, points: Mapping[int, float], colour: str, symbol: str, line: bool = False) -> None:
    if points:
        mode, thin = ("lines+markers" if line else "markers"), {"color": colour, "width": 1}
        marker = {"color": colour, "symbol": symbol, "size": 9}
        out.add_scatter(x=list(points), y=list(points.values()), name=name, mode=mode, marker=marker, line=thin)


def _logarithmic(out: go.Figure, ticks: list[int]) -> None:
    out.update_xaxes(type="log", tickvals=ticks, ticktext=[str(n) for n in ticks])
