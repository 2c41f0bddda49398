"""Every rule has a chapter that keeps it and one, or more, that break it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.tools.conftest import CELLS, TITLE, Save, store
from tools.notebooks.lint import RULES, lint

# rule: the cells it is broken with, the cell that is named, a part of the sentence
BREAKS = [
    ("opening", {"title": TITLE.replace("# 7 · Doubling", "# Doubling")}, "title", "does not start with `# N · Title`"),
    ("opening", {"title": TITLE.replace("5 minutes", "Short")}, "title", "does not state its time"),
    ("opening", {"title": TITLE.replace("- double a number.", "double a number.")}, "title", "what the chapter is for"),
    ("ending", {"end": "## Good to know\n\nMore.\n\n<a id='Remember'></a>"}, "end", "there is no `## Remember`"),
    ("cell_length", {"first-code": "x = 1\n" * 26}, "first-code", "26 lines of code, but 25 is the most"),
    ("median_length", dict.fromkeys(("first-code", "ask", "reveal"), "self_check(1)\n" * 7), "title", "the median code cell has 7 lines"),
    ("line_width", {"first-code": "x = 1  # " + "x" * 87}, "first-code", "a line of 96 characters"),
    ("prose_before_code", {"write": "## Write it"}, "stub", "code before any prose in the section 'Write it'"),
    ("prose_before_code", {"write": None, "picture": None}, "reveal", "more than 4 code cells in a row"),
    ("every_section_asks", {"ask": None}, "first-prose", "the section 'A puzzle' asks nothing"),
    ("every_section_asks", {"check": "pass"}, "write", "the section 'Write it' asks nothing"),
    ("heading_order", {"end": "## Remember\n\n#### Much\n\nMore."}, "end", "'Much' jumps from level 2 to 4; use `###`"),
    ("heading_order", {"end": "## Remember\n\n# Again\n\nMore."}, "end", "'Again' is a second title"),
    ("links", {"end": "## Remember\n\n[more](08_more.ipynb)"}, "end", "the link to 08_more.ipynb leads nowhere"),
    ("links", {"end": '## Remember\n\n<a href="gone.html">more</a>'}, "end", "the link to gone.html leads nowhere"),
    ("links", {"end": "## Remember\n\n[more][it]\n\n[it]: gone.md"}, "end", "the link to gone.md leads nowhere"),
    ("links", {"end": "## Remember\n\n[up](#A-riddle)"}, "end", "the link to #A-riddle leads to no heading"),
    ("links", {"end": "## Remember\n\n[up](07_doubling.ipynb#a-puzzle)"}, "end", "leads to no heading there"),
    ("links", {"picture": "![a line](gone.svg)"}, "picture", "the link to gone.svg leads nowhere"),
    ("alternative_text", {"picture": "![](figure.svg)"}, "picture", "the image ![](figure.svg) has no alternative text"),
    ("alternative_text", {"picture": '<img src="figure.svg">'}, "picture", '<img src="figure.svg"> has no alternative text'),
    ("alternative_text", {"picture": '<img alt="" src="figure.svg">'}, "picture", "has no alternative text"),
    ("no_path_of_one_machine", {"first-code": 'open("/home/me/x")'}, "first-code", "a path of one machine (/home/...)"),
    ("no_path_of_one_machine", {"first-prose": "See `/Users/me`."}, "first-prose", "a path of one machine (/Users/...)"),
    ("no_path_of_one_machine", {"first-code": r'open(r"C:\Users\me")'}, "first-code", "a path of one machine"),
    ("no_path_of_one_machine", {"end": "## Remember\n\n[x](file:///x)"}, "end", "a path of one machine (file://...)"),
    ("no_path_of_one_machine", {"first-prose": "Put it under /content/drive/MyDrive."}, "first-prose", "(/content/...)"),
    ("no_path_of_one_machine", {"first-code": 'save(x, f"/kaggle/working/{x}")'}, "first-code", "(/kaggle/...)"),
    ("no_path_of_one_machine", {"first-code": "folder = '/datasets'"}, "first-code", "(/datasets...)"),
    ("no_path_of_one_machine", {"first-code": 'read(x, name="~/x")'}, "first-code", "(~/...)"),
    ("no_path_of_one_machine", {"first-code": 'open("D:/work/x")'}, "first-code", "(D:/work...)"),
    ("no_path_of_one_machine", {"first-prose": r"It is in `D:\work`."}, "first-prose", r"(D:\work...)"),
    ("no_path_of_one_machine", {"first-code": "x = 1\n%cd /elsewhere"}, "first-code", "(/elsewhere...)"),
    ("no_path_of_one_machine", {"first-code": "if x:\n    !cd ~/x && ls"}, "first-code", "(~/...)"),
    ("no_path_of_one_machine", {"first-code": "%%bash\ncd /elsewhere"}, "first-code", "(/elsewhere...)"),
]
KEPT = [
    {"first-code": "x = 1\n" * 25},
    {"first-code": "x = 1  # " + "x" * 86},
    {"end": "## Remember\n\n[up](#A-puzzle), [line](07_doubling.ipynb#In-a-line), [the web](https://example.org/gone#there)"},
    {"first-prose": "## A puzzle: `code`, $x$\n\n[here](#A-puzzle:-code,-x)"},
    {"end": "## Remember\n\n```\n# not a title\n[no](link)\n![](image)\n```\n\nNor `[this](one)`, $p[i](x)$ or `![](that)`."},
    {"picture": '<img src="figure.svg" alt="a line that rises">'},
    {"first-code": 'open("../home/x"), "https://example.org/home/me", "n/tmp/x", "a/tmp"'},
    {"first-code": 'print("/", "tokens", "/s"), re.sub(r"/(\\d+)", "\\n"), a["b"]/cd, x / "y"/name, "p:\\n", "P:\\n"'},
    {"first-code": "!pip install x > /dev/null\n%pip install git+https://example.org/me/x\nx = y /z"},
    {"first-prose": "Yes and/or no, `a`/`b`, `p`/drafted, f(x)/2, $X:\\Omega \\to [0, 1]$, 1/2, about ~3, </b>, the drafts' /s/."},
    {"end": "## Remember\n\nMore.\n\n## Where this goes\n\nOn."},
]


def sentences(path: Path) -> list[str]:
    return [str(finding) for finding in lint(path)]


def test_a_good_chapter_passes(save: Save):
    assert sentences(save()) == []


@pytest.mark.parametrize("changed", KEPT, ids=lambda changed: "-".join(changed))
def test_what_is_allowed(save: Save, changed: dict[str, str]):
    assert sentences(save(changed)) == []


@pytest.mark.parametrize(("rule", "changed", "cell", "sentence"), BREAKS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_breaks_a_rule(save: Save, rule: str, changed: dict[str, str | None], cell: str, sentence: str):
    path = save(changed)
    found = sentences(path)
    assert any(line.startswith(f"{path}: cell {cell}: ") and sentence in line for line in found), found
    if rule == "links":  # and by this rule alone
        assert len(found) == 1


def test_every_rule_is_broken_above():
    assert {rule.__name__ for rule in RULES} == {rule for rule, *_ in BREAKS}


def test_four_code_cells_in_a_row_are_enough(save: Save):
    more = new_code_cell("x = 1", id="more")
    assert sentences(save(behind="stub", added=more)) == []
    assert "cell reveal: more than 4" in sentences(save({"write": None}, behind="ask", added=more))[0]


def test_generated_cells_are_no_ones_prose_and_no_ones_code(save: Save):
    long = new_code_cell("x = 1\n" * 30, id="setup", metadata={"tags": ["setup"]})
    assert sentences(save(behind="title", added=long)) == []


def test_an_anchor_may_be_written_as_html(save: Save):
    added = new_markdown_cell('<a id="here"></a>', id="anchor")
    assert sentences(save({"end": CELLS["end"] + " [up](#here)"}, behind="picture", added=added)) == []


def test_an_empty_notebook(tmp_path: Path):
    path = store(tmp_path / "empty.ipynb", [])
    assert sentences(path) == [f"{path}: cell -: the notebook is empty; write the chapter, or remove the file."]
