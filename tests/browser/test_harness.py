"""The harness can fail: what it is to report is reported."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError

from tests.browser.chromium import executable
from tests.browser.lab import Lab
from tests.browser.server import Server

WIDGETS = """
from specdec_lab.widgets.live import *
import plotly.graph_objects as go
k, p, name, on = slider("drafted, k", 3, 1, 9), slider("alpha, p", 0.5, 0.0, 1.0, 0.01), choice("preset", ["a", "b"], "a"), switch("bug on")
b, boom = button("Count", "counts"), button("Fail", "fails")
picture, said, ex = Picture(go.Figure(go.Scatter(x=[1, 2], y=[1, 1])), "a line"), widgets.HTML(), Explorer("a scratch explorer")
count = []
def draw():
    picture.show(go.Figure(go.Scatter(x=[1, 2], y=[k.value, p.value])))
    said.value = f"k {k.value} p {p.value:.2f} {name.value} {on.value} {len(count)}"
ex.react(draw, k, p, name, on)
ex.press(b, lambda: (count.append(1), draw()))
ex.press(boom, lambda: 1 / 0)
ex.of(k, p, name, on, b, boom, said, picture, still="nothing")
"""


def test_controls(lab: Lab):
    sheet = lab.notebook("import sys; sys.path.insert(0, '..')", WIDGETS)
    assert sheet.errors() == []
    assert "k 3 p 0.50 a False 0" in sheet.text(1)
    sheet.set_slider("drafted, k", 7)
    sheet.set_slider("alpha, p", 0.8)
    sheet.choose("preset", "b")
    sheet.switch("bug on")
    sheet.press("Count")
    assert "k 7 p 0.80 b True 1" in sheet.text(1)
    assert sheet.plot(1)["data"][0]["y"] == [7, 0.8]
    sheet.press("Fail")
    assert "ZeroDivisionError" in sheet.text(1)
    sheet.shot("harness", 1)
    assert sheet.axe(1) == []


def test_what_goes_wrong_in_a_cell_is_reported(lab: Lab):
    sheet = lab.notebook("import sys; print('hm', file=sys.stderr)", "print('seen')", "1 / 0", "'never'")
    assert sheet.errors() == ["code cell 0 on stderr: hm", "code cell 2: ZeroDivisionError: division by zero"]
    assert sheet.not_run() == [3]
    assert sheet.printed() == "seen\n"


def test_a_cell_that_hangs_is_named(lab: Lab):
    with pytest.raises(TimeoutError, match=r"not run: \[1\]"):
        lab.notebook("1", "import time; time.sleep(60)", timeout_s=3)


def test_what_cannot_be_seen_or_used_is_reported(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.browser.lab.DRAWN_S", 1)
    gone = "display({'application/vnd.jupyter.widget-view+json': {'model_id': 'gone'}}, raw=True)"
    cells = [
        "w.HTML('x', layout={'display': 'none'})",
        gone,
        "print()",
        "w.Button()",
        "w.IntSlider(description='k')",
        "w.Valid(description='k')",
    ]
    sheet = lab.notebook("import ipywidgets as w", *cells)
    assert sheet.errors() == []
    assert [one.split(":")[0] for one in sheet.unseen(1)] == ["it has no extent"]
    assert "it says 'Error displaying widget'" in sheet.unseen(2)
    assert sheet.unseen(3) == ["it shows neither widget nor picture"]
    assert [one.split()[0] for i in (4, 5) for one in sheet.axe(i)] == ["button-name", "aria-input-field-name"]
    assert sheet.unseen(4) == sheet.unseen(6) == sheet.axe(6) == []


TWO = """
import ipywidgets as w
c, said = w.FloatSlider(description="c", min=-0.1, max=0.1, value=0.1, step=0.005), w.HTML()
c.observe(lambda change: setattr(said, "value", f"the kernel has {change['new']:.3f}"), "value")
w.VBox([c, said, w.IntSlider(description="k", max=4, step=2)])
"""


def test_a_slider_goes_where_it_is_told_or_says_so(lab: Lab):
    sheet = lab.notebook(TWO)
    sheet.set_slider("c", -0.045)
    assert "the kernel has -0.045" in sheet.text(0)
    with pytest.raises(AssertionError, match="does not come to 3"):
        sheet.set_slider("k", 3)


def test_nothing_but_this_machine_answers(lab: Lab):
    sheet = lab.notebook("1")
    for address in ("https://example.org/", "http://192.0.2.1/"):
        with pytest.raises(PlaywrightError, match="Failed to fetch"):
            sheet.page.evaluate("address => fetch(address)", address)
    script = "fetch('https://cdn.plot.ly/plotly-3.0.0.min.js').then(answer => answer.text())"
    assert "plotly.js v" in sheet.page.evaluate(script)[:200]


def test_no_process_outlives_its_sheet_or_its_server(lab: Lab, browser: Browser, tmp_path: Path):
    kernel = lab.server.kernel(lab.notebook("1").path)
    lab.sheets[0].close()
    psutil.wait_procs([kernel], timeout=10)
    assert not kernel.is_running()
    server = Server(tmp_path)
    server.wait()
    Lab(server, browser).notebook("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)")
    family = [psutil.Process(server.process.pid), *psutil.Process(server.process.pid).children(recursive=True)]
    assert len(family) >= 3
    server.stop()
    assert not [one for one in family if one.is_running()]


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_without_a_browser(ci: str, outcome: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(outcome, match="apt-get install chromium"):
        executable(SimpleNamespace(chromium=SimpleNamespace(executable_path=str(tmp_path / "chrome"))))  # type: ignore[arg-type]
