"""The speedup explorer: what it draws is what the functions handed in say, at its sliders' prices and at measured ones."""

from __future__ import annotations

import asyncio

import pytest

from specdec_lab.theory.closed_forms import expected_tokens, optimal_k, speedup
from specdec_lab.widgets import speedup_explorer
from specdec_lab.widgets.live import Explorer
from tests.measure.test_traces import trace
from tests.measure.toys import toy_pair
from tests.widgets.hands import Hands

P, K, C, KIND, VERIFY, OVERHEAD, POINTS = (
    "p, a tested guess stands",
    "k, tokens drafted",
    "c, a drafted token",
    "verify, the target's pass",
    "verify, if flat",
    "overhead of a round",
    "measured points",
)
MEASURED = "v(k + 1) as measured"


@pytest.fixture
def hands() -> Hands:
    return Hands(speedup_explorer())


def test_the_sliders_move_bars_curves_and_map(hands):
    assert "2.46x , faster. The best k at these prices: 6 ." in hands.text()
    assert "brings, tokens: 3.69" in hands.text() and "costs, plain steps: 1.50" in hands.text()
    assert hands.title() == "At p = 0.80 and c = 0.1 the best k is 6: 2.47x"
    hands.set(VERIFY, 1.2)
    hands.set(OVERHEAD, 0.3)
    assert "1.84x , faster" in hands.text() and "costs, plain steps: 2.00" in hands.text()
    ks, gains = hands.trace("p = 0.80, chosen")
    assert ks == list(range(21)) and gains[5] == pytest.approx(1.8446, abs=1e-4) and gains[0] == 1
    hands.set(K, 9)
    assert hands.trace("your k = 9") == ([9], [pytest.approx(float(speedup(9, 0.8, 0.1, 1.2, 0.3)))])
    assert hands.trace("chosen", 1) == ([0.8], [6.5])  # half way between the rows of 8 and 10


def test_where_no_draft_pays(hands):
    for label, value in ((P, 0.2), (C, 0.3), (K, 3)):
        hands.set(label, value)
    assert "slower" in hands.text() and "The best k at these prices: 0 (draft nothing)." in hands.text()
    assert hands.title() == "At p = 0.20 and c = 0.3 no draft length helps"
    hands.set(K, 0)
    assert "1.00x , as fast as plain decoding" in hands.text()


def test_at_its_ends(hands):
    for p in (0.0, 1.0):
        for k in (0, 1, 20):
            for c in (0.0, 1.0):
                for label, value in ((P, p), (K, k), (C, c)):
                    hands.set(label, value)
                assert "x ," in hands.text() and not hands.status
    hands.set(C, 0.0)
    assert "20 or more" in hands.text()


def test_stars_stand_on_the_best_k_of_each_curve(hands):
    ks, gains = hands.trace("best k")
    assert ks == [int(optimal_k(p, 0.1, 20)) for p in (0.5, 0.6, 0.7, 0.8, 0.9, 0.8)]
    assert gains == pytest.approx(
        [float(speedup(k, p, 0.1)) if k else 1.0 for k, p in zip(ks, (0.5, 0.6, 0.7, 0.8, 0.9, 0.8), strict=True)]
    )


def test_the_map_is_the_speedup(hands):
    grid = hands.pictures[1].figure.data[0]
    assert grid.z[4][7] == pytest.approx(float(speedup(5, 0.8, 0.1))) and grid.x[7] == 0.8 and grid.text[4][7] == "2.46"
    assert grid.z[0][0] == 1.0 and grid.text[1][0] == f"✗ {float(speedup(2, 0.1, 0.1)):.2f}"
    lost = sum(value < 1 for row in grid.z for value in row)
    assert hands.title(1) == f"Drafting loses in {lost} of 110 fields (✗)" and 0 < lost < 110


