"""Regressions of real systems, each put back and caught.

A test is named after the public report. It runs one check twice: on the package, which has to pass, and on a variant
that carries the bug, which has to fail: a check that cannot see its bug is no test.

Covered elsewhere: sliding windows (transformers#47447), recurrent states (llama.cpp#20075) and a crop of more than is
there (transformers#47720) by refusal, in tests/models and tests/engine/test_cache.py. Not in reach yet: batched rows that
differ from single ones (gpt-fast#209) and left padding (transformers#46936) with batches, which tests/engine/test_loop.py
sees refused; the loss at batch 32 (vllm#17984) with the batch model of chapter 7.
"""

import dataclasses
import itertools
import math

import pytest
import torch

from specdec_lab.drafters import Draft, ModelDrafter, NgramDrafter
from specdec_lab.drafters import ngram as ngram_module
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.engine import loop as loop_module
from specdec_lab.engine import trees as trees_module
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache, law_lm, markov_lm, scripted_lm
from specdec_lab.sampling import SamplingParams, SeededRng, choices, laws
from specdec_lab.theory.enumeration import exact_law, generation_law
from specdec_lab.verify import residual, tree_mask, verify_greedy, verify_sampling
from specdec_lab.verify import tree as tree_module
from tests.support import (
    SAMPLED,
    Moody,
    PieceTokenizer,
    ScriptedRng,
    StrictToy,
    TreeDrafter,
    always,
    assert_same_law,
    ids,
    one_thread,  # noqa: F401
    reference_generation_law,
    tiny_heads,
    tiny_llama,
)

VOCAB = 4
PROMPT = [2, 1, 3, 1]
TARGET = StrictToy(markov_lm(0, VOCAB, order=2, scale=0.5))
DRAFT = StrictToy(markov_lm(8, VOCAB))
FILTERED = SamplingParams(0.7, top_k=2)


def caught(check, bug, *kinds: type[BaseException]) -> None:
    """The check fails on the bug, in one of these ways."""
    with pytest.raises(kinds or AssertionError):
        check(bug)


def check_law(drafter=None, verify=None, params=SAMPLED, target=TARGET) -> None:
    """The texts of three tokens have the target's law."""
    law = generation_law(target, PROMPT, drafter or ModelDrafter(DRAFT, VOCAB), 2, params, 3, verify)
    assert_same_law(law, reference_generation_law(target, PROMPT, params, 3))


def first_acceptance(drafter, params=SAMPLED) -> float:
    """The exact probability that the first drafted token stands."""
    law = exact_law(lambda rng: generate(TARGET, ids(*PROMPT), drafter, 1, params, Stopping(2), rng).rounds[0].accepted)
    return law.get(1, 0.0)


# --- the law a draft states ---


def test_transformers_32867_and_33534_greedy_draft_tested_against_its_softmax():
    class Greedy(ModelDrafter):
        def propose(self, context, k, params, rng):
            return super().propose(context, k, SamplingParams(), rng)  # deterministic, and says so

    class AgainstSoftmax(Greedy):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            return dataclasses.replace(draft, probs=torch.tensor([[0.8, 0.2]], dtype=torch.float64).expand(len(draft), 2))

    target, draft = law_lm([0.6, 0.4]), law_lm([0.8, 0.2])

    def first_token(drafter) -> dict:
        return exact_law(lambda rng: generate(target, ids(0), drafter, 1, SAMPLED, Stopping(2), rng).tokens[0])

    assert_same_law(first_token(Greedy(draft, 2)), {0: 0.6, 1: 0.4})
    assert_same_law(first_token(AgainstSoftmax(draft, 2)), {0: 0.75, 1: 0.25})


def test_transformers_47932_and_47961_drawn_after_top_k_but_the_raw_law_returned():
    class RawLaw(ModelDrafter):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            seen = torch.cat([context, draft.tokens[:-1]])
            logits = self.model(seen[None], self.model.new_cache(), logits_to_keep=len(draft))[0] if len(draft) else torch.empty(0, VOCAB)
            return dataclasses.replace(draft, probs=(logits / params.temperature).softmax(-1))

    def check(drafter_class):
        check_law(drafter_class(DRAFT, VOCAB), params=FILTERED)

    check(ModelDrafter)
    caught(check, RawLaw)


