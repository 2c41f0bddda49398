"""One round of speculative decoding as a picture: what was drafted, what the target said, what came out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets as widgets
from IPython.display import HTML

from specdec_lab.engine import Generation, Round
from specdec_lab.engine.review import Review, Verdict
from specdec_lab.engine.stopping import Decoder
from specdec_lab.widgets.live import Explorer, button, slider
from specdec_lab.widgets.palette import COLOURS, tint
from specdec_lab.widgets.tokens import check_review, laws_of, ordinal, probability

CELL = "border:1px solid #8888;padding:4px 10px;text-align:center;font-family:monospace;white-space:pre"
NAME = "text-align:right;padding-right:8px;font-weight:600;white-space:nowrap"
TRACK = 90  # pixels of a bar that is 1 long
SHOWN = 24  # tokens of the context that stand above a round
PACE = 1500  # milliseconds a round, while it plays
UNKNOWN = "·"
Row = tuple[str, list[str]]  # its name, and its cells in HTML


def round_view(last: str, draft: Sequence[str], target: Sequence[str], accepted: int) -> HTML:
    """A round as a table: column i holds what is fed, and under it what the target predicts after it.

    last: the context's last token. draft: the k drafted tokens. target: the k + 1 predictions, or fewer where
    those behind the first rejection are not known. accepted: how many drafted tokens stand.
    """
    own = "correction" if accepted < len(draft) else "bonus" if draft else "target"
    return HTML(_table(_rows(last, draft, target, accepted, own)))


def round_player(generation: Generation, decoder: Decoder, review: Review | None = None) -> Explorer:
    """Step, scrub or play through the rounds of a generation, or jump from one rejection to the next.

    review: with it, what both models thought of every token that was tested, and the uniform that decided. Of a round that drafted
    a tree the path that stood is shown; `tree_explorer` shows all. Raises UserError on a review of another generation.
    """
    check_review(generation, review)
    rounds, last = _Rounds(generation, decoder, review), len(generation.rounds)
    number = slider("round", 1, 1, last)
    play = widgets.Play(value=1, min=1, max=last, interval=PACE)
    widgets.jslink((play, "value"), (number, "value"))
    back, forward = button("◀ back", "one round back"), button("next ▶", "one round on")
    rejection = button("next rejection", "on to the next round that rejected a token; behind the last one, to the first")
    view = widgets.HTML()

    def step(by: int) -> None:
        number.value += by  # held within the slider's ends by the slider

    def to_rejection() -> None:
        found = [i for i, r in enumerate(generation.rounds, 1) if r.rejected]
        number.value = next((i for i in found if i > number.value), found[0] if found else number.value)

    player = Explorer("Round player")
    player.react(lambda: setattr(view, "value", rounds.page(number.value)), number)
    player.press(back, lambda: step(-1))
    player.press(forward, lambda: step(1))
    player.press(rejection, to_rejection)
    return player.of(widgets.HBox([play, back, forward, rejection]), number, view, still=rounds.still())


class _Rounds:
    """The rounds of a generation in HTML."""

    def __init__(self, generation: Generation, decoder: Decoder, review: Review | None) -> None:
        self.rounds, self._decoder, self._review = generation.rounds, decoder, review
        self._start, self._ids = len(generation.prompt), [*generation.prompt, *generation.tokens]

    def page(self, number: int) -> str:
        """All about one round, counted from 1."""
        r = self.rounds[number - 1]
        path = [r.drafted[node] for node in (range(r.accepted) if r.path is None else r.path)]
        draft = [self._text(t) for t in (r.drafted if r.parents is None else path)]
        said = [self._text(t) for t in (*path, r.next_token)]
        rows = _rows(self._text(self._ids[r.context_length - 1]), draft, said, r.accepted, _own(r), self._sureness(r))
        notes = [self._outcome(number)]
        if r.parents is not None:
            notes.append(f"A tree of {len(r.drafted)} nodes was drafted; this is the path of it that stood.")
        if self._review:
            if not self._review.greedy:
                rows[1] = ("the text goes on with", rows[1][1])
            rows += _laws(self._review.verdicts[number - 1], len(draft) + 1)
            notes.append(laws_of(self._review))
        context, name = escape(self._text(*self._ids[: r.context_length][-SHOWN:])), f"round {number} of {len(self.rounds)}"
        return (
            f'<div style="max-width:1000px;line-height:1.5"><p>… <code style="white-space:pre-wrap">{context}</code></p>'
            f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{name}">{_table(rows)}</div>'
            f"<p>{'<br>'.join(notes)}</p></div>"
        )

    def still(self) -> str:
        """For a reader without a kernel: the first round that rejected a token, whole, and all of them in a line each."""
        number = next((i for i, r in enumerate(self.rounds, 1) if r.rejected), 1)
        lines = "".join(f"<tr><td>{i}</td><td style='text-align:left'>{self._line(r)}</td></tr>" for i, r in enumerate(self.rounds, 1))
        head = '<tr><th>round</th><th style="text-align:left">drafted, then the target\'s own token</th></tr>'
        return (
            f"<p><b>Round {number} of {len(self.rounds)}</b></p>{self.page(number)}"
            f"<details><summary>All {len(self.rounds)} rounds</summary><table>{head}{lines}</table></details>"
        )

    def _sureness(self, r: Round) -> str:
        """What both models thought of the target's own token."""
        at = r.context_length - self._start + r.accepted
        if self._review is None or at >= len(self._review.places):  # behind the end of the text nobody asks
            return ""
        own = self._review.places[at]
        return f"p {probability(own.p)}, {ordinal(own.rank)}" + ("" if own.q is None else f"\nq {probability(own.q)}")

    def _outcome(self, number: int) -> str:
        r = self.rounds[number - 1]
        emitted = escape(self._text(*r.emitted)).replace("\n", "⏎")
        before = f"{self.rounds[number - 2].draft_cache} → " if number > 1 else ""
        n, fed = r.context_length, r.context_length + len(r.drafted)
        drafts = "" if r.draft_cache is None else f"; the draft's: {before}{r.draft_cache}"
        return (
            f'Emitted: <code style="white-space:pre-wrap">{emitted}</code> ({len(r.emitted)} token{"s" * (len(r.emitted) != 1)}). '
            f"Context: {n} → {n + r.accepted + 1} tokens.<br>"
            f"The target's cache: {n - 1} → {fed} after the pass → {r.target_cache} kept{drafts}."
        )

    def _line(self, r: Round) -> str:
        """A round in a line: every drafted token with its verdict, then the target's own."""
        kept, tokens = range(r.accepted) if r.path is None else r.path, []
        for i, token in enumerate(r.drafted):
            origin = "accepted" if i in kept else "rejected" if r.parents is None and i == r.accepted else None
            sign = {"accepted": " ✓", "rejected": " ✗", None: ""}[origin]
            tokens.append(_mark(self._text(token) + sign, origin))
        return f"{' '.join(tokens)} {_mark(self._text(r.next_token), _own(r))} {_own(r)}"

    def _text(self, *tokens: int) -> str:
        return self._decoder.decode(list(tokens), skip_special_tokens=False)


