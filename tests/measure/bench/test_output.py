"""JSON and CSV say the same as the summary, in the words of the course."""

import csv
import json

import pytest

from specdec_lab.measure.bench import summarise
from specdec_lab.measure.bench.output import write_tables
from tests.measure.bench.toys import batch_record, plan, records, text_record


@pytest.fixture
def written(tmp_path):
    made = plan(k=(4,), batches=(1, 8))
    held = records(made, text=text_record(4, 2, 0, 4, 3), batch=batch_record(4, 4, 4, 1, verify=5.0))
    results = summarise(made, held)
    files = write_tables(tmp_path, results, {"command": "specdec-lab bench", "date": "2026-11-30"})
    return results, {file.name: file for file in files}


def rows(file):
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_json_has_everything(written):
    results, files = written
    found = json.loads(files["results.json"].read_text())
    assert found["command"] == "specdec-lab bench" and found["complete"] is True
    assert found["pairs"]["auto"]["ridge"] == 16
    assert len(found["cells"]) == len(results.cells) == 4 and len(found["batches"]) == len(results.batches) == 4
    cell, summary = found["cells"][0], results.cells[0]
    m = summary.metrics
    assert (cell["acceptance_rate"], cell["alpha"], cell["alpha_error"]) == (m.acceptance_rate, m.alpha, m.alpha_error)
    assert cell["mean_acceptance_length"] == m.mean_acceptance_length == pytest.approx(3.6)
    assert cell["marginal"] == list(m.marginal) and cell["conditional"] == list(m.conditional)
    for name in ("speedup", "predicted_speedup", "efficiency", "tokens_per_second", "baseline_tokens_per_second", "first_token"):
        spread = summary.spread(name)
        assert [cell[name + end] for end in ("_low", "", "_high")] == [spread.low, spread.median, spread.high]
    assert cell["identical_to_baseline"] == "yes" and cell["lost_to"] is None


def test_csv_has_a_row_a_cell_and_a_row_a_batch(written):
    results, files = written
    cells, batches = rows(files["cells.csv"]), rows(files["batches.csv"])
    keys = [(c["workload"], c["temperature"], c["drafter"], c["k"]) for c in cells]
    assert keys == [(c.workload, c.at, c.drafter, str(c.k)) for c in results.cells]
    assert float(cells[0]["alpha"]) == pytest.approx(results.cells[0].metrics.alpha)
    assert [float(share) for share in cells[0]["marginal"].split()] == pytest.approx(results.cells[0].metrics.marginal, rel=1e-3)
    assert [int(b["batch"]) for b in batches] == [b.batch for b in results.batches]
    assert {b["lost_to"] for b in batches} == {"pass"} and all(b["why"] and b["repair"] for b in batches)
    assert [b["past_ridge"] for b in batches] == [str(b.past_ridge) for b in results.batches]


def test_without_batches_there_is_no_table_of_them(tmp_path):
    made = plan(batches=())
    files = write_tables(tmp_path, summarise(made, records(made)), {})
    assert [file.name for file in files] == ["results.json", "cells.csv"]


def test_a_place_that_was_never_tested_is_an_empty_one(tmp_path):
    made = plan(batches=(), k=(3,))
    write_tables(tmp_path, summarise(made, records(made, text=text_record(0, 0, k=3))), {})
    assert json.loads((tmp_path / "results.json").read_text())["cells"][0]["conditional"] == [0.0, None, None]
    assert rows(tmp_path / "cells.csv")[0]["conditional"] == "0  "
