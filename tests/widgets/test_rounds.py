"""The picture of a round, and the player: every number in it is the review's or the round's own."""

from __future__ import annotations

import re
from html import unescape

import pytest

from specdec_lab.drafters import ModelDrafter, NgramDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Generation, Stopping, generate
from specdec_lab.engine.review import Recorded, Review, review
from specdec_lab.errors import UserError
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from specdec_lab.widgets import round_player, round_view
from specdec_lab.widgets import rounds as module
from tests.support import SAMPLED, TreeDrafter, ids

VOCAB = 8
TARGET = markov_lm(0, VOCAB, order=2)
DRAFT = markov_lm(1, VOCAB, order=2, like=TARGET, drift=0.8)
GREEDY = SamplingParams()
WORDS = ["<i>", "w1", "w2", "\n", "w4", "w5", "w6", "w7"]


class Words:
    def decode(self, token_ids, skip_special_tokens=True):
        return "".join(WORDS[i] for i in token_ids)


def reviewed(params: SamplingParams = SAMPLED, drafter=None, draft=DRAFT) -> tuple[Generation, Review]:
    rng = None if params.greedy else Recorded(SeededRng(4))
    run = generate(TARGET, ids(0, 1), drafter or ModelDrafter(DRAFT, VOCAB), 4, params, Stopping(30), rng)
    return run, review(run, TARGET, draft, params, rng)


def read(html: str) -> dict[str, list[str]]:
    """The rows of the first table: name to the text of its cells, lines apart by spaces."""
    table = html.split("<table", 1)[1].split("</table>")[0]
    rows = [re.split(r"<t[hd][^>]*>", row)[1:] for row in table.split("<tr>")[1:]]
    plain = [[unescape(re.sub(r"<[^>]*>", "", cell.replace("<br>", " "))).strip() for cell in row] for row in rows]
    return {row[0]: row[1:] for row in plain}


def pages(run: Generation, found: Review | None = None) -> list[str]:
    player = round_player(run, Words(), found)
    _, number, view = player.parts
    shown = []
    for number.value in range(1, len(run.rounds) + 1):
        shown.append(view.value)
    assert player.status.value == ""
    return shown


# --- a round ---


def test_a_round_names_its_correction_and_its_bonus():
    rejected = read(round_view("<s>", ["the", "cat", "dog"], ["the", "cat", "sat", "END"], accepted=2).data)
    assert rejected["fed to the target"] == ["<s>", "the", "cat", "dog"]
    assert rejected["its prediction for the next place"] == ["the", "cat", "sat", "END"]
    assert rejected["against the draft"] == ["= the ✓ accepted", "= cat ✓ accepted", "≠ dog ✗ correction", "not used"]
    whole = read(round_view("<s>", ["the"], ["the", "cat"], accepted=1).data)
    assert whole["against the draft"] == ["= the ✓ accepted", "bonus"]


def test_a_plain_step_is_no_bonus():
    assert read(round_view("<s>", [], ["the"], accepted=0).data)["against the draft"] == ["target"]


# --- the player ---


def test_it_steps_jumps_and_stops_at_the_ends():
    run, _ = reviewed()
    buttons, number, view = round_player(run, Words()).parts
    play, back, forward, rejection = buttons.children
    assert (play.min, play.max) == (number.min, number.max) == (1, len(run.rounds))
    back.click()
    assert number.value == 1
    forward.click()
    assert number.value == 2 and f"Context: {run.rounds[1].context_length} →" in view.value
    number.value = len(run.rounds)
    forward.click()
    assert number.value == len(run.rounds)
    rejected = [i for i, r in enumerate(run.rounds, 1) if r.rejected]
    seen = []
    for _ in range(len(rejected) + 1):
        rejection.click()
        seen.append(number.value)
    assert rejected[-1] < len(run.rounds) and seen == [*rejected, rejected[0]]


def test_nothing_rejected_nowhere_to_jump():
    run, _ = reviewed(drafter=ModelDrafter(TARGET, VOCAB))
    buttons, number, _ = round_player(run, Words()).parts
    buttons.children[3].click()
    assert number.value == 1