def _own(r: Round) -> str:
    """What the round's last token is: the target's own."""
    return "correction" if r.rejected else "bonus" if r.drafted else "target"


def _rows(last: str, draft: Sequence[str], target: Sequence[str], accepted: int, own: str, sureness: str = "") -> list[Row]:
    """Column i: what is fed, what the target says of the next place, and what that means for the token drafted there."""
    fed, said, verdict = [], [], []
    for i, word in enumerate([last, *draft]):
        stands = 0 < i <= accepted
        origin = "accepted" if stands else "rejected" if i else None
        fed.append(_cell(_shown(word), origin if i <= accepted + 1 else None, dim=i > accepted + 1))
        known = _shown(target[i]) if i < len(target) else UNKNOWN
        small = f'<br><span style="font-size:85%">{escape(sureness)}</span>' if sureness and i == accepted else ""
        said.append(_cell(known + small, "accepted" if i < accepted else own if i == accepted else None, dim=i > accepted))
        agrees = f"= {draft[i]} ✓" if i < accepted else f"≠ {draft[i]} ✗" if i == accepted < len(draft) else ""
        outcome = "accepted" if i < accepted else own if i == accepted else "not used"
        verdict.append(_cell(f"{_shown(agrees)}<br>{outcome}" if agrees else outcome, dim=i > accepted))
    return [("fed to the target", fed), ("its prediction for the next place", said), ("against the draft", verdict)]


def _laws(verdicts: Sequence[Verdict], columns: int) -> list[Row]:
    """What both models thought of the drafted tokens that were tested, each below the place it was drafted for; and the uniforms."""
    tests = {
        "p of the drafted token, its rank": [f"{_bar(v.p, 'target')}{probability(v.p)}, {ordinal(v.rank)}" for v in verdicts],
        "q of the drafted token": ["" if v.q is None else f"{_bar(v.q, 'draft')}{probability(v.q)}" for v in verdicts],
        "u, to be below p / q": ["" if v.uniform is None else _test(v) for v in verdicts],
    }
    untested = [_cell(UNKNOWN, dim=True)] * (columns - len(verdicts))
    return [(name, [*map(_cell, cells), *untested]) for name, cells in tests.items() if any(cells)]


def _bar(share: float, of: str, mark: float | None = None) -> str:
    """A bar from 0 to 1 with a tick at `mark`; the number stands below it."""
    filled = f'<span style="position:absolute;left:0;top:0;bottom:0;width:{min(share, 1) * TRACK:.0f}px;background:{COLOURS[of]}"></span>'
    tick = "" if mark is None else f"left:{mark * TRACK:.0f}px;top:-3px;bottom:-3px;border-left:3px solid currentColor"
    ticked = f'<span style="position:absolute;{tick}"></span>' if tick else ""
    frame = f"display:inline-block;position:relative;width:{TRACK}px;height:9px;border:1px solid #8888"
    return f'<span aria-hidden="true" style="{frame}">{filled}{ticked}</span><br>'


def _test(verdict: Verdict) -> str:
    """The uniform against p / q: below it, the token stands."""
    u = verdict.uniform
    assert u is not None
    if not verdict.q:
        return f"{u:.2f}"
    ratio = verdict.p / verdict.q
    return f"{_bar(ratio, 'accepted' if verdict.accepted else 'rejected', u)}{u:.2f} {'&lt;' if u < ratio else '≥'} {ratio:.2f}"


def _table(rows: Sequence[Row]) -> str:
    body = "".join(f'<tr><th scope="row" style="{NAME}">{name}</th>{"".join(cells)}</tr>' for name, cells in rows)
    return f'<table style="border-collapse:collapse">{body}</table>'


def _cell(html: str, origin: str | None = None, dim: bool = False) -> str:
    colour = f"background:{tint(origin)};border-bottom:3px solid {COLOURS[origin]};" if origin else ""
    return f'<td style="{CELL};{colour}{"opacity:0.7;" if dim else ""}">{html}</td>'


def _mark(text: str, origin: str | None) -> str:
    """A token in a line."""
    colour = f"background:{tint(origin)};" if origin else "opacity:0.7;"
    return f'<code style="{colour}white-space:pre;padding:0 3px">{_shown(text)}</code>'


def _shown(text: str) -> str:
    return escape(text).replace("\n", "⏎") or "&nbsp;"
