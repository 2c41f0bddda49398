"""The one layer between the course's widgets and what shows them.

In JupyterLab a picture is a FigureWidget, changed in place, and a measurement takes its steps between the kernel's
messages, so that sliders and Cancel answer while it runs. On Colab neither shows (colab-cdn-widget-manager#51,
colabtools#3373): there a picture is an output that is replaced, and a measurement runs to its end before anything else.
No threads: they would share the processor with what is being timed. Readers without a kernel get `still`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import plotly
import plotly.graph_objects as go
import traitlets
from IPython.display import HTML, display

from specdec_lab.errors import UserError
from specdec_lab.widgets.palette import COLOURS

WIDE, LABEL = "560px", "230px"
AXES = ("title", "xaxis", "yaxis", "xaxis2", "yaxis2")  # with shapes and annotations, what a picture may change besides its traces


def lively() -> bool:
    """Whether the frontend shows a FigureWidget and what the kernel sends of its own accord."""
    return "google.colab" not in sys.modules and int(plotly.__version__.split(".")[0]) >= 6


class Picture:
    """A plotly figure to be drawn again and again; each figure has the same traces as the first, with other values.

    alt: what a screen reader says it is; the figure's title, which states the finding, is read after it.
    """

    def __init__(self, figure: go.Figure, alt: str) -> None:
        self.figure, self.alt = figure, alt
        self.widget = go.FigureWidget(figure) if lively() else None
        self._handle: Any = None

    def show(self, figure: go.Figure) -> None:
        """Put `figure` in the place of the last one."""
        if len(figure.data) != len(self.figure.data):
            raise ValueError(f"a picture of {len(self.figure.data)} traces was given {len(figure.data)}")
        before, self.figure = self.figure, figure
        if self.widget is not None:
            with self.widget.batch_update():
                for trace, old, new in zip(self.widget.data, before.data, figure.data, strict=True):
                    trace.update(_changed(old.to_plotly_json(), new.to_plotly_json()))
                layout = _changed(before.layout.to_plotly_json(), figure.layout.to_plotly_json())
                self.widget.layout.update({name: layout[name] for name in AXES if name in layout})
                for name in ("shapes", "annotations"):
                    if name in layout:
                        self.widget.layout[name] = layout[name]
        elif self._handle is not None:
            self._handle.update(self._html())

    def place(self) -> None:
        """Where it is no widget: make the output that `show` replaces."""
        self._handle = display(self._html(), display_id=True)

    def _html(self) -> HTML:
        picture = self.figure.to_html(full_html=False, include_plotlyjs="cdn")
        return HTML(f'<div role="figure" aria-label="{escape(self.alt)}">{picture}</div>')


def _changed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What is to be set: plotly checks each value anew, which takes longer than all the rest."""
    gone: dict[str, Any] = {name: [] for name in ("shapes", "annotations") if name in old and name not in new}
    return {name: value for name, value in new.items() if name not in old or old[name] != value} | gone


class Names(anywidget.AnyWidget):
    """Invisible; gives the sliders, play buttons and pictures beside it the names that ipywidgets leaves out of the page."""

    _esm = Path(__file__).parent / "names.js"
    name = traitlets.Unicode().tag(sync=True)
    pictures = traitlets.List(traitlets.Unicode()).tag(sync=True)


