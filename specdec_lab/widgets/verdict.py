"""Does it help? The map of acceptance, and for a place on it the speedup by batch size: expected, then measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import log2
from time import sleep
from typing import Any

import plotly.graph_objects as go
from IPython.display import HTML
from ipywidgets import HTML as Words
from torch import Tensor

from specdec_lab.errors import UserError
from specdec_lab.measure.acceptance import Alpha
from specdec_lab.measure.crossover import BatchPoint, crossover
from specdec_lab.measure.prices import BatchPrices
from specdec_lab.measure.traces import Bounds
from specdec_lab.models.loading import LoadedPair
from specdec_lab.sampling import SamplingParams
from specdec_lab.theory import closed_forms, roofline
from specdec_lab.theory.diagnosis import Signature
from specdec_lab.theory.recommend import doubt
from specdec_lab.theory.recommend import recommend as packages_own
from specdec_lab.widgets.acceptance import PALE, At, alpha_cells
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, choice, slider
from specdec_lab.widgets.palette import EXPECTED, MEASURED
from specdec_lab.widgets.still import still

CELL = "padding:2px 7px;text-align:right;white-space:nowrap"
REST = 0.1  # seconds in which a browser draws: it may not take the processor from the next batch
Setting = tuple[str, float, int]  # kind of text, temperature, k


@dataclass
class Known:
    """What there is to show: alpha by place, prices by batch, and what was measured at which setting."""

    alphas: Mapping[At, Alpha]
    prices: Mapping[int, BatchPrices]
    bounds: Bounds | None = None
    points: dict[Setting, list[BatchPoint]] = field(default_factory=dict)

    def gain(self, batch: int, k: int, alpha: float) -> float:
        """Speedup to expect of so many texts at once, from bare passes."""
        prices = self.prices[batch]
        return float(closed_forms.speedup(k, alpha, prices.c, prices.v(k + 1)))

    def bound(self, batch: int, k: int, alpha: float) -> float:
        """The same with the target's passes as quick as the machine's bounds let them be."""
        assert self.bounds is not None
        verify, plain = (roofline.pass_time(n * batch, **vars(self.bounds)) for n in (k + 1, 1))
        return float(closed_forms.speedup(k, alpha, self.prices[batch].c, verify / plain))


def verdict_explorer(
    alphas: Iterable[Alpha],
    prices: Iterable[BatchPrices],
    recommend: Callable[..., Any] = packages_own,
    bounds: Bounds | None = None,
    pair: LoadedPair | None = None,
    prompts: Mapping[str, Sequence[Tensor]] | None = None,
    points: Mapping[Setting, Sequence[BatchPoint]] | None = None,
) -> Explorer:
    """Choose a kind of text, a temperature and k: what to expect of it in batches, what `recommend` (yours) says there, and the clock.

    pair, prompts: ids by kind of text, for "Measure this machine"; without them there is no such button. points: measured before.
    Raises UserError where there is nothing to show.
    """
    known = Known({(a.workload, a.temperature): a for a in alphas}, {p.batch: p for p in prices}, bounds)
    known.points.update({setting: list(measured) for setting, measured in (points or {}).items()})
    if not known.alphas or not known.prices:
        raise UserError("There is no alpha or no price to show; run the cells that measure them first.")
    first = next(iter(known.points), (*next(iter(known.alphas)), 4))
    workload = choice("kind of text", list(dict.fromkeys(name for name, _ in known.alphas)), first[0])
    temperature = choice("temperature", [(f"{t:g}", t) for t in sorted({t for _, t in known.alphas})], first[1])
    k = slider("k, tokens drafted a round", first[2], 1, min(p.k_max for p in known.prices.values()))
    heat = Picture(_heat(known, first), "Heat map of alpha: kinds of text down, temperatures across")
    gains = Picture(crossover_figure(known, first), "Speedup by the number of texts at once")
    rates = Picture(throughput_figure(known, first), "Tokens a second of all texts, by the number of texts at once")
    words = Words()

    def here() -> Setting:
        return workload.value, temperature.value, k.value

    def draw() -> None:
        heat.show(_heat(known, here()))
        gains.show(crossover_figure(known, here()))
        rates.show(throughput_figure(known, here()))
        words.value = _verdicts(known, here(), recommend)

    def measure() -> Iterator[str]:
        assert pair is not None and prompts is not None
        setting, found = here(), list[BatchPoint]()
        known.points[setting] = found
        params = SamplingParams(setting[1])
        for point in crossover(
            pair.target, pair.draft, prompts[setting[0]], setting[2], sorted(known.prices), params=params, steps=8, repeats=1
        ):
            found.append(point)
            draw()
            sleep(REST)
            yield f"{point.batch} at once: {point.speedup:.2f} times plain decoding ({len(found)} of {len(known.prices)} batches)"

    explorer = Explorer("Acceptance, and what it is worth in a batch")
    explorer.react(draw, workload, temperature, k)
    buttons = [explorer.measure("Measure this machine", measure)] if pair and prompts else []
    slides = {str(n): crossover_figure(known, (*first[:2], n)) for n in range(1, k.max + 1)}
    shown = still(heat.figure, heat.alt) + still(gains.figure, gains.alt, slides, "k, tokens drafted a round:") + words.value
    return explorer.of(heat, workload, temperature, k, *buttons, gains, words, rates, still=shown)


def _heat(known: Known, at: Setting) -> go.Figure:
    return alpha_cells({place: (a.alpha, a.error) for place, a in known.alphas.items()}, at[:2])


def crossover_figure(known: Known, at: Setting) -> go.Figure:
    """Speedup against the number of texts: expected from bare passes and from the bounds, and measured."""
    workload, t, k = at
    a, batches = known.alphas[workload, t], sorted(known.prices)
    low, gains, high = ([known.gain(b, k, p) for b in batches] for p in doubt(a.alpha, a.error))
    out = figure(_crossing(at, batches, gains), "texts at once", "speedup over plain decoding")
    thin = {"color": EXPECTED, "width": 1, "dash": "dot"}
    out.add_scatter(
        x=batches + batches[::-1], y=high + low[::-1], name="alpha two errors off", mode="lines", line=thin, fill="toself", fillcolor=PALE
    )
    out.add_scatter(x=batches, y=gains, name="expected, from bare passes", mode="lines", line={"color": EXPECTED, "width": 3})
    bound = [known.bound(b, k, a.alpha) for b in batches] if known.bounds else []
    dashed = {"color": EXPECTED, "width": 2, "dash": "dash"}
    out.add_scatter(x=batches[: len(bound)], y=bound, name="expected, from the roofline", mode="lines", line=dashed)
    points = known.points.get(at, [])
    _marks(out, "expected of the run's own tokens and parts", points, [p.predicted_speedup for p in points], "x", EXPECTED)
    _marks(out, "measured", points, [p.speedup for p in points], "circle", MEASURED)
    out.add_hline(y=1, line={"color": "#888", "dash": "dot"})
    return _by_batch(out, batches)


def throughput_figure(known: Known, at: Setting) -> go.Figure:
    """Tokens a second of all texts together, with and without a draft."""
    workload, t, k = at
    a, batches = known.alphas[workload, t], sorted(known.prices)
    plain = [known.prices[b].plain_tokens_per_second for b in batches]
    ours = [rate * known.gain(b, k, a.alpha) for b, rate in zip(batches, plain, strict=True)]
    best = max(range(len(batches)), key=lambda i: max(plain[i], ours[i]))
    how = "with" if ours[best] > plain[best] else "without"
    out = figure(f"Most tokens a second are expected {how} a draft, {batches[best]} texts at once", "texts at once", "tokens a second")
    out.add_scatter(x=batches, y=plain, name="plain, expected", mode="lines", line={"color": EXPECTED, "width": 2, "dash": "dash"})
    out.add_scatter(x=batches, y=ours, name="with a draft, expected", mode="lines", line={"color": EXPECTED, "width": 3})
    points = known.points.get(at, [])
    _marks(out, "plain, measured", points, [p.plain_tokens_per_second for p in points], "circle-open", MEASURED)
    _marks(out, "with a draft, measured", points, [p.tokens_per_second for p in points], "circle", MEASURED)
    out.update_layout(height=360)
    return _by_batch(out, batches)


def _marks(out: go.Figure, name: str, points: Sequence[BatchPoint], y: list[float], symbol: str, colour: str) -> None:
    marker = {"color": colour, "symbol": symbol, "size": 10}
    out.add_scatter(x=[p.batch for p in points], y=y, name=name, mode="markers", marker=marker)


def _by_batch(out: go.Figure, batches: Sequence[int]) -> go.Figure:
    ends = [log2(batches[0]) * 0.30103 - 0.05, log2(batches[-1]) * 0.30103 + 0.05]
    out.update_xaxes(type="log", tickvals=list(batches), ticktext=[str(b) for b in batches], range=ends)
    out.update_yaxes(rangemode="tozero")
    return out


def _crossing(at: Setting, batches: Sequence[int], gains: Sequence[float]) -> str:
    where = f"{at[0]} at temperature {at[1]:g}, k = {at[2]}"
    lost = next((i for i in range(len(batches)) if max(gains[i:]) <= 1), len(batches))
    if lost == 0:
        return f"{where}: expected to lose at every size"
    if lost == len(batches):
        return f"{where}: expected to win with {batches[-1]} texts still"
    return f"{where}: expected to lose from {batches[lost]} texts on"


def _verdicts(known: Known, at: Setting, recommend: Callable[..., Any]) -> str:
    """What `recommend` says for each number of texts."""
    a = known.alphas[at[:2]]
    rows = ""
    for batch, prices in sorted(known.prices.items()):
        verdict, k, gain = recommend(a.alpha, prices.c, prices.v, 0.0, a.error, prices.k_max)[:3]
        cells = (str(batch), f"{prices.c:.2f}", f"{prices.v(at[2] + 1):.2f}", str(verdict), str(k), f"{float(gain):.2f}")
        rows += "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in cells) + "</tr>"
    names = ("texts", "c", f"v({at[2] + 1})", "recommended", "best k", "expected speedup")
    head = "".join(f'<th scope="col" style="{CELL};font-weight:bold">{name}</th>' for name in names)
    where = f"{escape(at[0])} at temperature {at[1]:g}: alpha {a.alpha:.2f} ± {a.error:.2f} over {a.tokens} tokens"
    return f'<p>{where}. By batch:</p><table style="border-collapse:collapse"><tr>{head}</tr>{rows}</table>'


SIGNS: dict[str, tuple[str, Callable[[Signature], str]]] = {
    "speedup": ("measured, one text at a time", lambda s: f"{s.speedup:.2f}"),
    "rate": ("acceptance rate: accepted / drafted", lambda s: "" if s.rate is None else f"{s.rate:.2f}"),
    "k": ("tokens drafted a round", lambda s: str(s.k)),
    "alpha": ("accepted / tested", lambda s: f"{s.alpha:.2f}"),
    "by place": (
        "1st, 2nd, 3rd guess: share that stood, of those tested",
        lambda s: " ".join("–" if x is None else f"{x:.2f}" for x in s.conditional[:3]),
    ),
    "cold alpha": ("alpha of the same set-up at temperature 0", lambda s: "" if s.cool is None else f"{s.cool:.2f}"),
    "tokens a pass": ("mean acceptance length", lambda s: f"{s.length:.2f}"),
    "pass": ("the target's pass over the draft and one token more, in plain steps", lambda s: f"{s.verify:.2f}"),
    "drafting": ("a round, in plain steps", lambda s: f"{s.k * s.c:.2f}"),
    "overhead": ("a round, in plain steps", lambda s: f"{s.overhead:.2f}"),
}


def signature_table(runs: Mapping[str, Signature], columns: Sequence[str] = tuple(SIGNS)) -> HTML:
    """A row a run, with the numbers that a diagnosis reads. columns: which of them. Raises UserError for one that there is not."""
    if unknown := [name for name in columns if name not in SIGNS]:
        raise UserError(f"There is no column {unknown[0]!r}; there are: {', '.join(SIGNS)}.")
    head = "".join(f'<th scope="col" title="{escape(SIGNS[name][0])}" style="{CELL}">{escape(name)}</th>' for name in columns)
    rows = ""
    for name, run in runs.items():
        cells = "".join(f'<td style="{CELL}">{escape(SIGNS[column][1](run))}</td>' for column in columns)
        rows += f'<tr><th scope="row" style="{CELL};font-weight:bold">{escape(name)}</th>{cells}</tr>'
    return HTML(f'<table style="border-collapse:collapse"><tr><td></td>{head}</tr>{rows}</table>')
