"""The explorer of two laws: what it shows is what theory says of the laws at its sliders, for every rule."""

from __future__ import annotations

from functools import partial
from html import escape

import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, Widget

from specdec_lab.sampling import SeededRng
from specdec_lab.theory.rules import law_of, rules
from specdec_lab.verify import residual, verify_sampling
from specdec_lab.widgets import rejection_explorer
from specdec_lab.widgets.live import Explorer, Picture
from specdec_lab.widgets.palette import COLOURS
from specdec_lab.widgets.rejection import DRAWS, EXAMPLES, OWN, drawn_figure
from tests.support import one_thread  # noqa: F401

P, Q = (torch.tensor(law, dtype=torch.float64) for law in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]))
GREEDY = "greedy draft, states its softmax"


class Hands:
    """Whoever plays with it: finds controls by their labels."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        widgets = [part for part in explorer.parts if isinstance(part, Widget)]
        for widget in widgets:
            widgets.extend(getattr(widget, "children", ()))
        self.controls = {w.description: w for w in widgets if isinstance(w, (Dropdown, FloatSlider, IntSlider))}
        self.buttons = {w.description: w for w in widgets if hasattr(w, "click")}
        self.above, self.below = (part for part in explorer.parts if isinstance(part, Picture))
        self.said = explorer.parts[-1]

    def set(self, label: str, value: object) -> None:
        self.controls[label].value = value

    @property
    def laws(self) -> list[list[float]]:
        return [list(bar.y) for bar in self.above.figure.data]

    @property
    def title(self) -> str:
        return self.below.figure.layout.title.text

    def lower(self, name: str) -> list[float]:
        (trace,) = (t for t in self.below.figure.data if t.name.startswith(name))
        return list(trace.y)

    @property
    def exact(self) -> list[float]:
        return self.lower("the rule's law")[::3]


@pytest.fixture
def hands() -> Hands:
    return Hands(rejection_explorer())


def test_it_starts_at_the_worked_example(hands: Hands):
    for row, law in zip(hands.laws, ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.2, 0.3, 0.2], [1, 0, 0]), strict=True):
        assert row == pytest.approx(law)
    assert "acceptance = 1 - TV = 1 - 0.30" in hands.above.figure.layout.title.text
    assert hands.exact == pytest.approx([0.5, 0.3, 0.2]) and "has the law p" in hands.title
    assert hands.lower("drawn: drafted") == [], "nothing has been drawn"


@pytest.mark.parametrize("name", rules())
def test_every_rule_shows_its_exact_law_and_its_code(hands: Hands, name: str):
    hands.set("rule", name)
    assert hands.exact == pytest.approx(rules()[name].law(P, Q).law)
    off = float((P - P.new_tensor(hands.exact)).abs().sum() / 2)
    assert hands.title.startswith(f"{name}: ") and (f"TV {off:.3f} away" if off > 1e-9 else "has the law p") in hands.title
    assert f"<p>{escape(rules()[name].says)}</p>" in hands.said.value
    spoils = rules()[name].verify is verify_sampling
    assert ("<pre" in hands.said.value and "rng.draw(" in hands.said.value) != spoils, "the right rule is an exercise"


@pytest.mark.parametrize("label", ["target: left", "target: ahead", "target: right", "draft: left", "draft: ahead", "draft: right"])
def test_a_slider_is_a_share_of_its_law(hands: Hands, label: str):
    weights = {side: list(law) for side, law in zip(("target", "draft"), EXAMPLES["the rover and Earth"], strict=True)}
    hands.set(label, 77)
    side, token = label.split(": ")
    weights[side][["left", "ahead", "right"].index(token)] = 77
    assert hands.laws[0] == pytest.approx([w / sum(weights["target"]) for w in weights["target"]])
    assert hands.laws[1] == pytest.approx([w / sum(weights["draft"]) for w in weights["draft"]])
    assert hands.controls["laws"].value == OWN


def test_one_temperature_for_both(hands: Hands):
    hands.set("temperature of both", 0.5)
    assert hands.laws[0] == pytest.approx(law_of([50, 30, 20], 0.5).tolist())
    assert hands.laws[1] == pytest.approx(law_of([20, 50, 30], 0.5).tolist())
    hands.set("temperature of both", 0.0)
    assert hands.laws[:2] == [[1, 0, 0], [0, 1, 0]] and hands.exact == [1, 0, 0]
    assert hands.controls["laws"].value == "the rover and Earth"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_moves_the_sliders(hands: Hands, name: str):
    hands.set("laws", OWN)
    hands.set("laws", name)
    for side, law in zip(("target", "draft"), EXAMPLES[name], strict=True):
        found = [hands.controls[f"{side}: {token}"].value for token in ("left", "ahead", "right")]
        assert found == [*law, *[0] * (3 - len(law))]
    assert hands.controls["laws"].value == name and hands.exact == pytest.approx(hands.laws[0])


def test_examples_and_the_acceptance_they_have(hands: Hands):
    shared = {}
    for name in EXAMPLES:
        hands.set("laws", name)
        shared[name] = round(sum(hands.laws[2]), 2)
    assert list(shared.values()) == [0.7, 1.0, 0.0, 0.43, 0.3, 0.8]


def test_two_tokens_of_a_public_report(hands: Hands):
    hands.set("laws", "two tokens, transformers#32867")
    hands.set("rule", GREEDY)
    assert hands.exact == pytest.approx([0.75, 0.25, 0])


def test_a_change_of_an_example_draws_once(hands: Hands, monkeypatch: pytest.MonkeyPatch):
    shown = []
    monkeypatch.setattr(Picture, "show", lambda self, figure: shown.append(self))
    hands.set("laws", "nothing in common")
    assert shown == [hands.above, hands.below]


def press(hands: Hands, name: str = f"Draw {DRAWS:,}") -> None:
    """Without a running loop the measurement runs to its end."""
    hands.buttons[name].click()


def test_ten_thousand_draws_meet_the_law(hands: Hands):
    hands.set("rule", "redraw from p")
    press(hands)
    rule = rules()["redraw from p"]
    found = list(rule.draws(P, Q, SeededRng(0), [DRAWS]))[-1]
    assert hands.lower("drawn: drafted") == pytest.approx(found.stood) and hands.lower("drawn: the target's") == pytest.approx(found.own)
    whiskers = hands.below.figure.data[-1]
    assert list(whiskers.y) == pytest.approx(found.law) and list(whiskers.error_y.array) == pytest.approx([2 * e for e in found.errors])
    assert list(hands.below.figure.data[2].base) == pytest.approx(found.stood), "the target's own are stacked on the drafted ones"
    assert all(abs(x - law) < 0.02 for x, law in zip(whiskers.y, [0.35, 0.39, 0.26], strict=True))
    assert "(10,000 drawn)" in hands.title and "Drawn." in hands.explorer.status.value and f"{found.law[0]:.3f}" in hands.said.value


def test_more_draws_come_on_top_and_a_change_begins_afresh(hands: Hands):
    press(hands)
    press(hands)
    assert "(20,000 drawn)" in hands.title
    hands.set("draft: left", 21)
    assert "drawn)" not in hands.title and hands.lower("drawn: drafted") == []


def test_a_change_while_it_draws_ends_the_drawing(hands: Hands, monkeypatch: pytest.MonkeyPatch):
    said = []

    def say(self: Explorer, text: str) -> None:
        said.append(text)
        if text == "500 drawn":
            hands.set("rule", "redraw from p")

    monkeypatch.setattr(Explorer, "say", say)
    press(hands)
    assert "500 drawn" in said and "1,000 drawn" not in said
    assert "drawn)" not in hands.title and hands.lower("drawn: drafted") == []


def test_it_runs_the_functions_that_it_is_given():
    asked = []

    def mine(p, q, draft, rng):
        asked.append(len(draft))
        return verify_sampling(p, q, draft, rng)

    def my_residual(p, q):
        asked.append("residual")
        return residual(p, q)

    hands = Hands(rejection_explorer(["a", "b"], law_of([6, 4]), law_of([8, 2]), residual=my_residual, verify=mine))
    assert "residual" in asked and "def mine" in hands.said.value
    before = len(asked)
    press(hands)
    assert len(asked) == before + DRAWS
    assert hands.controls["laws"].value == "two tokens, transformers#32867", "laws that have a name get it"
    assert list(hands.controls["laws"].options) == ["two tokens, transformers#32867", OWN]


def test_other_laws_and_more_tokens():
    hands = Hands(rejection_explorer("abcd", law_of([1, 1, 1, 1]), law_of([4, 3, 2, 1])))
    assert hands.controls["laws"].value == "as given" and len(hands.laws[0]) == 4
    assert hands.laws[1] == pytest.approx([0.4, 0.3, 0.2, 0.1])
    hands.set("laws", "nothing in common")
    assert hands.laws[0] == pytest.approx([0.6, 0.4, 0, 0])


def test_laws_that_are_an_example_are_shown_under_its_name():
    hands = Hands(rejection_explorer(p=law_of([90, 8, 2]), q=law_of([33, 33, 33])))
    assert hands.laws[0] == pytest.approx([0.9, 0.08, 0.02]) and hands.controls["laws"].value == "a sure target, a flat draft"
    assert list(hands.controls["laws"].options).count("a sure target, a flat draft") == 1


def test_a_rule_without_a_source():
    assert "<pre" not in Hands(rejection_explorer(verify=partial(verify_sampling))).said.value


def test_a_law_of_nothing_is_said(hands: Hands):
    for token in ("left", "ahead", "right"):
        hands.set(f"draft: {token}", 0)
    assert "give one of them something" in hands.explorer.status.value and 'role="alert"' in hands.explorer.status.value
    hands.set("draft: left", 1)
    assert hands.laws[1] == [1, 0, 0] and "alert" not in hands.explorer.status.value


def test_a_rule_that_fails_is_said():
    def verify(p, q, draft, rng):
        if float(p[0, 0]) > 0.9:
            raise ZeroDivisionError("on purpose")
        return verify_sampling(p, q, draft, rng)

    hands = Hands(rejection_explorer(verify=verify))
    hands.set("temperature of both", 0.0)
    assert "ZeroDivisionError: on purpose" in hands.explorer.status.value


def test_tokens_are_no_html():
    assert "&lt;b&gt;" in Hands(rejection_explorer(["<b>", "x", "y"])).said.value


def test_bars_are_told_apart_without_colour():
    rule = rules()["the right rule"]
    out = drawn_figure("the right rule", P, rule.law(P, Q), list(rule.draws(P, Q, SeededRng(0), [100]))[-1], ["a", "b", "c"])
    target, stood, own, *_ = out.data
    assert [t.marker.color for t in (target, stood, own)] == [COLOURS[name] for name in ("target", "accepted", "correction")]
    assert len({t.marker.pattern.shape for t in (target, stood, own)}) == 3 and out.layout.barmode == "overlay"


def test_readers_without_a_kernel_see_the_default_pictures(hands: Hands):
    assert hands.explorer._still.count("<img") == 2 and "2,000 drawn" in hands.explorer._still
