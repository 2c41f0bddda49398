"""One set-up in every engine's words, by its controls, and the table of where to begin."""

from __future__ import annotations

import pytest

from specdec_lab.serving import presets
from specdec_lab.serving.setup import DraftModel, Ngram, Setup
from specdec_lab.widgets import decision_table, engines_explorer, translation_view
from specdec_lab.widgets.engines import CASES, ENGINES, files_of
from tests.widgets.hands import Hands

SETUPS = {
    "lookup": Setup("an-8b", Ngram(1, 4), k=5),
    "two machines": presets.llama_70b_1b(16, 2),
    "gguf": Setup("t.gguf", DraftModel("d.gguf"), k=5, dtype="auto"),
}


@pytest.fixture
def hands() -> Hands:
    return Hands(engines_explorer(SETUPS))


def test_each_engine_in_its_words(hands):
    assert "prompt_lookup_max" in hands.text() and "vllm serve an-8b" in hands.text()
    hands.set("engine", "SGLang")
    assert "--speculative-num-draft-tokens 6" in hands.text()
    hands.set("engine", "TensorRT-LLM")
    assert hands.controls["file"].value == "config.yaml" and "max_draft_len: 5" in hands.text()
    hands.set("file", "offline.py")
    assert "NGramDecodingConfig" in hands.text()
    hands.set("engine", "transformers")
    assert "prompt_lookup_num_tokens=5" in hands.text()


def test_what_an_engine_cannot_do_is_refused_with_the_way_out(hands):
    hands.set("engine", "llama.cpp")
    assert hands.text().startswith("✗ llama.cpp") and "set dtype=&quot;auto&quot;" in hands.text()
    hands.set("set-up", "gguf")
    assert "--spec-draft-n-max 5" in hands.text()
    hands.set("set-up", "two machines")
    hands.set("engine", "SGLang")
    assert "--node-rank 0" in hands.text()
    hands.set("file", "serve_node_1.sh")
    assert "--node-rank 1" in hands.text()
    assert hands.status == ""


def test_every_engine_of_the_table_is_there():
    no_engine = {"-", "any of the five", "through Ray over machines"}
    named = {name for _, _, engines, _ in CASES for name in engines.split(", ")} - no_engine
    assert named <= set(ENGINES)
    shown = decision_table().data
    assert all(case[0] in shown for case in CASES)
    assert all(files_of(SETUPS["lookup"], engine) for engine in ENGINES)


def test_an_old_recipe_with_its_notes():
    shown = translation_view('vllm serve M --speculative-model "[ngram]" --num-speculative-tokens 5 --ngram-prompt-lookup-max 4').data
    assert "--speculative-config" in shown and "its default is the maximum now" in shown