class Explorer:
    """Controls, pictures and a line for progress and errors, which shows itself as the value of a cell.

    name: what a screen reader calls the whole.
    """

    _measuring: Explorer | None = None  # two measurements at a time would time each other

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: tuple[widgets.Widget | Picture, ...] = ()
        self.status = widgets.HTML()
        self._below: tuple[widgets.HTML, ...] = (self.status,)  # the parts
        self._cancelled = False
        self._wrong = False

    def react(self, draw: Callable[[], object], *controls: widgets.Widget) -> None:
        """Call `draw` now and whenever the value of a control changes."""
        draw()
        for control in controls:
            control.observe(lambda _: self._guarded(draw), "value")

    def press(self, pressed: widgets.Button, do: Callable[[], object]) -> None:
        """Call `do` when the button is pressed."""
        pressed.on_click(lambda _: self._guarded(do))

    def measure(self, text: str, steps: Callable[[], Iterator[str]], done: str = "Measured.") -> widgets.VBox:
        """Two buttons, to start and to cancel `steps`: a generator that measures a little, draws it and yields its progress in words.
        Below them goes the status line.

        Only one measurement runs at a time, whichever explorer began it; any explorer's Cancel stops it.
        """
        start = button(text, "measures on this machine, now")
        stop = button("Cancel", "stops the measurement; what it found stays")
        self.press(start, lambda: self._start(start, steps, done))
        self.press(stop, self._stop)
        self._below = ()
        return widgets.VBox([widgets.HBox([start, stop]), self.status])

    def of(self, *parts: widgets.Widget | Picture, still: str) -> Explorer:
        """Show these, top to bottom. still: HTML for a reader without a kernel."""
        self.parts, self._still = parts, still
        return self

    def say(self, text: str) -> None:
        """Put `text` into the status line."""
        self._wrong = False
        self.status.value = f'<div role="status" style="max-width:860px">{escape(text)}</div>'

    def _ipython_display_(self) -> None:
        if not lively():
            for part in (*self.parts, *self._below):
                part.place() if isinstance(part, Picture) else display(part)
            return
        pictures = [part.alt for part in self.parts if isinstance(part, Picture)]
        shown = [part.widget if isinstance(part, Picture) else part for part in self.parts]
        self.box = widgets.VBox([*shown, *self._below, Names(name=self.name, pictures=pictures)])
        self.box.add_class("specdec-explorer")
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        mimes = {"text/plain": self.name, "text/html": self._still, "application/vnd.jupyter.widget-view+json": view}
        display(mimes, raw=True)

    def _guarded(self, do: Callable[[], object]) -> None:
        before, self._wrong = self._wrong, False
        try:
            do()  # may set off another guarded call, whose error is to stay
            if before and not self._wrong:
                self.say("")
        except Exception as error:
            self._show(error)

    def _show(self, error: Exception) -> None:
        text = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}. Run the cell again to begin afresh."
        style = f"border-left:4px solid {COLOURS['rejected']};padding-left:8px;max-width:860px"
        self.status.value, self._wrong = f'<div role="alert" style="{style}">✗ {escape(text)}</div>', True

    def _start(self, start: widgets.Button, steps: Callable[[], Iterator[str]], done: str) -> None:
        if Explorer._measuring is not None:
            raise UserError("A measurement is running already: wait for its end, or press Cancel and measure again.")
        Explorer._measuring, self._cancelled = self, False
        walk = self._walk(start, steps, done)
        try:
            loop = asyncio.get_running_loop() if lively() else None
        except RuntimeError:
            loop = None
        if loop is None:
            for _ in walk:
                pass
        else:
            self._task = loop.create_task(_between_messages(walk))  # kept, or it may be collected while it runs

    def _walk(self, start: widgets.Button, steps: Callable[[], Iterator[str]], done: str) -> Iterator[None]:
        """`steps`, with their progress shown, until they end, fail or are cancelled."""
        start.disabled = True
        try:
            for progress in steps():
                self.say(progress)
                yield
                if self._cancelled:
                    self.say(f"Cancelled. So far: {progress}")
                    return
            self.say(done)
        except KeyboardInterrupt:
            self.say("Cancelled; what was measured stays.")
        except Exception as error:
            self._show(error)
        finally:
            Explorer._measuring, start.disabled = None, False

    def _stop(self) -> None:
        if Explorer._measuring is None:
            self.say("No measurement is running.")
        else:
            Explorer._measuring._cancelled = True


async def _between_messages(walk: Iterator[None]) -> None:
    for _ in walk:
        await asyncio.sleep(0)


def slider(label: str, value: float, low: float, high: float, step: float = 1) -> widgets.IntSlider | widgets.FloatSlider:
    """A slider with its label beside it; whole numbers make it one of whole numbers."""
    style = {"description_width": LABEL}
    if all(isinstance(number, int) for number in (value, low, high, step)):
        return widgets.IntSlider(value=value, min=low, max=high, step=step, description=label, layout={"width": WIDE}, style=style)
    digits = ".3f" if step < 0.01 else ".2f"
    return widgets.FloatSlider(
        value=value, min=low, max=high, step=step, description=label, readout_format=digits, layout={"width": WIDE}, style=style
    )


def choice(label: str, options: Any, value: Any) -> widgets.Dropdown:
    """A list to choose from; options as ipywidgets takes them."""
    return widgets.Dropdown(options=options, value=value, description=label, layout={"width": WIDE}, style={"description_width": LABEL})


def switch(label: str, value: bool = False) -> widgets.Checkbox:
    """On or off."""
    return widgets.Checkbox(value=value, description=label, indent=False, layout={"width": WIDE})


def button(text: str, tooltip: str) -> widgets.Button:
    """As wide as its text."""
    return widgets.Button(description=text, tooltip=tooltip, layout={"width": "max-content"})
