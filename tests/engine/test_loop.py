"""The loop: its records, seeds, the end of a context, a learner's verifier, and bad input."""

import math

import pytest
import torch

from specdec_lab.drafters import ModelDrafter, NgramDrafter
from specdec_lab.engine import Stopping, generate, stream
from specdec_lab.errors import UserError
from specdec_lab.models.toy import ToyLM, markov_lm, scripted_lm, table_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.verify import verify_greedy
from tests.support import SAMPLED, FunctionDrafter, StrictToy, always, ids

VOCAB = 8
TARGET = StrictToy(markov_lm(0, VOCAB, order=2))
DRAFT = StrictToy(markov_lm(0, VOCAB, like=TARGET, drift=1.0))
PROMPT = ids(1, 2, 3)


# --- records ---


def test_the_seeds_round_and_the_bonus_token_it_forgot():
    words = ["on", "the", "cat", "sat", "XXX", "END"]
    target = table_lm({("on",): "the", ("on", "the"): "cat", ("on", "the", "cat"): "sat"}, words)

    def first_round(*draft: str):
        drafter = always([words.index(word) for word in draft])
        return generate(target, ids(0), drafter, 3, stopping=Stopping(4, frozenset({5}))).rounds[0]

    half_right, all_right = first_round("the", "cat", "XXX"), first_round("the", "cat", "sat")
    assert [words[t] for t in half_right.emitted] == ["the", "cat", "sat"]
    assert half_right.origins == ("accepted", "accepted", "correction")
    assert [words[t] for t in all_right.emitted] == ["the", "cat", "sat", "END"]
    assert all_right.origins == ("accepted", "accepted", "accepted", "bonus")


def test_a_record_says_what_happened():
    run = generate(scripted_lm([5, 6, 7, 1, 2, 3, 4], VOCAB, start=3), PROMPT, always([5, 6, 0, 0]), 4, stopping=Stopping(7))
    first, second = run.rounds[:2]
    assert (first.context_length, first.drafted, first.accepted, first.next_token) == (3, (5, 6, 0, 0), 2, 7)
    assert first.emitted == (5, 6, 7) and first.target_cache == 5 and first.draft_cache is None
    assert (second.context_length, second.drafted, second.accepted, second.next_token) == (6, (5, 6, 0), 0, 1)
    assert (run.prompt, run.reason) == ((1, 2, 3), "length")


def test_the_last_rounds_draft_no_more_than_is_wanted():
    run = generate(TARGET, PROMPT, ModelDrafter(TARGET, VOCAB), 4, stopping=Stopping(8))
    assert [len(r.drafted) for r in run.rounds] == [4, 2]
    assert [len(r.drafted) for r in generate(TARGET, PROMPT, ModelDrafter(TARGET, VOCAB), 4, stopping=Stopping(6)).rounds] == [4, 0]


def test_rounds_arrive_one_by_one():
    stopping = Stopping(50)
    rounds = stream(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), 3, SamplingParams(), stopping)
    first = next(rounds)
    assert tuple(stopping.tokens) == first.emitted and stopping.reason is None
    second = next(rounds)
    assert tuple(stopping.tokens) == first.emitted + second.emitted


def test_the_text_of_a_greedy_run_does_not_depend_on_k():
    texts = {generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), k, stopping=Stopping(40)).tokens for k in (1, 2, 3, 5, 8, 50)}
    assert texts == {generate(TARGET, PROMPT, stopping=Stopping(40)).tokens}


# --- seeds ---


def sampled(rng=None, drafter=True) -> tuple[int, ...]:
    return generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB) if drafter else None, 3, SAMPLED, Stopping(40), rng).tokens


@pytest.mark.parametrize("drafter", [True, False], ids=["speculative", "plain"])
def test_same_seed_same_tokens(drafter):
    assert sampled(SeededRng(5), drafter) == sampled(SeededRng(5), drafter)
    assert len({sampled(SeededRng(seed), drafter) for seed in range(5)}) == 5


def test_the_default_seed_is_0_and_no_state_of_torch_matters():
    torch.manual_seed(1)
    first = sampled()
    torch.manual_seed(2)
    assert first == sampled() == sampled(SeededRng(0)) == sampled(SeededRng())


def test_greedy_runs_need_no_seed():
    a, b = (generate(TARGET, PROMPT, ModelDrafter(DRAFT, VOCAB), 3, stopping=Stopping(20), rng=SeededRng(seed)) for seed in (1, 2))
    assert a.tokens == b.tokens


# --- the end of a context ---


@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_targets_context_can_be_filled_to_the_last_place(k):
    target = StrictToy(TARGET, max_context=10)
    run = generate(target, PROMPT, ModelDrafter(StrictToy(TARGET, max_context=10), VOCAB), k, stopping=Stopping(7))
    assert run.tokens == generate(TARGET, PROMPT, stopping=Stopping(7)).tokens


