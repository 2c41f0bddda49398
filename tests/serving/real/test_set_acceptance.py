"""Acceptance set by hand on a real server: by our coin everywhere, by vLLM's own option where its build has it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import specdec_lab
from specdec_lab.errors import UserError
from specdec_lab.serving import client, coin_flip, environment, load, presets, server
from specdec_lab.serving.setup import Custom, Rejection
from specdec_lab.theory.closed_forms import expected_tokens

pytestmark = pytest.mark.vllm
PROMPTS = ["Write a Python function that adds two numbers.", "Tell me a story about a lighthouse."]
K, TOKENS = 4, 96


def test_a_coin_drafts_in_vllm_and_the_text_stays(embedded, tmp_path, monkeypatch):
    known = tmp_path / "known.json"

    def know(p: float, texts: list[list[int]]) -> None:
        known.with_suffix(".new").write_text(json.dumps({"p": p, "seconds": 0.0, "seed": 1, "texts": texts}))
        known.with_suffix(".new").replace(known)

    know(1.0, [])
    monkeypatch.setenv(coin_flip.FILE, str(known))
    monkeypatch.setenv("PYTHONPATH", str(Path(specdec_lab.__file__).parents[1]))
    setup = replace(presets.embedded_ngram(str(embedded), K), drafter=Custom(coin_flip.NAME), dtype="float32")
    runs = {}
    with server.start(setup) as running:
        plain = [client.ask(running.url, running.model, [{"role": "user", "content": prompt}], TOKENS) for prompt in PROMPTS]
        texts = [[*answer.prompt, *answer.tokens] for answer in plain]
        for p in (1.0, 0.6, 0.0):
            know(p, texts)
            runs[p] = load.run(running, PROMPTS, max_tokens=TOKENS)
    for run in runs.values():
        assert [answer.tokens for answer in run.answers] == [answer.tokens for answer in plain]
    found = {p: run.acceptance for p, run in runs.items()}
    assert found[1.0].acceptance_rate == 1 and found[0.0].accepted == 0
    rejections = found[0.6].rounds - found[0.6].accepted_at[-1]
    assert found[0.6].accepted / (found[0.6].accepted + rejections) == pytest.approx(0.6, abs=0.12)
    assert found[0.6].mean_acceptance_length == pytest.approx(float(expected_tokens(K, 0.6)), abs=0.5)


def test_vllms_own_synthetic_acceptance_ends_its_cpu_build(embedded):
    """The reason why the chapter uses the coin; the header of what we render says so. A GPU's build accepts what it is told to."""
    vllm = environment.require()
    setup = replace(presets.embedded_ngram(str(embedded), K), rejection=Rejection("synthetic", p=0.6))
    if vllm.device == "cpu":
        with pytest.raises(UserError, match="Synthetic acceptance not supported with CPU sampling"):
            server.start(setup)
        return
    with server.start(setup) as running:
        found = load.run(running, PROMPTS, max_tokens=TOKENS).acceptance
    assert found is not None and found.accepted_at[0] / found.rounds == pytest.approx(0.6, abs=0.2)
