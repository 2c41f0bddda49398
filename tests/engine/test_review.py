"""The review: what it says of every place is what the models say there when asked afresh, and every verdict follows from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from specdec_lab.drafters import AdaptiveDrafter, CascadeDrafter, ModelDrafter, NgramDrafter, SyntheticDrafter
from specdec_lab.drafters.adaptive import sure
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Generation, Stopping, generate
from specdec_lab.engine import review as module
from specdec_lab.engine.review import Place, Recorded, Review, review
from specdec_lab.errors import UserError
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.toy import ToyLM, markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng, laws
from specdec_lab.verify import verify_block
from tests.support import SAMPLED, StrictToy, TreeDrafter, ids, reference_law

VOCAB = 6
TARGET = StrictToy(markov_lm(0, VOCAB, order=2))
DRAFT = StrictToy(markov_lm(1, VOCAB, order=2, like=TARGET, drift=0.8))
PROMPT = ids(1, 2, 3)
FILTERED = SamplingParams(0.7, top_k=4, top_p=0.9, min_p=0.05, repetition_penalty=1.3)
DRAFTERS = {
    "model": lambda: ModelDrafter(DRAFT, VOCAB),
    "adaptive": lambda: AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB, keep_going=sure(0.4)), lambda alpha: 1000 * alpha % 4, probe=2),
    "cascade": lambda: CascadeDrafter(NgramDrafter(3, 4), ModelDrafter(DRAFT, VOCAB)),
}


def sampled(drafter, params: SamplingParams = SAMPLED, tokens: int = 60, k: int = 3, **options) -> tuple[Generation, Recorded]:
    rng = Recorded(SeededRng(2))
    return generate(TARGET, PROMPT, drafter, k, params, Stopping(tokens, **options), rng), rng


def law_at(model: ToyLM, context: Sequence[int], params: SamplingParams):
    """The law behind a context, asked for alone, in the target's vocabulary."""
    logits = model._next_logits(tuple(min(token, model.vocab_size - 1) for token in context)).tolist()
    padded = [*logits, *[float("-inf")] * VOCAB][:VOCAB]
    return reference_law(padded, params, context)


def assert_says(place: Place, context: Sequence[int], params: SamplingParams, draft: ToyLM | None = DRAFT) -> None:
    p = law_at(TARGET, context, params)
    assert place.p == pytest.approx(p[place.token], abs=1e-12)
    assert place.rank == 1 + sum(other > p[place.token] + 1e-15 for other in p)
    if draft is None:
        assert place.q is None
    else:
        assert place.q == pytest.approx(law_at(draft, context, params)[place.token], abs=1e-12)


def assert_right(run: Generation, found: Review, params: SamplingParams, draft: ToyLM | None = DRAFT) -> None:
    assert [place.token for place in found.places] == list(run.tokens)
    for i, place in enumerate(found.places):
        assert_says(place, [*run.prompt, *run.tokens[:i]], params, draft)
    whole = [*run.prompt, *run.tokens]
    for r, verdicts in zip(run.rounds, found.verdicts, strict=True):
        assert [v.accepted for v in verdicts] == [True] * r.accepted + [False] * r.rejected
        assert [v.token for v in verdicts] == list(r.drafted[: len(verdicts)])
        for i, verdict in enumerate(verdicts):
            assert_says(verdict, [*whole[: r.context_length], *r.drafted[:i]], params, draft)


@pytest.mark.parametrize("params", [SAMPLED, FILTERED], ids=["plain", "all"])
@pytest.mark.parametrize("drafter", DRAFTERS)
def test_every_place_of_a_sampled_run(drafter, params):
    run, rng = sampled(DRAFTERS[drafter](), params)
    found = review(run, TARGET, DRAFT, params, rng)
    assert any(r.rejected for r in run.rounds) and any(r.drafted and not r.rejected for r in run.rounds)
    assert found.params == params and not found.greedy
    assert_right(run, found, params)


