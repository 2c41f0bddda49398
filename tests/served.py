"""A recording of a server that was never run: sixteen requests, with times and counters that add up by a law one can work out by hand."""

from __future__ import annotations

from specdec_lab.serving.metrics import Counters
from specdec_lab.serving.recordings import LegacyError, Recording, Served, ServedRun
from specdec_lab.serving.setup import Drafter, DraftModel, Ngram, NoDrafter, Setup

REQUESTS, TOKENS, K = 16, 33, 4
CONCURRENCIES = (1, 2, 4, 8, 16)
FLAT_TO, STEP, MORE = 4, 0.020, 0.004  # a pass takes STEP seconds up to FLAT_TO tokens, and MORE for each further one
NGRAM, DRAFT, PLAIN = Ngram(1, 4), DraftModel("the-draft"), NoDrafter()
ACCEPTED = {"plain": 0, "n-gram": 240, "draft model": 330}
DRAFTS = {"plain": 0, "n-gram": 96, "draft model": 190}
DRAFTING = {"plain": 0.0, "n-gram": 0.0, "draft model": 0.4}  # steps a round


def step(tokens: float) -> float:
    """Seconds of a pass over so many tokens."""
    return STEP + MORE * max(0.0, tokens - FLAT_TO)


def seconds_a_token(name: str, requests: int) -> float:
    """For one of so many users."""
    passes = REQUESTS * TOKENS - ACCEPTED[name]
    share = DRAFTS[name] / passes
    a_pass = share * (step(requests * (K + 1)) + DRAFTING[name] * step(requests)) + (1 - share) * step(requests)
    return a_pass * passes / (REQUESTS * TOKENS)


def run(name: str, drafter: Drafter, requests: int = 1) -> ServedRun:
    each = seconds_a_token(name, requests)
    answers = tuple(
        Served(
            "chat" if i % 2 else "code-edit",
            f"Prompt {i}",
            tuple(range(i, i + TOKENS)),
            f"text {i}",
            0.1,
            0.1 + each * (TOKENS - 1),
            "length",
        )
        for i in range(REQUESTS)
    )
    seconds = REQUESTS / requests * answers[0].seconds
    setup = Setup("the-target", drafter, k=0 if drafter == PLAIN else K)
    if drafter == PLAIN:
        return ServedRun(name, setup, requests, seconds, answers)
    accepted, drafts = ACCEPTED[name], DRAFTS[name]
    at = [accepted - 3 * (accepted // 5), *[accepted // 5] * 3]
    before = Counters(10, 10 * K, 12, (6, 3, 2, 1))
    after = Counters(10 + drafts, (10 + drafts) * K, 12 + accepted, tuple(a + b for a, b in zip((6, 3, 2, 1), at, strict=True)))
    return ServedRun(name, setup, requests, seconds, answers, before, after)


def recording() -> Recording:
    """Three set-ups at five concurrencies, a random draft, and three old forms."""
    kinds: dict[str, Drafter] = {"plain": PLAIN, "n-gram": NGRAM, "draft model": DRAFT}
    runs = [run(name, drafter, requests) for name, drafter in kinds.items() for requests in CONCURRENCIES]
    errors = tuple(
        LegacyError(name, form, message, "")
        for name, form, message in (
            (
                "python",
                'llm = LLM(model="M", speculative_model="D", num_speculative_tokens=5)',
                "TypeError: EngineArgs.__init__() got an unexpected keyword argument 'speculative_model'",
            ),
            (
                "server",
                "vllm serve M --speculative-model D --num-speculative-tokens 5",
                "error: unrecognized arguments: --speculative-model D",
            ),
        )
    )
    return Recording("a made-up CPU", "2026-01-01", "0" * 12, {"vllm": "0.0"}, "none", tuple(runs), errors)
