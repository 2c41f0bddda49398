"""Fetch from a model hub, or from its local cache, and again where trying again helps; what goes wrong is one sentence.

The hub's client itself tries five times to find a file and to go on with a broken download. It gives up at once on a
server that fails (5xx) or resets the connection in the middle, and waits as long as a rate limit says, hours included.
So here a quick question comes first, each time, in the place of the client's own patience.
"""

from __future__ import annotations

import errno
import re
import sys
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from math import inf
from typing import Any

import torch
from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError
from safetensors import SafetensorError

from specdec_lab.errors import UserError
from specdec_lab.models.registry import DEFAULT

WAY_OUT = f"use the pair {DEFAULT.name}, which needs no hub"
PAUSES = (2.0, 8.0, 30.0)  # seconds before each further try
LONGEST_PAUSE = 60.0  # if the hub asks for more, the user decides
PATIENCE = 180.0  # seconds after the first failure, by when the last try begins
ASK_SECONDS = 10  # for an answer
SILENCE_SECONDS = 60.0  # for so long, a hub that let a question time out is not asked again: a pair takes four
TRANSIENT = frozenset((408, 429, 500, 502, 503, 504))
WEB_LIBRARIES = ("httpx", "httpx2", "httpcore", "requests", "urllib3")  # the hub's client raises theirs, by version

sleep = time.sleep
_silent: dict[str, tuple[float, Exception]] = {}  # by endpoint: until when, and what it was


class HubError(UserError):
    """A model that cannot be had from the hub."""


def fetch(kind: Any, name: str, **options: Any) -> Any:
    """`kind.from_pretrained(name)`, from the local cache if the hub is out of reach or limits downloads. Raises HubError."""
    deadline = inf
    for pause in (*PAUSES, None):
        refusal = _ask(name)
        try:
            return kind.from_pretrained(name, local_files_only=refusal is not None, **options)
        except torch.OutOfMemoryError:
            raise
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            deadline = min(deadline, time.monotonic() + PATIENCE)
            wait = pause and _wait(refusal, error, pause)
            if wait is None or time.monotonic() + wait > deadline:
                raise HubError(_sentence(name, error, refusal)) from error
        print(f"The model hub is busy or failed; trying {name} again in {wait:.0f} s.", file=sys.stderr, flush=True)
        sleep(wait)
    raise AssertionError("the last try returns or raises")


def _ask(name: str) -> Exception | None:
    """Why the hub cannot give this model now, or must not be asked (HF_HUB_OFFLINE): loading asks the same first, with more patience."""
    until, refusal = _silent.get(constants.ENDPOINT, (0.0, None))
    if time.monotonic() < until:
        return refusal
    began = time.monotonic()
    try:
        get_hf_file_metadata(hf_hub_url(name, "config.json", endpoint=constants.ENDPOINT), timeout=ASK_SECONDS)
    except HFValidationError:
        return None
    except HfHubHTTPError as error:  # an answer, if not a good one: loading will say it in full
        return error if _status(error) in TRANSIENT else None
    except Exception as error:  # of httpx or httpx2, by version
        if time.monotonic() - began > ASK_SECONDS / 2:
            _silent[constants.ENDPOINT] = time.monotonic() + SILENCE_SECONDS, error
        return error
    return None


def _wait(refusal: Exception | None, error: Exception, pause: float) -> float | None:
    """Seconds until another try is worth while; None if none is."""
    if isinstance(refusal, HfHubHTTPError):
        asked = _asked_to_wait(refusal)
        return pause if asked is None else asked + 1 if asked <= LONGEST_PAUSE else None
    if refusal is not None:
        return None
    return pause if any(map(_passing, _causes(error))) else None


def _passing(cause: BaseException) -> bool:
    """Whether it is a fault of the moment. Not so a limit in the middle of loading: for that the client has waited already."""
    status = _status(cause)
    if status is not None:
        return status in TRANSIENT - {429}
    return isinstance(cause, (ConnectionError, TimeoutError)) or type(cause).__module__.split(".")[0] in WEB_LIBRARIES


def _status(error: BaseException) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)


def _asked_to_wait(error: BaseException) -> float | None:
    """Seconds, from Retry-After (seconds or a date) or from RateLimit (`"resolvers";r=0;t=55`)."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    after, limit = headers.get("Retry-After", ""), re.search(r"\bt\s*=\s*(\d+)", headers.get("RateLimit", ""))
    if after.strip().isdigit():
        return float(after)
    if after:
        try:
            return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
        except ValueError:
            pass
    return float(limit[1]) if limit else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _sentence(name: str, error: Exception, refusal: Exception | None) -> str:
    causes = [*_causes(error), *([refusal] if refusal else [])]

    def because(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if any(isinstance(cause, OSError) and cause.errno == errno.ENOSPC for cause in causes):
        return f"The disk has no room for {name}; free some, or set HF_HOME to a folder on another disk."
    if because(GatedRepoError):
        return f"{name} is behind a licence gate; accept the licence on its page and log in with `hf auth login`, or {WAY_OUT}."
    if because(RepositoryNotFoundError, HFValidationError):
        return f"The hub has no model {name!r}; check the spelling, log in if it is private, or {WAY_OUT}."
    limited = next((cause for cause in causes if _status(cause) == 429), None)
    if limited is not None:
        asked = _asked_to_wait(limited)
        wait = "some minutes" if asked is None else f"{asked / 60:.0f} minutes" if asked > 90 else f"{asked:.0f} seconds"
        return f"The model hub limits downloads from this address; wait {wait}, log in with `hf auth login`, or {WAY_OUT}."
    if failed := next((status for cause in causes if (status := _status(cause)) in TRANSIENT), None):
        return f"{name} is not on this machine, and the model hub fails (HTTP {failed}); try again in some minutes, or {WAY_OUT}."
    if because(LocalEntryNotFoundError):
        cause = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the model hub does not answer"
        return f"{name} is not on this machine, and {cause}; connect to the hub, or {WAY_OUT}."
    return f"{name} cannot be loaded ({(str(error).strip() or type(error).__name__).splitlines()[0]}); choose another model, or {WAY_OUT}."
