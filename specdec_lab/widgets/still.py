"""Pictures for pages without a kernel: drawn to SVG here, and replaced by plotly's own where scripts run and its CDN answers."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any
from uuid import uuid4

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs_version

from specdec_lab.widgets.drawing import svg

SLIDER, ABOVE, BELOW = 110, 25, 35  # pixels for it between title and picture; above the title; between it and the picture
DRAWN_ANEW = ("title", "shapes", "annotations")  # of a slide's layout; the axes stay, so that slides can be compared
# Not a script element: pages with require.js would take plotly for a module that nobody asked for.
SCRIPT = """(() => {
  const box = document.getElementById("%(id)s"), shown = %(shown)s, url = "https://cdn.plot.ly/plotly-%(version)s.min.js";
  const loaded = window.specdecPlotly ??= window.Plotly ? Promise.resolve() : fetch(url).then(
    answer => answer.ok ? answer.text() : Promise.reject(answer.status)
  ).then(code => { new Function("define", "module", "exports", code)(); });
  loaded.then(() => {
    const place = document.createElement("div");
    box.append(place);
    return Plotly.newPlot(place, shown).then(() => box.querySelector("img").remove(), error => { place.remove(); throw error; });
  }).catch(error => console.warn("The picture stays as it is:", error));
})()"""


def still(figure: go.Figure, alt: str, slides: Mapping[str, go.Figure] | None = None, label: str = "") -> str:
    """HTML of a figure as an image, which a script replaces by the figure itself where it can load plotly.

    alt: the text alternative. slides: figures of the same traces by the value that each is for; then the replaced figure has a
    slider named `label` that steps through them. Raises UserError for what `drawing.svg` cannot draw.
    """
    name = f"still-{uuid4().hex}"  # the outputs of several kernels may meet on a page
    image = b64encode(svg(figure).encode()).decode()
    shown = _plain(figure)
    if slides:
        _add_slides(shown, {value: _plain(slide) for value, slide in slides.items()}, label)
    # No tag can begin or end within the script.
    text = json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c")
    script = SCRIPT % {"id": name, "shown": text, "version": get_plotlyjs_version()}
    return (
        f'<div id="{name}" role="group" aria-label="{escape(alt)}" style="overflow-x:auto">'
        f'<img src="data:image/svg+xml;base64,{image}" alt="{escape(alt)}" style="width:{figure.layout.width or 700}px;max-width:100%">'
        f"</div><script>{script}</script>"
    )


def _plain(figure: go.Figure) -> dict[str, Any]:
    """Data and layout as JSON has them, six digits a number: no eye sees a seventh."""
    return json.loads(figure.to_json(), parse_float=lambda digits: float(f"{float(digits):.6g}"))


def _add_slides(shown: dict[str, Any], slides: Mapping[str, dict[str, Any]], label: str) -> None:
    """Give the figure a frame for each slide, and a slider between its title and its picture."""
    layout = shown["layout"]
    shown["frames"] = [
        {"name": value, "data": slide["data"], "layout": {part: slide["layout"][part] for part in DRAWN_ANEW if part in slide["layout"]}}
        for value, slide in slides.items()
    ]
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    layout["sliders"] = [
        {
            "active": next((i for i, slide in enumerate(slides.values()) if slide["data"] == shown["data"]), 0),
            "currentvalue": {"prefix": f"{label} ", "xanchor": "left"},
            "steps": [{"label": value, "method": "animate", "args": [[value], at_once]} for value in slides],
            "y": 1,
            "yanchor": "bottom",
            "pad": {"b": BELOW},
        }
    ]
    layout["height"] = layout.get("height", 450) + SLIDER
    for one in (shown, *shown["frames"]):  # in the middle of so high a margin a title would meet the slider
        one["layout"].get("title", {}).update({"y": 1 - ABOVE / layout["height"], "yanchor": "top"})
    layout["margin"] = {**layout.get("margin", {}), "t": layout.get("margin", {}).get("t", 100) + SLIDER}
