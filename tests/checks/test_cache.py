"""The checks of chapter 5: every wrong turn people take gets its own reason."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from specdec_lab.checks import cache as cache_checks
from specdec_lab.checks import check_rollback, check_speculative_round
from specdec_lab.checks.tiny import tiny_llama
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Stopping, generate, speculative_round
from specdec_lab.models import interface
from specdec_lab.models.stale import StaleCache, forgets_too_little
from tests.support import tiny_llama as noisy_llama

# --- rollback ---


def not_attempted(cache, context): ...


def one_stale(cache, context):
    cache.truncate(min(len(cache), len(context)))


def one_lost(cache, context):
    cache.truncate(min(len(cache), len(context) - 2))


def more_than_it_holds(cache, context):
    cache.truncate(len(context) - 1)


def wrong_sign(cache, context):
    cache.truncate(len(context) - 1 - len(cache))


def how_many_go(cache, context):
    cache.truncate(max(0, len(cache) - len(context) + 1))


def everything(cache, context):
    cache.truncate(0)


def returns_a_copy(cache, context):
    shorter = copy.deepcopy(cache)
    shorter.truncate(min(len(cache), len(context) - 1))
    return shorter


def changes_the_context(cache, context):
    cache.truncate(min(len(cache), len(context) - 1))
    context[-1] = 0


def the_latest_stay(cache, context):
    keep = min(len(cache), len(context) - 1)
    del cache.tokens[: len(cache) - keep]


def touches_and_keeps_all(cache, context):
    cache.truncate(len(cache))


def the_larger(cache, context):
    cache.truncate(max(len(cache), len(context) - 1))


def the_last_token(cache, context):
    cache.truncate(context[-1])


def by_its_list_of_tokens(cache, context):
    del cache.tokens[len(context) - 1 :]


def three_at_most(cache, context):
    cache.truncate(max(len(cache) - 3, min(len(cache), len(context) - 1)))


def wants_a_count(cache, context, accepted):
    cache.truncate(len(context) - 1)


def looks_for_it(cache, context):
    cache.truncate(context.tolist().index(-1))


WRONG_ROLLBACK = {
    one_stale: "Off by one: the last token in there was rejected",
    one_lost: "a token that stands was lost",
    more_than_it_holds: "A rollback can only forget",
    wrong_sign: "no negative number of tokens to remove",
    how_many_go: "how many tokens have to go",
    everything: "Everything was forgotten",
    returns_a_copy: "what is returned is lost",
    changes_the_context: "It changes the context",
    the_latest_stay: "shifted position",
    touches_and_keeps_all: "asks truncate to keep 4: nothing is forgotten",
    the_larger: "the smaller number may stay",
    the_last_token: "asks truncate to keep 90. That comes from the last token",
    by_its_list_of_tokens: "all that is needed is len(cache) and cache.truncate",
    three_at_most: "Round 6, the target's cache",
    wants_a_count: "Called as rollback(cache, context)",
    looks_for_it: "All that is needed is",
}


def complaint(check, attempt, reference, capsys) -> str:
    assert check(attempt) is reference
    printed = " ".join(capsys.readouterr().out.split())
    assert "✗" in printed and "★" not in printed and f"package's own {reference.__name__}" in printed
    return printed


@pytest.mark.parametrize("attempt", WRONG_ROLLBACK, ids=lambda attempt: attempt.__name__)
def test_a_wrong_rollback_gets_its_reason(attempt, capsys):
    assert WRONG_ROLLBACK[attempt] in complaint(check_rollback, attempt, interface.rollback, capsys)


def with_an_if(cache, context):
    confirmed = len(context) - 1
    if len(cache) > confirmed:
        cache.truncate(confirmed)


def one_at_a_time(cache, context):
    while len(cache) >= len(context):
        cache.truncate(len(cache) - 1)
    return len(cache)


def in_tensors(cache, context):
    cache.truncate(int(torch.tensor([len(cache), context.numel() - 1]).min()))


@pytest.mark.parametrize("right", [with_an_if, one_at_a_time, in_tensors])
def test_any_right_rollback_is_the_one_that_runs(right, capsys):
    assert check_rollback(right) is right
    assert capsys.readouterr().out.count("✓") == 3


def test_the_random_rounds_see_a_real_cache_whose_tokens_are_the_wrong_ones():
    """What the toy caches of the scenes cannot show: keys and values of other tokens, in the right number."""

    def the_latest(cache, context):
        keep = min(len(cache), len(context) - 1)
        for layer in cache.kv.layers if 0 < keep < len(cache) else ():
            layer.keys, layer.values = layer.keys[:, :, -keep:], layer.values[:, :, -keep:]

    with pytest.raises(cache_checks.Finding, match=r"right number of tokens, .* at shifted positions"):
        cache_checks._random_rounds(the_latest)


# --- the round ---


def stub(target, cache, context, draft, verify, rollback): ...


def right(target, cache, context, draft, verify, rollback):
    fed = torch.cat([context[len(cache) :], draft])
    logits = target(fed.unsqueeze(0).to(target.device), cache)[0]
    accepted, token = verify(draft, logits[len(fed) - len(draft) - 1 :])
    longer = torch.tensor(context.tolist() + draft.tolist()[:accepted] + [token])
    rollback(cache, longer)
    return longer, accepted


def forgets_itself(target, cache, context, draft, verify, rollback):
    """Rolls back without the function it is given."""
    context, accepted = speculative_round(target, cache, context, draft, verify, lambda cache, context: None)
    cache.truncate(len(context) - 1)
    return context, torch.tensor(accepted)


def variant(feed=None, rows=None, extend=None, back=None, answer=None, ask=None):
    """`right` with one line replaced."""

    def attempt(target, cache, context, draft, verify, rollback):
        fed = (feed or (lambda cache, context, draft: torch.cat([context[len(cache) :], draft])))(cache, context, draft)
        logits = (rows or (lambda logits, k: logits[0, -k - 1 :]))(target(fed[None].to(target.device), cache), len(draft))
        accepted, token = (ask or (lambda verify, draft, logits: verify(draft, logits)))(verify, draft, logits)
        longer = (extend or (lambda context, draft, a, own: torch.cat([context, draft[:a], own])))(
            context, draft, accepted, torch.tensor([token])
        )
        (back or (lambda rollback, cache, old, new: rollback(cache, new)))(rollback, cache, context, longer)
        return (answer or (lambda context, accepted: (context, accepted)))(longer, accepted)

    return attempt


def a_pass_a_token(target, cache, context, draft, verify, rollback):
    rows = [target(token[None, None], cache)[0, -1] for token in torch.cat([context[len(cache) :], draft])]
    accepted, token = verify(draft, torch.stack(rows[-len(draft) - 1 :]))
    context = torch.cat([context, draft[:accepted], torch.tensor([token])])
    rollback(cache, context)
    return context, accepted


def a_cache_of_its_own(target, cache, context, draft, verify, rollback):
    return speculative_round(target, target.new_cache(), context, draft, verify, rollback)


def decides_itself(target, cache, context, draft, verify, rollback):
    logits = target(torch.cat([context[len(cache) :], draft])[None], cache)[0, -len(draft) - 1 :]
    accepted = int((draft == logits.argmax(-1)[:-1]).cumprod(0).sum())
    context = torch.cat([context, draft[:accepted], logits[accepted].argmax()[None]])
    rollback(cache, context)
    return context, accepted


def never_runs(target, cache, context, draft, verify, rollback):
    return context, 0


def too_short_by_hand(target, cache, context, draft, verify, rollback):
    context, accepted = speculative_round(target, cache, context, draft, verify, lambda cache, context: None)
    cache.truncate(len(context) - 2)
    return context, accepted


def a_bare_token(target, cache, context, draft, verify, rollback):
    logits = target(torch.cat([context[len(cache) :], draft])[None], cache)[0, -len(draft) - 1 :]
    accepted, next_token = verify(draft, logits)
    return torch.cat([context, draft[:accepted], torch.tensor(next_token)]), accepted


def the_whole_verdict(target, cache, context, draft, verify, rollback):
    seen = []

    def asked(draft, logits):
        seen.append(verify(draft, logits))
        return seen[0]

    context, _ = speculative_round(target, cache, context, draft, asked, rollback)
    return context, seen[0]


def by_the_tokens_of_the_cache(target, cache, context, draft, verify, rollback):
    seen = torch.cat([context[len(cache.tokens) :], draft])
    logits = target(seen[None].to(target.device), cache)[0, -len(draft) - 1 :]
    accepted, token = verify(draft, logits)
    context = torch.cat([context, draft[:accepted], torch.tensor([token])])
    rollback(cache, context)
    return context, accepted


def nothing_for_long_drafts(target, cache, context, draft, verify, rollback):
    """Nothing comes back on the drafts of whole texts, which are longer than those of the scenes."""
    return None if len(draft) > 4 else speculative_round(target, cache, context, draft, verify, rollback)


def no_device(target, cache, context, draft, verify, rollback):
    logits = target(torch.cat([context[len(cache) :], draft])[None], cache)[0, -len(draft) - 1 :]
    accepted, token = verify(draft, logits)
    context = torch.cat([context, draft[:accepted], torch.tensor([token])])
    rollback(cache, context)
    return context, accepted


def in_place(target, cache, context, draft, verify, rollback):
    longer, accepted = speculative_round(target, cache, context, draft, verify, rollback)
    context[0] = 0
    return longer, accepted


WRONG_ROUND = {
    "reads all again": (variant(feed=lambda cache, context, draft: torch.cat([context, draft])), "read a second time"),
    "bonus fed twice": (variant(feed=lambda cache, context, draft: torch.cat([context[-2:], draft])), "read a second time"),
    "only the draft": (variant(feed=lambda cache, context, draft: draft), "has never been fed"),
    "only the last": (variant(feed=lambda cache, context, draft: torch.cat([context[-1:], draft])), "What the cache lacks"),
    "draft short of one": (
        variant(feed=lambda cache, context, draft: torch.cat([context[len(cache) :], draft[:-1]])),
        "then the whole draft",
    ),
    "a pass a token": (a_pass_a_token, "was run 4 times"),
    "own cache": (a_cache_of_its_own, "another cache"),
    "never runs": (never_runs, "never run"),
    "decides itself": (decides_itself, "verify was never asked"),
    "a batch": (variant(rows=lambda logits, k: logits), "for a batch"),
    "all rows": (variant(rows=lambda logits, k: logits[0]), "Only the last k + 1 rows"),
    "no first row": (variant(rows=lambda logits, k: logits[0, -k:]), "none may be missing"),
    "no own token": (variant(extend=lambda context, draft, a, own: torch.cat([context, draft[:a]])), "own token is missing"),
    "whole draft": (variant(extend=lambda context, draft, a, own: torch.cat([context, draft, own])), "The whole draft went in"),
    "new tokens only": (variant(answer=lambda context, a: (context[3:], a)), "new tokens only"),
    "a list": (variant(answer=lambda context, a: (context.tolist(), a)), "a tensor of ids"),
    "swapped": (variant(answer=lambda context, a: (a, context)), "wrong order"),
    "no count": (variant(answer=lambda context, a: context), "a pair is wanted"),
    "counts its own": (variant(answer=lambda context, a: (context, a + 1)), "without the target's own token"),
    "no rollback": (variant(back=lambda rollback, cache, old, new: None), "Nothing was rolled back"),
    "rollback too early": (variant(back=lambda rollback, cache, old, new: rollback(cache, old)), "Extend the context first"),
    "rollback twice": (variant(back=lambda rollback, cache, old, new: rollback(cache, new[:-1])), "roll back once"),
    "in place": (in_place, "changes its input"),
    "None for a count": (variant(answer=lambda context, a: (context, None)), "accepted is None, but one whole number is wanted"),
    "the whole verdict": (the_whole_verdict, "accepted is (1, 8), but one whole number"),
    "scores for a count": (variant(answer=lambda context, a: (context, torch.zeros(4, 10))), "accepted is a tensor of shape [4, 10], but"),
    "an array": (variant(answer=lambda context, a: np.array(context.tolist())), "a pair is wanted"),
    "tokens of the cache": (by_the_tokens_of_the_cache, "two things only: len(cache) and cache.truncate"),
    "stops in a text": (nothing_for_long_drafts, "on a real model, round 4: It returns None, but a pair is wanted"),
    "too short by hand": (too_short_by_hand, "It was shortened too much"),
    "choices": (variant(ask=lambda verify, draft, logits: verify(draft, logits.argmax(-1))), "It takes scores, not choices"),
    "the other way round": (variant(ask=lambda verify, draft, logits: verify(logits, draft)), "the other way round"),
    "the rejected one": (
        variant(extend=lambda context, draft, a, own: torch.cat([context, draft[: a + 1], own])),
        "token that was rejected is still in there",
    ),
    "rollback by a count": (variant(back=lambda rollback, cache, old, new: rollback(cache, 1)), "It takes the new context"),
    "a bare token": (a_bare_token, "torch.tensor([next_token])"),
    "no device": (no_device, "on a GPU the ids have to go to where the target is"),
}


@pytest.mark.parametrize("name", WRONG_ROUND)
def test_a_wrong_round_gets_its_reason(name, capsys):
    attempt, reason = WRONG_ROUND[name]
    assert reason in complaint(check_speculative_round, attempt, speculative_round, capsys)


@pytest.mark.parametrize("attempt", [right, forgets_itself, variant()])
def test_any_right_round_is_the_one_that_runs(attempt, capsys):
    assert check_speculative_round(attempt) is attempt
    assert capsys.readouterr().out.count("✓") == 2


def test_a_round_that_goes_wrong_on_long_drafts_only_is_found_in_whole_texts(capsys):
    def four_at_most(target, cache, context, draft, verify, rollback):
        if len(draft) > 4:
            return context, 0
        return speculative_round(target, cache, context, draft, verify, rollback)

    assert "Text 1 on a real model, round 4, with 5 tokens drafted" in complaint(
        check_speculative_round, four_at_most, speculative_round, capsys
    )


@pytest.mark.parametrize(
    "check, nothing, own", [(check_rollback, not_attempted, interface.rollback), (check_speculative_round, stub, speculative_round)]
)
def test_not_attempted_goes_on_with_the_packages_own(check, nothing, own, capsys):
    assert check(nothing) is own and "not attempted yet" in capsys.readouterr().out
    assert check(own) is own and "★" not in capsys.readouterr().out


def test_a_stale_target_changes_the_text_and_a_stale_draft_only_costs_acceptance():
    """What the chapter makes the learner bet on; the engine's own assertions see nothing."""
    target, draft, prompt = tiny_llama(0), noisy_llama(0, 0.02), torch.tensor([1, 2, 3])

    def run(target, draft):
        return generate(target, prompt, ModelDrafter(draft, 64), 4, stopping=Stopping(60))

    sound, stale_draft, stale_target = run(target, draft), run(target, forgets_too_little(draft)), run(forgets_too_little(target), draft)
    assert sound.tokens == stale_draft.tokens == generate(target, prompt, stopping=Stopping(60)).tokens
    assert stale_draft.metrics.alpha < sound.metrics.alpha
    assert stale_target.tokens != sound.tokens
    assert len(forgets_too_little(target).new_cache()) == 0 and not isinstance(target.new_cache(), StaleCache)
