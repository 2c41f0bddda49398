"""A recording comes back as it was saved; what cannot be read is refused in a sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from specdec_lab.assets import asset
from specdec_lab.errors import UserError
from specdec_lab.serving import presets, recordings
from specdec_lab.serving.legacy import translate
from specdec_lab.serving.metrics import Counters
from specdec_lab.serving.recordings import LegacyError, Recording, Served, ServedRun, load_recording, setup_as_json, setup_from_json
from specdec_lab.serving.setup import Custom, Eagle3, Medusa, NoDrafter, Parallel, Rejection, Sampling, Setup, Suffix
from tests.serving.support import one_sentence

SETUPS = [
    presets.llama_70b_1b(16, nodes=2),
    presets.embedded_ngram("target"),
    replace(presets.embedded_draft("target", "draft"), rejection=Rejection("synthetic", p=0.5), sampling=Sampling(0.7, top_k=3)),
    *[Setup("T", drafter) for drafter in (Suffix(), Eagle3("H"), Medusa("H"), Custom("a.B"))],
    Setup("T", NoDrafter(), k=0, parallel=Parallel(tensor=2), dtype="float32"),
]
ANSWERS = (Served("json", "one", (1, 2, 3), "abc", 0.2, 0.4, "stop"), Served("", "two", (4,), "d", 0.3, 0.3, "length"))


def run(name: str = "n-gram", concurrency: int = 1, p: float | None = None, setup: Setup = SETUPS[1]) -> ServedRun:
    return ServedRun(name, setup, concurrency, 2.0, ANSWERS, Counters(1, 5, 2, (2, 0)), Counters(4, 20, 8, (4, 4)), p)


def recording(*runs: ServedRun) -> Recording:
    return Recording("a machine", "2026-11-30", "abc", {"vllm": "0.32"}, "command", runs, (LegacyError("n", "old", "no", "new"),))


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: type(setup.drafter).__name__)
def test_a_setup_comes_back(setup):
    assert setup_from_json(json.loads(json.dumps(setup_as_json(setup)))) == setup


def test_a_recording_comes_back(tmp_path):
    made = recording(run(), replace(run("plain"), before=None, after=None), run("coin flip", p=0.5))
    made.save(tmp_path / "new" / "one.json")
    assert load_recording(tmp_path / "new" / "one.json") == made
    assert made.label == "recorded on a machine, 2026-11-30"


def test_what_a_run_says():
    one = run()
    assert (one.tokens, one.tokens_per_second) == (4, 2.0)
    assert one.acceptance is not None and (one.acceptance.drafted, one.acceptance.accepted, one.acceptance.rounds) == (15, 6, 3)
    assert replace(one, before=None, after=None).acceptance is None
    assert one.median_time_to_first_token == pytest.approx(0.25) and one.median_seconds == pytest.approx(0.35)
    assert one.median_time_per_token == pytest.approx(0.1), "an answer of a single token has no time between tokens"
    with pytest.raises(UserError, match="raise max_tokens"):
        replace(one, answers=ANSWERS[1:]).median_time_per_token  # noqa: B018


def test_runs_are_found_by_name():
    slow = run(concurrency=8)
    flips = [replace(run("coin flip", p=p), draft_seconds=s) for p, s in ((0.9, 0.0), (0.3, 0.0), (0.5, 0.1))]
    made = recording(slow, run(), *flips, replace(run(), setup=replace(SETUPS[1], dtype="float32")))
    assert made.run("n-gram", 8) is slow and made.run("n-gram", dtype="float32").setup.dtype == "float32"
    assert [each.concurrency for each in made.sweep("n-gram")] == [1, 8]
    exact = replace(run("plain"), setup=replace(SETUPS[1], dtype="float32"))
    assert recording(run("plain"), exact).baseline(made.run("n-gram", dtype="float32")) is exact
    assert [(each.p, each.draft_seconds) for each in made.coin_flips()] == [(0.3, 0.0), (0.9, 0.0), (0.5, 0.1)]
    with pytest.raises(UserError, match=r"No run of plain .* there are coin flip") as refused:
        made.run("plain")
    assert one_sentence(refused.value)


def test_what_cannot_be_read(tmp_path):
    file = tmp_path / "r.json"
    for text, part in (("[", "is no recording"), ('{"version": 1}', "is no recording"), ('{"version": 9}', "has format 9")):
        file.write_text(text)
        with pytest.raises(UserError, match=part) as refused:
            load_recording(file)
        assert recordings.FILES.again in str(refused.value)
    with pytest.raises(UserError, match="There is no recording nothing; recorded are: "):
        load_recording("nothing")


@pytest.mark.parametrize("name", recordings.recorded())
def test_what_the_course_ships_is_whole(name):
    found = load_recording(name)
    file = asset("serving") / f"{name}.json"
    assert not re.search(r'"/|/root|/home|/tmp', file.read_text()), "a path of the machine it was made on"
    assert {"vllm", "python", "torch", "transformers", "specdec_lab"} <= set(found.versions)
    for drafter in ("plain", "n-gram", "draft model"):
        assert [run.concurrency for run in found.sweep(drafter)] == [1, 2, 4, 8, 16]
    assert {(run.setup.k, run.p) for run in found.coin_flips()} >= {(k, p) for k in (2, 5, 8) for p in (0.3, 0.5, 0.7, 0.9)}
    for run in found.runs:
        assert run.tokens == sum(len(answer.tokens) for answer in run.answers) > 0
        assert all(0 < answer.time_to_first_token <= answer.seconds <= run.seconds for answer in run.answers)
        assert (run.acceptance is None) == isinstance(run.setup.drafter, NoDrafter)


@pytest.mark.parametrize("name", recordings.recorded())
def test_no_drafter_changed_a_text_where_rounding_does_not(name):
    """The random draft too, which only costs time. In bfloat16 near-ties may part texts (notebook 10), in float32 none do."""
    found = load_recording(name)
    plain = [answer.tokens for answer in found.run("plain", dtype="float32").answers]
    for drafter in ("n-gram", "draft model"):
        assert [answer.tokens for answer in found.run(drafter, dtype="float32").answers] == plain
    drafted, text = found.run("random draft"), found.run("plain")
    assert drafted.acceptance is not None and drafted.acceptance.acceptance_rate is not None
    assert drafted.acceptance.acceptance_rate < 0.1 and drafted.tokens_per_second < text.tokens_per_second


@pytest.mark.parametrize("name", recordings.recorded())
def test_the_old_forms_errors_are_those_of_their_old_arguments(name):
    errors = load_recording(name).errors
    assert len(errors) == 3
    for error in errors:
        assert "unrecognized arguments: --speculative-model" in error.message or "keyword argument 'speculative_model'" in error.message
        assert translate(error.form).current == error.current
