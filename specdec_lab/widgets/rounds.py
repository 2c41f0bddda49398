"""One round of speculative decoding as a picture: what was drafted, what the target said, what came out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets as widgets
from IPython.display import HTML

from specdec_lab.engine import Generation
from specdec_lab.engine.stopping import Decoder
from specdec_lab.widgets.palette import COLOURS, tint

CELL = "border:1px solid #8888;padding:4px 10px;text-align:center;font-family:monospace;white-space:pre"


def round_view(last: str, draft: Sequence[str], target: Sequence[str], accepted: int) -> HTML:
    """A round as a table: column i holds what is fed, and under it what the target predicts after it.

    last: the context's last token. draft: the k drafted tokens. target: the k + 1 predictions, or fewer where
    those behind the first rejection are not known. accepted: how many drafted tokens stand.
    """
    return HTML(_round_table(last, draft, target, accepted))


def round_player(generation: Generation, decoder: Decoder) -> widgets.VBox:
    """Step through the rounds of a generation, with the caches' lengths after each."""
    rounds = generation.rounds
    number = widgets.IntSlider(value=1, min=1, max=len(rounds), description="round", continuous_update=True)
    back, forward = (widgets.Button(description=text, layout=widgets.Layout(width="90px")) for text in ("◀ back", "next ▶"))
    rejection = widgets.Button(description="next rejection", tooltip="go to the next round that rejected a token")
    view = widgets.HTML()
    ids = [*generation.prompt, *generation.tokens]

    def word(token: int) -> str:
        return decoder.decode([token], skip_special_tokens=False)

    def show(_: object = None) -> None:
        r = rounds[number.value - 1]
        context = decoder.decode(ids[: r.context_length][-24:], skip_special_tokens=False)
        target = [word(t) for t in (*r.drafted[: r.accepted], r.next_token)]
        table = _round_table(word(ids[r.context_length - 1]), [word(t) for t in r.drafted], target, r.accepted)
        caches = f"target's cache {r.target_cache} tokens" + ("" if r.draft_cache is None else f", draft's {r.draft_cache}")
        emitted = escape("".join(word(t) for t in r.emitted)).replace("\n", "⏎")
        view.value = (
            f'<div style="max-width:980px"><p>… <code>{escape(context)}</code></p>{table}'
            f"<p>Emitted: <code>{emitted}</code> ({len(r.emitted)} tokens). Context {r.context_length} → "
            f"{r.context_length + r.accepted + 1}; {caches}.</p></div>"
        )

    def step(by: int) -> None:
        number.value = min(max(number.value + by, 1), len(rounds))

    def to_rejection(_: object) -> None:
        later = [i for i in range(number.value + 1, len(rounds) + 1) if rounds[i - 1].rejected]
        number.value = later[0] if later else number.value

    number.observe(show, "value")
    back.on_click(lambda _: step(-1))
    forward.on_click(lambda _: step(1))
    rejection.on_click(to_rejection)
    show()
    return widgets.VBox([widgets.HBox([back, forward, rejection, number]), view])


def _round_table(last: str, draft: Sequence[str], target: Sequence[str], accepted: int) -> str:
    fed, said, verdict = [], [], []
    for i, word in enumerate([last, *draft]):
        stands = 0 < i <= accepted
        origin = "accepted" if stands else "rejected" if i else None
        fed.append(_cell(word, origin if i <= accepted + 1 else None, dim=i > accepted + 1))
        own = "correction" if accepted < len(draft) else "bonus" if draft else "target"
        known = target[i] if i < len(target) else "·"
        said.append(_cell(known, "accepted" if i < accepted else own if i == accepted else None, dim=i > accepted))
        agree = f"= {draft[i]} ✓" if i < accepted else f"≠ {draft[i]} ✗" if i == accepted < len(draft) else ""
        verdict.append(_cell(agree or (own if i == accepted else "not used"), None, dim=i > accepted))
    rows = (("fed to the target", fed), ("its prediction for the next place", said), ("against the draft", verdict))
    body = "".join(f'<tr><th style="text-align:right;padding-right:8px">{name}</th>{"".join(cells)}</tr>' for name, cells in rows)
    return f'<table style="border-collapse:collapse">{body}</table>'


def _cell(text: str, origin: str | None, dim: bool = False) -> str:
    colour = f"background:{tint(origin)};border-bottom:3px solid {COLOURS[origin]};" if origin else ""
    shown = escape(text).replace("\n", "⏎") or "&nbsp;"
    return f'<td style="{CELL};{colour}{"opacity:0.5;" if dim else ""}">{shown}</td>'
