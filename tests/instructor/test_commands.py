"""A term in one go: release, collect, check, autograde, feedback, report, with nbgrader and the sandbox, through the commands."""

from __future__ import annotations

import csv
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specdec_lab.errors import UserError
from specdec_lab.instructor import commands
from specdec_lab.instructor.course import Course
from specdec_lab.instructor.late import Deduction
from tests.instructor.handed_in import CHAPTER, entered, filled_in, key, saved
from tests.quizzes.source import QUIZZES

WRONG = {"q5-answer": 'answer_5 = "A"'}


def good(student: str) -> bytes:
    return saved(filled_in(entered(student)))


def less(student: str) -> bytes:
    return saved(filled_in({**entered(student), **WRONG}))


DEDUCTION = """
from specdec_lab.instructor.late import Deduction
c.AssignLatePenalties.plugin_class = Deduction
c.Deduction.percent_a_day = 10
"""
CLASS = {
    "lovelaceada_1_11_knowledge_check.ipynb": good("ada"),
    "oneilbo_LATE_2_12_knowledge_check (1).ipynb": less("2"),  # the number in Canvas
    "cy_3_13_knowledge_check.ipynb": b"<html>Sign in to continue",
    "di_4_14_knowledge_check-1.ipynb": good("di"),
    "di_4_15_knowledge_check-2.ipynb": less("di"),
    "ed_5_16_knowledge_check.ipynb": good("ed").replace(b"# q1-check", b"# q1-chekc"),
}
ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,Check 2 (77)
    Points Possible,,,,,100
"Lovelace, Ada",1,S1,ada,A,
"O'Neil, Bo",2,S2,bo,A,
"Cy, C.",3,S3,cy,A,
"Di, D.",4,S4,di,A,
"Ed, E.",5,S5,ed,A,
"Flo, F.",6,S6,flo,A,
"""
TIMES = "student,lms_id,submitted\nada,1,2026-11-30 10:00\nbo,2,2026-12-02 10:00\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("term") / "quizzes"
    shutil.copytree(QUIZZES / "source" / CHAPTER, folder / "source" / CHAPTER)
    (folder / "nbgrader_config.py").write_text((QUIZZES / "nbgrader_config.py").read_text(encoding="utf-8") + DEDUCTION, encoding="utf-8")
    with zipfile.ZipFile(folder / "canvas.zip", "w") as archive:
        for name, data in CLASS.items():
            archive.writestr(name, data)
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (folder / "times.csv").write_text(TIMES, encoding="utf-8")
    return folder


def run(course: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(commands.app, [*arguments, "--course", str(course)], env={"COLUMNS": "200"})
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, re.sub(r"[\s│]+", " ", done.stdout)  # as the table's lines may be broken


@pytest.fixture(scope="module")
def term(course) -> dict[str, tuple[int, str]]:
    """What each command said, in the order of a term."""
    said = {}
    for step, *arguments in [
        ("release", "release", "2"),
        ("collect", "collect", "2", str(course / "canvas.zip"), "--roster", str(course / "roster.csv"), "--due", "2026-12-01 23:59"),
        ("check", "check", "2"),
        ("autograde", "autograde", "2"),
        ("best", "autograde", "2", "--attempts", "best"),
        ("feedback", "feedback", "2"),
        ("report", "report", "2", "--roster", str(course / "roster.csv"), "--title", "Check 2"),
    ]:
        said[step] = run(course, *arguments)
        if step in ("autograde", "feedback"):
            before = stamps(course)
            said[f"{step} again"] = run(course, *arguments)
            said[f"{step} changed"] = (0, str(stamps(course) != before))
    return said


def stamps(course: Path) -> dict[str, int]:
    return {
        str(path): path.stat().st_mtime_ns for step in ("autograded", "feedback") for path in course.glob(f"{step}/*/*/*") if path.is_file()
    }


def points(course: Path) -> dict[str, str]:
    with (course / "reports" / CHAPTER / "marks.csv").open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: row["score"] for row in csv.DictReader(file)}


def test_release(term, course):
    code, said = term["release"]
    assert (
        code == 0 and said.startswith("Hand out ") and "HIDDEN" not in (course / "release" / CHAPTER / "knowledge_check.ipynb").read_text()
    )


@pytest.mark.parametrize("step", ["collect", "check"])
def test_what_came_in(term, step):
    code, said = term[step]
    assert code == 1
    assert "cy unreadable This is a web page" in said
    assert (
        "It came late, but nothing says by how much" in said
        and "The cell q1-check had been changed; it was graded as it was handed out." in said
    )
    assert said.strip().endswith("1 missing, 1 ready, 2 repaired, 1 needs a look, 1 unreadable")


def test_autograde(term):
    code, said = term["autograde"]
    assert code == 1 and said.strip().endswith("1 missing, 1 graded, 2 repaired, 1 needs a look, 1 unreadable")
    assert term["autograde again"] == term["autograde"] and term["autograde changed"] == (0, "False")
    assert "18 of 20" in term["autograde"][1]


def test_feedback(term, course):
    code, said = term["feedback"]
    assert code == 0 and said.strip() == "5 ready" and term["feedback again"] == (0, said) and term["feedback changed"] == (0, "False")
    assert "This is a web page, not a notebook" in (course / "feedback" / "cy" / CHAPTER / "knowledge_check.html").read_text(
        encoding="utf-8"
    )


def test_report(term, course):
    code, said = term["report"]
    assert code == 0 and "statistics.html" in said and "moodle.csv" not in said
    assert points(course) == {"ada": "20", "bo": "18", "cy": "0", "di": "20", "ed": "20", "flo": ""}
    with (course / "reports" / CHAPTER / "canvas.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][-1] == "Check 2 (77)" and [row[-1] for row in rows[1:]] == ["100", "100", "90", "0", "100", "100", ""]
    assert rows[3][:2] == ["O'Neil, Bo", "2"]


def test_best_and_latest(term, course):
    """Di's first attempt is the better one; the collection keeps both."""
    submitted = course / "submitted" / "di" / CHAPTER / "knowledge_check.ipynb"
    assert submitted.read_bytes() == good("di") and len(list((course / "collected" / CHAPTER / "di").glob("*.ipynb"))) == 2


