"""Questions, revealed code, rounds: what a learner sees when a control is moved."""

import re
from html import escape
from pathlib import Path

import pytest
import yaml

from specdec_lab.checks.start import tokens_emitted
from specdec_lab.widgets import passes_figure, reveal, self_check
from specdec_lab.widgets.lesson import QUESTIONS


@pytest.mark.parametrize("chapter", [path.stem for path in QUESTIONS.glob("*.yaml")])
def test_every_choice_of_every_question_explains_itself(chapter: str):
    for name, entry in yaml.safe_load((QUESTIONS / f"{chapter}.yaml").read_text(encoding="utf-8")).items():
        title, buttons, answer = self_check(chapter, name).children
        assert escape(entry["question"]) in title.value and answer.value == "" and buttons.value is None
        said = {}
        for choice in entry["choices"]:
            buttons.value = choice["text"]
            assert escape(choice["because"]) in answer.value
            said[choice["text"]] = "✓" in answer.value
        assert list(said.values()).count(True) == 1 and len(said) >= 3, name


@pytest.mark.parametrize("chapter", [path.stem for path in QUESTIONS.glob("*.yaml")])
def test_every_question_is_asked_in_its_chapter(chapter: str):
    notebook = (Path(__file__).parents[2] / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    asked = re.findall(rf'self_check\(\\"{chapter}\\", \\"([\w-]+)\\"\)', notebook)
    assert sorted(asked) == sorted(yaml.safe_load((QUESTIONS / f"{chapter}.yaml").read_text(encoding="utf-8")))


def test_the_reveal_shows_the_function_itself():
    page = reveal(tokens_emitted).data
    assert "<details>" in page and "accepted" in page and "specdec_lab.checks.start.tokens_emitted" in page


def test_the_passes_figure_draws_theory_guess_and_measurement():
    figure = passes_figure(40, 4, {0.0: 40, 1.0: 9}, {0.0: 40, 1.0: 8})
    formula, guess, measured = figure.data
    assert formula.y[0] == 40 and formula.y[-1] == 8
    assert list(guess.y) == [40, 9] and list(measured.y) == [40, 8]
    assert "8" in figure.layout.title.text