@pytest.mark.parametrize("drafter", ["model", "adaptive"])
@pytest.mark.parametrize("params", [SAMPLED, FILTERED], ids=["plain", "all"])
def test_accepted_is_a_uniform_below_p_over_q(drafter, params):
    run, rng = sampled(DRAFTERS[drafter](), params, tokens=200)
    verdicts = [v for of_round in review(run, TARGET, DRAFT, params, rng).verdicts for v in of_round]
    assert [v.uniform for v in verdicts] == rng.uniforms and len(verdicts) > 100
    for v in verdicts:
        assert v.accepted == (v.uniform < v.p / v.q)
    assert {v.accepted for v in verdicts} == {True, False}


def test_a_copied_draft_is_accepted_below_p():
    """Its law is one-hot. And what the drafter draws, if it draws, is not taken for the verifier's."""
    run, rng = sampled(NgramDrafter(1, 3), tokens=100)
    found = review(run, TARGET, params=SAMPLED, rng=rng)
    assert all(v.accepted == (v.uniform < v.p) and v.q is None for of_round in found.verdicts for v in of_round)


def test_a_greedy_run_is_reviewed_at_temperature_1_and_what_stands_is_the_first_choice():
    for params in (SamplingParams(), SamplingParams(repetition_penalty=1.5)):
        run = generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), 3, params, Stopping(40))
        found = review(run, TARGET, DRAFT, params)
        assert found.greedy and found.params == SamplingParams(1.0, repetition_penalty=params.repetition_penalty)
        assert_right(run, found, found.params)
        assert all(place.rank == 1 for place in found.places)
        assert all(v.accepted == (v.rank == 1) and v.uniform is None for of_round in found.verdicts for v in of_round)


def test_the_uniforms_of_a_drafter_are_nobodys():
    text = generate(TARGET, PROMPT, stopping=Stopping(20)).tokens
    run = generate(TARGET, PROMPT, SyntheticDrafter(text, 0.5, VOCAB), 3, stopping=Stopping(20), rng=Recorded(SeededRng()))
    assert_right(run, review(run, TARGET, DRAFT), SAMPLED)


def test_plain_decoding_has_places_and_no_verdicts():
    run, rng = sampled(None, tokens=12)
    found = review(run, TARGET, None, SAMPLED, rng)
    assert_right(run, found, SAMPLED, draft=None)
    assert found.verdicts == ((),) * 12


def test_a_text_that_ends_inside_a_run_was_tested_to_the_end():
    run = generate(TARGET, PROMPT, ModelDrafter(TARGET, VOCAB), 4, stopping=Stopping(30))
    end = run.rounds[0].emitted[1]
    run, rng = sampled(ModelDrafter(TARGET, VOCAB), tokens=50, k=6, eos=frozenset({end}))
    assert run.rounds[-1].cut
    found = review(run, TARGET, TARGET, SAMPLED, rng)
    assert len(found.places) == len(run.tokens) and len(found.verdicts[-1]) == run.rounds[-1].accepted > len(run.rounds[-1].emitted) - 1
    last, context = run.rounds[-1], [*run.prompt, *run.tokens][: run.rounds[-1].context_length]
    for i, verdict in enumerate(found.verdicts[-1]):
        assert_says(verdict, [*context, *last.drafted[:i]], SAMPLED, TARGET)


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED], ids=["greedy", "sampled"])
def test_a_tree_has_its_accepted_path(params):
    rng = None if params.greedy else Recorded(SeededRng(2))
    run = generate(TARGET, PROMPT, TreeDrafter(DRAFT, full(2, 2, 1)), 3, params, Stopping(40), rng)
    found = review(run, TARGET, DRAFT, params, rng)
    assert any(r.parents for r in run.rounds) and any(r.accepted for r in run.rounds)
    for i, place in enumerate(found.places):
        assert_says(place, [*run.prompt, *run.tokens[:i]], found.params)
    for r, verdicts in zip(run.rounds, found.verdicts, strict=True):
        assert len(verdicts) == r.accepted + (r.rejected and r.parents is None)
        assert [v.token for v in verdicts][: r.accepted] == [r.drafted[node] for node in r.path]
        assert all(v.uniform is None for v in verdicts) or r.parents is None


