"""The page of a bench: every number of the summary, pictures whose titles say what was found, reasons, and no network."""

import re
from html.parser import HTMLParser
from typing import get_args

import pytest

from specdec_lab.measure.bench import summarise
from specdec_lab.theory.diagnosis import Cause
from specdec_lab.widgets import bench_figures as figures
from specdec_lab.widgets.bench_report import CAUSES, About, headline, report, write_report
from tests.measure.bench.toys import batch_record, plan, records, text_record, workload

ABOUT = About("A machine <1>, 2 threads", "2026-11-30", "specdec-lab bench --out 'a & b'", "torch 2.14")
GOOD, BAD = text_record(4, 3, 4, 4, 2), text_record(0, 0, 1, 0, drafting=0.2, verify=1.2, overhead=0.2)


def results(text=GOOD, batch=None, bad=(), **changes):
    """Every cell the same, but those of a workload in `bad`."""
    made = plan(**{"k": (4,), "workloads": (workload("letters", 0.0), workload("verses", 0.8)), "batches": (1, 8), **changes})
    held = records(made, text, batch or batch_record(4, 3, 4, 4))
    held |= {key: BAD.as_dict() for key in held if any(name in key for name in bad)}
    return summarise(made, held)


def batches(*speedups):
    """Batches 1, 2, 4, ... of one drafter with these speedups."""
    made = plan(k=(4,), drafters=("model",), batches=tuple(2**i for i in range(len(speedups))))
    held = records(made, GOOD)
    for i, speedup in enumerate(speedups):
        held[f"batch/auto/model/4/{2**i}/0"] = batch_record(4, 4, 4, 4, verify=5 / speedup, drafting=0.0, overhead=0.0).as_dict()
    return summarise(made, held)


