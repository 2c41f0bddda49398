"""A token tree: who hangs on whom, what stood, and who sees whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from IPython.display import HTML

from specdec_lab.drafters.shapes import depths
from specdec_lab.engine import Generation
from specdec_lab.engine.stopping import Decoder
from specdec_lab.widgets.palette import COLOURS, tint

WIDE, HIGH, STEP_X, STEP_Y = 114, 26, 140, 36  # a box, and from one to the next, in pixels
LONGEST = 10  # letters of a token that fit a box
MARKS = {"accepted": "✓ ", "rejected": "✗ ", "never tested": "· ", "drafted": ""}
LEGEND = "✓ stood &nbsp; ✗ tested, and failed &nbsp; · never tested: behind a failure, or beside one that stood"


def tree_view(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None = None, mask: Any = None) -> HTML:
    """A tree from the context's `last` token on, with the nodes that stood, and beside it the mask `[m, m]`: row i is what i sees.

    words: the m drafted tokens. path: the accepted nodes, from the root down; None before the verdict. mask: as
    `verify.tree_mask` or a learner's own gives it.
    """
    return HTML(_view(last, words, parents, path, mask))


def tree_player(generation: Generation, decoder: Decoder, mask: Callable[[tuple[int, ...]], Any]) -> widgets.VBox:
    """Step through the rounds of a generation that drafted trees. mask: a function from parents to the mask."""
    rounds = [r for r in generation.rounds if r.parents is not None]
    number = widgets.IntSlider(value=1, min=1, max=max(len(rounds), 1), description="round")
    back, forward = (widgets.Button(description=text, layout=widgets.Layout(width="90px")) for text in ("◀ back", "next ▶"))
    view = widgets.HTML()
    ids = [*generation.prompt, *generation.tokens]

    def word(token: int) -> str:
        return decoder.decode([token], skip_special_tokens=False)

    def show(_: object = None) -> None:
        if not rounds:
            view.value = "<p>No round drafted a tree.</p>"
            return
        r = rounds[number.value - 1]
        assert r.parents is not None and r.path is not None
        picture = _view(word(ids[r.context_length - 1]), [word(t) for t in r.drafted], r.parents, r.path, mask(r.parents))
        own = "correction" if r.rejected else "bonus"
        emitted = escape("".join(word(t) for t in r.emitted)).replace("\n", "⏎")
        view.value = (
            f"{picture}<p>{len(r.drafted)} nodes, {r.accepted} stood, then the target's own {escape(repr(word(r.next_token)))}, "
            f"the {own}. Emitted: <code>{emitted}</code></p>"
        )

    def step(by: int) -> None:
        number.value = min(max(number.value + by, 1), number.max)

    number.observe(show, "value")
    back.on_click(lambda _: step(-1))
    forward.on_click(lambda _: step(1))
    show()
    return widgets.VBox([widgets.HBox([back, forward, number]), view])


def statuses(parents: Sequence[int], path: Sequence[int] | None) -> list[str]:
    """For each node what became of it; siblings are tested in their order, until one stands. `drafted` before the verdict."""
    if path is None:
        return ["drafted"] * len(parents)
    found = ["never tested"] * len(parents)
    for here in (-1, *path):
        for node in (i for i, parent in enumerate(parents) if parent == here):
            found[node] = "accepted" if node in path else "rejected"
            if node in path:
                break
    return found


def _view(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None, mask: Any) -> str:
    beside = "" if mask is None else f"<div>{_mask_table(words, mask)}</div>"
    legend = "" if path is None else f"<p>{LEGEND}</p>"
    return (
        f'<div style="display:flex;gap:28px;align-items:flex-start;flex-wrap:wrap;max-width:1000px">'
        f"<div>{_drawing(last, words, parents, path)}{legend}</div>{beside}</div>"
    )


def _drawing(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None) -> str:
    rows, deep, status = _rows(parents), [0, *depths(parents)], statuses(parents, path)
    edges, boxes = "", _box(last, 0, rows[-1], "", "context")
    for i, parent in enumerate(parents):
        x1, x2 = deep[parent + 1] * STEP_X + WIDE, deep[i + 1] * STEP_X
        y1, y2 = (rows[node] * STEP_Y + HIGH / 2 + 2 for node in (parent, i))
        thick = 5 if status[i] == "accepted" else 1.5
        edges += f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-width="{thick}"/>'
        boxes += _box(words[i], deep[i + 1], rows[i], f"{i} {MARKS[status[i]]}", status[i])
    width, height = max(deep) * STEP_X + WIDE + 6, (max(rows.values()) + 1) * STEP_Y
    said = f"A tree of {len(parents)} nodes" + ("" if path is None else f", of which {len(path)} stood")
    return (
        f'<svg role="img" aria-label="{said}" width="{width}" height="{height:.0f}" viewBox="-3 0 {width} {height:.0f}" '
        f'style="max-width:100%">{edges}{boxes}</svg>'
    )


def _rows(parents: Sequence[int]) -> dict[int, float]:
    """The row of each node, -1 for the context: leaves one below the other, each parent half-way down its children."""
    children: dict[int, list[int]] = {-1: [], **{i: [] for i in range(len(parents))}}
    for i, parent in enumerate(parents):
        children[parent].append(i)
    rows, free = dict[int, float](), 0

    def place(node: int) -> None:
        nonlocal free
        for child in children[node]:
            place(child)
        below = [rows[child] for child in children[node]]
        rows[node] = (below[0] + below[-1]) / 2 if below else free
        free += not below

    place(-1)
    return rows


def _box(word: str, depth: int, row: float, before: str, status: str) -> str:
    text = word.replace("\n", "⏎").replace(" ", "␣", 1) if word.startswith(" ") else word.replace("\n", "⏎")
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    x, y = depth * STEP_X, row * STEP_Y + 2
    fill = tint(status) if status in COLOURS else "none"
    edge = COLOURS.get(status, "currentColor")
    stroke = f'stroke="{edge}" stroke-width="{3 if status == "accepted" else 1.5}"' + (
        ' stroke-dasharray="4 3"' * (status == "never tested")
    )
    size = f'width="{WIDE}" height="{HIGH}" rx="4"'
    return (
        f'<g><title>{escape(repr(word))}: {status}</title><rect x="{x}" y="{y}" {size} fill="{fill}" {stroke}/>'
        f'<text x="{x + 7}" y="{y + 17}" font-family="monospace" font-size="12" fill="currentColor" xml:space="preserve">'
        f"{escape(before + text)}</text></g>"
    )


def _mask_table(words: Sequence[str], mask: Any) -> str:
    cell = "width:20px;height:20px;text-align:center;border:1px solid #8886;padding:0"
    head = "".join(f'<th style="{cell}">{i}</th>' for i in range(len(words)))
    body = ""
    for i, word in enumerate(words):
        name = escape(word.replace("\n", "⏎"))
        cells = "".join(
            f'<td style="{cell};background:{tint("target", 0.6)}">■</td>' if seen else f'<td style="{cell}">·</td>' for seen in mask[i]
        )
        label = "text-align:right;padding-right:6px;font-family:monospace;white-space:pre"
        body += f'<tr><th style="{label}">{i} {name}</th>{cells}</tr>'
    corner = '<th style="text-align:right;padding-right:6px">row sees ■</th>'
    return f'<table style="border-collapse:collapse"><tr>{corner}{head}</tr>{body}</table>'
