"""Two laws to be moved, what they share, and what a rule makes of them: exactly, and by throwing the dice."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from html import escape
from textwrap import dedent

import ipywidgets as widgets
import plotly.graph_objects as go
from torch import Tensor

from specdec_lab import verify as package
from specdec_lab.engine.loop import Verify
from specdec_lab.sampling import SeededRng
from specdec_lab.theory.lossy import distance
from specdec_lab.theory.rules import Outcome, Rule, law_of, rules
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.laws import BARS, laws_figure
from specdec_lab.widgets.live import Explorer, Picture, choice, slider
from specdec_lab.widgets.palette import COLOURS, EXPECTED, MEASURED
from specdec_lab.widgets.still import still

WORKED = "the rover and Earth"
OWN = "your own: move the sliders"
# In hundredths, for the first tokens; the others get none.
EXAMPLES = {
    WORKED: ((50, 30, 20), (20, 50, 30)),
    "the same law twice": ((50, 30, 20), (50, 30, 20)),
    "nothing in common": ((60, 40, 0), (0, 0, 100)),
    "a sure target, a flat draft": ((90, 8, 2), (33, 33, 33)),
    "a draft that rolls no die": ((50, 30, 20), (0, 100, 0)),
    "two tokens, transformers#32867": ((60, 40), (80, 20)),
}
ALTS = (
    "Bars for each token: the target's law p, the draft's law q, their minimum, and the residual",
    "Bars for each token: the target's law p, and what came out under the chosen rule, with its exact law as a line",
)
DRAWS, BATCH = 10_000, 500
FIRST = (20, 30, 50, 100, 300)  # the first batch in small portions, to see luck at work
STILL = 2_000
HALF = 0.2  # from the middle of a token's place to the middle of a bar
PRE = "max-width:860px;overflow-x:auto;border-left:3px solid #8888;padding:2px 8px;margin:6px 0;line-height:1.35"


def rejection_explorer(
    tokens: Sequence[str] = ("left", "ahead", "right"),
    p: Tensor | None = None,
    q: Tensor | None = None,
    residual: Callable[[Tensor, Tensor], Tensor] = package.residual,
    verify: Verify = package.verify_sampling,
) -> Explorer:
    """Move two laws and see what they share; choose a rule, and throw its dice 10,000 times.

    p, q: both laws `[vocab]` to begin with, in hundredths; the chapter's worked example where there are none. residual, verify: what is
    drawn and what is run as the right rule, such as the learner's own.
    """
    examples = {name: tuple(_filled(law, len(tokens)) for law in laws) for name, laws in EXAMPLES.items() if len(laws[0]) <= len(tokens)}
    if p is not None and q is not None:
        given = (_hundredths(p), _hundredths(q))
        examples = {next((name for name, laws in examples.items() if laws == given), "as given"): given, **examples}
    return _Table(tokens, examples, residual, verify).explorer


def drawn_figure(name: str, p: Tensor, exact: Outcome, drawn: Outcome | None, tokens: Sequence[str]) -> go.Figure:
    """What comes out under a rule beside the target's law: exactly, and in what has been drawn so far (None: nothing yet).

    Below are the drafted tokens that stood, on top of them the target's own. The whiskers are two standard errors.
    """
    off = float(distance(p, p.new_tensor(exact.law)))
    found = "what comes out has the law p" if off < 1e-9 else f"the law that comes out is TV {off:.3f} away from p"
    out = figure(f"{name}: {found}" + (f" ({drawn.n:,} drawn)" if drawn else ""), "token that comes out", "probability, and share")
    seen = drawn or Outcome([], [])
    places = list(range(len(tokens)))
    ours = [place + HALF for place in places[: len(seen.law)]]
    _bar(out, BARS[0][0], "target", "", [place - HALF for place in places], p.tolist())
    _bar(out, "drawn: drafted, and stood", "accepted", "x", ours, seen.stood)
    _bar(out, "drawn: the target's own", "correction", ".", ours, seen.own, seen.stood)
    ends = [end for place in places for end in (place, place + 2 * HALF, None)]
    line = {"color": EXPECTED, "width": 3, "dash": "dot"}
    out.add_scatter(x=ends, y=[y for x in exact.law for y in (x, x, None)], mode="lines", name="the rule's law, exactly", line=line)
    whiskers = {"type": "data", "array": [2 * error for error in seen.errors], "color": MEASURED, "thickness": 1.5}
    marker = {"symbol": "line-ew", "size": 9, "color": MEASURED, "line": {"width": 1.5, "color": MEASURED}}
    out.add_scatter(x=ours, y=seen.law, error_y=whiskers, mode="markers", name="drawn, with luck either way", marker=marker)
    top = max([*p.tolist(), *exact.law, *(x + 2 * error for x, error in zip(seen.law, seen.errors, strict=True))])
    out.update_xaxes(tickvals=places, ticktext=list(tokens), range=[-0.5, len(tokens) - 0.5])
    out.update_yaxes(range=[0, 1.08 * top])
    return _low(out.update_layout(barmode="overlay"))


def _bar(out: go.Figure, name: str, colour: str, pattern: str, x: list[float], y: list[float], base: list[float] | None = None) -> None:
    marker = {"color": COLOURS[colour], "pattern": {"shape": pattern}}
    out.add_bar(x=x, y=y, base=base, width=[1.9 * HALF] * len(x), name=name, marker=marker)


def _low(out: go.Figure) -> go.Figure:
    """So low that both pictures fit a screen."""
    return out.update_layout(height=310, margin={"t": 44}, legend={"y": -0.3})


class _Table:
    """The state behind the controls: the laws and the rule chosen, and what has been drawn from them so far."""

    def __init__(
        self,
        tokens: Sequence[str],
        examples: dict[str, tuple[tuple[int, ...], ...]],
        residual: Callable[[Tensor, Tensor], Tensor],
        verify: Verify,
    ) -> None:
        self.tokens, self.examples, self.residual, self.rules = tokens, examples, residual, rules(verify)
        self.example = choice("laws", [*examples, OWN], next(iter(examples)))
        self.rule = choice("rule", list(self.rules), next(iter(self.rules)))
        self.sliders = [
            [_narrow(slider(f"{side}: {token}", weight, 0, 100)) for token, weight in zip(tokens, law, strict=True)]
            for side, law in zip(("target", "draft"), examples[self.example.value], strict=True)
        ]
        self.temperature = slider("temperature of both", 1.0, 0.0, 4.0, 0.1)
        self._shown, self._loading = self.example.value, False
        self.drawn: Outcome | None = None
        self.said = widgets.HTML()
        self._take()
        self.above, self.below = Picture(self._laws(), ALTS[0]), Picture(self._drawn(None), ALTS[1])
        self.explorer = Explorer("two laws, and what a rule makes of them")
        self.explorer.react(self.show, self.example, self.rule, self.temperature, *(s for law in self.sliders for s in law))
        draw = self.explorer.measure(
            f"Draw {DRAWS:,}", self.throw, f"Drawn. Press again for {DRAWS:,} more; whatever you change begins afresh."
        )
        some = list(self._chosen.draws(self.p, self.q, SeededRng(0), [STILL]))[-1]
        stills = still(self._laws(), ALTS[0]) + still(self._drawn(some), ALTS[1])
        laws = widgets.HBox([widgets.VBox(law) for law in self.sliders])
        self.explorer.of(self.example, laws, self.temperature, self.above, self.rule, draw, self.below, self.said, still=stills)

    def show(self) -> None:
        """Draw what the controls say; what was drawn from other laws is forgotten."""
        if self._loading:
            return
        self._follow()
        self._take()
        self.drawn = None
        self.above.show(self._laws())
        self._draw()

    def throw(self) -> Iterator[str]:
        """Throw the dice, draw, and say how far it is; until something is changed."""
        at = self.exact
        if self.drawn is None:
            self._rng = SeededRng(0)
        batches = [*(FIRST if self.drawn is None else [BATCH]), *[BATCH] * (DRAWS // BATCH - 1)]
        for outcome in self._chosen.draws(self.p, self.q, self._rng, batches, self.drawn):
            if at is not self.exact:
                return
            self.drawn = outcome
            self._draw()
            yield f"{outcome.n:,} drawn"

    def _follow(self) -> None:
        """An example that was chosen moves the sliders; a slider that was moved makes the laws one's own."""
        chosen, weights = self.example.value, tuple(tuple(s.value for s in law) for law in self.sliders)
        moves = self.examples.get(chosen, weights) if chosen != self._shown else weights
        self._loading = True
        try:
            for law, values in zip(self.sliders, moves, strict=True):
                for one, value in zip(law, values, strict=True):
                    one.value = value
            if moves != self.examples.get(chosen, moves):
                self.example.value = OWN
        finally:
            self._loading = False
        self._shown = self.example.value

    def _take(self) -> None:
        self._chosen: Rule = self.rules[self.rule.value]
        self.p, self.q = (law_of([s.value for s in law], self.temperature.value) for law in self.sliders)
        self.exact = self._chosen.law(self.p, self.q)

    def _laws(self) -> go.Figure:
        return _low(laws_figure(self.p, self.q, self.tokens, self.residual))

    def _drawn(self, drawn: Outcome | None) -> go.Figure:
        return drawn_figure(self.rule.value, self.p, self.exact, drawn, self.tokens)

    def _draw(self) -> None:
        self.below.show(self._drawn(self.drawn))
        self.said.value = _explained(self._chosen, self.p, self.exact, self.drawn, self.tokens)


