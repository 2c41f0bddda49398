"""What the cards of the trained parts say: assets/*/card.json, written by `training.evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def stated_alpha(card: Mapping[str, Any]) -> float | None:
    """What a trained part's card says of its alpha, over all kinds of held-out text; None if it was not measured."""
    measured = card.get("held_out_rounds_of_4") or card.get("held_out_greedy_alpha")
    return measured["all"]["alpha"] if measured else None
