"""The small things every chapter uses: a question with an explanation per choice, and the package's own code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from html import escape

import ipywidgets as widgets
from IPython.display import HTML
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from specdec_lab.widgets.palette import COLOURS


def self_check(question: str, right: str, choices: Mapping[str, str]) -> widgets.VBox:
    """An ungraded question. `choices` maps each choice to the explanation shown when it is picked; `right` is the right one."""
    buttons = widgets.RadioButtons(options=list(choices), value=None, layout=widgets.Layout(width="max-content"))
    answer = widgets.HTML()

    def show(change: dict) -> None:
        good = change["new"] == right
        mark, colour = ("✓ Yes.", COLOURS["accepted"]) if good else ("✗ Not quite.", COLOURS["rejected"])
        style = f"border-left:4px solid {colour};padding-left:8px;max-width:860px"
        answer.value = f'<div role="status" style="{style}"><b>{mark}</b> {escape(choices[change["new"]])}</div>'

    buttons.observe(show, "value")
    title = widgets.HTML(f'<div style="max-width:860px"><b>Check yourself.</b> {escape(question)}</div>')
    return widgets.VBox([title, buttons, answer])


def reveal(function: Callable) -> HTML:
    """The source of one of the package's own functions, folded until it is opened."""
    code = highlight(inspect.getsource(function), PythonLexer(), HtmlFormatter(noclasses=True, nobackground=True))
    name = f"{function.__module__}.{function.__name__}"
    return HTML(f"<details><summary>The package's own <code>{name}</code>, the function that runs</summary>{code}</details>")
