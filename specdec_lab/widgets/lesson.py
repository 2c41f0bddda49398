"""The small things every chapter uses: a question with an explanation per choice, and the package's own code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from html import escape
from pathlib import Path

import ipywidgets as widgets
import yaml
from IPython.display import HTML
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from specdec_lab.widgets.palette import COLOURS

QUESTIONS = Path(__file__).parent / "questions"


def self_check(chapter: str, name: str) -> widgets.VBox:
    """An ungraded question from `questions/<chapter>.yaml`, out of the notebook's sight; every choice explains itself."""
    entry = yaml.safe_load((QUESTIONS / f"{chapter}.yaml").read_text(encoding="utf-8"))[name]
    choices = {choice["text"]: choice for choice in entry["choices"]}
    buttons = widgets.RadioButtons(options=list(choices), value=None, layout=widgets.Layout(width="max-content"))
    answer = widgets.HTML()

    def show(change: dict) -> None:
        chosen = choices[change["new"]]
        mark, colour = ("✓ Yes.", COLOURS["accepted"]) if chosen.get("right") else ("✗ Not quite.", COLOURS["rejected"])
        style = f"border-left:4px solid {colour};padding-left:8px;max-width:860px;line-height:1.4"
        answer.value = f'<div role="status" style="{style}"><b>{mark}</b> {escape(chosen["because"])}</div>'

    buttons.observe(show, "value")
    title = widgets.HTML(f'<div style="max-width:860px;line-height:1.4"><b>Check yourself.</b> {escape(entry["question"])}</div>')
    return widgets.VBox([title, buttons, answer])


def reveal(function: Callable) -> HTML:
    """The source of one of the package's own functions, folded until it is opened."""
    code = highlight(inspect.getsource(function), PythonLexer(), HtmlFormatter(noclasses=True, nobackground=True))
    name = f"{function.__module__}.{function.__name__}"
    return HTML(f"<details><summary>The course's own <code>{name}</code></summary>{code}</details>")
