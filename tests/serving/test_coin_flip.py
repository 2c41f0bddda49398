"""The coin that drafts inside vLLM, asked as vLLM asks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import specdec_lab
from specdec_lab.serving import coin_flip

TEXTS = [[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 9, 9, 9, 9]]


def config(k: int = 3, longest: int = 64, vocab: int = 100) -> SimpleNamespace:
    model = SimpleNamespace(max_model_len=longest, get_vocab_size=lambda: vocab)
    return SimpleNamespace(speculative_config=SimpleNamespace(num_speculative_tokens=k), model_config=model)


@pytest.fixture
def know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "known.json"
    monkeypatch.setenv(coin_flip.FILE, str(file))
    written = iter(range(1, 100))

    def write(p: float, seconds: float = 0.0, texts: list[list[int]] = TEXTS) -> None:
        file.write_text(json.dumps({"p": p, "seconds": seconds, "seed": 0, "texts": texts}))
        at = next(written) * 10**9
        os.utime(file, ns=(at, at))

    return write


def asked(coin: coin_flip.CoinFlip, *held: list[int], sampled: int = 1) -> list[list[int]]:
    """What it drafts behind these texts, in a table as wide as vLLM's."""
    table = np.zeros((len(held), 64), dtype=np.int32)
    for row, tokens in zip(table, held, strict=True):
        row[: len(tokens)] = tokens
    return coin.propose([[0] * sampled for _ in held], np.array([len(tokens) for tokens in held]), table, slot_mappings=None)


def test_it_drafts_what_comes_in_each_text(know):
    know(1.0)
    coin = coin_flip.CoinFlip(config())
    coin.load_model(None)
    assert asked(coin, [1, 2, 3], [1, 2, 9], [1, 2, 3, 4, 5, 6, 7]) == [[4, 5, 6], [9, 9, 9], [8]]
    assert asked(coin, [5, 5, 5], TEXTS[0]) == [[], []], "nothing is known of the first, and nothing comes behind the second"
    assert asked(coin, [1, 2, 3], sampled=0) == [[]], "a prompt that is still being read has no draft"
    assert asked(coin_flip.CoinFlip(config(longest=5)), [1, 2, 3]) == [[4, 5]], "vLLM has no room for more"


def test_each_token_is_right_with_the_chance_that_is_set(know):
    text = list(range(50)) * 40
    know(0.7, texts=[text])
    coin = coin_flip.CoinFlip(config(k=1000, longest=9999, vocab=50))
    table = np.array([text], dtype=np.int32)
    (draft,) = coin.propose([[0]], np.array([100]), table)
    right = [a == b for a, b in zip(draft, text[100:1100], strict=True)]
    assert abs(np.mean(right) - 0.7) < 0.05
    assert set(draft) <= set(range(50)), "a spoiled token is an id all the same"


def test_the_chance_changes_while_the_server_runs(know):
    know(1.0)
    coin = coin_flip.CoinFlip(config())
    know(0.0)
    assert asked(coin, [1, 2, 3]) == [[5, 6, 7]]


def test_drafting_takes_what_it_is_told_to(know, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(coin_flip.time, "sleep", slept.append)
    know(1.0, seconds=0.5)
    coin = coin_flip.CoinFlip(config())
    asked(coin, [1, 2, 3], [1, 2, 3, 4, 5, 6, 7])
    asked(coin, [5])
    assert slept == [1.5, 0.0], "texts of a batch are drafted side by side: the longest draft counts"


def test_vllms_python_needs_nothing_of_ours_but_the_folder():
    """It is imported by an interpreter that has neither torch of ours nor transformers."""
    check = f"import sys, {coin_flip.__name__} as m; m.CoinFlip; print([n for n in ('torch', 'yaml', 'transformers') if n in sys.modules])"
    root = str(Path(specdec_lab.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root})
    assert done.stdout.strip() == "[]", done.stderr
