"""What an explorer has been told of a machine so far, and as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

from specdec_lab.measure.cost import CostCurve
from specdec_lab.measure.traces import Event, Measured, cost_ratio, curve_of

NAME = '<th scope="row" style="text-align:left;padding-right:9px;font-weight:normal">'
RUNS = ("acceptance", "k", "alpha", "predicted", "measured", "efficiency")


@dataclass
class Seen:
    """Events, and where they were measured."""

    where: str = ""
    events: list[Event] = field(default_factory=list)

    def clear(self) -> None:
        self.where, self.events = "", []

    @property
    def curve(self) -> CostCurve:
        return curve_of(self.events)

    @property
    def runs(self) -> list[Measured]:
        return [event for event in self.events if isinstance(event, Measured)]

    @property
    def c(self) -> float | None:
        return cost_ratio(self.events)

    def progress(self) -> str:
        passes = sum(len(timing.seconds) for timing in self.curve.timings.values())
        return f"{passes} passes timed, {len(self.runs)} runs compared with plain decoding"

    def table(self) -> str:
        """Passes with the spread of their times, drafting, and each run beside what its parts predict; nothing if nothing was seen."""
        if not self.events:
            return ""
        timings = self.curve.timings
        middle = [tuple(1000 * x for x in timing.quartiles) for timing in timings.values()]
        passes = (
            _row("tokens in a pass", timings),
            _row("milliseconds", (f"{timing.median * 1000:.1f}" for timing in timings.values())),
            _row("half of them between", (f"{low:.1f}–{high:.1f}" for low, high in middle)),
        )
        drafting = "" if self.c is None else f"<p>Drafting a token takes c = {self.c:.3f} plain steps.</p>"
        return f"<p><b>Measured: {escape(self.where)}</b></p>{_table(*passes)}{drafting}{self._runs()}"

    def _runs(self) -> str:
        if not self.runs:
            return ""
        head = f"<tr>{''.join(f'<th scope=col style=padding-right:14px;text-align:right>{name}</th>' for name in RUNS)}</tr>"
        return _table(head, *(_row(run.acceptance, _numbers(run)) for run in self.runs))


def _numbers(run: Measured) -> Iterable[str]:
    yield str(run.k)
    yield "none" if run.alpha is None else f"{run.alpha:.2f}"
    yield f"{run.predicted:.2f}"
    yield f"{'✗ ' * (run.measured < 1)}{run.measured:.2f}"
    yield f"{run.efficiency:.2f}"


def _row(name: str, values: Iterable[object]) -> str:
    cells = "".join(f'<td style="padding:1px 14px 1px 0;text-align:right;white-space:nowrap">{value}</td>' for value in values)
    return f"<tr>{NAME}{name}</th>{cells}</tr>"


def _table(*rows: str) -> str:
    return f'<table style="border-collapse:collapse;margin:6px 0">{"".join(rows)}</table>'