class Reader(HTMLParser):
    """The tags that are open at the end, all that were seen, and the text of cells by row."""

    void = ("meta", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.seen, self.rows, self.wrong = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open += [] if tag in self.void else [tag]
        self.rows += [[]] if tag == "tr" else []

    def handle_endtag(self, tag):
        self.wrong += [] if self.open and self.open.pop() == tag else [tag]

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def without_plotly(page: str) -> str:
    return re.sub(r"<script>.*?</script>", "", page, count=1, flags=re.DOTALL)


def test_the_page_is_whole_and_needs_no_network():
    page = report(results(bad=["verses"]), ABOUT)
    assert "Plotly.newPlot" in page and len(page) > 1e6
    rest = without_plotly(page)
    reader = Reader(rest)
    assert not reader.wrong and not reader.open
    assert not [attrs for _, attrs in reader.seen if "src" in attrs or "href" in attrs]
    assert rest.count("Plotly.newPlot(") == 6
    assert "A machine &lt;1&gt;" in rest and "&#x27;a &amp; b&#x27;" in rest and "2026-11-30" in rest


def test_every_cell_has_a_row_with_all_its_numbers():
    found = results(bad=["verses"])
    rows = Reader(without_plotly(report(found, ABOUT))).rows
    head, *cells = rows[: len(found.cells) + 1]
    for fields, cell in zip(cells, found.cells, strict=True):
        row = dict(zip(head, fields, strict=True))
        m = cell.metrics
        assert (row["workload"], row["temperature"], row["drafter"], row["k"]) == (cell.workload, cell.at, cell.drafter, "4")
        assert row["rate"] == f"{m.acceptance_rate:.2f}" and row["alpha"] == f"{m.alpha:.2f} ± {m.alpha_error:.2f}"
        stood = [" ".join("–" if share is None else f"{share:.2f}" for share in shares) for shares in (m.marginal, m.conditional)]
        assert [row["stood, of all"], row["stood, of tested"]] == stood and stood[0] != stood[1]
        gain = cell.spread("speedup").median
        assert row["measured"] == ("✗ " if gain < 1 else "") + f"{gain:.2f}" and row["efficiency"] == "1.00"
        assert row["first token"] == "200" and row["plain first"] == "150" and row["same text"] == "yes"


def test_batches_have_a_row_each():
    found = batches(3.0, 2.0, 0.8)
    rows = Reader(without_plotly(report(found, ABOUT))).rows
    head, *many = rows[len(found.cells) + 1 :]
    assert [dict(zip(head, row, strict=True))["measured"] for row in many] == ["3.00", "2.00", "✗ 0.80"]
    assert [dict(zip(head, row, strict=True))["tokens checked"] for row in many] == ["5", "10", "20, past"]


def test_losses_are_listed_with_their_reasons():
    found = results(bad=["verses"])
    page = report(found, ABOUT)
    assert len(found.losses) == 2
    for name, why in found.losses:
        assert f"<b>{name}</b>: {why.reason}" in page
        assert f"<dt>{CAUSES[why.cause]}</dt>" in page
    assert "<p>Nowhere.</p>" in report(results(), ABOUT)


def test_every_cause_has_a_heading():
    assert set(CAUSES) == set(get_args(Cause)) - {"healthy"}


def test_the_headline_is_the_finding():
    assert headline(results(bad=["verses"])).startswith("Speculation was faster in 2 of 4 cells; the best, letters at temperature 0 (own)")
    assert headline(summarise(plan(), {})) == "Nothing was measured yet"


def test_an_unfinished_bench_says_so():
    made = plan(k=(4,))
    held = records(made)
    some = {key: held[key] for key in list(held)[:3]}
    page = report(summarise(made, some), ABOUT)
    assert f"Not finished: 2 of {len(made.tasks)} measurements" in page
    assert "Nothing was measured yet" in report(summarise(made, {}), ABOUT)


def test_a_bench_without_batches_or_of_batches_alone(tmp_path):
    assert "Many texts at once" not in report(results(batches=()), ABOUT)
    made = plan(k=(4,))
    alone = {key: value for key, value in records(made).items() if not key.startswith("text")}
    write_report(tmp_path / "report.html", summarise(made, alone), ABOUT)
    assert "Many texts at once" in (tmp_path / "report.html").read_text(encoding="utf-8")


# --- the pictures ---


def test_the_heat_map_has_alpha_and_speedup_in_every_cell():
    found = results(bad=["verses"], temperatures=(None, 1.0))
    picture = figures.heat_figure(found.cells)
    (heat,) = picture.data
    assert list(heat.y) == ["letters", "verses"] and len(heat.x) == 4
    assert heat.z[0][0] == found.cells[0].metrics.alpha and heat.text[0][0].endswith("✓ 3.38x")
    assert all("✗" in text for text in heat.text[1])
    assert picture.layout.title.text == "Colour is alpha; the clock says: faster in 4 of 8 cells"


def test_a_cell_that_was_not_measured_is_empty():
    made = plan(k=(4,), batches=())
    held = records(made)
    found = summarise(made, {key: held[key] for key in list(held)[:-2]})
    (heat,) = figures.heat_figure(found.cells[:-1]).data
    assert heat.z[1][1] is None and heat.text[1][1] == ""


def test_predicted_and_measured_with_quartiles():
    slow = text_record(4, 3, 4, 4, slower=2.0)
    picture = figures.prediction_figure(results(slow).cells)
    assert picture.layout.title.text == "Half of the cells are within 50% of what their parts add up to, all within 50%"
    _, letters, verses = picture.data
    assert letters.y[0] == pytest.approx(letters.x[0] / 2) and list(letters.error_y.array) == [0, 0]
    assert letters.marker.symbol != verses.marker.symbol


def test_the_time_of_a_token_is_stacked_beside_plain_decoding():
    picture = figures.time_figure(results(bad=["verses"]).cells)
    assert [trace.name for trace in picture.data] == ["target passes and verdicts", "drafting", "bookkeeping", "plain decoding"]
    assert list(picture.data[0].x) == ["letters, model", "letters, ngram", "verses, model", "verses, ngram"]
    assert picture.layout.title.text.endswith("2 of 4 cells take longer than plain decoding")


def test_acceptance_by_place():
    picture = figures.places_figure(results(k=(2, 4), text=None).cells)
    assert all(len(trace.x) == 4 for trace in picture.data) and len(picture.data) == 2
    assert list(picture.data[0].y) == pytest.approx([2 / 3, 1, 0.5, 1])


CROSSINGS = {
    (3.0, 2.0, 0.8): "model, k = 4: drafting pays up to 2 texts at once, and costs from 4 on",
    (3.0, 0.9): "model, k = 4: drafting pays up to 1 text at once, and costs from 2 on",
    (3.0, 2.0): "model, k = 4: drafting pays at every batch size measured, up to 2 texts",
    (0.9, 0.8): "model, k = 4: drafting pays at no batch size measured, from 1 text on",
    (0.9, 2.0, 0.8): "model, k = 4: drafting pays at 2 texts, and costs at 1, 4",
}


@pytest.mark.parametrize("speedups", CROSSINGS)
def test_the_crossover_says_where_it_is(speedups):
    found = batches(*speedups)
    picture = figures.crossover_figure(found)
    assert picture.layout.title.text == CROSSINGS[speedups]
    predicted, measured = picture.data
    assert list(measured.y) == pytest.approx(speedups) == list(predicted.y)
    ridge = [shape.x0 for shape in picture.layout.shapes if shape.x0 == shape.x1]
    assert ridge == ([16 / 5] if len(speedups) > 2 else [])


def test_throughput_grows_with_the_batch():
    picture = figures.throughput_figure(batches(3.0, 2.0).batches)
    assert picture.layout.title.text == "Plain decoding of 2 texts at once writes 1.0 times the tokens of 1"
    assert [list(trace.y) for trace in picture.data] == [[40, 40], pytest.approx([120, 80])]
