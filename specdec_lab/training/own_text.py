"""Text that the target writes on the spot: what chapter 9 trains on, where there is nothing but the target.

Its last states are kept beside every token while it writes, so that no second pass is needed. On disk it is the TEXT.npz of
`training.draft` and `training.heads`; for one that is worth an hour of training, give some thousand questions, a line each:

    python -m specdec_lab.training.own_text TEXT.npz --questions QUESTIONS.txt
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
import typer
from torch import Tensor
from transformers import DynamicCache

from specdec_lab.models.hf import HFModel, cache_argument
from specdec_lab.models.loading import load_pair
from specdec_lab.training.corpus import Corpus, Row

BATCH = 64  # texts that are written side by side
SUBJECTS = {
    "Write a Python function that {}.": (
        "reverses a string", "finds the largest number in a list", "computes a factorial", "sorts a list of names",
        "removes duplicates from a list", "checks whether a word is a palindrome", "converts Celsius to Fahrenheit",
        "counts the words in a text", "adds two matrices", "reads a file line by line", "merges two dictionaries",
        "computes the mean of a list", "draws a random card", "finds the longest word", "rounds a price to two digits",
        "flattens a nested list", "computes Fibonacci numbers", "validates an email address", "splits a list into halves",
        "multiplies two numbers", "finds the common elements of two lists", "capitalises every word", "computes the area of a circle",
        "counts down from ten",
    ),
    "Write a JSON object that describes {}.": (
        "a book", "a city", "a recipe", "a film", "a customer", "a weather report", "a song", "a house", "a flight", "a school",
        "a dog", "an order in a shop", "a museum", "a phone", "a football team", "a hotel room", "a garden", "a planet",
        "a job offer", "a train ticket", "a computer game", "a bank account", "a concert", "a restaurant",
    ),
    "Write a short story about {}.": (
        "a lost key", "two sisters and a boat", "a dragon who is afraid of fire", "the first day at school", "a forgotten island",
        "a clock that runs backwards", "a baker and a king", "a storm in the mountains", "an old piano", "a cat on the moon",
        "a letter without a sender", "the last tree of a city", "a detective in a library", "a snowman in summer",
        "a girl who talks to birds", "a hidden door", "a fisherman's dream", "a race in the desert", "a thief with a conscience",
        "a village without music", "a soldier coming home", "a magic umbrella", "the smallest elephant", "a ship in a bottle",
    ),
    "Explain {}.": (
        "how a bicycle stays upright", "why leaves turn red in autumn", "what an atom is", "how a vaccine works", "what inflation means",
        "how bread rises", "why the sea is salty", "how a computer stores numbers", "what a black hole is", "how bees make honey",
        "why we have seasons", "how a fridge keeps food cold", "what democracy is", "how a telescope works", "why metals conduct heat",
        "how rain forms", "what a habit is", "how an engine works", "why birds migrate", "what a database is", "how glass is made",
        "why ice floats", "how the internet finds a page", "what photosynthesis is",
    ),
    "Give me five tips for {}.": (
        "learning a language", "cooking rice", "saving money", "a job interview", "growing tomatoes", "running a marathon",
        "writing a letter", "travelling by train", "keeping a house clean", "taking photographs", "reading more books",
        "working from home", "a birthday party", "staying calm", "choosing a laptop", "riding a horse", "drawing faces",
        "speaking in public", "a walk in the snow", "looking after a cat", "making friends", "playing chess", "baking a cake",
        "packing a suitcase",
    ),
}  # fmt: skip
HELD_OUT = 4  # the last subjects of each kind: a draft is judged on them and never trained on them


def turns(per_kind: int = 24) -> tuple[list[str], list[str]]:
    """What a user says: turns to train on, up to `per_kind` - 4 of each of five kinds, and 4 of each kind to judge by."""
    trained = [kind.format(subject) for kind, subjects in SUBJECTS.items() for subject in subjects[:-HELD_OUT][: per_kind - HELD_OUT]]
    return trained, [kind.format(subject) for kind, subjects in SUBJECTS.items() for subject in subjects[-HELD_OUT:]]


def write(
    target: HFModel,
    prompts: Sequence[Tensor],
    held_out: Iterable[int],
    tokens: int,
    eos: frozenset[int],
    progress: Callable[[int], None] = lambda written: None,
) -> Corpus:
    """The target's greedy answers, up to `tokens` each, to prompts (ids `[n]`), 64 at a time: a row a prompt.

    held_out: which prompts are to be judged by. progress: told now and then how many tokens have been written so far.
    The state of a row's last token, which the target has written and not read, is zeros: nothing is predicted from it.
    """
    judged, rows, texts, states = set(held_out), [], [], []
    start = written = 0
    for first in range(0, len(prompts), BATCH):
        group = prompts[first : first + BATCH]
        for i, (text, seen) in enumerate(_answers(target, group, tokens, eos, partial(_further, progress, written))):
            length = len(text)
            rows.append(Row(start, length, len(group[i]), True, first + i in judged))
            texts.append(text)
            states.append(torch.cat([seen, seen.new_zeros(1, seen.shape[1])]))
            start, written = start + length, written + length - len(group[i])
    return Corpus(torch.cat(texts).numpy(), rows, _bits(torch.cat(states)))


def _further(progress: Callable[[int], None], before: int, written: int) -> None:
    progress(before + written)


@torch.inference_mode()
def _answers(
    target: HFModel, prompts: Sequence[Tensor], tokens: int, eos: frozenset[int], progress: Callable[[int], None]
) -> list[tuple[Tensor, Tensor]]:
    """For each prompt: ids `[n]` with the answer, and states `[n - 1, width]`. Texts that have ended leave the batch."""
    whole, longest = target.model.model, max(map(len, prompts))
    ids = torch.stack([torch.nn.functional.pad(p, (longest - len(p), 0)) for p in prompts]).to(target.device)
    mask = torch.stack([torch.arange(longest) >= longest - len(p) for p in prompts]).long().to(target.device)
    texts, states = [p.tolist() for p in prompts], list[list[Tensor]]([] for _ in prompts)
    cache, going, fed, written = DynamicCache(config=target.model.config), list(range(len(prompts))), ids, 0
    for step in range(tokens):
        positions = (mask.cumsum(1) - 1).clamp(min=0)[:, -fed.shape[1] :]
        out = whole(input_ids=fed, attention_mask=mask, position_ids=positions, use_cache=True, **{cache_argument(whole): cache})
        said = target.model.lm_head(out.last_hidden_state[:, -1]).argmax(-1)
        seen = out.last_hidden_state.to("cpu", torch.bfloat16)
        for row, text in enumerate(going):
            states[text].append(seen[row] if step else seen[row, longest - len(prompts[text]) :])
            texts[text].append(int(said[row]))
        written += len(going)
        if step % 16 == 15:
            progress(written)
        stay = torch.tensor([row for row, text in enumerate(going) if texts[text][-1] not in eos], device=target.device)
        if not len(stay):
            break
        if len(stay) < len(going):
            cache.batch_select_indices(stay)
            mask, said, going = mask[stay], said[stay], [going[row] for row in stay.tolist()]
        mask, fed = torch.cat([mask, mask.new_ones(len(going), 1)], 1), said[:, None]
    return [(torch.tensor(text), torch.cat(seen)) for text, seen in zip(texts, states, strict=True)]


@torch.inference_mode()
def read(target: HFModel, ids: Tensor, lengths: Sequence[int], batch: int = 16) -> Corpus:
    """Other text, ids `[n]`, cut into rows of so many predicted tokens each, read by the target: its states are kept beside it.

    Raises ValueError if the text is too short for so many rows.
    """
    if sum(lengths) + len(lengths) > len(ids):
        raise ValueError(f"{len(ids)} tokens are too few for {len(lengths)} rows of {sum(lengths)} tokens to predict.")
    rows, start = [], 0
    for length in lengths:
        rows.append(Row(start, length + 1, 1, False, False))
        start += length + 1
    states = torch.zeros(start, target.model.config.hidden_size, dtype=torch.bfloat16)
    for i in range(0, len(rows), batch):
        group = rows[i : i + batch]
        fed = torch.nn.utils.rnn.pad_sequence([ids[row.start : row.start + row.length] for row in group], batch_first=True)
        out = target.model.model(input_ids=fed.to(target.device), use_cache=False).last_hidden_state.to("cpu", torch.bfloat16)
        for row, values in zip(group, out, strict=True):
            states[row.start : row.start + row.length] = values[: row.length]
    return Corpus(ids[:start].numpy(), rows, _bits(states))


def judged_by(other: Corpus, own: Corpus) -> Corpus:
    """The rows of `other` to train on, with the held-out rows of `own`."""
    assert other.hidden is not None and own.hidden is not None
    kept = own.held_out_greedy()
    where = np.concatenate([np.arange(row.start, row.start + row.length) for row in kept])
    rows, start = other.training(), len(other.tokens)
    for row in kept:
        rows.append(Row(start, row.length, row.answer, True, True))
        start += row.length
    return Corpus(np.concatenate([other.tokens, own.tokens[where]]), rows, np.concatenate([other.hidden, own.hidden[where]]))


def save(corpus: Corpus, file: Path) -> None:
    """The tokens and where their rows are, as `corpus.read_corpus` reads them; who is held out is decided there."""
    np.savez(
        file,
        tokens=corpus.tokens.astype(np.uint16 if corpus.tokens.max() < 2**16 else np.uint32),
        offsets=np.array([row.start for row in corpus.rows] + [len(corpus.tokens)], np.int64),
        prompt_len=np.array([row.answer for row in corpus.rows], np.int32),
        temperature=np.zeros(len(corpus.rows), np.float32),
    )


def main(out: Path, questions: Path | None = None, tokens: int = 256) -> None:
    """Let the embedded model answer, at temperature 0. questions: a text file, one a line; by default the few of chapter 9."""
    pair = load_pair("cpu-default")
    asked = questions.read_text(encoding="utf-8").splitlines() if questions else [turn for half in turns() for turn in half]
    prompts = [pair.encode(question) for question in asked if question.strip()]
    save(write(pair.target, prompts, (), tokens, pair.eos, lambda n: print(f"{n:,} tokens", flush=True)), out)


def _bits(states: Tensor) -> np.ndarray:
    return states.contiguous().view(torch.uint16).numpy()


if __name__ == "__main__":
    typer.run(main)
