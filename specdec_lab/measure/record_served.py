"""Record what a vLLM server does on this machine, for those who have none: python -m specdec_lab.measure.record_served FILE

Takes about twenty minutes on two cores and wants the machine for itself. A run that FILE has already is not made again, so it can
be stopped at any time; `--only NAME` (one of `STAGES`, may be repeated) records a part of it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from transformers import AutoTokenizer

import specdec_lab
from specdec_lab.errors import UserError
from specdec_lab.measure.device import device_facts
from specdec_lab.measure.record import commit
from specdec_lab.measure.workloads import workload
from specdec_lab.models.embedded import embedded_model
from specdec_lab.models.export import exported_draft, exported_random_draft
from specdec_lab.models.registry import EMBEDDED
from specdec_lab.serving import coin_flip, environment, load, presets, server
from specdec_lab.serving.legacy import translate
from specdec_lab.serving.recordings import LegacyError, Recording, ServedRun, load_recording
from specdec_lab.serving.setup import Custom, DraftModel, Dtype, NoDrafter, Parallel, Sampling, Setup

WORKLOADS = {"code-edit": 6, "json": 5, "story": 5}  # prompts of each, sixteen in all
USERS, TOKENS, K = (1, 2, 4, 8, 16), 64, 5
FEW = 6  # prompts where the text is the point, and where acceptance is set by a coin
COINS = {k: (0.0, 0.3, 0.5, 0.7, 0.9, 1.0) for k in (5, 2, 8)}  # chances
COSTLY, COST = (0.4, 0.7, 0.9), 0.15  # the same with drafting that takes this share of a plain step, at K
LLAMA, SMALL = "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"
MODULE = "python -m vllm.entrypoints.openai.api_server"
LEGACY = {
    "Python, draft model": f"from vllm import LLM\nllm = LLM(model={LLAMA!r}, speculative_model={SMALL!r}, num_speculative_tokens=5)\n",
    "server, draft model": f"{MODULE} --model {LLAMA} --speculative-model {SMALL} --num-speculative-tokens 5",
    "server, n-gram": f"{MODULE} --model {LLAMA} --speculative-model [ngram] --num-speculative-tokens 5 --ngram-prompt-lookup-max 4",
}


@dataclass
class Recorder:
    """What is recorded so far, and where it is kept."""

    file: Path
    recording: Recording
    names: dict[str, str] = field(default_factory=dict)  # paths of this machine and what the course calls them

    def keep(self, run: ServedRun) -> ServedRun:
        """Add a run and write the file. Paths and ports are replaced."""
        setup = replace(run.setup, target=self.names[run.setup.target], port=None)
        if isinstance(setup.drafter, DraftModel):
            setup = replace(setup, drafter=replace(setup.drafter, model=self.names[setup.drafter.model]))
        self.recording = replace(self.recording, runs=(*self.recording.runs, replace(run, setup=setup)))
        self.recording.save(self.file)
        rate = run.acceptance.acceptance_rate if run.acceptance else None
        print(
            f"{run.name} k={setup.k} p={run.p} {setup.dtype} {run.concurrency} at a time: {run.tokens_per_second:.1f} tokens/s, "
            f"acceptance rate {rate}",
            flush=True,
        )
        return self.recording.runs[-1]

    def has(self, name: str, **wanted: object) -> bool:
        """Whether such a run is there; wanted: attributes of the run or of its set-up."""
        runs = [run for run in self.recording.runs if run.name == name]
        return any(all(getattr(run, a, getattr(run.setup, a, None)) == value for a, value in wanted.items()) for run in runs)

    def run(self, name: str, concurrency: int = 1, dtype: str = "bfloat16") -> ServedRun:
        return self.recording.run(name, concurrency, dtype)


def prompts(few: int | None = None) -> list[tuple[str, str]]:
    """Workload and text of each prompt, one workload after the other so that any six are of all three."""
    each = {name: [p.text for p in workload(name).prompts[:n]] for name, n in WORKLOADS.items()}
    found = [(name, texts[i]) for i in range(max(WORKLOADS.values())) for name, texts in each.items() if i < len(texts)]
    return found[:few]


def asked(running: server.Server, name: str, concurrency: int = 1, few: int | None = None) -> ServedRun:
    """The prompts put to the server."""
    given = prompts(few)
    run = load.run(running, [text for _, text in given], concurrency, TOKENS, name=name)
    answers = tuple(replace(answer, workload=kind) for (kind, _), answer in zip(given, run.answers, strict=True))
    return replace(run, answers=answers)


def start(setup: Setup) -> server.Server:
    return server.start(replace(setup, sampling=Sampling(max_tokens=TOKENS)))


def setups() -> dict[str, Setup]:
    """The set-ups by the name of their runs."""
    target = str(embedded_model())
    return {
        "plain": Setup(target, NoDrafter(), k=0, max_model_len=2048, target_heads=presets.EMBEDDED_HEADS),
        "n-gram": presets.embedded_ngram(target, K),
        "draft model": presets.embedded_draft(target, str(exported_draft()), K),
        "random draft": presets.embedded_draft(target, str(exported_random_draft()), K),
    }


def record_sweep(recorder: Recorder, name: str, users: tuple[int, ...] = USERS, dtype: Dtype = "bfloat16", few: int | None = None) -> None:
    """One server, asked by more and more users at a time."""
    missing = [n for n in users if not recorder.has(name, concurrency=n, dtype=dtype)]
    if missing:
        with start(replace(setups()[name], dtype=dtype)) as running:
            asked(running, name, few=1)  # the first answers are slower
            for n in missing:
                recorder.keep(asked(running, name, n, few))


def record_coins(recorder: Recorder) -> None:
    """Servers whose drafter is right with a chance that is set. In float32: in bfloat16 a text may leave what the coin knows of it."""
    plain = recorder.run("plain", dtype="float32")
    step = plain.median_time_per_token
    texts = [encode(answer.prompt) + list(answer.tokens) for answer in plain.answers]
    for k, chances in COINS.items():
        wanted = [(p, 0.0) for p in chances] + ([(p, COST * step) for p in COSTLY] if k == K else [])
        missing = [(p, cost) for p, cost in wanted if not recorder.has("coin flip", k=k, p=p) or (cost and not _costly(recorder, p))]
        if missing:
            _record_coins_of(recorder, k, missing, texts)


def _costly(recorder: Recorder, p: float) -> bool:
    return any(run.p == p and run.draft_seconds for run in recorder.recording.coin_flips())


def _record_coins_of(recorder: Recorder, k: int, wanted: list[tuple[float, float]], texts: list[list[int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "known.json"

        def know(p: float, seconds: float) -> None:
            new = known.with_suffix(".new")
            new.write_text(json.dumps({"p": p, "seconds": seconds, "seed": round(100 * p), "texts": texts}))
            new.replace(known)

        know(1.0, 0.0)
        os.environ[coin_flip.FILE], os.environ["PYTHONPATH"] = str(known), str(Path(specdec_lab.__file__).parents[1])
        with start(replace(setups()["plain"], drafter=Custom(coin_flip.NAME), k=k, dtype="float32")) as running:
            asked(running, "coin flip", few=1)
            for p, seconds in wanted:
                know(p, seconds)
                recorder.keep(replace(asked(running, "coin flip", few=FEW), p=p, draft_seconds=seconds))


def encode(text: str) -> list[int]:
    """Ids of what a user says, in the chat template, as the server makes them."""
    tokenizer = AutoTokenizer.from_pretrained(embedded_model())
    chat = tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True)
    return tokenizer(chat, add_special_tokens=False).input_ids


def record_float32(recorder: Recorder) -> None:
    """Where no rounding hides it: every drafter's text is the plain one."""
    for name in ("plain", "n-gram", "draft model"):
        record_sweep(recorder, name, (1,), "float32", FEW)


