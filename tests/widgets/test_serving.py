"""Chapter 8's pictures of a server: a table of its runs, what is expected of more users, and coins against the formula."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.serving import Expected, Serving, gain, tokens_a_pass
from specdec_lab.serving.setup import Custom, Setup
from specdec_lab.theory.closed_forms import expected_tokens
from specdec_lab.widgets import dial_figure, served_table, serving_explorer, watch_serving
from tests import served
from tests.served import recording
from tests.widgets.hands import Hands

RECORDING = recording()
RUNS = [run for name in ("plain", "n-gram", "draft model") for run in RECORDING.sweep(name)]
PLAIN = RECORDING.sweep("plain")
AT, VIEW = "requests at a time", "show"


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_the_table_compares_with_as_many_at_a_time():
    table = cells(served_table(RUNS, "somewhere").data)[1:]
    assert len(table) == len(RUNS)
    found = {(row[0], row[1]): row for row in table}
    one, many = found["n-gram", "1"], found["n-gram", "16"]
    assert one[5] == f"{tokens_a_pass(RECORDING.run('n-gram')):.2f}" and one[4] == f"{240 / 384:.2f}"
    assert one[6] == f"{gain(RECORDING.run('n-gram'), PLAIN[0]):.2f}"
    assert many[6].startswith("✗ ") and found["plain", "8"][4:] == ["", "1.00", ""]


def test_without_a_plain_run_there_is_no_speedup():
    assert cells(served_table(RECORDING.sweep("n-gram"), "somewhere").data)[1][6] == ""


def test_a_recording_is_labelled(monkeypatch):
    shown = []
    monkeypatch.setattr("specdec_lab.widgets.serving.display", lambda html, display_id: Handle(html, shown))
    runs = watch_serving(Serving(RECORDING), "n-gram", Setup("t", served.NGRAM, 4), (1, 2), beside=PLAIN[:2])
    assert runs == RECORDING.sweep("n-gram")[:2]
    tables = [cells(html) for html in shown if "<table" in html]
    assert "recorded on a made-up CPU" in shown[0]
    assert all([row[:2] for row in table[1:]] == [["plain", "1"], ["plain", "2"], ["n-gram", "1"]] for table in tables)


class Handle:
    def __init__(self, html, shown):
        self.shown = shown

    def update(self, html):
        self.shown.append(html.data)


@pytest.fixture
def hands() -> Hands:
    return Hands(serving_explorer(RUNS, "recorded here"))


def test_the_line_says_what_is_expected_and_the_marks_what_was_measured(hands):
    expected = Expected.of(RECORDING.run("n-gram"), PLAIN)
    assert hands.title().startswith(f"At 1 at a time we expect n-gram {expected.speedup(1):.2f}x, draft model ")
    xs, ys = hands.trace("n-gram, expected")
    assert xs == list(range(1, 17)) and ys[5] == pytest.approx(expected.speedup(6))
    xs, ys = hands.trace("n-gram, measured")
    assert xs == [1, 2, 4, 8, 16] and ys == pytest.approx([gain(run, p) for run, p in zip(RECORDING.sweep("n-gram"), PLAIN, strict=True)])
    assert "recorded here" in hands.text()


def test_more_users(hands):
    hands.set(AT, 6)
    assert hands.title().startswith("At 6 at a time") and "not asked" in hands.text()
    hands.set(AT, 16)
    assert "not asked" not in hands.text() and hands.text().count("✗") == 5, "both, expected and measured, and the note"


def test_a_wait_and_all_tokens_together(hands):
    n = RECORDING.run("n-gram", 8)
    hands.set(VIEW, "a user's wait for a token")
    assert hands.trace("n-gram, measured")[1][3] == pytest.approx(1000 * n.median_time_per_token)
    assert hands.trace("n-gram, expected")[1][7] == pytest.approx(1000 * n.median_time_per_token)
    hands.set(VIEW, "tokens a second, together")
    assert hands.trace("plain, measured")[1][3] == pytest.approx(8 / PLAIN[3].median_time_per_token)
    hands.set(VIEW, "speedup of a token's wait")
    assert hands.trace("plain, measured")[1] == [1.0] * 5


def coin(k: int, p: float, slower: float = 1.0):
    """A coin's run at a price of 1 + k / 10 plain steps a round."""
    plain = PLAIN[0]
    each = plain.median_time_per_token * (1 + k / 10) / float(expected_tokens(k, p)) * slower
    answers = tuple(replace(answer, seconds=0.1 + each * (len(answer.tokens) - 1)) for answer in plain.answers)
    return replace(plain, name="coin flip", setup=Setup("t", Custom("a.B"), k=k), answers=answers, p=p)


def test_one_point_gives_the_line():
    coins = [coin(k, p) for k in (2, 5) for p in (0.0, 0.5, 0.9, 1.0)]
    slow = replace(coin(5, 0.5, 9.0), draft_seconds=0.1)
    out = dial_figure([*coins, slow], PLAIN[0])
    line, marks = (next(t for t in out.data if t.name == name) for name in ("k = 5", "measured, k = 5"))
    assert list(line.x)[-1] == 1.0 and line.y[-1] == pytest.approx(6 / 1.5) and line.y[0] == pytest.approx(1 / 1.5)
    assert list(marks.x) == [0.0, 0.5, 0.9, 1.0] and marks.y[2] == pytest.approx(float(expected_tokens(5, 0.9)) / 1.5)
    with pytest.raises(UserError, match=r"No run with k = 5 and p = 0\.5"):
        dial_figure([coin(5, 0.9)], PLAIN[0])