def test_eagle_183_and_221_top_k_children_treated_as_sampled():
    """The most likely children of a tree were not drawn: their law is one-hot, not the draft's."""

    class AsSampled(TreeDrafter):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            law = self._toy._next_logits(tuple(context.tolist())).softmax(-1)
            return dataclasses.replace(draft, probs=law.expand(len(draft), VOCAB))

    def check(drafter_class):
        check_law(drafter_class(DRAFT, (-1, -1), "ranked"))

    check(TreeDrafter)
    caught(check, AsSampled)


def test_siblings_drawn_without_replacement_stated_as_independent():
    """Once the first is known the second came from what is left of the law."""

    class AsIndependent(TreeDrafter):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            return dataclasses.replace(draft, probs=draft.probs[:1].expand(len(draft), VOCAB))

    def check(drafter_class):
        check_law(drafter_class(DRAFT, (-1, -1, -1)))

    check(TreeDrafter)
    caught(check, AsIndependent)


def test_the_second_sibling_tested_against_the_target_and_not_the_residual(monkeypatch):
    def check(function):
        monkeypatch.setattr(tree_module, "residual", function)
        check_law(TreeDrafter(DRAFT, (-1, -1)))

    check(residual)
    caught(check, lambda p, q: p)


def test_a_tree_whose_nodes_see_their_siblings(monkeypatch):
    """A causal triangle over the nodes: right for a chain, and for nothing else."""

    def check(function):
        monkeypatch.setattr(trees_module, "tree_mask", function)
        check_law(TreeDrafter(DRAFT, (-1, -1, 0, 1)))

    check(tree_mask)
    caught(check, lambda parents: torch.ones(len(parents), len(parents)).tril().bool())


def test_a_cache_compacted_to_a_prefix_and_not_to_the_path(monkeypatch):
    def check(select):
        monkeypatch.setattr(TokenCache, "select", select)
        check_law(TreeDrafter(DRAFT, (-1, -1, 0, 1)))

    check(TokenCache.select)
    caught(check, lambda self, length, rows: self.truncate(length + len(rows)))


def test_an_eagle_that_keeps_its_guessed_states():
    """Acceptance is all that is lost, so it shows only against a computation without a cache."""

    class Keeps(EagleDrafter):
        def commit(self, context):
            self._pairs.truncate(min(len(self._pairs), len(context) - 1))
            self._true = len(self._pairs)
            self._read(context)

    target, head = tiny_llama(0, vocab=5), tiny_heads(0, 5)["eagle"]

    def check(drafter_class):
        drafter, prompt, stopping = drafter_class(head), ids(1, 3, 2), Stopping(40)
        drafts = {}
        for record in stream(target, prompt, drafter, 3, SAMPLED, stopping, SeededRng(3)):
            drafts[record.context_length] = drafter._last
        text = torch.cat([prompt, ids(*stopping.tokens)])
        fresh, cache = EagleDrafter(head), target.new_cache()
        target(text[None, :-1], cache)
        fresh.begin(text, cache)
        assert torch.allclose(drafts[record.context_length], fresh._last, atol=1e-9)

    check(EagleDrafter)
    caught(check, Keeps)


def test_vllm_9834_sampling_parameters_missing_on_the_targets_side(monkeypatch):
    def check(function):
        monkeypatch.setattr(loop_module, "laws", function)
        check_law(params=FILTERED)

    check(laws)
    caught(check, lambda logits, params, context: laws(logits, SAMPLED, context))


def test_vllm_9834_sampling_parameters_missing_on_the_drafts_side():
    """The text stays right; what is lost is acceptance."""

    class Unshaped(ModelDrafter):
        def propose(self, context, k, params, rng):
            return super().propose(context, k, SAMPLED, rng)

    def check(drafter_class):
        assert first_acceptance(drafter_class(TARGET, VOCAB), FILTERED) == pytest.approx(1.0)

    check(ModelDrafter)
    caught(check, Unshaped)
    check_law(Unshaped(TARGET, VOCAB), params=FILTERED)


def test_vllm_40149_draft_law_dropped_and_acceptance_lost():
    """A drawn token treated as a deterministic proposal: still the target's law, but sum pq accepted, not sum min(p, q)."""

    class Dropped(ModelDrafter):
        def propose(self, context, k, params, rng):
            return Draft(super().propose(context, k, params, rng).tokens)

    p, q = (model._next_logits(tuple(PROMPT)).softmax(-1) for model in (TARGET, DRAFT))

    def check(drafter_class):
        assert first_acceptance(drafter_class(DRAFT, VOCAB)) == pytest.approx(float(torch.minimum(p, q).sum()))

    check(ModelDrafter)
    caught(check, Dropped)
    assert first_acceptance(Dropped(DRAFT, VOCAB)) == pytest.approx(float((p * q).sum()))
    check_law(Dropped(DRAFT, VOCAB), params=FILTERED)


