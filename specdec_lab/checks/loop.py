"""The check of chapter 5's second exercise: `speculative_round`, the body of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import Any

import torch
from torch import Tensor

from specdec_lab.checks.stages import Finding, Stage, check, say
from specdec_lab.checks.watch import Judge, Watched
from specdec_lab.engine.loop import speculative_round
from specdec_lab.models.interface import Cache, rollback
from specdec_lab.models.toy import scripted_lm

Round = Callable[..., tuple[Tensor, int]]
VOCAB, TOKENS, TEXTS = 10, 40, 6


def ids(*tokens: int) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long)


@dataclass(frozen=True)
class Scene:
    """A round of a target that says 9 8 3 6 after 5 7 2."""

    name: str
    held: int
    draft: tuple[int, ...]
    accepted: int
    most: int | None = None  # a verify that accepts no more

    @property
    def after(self) -> list[int]:
        return [5, 7, 2, *(9, 8, 3, 6)[: self.accepted + 1]]


SCENES = [
    Scene("1 of 3 drafted tokens agrees", 2, (9, 1, 4), 1),
    Scene("all 3 drafted tokens agree", 2, (9, 8, 3), 3),
    Scene("no drafted token agrees", 2, (1, 8, 3), 0),
    Scene("nothing was drafted", 2, (), 0),
    Scene("the cache is still empty", 0, (9, 8, 1), 2),
    Scene("verify accepts 1 of 3, whatever agrees", 2, (9, 8, 3), 1, most=1),
]
CONTEXT = ids(5, 7, 2)


class _Play:
    """A scene, played by the learner's function."""

    def __init__(self, function: Round, scene: Scene) -> None:
        self.scene, self.draft = scene, ids(*scene.draft)
        self.target = Watched(scripted_lm([9, 8, 3, 6, 0, 0, 0], VOCAB, start=3))
        self.cache, self.judge = self.target.new_cache(), Judge(self.draft, VOCAB, scene.most)
        self.cache.tokens = CONTEXT[: scene.held].tolist()
        self.rolled: list[Tensor] = []
        self.answer: Any = None
        self.error: Exception | None = None
        context, draft = CONTEXT.clone(), self.draft.clone()
        try:
            self.answer = function(self.target, self.cache, context, draft, self.judge, self._rollback)
        except Exception as error:
            self.error = error
        self.changed = not (torch.equal(context, CONTEXT) and torch.equal(draft, self.draft))

    def _rollback(self, cache: Cache, context: Tensor) -> None:
        if not isinstance(context, (Tensor, list, tuple)) or torch.as_tensor(context).dim() != 1:
            raise Finding(f"rollback was given {context!r}. It takes the new context, all of its ids: rollback(cache, context).")
        self.rolled.append(torch.as_tensor(context).clone())
        rollback(cache, self.rolled[-1])


def _fed(play: _Play) -> None:
    """One pass, over what the cache lacks of the context and over the draft."""
    calls, scene = play.target.fed, play.scene
    right = [*CONTEXT[scene.held :].tolist(), *scene.draft]
    if not calls:
        raise Finding("The target was never run. Feed it the last token and the draft, in one pass.")
    if len(calls) > 1:
        raise Finding(
            f"The target was run {len(calls)} times. One pass reads the last token and all of the draft: that is what saves time."
        )
    fed, cache, held = calls[0]
    if cache is not play.cache:
        raise Finding("The target was given another cache than this round's. Without its memory it has to read all of the text again.")
    if fed == right:
        return
    told = f"The cache holds {held} of the context's 3 tokens, and the target was fed {fed} where {right} is right."
    if fed == list(scene.draft):
        raise Finding(f"{told} The last token of the context has never been fed to the target: it comes first.")
    if fed == right[-len(scene.draft) - 1 :]:
        raise Finding(f"{told} What the cache lacks of the context has to be read too: context[len(cache):].")
    if fed[-len(right) :] == right:
        raise Finding(f"{told} What the cache holds already was read a second time, as if the text said it twice.")
    raise Finding(f"{told} First what the cache lacks of the context, then the whole draft.")


