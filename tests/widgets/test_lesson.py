"""Questions, revealed code, rounds: what a learner sees when a control is moved."""

import re
from html import escape
from pathlib import Path

import pytest
import torch
import yaml

from specdec_lab.checks.start import tokens_emitted
from specdec_lab.drafters import SyntheticDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.toy import markov_lm
from specdec_lab.widgets import passes_figure, reveal, round_player, round_view, self_check
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


def test_a_round_names_its_correction_and_its_bonus():
    rejected = round_view("<s>", ["the", "cat", "dog"], ["the", "cat", "sat", "END"], accepted=2).data
    assert "≠ dog ✗" in rejected and "not used" in rejected and "bonus" not in rejected
    whole = round_view("<s>", ["the"], ["the", "cat"], accepted=1).data
    assert "= the ✓" in whole and "bonus" in whole


def test_a_plain_step_is_no_bonus():
    plain = round_view("<s>", [], ["the"], accepted=0).data
    assert "bonus" not in plain and "target" in plain.split("against the draft")[1]


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return " ".join(f"w{i}" for i in token_ids)


def test_the_player_steps_jumps_and_stops_at_the_ends():
    target = markov_lm(3, 5)
    text = generate(target, torch.tensor([0]), stopping=Stopping(30)).tokens
    run = generate(target, torch.tensor([0]), SyntheticDrafter(text, 0.6, 5), k=3, stopping=Stopping(30))
    controls, view = round_player(run, Words()).children
    back, forward, rejection, number = controls.children
    back.click()
    assert number.value == 1
    forward.click()
    assert number.value == 2 and f"Context {run.rounds[1].context_length}" in view.value
    number.value = 1
    rejection.click()
    assert number.value == next(i for i, r in enumerate(run.rounds[1:], 2) if r.rejected)
    number.value = len(run.rounds)
    forward.click()
    assert number.value == len(run.rounds)


def test_the_passes_figure_draws_theory_guess_and_measurement():
    figure = passes_figure(40, 4, {0.0: 40, 1.0: 9}, {0.0: 40, 1.0: 8})
    formula, guess, measured = figure.data
    assert formula.y[0] == 40 and formula.y[-1] == 8
    assert list(guess.y) == [40, 9] and list(measured.y) == [40, 8]
    assert "8" in figure.layout.title.text
