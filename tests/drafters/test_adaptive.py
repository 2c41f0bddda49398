"""Drafting as much as pays: the running estimate, what follows from it, and stops that never change the law."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.drafters import AdaptiveDrafter, CascadeDrafter, Draft, ModelDrafter, NgramDrafter, SyntheticDrafter
from specdec_lab.drafters.adaptive import PRIOR, stood_and_tested, sure
from specdec_lab.drafters.interface import NOTHING
from specdec_lab.engine import Metrics, Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache, markov_lm, scripted_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.theory.closed_forms import optimal_k, speedup
from specdec_lab.theory.enumeration import generation_law, total_variation
from specdec_lab.verify import verify_block, verify_sampling
from tests.support import SAMPLED, FunctionDrafter, Moody, StrictToy, Watched, always, assert_same_law, ids, reference_generation_law

VOCAB, PROMPT = 4, [2, 1, 3, 1]
TARGET = StrictToy(markov_lm(0, VOCAB, order=2, scale=0.5))
DRAFT = StrictToy(markov_lm(8, VOCAB))
EVERY_PARAMS = [SamplingParams(), SAMPLED, SamplingParams(1.6, repetition_penalty=0.6), SamplingParams(0.7, 3, 0.8, 0.1, 1.6)]


def lengths(run) -> list[int]:
    return [len(r.drafted) for r in run.rounds]


# --- counting ---


@pytest.mark.parametrize(
    "parents, emitted, wanted",
    [
        (None, [9], (0, 1)),
        (None, [5], (0, 1)),  # the last token is the target's own, whatever it is
        (None, [5, 9], (1, 2)),
        (None, [5, 6, 7, 9], (3, 3)),
        (None, [6, 6, 9], (0, 1)),  # somebody else's tokens
        ((-1, -1, 0), [9], (0, 1)),  # 5 and 6 were tested for one place
        ((-1, -1, 0), [5, 9], (1, 2)),
        ((-1, -1, 0), [5, 7, 9], (2, 2)),
        ((-1, -1, 0), [6, 9], (1, 1)),  # a leaf: nothing behind it was tested
    ],
)
def test_what_was_tested_is_read_off_what_came_out(parents, emitted, wanted):
    assert stood_and_tested(Draft(ids(5, 6, 7), parents=parents), emitted) == wanted


def test_an_empty_draft_tests_nothing():
    assert stood_and_tested(NOTHING, [3]) == (0, 0)


@given(st.integers(0, 50), st.integers(1, 5))
def test_the_estimate_is_that_of_the_metrics_where_nothing_is_forgotten(seed, k):
    drafter = AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB), lambda alpha: k, alpha=0.5, memory=float("inf"))
    run = generate(TARGET, ids(*PROMPT), drafter, 9, SAMPLED, Stopping(40), SeededRng(seed))
    all_but_last = Metrics.of(run.rounds[:-1])  # the text may end inside the last round
    last = run.rounds[-1]
    stood, tests = all_but_last.accepted + last.accepted, all_but_last.accepted + all_but_last.rejections + last.accepted + last.rejected
    assert drafter.alpha == pytest.approx((0.5 * PRIOR + stood) / (PRIOR + tests))


def test_old_tokens_count_less():
    drafter = AdaptiveDrafter(always([1, 2]), lambda alpha: 2, alpha=0.5, memory=10)
    drafter.begin(ids(0), TokenCache())
    drafter.propose(ids(0), 2, SAMPLED, SeededRng())
    drafter.commit(ids(0, 1, 3))  # one of two stood
    assert drafter.alpha == pytest.approx((0.5 * PRIOR * 0.9**2 + 1) / (PRIOR * 0.9**2 + 2))
    drafter.propose(ids(0, 1, 3), 2, SAMPLED, SeededRng())
    drafter.commit(ids(0, 1, 3, 3))  # the first failed
    assert drafter.alpha == pytest.approx((0.5 * PRIOR * 0.9**3 + 0.9) / (PRIOR * 0.9**3 + 2 * 0.9 + 1))


def test_a_draft_that_nobody_used_is_not_counted_twice():
    drafter = AdaptiveDrafter(always([1]), lambda alpha: 1)
    drafter.begin(ids(0), TokenCache())
    drafter.propose(ids(0), 1, SAMPLED, SeededRng())
    drafter.commit(ids(0, 2))
    before = drafter.alpha
    drafter.commit(ids(0, 2, 1, 1))  # a round for which it was not asked
    assert drafter.alpha == before < 0.7


# --- choosing k ---


def test_k_follows_the_acceptance():
    plain = generate(TARGET, ids(*PROMPT), stopping=Stopping(200)).tokens

    def right_until_the_middle(context: list[int], k: int) -> list[int]:
        at = len(context) - len(PROMPT)
        return [t if at < 100 else (t + 1) % VOCAB for t in plain[at : at + k]]

    drafter = AdaptiveDrafter(FunctionDrafter(right_until_the_middle), lambda alpha: optimal_k(alpha, c=0.1), memory=20)
    run = generate(TARGET, ids(*PROMPT), drafter, 12, stopping=Stopping(200))
    at = [r.context_length - len(PROMPT) for r in run.rounds]
    drafted = dict(zip(at, lengths(run), strict=True))
    assert run.tokens == plain
    assert drafted[0] == optimal_k(0.7, c=0.1) == 4
    assert max(drafted.values()) == 12, "the most that was asked for"
    assert all(k <= 1 for place, k in drafted.items() if place > 160)


def test_where_nothing_pays_one_token_is_drafted_every_so_often_and_the_way_back_is_open():
    drafter = AdaptiveDrafter(always([0, 0, 0]), lambda alpha: 3 if alpha > 0.6 else 0, alpha=0.0, probe=4)
    drafter.begin(ids(1), TokenCache())
    context, drafted = [1], []
    for _ in range(80):
        draft = drafter.propose(ids(*context), 3, SamplingParams(), SeededRng())
        drafted.append(len(draft))
        context += [*draft.tokens.tolist(), 1]  # whatever is drafted stands
        drafter.commit(ids(*context))
    assert drafted[:8] == [0, 0, 0, 1, 0, 0, 0, 1] and drafted[-1] == 3


@pytest.mark.parametrize("p, c", [(0.9, 0.05), (0.8, 0.1), (0.6, 0.2), (0.1, 0.2)])
def test_the_choice_is_about_the_best_there_is(p, c):
    """In plain steps, at the costs of the closed forms; the run itself finds out how good its draft is, for better and for worse."""
    script = [0, 3, 1, 2, 2]
    plain = [script[i % 5] for i in range(2000)]
    inner = SyntheticDrafter(plain, p, VOCAB)
    drafter = AdaptiveDrafter(inner, lambda alpha: optimal_k(alpha, c))
    run = generate(scripted_lm(script, VOCAB, start=1), ids(1), drafter, 31, stopping=Stopping(2000))
    best = max(1.0, float(speedup(optimal_k(p, c), p, c)))
    assert run.tokens == tuple(plain)
    assert 2000 / sum(1 + c * n for n in lengths(run)) == pytest.approx(best, rel=0.07)
    assert drafter.alpha == pytest.approx(p, abs=0.15)


def test_same_seed_same_tokens_and_a_new_text_starts_afresh():
    drafter = AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB), lambda alpha: 1 + round(6 * alpha), memory=5)
    runs = [generate(TARGET, ids(*PROMPT), drafter, 9, SAMPLED, Stopping(50), SeededRng(4)) for _ in range(2)]
    assert runs[0].tokens == runs[1].tokens and runs[0].metrics == runs[1].metrics
    assert len(set(lengths(runs[0]))) > 2


def test_rounds_without_a_draft_leave_a_cache_that_lags_but_is_not_stale():
    draft = Watched(DRAFT)
    drafter = AdaptiveDrafter(ModelDrafter(draft, VOCAB), lambda alpha: 0, probe=3)
    run = generate(TARGET, ids(*PROMPT), drafter, 5, SAMPLED, Stopping(40), SeededRng(1))
    assert lengths(run)[:6] == [0, 0, 1, 0, 0, 1]
    text = [*PROMPT, *run.tokens]
    assert draft.cache.tokens == text[: len(draft.cache)] and drafter.cache_length == len(draft.cache)


def test_in_a_cascade_it_counts_its_own_drafts_alone():
    inner = AdaptiveDrafter(ModelDrafter(TARGET, VOCAB), lambda alpha: 2, alpha=0.5)
    wrong = FunctionDrafter(
        lambda context, k: [(int(TARGET._next_logits(tuple(context)).argmax()) + 1) % VOCAB] if len(context) % 2 else []
    )
    run = generate(TARGET, ids(*PROMPT), CascadeDrafter(wrong, inner), 2, stopping=Stopping(30))
    assert 0 < run.metrics.alpha < 1 and inner.alpha > 0.7


# --- stopping where the draft is unsure ---


def test_the_unsure_token_is_the_last_one_and_is_drafted():
    model = StrictToy(markov_lm(3, VOCAB, order=2))
    for params in EVERY_PARAMS:
        ended = set()
        for seed in range(20):
            drafter = ModelDrafter(model, VOCAB, keep_going=sure(0.6))
            drafter.begin(ids(*PROMPT), TokenCache())
            tokens = drafter.propose(ids(*PROMPT), 6, params, SeededRng(seed)).tokens.tolist()
            favourites = [float(model._next_logits((*PROMPT, *tokens[:i])).softmax(-1).max()) for i in range(len(tokens))]
            assert all(f >= 0.6 for f in favourites[:-1]) and (len(tokens) == 6 or favourites[-1] < 0.6)
            assert drafter.cache_length == len(PROMPT) + len(tokens) - 1
            ended.add(len(tokens))
        assert ended - {6}


def test_no_pass_is_made_behind_the_stop():
    fed = []

    class Counted(StrictToy):
        def __call__(self, input_ids, cache, logits_to_keep=0):
            fed.append(input_ids.shape[1])
            return super().__call__(input_ids, cache, logits_to_keep)

    drafter = ModelDrafter(Counted(DRAFT), VOCAB, keep_going=lambda law: False)
    drafter.begin(ids(*PROMPT), TokenCache())
    assert len(drafter.propose(ids(*PROMPT), 6, SAMPLED, SeededRng())) == 1 and fed == [3, 1]


def by_token(stop_at: float, keep_last: bool):
    """A model drafter whose draft ends where a token is unlikely, with it or in front of it."""

    class ByToken(ModelDrafter):
        def propose(self, context, k, params, rng):
            draft = super().propose(context, k, params, rng)
            chances = draft.probs.gather(1, draft.tokens[:, None])[:, 0].tolist()
            end = next((i + keep_last for i, chance in enumerate(chances) if chance < stop_at), k)
            return Draft(draft.tokens[:end], draft.probs[:end]) if end else NOTHING

    return ByToken(DRAFT, VOCAB)


def decided_first(least: float):
    """A model drafter that looks at the law before it draws, and may leave out a token that it has not drawn."""

    class DecidedFirst(ModelDrafter):
        def propose(self, context, k, params, rng):
            tokens, probs = [], []
            for _ in range(k):
                law = super().propose(torch.cat([context, ids(*tokens)]), 1, params, SeededRng()).probs[0]  # its own draw is not used
                if law.max() < least:
                    break
                probs.append(law)
                tokens.append(rng.draw(law))
            return Draft(ids(*tokens), torch.stack(probs)) if tokens else NOTHING

    return DecidedFirst(DRAFT, VOCAB)


def in_turns(alpha: float) -> int:
    """A k that jumps with every token that is tested."""
    return round(alpha * 1000) % 4


STOPPING = {
    "k from the acceptance": lambda: AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB), in_turns, probe=2),
    "a deterministic draft": lambda: AdaptiveDrafter(NgramDrafter(), in_turns, probe=2),
    "unsure of the next token": lambda: ModelDrafter(DRAFT, VOCAB, keep_going=sure(0.5)),
    "both": lambda: AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB, keep_going=sure(0.5)), lambda alpha: 1 + in_turns(alpha)),
    "sometimes no draft at all": lambda: Moody(
        AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB, keep_going=sure(0.6)), in_turns), upto=lambda length: 5 * (length % 3)
    ),
    "a cascade": lambda: CascadeDrafter(NgramDrafter(2, 3), AdaptiveDrafter(ModelDrafter(DRAFT, VOCAB), in_turns)),
}


LAWS = [(params, k, 3) for params in EVERY_PARAMS for k in (1, 2)] + [(EVERY_PARAMS[-1], 3, 4)]


@pytest.mark.parametrize("params, k, tokens", LAWS, ids=str)
@pytest.mark.parametrize("drafter", STOPPING)
def test_the_law_stays(drafter, params, k, tokens):
    true = reference_generation_law(TARGET, PROMPT, params, tokens)
    for verify in (None,) if params.greedy else (verify_sampling, verify_block):
        assert_same_law(generation_law(TARGET, PROMPT, STOPPING[drafter](), k, params, tokens, verify), true)


@pytest.mark.parametrize("verify", [verify_sampling, verify_block])
@pytest.mark.parametrize("k", [1, 2])
def test_a_token_that_was_drawn_may_end_the_draft_but_not_be_left_out(k, verify):
    """The one wrong way to stop: what stays was drawn from q without its unlikely tokens, and q is what it is tested against."""
    true = reference_generation_law(TARGET, PROMPT, SAMPLED, 1 + k)

    def law(drafter):
        return generation_law(TARGET, PROMPT, drafter, k, SAMPLED, 1 + k, verify)

    assert_same_law(law(by_token(0.3, keep_last=True)), true)
    assert_same_law(law(decided_first(0.5)), true)
    assert total_variation(law(by_token(0.3, keep_last=False)), true) > 0.1


# --- bad settings ---


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"alpha": 1.2}, "alpha is 1.2, but a probability lies in [0, 1]."),
        ({"memory": 0.5}, "memory is 0.5, but the tokens to remember are at least 1."),
        ({"probe": 0}, "probe is 0, but has to be at least 1: one round in so many is a probe."),
    ],
)
def test_bad_settings_are_named(settings, sentence):
    with pytest.raises(UserError) as error:
        AdaptiveDrafter(always([0]), lambda alpha: 3, **settings)
    assert str(error.value) == sentence


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_a_least_probability_that_is_none_is_refused(least):
    with pytest.raises(UserError, match=f"least is {least}, but a probability lies in"):
        sure(least)
