"""Trees through the engine: the law of whole texts, greedy identity, the compacted cache, and what is counted."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.drafters import Draft
from specdec_lab.drafters.shapes import chain, full
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.trees import tree_round
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.theory.enumeration import generation_law
from tests.support import (
    SAMPLED,
    FunctionDrafter,
    StrictToy,
    TreeDrafter,
    Watched,
    assert_cache_confirms,
    assert_same_law,
    ids,
    reference_generation_law,
    tiny_llama,
)

VOCAB = 3
PROMPT = [2, 1, 0, 1]
TARGET = StrictToy(markov_lm(0, VOCAB, order=2, scale=0.5))
DRAFT = StrictToy(markov_lm(8, VOCAB, order=2))
SHAPES = {"siblings": (-1, -1), "two and one": (-1, -1, 0, 1, 1), "comb": (-1, -1, 0, 0, 2), "chain": chain(2), "wide": (-1, -1, -1, -1)}
PARAMS = [
    SamplingParams(),
    SamplingParams(repetition_penalty=1.6),
    SAMPLED,
    SamplingParams(0.7, top_k=2),
    SamplingParams(0.7, top_p=0.7),
    SamplingParams(0.7, min_p=0.45),
    SamplingParams(1.6, repetition_penalty=0.6),
    SamplingParams(0.7, 2, 0.9, 0.1, 1.6),
]


@pytest.mark.parametrize("way", ["without replacement", "ranked"])
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_keeps_the_law(shape, params, way):
    law = generation_law(TARGET, PROMPT, TreeDrafter(DRAFT, SHAPES[shape], way), 3, params, 3)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, params, 3))


def test_equal_siblings_keep_the_law():
    """Independent draws may give one token twice; the second is then drawn from a law that no longer has room for it."""

    class Twice(FunctionDrafter):
        def propose(self, context, k, params, rng):
            law = DRAFT._next_logits(tuple(context.tolist())).softmax(-1)
            tokens = torch.tensor([rng.draw(law), rng.draw(law)])
            return Draft(tokens, law.expand(2, VOCAB), (-1, -1))

    law = generation_law(TARGET, PROMPT, Twice(lambda context, k: []), 2, SAMPLED, 3)
    assert_same_law(law, reference_generation_law(TARGET, PROMPT, SAMPLED, 3))


def test_trees_accept_more_than_the_chain_in_them():
    kept = [
        generate(TARGET, ids(*PROMPT), TreeDrafter(DRAFT, shape), 3, SAMPLED, Stopping(1500)).metrics.mean_acceptance_length
        for shape in (chain(2), full(2, 2))
    ]
    assert kept[1] > kept[0] + 0.3


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 3), st.integers(0, 11).flatmap(lambda m: st.tuples(*(st.integers(-1, i - 1) for i in range(m)))))
def test_a_round_leaves_the_cache_of_the_accepted_path(seed, parents):
    """On a transformer: every node's logits are those of its branch read alone, and what is kept is what a fresh pass would hold."""
    target, rng = tiny_llama(0, vocab=6), SeededRng(seed)
    context, cache = ids(1, 5, 2, 4), target.new_cache()
    target(context[None, :2], cache)  # two tokens behind: they are fed with the tree
    draft = Draft(torch.tensor([rng.draw(torch.ones(6)) for _ in parents], dtype=torch.long), None, parents)
    after, path = tree_round(target, cache, context, draft, SAMPLED, rng)
    assert len(cache) == len(after) - 1 == len(context) + len(path)
    assert after.tolist() == [*context.tolist(), *draft.tokens[list(path)].tolist(), int(after[-1])]
    assert_cache_confirms(target, cache, after)
    fresh = target.new_cache()
    target(after[None, :-1], fresh)
    assert torch.allclose(cache.states, fresh.states, atol=1e-9)


def test_both_caches_hold_over_a_text():
    target = Watched(tiny_llama(0, vocab=6))
    drafter = TreeDrafter(StrictToy(markov_lm(0, 6)), full(2, 2, 1))
    paths = set()
    prompt, stopping = ids(3, 1, 4), Stopping(60)
    for record in stream(target, prompt, drafter, 3, SAMPLED, stopping, SeededRng(2)):
        paths.add(record.path)
        assert_cache_confirms(tiny_llama(0, vocab=6), target.cache, torch.cat([prompt, ids(*stopping.tokens)]))
    assert {(), (0,), (1,), (1, 4)} <= paths, "too little happened to show anything"


def test_greedy_trees_write_the_plain_text():
    target = tiny_llama(0, vocab=6)
    plain = generate(target, ids(1, 2, 3), stopping=Stopping(40)).tokens
    for shape in SHAPES.values():
        for way in (SamplingParams(), SamplingParams(repetition_penalty=1.3)):
            plain = generate(target, ids(1, 2, 3), params=way, stopping=Stopping(40)).tokens
            run = generate(target, ids(1, 2, 3), TreeDrafter(StrictToy(markov_lm(1, 6)), shape), 3, way, Stopping(40))
            assert run.tokens == plain


def test_a_tree_counts_by_depth():
    """The target says 1, 2, 3, 1, 2, 3, ...; the draft is right on its second branch, once it goes wrong in the end."""
    from specdec_lab.models.toy import scripted_lm

    target = StrictToy(scripted_lm([1, 2, 3], 5, start=1))

    class Scripted(FunctionDrafter):
        def propose(self, context, k, params, rng):
            at = len(context) - 1
            right = [1 + (at + i) % 3 for i in range(2)]
            last = 4 if at == 3 else right[1]
            return Draft(ids(4, right[0], 4, last), None, (-1, -1, 0, 1))

    run = generate(target, ids(0), Scripted(lambda context, k: []), 2, stopping=Stopping(8))
    assert [r.path for r in run.rounds] == [(1, 3), (1,), (1, 3)] and run.tokens == (1, 2, 3, 1, 2, 3, 1, 2)
    assert [r.rejected for r in run.rounds] == [False, True, False] and [r.depth for r in run.rounds] == [2, 2, 2]
    assert run.rounds[0].origins == ("accepted", "accepted", "bonus") and run.rounds[1].origins == ("accepted", "correction")
    m = Metrics.of(run.rounds)
    assert (m.drafted, m.accepted, m.rejections, m.tokens, m.rounds) == (12, 5, 1, 8, 3)
    assert m.drafted_at == (3, 3) and m.tested_at == (3, 3) and m.accepted_at == (3, 2)
    assert m.alpha == pytest.approx(5 / 6) and m.acceptance_rate == pytest.approx(5 / 12)
