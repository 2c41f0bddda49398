"""vLLM's log in a sentence: what it is doing, and why it stopped."""

from __future__ import annotations

import re
from pathlib import Path

ORIGIN = re.compile(r"^(\(\w+( pid=\d+)?\)\s*)*((INFO|WARNING|ERROR|DEBUG|CRITICAL)[: ]\s*)?(\d\d-\d\d [\d:]{8} )?(\[[\w./]+:\d+\]\s*)?")
NEWS = re.compile(r"INFO \d\d-\d\d [\d:]{8} \[")
ERROR = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception|Interrupt)): (.+)")
USAGE = re.compile(r"^[\w.]+: error: (.+)")
# What vLLM's outer processes say of an error further up.
HEARSAY = ("Engine core initialization failed", "EngineDeadError", "WorkerProc initialization failed", "EngineCore encountered an issue")
RETOLD = re.compile(r"Worker failed with error ['\"](.+)['\"], please check")
DULL = re.compile(r"Route: |reserved_cpus|shutdown|Available routes|Scale-out|is not installed|non-default args|Triton")
KILLED = re.compile(r"supervisor: the server ended by itself, (killed by signal \d+)")
BYTES = 400_000  # of the end of a log: the largest stack trace of vLLM's is a tenth of that
SHOWN = 300  # characters of a message
REMEDIES = {
    "unrecognized arguments": "this version takes other options, so look for it in --help",
    "max_model_len": "lower the set-up's max_model_len",
    "out of memory": "take a smaller model, or a lower gpu_memory",
    "VLLM_CPU_KVCACHE_SPACE": "set VLLM_CPU_KVCACHE_SPACE to the GiB that are free for the cache",
    "Address already in use": "choose another port",
    "Repo id must be": "give a folder that is there, or a hub name such as owner/model",
    "Invalid repository ID": "give a folder that is there, or a hub name such as owner/model",
    "offline": "unset HF_HUB_OFFLINE, or download the model first",
    "gated repo": "accept the model's licence on the hub and set HF_TOKEN",
}


def _read(log: Path) -> list[str]:
    """The lines of the end of a log; none if there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def stage(log: Path) -> str:
    """What the server did last, for someone who waits for it."""
    news = [ORIGIN.sub("", line) for line in _read(log) if NEWS.search(line) and not DULL.search(line)]
    return next((_short(line, 100) for line in reversed(news) if line[:1].isalpha()), "starting Python")


def cause(log: Path) -> str:
    """Why the server stopped, and what may help; without a full stop. The log's last word if no error is in it."""
    lines = [ORIGIN.sub("", line) for line in _read(log)]
    if killed := next(filter(None, map(KILLED.match, lines)), None):
        return f"it was {killed[1]} from outside, as systems do when memory runs out"
    messages = [found for i in range(len(lines)) if (found := _error(lines, i)) and not any(word in found for word in HEARSAY)]
    if messages:
        found = messages[-1]
        remedy = next((remedy for word, remedy in REMEDIES.items() if word in found), None)
        return _short(found, SHOWN) + (f" ({remedy})" if remedy else "")
    own = [line for line in lines if not line.startswith("supervisor: ")]
    return _short(own[-1], SHOWN) if own else "it left no word"


def _error(lines: list[str], i: int) -> str | None:
    """The message of the error that the line states, if it does. pydantic's is in the lines that follow."""
    if usage := USAGE.match(lines[i]):
        return usage[1]
    if not (error := ERROR.match(lines[i])):
        return None
    name, message = error.groups()
    if name == "ValidationError":
        said = [line.strip() for line in lines[i + 1 : i + 4] if line.strip() and "errors.pydantic.dev" not in line]
        values = [line.removeprefix("Value error, ") for line in said if line.startswith("Value error, ")]
        message = values[0] if values else " ".join([message, *said])
    if retold := RETOLD.search(message):
        message = retold[1]
    return message if name in ("ValidationError", "ValueError", "RuntimeError", "OSError") else f"{name}: {message}"


def _short(text: str, most: int) -> str:
    """The first sentence, in one line and without its full stop."""
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    text = re.split(r"[.!] (?=[A-Z])| \[type=", text)[0]
    if len(text) > most:
        text = text[: most - 1].rsplit(" ", 1)[0] + "…"
    return text.rstrip(".")
