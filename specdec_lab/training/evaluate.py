"""What the trained parts are worth, written to their cards: alpha by workload and position, accuracy by rank, cost ratio c.

    python -m specdec_lab.training.evaluate TEXT.npz WORK            (alpha; WORK keeps the target's states, see `training.heads`)
    python -m specdec_lab.training.evaluate --cost TEXT.npz WORK     (c as well, in the real loop; on a quiet machine)

alpha is that of rounds of greedy decoding with k = 4 over answers that the target gave at temperature 0 to questions never trained on.
As the target's text is known, no target is run: a drafted token stands if all before it stood and the text goes on with it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import typer
from torch import Tensor
from tqdm import tqdm

from specdec_lab.assets import asset
from specdec_lab.drafters import NgramDrafter
from specdec_lab.drafters.early_exit import ExitModel
from specdec_lab.drafters.ladder import drafter
from specdec_lab.engine import Round, Stopping, generate
from specdec_lab.models.heads import EAGLE, EXIT, MEDUSA, load_eagle, load_exit, load_medusa, untrained_exit
from specdec_lab.models.loading import LoadedPair, load_pair
from specdec_lab.models.registry import COURSE_DRAFT
from specdec_lab.training.corpus import Corpus, Row, read_corpus
from specdec_lab.training.heads import unrolled_guesses
from specdec_lab.training.part import states_of

K = 4
RANKS = 6
WORKLOADS = {  # the first whose words stand in the question
    "JSON": r"json",
    "code": r"python|javascript|sql|bash|function|code|unit test|docstring|\bdef\b|\bimport\b",
    "extraction": r"extract|table|list\b",
    "story": r"story|poem",
    "editing": r"rewrite|edit|grammar|repeat|translate|summari[sz]e",
    "explanation": r"explain|describe|compare|what|who|how|why",
    "other": r"",
}
# (n, j) to the rank of the right token in the law of the j-th token drafted after n tokens; None if none is drafted there
Ranks = Callable[[int, int], int | None]


def workload(question: str) -> str:
    """The kind of a user turn, by the words in it."""
    return next(name for name, words in WORKLOADS.items() if re.search(words, question, re.IGNORECASE))


# --- the rank that each part gives the right token ---


def ranks_of(logits: Tensor, tokens: Tensor) -> Tensor:
    """For logits `[n, vocab]` and the right tokens `[n]`: how many tokens are more likely, `[n]`."""
    right = logits.gather(1, tokens[:, None])
    return (logits > right).sum(1) + 100_000 * right.isinf()[:, 0]  # what cannot be said has no rank


def by_model(model: Any) -> Callable[[Tensor, Tensor], Ranks]:
    """A language model: given the tokens before, whichever round they were drafted in."""

    def read(ids: Tensor, states: Tensor) -> Ranks:
        found = ranks_of(model(ids[None], model.new_cache())[0, :-1], ids[1:])
        return lambda n, j: int(found[n + j - 1])

    return read


def by_medusa(pair: LoadedPair) -> Callable[[Tensor, Tensor], Ranks]:
    heads = load_medusa(pair.target)

    def read(ids: Tensor, states: Tensor) -> Ranks:
        guessed = heads(states)
        found = [ranks_of(heads.output(g[: -2 - i]), ids[2 + i :]) for i, g in enumerate(guessed)]
        return lambda n, j: int(found[j][n - 2])

    return read


def by_eagle(pair: LoadedPair) -> Callable[[Tensor, Tensor], Ranks]:
    head = load_eagle(pair.target)

    def read(ids: Tensor, states: Tensor) -> Ranks:
        guessed = unrolled_guesses(head, states[None, :-1], ids[None, 1:], K)
        found = [ranks_of(head.output(g[0, :-1]), ids[2:]) for g in guessed]
        return lambda n, j: int(found[j][n - 2 + j])

    return read


def by_lookup(ids: Tensor, states: Tensor) -> Ranks:
    drafter = NgramDrafter()

    def rank(n: int, j: int) -> int | None:
        drafted = drafter.propose(ids[:n], K, None, None).tokens  # type: ignore[arg-type]
        return None if j >= len(drafted) else 0 if drafted[j] == ids[n + j] else RANKS

    return rank


# --- rounds ---


def rounds(rank: Ranks, row: Row) -> Iterator[list[int]]:
    """The ranks of the right tokens of each round over the answer of a row, up to the first that is not 0."""
    n = row.answer
    while n < row.length:
        found: list[int] = []
        while len(found) < min(K, row.length - n) and not any(found) and (next_rank := rank(n, len(found))) is not None:
            found.append(next_rank)
        yield found
        n += sum(r == 0 for r in found) + 1


def summary(found: list[list[int]]) -> dict[str, Any]:
    """What `rounds` amount to, in the words of `engine.Metrics`."""
    accepted, tested = sum(r == 0 for ranks in found for r in ranks), sum(map(len, found))
    at = [[ranks[i] == 0 for ranks in found if len(ranks) > i] for i in range(K)]
    return {
        "alpha": round(accepted / tested, 3) if tested else None,
        "conditional": [round(float(np.mean(stood)), 3) if stood else None for stood in at],
        "mean_acceptance_length": round(1 + accepted / len(found), 2),
        "tokens": accepted + len(found),
    }


@torch.inference_mode()
def alphas(pair: LoadedPair, corpus: Corpus, read: Callable[[Tensor, Tensor], Ranks]) -> dict[str, Any]:
    """Over the held-out answers, by workload and over all: the summary of rounds; how often each drafted token is right, from wherever
    it is drafted (rounds begin where the last guess failed, at the harder places); how often the right token has each rank in rounds."""
    found: defaultdict[str, list[list[int]]] = defaultdict(list)
    right: list[list[bool]] = [[] for _ in range(K)]
    for row in tqdm(corpus.held_out_greedy()):
        ids = torch.from_numpy(corpus.tokens[row.start : row.start + row.length].astype("int64"))
        turn = str(pair.tokenizer.decode(ids[: row.answer].tolist()))
        rank = read(ids, states_of(corpus, row).to(pair.target.model.dtype))
        outcome = list(rounds(rank, row))
        for j, shares in enumerate(right):
            shares += [rank(n, j) == 0 for n in range(row.answer, row.length - j)]
        for name in ("all", workload(turn.split("<|im_start|>user\n")[-1])):
            found[name] += outcome
    tested = [[ranks[i] for ranks in found["all"] if len(ranks) > i] for i in range(K)]
    accuracy = [[round(float(np.mean([r == rank for r in at])), 3) for rank in range(RANKS)] for at in tested if at]
    return {
        "held_out_rounds_of_4": {name: summary(ranks) for name, ranks in sorted(found.items())},
        "right_at_any_place": [round(float(np.mean(shares)), 3) for shares in right if shares],
        "rank_accuracy": accuracy,
    }


def cost_ratio(dtype: str, names: tuple[str, ...], texts: int = 4, tokens: int = 48) -> dict[str, float]:
    """c of drafters of the course's pair: seconds a drafted token over seconds a plain step, medians over rounds."""
    pair = load_pair("cpu-default", dtype)
    rungs = {name: drafter(name, pair) for name in names}
    plain: list[Round] = []
    drafted: defaultdict[str, list[Round]] = defaultdict(list)
    for i in range(texts):
        prompt = pair.encode(f"Write a Python function that computes the {i + 2}th power of a number.")
        plain += generate(pair.target, prompt, stopping=Stopping(tokens)).rounds[1:]
        for name in names:
            drafted[name] += generate(pair.target, prompt, rungs[name], K, stopping=Stopping(tokens)).rounds[1:-1]
    step = median(r.seconds for r in plain)
    return {name: round(median(r.draft_seconds / len(r.drafted) for r in drafted[name] if r.drafted) / step, 3) for name in names}


