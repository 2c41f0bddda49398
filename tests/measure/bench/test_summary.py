"""What the measurements are summed up to, and the reason given for each way to lose."""

import pytest

from specdec_lab.engine.metrics import Metrics
from specdec_lab.measure.bench import summarise
from specdec_lab.measure.bench.summary import Spread, together
from tests.measure.bench.toys import PAIR, batch_record, metrics, plan, records, text_record, workload
from tests.support import rounds

GOOD = [4, 3, 4, 2, 4, 4, 1, 4]  # accepted of 4: 4.25 tokens a pass


def only(**changes):
    """A plan of one cell and no batches, or as changed."""
    usual = {"workloads": (workload("a", 0.0),), "drafters": ("model",), "k": (4,), "batches": (), "prompts": 1}
    return plan(**{**usual, **changes})


def cell(text, **changes):
    made = only(**changes)
    return summarise(made, records(made, text=text)).cells[0]


def test_the_middle_half_of_the_values():
    assert Spread.of([4, 1, 2, 3, 5]) == Spread(3.0, 2.0, 4.0)
    assert Spread.of([7]) == Spread(7.0, 7.0, 7.0)


def test_counts_of_several_runs_are_those_of_their_rounds_together():
    parts = ([2, 0, 1], [5, 5], [0])
    lengths = (2, 5, 3)
    whole = Metrics.of([r for accepted, k in zip(parts, lengths, strict=True) for r in rounds(*accepted, k=k)])
    assert together(metrics(*accepted, k=k) for accepted, k in zip(parts, lengths, strict=True)) == whole


def test_medians_and_quartiles_are_over_prompts_and_repeats():
    made = only(workloads=(workload("a", 0.0, 0.0),), prompts=2, repeats=2)
    held = records(made)
    for verify, task in zip((1.0, 2.0, 3.0, 4.0), made.tasks, strict=True):
        held[task.key] = text_record(*GOOD, verify=verify, drafting=0.0, overhead=0.0).as_dict()
    found = summarise(made, held).cells[0]
    assert found.spread("speedup") == Spread.of([4.25 / v for v in (1, 2, 3, 4)])
    assert found.spread("verify") == Spread(2.5, 1.75, 3.25) and len(found.runs) == 4


def test_a_repeat_of_a_greedy_text_counts_once_and_another_draw_again():
    one, greedy, sampled = only(), only(repeats=3), only(repeats=3)
    count = summarise(one, records(one)).cells[0].metrics
    assert summarise(greedy, records(greedy)).cells[0].metrics == count
    drawn = text_record(2, 4, 0, identical=None, temperature=0.8)
    assert summarise(sampled, records(sampled, text=drawn)).cells[0].metrics == together([count] * 3)


def test_two_prompts_of_the_same_counts_are_two():
    two = only(workloads=(workload("a", 0.0, 0.0),), prompts=2)
    assert summarise(two, records(two)).cells[0].metrics.tokens == 2 * text_record(2, 4, 0).metrics.tokens


def test_a_part_of_a_plan_is_summed_up_as_far_as_it_goes():
    made = plan()
    held = records(made)
    some = {key: held[key] for key in list(held)[:4]}
    results = summarise(made, some)
    assert (results.done, results.planned, results.complete) == (3, len(made.tasks), False)
    assert len(results.cells) == 3 and not results.batches
    assert summarise(made, {}).cells == ()


def test_cells_stand_workload_by_workload():
    made = plan(temperatures=(0.0, 1.0))
    order = [(c.workload, c.temperature) for c in summarise(made, records(made)).cells]
    assert order == sorted(order) and order[0] == ("letters", 0.0)


def test_temperature_and_identity_in_words():
    assert cell(text_record(*GOOD)).at == "0 (own)" and cell(text_record(*GOOD), temperatures=(0.5,)).at == "0.5"
    assert cell(text_record(*GOOD)).same == "yes" and cell(text_record(*GOOD, identical=None)).same == "sampled"
    assert cell(text_record(*GOOD, identical=False)).same == "0 of 1; the first differs at token 3: 'a', 'b'"
    made = only(workloads=(workload("a", 0.0, 0.6),), prompts=2)
    held = records(made, text=text_record(*GOOD))
    held[made.tasks[1].key] = text_record(*GOOD, identical=None, temperature=0.6).as_dict()
    found = summarise(made, held).cells[0]
    assert (found.at, found.same) == ("0 to 0.6 (own)", "yes, where greedy")


