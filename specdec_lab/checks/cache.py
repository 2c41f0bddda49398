"""The checks of chapter 5's exercises: `rollback`, and `speculative_round`, the body of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.stages import Finding, Stage, check, say
from specdec_lab.models.interface import Cache, rollback
from specdec_lab.models.toy import TokenCache

Rollback = Callable[[Cache, Tensor], Any]
ROUNDS, LONGEST_TEXT = 200, 48


def ids(*tokens: int) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long)


class Recording(TokenCache):
    """A cache of tokens that remembers what it was asked to keep."""

    def __init__(self, tokens: list[int]) -> None:
        super().__init__()
        self.tokens = list(tokens)
        self.asked: list[int] = []

    def truncate(self, length: int) -> None:
        self.asked.append(int(length))
        super().truncate(length)


@dataclass(frozen=True)
class Scene:
    """The end of a round: what a cache holds, the new context, and how many tokens stay."""

    name: str
    held: tuple[int, ...]
    context: tuple[int, ...]
    right: int


# The context was 5 7 2 6 and the draft 9 8 3.
SCENES = [
    Scene("the target's cache, 1 of 3 accepted", (5, 7, 2, 6, 9, 8, 3), (5, 7, 2, 6, 9, 4), 5),
    Scene("the draft's cache, 1 of 3 accepted", (5, 7, 2, 6, 9, 8), (5, 7, 2, 6, 9, 4), 5),
    Scene("the target's cache, nothing accepted", (5, 7, 2, 6, 9, 8, 3), (5, 7, 2, 6, 1), 4),
    Scene("the target's cache, all 3 accepted", (5, 7, 2, 6, 9, 8, 3), (5, 7, 2, 6, 9, 8, 3, 1), 7),
    Scene("the draft's cache, all 3 accepted", (5, 7, 2, 6, 9, 8), (5, 7, 2, 6, 9, 8, 3, 1), 6),
    Scene("the target's cache, nothing drafted", (5, 7, 2, 6), (5, 7, 2, 6, 9), 4),
    Scene("the draft's cache, which said nothing for three rounds", (5, 7, 2), (5, 7, 2, 6, 9, 8, 3), 3),
]


def mistake(held: int, kept: int, right: int) -> str:
    """What keeping `kept` of `held` tokens is called, where `right` is right."""
    stale = "is stale: it belongs to a text that was thrown away, and every later pass would read it"
    if kept == held > right:
        return f"Nothing was forgotten. What was rejected {stale}."
    if kept == right + 1:
        return (
            f"Off by one: the last token in there was rejected, and {stale}. (The new context ends with the target's own "
            "token, which no model has read yet.)"
        )
    if kept > right:
        return f"{kept - right} tokens too many are left; what was rejected {stale}."
    if kept == 0:
        return "Everything was forgotten. That loses no text, but the model would have to read all of it again, every round."
    if kept == held - right:
        return "That is how many tokens have to go. truncate wants to know how many may stay, counted from the start of the text."
    if kept == right - 1:
        return (
            "Off by one: a token that stands was lost. The model has to read it again, or reads on without it, with all that "
            "follows one position too early."
        )
    return f"{right - kept} tokens that stand were lost, and the model would have to read them again."


def _call(function: Rollback, cache: Any, context: Tensor) -> None:
    given = context.clone()
    function(cache, given)
    if not torch.equal(given, context):
        raise Finding(f"It changes the context: {context.tolist()} became {given.tolist()}. Only the cache is to be changed.")


def _scene(function: Rollback, scene: Scene) -> None:
    cache, held = Recording(list(scene.held)), len(scene.held)
    where = f"{scene.name[0].upper()}{scene.name[1:]}: it holds {held} tokens, the new context has {len(scene.context)}."
    try:
        _call(function, cache, ids(*scene.context))
    except Finding:
        raise
    except Exception as error:
        asked = cache.asked[-1] if cache.asked else None
        if asked is not None and asked < 0:
            why = "It wants the number of tokens that stay, counted from the start, and no negative number of tokens to remove."
        elif asked is not None and asked > held:
            why = (
                "A rollback can only forget. The draft never read its last token, so after full acceptance its cache is one "
                "token short: leave it, the next round feeds two."
            )
        else:
            why = "All that is needed is len(cache), len(context) and cache.truncate(length)."
        did = f"Yours asks truncate to keep {asked}." if asked is not None else f"Yours stops with {type(error).__name__}: {error}."
        raise Finding(f"{where} {did} {why}") from error
    kept = len(cache)
    if kept != scene.right:
        raise Finding(f"{where} Yours keeps {kept}, and {scene.right} is right. {mistake(held, kept, scene.right)}")
    if cache.tokens != list(scene.held[: scene.right]):
        raise Finding(
            f"{where} Yours keeps the right number of tokens, but not the right ones: {cache.tokens} of {list(scene.held)}. The "
            "latest have to go; without the first ones, everything would stand at a shifted position."
        )


def _shape(function: Rollback) -> None:
    cache, own = Recording([1, 2, 3, 4]), 90
    stopped: Exception | None = None
    try:
        function(cache, ids(1, 2, own))
    except Exception as error:
        stopped = error
    if cache.asked and abs(cache.asked[-1] - own) <= 1:
        raise Finding(
            f"The new context is {[1, 2, own]}, and yours asks truncate to keep {cache.asked[-1]}. That comes from the last token "
            "itself; what is wanted is a number of tokens, and len(context) counts them."
        )
    if isinstance(stopped, TypeError):
        raise Finding(f"Called as rollback(cache, context) it stops with TypeError: {stopped}.") from stopped
    if stopped is None and len(cache) == 4 and cache.asked:
        raise Finding(
            f"The cache holds 4 tokens, of which the new context confirms 2, and yours asks truncate to keep {cache.asked[-1]}: nothing "
            "is forgotten. Of what is held and what is confirmed, the smaller number may stay."
        )
    if stopped is None and len(cache) == 4:
        raise Finding(
            "It leaves the cache as it is: 4 tokens, of which the new context confirms 2. The cache itself has to be shortened, by "
            "cache.truncate(length); what is returned is lost."
        )


def _mechanism(function: Rollback) -> None:
    for scene in SCENES:
        _scene(function, scene)


def _random_rounds(function: Rollback) -> None:
    """Both caches through 200 rounds of chance, on real models; after each, the logits with and without a cache."""
    from specdec_lab.checks.tiny import VOCAB, one_thread, tiny_llama

    generator = torch.Generator().manual_seed(0)
    models = {"target": tiny_llama(0), "draft": tiny_llama(1)}
    context, caches = ids(), {who: model.new_cache() for who, model in models.items()}

    def chance(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=generator))

    with one_thread():
        for number in range(1, ROUNDS + 1):
            if not 0 < len(context) <= LONGEST_TEXT:
                context = torch.randint(0, VOCAB, (chance(1, 4),), generator=generator)
                caches = {who: model.new_cache() for who, model in models.items()}
            k = chance(0, 6)
            draft = torch.randint(0, VOCAB, (k,), generator=generator)
            accepted = k if chance(0, 3) == 0 else chance(0, k)
            seen = torch.cat([context, draft])
            for who, fed in (("target", seen), ("draft", seen[:-1])):
                if k or who == "target":
                    _feed_and_compare(models[who], caches[who], fed, f"Round {number}, the {who}'s cache")
            own = (seen[len(context) + accepted :][:1] + 1) % VOCAB if accepted < k else ids(chance(0, VOCAB - 1))
            context = torch.cat([context, draft[:accepted], own])
            for who, cache in caches.items():
                _one_of_many(function, cache, context, f"Round {number}, the {who}'s cache, {accepted} of {k} accepted")


def _feed_and_compare(model: Any, cache: Cache, seen: Tensor, where: str) -> None:
    """Feed what the cache lacks of `seen`; the logits have to be those of a pass that starts from nothing."""
    held = len(cache)
    cached = model(seen[None, held:], cache)[0]
    apart = float((cached - model(seen[None], model.new_cache())[0, held:]).abs().max())
    if apart > 1e-8:
        raise Finding(
            f"{where}: it holds the right number of tokens, {held}, and yet its logits are up to {apart:.2g} away from those "
            "without a cache. It remembers other tokens, or at shifted positions: forget the latest only."
        )


def _one_of_many(function: Rollback, cache: Cache, context: Tensor, where: str) -> None:
    held, right = len(cache), min(len(cache), len(context) - 1)
    try:
        _call(function, cache, context)
    except Finding as finding:
        raise Finding(f"{where}: {finding}") from finding
    except Exception as error:
        raise Finding(
            f"{where}, holds {held} tokens; yours stops with {type(error).__name__}: {error}. A real model's cache holds keys and "
            "values, no list of tokens: all that is needed is len(cache) and cache.truncate(length)."
        ) from error
    if len(cache) != right:
        why = mistake(held, len(cache), right)
        raise Finding(f"{where}: it holds {held} tokens and the context has {len(context)}. Yours keeps {len(cache)}, not {right}. {why}")


def check_rollback(function: Rollback) -> Rollback:
    """Check the learner's `rollback(cache, context)`, which returns nothing and shortens the cache."""
    if function is not rollback and _untouched(function):
        say("○ rollback: not attempted yet, or it leaves every cache as it is. The chapter goes on with the package's own.")
        return rollback
    stages = [
        Stage("shape", "it shortens a cache", _shape),
        Stage("mechanism", "both caches; some, none and all accepted; nothing drafted", _mechanism),
        Stage("reference", f"{ROUNDS} random rounds on real models: logits as without a cache", _random_rounds),
    ]
    return check(function, rollback, stages)


def _untouched(function: Rollback) -> bool:
    cache = Recording([1, 2, 3, 4])
    try:
        answer = function(cache, ids(1, 2, 5))
    except Exception:
        return False
    return (answer is None or answer is ...) and not cache.asked and len(cache) == 4
