"""Asking an OpenAI-compatible server, one request at a time; the answer's token ids and times as they arrive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from time import perf_counter
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from specdec_lab.errors import UserError

Messages = Sequence[Mapping[str, str]]
Prompt = str | Sequence[int] | Messages
PATIENCE = 600.0  # seconds without a byte
DIRECT = build_opener(ProxyHandler({}))  # the server is on this machine or named by the user: no proxy has to be asked


@dataclass(frozen=True)
class Answer:
    """An answer. `tokens`: its ids, the end token included; `prompt`: those that the server made of the prompt.

    Seconds from sending the request to the first token and to the last.
    """

    text: str
    tokens: tuple[int, ...]
    time_to_first_token: float
    seconds: float
    finish_reason: str
    prompt: tuple[int, ...] = ()


class Gone(UserError):
    """The server does not answer, no longer, or says that it cannot."""


def ask(
    server_url: str,
    model: str,
    prompt: Prompt,
    max_tokens: int,
    temperature: float = 0.0,
    seed: int | None = None,
    ignore_eos: bool = False,
    on_token: Callable[[str], None] | None = None,
) -> Answer:
    """Stream the answer to messages (in the model's chat template), to a text as it is, or to token ids.

    seed: on vLLM's CPU build a request with a seed among greedy ones ends the engine, so it is left to the server by default.
    on_token: is called with each piece of text; what it raises ends the request. Raises Gone without a server, UserError where it refuses.
    """
    if not prompt:
        raise UserError("The prompt is empty; give at least one token or message.")
    chat = not isinstance(prompt, str) and not isinstance(prompt[0], int)
    body: dict[str, Any] = {"model": model, "messages" if chat else "prompt": prompt, "max_tokens": max_tokens, "temperature": temperature}
    body |= {"stream": True, "return_token_ids": True, "repetition_penalty": 1.0}  # a model's generation_config.json may say otherwise
    body |= ({} if seed is None else {"seed": seed}) | ({"ignore_eos": True} if ignore_eos else {})
    began = perf_counter()
    with _open(f"{server_url}/v1/{'chat/' if chat else ''}completions", body) as response:
        return _read(response, server_url, began, on_token)


def get(url: str, timeout: float = 10.0) -> str:
    """The body at that address. Raises Gone without a server, and UserError where it answers with an error."""
    with _open(url, None, timeout) as response:
        try:
            return response.read().decode("utf-8", "replace")
        except (OSError, HTTPException) as error:
            raise Gone(f"{url} was not sent to its end ({_word(error)}): see whether the server still runs.") from error


def _open(url: str, body: Any, timeout: float = PATIENCE) -> HTTPResponse:
    data = None if body is None else json.dumps(body).encode()
    try:
        return DIRECT.open(Request(url, data, {"Content-Type": "application/json"}), timeout=timeout)
    except HTTPError as error:
        with error:
            said = error.read().decode("utf-8", "replace")
        kind = Gone if error.code >= 500 else UserError
        raise kind(f"The server refused the request at {url} ({error.code}): {_message(said)}.") from None
    except (URLError, OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise Gone(f"No server answers at {url} ({_word(reason)}): start one, or correct the address.") from error


def _message(body: str) -> str:
    """What an error's body says, without its last full stop."""
    try:
        said = json.loads(body)
        said = said.get("error", said)
        text = said["message"] if isinstance(said, dict) else str(said)
    except (ValueError, KeyError, AttributeError):
        text = body or "it gave no reason"
    return " ".join(str(text).split())[:300].replace(". ", "; ").rstrip(".")


def _word(error: object) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _read(response: HTTPResponse, url: str, began: float, on_token: Callable[[str], None] | None) -> Answer:
    text, tokens, prompt, reason = list[str](), list[int](), list[int](), None
    first = last = 0.0
    for event in _events(response, url):
        prompt += event.get("prompt_token_ids") or []
        for choice in event.get("choices", ()):
            prompt += choice.get("prompt_token_ids") or []
            piece = choice.get("text") or (choice.get("delta") or {}).get("content") or ""
            if new := choice.get("token_ids") or []:
                last = perf_counter() - began
                first = first or last
            tokens += new
            text.append(piece)
            reason = choice.get("finish_reason") or reason
            if on_token and (piece or new):
                on_token(piece)
    if reason is None:
        raise Gone(f"The server at {url} ended its answer in the middle: see whether it still runs, and its log for the reason.")
    if not tokens:
        raise UserError(f"The server at {url} sent no token ids: vLLM does from 0.11 on, other servers may not.")
    return Answer("".join(text), tuple(tokens), first, last, reason, tuple(prompt))


def _events(response: Iterable[bytes], url: str) -> Iterator[dict[str, Any]]:
    """The events of a stream."""
    try:
        for line in response:
            if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
                event = json.loads(line[6:])
                if "error" in event:
                    raise Gone(f"The server at {url} gave up in the middle of an answer: {_message(json.dumps(event))}.")
                yield event
    except (OSError, HTTPException, json.JSONDecodeError) as error:
        raise Gone(
            f"The server at {url} went away in the middle of an answer ({_word(error)}): see its log for the reason, and start it again."
        ) from error
