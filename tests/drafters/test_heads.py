"""Drafters on the target's own states: what they say is what a computation without any cache says, and texts keep their law."""

import pytest
import torch

from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import chain, full
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.models.hf import attention
from specdec_lab.models.toy import ToyLM
from specdec_lab.sampling import SamplingParams, SeededRng, laws
from specdec_lab.theory.enumeration import generation_law
from tests.support import (
    SAMPLED,
    Moody,
    assert_same_law,
    ids,
    one_thread,  # noqa: F401
    reference_generation_law,
    tiny_heads,
    tiny_llama,
)

VOCAB = 5
TARGET = tiny_llama(0, vocab=VOCAB)
TREE = (-1, -1, 0, 0, 1, 2)
DRAFTERS = {
    "medusa": lambda: MedusaDrafter(tiny_heads(0, VOCAB)["medusa"]),
    "medusa tree": lambda: MedusaDrafter(tiny_heads(0, VOCAB)["medusa"], TREE),
    "eagle": lambda: EagleDrafter(tiny_heads(0, VOCAB)["eagle"]),
    "eagle tree": lambda: EagleDrafter(tiny_heads(0, VOCAB)["eagle"], TREE),
    "early exit": lambda: EarlyExitDrafter(TARGET, tiny_heads(0, VOCAB)["exit"]),
}
PROMPT = ids(1, 3, 2)


# --- without a cache ---


@torch.inference_mode()
def states_of(context):
    return TARGET.model.model(context[None]).last_hidden_state[0]


@torch.inference_mode()
def eagle_logits(context, branch):
    """What an EAGLE layer says after `context` and `branch`: true pairs, then its own guesses, all read again each time."""
    head = tiny_heads(0, VOCAB)["eagle"]
    states, tokens = states_of(context[:-1]), context[1:]
    for token in [*branch.tolist(), None]:
        seen = torch.ones(len(tokens), len(tokens)).tril().bool()
        cache = TARGET.new_cache().kv
        guess = head(states[None], tokens[None], cache, **attention(seen[None], torch.float64))[0, -1]
        if token is not None:
            states, tokens = torch.cat([states, guess[None]]), torch.cat([tokens, ids(token)])
    return head.output(guess)


@torch.inference_mode()
def medusa_logits(context, branch):
    head = tiny_heads(0, VOCAB)["medusa"]
    return head.output(head(states_of(context[:-1])[-1]))[len(branch)]


@torch.inference_mode()
def exit_logits(context, branch):
    head, whole = tiny_heads(0, VOCAB)["exit"], TARGET.model
    text = torch.cat([context, branch])
    hidden = whole.model(text[None], output_hidden_states=True).hidden_states[1][0, -1]
    return head.output(head(hidden))


UNCACHED = {
    "medusa": medusa_logits,
    "medusa tree": medusa_logits,
    "eagle": eagle_logits,
    "eagle tree": eagle_logits,
    "early exit": exit_logits,
}


def branch_of(draft, node):
    parents = draft.parents or chain(len(draft))
    found = []
    while (node := parents[node]) >= 0:
        found.append(int(draft.tokens[node]))
    return torch.tensor(found[::-1], dtype=torch.long)


def elder_siblings(draft, node):
    parents = draft.parents or chain(len(draft))
    return [int(draft.tokens[i]) for i in range(node) if parents[i] == parents[node]]


