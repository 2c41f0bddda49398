"""The token view in JupyterLab: everyone gets at what stands behind a token, with a pointer or without."""

from __future__ import annotations

from tests.browser.lab import Lab
from tests.widgets.test_rounds import reviewed

VIEW = """
from tests.widgets.test_rounds import Words, reviewed
from specdec_lab.widgets import token_view
run, found = reviewed()
token_view(run, Words(), found)
"""


def test_pointing_and_the_table_say_the_same(lab: Lab):
    _, found = reviewed()
    sheet = lab.notebook(VIEW)
    assert sheet.errors() == []
    area = sheet.output(0)
    titles = [span.get_attribute("title") or "" for span in area.locator("span[title]").all()]
    for title, place in zip(titles, found.places, strict=True):
        of_it = title.split("; in place of")[0]
        assert f"p {place.p:.2f}" in of_it and f"q {place.q:.2f}" in of_it and ("first choice" in of_it) == (place.rank == 1)
    assert not area.locator("table").is_visible()
    area.locator("summary").press("Enter")
    rows = [row.inner_text() for row in area.locator("tr").all()[1:]]
    for title, row in zip(titles, rows, strict=True):
        head, said = title.split("; ", 1)
        assert said in row and all(part in row for part in head.removeprefix("round ").split(": "))
    sheet.shot("token_view", 0)
    assert sheet.axe(0) == []
    with sheet.dark():
        sheet.shot("token_view_dark", 0)
        assert sheet.axe(0) == []
