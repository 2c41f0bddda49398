"""One set-up in every engine's own words, and which engine and drafter to begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import ipywidgets as widgets
from IPython.display import HTML

from specdec_lab.errors import UserError
from specdec_lab.serving import llama_cpp, sglang, tensorrt_llm, transformers, vllm
from specdec_lab.serving.legacy import translate
from specdec_lab.serving.setup import Setup
from specdec_lab.widgets.live import Explorer, choice
from specdec_lab.widgets.palette import COLOURS

ENGINES: dict[str, Callable[[Setup], dict[str, str]]] = {
    "vLLM": vllm.render,
    "SGLang": sglang.render,
    "llama.cpp": llama_cpp.render,
    "TensorRT-LLM": tensorrt_llm.render,
    "transformers": transformers.render,
}
# What you have, the drafter to try first, where to run it, why. Checked by measurement wherever a chapter could.
CASES = (
    ("answers copy from the prompt: edits, extraction, answers about a given text", "n-gram lookup", "any of the five",
     "costs nothing to host; right wherever the text repeats (chapter 6)"),
    ("few users, a large target with a small sibling of the same vocabulary", "draft model", "vLLM, SGLang, TensorRT-LLM",
     "alpha is high and c small; there is room in a pass (chapters 4 and 5)"),
    ("few users, and somebody has trained a head for just this target", "EAGLE-3 head", "vLLM, SGLang",
     "costs less than a model and sees the target's states (chapter 6)"),
    ("a laptop, one user, a GGUF file", "small draft or n-gram lookup", "llama.cpp", "made for it; k and device are its own options"),
    ("many users at a time, tokens an hour are what counts", "none", "vLLM, SGLang, TensorRT-LLM",
     "passes are full already; each rejected token takes the place of somebody's own (chapter 7)"),
    ("story and chat at high temperature", "none, until measured", "-", "alpha falls with temperature (chapters 3 and 5)"),
    ("a target that needs several GPUs or machines", "draft model, split as the target is", "vLLM, through Ray over machines",
     "a pass is dear there, so that each one saved counts"),
    ("an experiment in a notebook, one prompt at a time", "draft model or prompt lookup", "transformers",
     "two arguments of generate; no server, no counters"),
)  # fmt: skip
HEAD = ("what you have", "drafter to try first", "engine", "because")
TELLING = ("config.yaml", "serve.sh", "serve_node_0.sh")  # the files that hold the speculation
CELL = "border:1px solid #8888;padding:3px 9px;text-align:left;vertical-align:top"


def engines_explorer(setups: Mapping[str, Setup]) -> Explorer:
    """Choose a set-up by its name and an engine: its files, or the sentence by which it is refused, and what would do instead."""
    explorer = Explorer("engines explorer")
    of = choice("set-up", list(setups), next(iter(setups)))
    engine = choice("engine", list(ENGINES), "vLLM")
    file = choice("file", ["serve.sh"], "serve.sh")
    shown = widgets.HTML()

    def draw() -> None:
        files = files_of(setups[of.value], engine.value)
        if tuple(files) != file.options:
            file.options, file.value = tuple(files), next((name for name in TELLING if name in files), next(iter(files)))
        shown.value = file_view(files[file.value])

    explorer.react(draw, of, engine, file)
    return explorer.of(of, engine, file, shown, still=file_view(next(iter(files_of(setups[of.value], "vLLM").values()))))


def files_of(setup: Setup, engine: str) -> dict[str, str]:
    """Every file by its name; one, "refused", where the engine cannot do what the set-up wants."""
    try:
        return ENGINES[engine](setup)
    except UserError as error:
        return {"refused": f"✗ {error}"}


def file_view(text: str) -> str:
    """A file's text, or the refusal, which is marked."""
    if text.startswith("✗"):
        style = f"border-left:4px solid {COLOURS['rejected']};padding-left:8px;max-width:860px"
        return f'<div role="status" style="{style}">{escape(text)}</div>'
    return f'<pre tabindex="0" style="line-height:1.35;overflow-x:auto;max-width:960px">{escape(text)}</pre>'


def decision_table() -> HTML:
    """Which drafter and which engine to begin with."""
    head = "".join(f'<th scope="col" style="{CELL}">{name}</th>' for name in HEAD)
    rows = "".join(f"<tr>{''.join(f'<td style={CELL!r}>{escape(text)}</td>' for text in case)}</tr>" for case in CASES)
    return HTML(f'<table style="border-collapse:collapse;max-width:960px"><tr>{head}</tr>{rows}</table>')


def translation_view(form: str) -> HTML:
    """An old vLLM form, today's, and what became of each argument."""
    found = translate(form)
    notes = "".join(f"<li><code>{escape(note.argument)}</code> {escape(note.text)}</li>" for note in found.notes)
    return HTML(f"{file_view(found.current)}<ul>{notes}</ul>")
