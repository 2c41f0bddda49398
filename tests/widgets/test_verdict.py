"""The picture of a batch shows what the closed forms make of its prices; the table what `recommend` says; points are the clock's."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from specdec_lab.errors import UserError
from specdec_lab.theory import roofline
from specdec_lab.theory.closed_forms import speedup
from specdec_lab.theory.diagnosis import Signature
from specdec_lab.theory.recommend import recommend
from specdec_lab.widgets import signature_table, verdict_explorer
from tests.measure.batches import ALPHAS, BOUNDS, PRICES, point
from tests.support import ids, one_thread, tiny_llama
from tests.widgets.hands import Hands

assert one_thread
KIND, TEMPERATURE, K = "kind of text", "temperature", "k, tokens drafted a round"
BATCHES = [1, 2, 4, 8, 16]


def hands(**more) -> Hands:
    return Hands(verdict_explorer(ALPHAS, PRICES, **more))


def expected(alpha: float, k: int) -> list[float]:
    return [float(speedup(k, alpha, p.c, p.v(k + 1))) for p in PRICES]


def test_the_line_is_the_closed_form_at_the_prices_of_each_batch():
    here = hands()
    assert here.trace("expected, from bare passes", 1) == (BATCHES, pytest.approx(expected(0.7, 4)))
    band = here.trace("alpha two errors off", 1)[1]
    assert band == pytest.approx(expected(0.76, 4) + expected(0.64, 4)[::-1])
    here.set(K, 2)
    assert here.trace("expected, from bare passes", 1) == (BATCHES, pytest.approx(expected(0.7, 2)))
    here.set(TEMPERATURE, 1.0)
    assert here.trace("expected, from bare passes", 1) == (BATCHES, pytest.approx(expected(0.5, 2)))
    here.set(KIND, "question-answering")
    assert here.trace("expected, from bare passes", 1) == (BATCHES, pytest.approx(expected(0.1, 2)))
    assert here.title(1) == "question-answering at temperature 1, k = 2: expected to lose at every size"


def test_the_title_names_the_crossing():
    here = hands()
    gains = expected(0.7, 4)
    lost = next(b for b, gain in zip(BATCHES, gains, strict=True) if gain <= 1)
    assert lost > 1 and here.title(1) == f"json at temperature 0, k = 4: expected to lose from {lost} texts on"
    few = Hands(verdict_explorer(ALPHAS, PRICES[:2]))
    assert few.title(1) == "json at temperature 0, k = 4: expected to win with 2 texts still"


def test_the_roofline_is_drawn_where_the_machine_is_known():
    assert hands().trace("expected, from the roofline", 1) == ([], [])
    steps = [roofline.pass_time(5 * b, **vars(BOUNDS)) / roofline.pass_time(b, **vars(BOUNDS)) for b in BATCHES]
    right = [float(speedup(4, 0.7, p.c, v)) for p, v in zip(PRICES, steps, strict=True)]
    assert hands(bounds=BOUNDS).trace("expected, from the roofline", 1) == (BATCHES, pytest.approx(right))


def test_the_table_is_what_recommend_says_and_may_be_the_learners_own():
    asked = []

    def mine(alpha, c, verify, overhead, error, k_max):
        asked.append((alpha, error, k_max))
        return "benchmark", 7, 9.99

    here = hands()
    for prices in PRICES:
        found = recommend(0.7, prices.c, prices.v, 0.0, 0.03, 8)
        row = f"{prices.batch} {prices.c:.2f} {prices.v(5):.2f} {found.verdict} {found.k} {found.speedup:.2f}"
        assert row in here.text()
    assert "alpha 0.70 ± 0.03 over 80 tokens" in here.text()
    assert hands(recommend=mine).text().count("benchmark 7 9.99") == 5 and set(asked) == {(0.7, 0.03, 8)}


def test_points_are_shown_at_their_own_setting_only():
    points = {("json", 0.0, 4): [point(1), point(8)]}
    here = hands(points=points)
    assert here.trace("measured", 1) == ([1, 8], [p.speedup for p in points["json", 0.0, 4]])
    assert here.trace("expected of the run's own", 1)[1] == [p.predicted_speedup for p in points["json", 0.0, 4]]
    assert here.trace("plain, measured", 2)[1] == pytest.approx([1 / 0.042, 8 / 0.056])
    here.set(K, 3)
    assert here.trace("measured", 1) == ([], [])


def test_throughput_is_plain_throughput_times_the_speedup():
    here = hands()
    plain = [b / (0.04 + 0.002 * b) for b in BATCHES]
    assert here.trace("plain, expected", 2)[1] == pytest.approx(plain)
    ours = [rate * gain for rate, gain in zip(plain, expected(0.7, 4), strict=True)]
    assert here.trace("with a draft, expected", 2)[1] == pytest.approx(ours)
    assert here.title(2) == "Most tokens a second are expected without a draft, 16 texts at once"


def test_it_measures_the_chosen_setting():
    pair = SimpleNamespace(target=tiny_llama(1), draft=tiny_llama(1, 0.02))
    here = Hands(verdict_explorer(ALPHAS, PRICES[:2], pair=pair, prompts={"json": [ids(1, 2), ids(3)], "question-answering": [ids(4)]}))
    here.set(K, 2)
    here.press("Measure this machine")
    assert here.trace("measured", 1)[0] == [1, 2] and all(gain > 0 for gain in here.trace("measured", 1)[1])
    assert here.status == "Measured."
    here.set(K, 3)
    assert here.trace("measured", 1) == ([], [])


def test_without_a_pair_there_is_no_button():
    assert not hands().buttons


def test_nothing_to_show():
    with pytest.raises(UserError, match="run the cells that measure them first"):
        verdict_explorer([], PRICES)


def test_a_reader_without_a_kernel_sees_both_pictures_and_the_table():
    shown = verdict_explorer(ALPHAS, PRICES)._still
    assert shown.count("<img ") == 2 and "recommended" in shown and '"sliders"' in shown


# --- signatures ---

RUN = Signature(4, 0.6, (0.7, 0.5, None, None), 2.1, 1.4, 0.1, 0.05, 1.12, cool=0.61, rate=0.34)


def rows(html: str) -> list[list[str]]:
    return [[re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in html.split("<tr>")[1:]]


def test_a_row_a_run():
    head, row = rows(signature_table({"a <b>": RUN}).data)
    found = dict(zip(head[1:], row[1:], strict=True))
    assert found == {
        "speedup": "1.12",
        "rate": "0.34",
        "k": "4",
        "alpha": "0.60",
        "by place": "0.70 0.50 –",
        "cold alpha": "0.61",
        "tokens a pass": "2.10",
        "pass": "1.40",
        "drafting": "0.40",
        "overhead": "0.05",
    }


def test_some_columns_and_none_of_that_name():
    head, row = rows(signature_table({"a": RUN}, ("alpha", "rate")).data)
    assert head[1:] == ["alpha", "rate"] and row == ["a", "0.60", "0.34"]
    with pytest.raises(UserError, match="no column 'luck'"):
        signature_table({"a": RUN}, ("luck",))
