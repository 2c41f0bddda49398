"""Chapter 8's explorers in JupyterLab: more users by slider, another view by its list; a set-up in another engine's words."""

from __future__ import annotations

import pytest

from specdec_lab.measure.serving import Expected
from tests.browser.lab import Lab
from tests.served import recording

SERVING = """
import sys; sys.path.insert(0, "..")
from specdec_lab.widgets import serving_explorer
from tests.served import recording
r = recording()
runs = [run for name in ("plain", "n-gram", "draft model") for run in r.sweep(name)]
"""
ENGINES = """
import sys; sys.path.insert(0, "..")
from specdec_lab.serving import presets
from specdec_lab.serving.setup import DraftModel, Ngram, Setup
from specdec_lab.widgets import decision_table, engines_explorer, translation_view
"""
SETUPS = '{"lookup": Setup("an-8b", Ngram(1, 4), k=5), "two machines": presets.llama_70b_1b(16, 2)}'


def test_more_users(lab: Lab):
    found = recording()
    expected = Expected.of(found.run("n-gram"), found.sweep("plain"))
    sheet = lab.notebook(SERVING, "serving_explorer(runs, r.label)")
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert sheet.plot(1)["layout"]["title"]["text"].startswith("At 1 at a time")
    sheet.set_slider("requests at a time", 16)
    assert sheet.plot(1)["layout"]["title"]["text"].startswith(f"At 16 at a time we expect n-gram {expected.speedup(16):.2f}x")
    assert "recorded on a made-up CPU" in sheet.text(1) and "✗" in sheet.text(1)
    sheet.shot("serving_explorer", 1)
    sheet.choose("show", "tokens a second, together")
    drawn = sheet.plot(1)
    plain = next(trace for trace in drawn["data"] if trace["name"] == "plain, measured")
    assert plain["y"][4] == pytest.approx(16 / found.run("plain", 16).median_time_per_token)
    assert drawn["layout"]["yaxis"]["title"]["text"] == "tokens a second of all requests"
    assert sheet.axe(1) == []
    with sheet.dark():
        assert sheet.axe(1) == []


def test_the_same_in_other_engines(lab: Lab):
    form = "vllm serve M --speculative-model [ngram] --num-speculative-tokens 5 --ngram-prompt-lookup-max 4"
    sheet = lab.notebook(ENGINES, f"engines_explorer({SETUPS})", "decision_table()", f"translation_view({form!r})")
    assert sheet.errors() == [] and sheet.unseen(1) == []
    assert "--speculative-config" in sheet.text(1)
    sheet.choose("engine", "SGLang")
    assert "--speculative-num-draft-tokens 6" in sheet.text(1)
    sheet.choose("set-up", "two machines")
    assert "--node-rank 0" in sheet.text(1)
    sheet.choose("engine", "llama.cpp")
    assert "✗ llama.cpp takes the GGUF file's own types" in sheet.text(1)
    sheet.shot("engines_explorer", 1)
    assert "n-gram lookup" in sheet.text(2) and "its default is the maximum now" in sheet.text(3)
    for dark in (False, True):
        if dark:
            with sheet.dark():
                assert [sheet.axe(i) for i in (1, 2, 3)] == [[], [], []]
        else:
            assert [sheet.axe(i) for i in (1, 2, 3)] == [[], [], []]
