"""Text with every token marked by who wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from IPython.display import HTML
from rich.text import Text

from specdec_lab.engine import Generation, Round
from specdec_lab.engine.rounds import Origin
from specdec_lab.engine.stopping import Decoder
from specdec_lab.widgets.palette import COLOURS, MEANINGS, UNDERLINES, tint

RICH_STYLES = {
    "accepted": COLOURS["accepted"],
    "correction": f"{COLOURS['correction']} underline",
    "bonus": f"{COLOURS['bonus']} bold underline2",
    "target": f"{COLOURS['target']} italic",
}


def pieces(decoder: Decoder, tokens: Sequence[int]) -> list[str]:
    """What each token adds to the text. A character spread over several tokens shows with the last of them."""
    texts, shown = [], ""
    for end in range(1, len(tokens) + 1):
        text = decoder.decode(list(tokens[:end]), skip_special_tokens=False)
        if text.endswith("\N{REPLACEMENT CHARACTER}") and end < len(tokens):
            texts.append("")
        else:
            texts.append(text[len(shown) :])
            shown = text
    return texts


def written(rounds: Iterable[Round]) -> Iterator[tuple[int, Origin, int]]:
    """(token, origin, number of the round) for every emitted token."""
    for number, round_ in enumerate(rounds, 1):
        for token, origin in zip(round_.emitted, round_.origins, strict=True):
            yield token, origin, number


def token_view(generation: Generation, decoder: Decoder) -> HTML:
    """The generated text in HTML; point at a token to see who wrote it, and in which round."""
    marks = list(written(generation.rounds))
    spans = []
    for text, (_, origin, number) in zip(pieces(decoder, generation.tokens), marks, strict=True):
        # A line break stays visible inside its mark, then breaks the line.
        shown = escape(text).replace("\n", "⏎\n")
        spans.append(f'<span title="round {number}: {origin}" style="{_style(origin)}">{shown}</span>')
    counts = Counter(origin for _, origin, _ in marks)
    legend = " &nbsp; ".join(
        f'<span style="{_style(origin)}">{origin}</span> {counts[origin]}: {meaning}'
        for origin, meaning in MEANINGS.items()
        if counts[origin]
    )
    text = f'<div style="white-space:pre-wrap;font-family:monospace;line-height:1.7">{"".join(spans)}</div>'
    return HTML(f'<div style="max-width:1000px">{text}<p style="margin-top:0.8em">{legend}</p></div>')


def rich_text(generation: Generation, decoder: Decoder) -> Text:
    """The generated text for a terminal."""
    text = Text()
    for piece, (_, origin, _) in zip(pieces(decoder, generation.tokens), written(generation.rounds), strict=True):
        text.append(piece, RICH_STYLES[origin])
    return text


def rich_legend(generation: Generation) -> Text:
    """Origins, their colours and their counts, on one line."""
    counts = Counter(origin for _, origin, _ in written(generation.rounds))
    return Text("   ").join(Text(f"{origin} {counts[origin]}", RICH_STYLES[origin]) for origin in MEANINGS if counts[origin])


def _style(origin: Origin) -> str:
    underline = "" if origin == "accepted" else f"text-decoration:underline {UNDERLINES[origin]} {COLOURS[origin]};"
    return f"{underline}background:{tint(origin)};border-radius:3px"