def _pair(answer: Any) -> tuple[Tensor, int]:
    """The new context and the count, if they are of that form."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Finding(f"It returns {answer!r}, but a pair is wanted: return context, accepted.")
    after, accepted = answer
    if not isinstance(after, Tensor) and isinstance(accepted, Tensor) and accepted.dim() == 1:
        raise Finding("The two are in the wrong order: return the new context first, then accepted.")
    if not isinstance(after, Tensor) or after.dim() != 1 or after.is_floating_point():
        raise Finding(f"The new context is {after!r}, but a tensor of ids [n] is wanted: torch.cat of tensors of ids.")
    try:
        return after, index(accepted)
    except TypeError as error:
        given = f"a tensor of shape {list(accepted.shape)}" if isinstance(accepted, Tensor) else repr(accepted)
        raise Finding(f"accepted is {given}, but one whole number is wanted, the first of the two that verify returns.") from error


def _answer(play: _Play) -> None:
    """What they are."""
    scene, (after, accepted) = play.scene, _pair(play.answer)
    if after.tolist() != scene.after:
        raise Finding(f"The new context is {after.tolist()}, and {scene.after} is right. {_wrong_context(after.tolist(), scene)}")
    if accepted != scene.accepted:
        raise Finding(f"accepted is {accepted}, and {scene.accepted} is right: what verify said, without the target's own token.")


def _wrong_context(after: list[int], scene: Scene) -> str:
    if after == scene.after[:-1]:
        return "The target's own token is missing; every round adds one."
    kept = [*scene.after[:-1], *scene.draft[scene.accepted : scene.accepted + 1]]
    if after in (kept, [*kept, scene.after[-1]]):
        return "The drafted token that was rejected is still in there. The target's own stands in its place."
    if after == [*CONTEXT.tolist(), *scene.draft, scene.after[-1]]:
        return "The whole draft went in; only the accepted tokens may."
    if after == scene.after[3:]:
        return "These are the new tokens only; the context is all tokens so far."
    return "It is the old context, the accepted tokens, and the token that verify returned."


def _cache(play: _Play) -> None:
    right, held = play.scene.after[:-1], play.cache.tokens
    if held == right:
        return
    told = f"Afterwards the cache holds {held}, and {right} is right."
    if play.rolled and play.rolled[-1].tolist() == CONTEXT.tolist():
        raise Finding(f"{told} It was rolled back to the old context, so that accepted tokens were lost. Extend the context first.")
    if len(held) < len(right) and not play.rolled:
        raise Finding(
            f"{told} It was shortened too much: a token that stands was lost. All but the last token of the new context may stay; "
            "rollback(cache, context) sees to it."
        )
    if not play.rolled:
        raise Finding(
            f"{told} Nothing was rolled back: the rejected tokens are stale. Call rollback(cache, context) at the end of the round."
        )
    raise Finding(f"{told} It was rolled back to the context {play.rolled[-1].tolist()}: roll back once, to the new context, at the end.")


def _scene(function: Round, scene: Scene) -> None:
    play = _Play(function, scene)
    where = f"Where {scene.name} (context {CONTEXT.tolist()}, draft {list(scene.draft)}):"
    try:
        if play.error is None or play.target.fed:
            _fed(play)
        if isinstance(play.error, Finding):
            raise play.error
        if play.error is not None:
            raise _stopped(play.error) from play.error
        if not play.judge.asked:
            raise Finding("verify was never asked. It decides how many tokens stand: accepted, next_token = verify(draft, logits).")
        _answer(play)
        _cache(play)
    except Finding as finding:
        raise Finding(f"{where} {finding}") from finding
    if play.changed:
        raise Finding(f"{where} It changes its input. The caller still needs the old context; make a new one with torch.cat.")


def _stopped(error: Exception) -> Finding:
    said, way_out = f"it stops with {type(error).__name__}: {error}.", ""
    if "zero-dimensional" in said:
        way_out = " torch.cat joins rows of ids; one id becomes a row of one by brackets: torch.tensor([next_token])."
    if isinstance(error, AttributeError) and "Cache" in said:
        way_out = " A real model's cache can be asked for two things only: len(cache) and cache.truncate(length)."
    return Finding(said + way_out)


def _mechanism(function: Round) -> None:
    for scene in SCENES:
        _scene(function, scene)
    if not _Play(function, SCENES[0]).target.asked_for_device:
        raise Finding("Right here, but on a GPU the ids have to go to where the target is: add .to(target.device) to what you feed it.")


def _texts(function: Round) -> None:
    """Whole texts of a real model: the tokens of plain decoding, a pass a round, drafts of every length."""
    from specdec_lab.checks.tiny import VOCAB, one_thread, tiny_llama
    from specdec_lab.engine import Stopping, generate

    generator = torch.Generator().manual_seed(0)
    with one_thread():
        for text in range(TEXTS):
            target, prompt = Watched(tiny_llama(0)), torch.randint(0, VOCAB, (1 + text,), generator=generator)
            plain = ids(*generate(tiny_llama(0), prompt, stopping=Stopping(TOKENS)).tokens)
            context, cache, rounds = prompt, target.new_cache(), 0
            while (done := len(context) - len(prompt)) < TOKENS:
                k = min(int(torch.randint(0, 7, (), generator=generator)), TOKENS - done - 1)
                spoilt = torch.rand(k, generator=generator) < 0.2
                draft = torch.where(spoilt, (plain[done : done + k] + 1) % VOCAB, plain[done : done + k])
                rounds += 1
                where = f"Text {text + 1} on a real model, round {rounds}"
                context = _next(function, (target, cache, context, draft, Judge(draft, VOCAB), rollback), where)
                _agrees(context[len(prompt) :], plain, where)
                if len(cache) != len(context) - 1 or len(target.fed) != rounds:
                    raise Finding(
                        f"Text {text + 1}, round {rounds}: the cache holds {len(cache)} of {len(context)} tokens (all but the last "
                        f"is right), after {len(target.fed)} passes of the target (one a round is right)."
                    )


def _next(function: Round, arguments: tuple[Any, ...], where: str) -> Tensor:
    """The context after one more round."""
    before = len(arguments[2])
    try:
        after, _ = _pair(function(*arguments))
    except Finding as finding:
        raise Finding(f"{where}: {finding}") from finding
    except Exception as error:
        raise Finding(f"{where}: {_stopped(error)}") from error
    if len(after) <= before:
        raise Finding(
            f"{where}, with {len(arguments[3])} tokens drafted: no token was added to the context; every round adds one at least."
        )
    return after


def _agrees(ours: Tensor, plain: Tensor, where: str) -> None:
    """Our tokens are a start of the plain text."""
    if not torch.equal(ours, plain[: len(ours)]):
        first = next((i for i, (a, b) in enumerate(zip(ours.tolist(), plain.tolist(), strict=False)) if a != b), len(plain))
        raise Finding(f"{where}: the text differs from plain decoding at token {first}. Look at what was fed, and at the rollback before.")


def check_speculative_round(function: Round) -> Round:
    """Check the learner's `speculative_round(target, cache, context, draft, verify, rollback) -> (context, accepted)`."""
    if function is not speculative_round:
        first = _Play(function, SCENES[0])
        if first.error is None and (first.answer is None or first.answer is ...) and not first.target.fed:
            say("○ speculative_round: not attempted yet. The chapter goes on with the package's own.")
            return speculative_round
    stages = [
        Stage("mechanism", "one pass, the verdict, the new context, the rollback", _mechanism),
        Stage("reference", f"{TEXTS} whole texts of a real model, token for token as in plain decoding", _texts),
    ]
    return check(function, speculative_round, stages)
