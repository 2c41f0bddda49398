"""What a draft is worth: held-out greedy alpha by workload, and its cost ratio c, written to its card.

    python -m specdec_lab.training.evaluate TEXT.npz

alpha is the share of the target's own greedy answer tokens, to questions never trained on, that the draft says too
when it has read what precedes them. c is a draft pass over a plain step of the target, medians on this machine.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch
import typer

from specdec_lab.assets import asset
from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine import Round, Stopping, generate
from specdec_lab.models.loading import LoadedPair, load_pair
from specdec_lab.models.registry import COURSE_DRAFT
from specdec_lab.training.corpus import Corpus, Row, read_corpus

WORKLOADS = {  # the first whose words stand in the question
    "JSON": r"json",
    "code": r"python|javascript|sql|bash|function|code|unit test|docstring|\bdef\b|\bimport\b",
    "extraction": r"extract|table|list\b",
    "story": r"story|poem",
    "editing": r"rewrite|edit|grammar|repeat|translate|summari[sz]e",
    "explanation": r"explain|describe|compare|what|who|how|why",
    "other": r"",
}


def workload(question: str) -> str:
    """The kind of a user turn, by the words in it."""
    return next(name for name, words in WORKLOADS.items() if re.search(words, question, re.IGNORECASE))


@torch.inference_mode()
def hits(pair: LoadedPair, corpus: Corpus, row: Row) -> list[bool]:
    """For each token of an answer: whether the draft says it too."""
    ids = torch.from_numpy(corpus.tokens[row.start : row.start + row.length].astype("int64"))
    said = pair.draft(ids[None], pair.draft.new_cache())[0].argmax(-1)
    return (said[row.answer - 1 : -1] == ids[row.answer :]).tolist()


def alphas(pair: LoadedPair, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Greedy alpha and number of tokens, over all held-out answers and by workload."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for row in corpus.held_out_greedy():
        turn = str(pair.tokenizer.decode(corpus.tokens[row.start : row.start + row.answer].tolist()))
        outcome = hits(pair, corpus, row)
        for name in ("all", workload(turn.split("<|im_start|>user\n")[-1])):
            found[name] += outcome
    return {name: {"alpha": round(sum(h) / len(h), 3), "tokens": len(h)} for name, h in sorted(found.items())}


def cost_ratio(dtype: str, texts: int = 12, tokens: int = 48) -> float:
    """c of the course's pair: seconds a drafted token over seconds a plain step, medians over rounds."""
    pair = load_pair("cpu-default", dtype)
    drafter = ModelDrafter(pair.draft, pair.target.vocab_size)
    plain: list[Round] = []
    drafted: list[Round] = []
    for i in range(texts):
        prompt = pair.encode(f"Write a Python function that computes the {i + 2}th power of a number.")
        plain += generate(pair.target, prompt, stopping=Stopping(tokens)).rounds[1:]
        drafted += generate(pair.target, prompt, drafter, 4, stopping=Stopping(tokens)).rounds[1:-1]
    return round(median(r.draft_seconds / len(r.drafted) for r in drafted if r.drafted) / median(r.seconds for r in plain), 3)


def main(data: Path) -> None:
    """Evaluate the draft in assets/ and write the figures to its card."""
    card_file = asset(COURSE_DRAFT) / "card.json"
    card: dict[str, Any] = json.loads(card_file.read_text())
    card["held_out_greedy_alpha"] = alphas(load_pair("cpu-default", "fp32"), read_corpus(data))
    card["cost_ratio_c"] = {dtype: cost_ratio(dtype) for dtype in ("fp32", "bf16")}
    card["measured"] = f"{date.today()}, {torch.get_num_threads()} CPU threads, python -m specdec_lab.training.evaluate {data.name}"
    card_file.write_text(json.dumps(card, indent=2) + "\n")
    print(json.dumps(card, indent=2))


if __name__ == "__main__":
    typer.run(main)