def test_every_number_of_a_sampled_run():
    run, found = reviewed()
    for r, verdicts, html in zip(run.rounds, found.verdicts, pages(run, found), strict=True):
        shown, untested = read(html), ["·"] * (len(r.drafted) + 1 - len(verdicts))
        p = shown["p of the drafted token, its rank"]
        assert [cell.split(", ")[0] for cell in p] == [*(f"{v.p:.2f}" for v in verdicts), *untested]
        assert shown["q of the drafted token"] == [*(f"{v.q:.2f}" for v in verdicts), *untested]
        tests = [f"{v.uniform:.2f} {'<' if v.accepted else '≥'} {v.p / v.q:.2f}" for v in verdicts]
        assert shown["u, to be below p / q"] == [*tests, *untested]
        own = shown["the text goes on with"][r.accepted]
        place = found.places[r.context_length - 2 + r.accepted]
        assert f"p {place.p:.2f}, " in own and f"q {place.q:.2f}" in own
        n = r.context_length
        assert f"The target's cache: {n - 1} → {n + len(r.drafted)} after the pass → {r.target_cache} kept" in html
        assert "at temperature 1" in html
    for before, after, html in zip(run.rounds, run.rounds[1:], pages(run)[1:], strict=False):
        assert f"the draft's: {before.draft_cache} → {after.draft_cache}." in html


def test_the_tick_stands_at_the_uniform_and_the_bar_ends_at_p_over_q():
    run, found = reviewed()
    verdict = found.verdicts[0][-1]
    assert not verdict.accepted
    left = f"left:{verdict.uniform * module.TRACK:.0f}px"
    width = f"width:{verdict.p / verdict.q * module.TRACK:.0f}px"
    assert left in pages(run, found)[0] and width in pages(run, found)[0]


def test_a_greedy_run_says_that_its_laws_are_those_of_temperature_1():
    run, found = reviewed(GREEDY)
    for verdicts, html in zip(found.verdicts, pages(run, found), strict=True):
        shown = read(html)
        assert "the run itself was greedy" in html and "u, to be below p / q" not in shown
        assert "its prediction for the next place" in shown
        for v, cell in zip(verdicts, shown.get("p of the drafted token, its rank", []), strict=False):
            assert cell.endswith(", first") == v.accepted


def test_without_a_draft_model_there_is_no_q():
    run, found = reviewed(drafter=NgramDrafter(1, 3), draft=None)
    drafting = next(i for i, r in enumerate(run.rounds) if r.drafted)
    shown = read(pages(run, found)[drafting])
    assert "q of the drafted token" not in shown
    assert shown["u, to be below p / q"][0] == f"{found.verdicts[drafting][0].uniform:.2f}"


def test_the_words_of_a_model_are_no_html():
    run, found = reviewed()
    assert 0 in run.tokens and not any("<i>" in page for page in [*pages(run, found), round_player(run, Words(), found)._still])


def test_a_tree_shows_the_path_that_stood():
    run, found = reviewed(drafter=TreeDrafter(DRAFT, full(2, 2, 1)))
    at = next(i for i, r in enumerate(run.rounds) if r.parents is not None and r.accepted and r.rejected)
    r, html = run.rounds[at], pages(run, found)[at]
    assert f"A tree of {len(r.drafted)} nodes" in html
    path = [WORDS[r.drafted[node]].replace("\n", "⏎") for node in r.path]
    assert read(html)["fed to the target"][1:] == path
    assert read(html)["against the draft"][-1] == "correction"
    line = round_player(run, Words(), found)._still.split("All ")[1].split("<tr>")[at + 2]
    assert [WORDS.index(word) for word in re.findall(r">([^<>]*) ✓<", line.replace("⏎", "\n"))] == [r.drafted[node] for node in r.path]


@pytest.mark.parametrize("params", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_without_a_kernel_the_first_rejection_and_every_round_in_a_line(params):
    run, found = reviewed(params)
    still = round_player(run, Words(), found)._still
    first = next(i for i, r in enumerate(run.rounds, 1) if r.rejected)
    assert f"Round {first} of {len(run.rounds)}" in still and pages(run, found)[first - 1] in still
    lines = still.split("All ")[1].split("<tr>")[2:]
    for r, line in zip(run.rounds, lines, strict=True):
        assert line.count("✓") == r.accepted and line.count("✗") == r.rejected and r.origins[-1] in line


def test_a_review_of_another_run():
    run, _ = reviewed()
    _, other = reviewed(GREEDY)
    with pytest.raises(UserError, match="another generation"):
        round_player(run, Words(), other)
