"""JupyterLab and Chromium, once for the tests of this folder. Sheets are closed after the test, or module, that opened them."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import chromium
from tests.browser.lab import Lab
from tests.browser.server import Server

expect.set_options(timeout=20_000)  # two browsers and two kernels share the cores; who is ready does not wait


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="package")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab, which ends with the last test whatever happens; also when pytest is told to end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, so that what is below runs
    server = Server(tmp_path_factory.mktemp("lab"))
    try:
        server.wait()
        yield Lab(server, browser)
    finally:
        server.stop()


@pytest.fixture(scope="module", autouse=True)
def _closed_after_the_module(lab: Lab) -> Iterator[None]:
    yield from lab.closing()


@pytest.fixture(autouse=True)
def _closed_after_the_test(lab: Lab) -> Iterator[None]:
    yield from lab.closing()
