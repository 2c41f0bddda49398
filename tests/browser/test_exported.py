"""Saved by JupyterLab and exported to HTML, an explorer is a picture: with scripts one that a slider changes, without them an image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.chromium import context
from tests.browser.lab import Lab

SETUP = """
import sys; sys.path.insert(0, "..")
from specdec_lab.widgets import acceptance_explorer, roofline_explorer, speedup_explorer
from tests.browser.test_acceptance_explorer import runs
from tests.support import tiny_llama
from tests.widgets.test_roofline import BOUNDS
"""
EXPLORERS = {
    "speedup": "speedup_explorer()",
    "roofline": "roofline_explorer(tiny_llama(0), BOUNDS)",
    "acceptance": "acceptance_explorer(runs())",
}
each = pytest.mark.parametrize("cell", range(1, len(EXPLORERS) + 1), ids=EXPLORERS)


@pytest.fixture(scope="module")
def exported(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the file."""
    sheet = lab.notebook(SETUP, *EXPLORERS.values(), name="exported")
    assert sheet.errors() == []
    page, _ = HTMLExporter().from_filename(str(sheet.save()))
    sheet.close()
    file = tmp_path_factory.mktemp("exported") / "exported.html"
    file.write_text(page, encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def page(browser: Browser, exported: str) -> Iterator[Page]:
    yield from opened(browser, exported)


@pytest.fixture(scope="module")
def page_without_scripts(browser: Browser, exported: str) -> Iterator[Page]:
    yield from opened(browser, exported, java_script_enabled=False)


@pytest.fixture(scope="module")
def page_without_plotly(browser: Browser, exported: str) -> Iterator[Page]:
    """The CDN does not answer."""
    yield from opened(browser, exported, cdn=False)


def opened(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    with context(browser, **options) as made:
        page = made.new_page()
        page.goto(address)
        yield page


def output(page: Page, cell: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea")


@each
def test_its_slider_changes_the_picture(page: Page, cell: int):
    plot = output(page, cell).locator(".js-plotly-plot").filter(has=page.locator(".slider-container"))
    expect(plot).to_be_visible()
    expect(output(page, cell).locator("img")).to_have_count(0)
    ends = [slid(plot, share) for share in (0.01, 0.99)]
    assert ends[0][0] != ends[1][0] and ends[0][1] != ends[1][1]


def slid(plot: Locator, share: float) -> tuple[str, str]:
    """The value and the traces once its slider was clicked at this share of its length."""
    rail = plot.locator(".slider-rail-touch-rect")
    box = rail.bounding_box()
    assert box
    rail.click(position={"x": box["width"] * share, "y": box["height"] / 2})
    plot.page.wait_for_timeout(300)
    return plot.locator(".slider-label").first.text_content() or "", plot.evaluate("plot => JSON.stringify(plot.data)")


@each
@pytest.mark.parametrize("without", ["page_without_scripts", "page_without_plotly"])
def test_an_image_stays(request: pytest.FixtureRequest, without: str, cell: int):
    images = output(request.getfixturevalue(without), cell).locator("img")
    assert images.count() >= 1
    for image in images.all():
        expect(image).to_be_visible()
        assert image.get_attribute("alt") and image.evaluate("image => image.naturalWidth") > 300
