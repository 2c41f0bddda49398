"""Fetch from a model hub, or from its local cache; what goes wrong is one sentence."""

from __future__ import annotations

import errno
from typing import Any

from huggingface_hub import HfApi, constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError
from safetensors import SafetensorError

from specdec_lab.errors import UserError
from specdec_lab.models.registry import DEFAULT

WAY_OUT = f"use the pair {DEFAULT.name}, which needs no hub"


class HubError(UserError):
    """A model that cannot be had from the hub."""


def fetch(kind: Any, name: str, **options: Any) -> Any:
    """`kind.from_pretrained(name)`, from the local cache if the hub is out of reach. Raises HubError."""
    try:
        return kind.from_pretrained(name, local_files_only=_out_of_reach(name), **options)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise HubError(_sentence(name, error)) from error


def _out_of_reach(name: str) -> bool:
    """Whether the hub cannot be asked, or must not (HF_HUB_OFFLINE): one quick question, where loading retries for 20 s."""
    try:
        HfApi().model_info(name, timeout=10)
    except (HfHubHTTPError, HFValidationError):  # an answer, if not a good one; loading will say it in full
        return False
    except Exception:  # of httpx or httpx2, by version
        return True
    return False


def _sentence(name: str, error: BaseException) -> str:
    causes = [error]
    while deeper := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(deeper)

    def because(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if any(isinstance(cause, OSError) and cause.errno == errno.ENOSPC for cause in causes):
        return f"The disk has no room for {name}; free some, or set HF_HOME to a folder on another disk."
    if because(GatedRepoError):
        return f"{name} is behind a licence gate; accept the licence on its page and log in with `hf auth login`, or {WAY_OUT}."
    if because(RepositoryNotFoundError, HFValidationError):
        return f"The hub has no model {name!r}; check the spelling, log in if it is private, or {WAY_OUT}."
    if because(LocalEntryNotFoundError):
        cause = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the model hub does not answer"
        return f"{name} is not on this machine, and {cause}; connect to the hub, or {WAY_OUT}."
    return f"{name} cannot be loaded ({(str(error).strip() or type(error).__name__).splitlines()[0]}); choose another model, or {WAY_OUT}."