FOLDERS = {"model": asset(COURSE_DRAFT), "early exit": EXIT, "medusa": MEDUSA, "eagle": EAGLE}


def main(data: Path, work: Path, cost: bool = False) -> None:
    """Evaluate what is in assets/ and write the figures to the cards."""
    pair = load_pair("cpu-default", "fp32")
    corpus = read_corpus(data, work / "hidden.u16", pair.target.model.config.hidden_size)
    exit_ = load_exit(pair.target)
    read = {
        "model": by_model(pair.draft),
        "early exit": by_model(ExitModel(pair.target, exit_)),
        "medusa": by_medusa(pair),
        "eagle": by_eagle(pair),
    }
    ratios = {dtype: cost_ratio(dtype, tuple(FOLDERS)) for dtype in ("fp32", "bf16")} if cost else {}
    lookup = alphas(pair, corpus, by_lookup)["held_out_rounds_of_4"]
    for name, folder in FOLDERS.items():
        card = json.loads((folder / "card.json").read_text()) | alphas(pair, corpus, read[name])
        if name == "early exit":
            untrained = by_model(ExitModel(pair.target, untrained_exit(pair.target, exit_.layers)))
            card["untrained"] = alphas(pair, corpus, untrained)["held_out_rounds_of_4"]["all"]
        card["ngram_for_comparison"] = {kind: {key: of[key] for key in ("alpha", "mean_acceptance_length")} for kind, of in lookup.items()}
        if cost:
            card["cost_ratio_c"] = {dtype: ratio[name] for dtype, ratio in ratios.items()}
        card["measured"] = (
            f"{date.today()}, {torch.get_num_threads()} CPU threads, python -m specdec_lab.training.evaluate {data.name} WORK"
        )
        (folder / "card.json").write_text(json.dumps(card, indent=2) + "\n")
        print(name, json.dumps(card["held_out_rounds_of_4"], indent=2))
    print("ngram, for comparison", json.dumps(lookup, indent=2))


if __name__ == "__main__":
    typer.run(main)
