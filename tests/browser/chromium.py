"""Chromium, found on this machine and kept from the network."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import plotly
import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "No Chromium was found for the browser tests: install one (Debian and Ubuntu: apt-get install chromium; "
    "elsewhere: .venv/bin/playwright install chromium), and run them again."
)
# No name resolves, whatever asks; what a page asks for is answered below, before that.
ARGUMENTS = ["--disable-gpu", "--disable-quic", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
ELSEWHERE = re.compile(r"^(https?|wss?)://(?!127\.0\.0\.1[:/])")
CDN = re.compile(r"/plotly[-.@\w/]*\.js$")
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def executable(playwright: Playwright) -> str:
    """The path of a Chromium. Without one the tests are skipped, but fail where CI is set."""
    found = next(filter(None, map(shutil.which, NAMES)), None) or playwright.chromium.executable_path
    if not Path(found).exists():
        pytest.fail(MISSING, pytrace=False) if os.environ.get("CI") else pytest.skip(MISSING)
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(playwright), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def context(browser: Browser, cdn: bool = True, **options: Any) -> BrowserContext:
    """A profile of its own, without network: everything fails but plotly's script, from the Python package; without `cdn` that too."""
    made = browser.new_context(viewport={"width": 1300, "height": 1000}, reduced_motion="reduce", **options)
    made.route(ELSEWHERE, lambda route: _plotly(route) if cdn and CDN.search(route.request.url) else route.abort())
    return made


def _plotly(route: Route) -> None:
    route.fulfill(path=PLOTLY, content_type="text/javascript", headers={"Access-Control-Allow-Origin": "*"})