@pytest.mark.parametrize("draft_vocab", [3, 6])
def test_vllm_10913_vocabularies_padded_otherwise(draft_vocab):
    class Unpadded(ModelDrafter):
        def _logits(self, tokens):
            return self.model(tokens[None], self._cache, logits_to_keep=1)[0]

    def check(drafter_class):
        check_law(drafter_class(StrictToy(markov_lm(5, draft_vocab)), VOCAB))

    check(ModelDrafter)
    caught(check, Unpadded, AssertionError, IndexError, RuntimeError)


def test_sglang_33643_penalties_applied_once_a_round(monkeypatch):
    def once(function):
        def as_before_the_draft(logits, params, context):
            seen = context[: len(context) - len(logits) + 1]
            return torch.cat([function(row[None], params, seen) for row in logits])

        return as_before_the_draft

    def check_sampled(function):
        monkeypatch.setattr(loop_module, "laws", function)
        check_law(params=SamplingParams(0.7, repetition_penalty=1.6))

    def check_greedy(function):
        monkeypatch.setattr(loop_module, "choices", function)
        model, penalty = StrictToy(markov_lm(1, 32)), SamplingParams(repetition_penalty=1.6)
        run = generate(model, ids(1), ModelDrafter(model, 32), 4, penalty, Stopping(40))
        assert run.tokens == generate(model, ids(1), None, 4, penalty, Stopping(40)).tokens

    for check, function in ((check_sampled, laws), (check_greedy, choices)):
        check(function)
        caught(check, once(function))


# --- verification ---


def test_empty_residual_re_emits_the_rejected_token():
    def careless(p, q):
        above = (p - q).clamp(min=0)
        return above / above.sum() if above.sum() > 1e-6 else p

    def check(residual_function):
        p, q = torch.tensor([1 - 1e-9, 1e-9], dtype=torch.float64), torch.tensor([1.0, 0.0], dtype=torch.float64)
        assert verify_sampling(torch.stack([p, p]), q[None], ids(0), ScriptedRng(1 - 1e-10))[0] == 0, "the token is rejected"
        assert ScriptedRng().draw(residual_function(p, q)) != 0, "and it is emitted nevertheless"

    check(residual)
    caught(check, careless)


def test_vllm_26372_accepted_is_minus_one():
    def emitted_less_one(draft, target):
        accepted, next_token = verify_greedy(draft, target)
        return (accepted if len(draft) else -1), next_token

    def check(verify):
        run = generate(TARGET, ids(*PROMPT), always([]), 3, stopping=Stopping(5), verify=verify)
        assert run.metrics.accepted == 0

    check(verify_greedy)
    caught(check, emitted_less_one, UserError)


def test_vllm_9565_matches_after_the_first_rejection_counted():
    def counts_all(draft, target):
        accepted = int((draft == target[:-1]).sum())
        return accepted, int(target[accepted])

    def goes_on(p, q, draft, rng):
        accepted = sum(rng.uniform() < float(p[i, token] / q[i, token]) for i, token in enumerate(draft.tolist()))
        return accepted, rng.draw(residual(p[accepted], q[accepted]) if accepted < len(draft) else p[accepted])

    check_law(verify=verify_sampling)
    caught(lambda verify: check_law(verify=verify), goes_on)

    def check(verify):
        draft = StrictToy(markov_lm(0, 4, like=TARGET, drift=0.7))
        run = generate(TARGET, ids(*PROMPT), ModelDrafter(draft, VOCAB), 4, stopping=Stopping(60), verify=verify)
        assert run.tokens == generate(TARGET, ids(*PROMPT), stopping=Stopping(60)).tokens

    check(verify_greedy)
    caught(check, counts_all)


def test_vllm_21876_nan_row_gives_an_id_outside_the_vocabulary():
    class Unguarded(SeededRng):
        def draw(self, law):
            return int(torch.searchsorted(law.double().cumsum(0), self.uniform(), right=True))

    logits = torch.tensor([[0.0, math.nan, 1.0]])

    def check(next_token):
        with pytest.raises(UserError):
            assert 0 <= next_token() < 3, "an id outside the vocabulary"

    check(lambda: SeededRng().draw(laws(logits, SAMPLED, ids(0))[0]))
    check(lambda: SeededRng().draw(logits.softmax(-1)[0]))
    caught(check, lambda: Unguarded().draw(logits.softmax(-1)[0]))


