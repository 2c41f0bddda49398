"""Marked text: every token with its author, no character lost."""

import re
from html import unescape

import pytest
import torch

from specdec_lab.drafters import ModelDrafter, SyntheticDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.engine.review import review
from specdec_lab.errors import UserError
from specdec_lab.models.toy import markov_lm
from specdec_lab.widgets import token_view
from specdec_lab.widgets.tokens import ordinal, pieces, probability, rich_legend, rich_text

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


# --- with a review ---


def reviewed():
    target = markov_lm(3, 5, order=2)
    draft = markov_lm(4, 5, order=2, like=target, drift=1.0)
    generation = generate(target, torch.tensor([0]), ModelDrafter(draft, 5), k=3, stopping=Stopping(30))
    return generation, review(generation, target, draft)


def titles(page: str) -> list[str]:
    return [unescape(title) for title in re.findall(r'<span title="([^"]*)"', page)]


def test_a_token_says_how_likely_it_was_and_what_stood_there_before():
    generation, found = reviewed()
    said = iter(titles(token_view(generation, Words(), found).data))
    places = iter(found.places)
    for number, (r, verdicts) in enumerate(zip(generation.rounds, found.verdicts, strict=True), 1):
        for origin in r.origins:
            place, title = next(places), next(said)
            start = f"round {number}: {origin}; p {place.p:.2f}, the target's first choice; q {place.q:.2f}"
            assert title.startswith(start)
            if origin == "correction":
                failed = verdicts[-1]
                assert f"in place of {WORDS[failed.token]!r}: p {failed.p:.2f}, the target's {ordinal(failed.rank)} choice" in title
            else:
                assert title == start
    assert not list(said)


def test_the_table_says_what_pointing_says():
    generation, found = reviewed()
    page = token_view(generation, Words(), found).data
    rows = [unescape(re.sub(r"<[^>]*>", "|", row)) for row in page.split("<details>")[1].split("<tr>")[2:]]
    for title, row in zip(titles(page), rows, strict=True):
        head, said = title.split("; ", 1)
        assert said in row and all(f"|{part}|" in row for part in head.removeprefix("round ").split(": "))
    plain = token_view(generation, Words()).data
    assert plain.count("<tr>") == len(rows) + 1 and "temperature" not in plain


def test_the_legend_says_how_sure_the_target_was_of_each_origin():
    generation, found = reviewed()
    page = token_view(generation, Words(), found).data
    assert "the run itself was greedy" in page
    origins = [origin for r in generation.rounds for origin in r.origins]
    for origin in set(origins):
        p = [place.p for place, its in zip(found.places, origins, strict=True) if its == origin]
        assert re.search(rf">{origin}</span> {len(p)}: [^&]*\(p on average {sum(p) / len(p):.2f}\)", page.replace("&#x27;", "'"))


def test_a_review_of_another_run():
    with pytest.raises(UserError, match="another generation"):
        token_view(run(), Words(), reviewed()[1])


def test_numbers_in_words():
    assert [ordinal(n) for n in (1, 10, 11, 21, 22, 103, 112, 4801)] == [
        "first",
        "tenth",
        "11th",
        "21st",
        "22nd",
        "103rd",
        "112th",
        "4,801st",
    ]
    assert [probability(p) for p in (0, 1e-9, 0.005, 0.994, 0.9999, 1)] == ["0.00", "below 0.01", "0.01", "0.99", "above 0.99", "1.00"]
