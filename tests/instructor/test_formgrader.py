"""nbgrader's own formgrader opens the course that was graded here, in Chromium, and a mark that is changed there counts."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import chromium, context
from tests.browser.server import Server
from tests.instructor.handed_in import CHAPTER, entered, filled_in, saved
from tests.instructor.test_commands import run
from tests.quizzes.source import QUIZZES

SCORES = {"ada": 20.0, "bo": 18.0, "cy": 0.0}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formgrader") / "quizzes"
    shutil.copytree(QUIZZES / "source" / CHAPTER, folder / "source" / CHAPTER)
    shutil.copy(QUIZZES / "nbgrader_config.py", folder)
    given = {"ada": filled_in(entered("ada")), "bo": filled_in({**entered("bo"), "q5-answer": 'answer_5 = "A"'}), "cy": filled_in()}
    for student, notebook in given.items():
        place = folder / "submitted" / student / CHAPTER / "knowledge_check.ipynb"
        place.parent.mkdir(parents=True)
        place.write_bytes(saved(notebook))
    assert run(folder, "release", "2")[0] == 0
    run(folder, "autograde", "2")
    return folder


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("jupyter"), course)
    try:
        found.wait()
        yield found
    finally:
        found.stop()


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    """The formgrader's first page."""
    with chromium() as browser:
        page = context(browser).new_page()
        page.goto(server.url(f"formgrader?token={server.token}"))
        yield page


def goto(page: Page, server: Server, path: str) -> None:
    answer = page.goto(server.url(f"formgrader/{path}?token={server.token}"))
    assert answer and answer.ok, answer


def test_it_lists_the_knowledge_check_and_who_handed_it_in(page, server):
    expect(page.get_by_role("link", name=CHAPTER)).to_be_visible(timeout=30_000)
    goto(page, server, f"manage_submissions/{CHAPTER}")
    for student, score in SCORES.items():
        row = page.locator("tbody tr", has_text=student)
        expect(row).to_contain_text("graded", timeout=30_000)
        expect(row).to_contain_text(f"{score:g} / 20")


def test_a_mark_that_is_changed_by_hand_counts(page, server, course):
    goto(page, server, f"gradebook/{CHAPTER}/knowledge_check")
    row = page.locator("tbody tr", has_text="18")
    expect(row).to_have_count(1, timeout=30_000)
    row.get_by_role("link").first.click()
    score = page.locator(".nbgrader_cell", has_text="q5-check").locator("input.score")
    expect(score).to_have_attribute("placeholder", "0", timeout=30_000)
    shown = page.inner_text("body")
    assert "Question 5: think again" in shown and "BEGIN HIDDEN TESTS" in shown, "here, and only here, the checks are to be seen"
    with page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        score.fill("1.5")
        score.press("Tab")
    run(course, "report", "2")
    with (course / "reports" / CHAPTER / "marks.csv").open(encoding="utf-8", newline="") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == SCORES | {"bo": 19.5}