def test_one_token_more_is_refused_with_the_number_that_fits():
    with pytest.raises(
        UserError, match=r"3 prompt tokens and 8 new ones do not fit the context of 10 tokens of markov-0; ask for at most 7 new"
    ):
        generate(StrictToy(TARGET, max_context=10), PROMPT, stopping=Stopping(8))


@pytest.mark.parametrize("length", [10, 11])
def test_a_prompt_that_leaves_no_room_is_to_be_shortened(length):
    with pytest.raises(UserError, match="do not fit the context of 10 tokens of markov-0; shorten the prompt"):
        generate(StrictToy(TARGET, max_context=10), torch.ones(length, dtype=torch.long), stopping=Stopping(1))


@pytest.mark.parametrize("max_context", [1, 2, 3, 4, 10])
def test_a_draft_with_a_smaller_context_falls_silent_and_the_text_goes_on(max_context):
    run = generate(TARGET, PROMPT, ModelDrafter(StrictToy(TARGET, max_context=max_context), VOCAB), 3, stopping=Stopping(30))
    assert run.tokens == generate(TARGET, PROMPT, stopping=Stopping(30)).tokens
    assert bool(run.rounds[0].drafted) == (max_context >= 3) and not run.rounds[-1].drafted
    assert run.metrics.acceptance_rate == (1.0 if max_context >= 3 else None)


# --- a learner's verifier ---


def test_a_stand_in_verifier_decides():
    def rejects_all(draft, target):
        return 0, int(target[0])

    run = generate(TARGET, PROMPT, ModelDrafter(TARGET, VOCAB), 3, stopping=Stopping(9), verify=rejects_all)
    assert run.metrics.accepted == 0 and run.tokens == generate(TARGET, PROMPT, stopping=Stopping(9)).tokens
    tensors = generate(TARGET, PROMPT, stopping=Stopping(9), verify=lambda d, t: tuple(map(torch.tensor, verify_greedy(d, t))))
    assert tensors.tokens == run.tokens


@pytest.mark.parametrize("accepted", [-1, 4])
def test_an_accepted_count_outside_the_draft_is_refused(accepted):
    with pytest.raises(UserError, match=f"accepted {accepted} of 3 drafted tokens; it has to be between 0 and 3"):
        generate(TARGET, PROMPT, always([0, 0, 0]), 3, verify=lambda draft, target: (accepted, 0))


@pytest.mark.parametrize("token", [-1, VOCAB])
def test_a_next_token_outside_the_vocabulary_is_refused(token):
    with pytest.raises(UserError, match=f"next token is {token}; it has to be an id below {VOCAB}"):
        generate(TARGET, PROMPT, verify=lambda draft, target: (0, token))


# --- bad input ---

BAD_INPUT = {
    "empty prompt": ({"prompt": ids()}, "The prompt is empty; give at least one token."),
    "a batch": (
        {"prompt": torch.zeros(2, 3, dtype=torch.long)},
        "The prompt has shape (2, 3), but one text at a time is decoded; pass ids of shape [n].",
    ),
    "an id too high": (
        {"prompt": ids(0, 8)},
        "The prompt has ids outside the vocabulary of markov-0; encode it with that model's own tokenizer.",
    ),
    "a negative id": (
        {"prompt": ids(-1)},
        "The prompt has ids outside the vocabulary of markov-0; encode it with that model's own tokenizer.",
    ),
    "k of 0": ({"k": 0}, "k is 0, but a draft has at least 1 token; for plain decoding leave the drafter out."),
    "k below 0": ({"k": -2}, "k is -2, but a draft has at least 1 token; for plain decoding leave the drafter out."),
    "no new tokens": ({"stopping": Stopping(0)}, "max_new_tokens is 0, but at least 1 token has to be generated."),
    "a used Stopping": ({"stopping": Stopping(9, tokens=[1])}, "This Stopping has already ended a text; make a new one for each run."),
}


@pytest.mark.parametrize("changed, sentence", BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_is_one_sentence_with_cause_and_way_out(changed, sentence):
    with pytest.raises(UserError) as error:
        generate(**{"target": TARGET, "prompt": PROMPT, "drafter": NgramDrafter(), **changed})
    assert str(error.value) == sentence


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_model_without_a_law_is_named_wherever_it_shows(params, value):
    def sick_after(length: int) -> ToyLM:
        def logits(context):
            out = TARGET._next_logits(context).clone()
            if len(context) > length:
                out[3] = value
            return out

        return ToyLM(logits, VOCAB)

    for target, draft in ((sick_after(6), DRAFT), (TARGET, sick_after(6))):
        with pytest.raises(UserError, match="NaN or infinite logits"):
            generate(target, PROMPT, ModelDrafter(draft, VOCAB), 3, params, Stopping(20))


def test_nothing_is_run_before_the_input_is_checked():
    begun = []
    drafter = FunctionDrafter(lambda context, k: [])
    drafter.begin = begun.append
    with pytest.raises(UserError):
        generate(TARGET, ids(), drafter)
    assert not begun
