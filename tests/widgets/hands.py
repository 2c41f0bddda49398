"""Whoever plays with an explorer: finds its controls by their labels, and reads what it says."""

from __future__ import annotations

import re
from typing import Any

from ipywidgets import HTML, Button, Widget

from specdec_lab.widgets.live import Explorer, Picture


class Hands:
    """The controls, buttons and pictures of an explorer."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        found: list[Any] = [part for part in explorer.parts if isinstance(part, Widget)]
        for widget in found:
            found.extend(getattr(widget, "children", ()))
        self.controls = {w.description: w for w in found if hasattr(w, "value") and not isinstance(w, HTML)}
        self.buttons = {w.description: w for w in found if isinstance(w, Button)}
        self.pages = [w for w in found if isinstance(w, HTML)]
        self.pictures = [part for part in explorer.parts if isinstance(part, Picture)]

    def set(self, label: str, value: object) -> None:
        self.controls[label].value = value

    def press(self, text: str) -> None:
        self.buttons[text].click()

    def text(self, i: int = 0) -> str:
        """What the i-th HTML part says."""
        return _plain(self.pages[i].value)

    @property
    def status(self) -> str:
        return _plain(self.explorer.status.value)

    def title(self, i: int = 0) -> str:
        return str(self.pictures[i].figure.layout.title.text)

    def trace(self, name: str, i: int = 0) -> tuple[list[float], list[float]]:
        """The points of the i-th picture's trace whose name begins so."""
        (found,) = (trace for trace in self.pictures[i].figure.data if (trace.name or "").startswith(name))
        return list(found.x), list(found.y)


def _plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()
