"""Draft, verify in one pass, keep what stands, roll back the rest: the whole of speculative decoding.

Plain decoding is the same loop with nothing drafted, so the baseline of every comparison is honest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from specdec_lab.drafters.interface import NOTHING, Draft, Drafter
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping, StopReason
from specdec_lab.engine.trees import tree_round
from specdec_lab.errors import UserError
from specdec_lab.models.interface import Cache, LanguageModel, rollback
from specdec_lab.sampling import Rng, SamplingParams, SeededRng, choices, laws
from specdec_lab.verify import verify_greedy, verify_sampling

Verify = Callable[..., tuple[int, int]]
GREEDY = SamplingParams()


@dataclass(frozen=True)
class Generation:
    """A finished run. `tokens` are the new ids; seconds are wall time, `prefill_seconds` that of reading the prompt."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    rounds: tuple[Round, ...]
    reason: StopReason
    text: str | None
    prefill_seconds: float

    @classmethod
    def of(cls, prompt: Tensor, stopping: Stopping, rounds: Sequence[Round], prefill_seconds: float) -> Generation:
        """What `stopping` and the rounds of a finished `stream` amount to."""
        assert stopping.reason is not None
        text = stopping.text if stopping.decoder else None
        return cls(tuple(prompt.tolist()), tuple(stopping.tokens), tuple(rounds), stopping.reason, text, prefill_seconds)

    @property
    def metrics(self) -> Metrics:
        return Metrics.of(self.rounds)

    @property
    def decode_seconds(self) -> float:
        return sum(r.seconds for r in self.rounds)

    @property
    def tokens_per_second(self) -> float:
        """New tokens per second of decoding; reading the prompt is not in it."""
        return len(self.tokens) / self.decode_seconds

    @property
    def time_to_first_token(self) -> float:
        return self.prefill_seconds + self.rounds[0].seconds


def generate(
    target: LanguageModel,
    prompt: Tensor,
    drafter: Drafter | None = None,
    k: int = 5,
    params: SamplingParams = GREEDY,
    stopping: Stopping | None = None,
    rng: Rng | None = None,
    verify: Verify | None = None,
) -> Generation:
    """Run `stream` to its end."""
    stopping = stopping or Stopping(max_new_tokens=64)
    started = perf_counter()
    rounds = tuple(stream(target, prompt, drafter, k, params, stopping, rng, verify))
    return Generation.of(prompt, stopping, rounds, perf_counter() - started - sum(r.seconds for r in rounds))


def stream(
    target: LanguageModel,
    prompt: Tensor,
    drafter: Drafter | None,
    k: int,
    params: SamplingParams,
    stopping: Stopping,
    rng: Rng | None = None,
    verify: Verify | None = None,
) -> Iterator[Round]:
    """Decode after `prompt` (ids `[n]`), yielding a record a round; `stopping` collects the tokens.

    drafter: None decodes plainly. k: tokens drafted a round, at most. rng: seed 0 by default.
    verify: a stand-in for `verify_greedy(draft, target)` at temperature 0, else for
    `verify_sampling(p, q, draft, rng)`: a learner's own function runs here, on every draft that is no tree. Raises UserError on bad input.
    """
    _check(target, prompt, drafter, k, stopping)
    rng = rng or SeededRng()
    verify = verify or (verify_greedy if params.greedy else verify_sampling)
    context, cache = prompt.cpu(), target.new_cache()
    if len(context) > 1:  # fetching the logits waits for a GPU, so that reading the prompt is not timed as the first round
        target(context[None, :-1].to(target.device), cache, logits_to_keep=1).cpu()
    if drafter:
        drafter.begin(context, cache)
    while stopping.reason is None:
        began = perf_counter()
        wanted = min(k, stopping.max_new_tokens - len(stopping.tokens) - 1)  # the target's own token takes one place
        draft = drafter.propose(context, wanted, params, rng) if drafter and wanted > 0 else NOTHING
        drafted = perf_counter()
        length = len(context)
        if draft.parents is None:
            context, accepted = speculative_round(target, cache, context, draft.tokens, _judge(verify, params, rng, context, draft))
            path = tuple(range(accepted))
        else:
            context, path = tree_round(target, cache, context, draft, params, rng)
        verified = perf_counter()
        if drafter:
            drafter.commit(context)
        committed = perf_counter()
        emitted = stopping.take(context[length:].tolist())
        record = Round(
            context_length=length,
            drafted=tuple(draft.tokens.tolist()),
            accepted=len(path),
            next_token=int(context[-1]),
            emitted=emitted,
            draft_seconds=drafted - began + committed - verified,
            verify_seconds=verified - drafted,
            seconds=perf_counter() - began,
            target_cache=len(cache),
            draft_cache=drafter.cache_length if drafter else None,
            parents=draft.parents,
            path=path,
        )
        _assert_rolled_back(record, len(context))
        yield record


