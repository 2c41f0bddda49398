"""Both caches hold the context less its last token after every round, whatever was accepted, and hold nothing stale."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import SAMPLED, FunctionDrafter, Moody, StrictToy, Watched, assert_cache_confirms, ids, tiny_llama


def rounds_of(target, drafter, params, stopping, k=4):
    """The engine's rounds, each with the context after it."""
    prompt = ids(3, 1, 4)
    for record in stream(target, prompt, drafter, k, params, stopping, SeededRng(1)):
        yield record, torch.cat([prompt, ids(*stopping.tokens)])


@pytest.mark.parametrize("params", [SamplingParams(), SamplingParams(0.8, top_p=0.95, repetition_penalty=1.1)], ids=["greedy", "sampled"])
def test_cached_logits_are_those_of_a_fresh_pass(params):
    target, draft = Watched(tiny_llama(0)), Watched(tiny_llama(0, 0.02))
    drafter = Moody(ModelDrafter(draft, 64), upto=lambda length: length * 7 % 6)  # 0 to 5 tokens
    accepted = set()
    for record, context in rounds_of(target, drafter, params, Stopping(60)):
        assert len(target.cache) == len(context) - 1 >= len(draft.cache)
        assert_cache_confirms(tiny_llama(0), target.cache, context)
        assert_cache_confirms(tiny_llama(0, 0.02), draft.cache, context)
        accepted.add((len(record.drafted), record.accepted))
    assert {(0, 0), (4, 4)} < accepted and any(0 < a < k for k, a in accepted), "too little happened to show anything"


@given(st.lists(st.integers(0, 5), min_size=60, max_size=60), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_toys_hold_the_tokens_themselves(lengths, k):
    target = Watched(StrictToy(markov_lm(0, 5, order=2)))
    draft = Watched(StrictToy(markov_lm(0, 5, order=2, like=target, drift=0.8)))
    drafter = Moody(ModelDrafter(draft, 5), upto=lambda length: lengths[length % 60])
    for record, context in rounds_of(target, drafter, SAMPLED, Stopping(40), k):
        assert target.cache.tokens == context[:-1].tolist()
        assert draft.cache.tokens == context[: len(draft.cache)].tolist()
        if record.rejected:
            assert len(draft.cache) == len(context) - 1


class KeepsTooMuch(ModelDrafter):
    def commit(self, context):
        pass


class KeepsTooLittle(ModelDrafter):
    def commit(self, context):
        self._cache.truncate(min(len(self._cache), len(context) - 2))


@pytest.mark.parametrize("broken", [KeepsTooMuch, KeepsTooLittle])
def test_a_drafter_that_rolls_back_wrongly_is_caught(broken):
    target, draft = StrictToy(markov_lm(0, 8)), StrictToy(markov_lm(1, 8))
    with pytest.raises(AssertionError, match="the draft's cache holds"):
        generate(target, ids(1, 2, 3), broken(draft, 8), 4)


def test_a_target_whose_cache_does_not_roll_back_is_caught():
    class Stuck(Watched):
        def new_cache(self):
            cache = super().new_cache()
            cache.truncate = lambda length: None
            return cache

    with pytest.raises(AssertionError, match="the target's cache holds"):
        generate(Stuck(StrictToy(markov_lm(0, 8))), ids(1, 2, 3), FunctionDrafter(lambda context, k: [0] * k), 4)


@pytest.mark.parametrize("length", [-1, 4])
def test_a_cache_is_never_cut_to_what_it_does_not_hold(length):
    for model in (tiny_llama(0), StrictToy(markov_lm(0, 8))):
        cache = model.new_cache()
        model(ids(1, 2, 3)[None], cache)
        with pytest.raises(AssertionError, match=f"cannot keep {length} of 3 tokens"):
            cache.truncate(length)


def test_a_drafter_serves_one_text_after_the_other():
    target, drafter = tiny_llama(0), ModelDrafter(tiny_llama(0, 0.02), 64)
    first, second, again = (
        generate(target, prompt, drafter, 3, stopping=Stopping(12)) for prompt in (ids(1, 2, 3), ids(9, 9), ids(1, 2, 3))
    )
    assert first.tokens == again.tokens != second.tokens
    assert first.metrics == again.metrics


def test_a_draft_of_nothing_leaves_the_target_as_plain_decoding_does():
    target = Watched(tiny_llama(0))
    plain = generate(target, ids(1, 2, 3), stopping=Stopping(8))
    held = len(target.cache)
    silent = generate(target, ids(1, 2, 3), FunctionDrafter(lambda context, k: []), 4, stopping=Stopping(8))
    assert silent.tokens == plain.tokens and len(target.cache) == held
    assert [r.origins for r in silent.rounds] == [r.origins for r in plain.rounds] == [("target",)] * 8
    assert silent.metrics.acceptance_rate is None
