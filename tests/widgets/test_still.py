"""A still shows in an SVG what the figure says, brings plotly's own picture for where scripts run, and asks for nothing in the kernel."""

from __future__ import annotations

import base64
import io
import json
import math
import re
import socket
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs_version

from specdec_lab.errors import UserError
from specdec_lab.widgets.drawing import svg
from specdec_lab.widgets.figures import figure
from specdec_lab.widgets.still import still

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawn: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def styles(drawn: str) -> str:
    return " ".join(node.get("style") or "" for node in ElementTree.fromstring(drawn).iter())


def line_figure(**trace) -> go.Figure:
    out = figure("It rises", "tokens", "milliseconds")
    out.add_scatter(**{"x": [1, 2, 3], "y": [10, 20, 40], "name": "measured", "mode": "lines", **trace})
    return out


def test_title_axes_ticks_and_legend():
    out = line_figure()
    out.add_scatter(x=[1, 3], y=[5, 6], name="bound", mode="lines", line={"color": "#666666", "dash": "dash"})
    drawn = svg(out)
    assert {"It rises", "tokens", "milliseconds", "measured", "bound", "1.5", "40"} <= set(texts(drawn))
    assert "stroke-dasharray" in drawn and "#666666" in styles(drawn)


@pytest.mark.parametrize("dash", ["dot", "dash", "dashdot", "longdash", "longdashdot"])
def test_every_dash_of_plotly_is_one(dash):
    assert "stroke-dasharray" in svg(line_figure(line={"dash": dash}))


def test_what_has_no_points_yet_is_not_in_the_legend():
    out = line_figure()
    for name, x in (("measured later", []), ("bound", [1, 2])):
        out.add_scatter(x=x, y=x, name=name, mode="markers")
    assert {"measured", "bound"} <= set(texts(svg(out))) and "measured later" not in texts(svg(out))


def test_one_trace_needs_no_legend_and_hidden_ones_are_not_drawn():
    assert "measured" not in texts(svg(line_figure()))
    out = line_figure()
    out.add_scatter(x=[1], y=[1000], name="hidden", visible=False)
    out.add_scatter(x=[1], y=[20], name="nameless", showlegend=False)
    out.update_layout(showlegend=True)
    assert "measured" in texts(svg(out)) and not {"hidden", "nameless", "1000"} & set(texts(svg(out)))


def test_logarithmic_axes_have_plain_numbers_and_their_notes_where_plotly_has_them():
    out = line_figure(x=[1, 10, 1000])
    out.update_xaxes(type="log")
    out.add_annotation(x=1, y=20, text="at ten", showarrow=False)
    out.add_scatter(x=[10], y=[20], mode="markers", marker={"symbol": "square", "color": "#123456"}, showlegend=False)
    drawn = svg(out)
    assert {"1", "10", "100", "1000", "at ten"} <= set(texts(drawn))
    note = next(node for node in ElementTree.fromstring(drawn).iter(f"{SVG}text") if "".join(node.itertext()) == "at ten")
    mark = next(node for node in ElementTree.fromstring(drawn).iter(f"{SVG}use") if "#123456" in (node.get("style") or ""))
    assert math.dist(*([float(node.get(axis)) for axis in "xy"] for node in (mark, note))) < 8


def test_markers_error_bars_and_a_colour_for_each():
    bars = {"type": "data", "array": [1, 2, 3], "color": "#abcdef"}
    colours = ["rgba(10,20,30,0.5)", "#00ff00", "#0000ff"]
    drawn = svg(line_figure(mode="markers", error_y=bars, marker={"color": colours, "size": 9, "symbol": ["x", "star", "circle-open"]}))
    assert all(colour in styles(drawn) for colour in ("#abcdef", "#0a141e", "#00ff00", "#0000ff"))
    assert "0.5" in re.findall(r"#0a141e[^}]*?opacity: ([\d.]+)", styles(drawn))


@pytest.mark.parametrize(("mode", "top"), [("group", "3"), ("stack", "5")])
def test_bars_beside_and_above_each_other_with_their_patterns(mode, top):
    out = figure("Bars", "token", "probability")
    out.add_bar(x=["the", "a $ sign"], y=[2, 3], name="p", marker={"color": "#56B4E9"}, text=["two", "three"])
    out.add_bar(x=["the", "a $ sign"], y=[1, 2], name="q", marker={"color": "#CC79A7", "pattern": {"shape": "/"}})
    out.update_layout(barmode=mode)
    drawn = svg(out)
    assert {"the", "a $ sign", "two", "three", "p", "q", top} <= set(texts(drawn))
    assert ("5" in texts(drawn)) == (mode == "stack")
    assert "<pattern" in drawn, "never by colour alone"


def test_lying_bars():
    out = figure("Bars", "seconds", "")
    out.add_bar(y=["target", "draft"], x=[30, 10], orientation="h", base=[0, 30], text=["30 s", "10 s"])
    assert {"target", "draft", "30 s", "10 s", "40"} <= set(texts(svg(out)))


def test_heat_maps_with_their_numbers():
    out = figure("Heat", "p", "c")
    scale = [[0, "#FFFFFF"], [1, "#F0E442"]]
    text = [["k = 1<br>1.10x", "k = 2"], ["<b>bold</b>", None]]
    out.add_heatmap(x=["0.6", "0.9"], y=["0.1", "0.2"], z=[[1.1, 2.2], [3.3, None]], text=text, texttemplate="%{text}", colorscale=scale)
    out.update_xaxes(type="category")
    out.update_yaxes(type="category", autorange="reversed")
    drawn = svg(out)
    assert {"k = 1", "1.10x", "k = 2", "bold", "0.6", "0.9", "0.1"} <= set(texts(drawn))
    assert "#f0e442" in styles(drawn)
    out.data[0].texttemplate = "%{z:.2f}"
    assert {"1.10", "3.30"} <= set(texts(svg(out)))


