"""The statistics of a knowledge check as one HTML file that needs nothing else: plots and a table, no student's name."""

from __future__ import annotations

import html
import statistics
from pathlib import Path

import plotly.graph_objects as go

from specdec_lab.instructor.item_analysis import Question, questions
from specdec_lab.instructor.marks import Mark

_EARNED, _LOST, _LINE = "#009E73", "#D55E00", "#666666"  # Okabe and Ito's; as in the chapters: green stands, red falls
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ccc }
td.number, th.number { text-align: right } code { overflow-wrap: anywhere } caption { text-align: left; font-weight: 600; padding: .5rem 0 }
"""


def page(marks: list[Mark], title: str) -> str:
    """Self-contained: plotly's code is in it. What students wrote is shown as text, whatever it is."""
    found = questions(marks)
    scores = [mark.points for mark in marks if mark.handed_in]
    worth = max((mark.worth for mark in marks), default=0.0)
    parts = [f"<h1>{html.escape(title)}</h1>", f"<p>{_in_words(marks, scores, worth)}</p>"]
    if found:
        parts += [_html(_histogram(scores, worth), first=True), _html(_bars(found)), _html(_map(found)), _table(found), _EXPLAINED]
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def write_page(path: Path, marks: list[Mark], title: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(marks, title), encoding="utf-8")


_EXPLAINED = """<p><b>Earned</b> is the share of a question's points that the class has. <b>Separates</b> is how far those who do well in
all other questions do well in this one, from -1 to 1; 0.3 and more is good, below 0.2 a question tells little, below 0 it misleads.</p>"""


def _in_words(marks: list[Mark], scores: list[float], worth: float) -> str:
    if not scores:
        return "Nobody has handed in yet."
    late = sum(mark.penalty > 0 for mark in marks)
    said = f"{len(scores)} of {len(marks)} have handed in. Mean {statistics.fmean(scores):.1f}, median {statistics.median(scores):g}"
    said += f" of {worth:g} points; best {max(scores):g}, lowest {min(scores):g}."
    said += f" {late} lost points for being late." if late else ""
    return said + (" So few say little about a question." if len(scores) < 20 else "")


def _figure(title: str, x: str, y: str, height: int = 360) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        template="plotly_white",
        title=title,
        xaxis_title=x,
        yaxis_title=y,
        height=height,
        font_size=14,
        margin={"l": 70, "r": 20, "t": 60, "b": 60},
    )
    return figure


def _histogram(scores: list[float], worth: float) -> go.Figure:
    middle = statistics.median(scores)
    figure = _figure(f"Half of the class has {middle:g} points or more", "points", "students")
    counts = [sum(point <= score < point + 1 for score in scores) for point in range(int(worth) + 1)]
    figure.add_bar(
        x=list(range(int(worth) + 1)), y=counts, marker_color=_EARNED, name="students", hovertemplate="%{x} points: %{y}<extra></extra>"
    )
    figure.add_vline(x=middle, line_dash="dash", line_color=_LINE, annotation_text="median")
    return figure


def _label(check: str) -> str:
    return html.escape(check.removesuffix("-check"))


def _bars(found: list[Question]) -> go.Figure:
    hardest = min(found, key=lambda each: each.difficulty)
    figure = _figure(
        f"{_label(hardest.check)} was the hardest question: {hardest.difficulty:.0%} earned", "question", "share of the points"
    )
    names = [_label(each.check) for each in found]
    figure.add_bar(x=names, y=[each.difficulty for each in found], name="earned", marker_color=_EARNED)
    lost = {"color": _LOST, "pattern": {"shape": "/"}}
    figure.add_bar(x=names, y=[1 - each.difficulty for each in found], name="lost", marker=lost)
    figure.update_layout(barmode="stack", yaxis_tickformat=".0%")
    return figure


def _map(found: list[Question]) -> go.Figure:
    shown = [each for each in found if each.discrimination is not None]
    poor = [_label(each.check) for each in shown if (each.discrimination or 0.0) < 0.2]
    title = f"Look at {', '.join(poor)}: below the line" if poor else "Every question separates those who know from those who do not"
    figure = _figure(title, "earned, share of the points", "separates", 420)
    x, y = [each.difficulty for each in shown], [each.discrimination for each in shown]
    names = [_label(each.check) for each in shown]
    figure.add_scatter(
        x=x, y=y, text=names, mode="markers+text", textposition="top center", marker={"color": "black", "size": 9}, name="questions"
    )
    figure.add_hline(y=0.2, line_dash="dash", line_color=_LINE, annotation_text="0.2")
    figure.update_layout(
        xaxis_range=[-0.05, 1.05], xaxis_tickformat=".0%", yaxis_range=[min([-0.1, *(value or 0.0 for value in y)]) - 0.1, 1.1]
    )
    return figure


def _html(figure: go.Figure, first: bool = False) -> str:
    config = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["sendChartToCloud"]}
    return figure.to_html(full_html=False, include_plotlyjs=first, config=config)


def _table(found: list[Question]) -> str:
    head = "".join(
        f'<th scope="col"{_NUMBER * number}>{text}</th>'
        for text, number in [("question", 0), ("points", 1), ("earned", 1), ("separates", 1), ("most chosen instead", 0), ("what to do", 0)]
    )
    return f"<table><caption>The questions</caption><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, found))}</tbody></table>"


_NUMBER = ' class="number"'


def _row(each: Question) -> str:
    separates = "–" if each.discrimination is None else f"{each.discrimination:.2f}"
    chosen = "<br>".join(f"<code>{html.escape(answer)}</code> ({count} of {each.wrong})" for answer, count in each.chosen)
    blank = f"no answer ({each.blank} of {each.wrong})" if each.blank else ""
    numbers = "".join(f"<td{_NUMBER}>{text}</td>" for text in (f"{each.worth:g}", f"{each.difficulty:.0%}", separates))
    instead = "<br>".join(part for part in (chosen, blank) if part)
    return f'<tr><th scope="row">{_label(each.check)}</th>{numbers}<td>{instead}</td><td>{html.escape(each.verdict)}</td></tr>'