@pytest.mark.parametrize("width", [VOCAB - 2, VOCAB + 3])
def test_a_draft_of_another_width(width):
    draft = StrictToy(markov_lm(5, width))
    run, rng = sampled(ModelDrafter(draft, VOCAB))
    found = review(run, TARGET, draft, SAMPLED, rng)
    assert_right(run, found, SAMPLED, draft)
    assert all(v.accepted == (v.uniform < v.p / v.q) for of_round in found.verdicts for v in of_round)


def test_a_draft_whose_context_ends_says_nothing_behind_it():
    draft = StrictToy(DRAFT, max_context=20)
    run, rng = sampled(ModelDrafter(draft, VOCAB), tokens=40)
    found = review(run, TARGET, draft, SAMPLED, rng)
    assert [place.q is not None for place in found.places] == [len(PROMPT) + i <= 20 for i in range(40)]
    assert review(run, TARGET, StrictToy(DRAFT, max_context=2), SAMPLED, rng).places[0].q is None


def test_one_pass_of_each_model(monkeypatch):
    run, rng = sampled(ModelDrafter(DRAFT, VOCAB))
    calls = []
    monkeypatch.setattr(StrictToy, "__call__", lambda self, *a, **k: calls.append(self) or ToyLM.__call__(self, *a, **k))
    review(run, TARGET, DRAFT, SAMPLED, rng)
    assert calls == [TARGET, DRAFT]


def test_few_laws_at_a_time_are_the_same_laws(monkeypatch):
    run, rng = sampled(ModelDrafter(DRAFT, VOCAB), FILTERED)
    whole, held = review(run, TARGET, DRAFT, FILTERED, rng), []
    monkeypatch.setattr(module, "ROWS", 7)
    monkeypatch.setattr(module, "laws", lambda logits, *a: held.append(len(logits)) or laws(logits, *a))
    assert review(run, TARGET, DRAFT, FILTERED, rng) == whole
    assert max(held) == 7 and len(held) > 10


def test_a_prompt_of_one_token():
    run = generate(TARGET, ids(2), ModelDrafter(DRAFT, VOCAB), 3, stopping=Stopping(9))
    assert_right(run, review(run, TARGET, DRAFT), SAMPLED)


# --- mistakes ---


def test_uniforms_of_another_run():
    run, rng = sampled(ModelDrafter(DRAFT, VOCAB))
    generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), 3, SAMPLED, Stopping(5), rng)
    with pytest.raises(UserError, match="one generate alone"):
        review(run, TARGET, DRAFT, SAMPLED, rng)


def test_uniforms_of_another_rule():
    rng = Recorded(SeededRng(2))
    run = generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), 3, SAMPLED, Stopping(40), rng, verify_block)
    with pytest.raises(UserError, match="verify_sampling"):
        review(run, TARGET, DRAFT, SAMPLED, rng)
    assert_right(run, review(run, TARGET, DRAFT, SAMPLED), SAMPLED)


def test_parameters_left_out():
    run, rng = sampled(ModelDrafter(DRAFT, VOCAB))
    with pytest.raises(UserError, match="params"):
        review(run, TARGET, DRAFT, rng=rng)


# --- the real pair ---


def test_the_verdicts_of_the_real_pair(cpu_pair_fp32: LoadedPair):
    pair, params, rng = cpu_pair_fp32, SamplingParams(0.8, top_k=50), Recorded(SeededRng(1))
    drafter = ModelDrafter(pair.draft, pair.target.vocab_size)
    run = generate(pair.target, pair.encode("Explain why the sky is blue."), drafter, 4, params, Stopping(24), rng)
    found = review(run, pair.target, pair.draft, params, rng)
    for v in (v for of_round in found.verdicts for v in of_round):
        assert v.q and (v.accepted == (v.uniform < v.p / v.q) or abs(v.uniform - v.p / v.q) < 1e-3)
    context = torch.tensor([*run.prompt, *run.tokens[:9]])
    alone = laws(pair.target(context[None], pair.target.new_cache(), logits_to_keep=1)[0], params, context)[0]
    assert found.places[9].p == pytest.approx(float(alone[run.tokens[9]]), abs=1e-3)