def test_vllm_13196_seed_ignored():
    class FromTheGlobalState(SeededRng):
        def __init__(self, seed):
            self._generator = torch.default_generator

    def check(rng):
        first, again = (
            generate(TARGET, ids(*PROMPT), ModelDrafter(DRAFT, VOCAB), 3, SAMPLED, Stopping(30), rng(7)).tokens for _ in range(2)
        )
        assert first == again

    check(SeededRng)
    caught(check, FromTheGlobalState)


# --- where a text ends ---

SCRIPT = [5, 6, 7, 8, 9, 4]
PIECES = PieceTokenizer(["<0>", "<1>", "<2>", "<3>", "!", "one ", "two ", "three ", "four ", "five ", "<end>"])


def run_script(stopping: Stopping, k: int = 4):
    """A target that says one two three four five ! and a draft that is always right."""
    target = scripted_lm(SCRIPT, 11, start=1)
    oracle = ModelDrafter(scripted_lm(SCRIPT, 11, start=1), 11)
    return generate(target, ids(0), oracle, k, stopping=stopping)


class LastTokenOnly(Stopping):
    """Looks at the last token of a round alone."""

    def take(self, run):
        self.tokens.extend(run[:-1])
        super().take(run[-1:])
        return tuple(run)


def test_transformers_47912_tokens_after_an_accepted_end_token():
    def check(kind):
        for end in range(len(SCRIPT)):
            assert list(run_script(kind(40, frozenset({SCRIPT[end]}))).tokens) == SCRIPT[: end + 1]

    check(Stopping)
    caught(check, LastTokenOnly)


def test_transformers_46993_max_new_tokens_overshot_by_lookup():
    class WholeRounds(Stopping):
        def take(self, run):
            self.tokens.extend(run)
            self.reason = "length" if len(self.tokens) >= self.max_new_tokens else None
            return tuple(run)

    class Greedy(NgramDrafter):
        def propose(self, context, k, params, rng):
            return super().propose(context, 9, params, rng)  # more than it is asked for

    def check(kind):
        target = scripted_lm([1, 2], 3, start=4)
        for wanted in range(1, 12):
            assert len(generate(target, ids(1, 2, 1, 2), Greedy(), 3, stopping=kind(wanted)).tokens) == wanted

    check(Stopping)
    caught(check, WholeRounds)


def test_vllm_47616_stop_string_trims_the_text_but_not_the_ids():
    class TextOnly(Stopping):
        def take(self, run):
            strings, self.strings = self.strings, ()
            taken = super().take(run)
            self.strings = strings
            return taken

    def check(kind):
        run = run_script(kind(6, strings=("e f",), decoder=PIECES))
        assert run.text == "one two thre"
        assert list(run.tokens) == SCRIPT[:4], "the ids end with the token that completes the stop string"

    check(Stopping)
    caught(check, TextOnly)


def test_sglang_23802_stop_string_at_any_offset_inside_an_accepted_run():
    class EndOfRound(Stopping):
        def take(self, run):
            for token in run:
                self.tokens.append(token)
            if self._decoded().endswith(self.strings):
                self.reason = "stop"
            elif len(self.tokens) >= self.max_new_tokens:
                self.reason = "length"
            return tuple(run)

    def check(kind):
        for at, stop in enumerate(("one ", "two ", "three ", "four ", "five ", "!")):
            for k in range(1, 6):
                run = run_script(kind(6, strings=(stop,), decoder=PIECES), k)
                assert (list(run.tokens), run.reason) == (SCRIPT[: at + 1], "stop")

    check(Stopping)
    caught(check, EndOfRound)


# --- drafters ---


def test_transformers_46790_no_end_token_no_match_and_a_one_token_prompt(monkeypatch):
    def expects_a_match(context, k, n_min, n_max):
        starts = [i for i in range(len(context) - 1) if context[i] == context[-1]]
        return context[starts[-1] + 1 :][:k]

    def check(lookup):
        monkeypatch.setattr(ngram_module, "lookup", lookup)
        run = generate(TARGET, ids(3), NgramDrafter(), 3, stopping=Stopping(10))
        assert run.tokens == generate(TARGET, ids(3), stopping=Stopping(10)).tokens

    check(ngram_module.lookup)
    caught(check, expects_a_match, IndexError)