TOO_LONG = text_record(*[0] * 16, *[1] * 8, *[2] * 4, 3, 3, 4, 5, k=8, drafting=1.6)
LOST = {  # each run loses to one thing
    "low alpha": (text_record(0, 1, 0, 0, 0, 1, 0, 0, k=2, drafting=0.4, overhead=0.3), {"k": (2,)}, "text", "would still lose"),
    "high c": (text_record(*GOOD, drafting=4.0), {}, "drafting", "The dearest extra is the drafting: 4.00"),
    "a dear pass": (text_record(*GOOD, verify=5.0), {}, "pass", "The dearest extra is the pass: 4.00"),
    "overhead": (text_record(*GOOD, overhead=4.0), {}, "overhead", "The dearest extra is the overhead: 4.00"),
    "k too large": (TOO_LONG, {"k": (8,)}, "k too large", "the last of 8 guesses are paid in vain"),
    "an unseen part": (text_record(*GOOD, slower=5.0), {}, "unseen", "the clock says"),
    "a lost thread": (text_record(*[1] * 40, *[0] * 40, k=3, drafting=3.0), {"k": (3,)}, "drift", "loses the thread"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_a_loss_has_its_own_reason(name):
    record, changes, cause, says = LOST[name]
    assert record.speedup < 1
    why = cell(record, **changes).why
    assert why is not None and why.cause == cause, why
    assert says in why.reason and why.repair


def test_a_win_needs_no_reason():
    assert cell(text_record(*GOOD)).why is None


def test_the_temperature_is_the_reason_where_the_same_text_is_in_order_at_0():
    made = only(temperatures=(0.0, 1.2))
    held = records(made, text=text_record(*GOOD))
    hot = next(task for task in made.tasks if task.temperature == 1.2)
    held[hot.key] = text_record(0, 1, 0, 0, 0, 0, temperature=1.2, drafting=0.8, identical=None).as_dict()
    cold, warm = summarise(made, held).cells
    assert cold.why is None and warm.why is not None and warm.why.cause == "temperature"
    assert f"{cold.metrics.alpha:.2f} at temperature 0" in warm.why.reason


def test_a_later_place_that_was_hardly_ever_tested_is_no_lost_thread():
    """Of 4 first guesses 2 stand, and of their followers none: that may be chance."""
    why = cell(text_record(1, 0, 1, 0, k=3, drafting=2.0), k=(3,)).why
    assert why is not None and why.cause != "drift"


def test_nothing_drafted_is_said():
    why = cell(text_record(0, 0, 0, k=0, drafting=0.0)).why
    assert why is not None and "Nothing was drafted" in why.reason


def test_a_batch_that_loses_what_one_text_gained_is_the_batchs_fault():
    made = only(workloads=(workload("a", 0.0),), batches=(1, 16))
    held = records(made, text=text_record(*GOOD), batch=batch_record(*GOOD))
    held["batch/auto/model/4/16/0"] = batch_record(*GOOD, verify=4.5).as_dict()
    results = summarise(made, held)
    alone, many = results.batches
    assert alone.why is None and not alone.past_ridge and alone.at_once == "1 text at once"
    assert many.past_ridge and many.why is not None and many.why.cause == "batch"
    assert [name for name, _ in results.losses] == ["16 texts at once, model, k = 4, auto"]


def test_the_ridge_is_that_of_the_measured_bounds():
    made = only(batches=(3, 4))
    results = summarise(made, records(made))
    assert results.ridge("auto") == PAIR["flop_rate"] / PAIR["bandwidth"] * 8 / 2 == 16
    assert [batch.past_ridge for batch in results.batches] == [False, True]  # 15 and 20 tokens in a pass
