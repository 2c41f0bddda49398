"""The form that every chapter keeps. One rule is one function, and yields (cell, sentence) for what breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median_high
from urllib.parse import unquote

from tools.notebooks.badges import GENERATED
from tools.notebooks.files import Cell, Finding, read

LINES, MEDIAN_LINES, WIDTH, IN_A_ROW = 25, 6, 95, 4
ASKS_NOTHING = ("This machine", "Where this goes", "Remember", "Knowledge check")
HEADING = re.compile(r"^(#{1,6}) +(.+?)[ #]*$", re.MULTILINE)
TARGETS = re.compile(r"""\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|(?:href|src)=["']([^"']+)""", re.MULTILINE)
# A known folder or a file address anywhere, any absolute path that opens a quotation, any that a command of the shell is given.
_ABSOLUTE = r"(~\w*/|/(?!dev/null)[\w.-]{2,}/?|[A-Z]:(?:\\+|/)\w{2,})"
ONE_MACHINE = re.compile(
    r"(?<![\w.:/~])(/(?:home|root|tmp|Users|mnt|opt|var|work|usr|data|content|kaggle|Volumes)/|[A-Z]:\\+Users\\|file://)"
    rf"""|(?<![^\s(\[{{=,:])[rbfRBF]{{0,2}}["'`]+{_ABSOLUTE}|^[ \t]*(?:[%!].*?\s|cd\s+){_ABSOLUTE}""",
    re.MULTILINE,
)
Problems = Iterator[tuple[Cell, str]]


@dataclass(frozen=True)
class Chapter:
    """A notebook with at least one cell."""

    path: Path
    cells: list[Cell]

    @cached_property
    def code(self) -> list[Cell]:
        """The code cells that an author wrote."""
        return [cell for cell in self.cells if cell.cell_type == "code" and cell.get("id") not in GENERATED]

    @cached_property
    def headings(self) -> list[tuple[Cell, int, str]]:
        return [(cell, len(marks), name) for cell in self.cells for marks, name in HEADING.findall(unfenced(cell))]

    @cached_property
    def sections(self) -> list[tuple[str, list[Cell]]]:
        """The cells under each `##` heading, with its text; those before the first one under an empty text."""
        found: list[tuple[str, list[Cell]]] = [("", [])]
        for cell in self.cells:
            titles = [name for owner, level, name in self.headings if owner is cell and level == 2]
            found.extend((name, []) for name in titles)
            found[-1][1].append(cell)
        return found


def unfenced(cell: Cell) -> str:
    """The text of a markdown cell without blocks of code; nothing for a code cell."""
    return re.sub(r"^(```|~~~).*?^\1", "", cell.source, flags=re.DOTALL | re.MULTILINE) if cell.cell_type == "markdown" else ""


def prose(cell: Cell) -> str:
    """The same without code and mathematics inside a line."""
    return re.sub(r"\$\$.*?\$\$|`[^`]*`|\$[^$\n]+\$", "", unfenced(cell), flags=re.DOTALL)


def opening(chapter: Chapter) -> Problems:
    """The first cell: number and title, time, what one can do afterwards."""
    first = chapter.cells[0]
    if first.cell_type != "markdown" or not re.match(r"# \d+ · \S", first.source):
        yield first, "the first cell does not start with `# N · Title`; give the chapter its number and title there."
    if not re.search(r"\*\*\d+ minutes\.\*\*", first.source):
        yield first, "the chapter does not state its time; write `**M minutes.**` and what it needs under the title."
    if not re.search(r"After this chapter you can\s+- ", first.source):
        yield first, "nothing says what the chapter is for; add `After this chapter you can` and a list to the first cell."


def ending(chapter: Chapter) -> Problems:
    if "Remember" not in dict(chapter.sections):
        yield chapter.cells[-1], "there is no `## Remember`; end the chapter with one paragraph of what to remember."


def cell_length(chapter: Chapter) -> Problems:
    for cell in chapter.code:
        if (lines := len(cell.source.splitlines())) > LINES:
            yield cell, f"{lines} lines of code, but {LINES} is the most; split the cell, or move the work into the package."


def median_length(chapter: Chapter) -> Problems:
    lines = [len(cell.source.splitlines()) for cell in chapter.code]
    if lines and (middle := median_high(lines)) > MEDIAN_LINES:
        yield chapter.cells[0], f"the median code cell has {middle} lines, but {MEDIAN_LINES} is the most; shorten or split the long ones."


def line_width(chapter: Chapter) -> Problems:
    for cell in chapter.code:
        longest = max(cell.source.splitlines(), key=len, default="")
        if len(longest) > WIDTH:
            yield cell, f"a line of {len(longest)} characters is cut off at the page's edge; break it before {WIDTH}: {longest.strip()}"


def prose_before_code(chapter: Chapter) -> Problems:
    """No section starts with code, and code does not go on for long without a word."""
    for title, cells in chapter.sections:
        said, in_a_row = False, 0
        for cell in cells:
            if cell.cell_type == "markdown":
                said, in_a_row = said or bool(HEADING.sub("", unfenced(cell)).strip()), 0
            elif cell in chapter.code:
                in_a_row += 1
                if not said:
                    yield cell, f"code before any prose in the section '{title}'; say first what to look for in its output."
                    said = True
                elif in_a_row == IN_A_ROW + 1:
                    yield cell, f"more than {IN_A_ROW} code cells in a row; say above this one what to look for in its output."


def every_section_asks(chapter: Chapter) -> Problems:
    for title, cells in chapter.sections[1:]:
        asks = any("self_check(" in cell.source or " = check_" in cell.source for cell in cells if cell.cell_type == "code")
        if title not in ASKS_NOTHING and not asks:
            yield cells[0], f"the section '{title}' asks nothing; add a self_check or an exercise with its check."


def heading_order(chapter: Chapter) -> Problems:
    """One h1, the title; below it no level is jumped over."""
    before = 0
    for cell, level, name in chapter.headings:
        if level == 1 and before:
            yield cell, f"'{name}' is a second title; use `##` for a section."
        elif level > before + 1:
            yield cell, f"the heading '{name}' jumps from level {before} to {level}; use `{'#' * (before + 1)}`."
        before = level


def links(chapter: Chapter) -> Problems:
    """Files and headings that are linked to exist; the web is not asked."""
    for cell in chapter.cells:
        for target in ("".join(groups) for groups in TARGETS.findall(prose(cell))):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, anchor = target.partition("#")
            file = chapter.path.parent / unquote(name) if name else chapter.path
            if not file.exists():
                yield cell, f"the link to {target} leads nowhere; there is no such file."
            elif anchor and file.suffix == ".ipynb" and unquote(anchor) not in anchors(file):
                yield cell, f"the link to {target} leads to no heading there; write the heading's words with `-` for each space."


def anchors(path: Path) -> set[str]:
    """The places in a notebook to which Jupyter lets a link lead."""
    cells = read(path).cells
    named = {name for cell in cells for name in re.findall(r"""\bid=["']([^"']+)""", unfenced(cell))}
    return named | {re.sub(r"[*`$]", "", name).replace(" ", "-") for _, _, name in Chapter(path, cells).headings}


def alternative_text(chapter: Chapter) -> Problems:
    for cell in chapter.cells:
        shown = prose(cell)
        tags = [tag for tag in re.findall(r"<img\b[^>]*>", shown) if not re.search(r"""\balt=(["'])\s*[^"'\s]""", tag)]
        for image in re.findall(r"!\[\s*\]\([^)]*\)", shown) + tags:
            yield cell, f"the image {image} has no alternative text; describe it for those who cannot see it."


def no_path_of_one_machine(chapter: Chapter) -> Problems:
    for cell in chapter.cells:
        if path := ONE_MACHINE.search(cell.source):
            yield cell, f"a path of one machine ({path[path.lastindex or 0]}...); make it relative to the notebook."


RULES: list[Callable[[Chapter], Problems]] = [
    opening,
    ending,
    cell_length,
    median_length,
    line_width,
    prose_before_code,
    every_section_asks,
    heading_order,
    links,
    alternative_text,
    no_path_of_one_machine,
]


def lint(path: Path) -> list[Finding]:
    """What is wrong with the chapter's form."""
    cells = read(path).cells
    if not cells:
        return [Finding(path, "-", "the notebook is empty; write the chapter, or remove the file.")]
    chapter = Chapter(path, cells)
    return [Finding(path, cell.get("id", "without id"), sentence) for rule in RULES for cell, sentence in rule(chapter)]
