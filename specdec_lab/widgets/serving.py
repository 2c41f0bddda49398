"""A server's runs: followed as they end, as a table, and against what one request at a time makes us expect of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from html import escape
from itertools import cycle

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython.display import HTML, display

from specdec_lab.errors import UserError
from specdec_lab.measure import serving
from specdec_lab.measure.serving import PLAIN, Expected, Serving
from specdec_lab.serving.recordings import ServedRun
from specdec_lab.serving.setup import Setup
from specdec_lab.theory.closed_forms import expected_tokens
from specdec_lab.widgets.curves import DASHES, SYMBOLS, Points, curves_figure
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, choice, slider
from specdec_lab.widgets.palette import EXPECTED, MEASURED
from specdec_lab.widgets.still import still

COLUMNS = {
    "set-up": "what drafts",
    "at a time": "requests under way",
    "tokens/s": "of all requests together",
    "ms a token": "that one user waits for the next token, the median of the requests",
    "rate": "acceptance rate, from the counters: accepted / drafted",
    "tokens a pass": "tokens written over all passes of the target, those without a draft too",
    "speedup": "a user's wait for a token, plain over this one, at as many requests at a time; ✗ where it is below 1",
}
SPEEDUP, WAIT, TOGETHER = "speedup of a token's wait", "a user's wait for a token", "tokens a second, together"
VIEWS = {SPEEDUP: "speedup over plain decoding", WAIT: "ms until one user's next token", TOGETHER: "tokens a second of all requests"}
KNOWN, P_GRID = 0.5, [i / 50 for i in range(51)]
CELL = "padding:2px 9px;text-align:right;white-space:nowrap"


def served_table(runs: Sequence[ServedRun], where: str) -> HTML:
    """A row a run; plain runs among them are what the speedups compare with. where: said below it, as a recording has to be labelled."""
    head = "".join(f'<th scope="col" title="{escape(what)}" style="{CELL}">{name}</th>' for name, what in COLUMNS.items())
    rows = "".join(f"<tr>{''.join(f'<td style={CELL!r}>{escape(text)}</td>' for text in _row(run, runs))}</tr>" for run in runs)
    return HTML(f'<table style="border-collapse:collapse"><tr>{head}</tr>{rows}</table><p><i>{escape(where)}</i></p>')


def _row(run: ServedRun, runs: Sequence[ServedRun]) -> list[str]:
    found, plain = run.acceptance, _plain(runs, run.concurrency)
    rate = None if found is None else found.acceptance_rate
    gain = None if plain is None or run.name == PLAIN else serving.gain(run, plain)
    return [
        run.name,
        str(run.concurrency),
        f"{run.tokens_per_second:.1f}",
        f"{1000 * run.median_time_per_token:.1f}",
        "" if rate is None else f"{rate:.2f}",
        f"{serving.tokens_a_pass(run):.2f}",
        "" if gain is None else _marked(gain),
    ]


def _plain(runs: Sequence[ServedRun], concurrency: int) -> ServedRun | None:
    return next((run for run in runs if run.name == PLAIN and run.concurrency == concurrency), None)


def watch_serving(
    source: Serving,
    name: str,
    setup: Setup,
    concurrencies: Sequence[int] = (1,),
    max_tokens: int = 32,
    beside: Sequence[ServedRun] = (),
) -> list[ServedRun]:
    """Start the server, ask, and stop it again: a line says what it is doing, a table has the first run below those of before.
    What came of more requests at a time is kept for a later picture, so that a learner can bet on it.

    Without vLLM the recorded runs are shown at once, and labelled. Interrupt the cell to end it early: the server is stopped.
    """
    line, table = (display(HTML(""), display_id=True) for _ in range(2))
    found = list[ServedRun]()

    def say(text: str) -> None:
        line.update(HTML(f'<div role="status">{escape(name)}: {escape(text)} …</div>'))

    with closing(source.runs(name, setup, concurrencies, max_tokens, say)) as runs:
        for run in runs:
            found.append(run)
            table.update(served_table([*beside, found[0]], source.where))
    line.update(HTML(""))
    return found


def serving_explorer(runs: Sequence[ServedRun], where: str) -> Explorer:
    """Speculation against requests at a time: marks by the server's clock, lines as its runs of one at a time make us expect.

    runs: plain ones and others, each from one request at a time up. where: what they were measured on.
    """
    names = list(dict.fromkeys(run.name for run in runs))
    plain = [run for run in runs if run.name == PLAIN]
    expected = {name: Expected.of(_first(runs, name), plain) for name in names if name != PLAIN}
    most = max(run.concurrency for run in runs)
    explorer = Explorer("serving explorer")
    at = slider("requests at a time", 1, 1, most)
    view = choice("show", list(VIEWS), SPEEDUP)
    said = widgets.HTML()
    picture = Picture(served_figure(runs, expected, SPEEDUP, 1), "What speculation brings, against requests at a time")

    def draw() -> None:
        picture.show(served_figure(runs, expected, view.value, at.value))
        said.value = _said(runs, expected, at.value) + f"<p><i>{escape(where)}</i></p>"

    explorer.react(draw, at, view)
    slides = {str(n): served_figure(runs, expected, SPEEDUP, n) for n in sorted({run.concurrency for run in plain})}
    page = still(slides["1"], f"Speedup against requests at a time, {where}", slides, "requests at a time")
    return explorer.of(at, view, picture, said, still=page)


def _first(runs: Sequence[ServedRun], name: str) -> ServedRun:
    return min((run for run in runs if run.name == name), key=lambda run: run.concurrency)


def served_figure(runs: Sequence[ServedRun], expected: Mapping[str, Expected], view: str, at: int) -> go.Figure:
    """One of `VIEWS` against requests at a time, with a line at `at` of them."""
    plain = {run.concurrency: run for run in runs if run.name == PLAIN}
    most = max(run.concurrency for run in runs)
    gains = {name: one.speedup(at) for name, one in expected.items()}
    finding = ", ".join(f"{name} {gain:.2f}x" for name, gain in gains.items())
    out = figure(f"At {at} at a time we expect {finding}", "requests at a time", VIEWS[view])
    ns = list(range(1, most + 1))
    for (name, one), dash in zip(expected.items(), cycle(DASHES), strict=False):
        ys = [_as(view, one.steps.t(n) / one.speedup(n), n, one.speedup(n)) for n in ns]
        out.add_scatter(x=ns, y=ys, name=f"{name}, expected", mode="lines", line={"color": EXPECTED, "width": 2.5, "dash": dash})
    for name, symbol in zip(dict.fromkeys(run.name for run in runs), cycle(SYMBOLS), strict=False):
        these = [run for run in runs if run.name == name and run.concurrency in plain]
        ys = [_as(view, run.median_time_per_token, run.concurrency, serving.gain(run, plain[run.concurrency])) for run in these]
        marker = {"color": MEASURED, "symbol": symbol, "size": 10}
        out.add_scatter(x=[run.concurrency for run in these], y=ys, name=f"{name}, measured", mode="markers", marker=marker)
    out.add_vline(x=at, line={"color": "#888", "dash": "dash"})
    out.add_hline(y=1 if view == SPEEDUP else 0, line={"color": "#888", "dash": "dot"})
    out.update_xaxes(tickvals=sorted(plain), range=[0.5, most + 0.5])
    out.update_yaxes(rangemode="tozero")
    out.update_layout(width=860, height=460)
    return out


def dial_figure(coins: Sequence[ServedRun], plain: ServedRun) -> go.Figure:
    """Speedup against the chance of a coin that drafts, for each k; each line has one number from the server, the price at `KNOWN`.

    plain: the same requests without a draft. Runs whose coin was made to take time are left out. Raises UserError for a k without a
    run at `KNOWN`.
    """
    lines, marks = dict[str, Points](), dict[str, Points]()
    runs = [run for run in coins if not run.draft_seconds]
    for k in sorted({run.setup.k for run in runs}):
        these = {run.p: serving.gain(run, plain) for run in runs if run.setup.k == k and run.p is not None}
        if KNOWN not in these:
            raise UserError(f"No run with k = {k} and p = {KNOWN} is among them, whose speedup tells the price of a round; add one.")
        price = float(expected_tokens(k, KNOWN)) / these[KNOWN]
        lines[f"k = {k}"] = (P_GRID, (expected_tokens(k, P_GRID) / price).tolist())
        marks[f"measured, k = {k}"] = (list(these), list(these.values()))
    title = f"One price a k, from p = {KNOWN}, and the formula says the rest"
    x = "p, the chance that a tested token stands"
    return curves_figure(title, x, "speedup over plain decoding", lines, marks, level=1)


def _as(view: str, wait: float, requests: int, gain: float) -> float:
    """A wait for a token in seconds, of so many users, in the unit of the view."""
    return {SPEEDUP: gain, WAIT: 1000 * wait, TOGETHER: requests / wait}[view]


def _said(runs: Sequence[ServedRun], expected: Mapping[str, Expected], at: int) -> str:
    """What is expected at so many requests at a time, with the price of a pass in its parts, and what the clock said if it was asked."""
    head = ("set-up", "tokens a pass", "target's pass", "all else", "expected", "measured")
    rows = "".join(_line(name, one, at, runs) for name, one in expected.items())
    cells = "".join(f'<th scope="col" style="{CELL}">{name}</th>' for name in head)
    note = "Prices are in plain steps of as many requests. ✗: slower than plain decoding."
    return f'<table style="border-collapse:collapse;margin:6px 0"><tr>{cells}</tr>{rows}</table><p>{note}</p>'


def _line(name: str, one: Expected, at: int, runs: Sequence[ServedRun]) -> str:
    run = next((run for run in runs if run.name == name and run.concurrency == at), None)
    plain = _plain(runs, at)
    measured = "not asked" if run is None or plain is None else _marked(serving.gain(run, plain))
    values = (f"{one.tokens_a_pass:.2f}", f"{one.target_price(at):.2f}", f"{one.rest:.2f}", _marked(one.speedup(at)), measured)
    cells = "".join(f'<td style="{CELL}">{value}</td>' for value in values)
    return f'<tr><th scope="row" style="{CELL};font-weight:normal">{escape(name)}</th>{cells}</tr>'


def _marked(gain: float) -> str:
    return f"{'✗ ' * (gain < 1)}{gain:.2f}"