def record_ranks(recorder: Recorder) -> None:
    """The target's and the draft's heads split over three processes. On fewer cores than that it is slow: the text is the point."""
    if not recorder.has("tensor parallel"):
        setup = replace(setups()["draft model"], parallel=Parallel(tensor=3), dtype="float32")
        with start(setup) as running:
            recorder.keep(asked(running, "tensor parallel", few=3))


def record_errors(recorder: Recorder) -> None:
    """What today's vLLM says to the old forms."""
    python = environment.require().python
    found = tuple(LegacyError(name, form, refusal(form, python), translate(form).current) for name, form in LEGACY.items())
    recorder.recording = replace(recorder.recording, errors=found)
    recorder.recording.save(recorder.file)
    for error in found:
        print(f"{error.name}: {error.message}", flush=True)


def refusal(form: str, python: Path) -> str:
    """The last line of what vLLM says to a form that it refuses. Raises UserError if it takes it."""
    words = [str(python), "-c", form] if form.startswith("from ") else [str(python), *form.split()[1:]]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, timeout=200)
    lines = [line for line in done.stderr.splitlines() if re.match(r"\w*Error: |.*: error: ", line)]
    if done.returncode == 0 or not lines:
        raise UserError(f"vLLM did not refuse {form!r}: look at what it says now.")
    return lines[-1]


STAGES = {
    "plain": lambda r: record_sweep(r, "plain"),
    "n-gram": lambda r: record_sweep(r, "n-gram"),
    "draft-model": lambda r: record_sweep(r, "draft model"),
    "random-draft": lambda r: record_sweep(r, "random draft", (1,)),
    "float32": record_float32,
    "coin-flip": record_coins,
    "tensor-parallel": record_ranks,
    "errors": record_errors,
}


def versions(vllm: environment.Vllm) -> dict[str, str]:
    """Of what serves, in its own environment."""
    ask = "import platform, importlib.metadata as m; print(platform.python_version(), m.version('torch'), m.version('transformers'))"
    python, torch, transformers = subprocess.run([vllm.python, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    return {"vllm": vllm.version, "build": vllm.device, "python": python, "torch": torch, "transformers": transformers}


def new(command: str) -> Recording:
    """A recording without runs."""
    facts = device_facts()
    device = f"{facts.name}, {facts.cores} cores" if facts.kind == "cpu" else facts.name
    found = versions(environment.require()) | {"specdec_lab": specdec_lab.__version__}
    return Recording(device, str(date.today()), commit(), found, command, (), ())


def main(file: Path, only: Annotated[list[str] | None, typer.Option(help="A stage to record; may be repeated.")] = None) -> None:
    """Record into FILE what is not in it yet."""
    if unknown := set(only or ()) - set(STAGES):
        raise UserError(f"There is no stage {unknown.pop()!r}; the stages are {', '.join(STAGES)}.")
    recording = load_recording(file) if file.exists() else new("python -m specdec_lab.measure.record_served FILE")
    made = setups()
    names = {made["plain"].target: EMBEDDED}
    names |= {made["draft model"].drafter.model: "the course's draft", made["random draft"].drafter.model: "a draft of random weights"}  # type: ignore[union-attr]
    recorder = Recorder(file, recording, names)
    for name in only or STAGES:
        STAGES[name](recorder)


if __name__ == "__main__":
    typer.run(main)
