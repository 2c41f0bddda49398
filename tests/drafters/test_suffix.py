"""Suffix decoding: the longest match anywhere, its places vote, and the draft goes no further than they do."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_lab.drafters import NgramDrafter, SuffixDrafter
from specdec_lab.drafters.ngram import lookup
from specdec_lab.drafters.suffix import SuffixIndex
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.toy import TokenCache, markov_lm, scripted_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import SAMPLED, StrictToy, ids


def proposed(context: list[int], k: int, drafter: SuffixDrafter | None = None, **settings) -> list[int]:
    drafter = drafter or SuffixDrafter(**settings)
    drafter.begin(ids(*context), TokenCache())
    return drafter.propose(ids(*context), k, SamplingParams(), SeededRng()).tokens.tolist()


CASES = {
    "what followed last time": ([1, 2, 3, 4, 9, 1, 2], 9, {}, [3, 4]),
    "as long as the match": ([1, 2, 3, 4, 5, 6, 9, 1, 2, 3], 9, {}, [4, 5, 6]),
    "a match of one token is good for one": ([3, 4, 5, 6, 3], 9, {}, [4]),
    "unless the factor says otherwise": ([3, 4, 5, 6, 3], 9, {"factor": 2.5}, [4, 5]),
    "no more than k": ([1, 2, 3, 4, 5, 6, 9, 1, 2, 3], 2, {}, [4, 5]),
    "the longest ending wins over more frequent short ones": ([1, 2, 7, 5, 2, 8, 2, 8, 1, 2], 1, {}, [7]),
    "among its places the most frequent continuation": ([2, 7, 2, 7, 2, 8, 2], 1, {}, [7]),
    "among equally frequent ones the most recent": ([2, 7, 2, 8, 2], 1, {}, [8]),
    "where the places part, those that agree go on": ([2, 7, 4, 2, 7, 5, 2, 7, 5, 2], 3, {"factor": 3}, [7, 5, 2]),
    "until too few agree with the whole": ([2, 7, 4, 2, 7, 5, 2, 7, 6, 2], 3, {"factor": 3, "least": 0.5}, [7]),
    "an overlapping match goes round and round": ([5, 5, 5, 5, 5], 9, {}, [5, 5, 5, 5]),
    "with its period": ([1, 2, 3, 1, 2, 3, 1], 4, {}, [2, 3, 1, 2]),
    "nothing repeats": ([1, 2, 3, 4], 4, {}, []),
    "a one-token prompt": ([1], 4, {}, []),
    "n_min refuses a chance match": ([1, 2, 3, 1], 4, {"n_min": 2}, []),
    "n_max bounds the match": ([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3], 1, {"n_max": 2}, [8]),
    "without it the older place is found": ([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3], 1, {}, [7]),
    "a factor below one": ([1, 2, 3, 4, 9, 1, 2], 9, {"factor": 0.5}, [3]),
}


@pytest.mark.parametrize("context, k, settings, wanted", CASES.values(), ids=CASES)
def test_by_hand(context, k, settings, wanted):
    assert proposed(context, k, **settings) == wanted


def test_prompt_lookup_takes_the_latest_place_and_goes_on_for_k_tokens():
    context = [2, 7, 4, 9, 2, 7, 4, 9, 2, 8, 6, 3, 2]
    assert lookup(context, 4, 1, 4) == [8, 6, 3, 2]
    assert proposed(context, 4) == [7]


def slowly(texts: list[list[int]], k: int, n_min: int, n_max: int, factor: int, least: float) -> list[int]:
    """The definition, from scratch; the last text is the present one."""
    present = texts[-1]
    for n in range(min(n_max, len(present)), n_min - 1, -1):
        ending = present[len(present) - n :]
        places = [
            (t, i) for t in range(len(texts)) for i in range(n, len(texts[t]) + (t < len(texts) - 1)) if texts[t][i - n : i] == ending
        ]
        if not places:
            continue
        drafted: list[int] = []
        while len(drafted) < min(k, factor * n):
            extended = [*texts[:-1], present + drafted]
            on = [extended[t][i : i + len(drafted) + 1] for t, i in places]
            votes = Counter(tuple(x) for x in reversed(on) if len(x) == len(drafted) + 1 and x[:-1] == drafted)
            if not votes or max(votes.values()) < least * len(places):
                break
            drafted.append(votes.most_common(1)[0][0][-1])
        return drafted
    return []


texts = st.lists(st.integers(0, 2), min_size=1, max_size=14)


@given(st.lists(texts, max_size=2), texts, st.integers(1, 5), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3), st.floats(0, 1))
def test_against_the_definition(corpus, context, k, n_min, more, factor, least):
    settings = {"n_min": n_min, "n_max": n_min + more, "factor": factor, "least": least}
    assert proposed(context, k, corpus=corpus, **settings) == slowly([*corpus, context], k, **settings)


@given(texts, st.lists(texts, max_size=4), st.booleans())
def test_reading_round_by_round_is_reading_at_once(prompt, rounds, remember):
    drafter, context = SuffixDrafter([[0, 1, 2, 1]], remember), prompt
    drafter.begin(ids(*context), TokenCache())
    for emitted in rounds:
        drafter.propose(ids(*context), 4, SAMPLED, SeededRng())
        context = context + emitted
        drafter.commit(ids(*context))
    at_once = SuffixDrafter([[0, 1, 2, 1]])
    at_once.begin(ids(*context), TokenCache())
    assert drafter._index.tokens == at_once._index.tokens
    assert {t: p for t, p in drafter._index.places.items() if p} == dict(at_once._index.places)
    assert proposed(context, 5, SuffixDrafter([[0, 1, 2, 1]])) == drafter.propose(ids(*context), 5, SAMPLED, SeededRng()).tokens.tolist()


# --- earlier texts ---


def test_a_corpus_is_searched_too_and_the_present_text_speaks_last():
    assert proposed([9, 1, 2], 4, corpus=[[1, 2, 3, 4, 5]]) == [3, 4]
    assert proposed([1, 7, 9, 1], 4, corpus=[[1, 2, 3]]) == [7]
    assert proposed([1, 7, 9, 1], 4, corpus=[[1, 2, 3], [1, 2, 5]]) == [2]  # two against one


def test_no_match_and_no_draft_reaches_over_the_end_of_a_text():
    corpus = [[8, 1], [2, 3, 4]]
    assert proposed([5, 1, 2], 4, corpus=corpus) == [3]  # a match of 1, 2 would be good for two tokens
    assert proposed([5, 1], 4, corpus=corpus) == []
    assert proposed([2], 9, corpus=[[2], [2, 3]], factor=9) == [3]
    assert proposed([2, 3], 9, corpus=corpus, factor=9) == [4]


def finish(drafter: SuffixDrafter, prompt: list[int], text: list[int]) -> None:
    drafter.begin(ids(*prompt), TokenCache())
    drafter.commit(ids(*prompt, *text))


def test_it_remembers_finished_texts_if_told_to():
    for remember, wanted in ((True, [4, 5]), (False, [])):
        drafter = SuffixDrafter(remember=remember)
        finish(drafter, [1, 2], [3, 4, 5])
        finish(drafter, [6, 7], [8])
        assert proposed([2, 3], 4, drafter) == wanted
        assert proposed([9, 10, 11, 9, 10], 4, drafter) == [11, 9], "and the present text all the same"


def test_what_it_remembers_is_what_a_corpus_of_those_texts_holds():
    drafter = SuffixDrafter([[0, 0, 1]], remember=True)
    finish(drafter, [1, 2], [3, 4, 5])
    finish(drafter, [6, 7], [8])
    drafter.begin(ids(2, 3), TokenCache())
    other = SuffixDrafter([[0, 0, 1], [1, 2, 3, 4, 5], [6, 7, 8]])
    other.begin(ids(2, 3), TokenCache())
    assert drafter._index.tokens == other._index.tokens and drafter._index.places == other._index.places


def test_a_second_run_of_a_text_is_drafted_from_the_first():
    target, drafter = StrictToy(markov_lm(0, 40, order=2)), SuffixDrafter(remember=True)
    first, second = (generate(target, ids(3, 1, 4), drafter, 8, stopping=Stopping(60)) for _ in range(2))
    assert first.tokens == second.tokens == generate(target, ids(3, 1, 4), stopping=Stopping(60)).tokens
    assert len(second.rounds) < len(first.rounds) / 2 and second.metrics.acceptance_rate > 0.9


# --- the drafter ---


def test_a_draft_grows_with_the_match():
    """Every round that stands lengthens the match, so that a copy of 60 tokens takes few rounds though it begins with one token."""
    script = list(range(60)) * 2
    run = generate(scripted_lm(script, 64, start=1), ids(63), SuffixDrafter(), 64, stopping=Stopping(120))
    copied = [len(r.drafted) for r in run.rounds if r.drafted]
    assert copied == [1, 3, 7, 15, 28] and run.metrics.acceptance_rate == 1.0


def test_where_matches_are_thin_fewer_wrong_tokens_are_drafted_than_by_prompt_lookup():
    target = StrictToy(markov_lm(5, 12, order=3))
    runs = [generate(target, ids(3, 1, 4), d, 6, SAMPLED, Stopping(300), SeededRng(1)) for d in (SuffixDrafter(), NgramDrafter())]
    suffix, ngram = (r.metrics for r in runs)
    assert suffix.drafted < ngram.drafted / 3 and suffix.acceptance_rate > ngram.acceptance_rate


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED])
def test_the_proposal_is_deterministic_and_says_so(params):
    drafter = SuffixDrafter()
    drafter.begin(ids(1, 2, 1, 2), TokenCache())
    draft = drafter.propose(ids(1, 2, 1, 2), 3, params, SeededRng())
    assert draft.tokens.tolist() == [1, 2] and draft.tokens.dtype == torch.long and draft.probs is None
    assert drafter.cache_length is None


def test_every_token_is_read_once(monkeypatch):
    """A round costs what is new in it, not the length of the text."""
    read = []
    extend = SuffixIndex.extend
    monkeypatch.setattr(SuffixIndex, "extend", lambda self, tokens: (read.extend(tokens), extend(self, tokens))[1])
    run = generate(StrictToy(markov_lm(0, 8, order=2)), ids(1, 2, 3), SuffixDrafter(), 4, SAMPLED, Stopping(200))
    assert len(run.rounds) > 50 and 203 <= len(read) <= 203 + 4  # the last round may pass the end of the text


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"n_min": 0}, "n_min is 0 and n_max 32, but 1 <= n_min <= n_max has to hold."),
        ({"n_min": 3, "n_max": 2}, "n_min is 3 and n_max 2, but 1 <= n_min <= n_max has to hold."),
        ({"factor": 0}, "factor is 0, but has to be above 0: it is the tokens drafted per token matched."),
        ({"factor": float("nan")}, "factor is nan, but has to be above 0: it is the tokens drafted per token matched."),
        ({"least": 1.5}, "least is 1.5, but a share lies in [0, 1]."),
    ],
)
def test_bad_settings_are_named(settings, sentence):
    with pytest.raises(UserError) as error:
        SuffixDrafter(**settings)
    assert str(error.value) == sentence
