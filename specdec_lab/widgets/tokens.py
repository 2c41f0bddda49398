"""Text with every token marked by who wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from IPython.display import HTML
from rich.text import Text

from specdec_lab.engine import Generation, Round
from specdec_lab.engine.review import Place, Review, mean_p
from specdec_lab.engine.rounds import Origin
from specdec_lab.engine.stopping import Decoder
from specdec_lab.errors import UserError
from specdec_lab.widgets.palette import COLOURS, MEANINGS, UNDERLINES, tint

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
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


def token_view(generation: Generation, decoder: Decoder, review: Review | None = None) -> HTML:
    """The generated text in HTML, plain enough for any page; point at a token to see who wrote it, and in which round.

    review: then also how likely both models found it, and what was rejected in its place. The same stands in a table, folded below:
    so that nobody has to point, and nobody has to tab through every token. Raises UserError on a review of another generation.
    """
    check_review(generation, review)
    marks = list(written(generation.rounds))
    spans, rows = [], []
    for i, (text, (_, origin, number)) in enumerate(zip(pieces(decoder, generation.tokens), marks, strict=True)):
        # A line break stays visible inside its mark, then breaks the line.
        shown = escape(text).replace("\n", "⏎\n")
        said = _said(review, i, marks, decoder) if review else ""
        spans.append(f'<span title="{escape(f"round {number}: {origin}{said}")}" style="{_style(origin)}">{shown}</span>')
        rows.append(_row(shown.strip("\n"), number, origin, said.removeprefix("; ")))
    text = f'<div style="white-space:pre-wrap;font-family:monospace;line-height:1.7">{"".join(spans)}</div>'
    return HTML(f'<div style="max-width:1000px">{text}{_legend(generation, review)}{_folded(rows, review)}</div>')


def check_review(generation: Generation, review: Review | None) -> None:
    """Raises UserError on a review of another generation."""
    if review is not None and [place.token for place in review.places] != list(generation.tokens):
        raise UserError("This review is of another generation; make one with review(generation, target, draft).")


def chosen(place: Place) -> str:
    """How likely both models found a token, in words."""
    return f"p {probability(place.p)}, the target's {ordinal(place.rank)} choice" + (
        "" if place.q is None else f"; q {probability(place.q)}"
    )


def ordinal(rank: int) -> str:
    """In words while that is short."""
    if rank <= len(ORDINALS):
        return ORDINALS[rank - 1]
    ending = "th" if 10 <= rank % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank:,}{ending}"


def probability(p: float) -> str:
    """Two digits, but no 0 for what is possible, and no 1 for what is not certain."""
    return "above 0.99" if 0.995 <= p < 1 else "below 0.01" if 0 < p < 0.005 else f"{p:.2f}"


def laws_of(review: Review) -> str:
    """Which laws p and q are."""
    if review.greedy:
        return "p and q are the models' laws at temperature 1; the run itself was greedy and took the target's first choice."
    return f"p and q are the laws that the run drew from, at temperature {review.params.temperature:g}."


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


def _said(review: Review, i: int, marks: Sequence[tuple[int, Origin, int]], decoder: Decoder) -> str:
    """What the review says of token i of the text; of a correction also what it stands in place of."""
    _, origin, number = marks[i]
    said = f"; {chosen(review.places[i])}"
    failed = [v for v in review.verdicts[number - 1] if not v.accepted]
    if origin == "correction" and failed:
        word = decoder.decode([failed[0].token], skip_special_tokens=False)
        said += f"; in place of {word!r}: {chosen(failed[0])}"
    return said


def _legend(generation: Generation, review: Review | None) -> str:
    counts = Counter(origin for _, origin, _ in written(generation.rounds))
    sure = mean_p(generation, review) if review else {}
    entries = [
        f'<span style="{_style(origin)}">{origin}</span> {counts[origin]}: {meaning}'
        + (f" (p on average {probability(sure[origin])})" if sure else "")
        for origin, meaning in MEANINGS.items()
        if counts[origin]
    ]
    return f'<p style="margin-top:0.8em">{" &nbsp; ".join(entries)}</p>'


def _row(word: str, number: int, origin: Origin, said: str) -> str:
    """A token in the table. `word` is HTML."""
    cells = (f'<code style="white-space:pre">{word or "&nbsp;"}</code>', str(number), origin, *([escape(said)] if said else []))
    return "<tr>" + "".join(f'<td style="text-align:left;padding:1px 10px">{cell}</td>' for cell in cells) + "</tr>"


def _folded(rows: Sequence[str], review: Review | None) -> str:
    names = ("token", "round", "author", *(["what the models thought of it"] if review else []))
    head = "".join(f'<th style="text-align:left;padding:1px 10px">{name}</th>' for name in names)
    note = f"<p>{laws_of(review)}</p>" if review else ""
    return f"{note}<details><summary>As a table</summary><table><tr>{head}</tr>{''.join(rows)}</table></details>"