def test_a_learners_own_functions_are_drawn():
    asked = []

    def own(k, p):
        asked.append((k, p))
        return expected_tokens(k, p) + 1

    hands = Hands(speedup_explorer(own, lambda k, p, c, verify=1.0, overhead=0.0: 7.5, lambda *_: 2))
    assert "brings, tokens: 4.69" in hands.text() and "7.50x" in hands.text() and "The best k at these prices: 2 ." in hands.text()
    hands.set(P, 0.5)
    assert asked[-1] == (5, 0.5)


def test_a_learners_function_that_fails_is_shown():
    with pytest.raises(ZeroDivisionError):
        speedup_explorer(lambda k, p: 1 / 0)
    hands = Hands(speedup_explorer(lambda k, p: sum(p**i for i in range(k + 1)) / int(p != 0.5)))
    hands.set(P, 0.5)
    assert hands.status.startswith("✗ ZeroDivisionError")


def test_measured_prices_are_refused_before_there_are_any(hands):
    hands.set(KIND, MEASURED)
    assert "✗ No pass has been measured yet: choose recorded points" in hands.status
    hands.set(KIND, "flat: the slider below")
    assert hands.status == ""


def test_recorded_points_bring_their_prices_and_say_where_they_come_from():
    hands = Hands(speedup_explorer(trace=trace()))
    assert hands.controls[P].value == 0.8 and hands.controls[C].value == pytest.approx(0.095)  # 5/52, on the slider's grid
    assert hands.controls[KIND].value == MEASURED
    assert hands.trace("measured, coin flips at p") == ([3], [1.2]) and hands.trace("measured, the draft itself") == ([3], [0.9])
    assert hands.trace("predicted") == ([3, 3], [1.5, 1.4])
    ks, gains = hands.trace("p = 0.80, chosen")
    assert ks == [0, 1] and gains[1] == pytest.approx(float(speedup(1, 0.8, 0.095, 60 / 52)))
    table = hands.text(1)
    assert "Measured: recorded on a box, 2 cores, 2026-11-30" in table
    assert "c = 0.096 plain steps" in table and "52.0 60.0" in table and "51.0–53.0" in table
    assert "real 3 0.60 1.40 ✗ 0.90 0.64" in table and "synthetic 3 none 1.50 1.20 0.80" in table
    hands.set(POINTS, "none yet")
    assert hands.text(1) == "" and hands.trace("measured, coin flips at p") == ([], [])


def test_without_a_pair_there_is_nothing_to_press(hands):
    assert not hands.buttons and "Measure this machine" in Hands(speedup_explorer(pair=toy_pair())).buttons


def test_measuring_drops_points_onto_the_curves_one_by_one(monkeypatch):
    monkeypatch.setattr("specdec_lab.widgets.live.lively", lambda: True)
    hands = Hands(speedup_explorer(pair=toy_pair(drift=0.3), trace=trace()))
    seen = []

    async def learner():
        hands.press("Measure this machine")
        while Explorer._measuring:
            await asyncio.sleep(0)
            seen.append((hands.status, hands.text(1), len(hands.trace("measured, coin flips at p")[0])))

    asyncio.run(asyncio.wait_for(learner(), 60))
    assert "Measured: this machine" in hands.text(1) and hands.status == "Measured."
    assert [points for _, _, points in seen] == sorted(points for _, _, points in seen) and {n for *_, n in seen} == {0, 1, 2, 3, 4}
    passes = [int(status.split()[0]) for status, *_ in seen if "passes timed" in status]
    assert passes[0] <= 2 and passes[-1] == 45 and len(set(passes)) > 40
    assert hands.trace("measured, the draft itself")[0] == [1, 3, 5, 8]
    assert hands.controls[KIND].value == MEASURED and hands.controls[POINTS].value == "none yet"


def test_without_a_kernel_a_slider_over_p_stays(hands):
    page = hands.explorer._still
    assert "<img" in page and "p =" in page and all(f'"{p}"' in page for p in ("0.30", "0.80", "0.95"))