def test_vllm_22437_ngram_tie_break_is_the_most_recent():
    def leftmost(context, k, n_min, n_max):
        for n in range(min(n_max, len(context) - 1), n_min - 1, -1):
            for start in range(len(context) - n):
                if context[start : start + n] == context[-n:]:
                    return context[start + n :][:k]
        return []

    def check(lookup):
        assert lookup([1, 2, 7, 1, 2, 8, 1, 2], 1, 1, 4) == [8]

    check(ngram_module.lookup)
    caught(check, leftmost)


def check_full_acceptance(drafter_class, upto=lambda length: 9) -> None:
    """A draft that is the target: every token stands, for 200 rounds."""
    model, prompt = tiny_llama(0), ids(1, 2, 3)
    rounds = stream(model, prompt, Moody(drafter_class(model, 64), upto), 2, SamplingParams(), Stopping(600))
    for record in itertools.islice(rounds, 200):
        assert not record.rejected


def test_mlxcel_994_draft_cache_trimmed_too_far():
    class NewestTokenOnly(ModelDrafter):
        """Never refills the place of the last drafted token after full acceptance."""

        def _logits(self, tokens):
            return super()._logits(tokens[-1:] if len(self._cache) else tokens)

    check_full_acceptance(ModelDrafter)
    caught(check_full_acceptance, NewestTokenOnly)


def test_vllm_39273_rounds_that_draft_nothing_leave_stale_state():
    class OneTokenBehindAtMost(ModelDrafter):
        """Refills after full acceptance, and does not expect to have been silent for longer."""

        def _logits(self, tokens):
            return super()._logits(tokens[-2:] if len(self._cache) else tokens)

    def check(drafter_class):
        check_full_acceptance(drafter_class, upto=lambda length: 9 if length % 5 > 2 else 0)

    check(ModelDrafter)
    caught(check, OneTokenBehindAtMost)
    check_full_acceptance(OneTokenBehindAtMost)  # which never shows without such rounds


def test_vllm_48894_sequence_outgrows_the_drafts_context():
    class Boundless(ModelDrafter):
        def propose(self, context, k, params, rng):
            held, self.model.max_context = self.model.max_context, 10**9
            try:
                return super().propose(context, k, params, rng)
            finally:
                self.model.max_context = held

    class Learned(StrictToy):
        """Has a table of 12 positions, as learned embeddings do."""

        def __call__(self, input_ids, cache, logits_to_keep=0, mask=None):
            torch.arange(12)[torch.arange(len(cache), len(cache) + input_ids.shape[1])]
            return super().__call__(input_ids, cache, logits_to_keep, mask)

    def check(drafter_class):
        run = generate(TARGET, ids(*PROMPT), drafter_class(Learned(TARGET, max_context=12), VOCAB), 3, stopping=Stopping(30))
        assert run.tokens == generate(TARGET, ids(*PROMPT), stopping=Stopping(30)).tokens

    check(ModelDrafter)
    caught(check, Boundless, IndexError)


def test_llama_cpp_3919_full_acceptance_because_drafting_stops_early():
    """A draft that speaks only when it is sure is nearly always right, and hardly helps: a rate alone hides it."""
    target = StrictToy(markov_lm(3, 12, order=2, scale=3.0))
    draft = StrictToy(markov_lm(3, 12, like=target, drift=1.5))

    class OnlyWhenSure(ModelDrafter):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            seen = torch.cat([context, draft.tokens])[None, :-1]
            sure = self.model(seen, self.model.new_cache(), logits_to_keep=len(draft))[0].softmax(-1).amax(-1) > 0.9
            return Draft(draft.tokens[: int(sure.cumprod(0).sum())])

    def run(drafter_class):
        return generate(target, ids(0, 1), drafter_class(draft, 12), 4, stopping=Stopping(200))

    def check(drafter_class):
        assert all(len(r.drafted) == 4 for r in run(drafter_class).rounds[:-2]), "fewer tokens drafted than asked for"

    check(ModelDrafter)
    caught(check, OnlyWhenSure)
    honest, sure = run(ModelDrafter).metrics, run(OnlyWhenSure).metrics
    assert sure.acceptance_rate == 1.0 > honest.acceptance_rate
    assert sure.mean_acceptance_length < honest.mean_acceptance_length
