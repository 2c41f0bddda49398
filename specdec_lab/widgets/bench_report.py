"""A bench as one page: pictures, tables and reasons, to be opened in any browser, without a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go

from specdec_lab.measure.bench.summary import BatchSummary, CellSummary, Results, Spread
from specdec_lab.widgets.bench_figures import (
    crossover_figure,
    heat_figure,
    places_figure,
    prediction_figure,
    throughput_figure,
    time_figure,
)

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1080px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; line-height: 1.25; } h2 { font-size: 20px; margin-top: 2em; }
figure { margin: 12px 0; } .wide { overflow-x: auto; } figcaption, .small { color: #555; font-size: 14px; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 3px 9px; text-align: right; white-space: nowrap; border-bottom: 1px solid #e2e2e2; }
thead th { border-bottom: 2px solid #999; } th[scope=row], td.text { text-align: left; }
tr.lost td.speedup { color: #a13f00; font-weight: 600; } dt { font-weight: 600; margin-top: .7em; } dd { margin-left: 1.4em; }
"""
CAUSES = {
    "text": "Low alpha: the draft does not know this text",
    "temperature": "Low alpha: the temperature",
    "mismatch": "Low alpha: the draft reads another text",
    "drift": "Low alpha: later guesses lose the thread",
    "k too large": "k is too large",
    "drafting": "c is too high: drafting is dear",
    "pass": "v(k + 1) is far above 1: verifying is dear",
    "overhead": "Overhead: what a round does besides its passes",
    "unseen": "Time that is in none of the parts",
    "batch": "The batch: the other texts need the arithmetic that guesses would use",
}


class About(NamedTuple):
    """What was measured, on what: lines for the head of the page."""

    machine: str
    date: str
    command: str
    versions: str


def write_report(file: Path, results: Results, about: About) -> None:
    """Write the page. Results without a single cell or batch make a page that says so."""
    file.write_text(report(results, about), encoding="utf-8")


def report(results: Results, about: About) -> str:
    """The page as HTML, with plotly in it."""
    title = headline(results)
    body = [_head(title, results, about), *_texts(results), *_batches(results), _losses(results)]
    page = "".join(body)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>{_plotly() if results.cells or results.batches else ''}</head>"
        f"<body><main>{page}</main></body></html>\n"
    )


def headline(results: Results) -> str:
    """The finding in a sentence."""
    if not results.cells:
        return "Nothing was measured yet" if not results.batches else "Batches of texts, plain and speculative"
    won = sum(cell.spread("speedup").median > 1 for cell in results.cells)
    best = max(results.cells, key=lambda cell: cell.spread("speedup").median)
    gain = f"{best.spread('speedup').median:.2f}"
    where = f"{best.workload} at temperature {best.at} with {best.drafter}, k = {best.k}"
    return f"Speculation was faster in {won} of {len(results.cells)} cells; the best, {where}, was {gain} times as fast as plain decoding"


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return f"<script>{get_plotlyjs()}</script>"


def _head(title: str, results: Results, about: About) -> str:
    pairs = "; ".join(
        f"{p.pair} in {p.dtype}, ridge at {results.ridge(asked):.1f} tokens a pass "
        f"({p.bandwidth / 1e9:.0f} GB/s, {p.flop_rate / 1e9:.0f} GFLOP/s measured)"
        for asked, p in results.pairs.items()
    )
    part = "" if results.complete else f"<p><strong>Not finished: {results.done} of {results.planned} measurements are in it.</strong></p>"
    return (
        f"<h1>{escape(title)}</h1>{part}<p class=small>{escape(about.machine)}, {escape(about.date)}; {escape(about.versions)}.<br>"
        f"{escape(pairs)}.<br><code>{escape(about.command)}</code></p>"
        "<p>Every speed is measured against plain decoding of the same prompts in the same run, a round of one and a round of the other. "
        "Figures are medians over prompts and repeats; bars and brackets hold the middle half. "
        "<em>Predicted</em>: mean acceptance length / (verify + k c + overhead), from what each part took.</p>"
    )


def _texts(results: Results) -> Iterable[str]:
    if not results.cells:
        return
    cells = results.cells
    yield "<h2>Acceptance first</h2>"
    yield _picture(heat_figure(cells), "Heat map: alpha of every cell, with its measured speedup")
    yield _picture(places_figure(cells), "Share of tested tokens that stood, by place in the draft")
    yield "<h2>Latency second</h2>"
    yield _picture(prediction_figure(cells), "Measured against predicted speedup of every cell, with quartiles")
    yield _picture(time_figure(cells), "Milliseconds a token by part, stacked, and those of plain decoding")
    yield "<h2>Every cell</h2>"
    yield _cells_table(cells)


def _batches(results: Results) -> Iterable[str]:
    if not results.batches:
        return
    yield "<h2>Many texts at once</h2>"
    yield _picture(crossover_figure(results), "Speedup of the throughput by batch size, predicted and measured")
    yield _picture(throughput_figure(results.batches), "Tokens a second over all texts by batch size, plain and speculative")
    yield _batches_table(results.batches)