@pytest.mark.parametrize("params", [SAMPLED, SamplingParams(1.3, top_k=4, repetition_penalty=1.2)], ids=str)
@pytest.mark.parametrize("name", DRAFTERS)
def test_after_any_rounds_it_says_what_it_would_say_without_a_cache(name, params):
    """Rounds that accept none, some and all, and rounds without a draft between them."""
    seen = []

    class Spy(Moody):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            seen.append((context, draft))
            return draft

    drafter = Spy(DRAFTERS[name](), upto=lambda length: length * 7 % 5)
    rounds = list(stream(TARGET, PROMPT, drafter, 4, params, Stopping(50), SeededRng(3)))
    assert {len(r.drafted) == 0 for r in rounds} == {True, False}
    assert {min(r.accepted, 2) for r in rounds} == {0, 1, 2} and any(r.drafted and not r.rejected for r in rounds)
    nodes = 0
    for context, draft in seen:
        for node in range(len(draft)):
            branch = branch_of(draft, node)
            law = laws(UNCACHED[name](context, branch)[None], params, torch.cat([context, branch]))[0]
            law[elder_siblings(draft, node)] = 0.0
            assert torch.allclose(draft.probs[node], law / law.sum(), atol=1e-9), (len(context), node)
            nodes += 1
    assert nodes > 40


@pytest.mark.parametrize("name", ["eagle", "eagle tree"])
def test_an_eagle_holds_the_pairs_of_the_context_after_every_round(name):
    drafter = Moody(DRAFTERS[name](), upto=lambda length: length % 4)
    prompt, stopping = PROMPT, Stopping(40)
    for record in stream(TARGET, prompt, drafter, 3, SAMPLED, stopping, SeededRng(1)):
        assert record.draft_cache == len(prompt) + len(stopping.tokens) - 1


def test_an_early_exit_leaves_the_targets_cache_as_it_was():
    drafter, cache = DRAFTERS["early exit"](), TARGET.new_cache()
    TARGET(PROMPT[None, :-1], cache)
    before = [(layer.keys.clone(), layer.values.clone()) for layer in cache.kv.layers]
    drafter.begin(PROMPT, cache)
    assert len(drafter.propose(PROMPT, 4, SAMPLED, SeededRng())) == 4 and drafter.cache_length is None
    for (keys, values), layer in zip(before, cache.kv.layers, strict=True):
        assert torch.equal(keys, layer.keys) and torch.equal(values, layer.values)


# --- laws ---

ORACLE = ToyLM(lambda context: TARGET(ids(*context)[None], TARGET.new_cache())[0, -1], VOCAB)


@pytest.mark.parametrize(
    "params", [SamplingParams(), SamplingParams(0.8, top_k=2), SamplingParams(1.0, top_k=3, repetition_penalty=1.4)], ids=str
)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("name", DRAFTERS)
def test_texts_keep_the_targets_law(name, k, params):
    law = generation_law(TARGET, PROMPT.tolist(), DRAFTERS[name](), k, params, 2)
    assert_same_law(law, reference_generation_law(ORACLE, PROMPT.tolist(), params, 2), tolerance=1e-9)


@pytest.mark.parametrize("name", DRAFTERS)
def test_a_prompt_of_one_token(name):
    """The target has read nothing when the first draft is asked for."""
    run = generate(TARGET, ids(2), DRAFTERS[name](), 3, stopping=Stopping(12))
    assert run.tokens == generate(TARGET, ids(2), stopping=Stopping(12)).tokens


@pytest.mark.parametrize("name", DRAFTERS)
def test_one_text_after_another(name):
    drafter = DRAFTERS[name]()
    first, _, again = (generate(TARGET, p, drafter, 3, SAMPLED, Stopping(20)) for p in (PROMPT, ids(4, 4), PROMPT))
    assert first.tokens == again.tokens and first.metrics == again.metrics


def test_medusa_drafts_no_further_than_it_has_heads():
    run = generate(TARGET, PROMPT, DRAFTERS["medusa"](), 9, SAMPLED, Stopping(30))
    assert max(len(r.drafted) for r in run.rounds) == 3


def test_an_eagle_tree_of_one_line_is_the_chain():
    runs = [
        generate(TARGET, PROMPT, EagleDrafter(tiny_heads(0, VOCAB)["eagle"], shape), 3, SAMPLED, Stopping(30))
        for shape in (None, chain(3), full(1, 1, 1))
    ]
    assert runs[0].tokens == runs[1].tokens == runs[2].tokens
