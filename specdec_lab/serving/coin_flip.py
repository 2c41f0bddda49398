"""Coin-flip acceptance inside a real vLLM server: a drafter that is right with probability p, for any p.

vLLM's own `rejection_sample_method: synthetic` ends its CPU build at the first drafted token ("Synthetic acceptance not supported
with CPU sampling", 0.32). This does the same from the other side: the drafter knows the greedy text and spoils each token with
probability 1 - p, so the text stays right. vLLM loads it by name (`setup.Custom`) in its own process; it needs nothing but numpy.

What it knows is in the JSON file `$SPECDEC_COIN_FLIP`, read again whenever it changes: {"p": 0.8, "seconds": 0.0, "seed": 0,
"texts": [[prompt and answer as token ids], ...]}. seconds: what drafting a token is made to take.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

FILE = "SPECDEC_COIN_FLIP"
NAME = f"{__name__}.CoinFlip"


class CoinFlip:
    """A proposer as vLLM's method `custom_class` wants it (vllm/v1/spec_decode/custom_class_proposer.py)."""

    def __init__(self, vllm_config: Any) -> None:
        self.k = vllm_config.speculative_config.num_speculative_tokens
        self.longest = vllm_config.model_config.max_model_len
        self.vocab_size = vllm_config.model_config.get_vocab_size()
        self._file, self._read_at = Path(os.environ[FILE]), 0
        self._refresh()

    def load_model(self, *_: Any) -> None:
        """There is none."""

    def propose(
        self, sampled_token_ids: Sequence[Sequence[int]], num_tokens_no_spec: np.ndarray, token_ids_cpu: np.ndarray, **_: Any
    ) -> list[list[int]]:
        """A draft for each request; `token_ids_cpu[i, :num_tokens_no_spec[i]]` is what it holds so far. None before its first token."""
        self._refresh()
        drafts = [
            self._draft(token_ids_cpu[i, : num_tokens_no_spec[i]]) if len(sampled) else [] for i, sampled in enumerate(sampled_token_ids)
        ]
        if self.seconds:
            time.sleep(self.seconds * max(map(len, drafts), default=0))
        return drafts

    def _draft(self, held: np.ndarray) -> list[int]:
        at = len(held)
        for text in self.texts:
            if len(text) > at and np.array_equal(text[:at], held):
                coming = text[at : min(at + self.k, self.longest)].tolist()
                return [t if self.coin.random() < self.p else (t + 1) % self.vocab_size for t in coming]
        return []

    def _refresh(self) -> None:
        changed = self._file.stat().st_mtime_ns
        if changed == self._read_at:
            return
        known = json.loads(self._file.read_text())
        self._read_at, self.p, self.seconds = changed, known["p"], known["seconds"]
        self.texts = [np.array(text) for text in known["texts"]]
        self.coin = random.Random(known["seed"])
