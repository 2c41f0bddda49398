"""Marked text: every token with its author, no character lost."""

import re
from html import unescape

import torch

from specdec_lab.drafters import SyntheticDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.toy import markov_lm
from specdec_lab.widgets import token_view
from specdec_lab.widgets.tokens import pieces, rich_legend, rich_text

WORDS = ["<b>", "é", " ", "\n", "x"]


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return "".join(WORDS[i] for i in token_ids)


class Bytes:
    """A decoder whose tokens are bytes, as byte-level tokenizers have them."""

    def decode(self, token_ids, skip_special_tokens=True):
        return bytes(token_ids).decode(errors="replace")


def run():
    target = markov_lm(3, 5)
    text = generate(target, torch.tensor([0]), stopping=Stopping(30)).tokens
    return generate(target, torch.tensor([0]), SyntheticDrafter(text, 0.6, 5), k=3, stopping=Stopping(30))


def test_the_view_holds_the_text_and_every_author():
    generation = run()
    page = token_view(generation, Words()).data
    spans = re.findall(r'<span title="round (\d+): (\w+)" style="[^"]*">(.*?)</span>', page, re.DOTALL)
    assert [origin for _, origin, _ in spans] == [o for r in generation.rounds for o in r.origins]
    assert unescape("".join(text for *_, text in spans)).replace("⏎", "") == Words().decode(generation.tokens)
    assert "<b>" not in page, "the model's text is not HTML"


def test_every_origin_has_a_mark_besides_its_colour():
    page = token_view(run(), Words()).data
    assert "underline wavy" in page and "underline double" in page


def test_a_character_of_several_tokens_shows_with_its_last():
    tokens = list("a€b".encode())
    assert pieces(Bytes(), tokens) == ["a", "", "", "€", "b"]


def test_the_terminal_text_is_the_text():
    generation = run()
    assert rich_text(generation, Words()).plain == Words().decode(generation.tokens)
    legend = rich_legend(generation).plain
    assert sum(map(int, re.findall(r"\d+", legend))) == len(generation.tokens)