def _explained(rule: Rule, p: Tensor, exact: Outcome, drawn: Outcome | None, tokens: Sequence[str]) -> str:
    """The numbers of the lower picture as a table, and the rule in words and code."""
    rows = {"p, the target's law": [*p.tolist(), None], "comes out, exactly": [*exact.law, exact.share]}
    if drawn:
        rows[f"comes out, {drawn.n:,} drawn"] = [*drawn.law, drawn.share]
    head = "".join(_cell("th", escape(name)) for name in ("", *tokens, "drafted token stands"))
    body = "".join(
        f"<tr>{_cell('th', name)}{''.join(_cell('td', '' if x is None else f'{x:.3f}') for x in row)}</tr>" for name, row in rows.items()
    )
    table = f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'
    return f'<div style="max-width:860px;line-height:1.4"><p>{escape(rule.says)}</p>{table}{_code(rule.verify)}</div>'


def _code(verify: Verify) -> str:
    """The source of a rule; not of the package's right one, which is an exercise."""
    if verify is package.verify_sampling:
        return ""
    try:
        return f'<pre tabindex="0" style="{PRE}">{escape(dedent(inspect.getsource(verify)).strip())}</pre>'
    except (OSError, TypeError):  # a learner's that was made without `def`
        return ""


def _cell(kind: str, text: str) -> str:
    return f'<{kind} style="padding:1px 10px;text-align:right;font-weight:{"normal" if kind == "td" else "bold"}">{text}</{kind}>'


def _narrow(made: widgets.Widget) -> widgets.Widget:
    """Two columns fit a page of 1000 pixels."""
    made.layout.width, made.style.description_width = "390px", "130px"
    return made


def _filled(law: Sequence[int], size: int) -> tuple[int, ...]:
    return (*law, *[0] * (size - len(law)))


def _hundredths(law: Tensor) -> tuple[int, ...]:
    return tuple(round(100 * x) for x in law.tolist())
