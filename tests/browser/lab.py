"""A notebook in JupyterLab in Chromium, as a learner has it before them: `lab.notebook(...)` gives a `Sheet`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import axe_playwright_python
import nbformat
from playwright.sync_api import Browser, Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.chromium import context
from tests.browser.server import Server

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
SHOTS = Path(__file__).parent / "shots"
GRAVE = ("serious", "critical")
OPEN_S = 60
ANSWER_S = 60
DRAWN_S = 20
BROKEN = ("Error displaying widget", "Error creating widget", "Loading widget")
SCRIPT = """
window.specdec = {
  panel: () => window.jupyterapp.shell.currentWidget,
  json: () => specdec.panel().context.model.toJSON(),
  begin(command) {
    specdec.done = null;
    window.jupyterapp.commands.execute(command).then(() => { specdec.done = "ran"; }, error => { specdec.done = String(error); });
  },
  async answered(times) {  // what was sent before has been handled, and what came of it drawn
    for (let i = 0; i < times; i++) await specdec.panel().sessionContext.session.kernel.requestKernelInfo();
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  },
  plain: value => JSON.parse(JSON.stringify(value, (_, inner) => ArrayBuffer.isView(inner) ? Array.from(inner) : inner)),
};
"""
READY = """() => { const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.isReady && panel.sessionContext?.isReady && panel.sessionContext.session?.kernel?.status === "idle"; }"""


class Lab:
    """JupyterLab, and one Chromium profile that looks at it."""

    def __init__(self, server: Server, browser: Browser) -> None:
        self.server, self.context, self.sheets = server, context(browser), list[Sheet]()
        self.context.add_init_script(SCRIPT)

    def notebook(self, *cells: str, name: str = "scratch", timeout_s: float = 60) -> Sheet:
        """Write a notebook of these code cells among the chapters, open it, run all of it, and wait for its end."""
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
        nbformat.write(made, self.server.files / "notebooks" / f"{name}.ipynb")
        sheet = self.open(f"{name}.ipynb")
        sheet.run_all(timeout_s)
        return sheet

    def open(self, name: str) -> Sheet:
        """Open a notebook of the chapters' folder; nothing runs yet."""
        sheet = Sheet(self, f"notebooks/{name}")
        self.sheets.append(sheet)
        sheet.page.goto(self.server.url(f"lab/tree/{sheet.path}?token={self.server.token}&reset"), timeout=OPEN_S * 1000)
        sheet.page.wait_for_function(READY, timeout=OPEN_S * 1000)
        return sheet

    def closing(self) -> Iterator[None]:
        """For fixtures: close, at the end, the sheets that were opened since the beginning."""
        before = list(self.sheets)
        yield
        for sheet in [sheet for sheet in self.sheets if sheet not in before]:
            sheet.close()


