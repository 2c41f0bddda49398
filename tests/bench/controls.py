"""How long the kernel takes from a moved control to the redrawn picture: `make bench-controls`. The aim is 50 ms in 95 of 100 moves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import plotly
from rich.console import Console
from rich.table import Table

from specdec_lab.measure import device_facts
from specdec_lab.measure.traces import load_trace, recorded
from specdec_lab.verify import tree_mask
from specdec_lab.widgets import acceptance_explorer, rejection_explorer, roofline_explorer, round_player, speedup_explorer, tree_explorer
from specdec_lab.widgets.live import Explorer
from tests.browser import test_acceptance_explorer as acceptance
from tests.browser import test_roofline_explorer as roofline
from tests.browser import test_tree_explorer as trees
from tests.support import tiny_llama
from tests.widgets import test_rounds as rounds
from tests.widgets.hands import Hands

MOVES = 60
AIM_MS = 50.0
EXPLORERS: dict[str, Callable[[], Explorer]] = {
    "speedup_explorer": speedup_explorer,
    "with a trace": lambda: speedup_explorer(trace=load_trace(recorded()[0])),
    "roofline_explorer": lambda: roofline_explorer(tiny_llama(1), roofline.BOUNDS),
    "rejection_explorer": rejection_explorer,
    "acceptance_explorer": lambda: acceptance_explorer(acceptance.runs(), acceptance.CURVE),
    "round_player": lambda: round_player(rounds.reviewed()[0], rounds.Words(), rounds.reviewed()[1]),
    "tree_explorer": lambda: tree_explorer(trees.run(), trees.Words(), tree_mask),
}


def values_of(control: Any) -> list[Any]:
    """Where a control can be put: eleven places along a slider, every entry of a list, on and off."""
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if isinstance(control.value, bool):
        return [True, False]
    places = np.linspace(control.min, control.max, 11).tolist()
    return [round(place) if isinstance(control.value, int) else place for place in places]


def milliseconds(control: Any) -> list[float]:
    """The times of moves that changed the control's value."""
    taken: list[float] = []
    places = values_of(control)
    if len(set(places)) < 2:
        return []
    for i in range(10 * MOVES):
        before, began = control.value, perf_counter()
        control.value = places[i % len(places)]
        if control.value != before:
            taken.append(1000 * (perf_counter() - began))
        if len(taken) == MOVES:
            break
    return taken


def main() -> int:
    table = Table("explorer", "control", "moves", "median, ms", "95 of 100 below, ms")
    late = 0
    for name, make in EXPLORERS.items():
        for label, control in Hands(make()).controls.items():
            taken = milliseconds(control)
            if taken:
                middle, most = np.percentile(taken, [50, 95])
                slow = bool(most > AIM_MS)
                late += slow
                table.add_row(name, label, str(len(taken)), f"{middle:.1f}", f"{'✗ ' * slow}{most:.1f}")
    console = Console(width=110)
    console.print(table)
    console.print(f"{device_facts()}, plotly {plotly.__version__}")
    console.print(f"{late} controls take longer than {AIM_MS:g} ms")
    return min(late, 1)


if __name__ == "__main__":
    sys.exit(main())