def _losses(results: Results) -> str:
    """Where speculation lost and why, a sentence each, by cause."""
    if not results.losses:
        return "<h2>Where speculation lost, and why</h2><p>Nowhere.</p>" if results.cells or results.batches else ""
    causes = {why.cause: [(name, w) for name, w in results.losses if w.cause == why.cause] for _, why in results.losses}
    listed = "".join(
        f"<dt>{escape(CAUSES[cause])}</dt>"
        + "".join(f"<dd><b>{escape(name)}</b>: {escape(w.reason)} <em>{escape(w.repair)}</em></dd>" for name, w in found)
        for cause, found in causes.items()
    )
    return f"<h2>Where speculation lost, and why</h2><dl>{listed}</dl>"


def _picture(figure: go.Figure, alt: str) -> str:
    drawn = figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False})
    return f'<figure class=wide role="group" tabindex="0" aria-label="{escape(alt)}">{drawn}</figure>'


CELL_COLUMNS = (
    "workload", "temperature", "drafter", "k", "dtype", "alpha", "tokens a pass", "predicted", "measured", "efficiency", "rate",
    "stood, of all", "stood, of tested", "verify", "drafting", "overhead", "tok/s", "plain tok/s", "first token", "plain first",
    "same text",
)  # fmt: skip
BATCH_COLUMNS = (
    "texts", "drafter", "k", "dtype", "alpha", "tokens a pass", "predicted", "measured", "efficiency", "verify", "drafting", "overhead",
    "tok/s", "plain tok/s", "tokens checked", "same text",
)  # fmt: skip


def _cells_table(cells: Sequence[CellSummary]) -> str:
    note = (
        "rate: accepted / drafted. alpha: accepted / tested, give or take a standard error. stood: by place in the draft. Times to the "
        "first token in ms. verify, drafting, overhead: of a round, in plain decoding steps. efficiency: measured / predicted."
    )
    return _table("Every cell", note, CELL_COLUMNS, [(_cell_fields(cell), cell.why is not None) for cell in cells])


def _cell_fields(cell: CellSummary) -> list[str]:
    m = cell.metrics
    return [
        cell.workload, cell.at, cell.drafter, str(cell.k), cell.dtype, *_judgement(cell), _number(m.acceptance_rate),
        _places(m.marginal), _places(m.conditional), *_prices(cell),
        *(_range(cell.spread(name), "{:.1f}") for name in ("tokens_per_second", "baseline_tokens_per_second")),
        *(f"{1000 * cell.spread(name).median:.0f}" for name in ("first_token", "baseline_first_token")), cell.same,
    ]  # fmt: skip


def _judgement(of: CellSummary | BatchSummary) -> list[str]:
    m = of.metrics
    alpha = "none" if m.alpha is None else f"{m.alpha:.2f} ± {m.alpha_error:.2f}"
    predicted, efficiency = (_number(of.spread(name).median) for name in ("predicted_speedup", "efficiency"))
    return [alpha, _number(m.mean_acceptance_length), predicted, _range(of.spread("speedup")), efficiency]


def _prices(of: CellSummary | BatchSummary) -> list[str]:
    return [_number(of.spread(name).median) for name in ("verify", "drafting", "overhead")]


def _batches_table(batches: Sequence[BatchSummary]) -> str:
    note = "Tokens a second are those of all texts together. tokens checked: in a pass that verifies; past: more than the ridge."
    return _table("Every batch size", note, BATCH_COLUMNS, [(_batch_fields(batch), batch.why is not None) for batch in batches])


def _batch_fields(batch: BatchSummary) -> list[str]:
    same = batch.runs[0].identical
    return [
        str(batch.batch), batch.drafter, str(batch.k), batch.dtype, *_judgement(batch), *_prices(batch),
        *(_range(batch.spread(name), "{:.1f}") for name in ("tokens_per_second", "plain_tokens_per_second")),
        f"{batch.batch * (batch.k + 1)}{', past' if batch.past_ridge else ''}", "sampled" if same is None else "yes" if same else "no",
    ]  # fmt: skip


def _table(name: str, note: str, columns: Sequence[str], rows: Sequence[tuple[list[str], bool]]) -> str:
    """A row's first field names it. The measured speedup of a row that lost is marked by a cross and by colour."""
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in columns)
    at = columns.index("measured")
    body = ""
    for fields, lost in rows:
        fields[at] = ("✗ " if lost else "") + fields[at]
        first, *rest = map(escape, fields)
        cells = "".join(f"<td{' class=speedup' if i == at else ''}>{field}</td>" for i, field in enumerate(rest, 1))
        body += f"<tr{' class=lost' if lost else ''}><th scope=row>{first}</th>{cells}</tr>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<p class=small>{escape(note)}</p><div class=wide role="region" tabindex="0" aria-label="{escape(name)}">{table}</div>'


def _number(value: Any) -> str:
    return "none" if value is None else f"{value:.2f}"


def _range(spread: Spread, form: str = "{:.2f}") -> str:
    middle, low, high = (form.format(value) for value in (spread.median, spread.low, spread.high))
    return middle if low == high else f"{middle} [{low}, {high}]"


def _places(shares: Sequence[float | None]) -> str:
    return " ".join("–" if share is None else f"{share:.2f}" for share in shares) or "none"