def speculative_round(
    target: LanguageModel,
    cache: Cache,
    context: Tensor,
    draft: Tensor,
    verify: Callable[[Tensor, Tensor], tuple[int, int]],
    rollback: Callable[[Cache, Tensor], None] = rollback,
) -> tuple[Tensor, int]:
    """The body of the loop: one pass of the target over the last token and the draft, the verdict, the rollback.

    cache: the target's, which holds a start of `context` (ids `[n]`), and afterwards the new context less its last token.
    draft: ids `[k]`; k may be 0. verify(draft, logits `[k + 1, vocab]`) says (accepted, next_token).
    Returns the new context, ids `[n + accepted + 1]`, and accepted.
    """
    seen = torch.cat([context, draft])
    logits = target(seen[None, len(cache) :].to(target.device), cache)[0, -len(draft) - 1 :]
    accepted, next_token = verify(draft, logits)
    context = torch.cat([context, draft[:accepted], context.new_tensor([next_token])])
    rollback(cache, context)
    return context, accepted


def _judge(
    verify: Verify, params: SamplingParams, rng: Rng, context: Tensor, proposed: Draft
) -> Callable[[Tensor, Tensor], tuple[int, int]]:
    """`verify` as a round asks it, about logits `[k + 1, vocab]`: shaped by `params`. Raises UserError if its verdict cannot be."""

    def verdict(draft: Tensor, logits: Tensor) -> tuple[int, int]:
        seen = torch.cat([context, draft])
        if params.greedy:
            accepted, next_token = verify(draft, choices(logits, params, seen).cpu())
        else:
            p = laws(logits, params, seen)
            accepted, next_token = verify(p, proposed.laws(p), draft, rng)
        if not 0 <= accepted <= len(draft):
            raise UserError(f"The verifier accepted {accepted} of {len(draft)} drafted tokens; it has to be between 0 and {len(draft)}.")
        if not 0 <= next_token < logits.shape[-1]:
            raise UserError(f"The verifier's next token is {next_token}; it has to be an id below {logits.shape[-1]}.")
        return int(accepted), int(next_token)

    return verdict


def _assert_rolled_back(round_: Round, context: int) -> None:
    """Both caches hold the context less its last token. A draft's may lack tokens it has not been fed yet, which are
    fed with the next: the last one after full acceptance, any after rounds without a draft. It never holds more."""
    assert round_.target_cache == context - 1, f"the target's cache holds {round_.target_cache} of {context} tokens"
    held = round_.draft_cache
    if held is not None:
        assert held == context - 1 or (held < context - 1 and not round_.rejected), f"the draft's cache holds {held} of {context} tokens"


def _check(target: LanguageModel, prompt: Tensor, drafter: Drafter | None, k: int, stopping: Stopping) -> None:
    if prompt.dim() != 1:
        raise UserError(f"The prompt has shape {tuple(prompt.shape)}, but one text at a time is decoded; pass ids of shape [n].")
    if len(prompt) == 0:
        raise UserError("The prompt is empty; give at least one token.")
    if not 0 <= int(prompt.min()) <= int(prompt.max()) < target.vocab_size:
        raise UserError(f"The prompt has ids outside the vocabulary of {target.name}; encode it with that model's own tokenizer.")
    if drafter and k < 1:
        raise UserError(f"k is {k}, but a draft has at least 1 token; for plain decoding leave the drafter out.")
    if stopping.max_new_tokens < 1:
        raise UserError(f"max_new_tokens is {stopping.max_new_tokens}, but at least 1 token has to be generated.")
    if stopping.strings and stopping.decoder is None:
        raise UserError("Stop strings need a tokenizer to read the text with; pass decoder=... to Stopping.")
    if isinstance(stopping.strings, str):
        raise UserError("Stop strings are given as a tuple; for a single one write ('...',).")
    if "" in stopping.strings:
        raise UserError("A stop string is empty and would end every text at once; leave it out.")
    if stopping.tokens:
        raise UserError("This Stopping has already ended a text; make a new one for each run.")
    room = target.max_context - len(prompt)
    if stopping.max_new_tokens > room:
        way_out = f"ask for at most {room} new tokens" if room > 0 else "shorten the prompt"
        raise UserError(
            f"{len(prompt)} prompt tokens and {stopping.max_new_tokens} new ones do not fit the context of "
            f"{target.max_context} tokens of {target.name}; {way_out}."
        )