def test_times_that_arrive_later_cost_what_they_cost(term, course):
    """Ten hours late is one day begun: 10 percent of 18 points. It stands in nbgrader's own gradebook."""
    code, _ = run(course, "collect", "2", str(course / "canvas.zip"), "--roster", str(course / "times.csv"), "--due", "2026-12-01 23:59")
    run(course, "autograde", "2", "--student", "bo", "--force")
    with Course(course).gradebook() as gradebook:
        submission = gradebook.find_submission(CHAPTER, "bo")
        assert submission.score == 18 and submission.late_submission_penalty == pytest.approx(1.8)
        assert (gradebook.find_student("bo").last_name, gradebook.find_student("bo").lms_user_id) == ("O'Neil", "2")
    run(course, "report", "2")
    assert "so importing makes a new one" in run(course, "report", "2", "--roster", str(course / "roster.csv"))[1]
    assert points(course)["bo"] == "16.2" and code == 1
    assert (course / "reports" / CHAPTER / "moodle.csv").exists()


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("check", "99"), "none of the knowledge checks"),
        (("feedback", "2"), "Nobody is graded yet"),
        (("report", "2"), "Nobody is graded yet"),
        (("autograde", "2"), "run: specdec-lab grade release"),
        (("autograde", "2", "--student", "nobody"), "nobody handed in nothing"),
        (("collect", "2", "none.zip"), "There is no none.zip"),
        (("collect", "2", "x", "--timezone", "Mars/Gale"), "no time zone Mars/Gale"),
    ],
)
def test_what_the_instructor_can_put_right(tmp_path, arguments, says):
    shutil.copytree(QUIZZES / "source" / CHAPTER, tmp_path / "source" / CHAPTER)
    shutil.copy(QUIZZES / "nbgrader_config.py", tmp_path)
    with pytest.raises(UserError, match=says):
        run(tmp_path, *arguments)


def test_on_ones_own_as_the_readme_says(tmp_path):
    shutil.copytree(QUIZZES / "source" / CHAPTER, tmp_path / "source" / CHAPTER)
    shutil.copy(QUIZZES / "nbgrader_config.py", tmp_path)
    assert run(tmp_path, "release", "2")[0] == 0 == run(tmp_path, "release", "2")[0]
    released = tmp_path / "release" / CHAPTER / "knowledge_check.ipynb"
    released.write_bytes(saved(filled_in(WRONG)))
    with pytest.raises(UserError, match=r"There are answers in .*, which would be lost"):
        run(tmp_path, "release", "2")
    assert run(tmp_path, "collect", "2", str(released.parent), "--student", "me")[0] == 0
    assert "me needs a look 18 of 20 No id was entered" in run(tmp_path, "autograde", "2")[1]
    assert run(tmp_path, "feedback", "2")[0] == 0
    page = (tmp_path / "feedback" / "me" / CHAPTER / "knowledge_check.html").read_text(encoding="utf-8")
    assert "Question 5: think again" in page and "HIDDEN" not in page


def test_a_folder_that_is_no_course(tmp_path):
    with pytest.raises(UserError, match="There is no nbgrader_config"):
        run(tmp_path, "check", "2")


@pytest.mark.parametrize("seconds, penalty", [(0, None), (600, None), (1000, 2.0), (86_400, 2.0), (86_401, 4.0), (10**9, 20.0)])
def test_the_deduction(seconds, penalty):
    assert Deduction().late_submission_penalty("ada", 20.0, seconds) == penalty


def test_the_key_is_right():
    assert set(key()) == {"id-answer", *(f"q{number}-answer" for number in range(1, 8))}
