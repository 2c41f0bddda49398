"""The evaluation that writes the cards counts what the engine would count."""

import copy

import numpy as np
import pytest
import torch

from specdec_lab.drafters import ModelDrafter, NgramDrafter
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.engine import Metrics, Stopping, generate
from specdec_lab.training import evaluate
from specdec_lab.training.corpus import Corpus, Row
from specdec_lab.training.evaluate import RANKS, by_lookup, by_model, ranks_of, rounds, summary, workload
from tests.support import ids, tiny_heads, tiny_llama

VOCAB = 5
TARGET = tiny_llama(0, vocab=VOCAB)
PROMPTS = [ids(1, 3, 2), ids(0, 4), ids(2, 2, 1, 3), ids(4, 0, 0)]
DRAFTERS = {
    "model": lambda: ModelDrafter(tiny_llama(0, 0.05, VOCAB), VOCAB),
    "medusa": lambda: MedusaDrafter(tiny_heads(0, VOCAB)["medusa"]),
    "eagle": lambda: EagleDrafter(tiny_heads(0, VOCAB)["eagle"]),
    "ngram": lambda: NgramDrafter(),
}


@pytest.fixture
def readers(monkeypatch):
    monkeypatch.setattr(evaluate, "load_medusa", lambda target: tiny_heads(0, VOCAB)["medusa"])
    monkeypatch.setattr(evaluate, "load_eagle", lambda target: tiny_heads(0, VOCAB)["eagle"])
    monkeypatch.setattr(evaluate, "K", 3)

    class Pair:
        target = TARGET

    return {
        "model": by_model(tiny_llama(0, 0.05, VOCAB)),
        "medusa": evaluate.by_medusa(Pair),
        "eagle": evaluate.by_eagle(Pair),
        "ngram": by_lookup,
    }


@torch.inference_mode()
@pytest.mark.parametrize("name", DRAFTERS)
def test_its_rounds_are_those_of_the_engine(name, readers):
    ours, engines = [], []
    for prompt in PROMPTS:
        run = generate(TARGET, prompt, DRAFTERS[name](), 3, stopping=Stopping(40))
        text = torch.cat([prompt, ids(*run.tokens)])
        states = TARGET.model.model(text[None]).last_hidden_state[0]
        found = list(rounds(readers[name](text, states), Row(0, len(text), len(prompt), True, True)))
        both = min(len(found), len(run.rounds)) - 2  # near the end the engine drafts no more than there is room for
        ours, engines = ours + found[:both], engines + list(run.rounds[:both])
    counts = [sum(r == 0 for r in found) for found in ours]
    assert counts == [r.accepted for r in engines]
    metrics = Metrics.of(engines)
    found = summary(ours)
    assert found["mean_acceptance_length"] == round(metrics.tokens / metrics.rounds, 2)
    assert found["conditional"][:3] == [round(c, 3) for c in metrics.conditional]
    assert found["alpha"] == round(metrics.alpha, 3)


def test_the_rank_of_the_right_token():
    logits = torch.tensor([[3.0, 1.0, 2.0, -torch.inf]] * 4)
    found = ranks_of(logits, torch.tensor([0, 1, 2, 3]))
    assert found[:3].tolist() == [0, 2, 1] and found[3] >= RANKS


def test_the_summary_counts_like_the_metrics():
    found = summary([[0, 0, 1], [2], [0, 0, 0, 0]])
    assert found == {"alpha": 0.75, "conditional": [0.667, 1.0, 0.5, 1.0], "mean_acceptance_length": 3.0, "tokens": 9}


@pytest.mark.parametrize(
    ("question", "name"),
    [("Return a JSON object", "JSON"), ("Write a Python class", "code"), ("Write a poem about", "story"), ("How do I", "explanation")],
)
def test_workloads_by_their_words(question: str, name: str):
    assert workload(question) == name


def test_alphas_by_workload():
    """Two answers, one to a question about JSON, where the draft is right in all but one place."""
    turns = {1: "Return JSON", 2: "Write a poem"}

    class Pair:
        target = copy.copy(TARGET)

        class tokenizer:
            decode = staticmethod(lambda tokens: turns[tokens[0]])

    tokens = np.array([1, 0, 3, 3, 3, 2, 0, 3, 3, 3])
    rows = [Row(0, 5, 2, True, True), Row(5, 5, 2, True, True), Row(0, 5, 2, False, True), Row(0, 5, 2, True, False)]
    corpus = Corpus(tokens, rows, np.zeros((10, 32), np.uint16))
    found = evaluate.alphas(Pair, corpus, lambda ids, states: lambda n, j: 1 if ids[0] == 2 and n + j == 2 else 0)
    by = found["held_out_rounds_of_4"]
    assert by["JSON"]["alpha"] == 1.0 and by["story"]["alpha"] < 1.0 and set(by) == {"all", "JSON", "story"}
    assert found["rank_accuracy"][0][:2] == [pytest.approx(2 / 3, abs=1e-3), pytest.approx(1 / 3, abs=1e-3)]
