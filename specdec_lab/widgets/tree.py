"""A token tree: who hangs on whom, what stood, and who sees whom."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from typing import Any
from uuid import uuid4

import ipywidgets as widgets
from IPython.display import HTML

from specdec_lab.drafters.shapes import depths
from specdec_lab.engine import Generation, Round
from specdec_lab.engine.stopping import Decoder
from specdec_lab.errors import UserError
from specdec_lab.widgets.live import Explorer, button, choice, slider
from specdec_lab.widgets.palette import COLOURS, tint

WIDE, HIGH, STEP_X, STEP_Y = 104, 26, 126, 40  # a box, and from one to the next, in pixels
TOP = 6  # pixels around them all
OUTLINE = "2px solid currentColor"
NONE = -1  # in a list of nodes; for ipywidgets a value of None is no option
LONGEST = 9  # letters of a token that fit a box
MARKS = {"accepted": "✓ ", "rejected": "✗ ", "never tested": "· ", "drafted": ""}
LEGEND = "✓ stood &nbsp; ✗ tested, and failed &nbsp; · never tested: behind a failure, or beside one that stood"


def tree_view(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None = None, mask: Any = None) -> HTML:
    """A tree from the context's `last` token on, with the nodes that stood, and beside it the mask `[m, m]`: row i is what i sees.

    words: the m drafted tokens. path: the accepted nodes, from the root down; None before the verdict. mask: as
    `verify.tree_mask` or a learner's own gives it.
    """
    return HTML(_view(last, words, parents, path, mask))


def tree_explorer(generation: Generation, decoder: Decoder, mask: Callable[[tuple[int, ...]], Any]) -> Explorer:
    """Step through the rounds of a generation that drafted trees; a chosen node, or one that is pointed at, shows whom it sees.

    mask: a function from parents to the mask, `verify.tree_mask` or a learner's own. Raises UserError if no round drafted a tree.
    """
    rounds = [r for r in generation.rounds if r.parents]
    if not rounds:
        raise UserError("No round of this run drafted a tree; give one whose drafter does, such as `eagle tree`.")
    ids = [*generation.prompt, *generation.tokens]
    saved = [n for n, r in enumerate(rounds, 1) if saved_by_sibling(r.parents or (), r.path or ())]
    number, node = slider("round", 1, 1, len(rounds)), choice("node", [("none", NONE)], NONE)
    back, forward = button("◀ back", "to the round before"), button("next ▶", "to the next round")
    rescue = button("next second choice that stood", "to the next round in which a sibling failed and a later one stood")
    view = widgets.HTML()

    def word(token: int) -> str:
        return decoder.decode([token], skip_special_tokens=False)

    def page(r: Round, chosen: int | None, image: bool = False) -> str:
        assert r.parents is not None
        last, words = word(ids[r.context_length - 1]), [word(t) for t in r.drafted]
        sees = mask(r.parents)
        return f"{_view(last, words, r.parents, r.path, sees, chosen, image)}{_told(r, word)}{_seen(last, words, sees, chosen)}"

    def turn() -> None:
        drafted = rounds[number.value - 1].drafted
        node.options = [("none", NONE), *((f"{i}: {word(t)!r}", i) for i, t in enumerate(drafted))]
        draw()

    def draw() -> None:
        view.value = page(rounds[number.value - 1], None if node.value == NONE else node.value)

    def step(by: int) -> None:
        number.value = min(max(number.value + by, 1), len(rounds))

    def to_rescue() -> None:
        later = [n for n in saved if n > number.value] or saved[:1]
        if not later:
            return explorer.say("In no round of this run did a second choice stand.")
        number.value = later[0]

    explorer = Explorer("Token trees round by round")
    explorer.react(turn, number)
    explorer.react(draw, node)
    explorer.press(back, lambda: step(-1))
    explorer.press(forward, lambda: step(1))
    explorer.press(rescue, to_rescue)
    first = rounds[saved[0] - 1] if saved else rounds[0]
    controls = widgets.HBox([back, forward, rescue])
    return explorer.of(controls, number, node, view, still=page(first, None, image=True))


def saved_by_sibling(parents: Sequence[int], path: Sequence[int]) -> bool:
    """Whether a node stood whose elder sibling had failed: where a chain would have ended."""
    return any(parents[i] == parents[node] for node in path for i in range(node))


def _told(r: Round, word: Callable[[int], str]) -> str:
    own = "correction" if r.rejected else "bonus"
    emitted = escape("".join(word(t) for t in r.emitted)).replace("\n", "⏎")
    return (
        f"<p>{len(r.drafted)} nodes, {r.accepted} stood, then the target's own {escape(repr(word(r.next_token)))}, "
        f"the {own}. Emitted: <code>{emitted}</code></p>"
    )


def _seen(last: str, words: Sequence[str], mask: Any, chosen: int | None) -> str:
    if chosen is None:
        return ""
    seen = [i for i in range(len(words)) if mask[chosen][i]]
    text = escape("".join([last, *(words[i] for i in seen)])).replace("\n", "⏎")
    numbers = ", ".join(map(str, seen))
    return f"<p>Node {chosen} sees node{'s' * (len(seen) > 1)} {numbers}. It reads <code>… {text}</code></p>"


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


def _view(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None, mask: Any,
          chosen: int | None = None, image: bool = False) -> str:  # fmt: skip
    """image: the tree as an image, for pages that take drawings out of a text."""
    sees = [[] if mask is None else [j for j in range(len(words)) if mask[i][j]] for i in range(len(words))]
    tree = _drawing(last, words, parents, path, sees, chosen)
    name = "" if mask is None else f"tree-{uuid4().hex}"
    style = "" if mask is None or image else f"<style>{_pointing(name, len(words))}</style>"
    beside = "" if mask is None else f"<div>{_mask_table(words, sees, chosen)}</div>"
    legend = "" if path is None else f"<p>{LEGEND}</p>"
    return (
        f'{style}<div class="{name}" style="display:flex;gap:28px;align-items:flex-start;flex-wrap:wrap;max-width:1000px">'
        f"<div>{_image(tree, _said(parents, path)) if image else tree}{legend}</div>{beside}</div>"
    )


def _pointing(name: str, nodes: int) -> str:
    """While a node is pointed at, in the tree or in the mask: the frames of all it sees, and its row."""
    rules = f".{name} .frame{{visibility:hidden}}.{name} .frame.chosen{{visibility:visible}}"
    for i in range(nodes):
        pointed = f'.{name}:has([data-node="{i}"]:hover)'
        rules += f'{pointed} .frame{{visibility:hidden}}{pointed} .frame[data-for~="{i}"]{{visibility:visible}}'
        rules += f"{pointed} tr{{outline:none!important}}"
        rules += f'{pointed} tr[data-node="{i}"]{{outline:{OUTLINE}!important}}'
    return rules


def _image(drawing: str, alt: str) -> str:
    source = b64encode(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(alt)}" style="background:white;max-width:100%">'


def _said(parents: Sequence[int], path: Sequence[int] | None) -> str:
    return f"A tree of {len(parents)} nodes" + ("" if path is None else f", of which {len(path)} stood")


def _drawing(last: str, words: Sequence[str], parents: Sequence[int], path: Sequence[int] | None,
             sees: Sequence[Sequence[int]], chosen: int | None) -> str:  # fmt: skip
    rows, deep, status = _rows(parents), [0, *depths(parents)], statuses(parents, path)
    everyone = range(len(parents)) if any(sees) else ()
    edges, boxes = "", _box(last, 0, rows[-1], "", "context") + _frame(0, rows[-1], everyone, chosen)
    for i, parent in enumerate(parents):
        x1, x2 = deep[parent + 1] * STEP_X + WIDE, deep[i + 1] * STEP_X
        y1, y2 = (rows[node] * STEP_Y + HIGH / 2 + TOP for node in (parent, i))
        thick = 5 if status[i] == "accepted" else 1.5
        edges += f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-width="{thick}"/>'
        box = _box(words[i], deep[i + 1], rows[i], f"{i} {MARKS[status[i]]}", status[i])
        boxes += f'<g data-node="{i}">{box}{_frame(deep[i + 1], rows[i], [n for n in everyone if i in sees[n]], chosen)}</g>'
    width, height = max(deep) * STEP_X + WIDE + 2 * TOP, max(rows.values()) * STEP_Y + HIGH + 2 * TOP
    return (
        f'<svg role="img" aria-label="{_said(parents, path)}" width="{width}" height="{height:.0f}" '
        f'viewBox="-{TOP} 0 {width} {height:.0f}" style="max-width:100%">{edges}{boxes}</svg>'
    )


def _frame(depth: int, row: float, seen_by: Sequence[int], chosen: int | None) -> str:
    """Around a box, shown for the nodes that see it."""
    if not seen_by:
        return ""
    shown = chosen in seen_by
    place = f'x="{depth * STEP_X - 4}" y="{row * STEP_Y + TOP - 4}" width="{WIDE + 8}" height="{HIGH + 8}" rx="7"'
    return (
        f'<rect class="frame{" chosen" * shown}" data-for="{" ".join(map(str, seen_by))}" {place} fill="none" '
        f'stroke="currentColor" stroke-width="2" visibility="{"visible" if shown else "hidden"}" pointer-events="none"/>'
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
    x, y = depth * STEP_X, row * STEP_Y + TOP
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


def _mask_table(words: Sequence[str], sees: Sequence[Sequence[int]], chosen: int | None) -> str:
    cell = "width:20px;height:20px;text-align:center;border:1px solid #8886;padding:0"
    head = "".join(f'<th scope="col" style="{cell}">{i}</th>' for i in range(len(words)))
    body = ""
    for i, word in enumerate(words):
        name = escape(word.replace("\n", "⏎"))
        cells = "".join(
            f'<td style="{cell};background:{tint("target", 0.6)}">■</td>' if j in sees[i] else f'<td style="{cell}">·</td>'
            for j in range(len(words))
        )
        label = "text-align:right;padding-right:6px;font-family:monospace;white-space:pre"
        outline = f"outline:{OUTLINE}" if i == chosen else ""
        body += f'<tr data-node="{i}" style="{outline}"><th scope="row" style="{label}">{i} {name}</th>{cells}</tr>'
    corner = '<td style="text-align:right;padding-right:6px;font-weight:bold">row sees ■</td>'
    return f'<table style="border-collapse:collapse"><tr>{corner}{head}</tr>{body}</table>'