def test_lines_across_bands_and_their_notes():
    out = line_figure()
    out.add_hline(y=25, line={"color": "#888888", "dash": "dot"}, annotation_text="break-even")
    out.add_vline(x=2, line={"color": "#999999"})
    out.add_vrect(x0=1, x1=2, fillcolor="#fedcba", line_width=0)
    drawn = svg(out)
    assert "break-even" in texts(drawn)
    assert all(colour in styles(drawn) for colour in ("#888888", "#999999", "#fedcba"))


def test_ranges_and_ticks_are_those_of_the_figure():
    out = line_figure()
    out.update_xaxes(tickvals=[1, 3], ticktext=["one", "three"])
    out.update_yaxes(range=[0, 100], tickformat=".1f", ticksuffix=" ms")
    found = set(texts(svg(out)))
    assert {"one", "three", "0.0 ms", "100.0 ms"} <= found and "2" not in found


def test_what_it_cannot_draw_it_names():
    with pytest.raises(UserError, match="not of pie"):
        svg(go.Figure(go.Pie(values=[1])))
    with pytest.raises(UserError, match="no marker 'hexagram'"):
        svg(line_figure(mode="markers", marker={"symbol": "hexagram"}))
    circle = line_figure()
    circle.add_shape(type="circle", x0=0, x1=1, y0=0, y1=1)
    with pytest.raises(UserError, match="no circle"):
        svg(circle)
    second = line_figure()
    second.add_scatter(x=[1], y=[1], yaxis="y2")
    with pytest.raises(UserError, match="one pair of axes"):
        svg(second)


class Page(HTMLParser):
    """Tags that are opened and closed in order, and what a script element contains."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.images, self.script, self.ids = [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        if tag == "img":
            self.images.append(found)
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.script += data if self.open[-1:] == ["script"] else ""

    @property
    def shown(self) -> dict:
        return json.loads(re.search(r"shown = (\{.*\}), url", self.script)[1])


def test_it_is_an_image_with_its_text_and_a_script_beside_it():
    page = Page(still(line_figure(name="</script><b>"), 'cost "now" & <then>'))
    (image,) = page.images
    assert image["alt"] == 'cost "now" & <then>' and "max-width:100%" in image["style"]
    kind, data = image["src"].split(",")
    assert kind == "data:image/svg+xml;base64" and "It rises" in texts(base64.b64decode(data).decode())
    assert page.shown["data"][0]["y"] == [10, 20, 40] and page.shown["data"][0]["name"] == "</script><b>"
    assert f"https://cdn.plot.ly/plotly-{get_plotlyjs_version()}.min.js" in page.script


def test_two_on_a_page_do_not_clash():
    first, second = (Page(still(line_figure(), "a")).ids for _ in "ab")
    assert len(first) == len(second) == 1 and first != second


def test_numbers_are_as_long_as_an_eye_can_see():
    assert Page(still(line_figure(y=[1 / 3, 1e-9 / 7, 123456.789]), "a")).shown["data"][0]["y"] == [0.333333, 1.42857e-10, 123457.0]
    assert len(still(line_figure(x=[i / 7 for i in range(500)], y=[i / 3 for i in range(500)]), "a")) < 60_000


def test_slides_are_frames_with_a_slider_that_begins_where_the_picture_is():
    slides = {str(batch): line_figure(y=[batch, batch, batch]).update_layout(title_text=f"batch {batch}") for batch in (1, 4, 16)}
    shown = Page(still(slides["4"], "a", slides, label="batch")).shown
    assert [frame["name"] for frame in shown["frames"]] == ["1", "4", "16"]
    assert [frame["data"][0]["y"] for frame in shown["frames"]] == [[1] * 3, [4] * 3, [16] * 3]
    assert [frame["layout"]["title"]["text"] for frame in shown["frames"]] == ["batch 1", "batch 4", "batch 16"]
    (slider,) = shown["layout"]["sliders"]
    assert slider["active"] == 1 and slider["currentvalue"]["prefix"] == "batch "
    assert [step["args"][0] for step in slider["steps"]] == [["1"], ["4"], ["16"]]
    before = slides["4"].layout
    assert shown["layout"]["height"] - before.height == shown["layout"]["margin"]["t"] - before.margin.t > 0, "the picture keeps its room"


def test_a_still_of_a_still_figure_changes_nothing(monkeypatch):
    """No network, no figure altered, no setting of matplotlib's left behind."""
    import matplotlib

    monkeypatch.setattr(socket, "socket", lambda *a, **k: pytest.fail("the kernel went to the network"))
    out, settings = line_figure(), dict(matplotlib.rcParams)
    before = out.to_json()
    still(out, "a", {"1": out})
    assert out.to_json() == before and dict(matplotlib.rcParams) == settings


def test_matplotlib_is_fetched_when_it_is_used_and_neither_opens_windows_nor_says_anything():
    code = (
        "import sys, specdec_lab.widgets, plotly.graph_objects as go; print('matplotlib.figure' in sys.modules); "
        "from specdec_lab.widgets.still import still; still(go.Figure(go.Scatter(x=[1, 2], y=[1, 2])), 'a'); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"] and said.stderr == ""


def test_a_fine_heat_map_is_a_bitmap():
    from PIL import Image

    out = figure("Fine", "x", "y")
    out.add_heatmap(z=[[x * y for x in range(40)] for y in range(40)], colorscale=[[0, "#FFFFFF"], [1, "#000000"]])
    drawn = svg(out)
    picture = Image.open(io.BytesIO(base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", drawn)[1])))
    assert picture.width > 100 and len(drawn) < 60_000
