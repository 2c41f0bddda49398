"""The layer under the widgets: pictures that change, controls that answer, errors that show, measurements that give way."""

from __future__ import annotations

import asyncio
import re
import sys
import types

import ipywidgets as widgets
import pytest

from specdec_lab.errors import UserError
from specdec_lab.widgets import live
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.live import Explorer, Picture, button, choice, lively, slider, switch


def curve(value: float, level: float | None = None, label: str = ""):
    out = figure(f"it is {value}", "x", "y")
    out.add_scatter(x=[1, 2], y=[value, 2 * value])
    if level is not None:
        out.add_hline(y=level)
    if label:
        out.add_annotation(x=1, y=value, text=label)
    return out


@pytest.fixture
def lab(monkeypatch):
    """As in JupyterLab. Plotly 5 has a widget that asks for an extension: there a figure does for it, which is changed in the same way."""
    if not lively():
        monkeypatch.setattr(live, "lively", lambda: True)
        monkeypatch.setattr(live.go, "FigureWidget", live.go.Figure)


@pytest.fixture
def colab(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    shown = []

    class Handle:
        def __init__(self, what) -> None:
            self.seen = [what]

        def update(self, what) -> None:
            self.seen.append(what)

    def display(what, display_id=None):
        shown.append(Handle(what) if display_id else what)
        return shown[-1]

    monkeypatch.setattr(live, "display", display)
    return shown


def said(explorer: Explorer) -> str:
    return re.sub(r"<[^>]+>", "", explorer.status.value)


def test_a_picture_takes_what_changed_and_lets_go_of_what_is_gone(lab):
    picture = Picture(curve(1, level=3, label="here"), "a curve")
    for value, level, label in ((2, None, ""), (3, 5, "there"), (4, 6, "")):
        picture.show(curve(value, level, label))
        now = picture.widget
        assert list(now.data[0].y) == [value, 2 * value] and now.layout.title.text == f"it is {value}"
        assert [shape.y0 for shape in now.layout.shapes] == ([] if level is None else [level])
        assert [note.text for note in now.layout.annotations] == ([label] if label else [])


def test_a_picture_refuses_another_number_of_traces():
    with pytest.raises(ValueError, match="1 traces was given 0"):
        Picture(curve(1), "a curve").show(figure("t", "x", "y"))


def test_a_control_draws_at_once_and_whenever_it_moves():
    seen, explorer = [], Explorer("e")
    k, name, on = slider("k", 5, 0, 20), choice("name", ["a", "b"], "a"), switch("on")
    explorer.react(lambda: seen.append((k.value, name.value, on.value)), k, name, on)
    k.value, name.value, on.value = 6, "b", True
    assert seen == [(5, "a", False), (6, "a", False), (6, "b", False), (6, "b", True)]


def test_sliders_of_whole_numbers_and_of_others():
    assert isinstance(slider("k", 1, 0, 9), widgets.IntSlider) and isinstance(slider("p", 0.5, 0.0, 1.0, 0.1), widgets.FloatSlider)
    assert isinstance(slider("c", 0, 0, 1, 0.1), widgets.FloatSlider)


def test_a_failed_callback_shows_its_error_until_the_next_success():
    explorer, k = Explorer("e"), slider("k", 5, 0, 20)

    def draw():
        if k.value == 6:
            raise UserError("Six is not allowed; take seven.")
        return 1 / (k.value - 7)

    explorer.react(draw, k)
    k.value = 6
    assert said(explorer) == "✗ Six is not allowed; take seven." and "alert" in explorer.status.value
    k.value = 7
    assert said(explorer).startswith("✗ ZeroDivisionError: division by zero. Run the cell again")
    k.value = 8
    assert said(explorer) == ""


def test_a_first_drawing_that_fails_is_the_cells_own_error():
    with pytest.raises(ZeroDivisionError):
        Explorer("e").react(lambda: 1 / 0, slider("k", 5, 0, 20))


def test_a_button_that_fails_shows_it_and_its_text_cannot_be_markup():
    explorer, pressed = Explorer("e"), button("go", "does it")
    explorer.press(pressed, lambda: {}["<b>"])
    pressed.click()
    assert "<b>" not in explorer.status.value and "KeyError" in said(explorer)


def walk(steps, explorer, log):
    def counted():
        for i in range(steps):
            log.append(i)
            yield f"{i + 1} of {steps}"

    return explorer.measure("Measure", counted, done="Done.").children[0].children


def test_the_status_stands_once_below_the_buttons_or_else_at_the_end(lab, monkeypatch):
    monkeypatch.setattr(live, "display", lambda what, raw: None)
    for explorer in (Explorer("one"), Explorer("other")):
        parts = [slider("k", 5, 0, 20)] + ([explorer.measure("Measure", lambda: iter(()))] if explorer.name == "other" else [])
        explorer.of(*parts, still="")._ipython_display_()
        inside = [*explorer.box.children, *(inner for part in explorer.box.children for inner in getattr(part, "children", ()))]
        assert inside.count(explorer.status) == 1


def test_a_measurement_without_a_kernel_runs_to_its_end():
    explorer, log = Explorer("e"), []
    start, _ = walk(3, explorer, log)
    start.click()
    assert log == [0, 1, 2] and said(explorer) == "Done." and Explorer._measuring is None


def in_a_loop(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def test_a_measurement_gives_way_between_its_steps_and_is_cancelled_at_once(lab):
    explorer, log = Explorer("e"), []
    start, stop = walk(1000, explorer, log)

    async def learner():
        start.click()
        for _ in range(5):
            await asyncio.sleep(0)
        stop.click()
        seen = len(log)
        for _ in range(5):
            await asyncio.sleep(0)
        return seen

    seen = in_a_loop(learner())
    assert 3 <= seen <= 6 and len(log) <= seen + 1
    assert said(explorer) == f"Cancelled. So far: {len(log)} of 1000" and Explorer._measuring is None


def test_a_second_measurement_does_not_start_over_the_first(lab):
    one, other, log, more = Explorer("one"), Explorer("other"), [], []
    start, _ = walk(50, one, log)
    start_other, stop_other = walk(50, other, more)

    async def learner():
        start.click()
        await asyncio.sleep(0)
        assert start.disabled  # a click that comes all the same finds it running
        for again in (start, start_other):
            again.click()
        await asyncio.sleep(0)
        assert "running already" in said(other) and more == [] and log == list(range(len(log)))
        stop_other.click()  # the first may be in a cell that was run again, and its own button gone
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert said(one).startswith("Cancelled.")
        start_other.click()
        while Explorer._measuring:
            await asyncio.sleep(0)

    in_a_loop(learner())
    assert more == list(range(50)) and not start.disabled


def test_a_measurement_that_fails_says_so_and_frees_the_place(lab):
    explorer = Explorer("e")

    def steps():
        yield "1 of 2"
        raise UserError("The machine caught fire; pour water.")

    start, _ = explorer.measure("Measure", steps).children[0].children

    async def learner():
        start.click()
        while Explorer._measuring:
            await asyncio.sleep(0)

    in_a_loop(learner())
    assert said(explorer) == "✗ The machine caught fire; pour water."


def test_on_colab_an_interrupt_cancels(colab):
    explorer = Explorer("e")

    def steps():
        yield "1 of 2"
        raise KeyboardInterrupt

    start, _ = explorer.measure("Measure", steps).children[0].children

    async def kernel():  # there is a loop on Colab too, but what a task sends does not show
        start.click()
        assert "Cancelled" in said(explorer)

    in_a_loop(kernel())
    assert Explorer._measuring is None


def test_on_colab_pictures_are_outputs_that_are_replaced(colab):
    explorer, k = Explorer("e"), slider("k", 5, 0, 20)
    picture = Picture(curve(5), "a <curve>")
    explorer.react(lambda: picture.show(curve(k.value)), k)
    explorer.of(k, picture, still="<p>still</p>")._ipython_display_()
    assert colab[0] is k and colab[2] is explorer.status
    k.value = 6
    first, second = (html.data for html in colab[1].seen)
    assert "it is 5" in first and "it is 6" in second and "cdn.plot.ly" in second and "a &lt;curve&gt;" in second


def test_in_jupyterlab_the_widget_goes_with_what_is_left_without_a_kernel(lab, monkeypatch):
    shown = []
    monkeypatch.setattr(live, "display", lambda what, raw: shown.append(what))
    monkeypatch.setattr(live.go, "FigureWidget", lambda figure: widgets.HTML(figure.layout.title.text))
    explorer = Explorer("an explorer").of(slider("k", 5, 0, 20), Picture(curve(5), "a curve"), still="<p>still</p>")
    explorer._ipython_display_()
    (mimes,) = shown
    assert mimes["text/plain"] == "an explorer" and mimes["text/html"] == "<p>still</p>"
    assert mimes["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.box.model_id
    names = explorer.box.children[-1]
    assert (names.name, names.pictures) == ("an explorer", ["a curve"])