class Sheet:
    """An open notebook. Cells are counted among the code cells, from 0. Every action returns when the kernel has dealt with it."""

    def __init__(self, lab: Lab, path: str) -> None:
        self.lab, self.path = lab, path
        self.page: Page = lab.context.new_page()
        self.page.set_default_timeout(15_000)

    def close(self) -> None:
        """Close the page and shut the kernel down."""
        self.page.close()
        self.lab.server.forget(self.path)
        self.lab.sheets.remove(self)

    # --- the notebook ---

    def run_all(self, timeout_s: float) -> None:
        """Run All Cells, to the end or to the first cell that fails. Raises TimeoutError that names the cell it hangs in."""
        self._run("notebook:run-all-cells", timeout_s)

    def restart_and_run_all(self, timeout_s: float = 60) -> None:
        """Restart the kernel, say yes to the question, and run all."""
        self.page.evaluate("specdec.begin('notebook:restart-run-all')")
        self.page.locator(".jp-Dialog button.jp-mod-accept").click()
        self._ran(timeout_s)

    def _run(self, command: str, timeout_s: float) -> None:
        self.page.evaluate("command => specdec.begin(command)", command)
        self._ran(timeout_s)

    def _ran(self, timeout_s: float) -> None:
        try:
            self.page.wait_for_function("specdec.done", timeout=timeout_s * 1000)
        except PlaywrightTimeout:
            raise TimeoutError(f"{self.path}: Run All was not done after {timeout_s:g} s; code cells not run: {self.not_run()}") from None
        if (done := self.page.evaluate("specdec.done")) != "ran":
            raise RuntimeError(f"{self.path}: Run All failed: {done}")
        self.answered(2)

    def answered(self, times: int = 1) -> None:
        """Return when the kernel has dealt with what was sent before, and the page has drawn what came of it; `times` in a row."""
        late = f"the kernel did not answer within {ANSWER_S} s"
        script = "([times, late, ms]) => Promise.race([specdec.answered(times), new Promise((_, no) => setTimeout(() => no(late), ms))])"
        self.page.evaluate(script, [times, late, ANSWER_S * 1000])

    def cells(self) -> list[dict[str, Any]]:
        """The code cells as a saved notebook has them, with outputs."""
        return [cell for cell in self.page.evaluate("specdec.json()")["cells"] if cell["cell_type"] == "code"]

    def not_run(self) -> list[int]:
        return [i for i, cell in enumerate(self.cells()) if cell["execution_count"] is None and "".join(cell["source"]).strip()]

    def showing(self, mime: str) -> list[int]:
        """The code cells whose output has data of this type."""
        return [i for i, cell in enumerate(self.cells()) if any(mime in out.get("data", {}) for out in cell["outputs"])]

    def printed(self) -> str:
        """Everything on stdout."""
        return "".join("".join(out["text"]) for cell in self.cells() for out in cell["outputs"] if out.get("name") == "stdout")

    def errors(self) -> list[str]:
        """Exceptions of cells, and what stands on stderr."""
        found = []
        for i, cell in enumerate(self.cells()):
            for out in cell["outputs"]:
                if out["output_type"] == "error":
                    found.append(f"code cell {i}: {out['ename']}: {out['evalue']}")
                elif out.get("name") == "stderr":
                    found.append(f"code cell {i} on stderr: {''.join(out['text']).strip()}")
        return found

    def save(self) -> Path:
        """Save as a learner does; the file, without widget state."""
        self._run("docmanager:save", 30)
        return self.lab.server.files / self.path

    # --- what is seen ---

    def output(self, i: int) -> Locator:
        """The output of code cell i."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(i).locator(".jp-Cell-outputArea")

    def text(self, i: int) -> str:
        """What can be read in the output of code cell i, the words inside pictures and the options of lists included."""
        return self.output(i).inner_text()

    def plot(self, i: int, n: int = 0) -> dict[str, Any]:
        """The n-th plotly picture in the output of code cell i: its `data` and `layout`, as the browser holds them."""
        drawn = self.output(i).locator(".js-plotly-plot").nth(n)
        return drawn.evaluate("plot => specdec.plain({data: plot.data, layout: plot.layout})")  # type: ignore[no-any-return]

    def unseen(self, i: int) -> list[str]:
        """What is wrong with the widgets and pictures in the output of code cell i: none there, broken, or without extent."""
        until = time.monotonic() + DRAWN_S
        while (found := self._unseen(self.output(i))) and time.monotonic() < until:
            self.page.wait_for_timeout(200)
        return found

    def _unseen(self, area: Locator) -> list[str]:
        views = area.locator(".jupyter-widgets:not(.jupyter-widgets *), .js-plotly-plot").all()
        found = [] if views else ["it shows neither widget nor picture"]
        found += [f"it says {text!r}" for text in BROKEN if area.get_by_text(text).count()]
        for view in views:
            box = view.bounding_box()
            if box is None or box["width"] < 1 or box["height"] < 1:
                found.append(f"it has no extent: {view.evaluate('view => view.outerHTML')[:200]}")
        return found

    def axe(self, i: int) -> list[str]:
        """What a scan of the output of code cell i finds, if serious or critical: rule, impact, help, the first elements."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        violations = self.output(i).evaluate("async area => (await axe.run(area)).violations")
        return [
            f"{one['id']} ({one['impact']}): {one['help']}: " + " | ".join(node["html"][:200] for node in one["nodes"][:3])
            for one in violations
            if one["impact"] in GRAVE
        ]

    def shot(self, name: str, i: int | None = None) -> Path:
        """A PNG in tests/browser/shots: the page, or the output of code cell i."""
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"{name}.png"
        if i is None:
            self.page.screenshot(path=path)
            return path
        usual, box = self.page.viewport_size, self.output(i).bounding_box()
        assert usual and box
        self.page.set_viewport_size({"width": usual["width"], "height": max(usual["height"], round(box["height"]) + 200)})
        self.page.wait_for_timeout(500)  # the page takes its new size
        self.output(i).screenshot(path=path)
        self.page.set_viewport_size(usual)
        return path

    @contextmanager
    def dark(self) -> Iterator[None]:
        """JupyterLab's dark theme, inside the block."""
        self._theme("JupyterLab Dark")
        try:
            yield
        finally:
            self._theme("JupyterLab Light")  # it is a setting, which the next sheet would find

    def _theme(self, theme: str) -> None:
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        self.page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")

    # --- what is done; labels and texts are exact, and have to be the only ones of the notebook ---

    def _control(self, label: str, inner: str) -> Locator:
        text = self.page.locator(".widget-label").filter(has_text=re.compile(rf"^\s*{re.escape(label)}\s*$"))
        return self.page.locator(".jp-OutputArea .widget-inline-hbox").filter(has=text).locator(inner)

    def slider(self, label: str) -> Locator:
        """The handle of a slider."""
        return self._control(label, "[role=slider]")

    def set_slider(self, label: str, value: float) -> None:
        """Move a slider with the arrow keys until it stands at `value`. Raises AssertionError if it cannot."""
        handle = self.slider(label)
        handle.focus()
        seen: list[float] = []
        while abs((at := float(handle.get_attribute("aria-valuetext") or "nan")) - value) > 1e-9:
            if at in seen:
                raise AssertionError(f"the slider {label!r} does not come to {value}: it went {seen[-5:]}, and stands at {at}")
            seen.append(at)
            handle.press("ArrowRight" if at < value else "ArrowLeft")
        self.answered(3)  # ipywidgets holds a value back until the one before it has been dealt with

    def press(self, text: str) -> None:
        """Click a button."""
        self.page.locator(".jp-OutputArea").get_by_role("button", name=text, exact=True).click()
        self.answered()

    def choose(self, label: str, option: str) -> None:
        """Choose from a list by its option's text; once more if what came of an earlier action has set the list back meanwhile."""
        box = self._control(label, "select")
        self.answered(2)
        for _ in range(3):
            box.select_option(label=option)
            self.answered(2)
            shows = box.evaluate("box => box.selectedOptions[0].label").replace("\xa0", " ")
            if shows == option.replace("\xa0", " "):
                return
        raise AssertionError(f"the list {label!r} does not stay at {option!r}; it shows {shows!r}")

    def switch(self, label: str) -> None:
        """Turn a checkbox on or off, by keyboard."""
        self.page.locator(".jp-OutputArea").get_by_role("checkbox", name=label, exact=True).press("Space")
        self.answered(2)
