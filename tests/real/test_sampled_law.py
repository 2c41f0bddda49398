"""On the real model at temperature 1, what comes out has the target's law: a chi-squared test whose power is computed.

Two tokens are drawn a run, so that the first round's correction, its bonus token and the second round all take part.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.stats import chi2, ncx2

from specdec_lab.drafters import Draft, ModelDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.loading import LoadedPair
from specdec_lab.sampling import Rng, SamplingParams, SeededRng, laws

RUNS = 600
LEVEL = 1e-3  # the chance that right code fails; the seed is fixed, so it fails always or never
PARAMS = SamplingParams(temperature=1.0, top_k=20)
PROMPT = "Write a short story about a lighthouse keeper."


class GreedyPretender(ModelDrafter):
    """transformers#32867: proposes its likeliest token, and says that it was drawn from its softmax."""

    def propose(self, context: torch.Tensor, k: int, params: SamplingParams, rng: Rng) -> Draft:
        draft = super().propose(context, k, params, rng)
        assert draft.probs is not None
        return Draft(draft.probs.argmax(-1), draft.probs)


@pytest.fixture(scope="module")
def law(cpu_pair_fp32: LoadedPair) -> dict[tuple[int, int], float]:
    """The target's law of two tokens, for the eight likeliest first ones."""
    pair = cpu_pair_fp32
    prompt = pair.encode(PROMPT)

    def after(*tokens: int) -> torch.Tensor:
        context = torch.cat([prompt, torch.tensor(tokens, dtype=torch.long)])
        logits = pair.target(context[None], pair.target.new_cache(), logits_to_keep=1)[0]
        return laws(logits.double(), PARAMS, context)[0]

    first = after()
    return {
        (token, second): float(first[token] * p)
        for token in first.topk(8).indices.tolist()
        for second, p in enumerate(after(token).tolist())
        if p > 0
    }


def cells(law: dict[tuple[int, int], float], counts: Counter) -> tuple[np.ndarray, np.ndarray]:
    """Observed and expected counts; pairs expected fewer than five times share one cell."""
    large = [pair for pair, p in law.items() if p * RUNS >= 5]
    observed = [counts[pair] for pair in large]
    expected = [law[pair] * RUNS for pair in large]
    return np.array([*observed, RUNS - sum(observed)]), np.array([*expected, RUNS - sum(expected)])


def drawn(pair: LoadedPair, drafter: ModelDrafter) -> Counter:
    rng, prompt = SeededRng(7), pair.encode(PROMPT)
    return Counter(generate(pair.target, prompt, drafter, 1, PARAMS, Stopping(2), rng).tokens for _ in range(RUNS))


@pytest.mark.long
def test_two_tokens_have_the_law_of_the_target(cpu_pair_fp32: LoadedPair, law):
    observed, expected = cells(law, drawn(cpu_pair_fp32, ModelDrafter(cpu_pair_fp32.draft, cpu_pair_fp32.target.vocab_size)))
    statistic, limit = ((observed - expected) ** 2 / expected).sum(), chi2.isf(LEVEL, len(expected) - 1)
    print(f"chi-squared {statistic:.1f} on {len(expected) - 1} degrees of freedom, limit {limit:.1f}")
    assert statistic < limit


@pytest.mark.long
def test_the_test_would_notice_a_greedy_draft_that_pretends(cpu_pair_fp32: LoadedPair, law):
    """The power: with the law that the bug was seen to give, such a test of this size fails with probability above 0.99."""
    observed, expected = cells(law, drawn(cpu_pair_fp32, GreedyPretender(cpu_pair_fp32.draft, cpu_pair_fp32.target.vocab_size)))
    apart, freedom = ((observed - expected) ** 2 / expected).sum(), len(expected) - 1
    power = ncx2.sf(chi2.isf(LEVEL, freedom), freedom, max(apart - freedom, 0.0))
    print(f"power {power:.4f} against the bug, whose statistic is {apart:.0f}")
    assert power > 0.99
