"""What vLLM's counters say of speculation, under the names of our own engine's metrics (`engine.Metrics`)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from specdec_lab.errors import UserError

PREFIX = "vllm:spec_decode_num_"
DRAFTS, DRAFTED, ACCEPTED = "drafts", "draft_tokens", "accepted_tokens"
PER_POSITION = "accepted_tokens_per_pos"
NOTE = "Rounds in which nothing was drafted are not among vLLM's, so with n-grams the mean length overstates tokens per target pass."


@dataclass(frozen=True)
class Counters:
    """vLLM's counters since its start, summed over engines. `accepted_at[i]`: rounds whose draft stood up to position i."""

    drafts: int
    draft_tokens: int
    accepted_tokens: int
    accepted_at: tuple[int, ...]


@dataclass(frozen=True)
class Acceptance:
    """Speculation between two readings. A round is a target pass that tested a draft; one without a draft is not counted."""

    rounds: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...]
    note: str = NOTE

    @property
    def acceptance_rate(self) -> float | None:
        """accepted / drafted; None if nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def mean_acceptance_length(self) -> float | None:
        """Tokens emitted per round, 1 + accepted / rounds: the target's own token is the one. None without a round."""
        return 1 + self.accepted / self.rounds if self.rounds else None

    @property
    def marginal(self) -> tuple[float, ...]:
        """Per position: the share of all rounds in which it stood. Rounds that drafted less count as well."""
        return tuple(at / self.rounds for at in self.accepted_at) if self.rounds else ()


def parse(text: str) -> Counters:
    """The counters in what a server's /metrics returned.

    The names come with `_total` and without, as versions of the Prometheus client write them. Raises UserError where the text is none
    of Prometheus's, and where the counters are not in it.
    """
    totals: dict[str, float] = defaultdict(float)
    positions: dict[int, float] = defaultdict(float)
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                name = sample.name.removesuffix("_total").removeprefix(PREFIX)
                if not sample.name.startswith(PREFIX):
                    continue
                if name == PER_POSITION:
                    positions[int(sample.labels["position"])] += sample.value
                else:
                    totals[name] += sample.value
    except (ValueError, KeyError) as error:
        raise UserError(
            f"This is not what Prometheus writes ({error}): read the metrics from the server's own address, as in http://localhost:8000/metrics."
        ) from error
    _require_counters(totals, text)
    longest = max(positions, default=-1) + 1
    drafts, drafted, accepted = (round(totals[name]) for name in (DRAFTS, DRAFTED, ACCEPTED))
    return Counters(drafts, drafted, accepted, tuple(round(positions[i]) for i in range(longest)))


def _require_counters(totals: dict[str, float], text: str) -> None:
    missing = [name for name in (DRAFTS, DRAFTED, ACCEPTED) if name not in totals]
    if not missing:
        return
    if not any(line.startswith("vllm:") for line in text.splitlines()):
        cause = (
            "no counter of vLLM's is: either this is another server, or its statistics are off, so start vLLM without --disable-log-stats"
        )
    elif len(missing) == 3:
        cause = "other counters of vLLM's are: it runs without speculation, so start it with --speculative-config"
    else:
        cause = "others of speculation are: its version names them differently, so compare `docs/usage/metrics.md` of that version"
    raise UserError(f"{PREFIX}{missing[0]} is not among the metrics, while {cause}.")


def between(before: Counters, after: Counters) -> Acceptance:
    """What happened from one reading to the next. Raises UserError where a counter fell, as it does when a server restarts."""
    for name in ("drafts", "draft_tokens", "accepted_tokens"):
        old, new = getattr(before, name), getattr(after, name)
        if new < old:
            raise UserError(f"The counter of {name} fell from {old} to {new}, so the server was restarted in between: measure again.")
    if len(after.accepted_at) < len(before.accepted_at):
        raise UserError("The server counts fewer positions than before, so it was restarted with a smaller k: measure again.")
    old_at = before.accepted_at + (0,) * (len(after.accepted_at) - len(before.accepted_at))
    at = tuple(new - old for old, new in zip(old_at, after.accepted_at, strict=True))
    return Acceptance(
        rounds=after.drafts - before.drafts,
        drafted=after.draft_tokens - before.draft_tokens,
        accepted=after.accepted_tokens - before.accepted_tokens,
        accepted_at=at,
    )
