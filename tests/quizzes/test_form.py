"""Every knowledge check is committed clean, adds up to 20 points, and can be put together again from its text alone."""

from __future__ import annotations

import re

import pytest

from tests.quizzes.source import CHAPTERS, DRAW, ID, QUIZZES, has_bank, knowledge_check, number, read, split, visible, worth

chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def code_cells(chapter: str, grade: bool | None = None):
    cells = [cell for cell in knowledge_check(chapter).cells if cell.cell_type == "code"]
    return [cell for cell in cells if grade is None or cell.metadata.nbgrader.grade == grade]


def test_every_chapter_has_one():
    assert sorted(path.stem for path in QUIZZES.parent.glob("notebooks/*.ipynb")) == CHAPTERS


@chapter
def test_it_has_a_bank_of_answers(chapter: str):
    assert has_bank(chapter), f"tests/quizzes/bank_{chapter[:2]}.py is missing; what it holds is said in tests/quizzes/source.py"


@chapter
def test_it_says_what_it_belongs_to_and_how_long_it_takes(chapter: str):
    first = knowledge_check(chapter).cells[0].source
    assert first.startswith("# Knowledge check: ")
    minutes = 20 if number(chapter) else 5
    assert f"\nChapter {number(chapter)}. **{minutes} minutes.** {worth(chapter)} points" in first
    lesson = read(QUIZZES.parent / "notebooks" / f"{chapter}.ipynb")
    last = " ".join(lesson.cells[-1].source.split())
    assert f"specdec-lab grade release {number(chapter)}`" in last, "the chapter ends by sending to its knowledge check"


@chapter
def test_it_is_clean(chapter: str):
    notebook = knowledge_check(chapter)
    assert notebook.metadata.kernelspec.name == "python3" and "widgets" not in notebook.metadata
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"[a-z0-9-]+", id_) for id_ in ids)
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None, cell.id
        assert set(cell.metadata) <= {"nbgrader", "tags"}, cell.id
        # Run All goes on behind an answer that is not there yet, and draws the numbers of all questions.
        assert cell.metadata.get("tags", []) == ["raises-exception"] * cell.id.endswith("-check"), cell.id


@chapter
def test_every_code_cell_is_an_answer_a_check_or_draws_numbers(chapter: str):
    for cell in code_cells(chapter):
        what = cell.id.partition("-")[2]
        assert what in ("answer", "check", "numbers")
        wanted = {"grade": what == "check", "solution": what == "answer", "locked": what != "answer"}
        wanted |= {"task": False, "grade_id": cell.id, "schema_version": 3}
        assert {key: value for key, value in cell.metadata.nbgrader.items() if key != "points"} == wanted
        assert ("points" in cell.metadata.nbgrader) == (what == "check")
        assert cell.source.startswith(f"# {cell.id} · "), "the marker by which a cell is found when its metadata is lost"


@chapter
def test_its_points(chapter: str):
    points = {}
    for cell in code_cells(chapter, grade=True):
        question = re.match(r"q\d+", cell.id)[0]
        points[question] = points.get(question, 0) + cell.metadata.nbgrader.points
    said = {}
    for cell in knowledge_check(chapter).cells:
        if title := re.match(r"## Question (\d+) · .* · (\d+) points?\n", cell.source):
            said[f"q{title[1]}"] = int(title[2])
    assert said == points
    assert sum(points.values()) == worth(chapter)
    row = re.search(rf"^\| {number(chapter)} \| .*$", (QUIZZES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert row, "the table of points in quizzes/README.md has no line for this chapter"
    assert {f"q{question}": int(worth) for question, worth in re.findall(r"(\d): (\d)", row[0])} == said


@chapter
def test_its_cells_are_short(chapter: str):
    for cell in code_cells(chapter):
        lines = cell.source.splitlines()
        assert len(split(visible(cell.source), "SOLUTION")[0]) <= 25 and len(lines) <= 35, cell.id
        assert max(map(len, lines)) <= 140, cell.id
        if cell.id.endswith("-answer"):
            assert max(map(len, split(cell.source, "SOLUTION")[0])) <= 100, f"{cell.id} is wider than a notebook in JupyterLab"
        assert "torch" not in cell.source, "an import of torch costs each submission 2.5 s"


@chapter
def test_hidden_tests_decide_and_solutions_are_marked(chapter: str):
    for cell in code_cells(chapter, grade=True):
        outside, inside = split(cell.source, "HIDDEN TESTS")
        assert inside, f"{cell.id} gives its points for the form alone"
        asserts = re.findall(r"assert .*?, (?:\\\n +)?(?=f?[\"'])f?[\"'](.*)[\"']$", "\n".join(outside), re.MULTILINE)
        assert len(asserts) == "\n".join(outside).count("assert "), "each visible assert has a message"
        label = re.match(r"q(\d+[a-z]?)-", cell.id)[1]
        assert all(message.startswith(f"Question {label}: ") and message.endswith(".") for message in asserts)
    for cell in code_cells(chapter, grade=False):
        assert cell.id == ID or bool(split(cell.source, "SOLUTION")[1]) == cell.id.endswith("-answer"), cell.id


@chapter
def test_it_asks_as_many_questions_as_the_others(chapter: str):
    checks = {re.match(r"q\d+", cell.id)[0]: "assert callable(" in cell.source for cell in code_cells(chapter, grade=True)}
    functions = sum(checks.values())
    if number(chapter):
        assert 4 <= len(checks) - functions <= 6 and 1 <= functions <= 2


@chapter
def test_its_numbers_are_drawn_in_the_same_way_as_the_others(chapter: str):
    first, *_ = (knowledge_check(each) for each in CHAPTERS)
    ours = {cell.id: cell.source for cell in knowledge_check(chapter).cells}
    for id_ in ("id-question", ID, DRAW):
        assert ours[id_] == {cell.id: cell.source for cell in first.cells}[id_]
    order = list(ours)
    assert order.index("id-question") + 2 == order.index(ID) + 1 == order.index(DRAW) < order.index("q1-question")
    for id_ in order:
        if id_.endswith("-numbers") and id_ != DRAW:
            question = id_.partition("-")[0]
            assert order[order.index(id_) - 1 : order.index(id_) + 2] == [f"{question}-question", id_, f"{question}-answer"]
            assert f'drawn("{number(chapter)}.{question[1:]}", ' in ours[id_]


@chapter
def test_the_sections_it_sends_to_exist(chapter: str):
    lesson = read(QUIZZES.parent / "notebooks" / f"{chapter}.ipynb")
    sections = {line.removeprefix("## ").strip() for cell in lesson.cells for line in cell.source.splitlines() if line.startswith("## ")}
    for cell in code_cells(chapter, grade=True):
        named = set(re.findall(rf"[Rr]ead (?:'|\")(.+?)(?:'|\") in chapter {number(chapter)}\b", cell.source))
        assert named and named <= sections, (cell.id, named - sections)
        assert cell.source.count(" in chapter ") == cell.source.count(f" in chapter {number(chapter)}"), cell.id
