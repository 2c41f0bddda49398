"""Every chapter in JupyterLab, before its exercises are done: it runs to its end, shows what it has, and can be used by everybody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.lab import Lab, Sheet
from tools.notebooks.execute import Memory
from tools.notebooks.exercises import number_of_exercises
from tools.notebooks.files import ROOT

CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
LIMIT_S = 900
MEMORY_GIB = 6
WIDGET = "application/vnd.jupyter.widget-view+json"
PICTURE = "application/vnd.plotly.v1+json"


@contextmanager
def memory(sheet: Sheet) -> Iterator[Memory]:
    """Of the sheet's kernel, while the block runs."""
    watch = Memory(sheet.lab.server.kernel(sheet.path).pid)
    watch.start()
    try:
        yield watch
    finally:
        watch.done.set()
        watch.join()


def assert_whole(sheet: Sheet) -> None:
    """It ran to its end without a fault, and what it shows can be seen."""
    assert sheet.errors() == []
    assert sheet.not_run() == []
    seen = {i: sheet.unseen(i) for i in {*sheet.showing(WIDGET), *sheet.showing(PICTURE)}}
    assert {i: wrong for i, wrong in seen.items() if wrong} == {}
    assert not sheet.page.locator("[data-title^='Share chart']").count(), "plotly offers to upload a picture"


def grave(sheet: Sheet) -> dict[int, list[str]]:
    """What the scan finds in the widgets, by code cell."""
    found = {i: sheet.axe(i) for i in sheet.showing(WIDGET)}
    return {i: findings for i, findings in found.items() if findings}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapter(lab: Lab, path: Path):
    sheet = lab.open(path.name)
    with memory(sheet) as held:
        sheet.run_all(LIMIT_S)
        if path == CHAPTERS[0]:
            assert_whole(sheet)
            sheet.restart_and_run_all(LIMIT_S)
    assert_whole(sheet)
    assert sheet.printed().count("not attempted yet") == number_of_exercises(path)
    assert held.peak_gib <= MEMORY_GIB
    assert sheet.showing(WIDGET), "it has no widget"
    assert grave(sheet) == {}
    with sheet.dark():
        assert grave(sheet) == {}
