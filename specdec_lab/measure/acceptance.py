"""Alpha by kind of text and temperature, from the two models' laws along texts that the target wrote: far quicker than to run the pair.

A drafted token stands with the probability that the two laws have in common (chapter 3), so each place of a text says that probability
itself, where a run would throw the dice for it once. Nothing is drafted, and k does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from specdec_lab.engine.batch import Pool
from specdec_lab.engine.loop import Generation, generate
from specdec_lab.engine.stopping import Stopping
from specdec_lab.errors import UserError
from specdec_lab.models.interface import LanguageModel
from specdec_lab.sampling import SamplingParams, SeededRng, laws
from specdec_lab.verify import verify_sampling

TEMPERATURES = (0.0, 0.3, 0.6, 1.0)


class Alpha(NamedTuple):
    """The mean acceptance over so many places of texts, and its standard error."""

    workload: str
    temperature: float
    alpha: float
    error: float
    tokens: int


def acceptance_map(
    target: LanguageModel,
    draft: LanguageModel,
    prompts: Mapping[str, Sequence[Tensor]],
    temperatures: Sequence[float] = TEMPERATURES,
    tokens: int = 16,
    eos: frozenset[int] = frozenset(),
) -> Iterator[Alpha]:
    """Yield each kind of text at each temperature, a kind after the other.

    prompts: ids `[n]` by kind of text. The target writes up to `tokens` after each prompt at each temperature, those of a kind side
    by side; then the draft reads them. Raises UserError for no prompts or temperatures.
    """
    for workload, its in prompts.items():
        rows = [(SamplingParams(t), prompt) for t in temperatures for prompt in its]
        places = _places(target, draft, workload, rows, [prompt for _, prompt in rows], tokens, eos)
        for i, temperature in enumerate(temperatures):
            yield _mean(workload, temperature, torch.cat(places[i * len(its) : (i + 1) * len(its)]))


def alpha_along(
    target: LanguageModel,
    draft: LanguageModel,
    prompts: Sequence[Tensor],
    seen_by_draft: Sequence[Tensor],
    temperature: float = 0.0,
    tokens: int = 16,
    eos: frozenset[int] = frozenset(),
) -> Alpha:
    """The same for one kind of text and temperature, where the draft reads other prompts than the target does, ids `[n]` each."""
    rows = [(SamplingParams(temperature), prompt) for prompt in prompts]
    return _mean("", temperature, torch.cat(_places(target, draft, "these prompts", rows, seen_by_draft, tokens, eos)))


def _places(
    target: LanguageModel, draft: LanguageModel, what: str, rows: Sequence[tuple[SamplingParams, Tensor]],
    seen: Sequence[Tensor], tokens: int, eos: frozenset[int],
) -> list[Tensor]:  # fmt: skip
    """What would have stood at each place of the text that the target writes for each row, had the draft `seen` those prompts."""
    if not rows:
        raise UserError(f"There is nothing to write for {what}; give at least one prompt and one temperature.")
    pool = Pool()
    shared = pool.share(target)
    written = pool.run([partial(_write, shared, prompt, params, tokens, eos, seed) for seed, (params, prompt) in enumerate(rows)])
    return [_overlaps(draft, own, run, p, params) for (run, p), (params, _), own in zip(written, rows, seen, strict=True)]


def _write(
    target: LanguageModel, prompt: Tensor, params: SamplingParams, tokens: int, eos: frozenset[int], seed: int
) -> tuple[Generation, list[Tensor]]:
    """A plain text, and the target's law `[vocab]` at each of its places; none at temperature 0, where its token says it all."""
    p: list[Tensor] = []

    def keep(law: Tensor, *rest: Any) -> tuple[int, int]:
        p.append(law[0].cpu())
        return verify_sampling(law, *rest)

    verify = None if params.greedy else keep
    return generate(target, prompt, None, 1, params, Stopping(tokens, eos), SeededRng(seed), verify), p


@torch.inference_mode()
def _overlaps(draft: LanguageModel, prompt: Tensor, run: Generation, p: Sequence[Tensor], params: SamplingParams) -> Tensor:
    """At each place of a text, the chance that a token drafted there would have stood: sum min(p, q)."""
    text = torch.cat([prompt.cpu(), torch.tensor(run.tokens)])[: draft.max_context + 1]
    new = text[len(prompt) :]
    fed = text[:-1].clamp(max=draft.vocab_size - 1)
    q = laws(draft(fed[None].to(draft.device), draft.new_cache(), logits_to_keep=len(new))[0], params, text[:-1]).cpu()
    if params.greedy:
        return q.gather(1, new.clamp(max=q.shape[1] - 1)[:, None])[:, 0] * (new < q.shape[1])
    both = min(q.shape[1], len(p[0]))  # columns beyond are padding
    return torch.minimum(torch.stack(list(p[: len(new)]))[:, :both].to(q), q[:, :both]).sum(-1)


def _mean(workload: str, temperature: float, places: Tensor) -> Alpha:
    n = len(places)
    error = float(places.double().std(correction=0)) / n**0.5
    return Alpha(workload, temperature, float(places.double().mean()), error, n)
