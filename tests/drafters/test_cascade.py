"""A cascade: who is asked, whose laws the draft carries, and caches that lag but are never stale."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_lab.drafters import CascadeDrafter, ModelDrafter, NgramDrafter, SuffixDrafter
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache, markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import SAMPLED, FunctionDrafter, Moody, StrictToy, Watched, always, assert_cache_confirms, ids, tiny_llama

VOCAB = 6
TARGET = StrictToy(markov_lm(0, VOCAB, order=2))
DRAFT = StrictToy(markov_lm(0, VOCAB, order=2, like=TARGET, drift=0.8))


def test_the_first_with_something_to_say_is_heard():
    cascade = CascadeDrafter(NgramDrafter(2, 3), always([]), always([4]), always([5]))
    for context, wanted in (([1, 2, 3, 1, 2], [3, 1]), ([1, 2, 3, 4, 2], [4])):
        cascade.begin(ids(*context), TokenCache())
        assert cascade.propose(ids(*context), 2, SAMPLED, SeededRng()).tokens.tolist() == wanted
    assert len(CascadeDrafter(always([]), NgramDrafter()).propose(ids(1, 2), 3, SAMPLED, SeededRng())) == 0


def test_the_draft_carries_the_laws_of_whoever_drafted_it():
    cascade, alone = CascadeDrafter(NgramDrafter(), ModelDrafter(DRAFT, VOCAB)), ModelDrafter(DRAFT, VOCAB)
    for drafter in (cascade, alone):
        drafter.begin(ids(1, 2, 3), TokenCache())
    draft, same = (d.propose(ids(1, 2, 3), 3, SAMPLED, SeededRng(5)) for d in (cascade, alone))
    assert draft.tokens.tolist() == same.tokens.tolist() and torch.equal(draft.probs, same.probs)
    assert cascade.propose(ids(1, 2, 3, 1), 3, SAMPLED, SeededRng()).probs is None


def test_every_member_hears_of_every_text_and_every_round():
    heard = []

    def member(name: str) -> FunctionDrafter:
        drafter = always([0])
        drafter.begin = lambda context, target_cache: heard.append((name, "begin", len(context), type(target_cache)))
        drafter.commit = lambda context: heard.append((name, "commit", len(context)))
        return drafter

    run = generate(TARGET, ids(1, 2), CascadeDrafter(member("a"), member("b")), 1, stopping=Stopping(4))
    lengths = [r.context_length + r.accepted + 1 for r in run.rounds]
    assert heard == [("a", "begin", 2, TokenCache), ("b", "begin", 2, TokenCache)] + [(m, "commit", n) for n in lengths for m in "ab"]


def test_the_text_is_the_targets_own():
    for cascade in (CascadeDrafter(NgramDrafter(), ModelDrafter(DRAFT, VOCAB)), CascadeDrafter(ModelDrafter(DRAFT, VOCAB), NgramDrafter())):
        assert generate(TARGET, ids(3, 1, 4), cascade, 4, stopping=Stopping(80)).tokens == (
            generate(TARGET, ids(3, 1, 4), stopping=Stopping(80)).tokens
        )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=40, max_size=40), st.integers(1, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_members_cache_never_holds_what_the_context_does_not(lengths, k, model_first):
    """Whoever drafts, and whatever is rejected: n-gram drafts that fail while the model's cache lags behind, too."""
    target, draft = Watched(TARGET), Watched(DRAFT)
    wrong = FunctionDrafter(lambda context, k: [(sum(context) + i) % VOCAB for i in range(min(k, lengths[len(context) % 40][0]))])
    model = Moody(ModelDrafter(draft, VOCAB), upto=lambda length: lengths[length % 40][1])
    stopping, prompt = Stopping(40), ids(3, 1, 4)
    cascade = CascadeDrafter(*((model, wrong) if model_first else (wrong, model)))
    for record in stream(target, prompt, cascade, k, SAMPLED, stopping, SeededRng(1)):
        context = [*prompt.tolist(), *stopping.tokens]
        assert target.cache.tokens == context[:-1]
        assert draft.cache.tokens == context[: min(len(draft.cache), len(context) - 1)]
        assert record.draft_cache in (None, len(draft.cache))


def test_a_model_that_lags_behind_predicts_as_from_a_fresh_start():
    target, draft = Watched(tiny_llama(0)), Watched(tiny_llama(0, 0.02))
    wrong = FunctionDrafter(lambda context, k: [(7 * len(context) + i) % 64 for i in range(k)] if len(context) % 5 < 3 else [])
    stopping, prompt, lags, held = Stopping(50), ids(3, 1, 4), set(), set()
    for record in stream(target, prompt, CascadeDrafter(wrong, ModelDrafter(draft, 64)), 3, SamplingParams(), stopping, SeededRng(1)):
        context = torch.cat([prompt, ids(*stopping.tokens)])
        assert_cache_confirms(tiny_llama(0, 0.02), draft.cache, context)
        lags.add((record.rejected, len(context) - 1 - len(draft.cache)))
        held.add(record.draft_cache is None)
    assert (True, 1) in lags and (True, 2) in lags and held == {True, False}, "too little happened to show anything"
    assert generate(tiny_llama(0), prompt, stopping=Stopping(50)).tokens == tuple(stopping.tokens)


def test_the_engine_still_catches_a_member_that_rolls_back_wrongly():
    class KeepsTooMuch(ModelDrafter):
        def commit(self, context):
            pass

    with pytest.raises(AssertionError, match="the draft's cache holds"):
        generate(TARGET, ids(1, 2, 3), CascadeDrafter(SuffixDrafter(n_min=9), KeepsTooMuch(markov_lm(9, VOCAB), VOCAB)), 4)


def test_a_cascade_of_nobody_is_refused():
    with pytest.raises(UserError, match="A cascade of no drafters drafts nothing; give at least one"):
        CascadeDrafter()
