"""Many drafters on many texts, on models whose passes take a known time; and what a drafter guesses along a text."""

import copy
import sys

import pytest
import torch

from specdec_lab.drafters import ModelDrafter, NgramDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.shapes import full
from specdec_lab.engine import Stopping, generate
from specdec_lab.measure import timer
from specdec_lab.measure.ladder import PASSES, PLAIN_STEPS, TEXTS, Rung, agreement_by_layer, climb, conditional, right_at_each_place
from specdec_lab.models.heads import MedusaHeads, untrained_exit
from specdec_lab.models.hf import HFModel
from specdec_lab.models.reduced import reduced_head
from specdec_lab.models.toy import scripted_lm
from tests.measure.clock import Clock, PacedDrafter, PacedModel
from tests.measure.test_compare import PROMPT, TEXT, K, spoilt, truth, v
from tests.measure.toys import comparison
from tests.support import ids, tiny_llama

OTHER = ids(4, 4, 2)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in ("specdec_lab.engine.loop", "specdec_lab.measure.compare"):
        monkeypatch.setattr(sys.modules[module], "perf_counter", clock)
    monkeypatch.setattr(timer, "perf_counter", clock)
    return clock


def target(clock, seconds=v):
    return PacedModel(scripted_lm(TEXT, 10, start=len(PROMPT)), clock, seconds)


def paced(clock):
    return {"good": PacedDrafter(truth, clock, draft=0.004), "fair": PacedDrafter(spoilt, clock, draft=0.004, commit=0.012)}


def medusa(model, shape=None):
    torch.manual_seed(1)
    heads = MedusaHeads(32, 16, 4).double()
    heads.output = reduced_head(torch.arange(64), model)
    return MedusaDrafter(heads, shape)


def test_rows_come_one_at_a_time_each_text_for_all_drafters(clock):
    model = target(clock)
    rows = climb(model, paced(clock), {"a": PROMPT, "b": OTHER}, K, lambda: Stopping(40))
    first = next(rows)
    assert (first.workload, first.drafter) == ("a", "good")
    worked = len(model.passes)
    assert [(row.workload, row.drafter) for row in rows] == [("a", "fair"), ("b", "good"), ("b", "fair")]
    assert len(model.passes) > worked, "nothing is run before it is asked for"


def test_prediction_and_measurement_agree_where_nothing_is_hidden(clock):
    for row in climb(target(clock), paced(clock), {"a": PROMPT}, K, lambda: Stopping(47)):
        run = row.run
        assert run.identical_to_baseline is True and not row.tree
        assert run.baseline_tokens_per_second == pytest.approx(25) and run.efficiency == pytest.approx(1)
        drafted, rounds = run.metrics.drafted, run.metrics.rounds
        commit = 0.3 * (row.drafter == "fair")
        assert run.c == pytest.approx(0.1 + commit * rounds / drafted) and row.drafting == pytest.approx(run.c * drafted / rounds)
        assert row.round_cost == pytest.approx(run.verify + row.drafting)
        assert run.metrics.mean_acceptance_length / row.round_cost == pytest.approx(run.predicted_speedup)


def test_the_speedup_is_that_of_the_clock_whatever_is_timed_in_between(clock):
    alone = generate(target(clock), PROMPT, PacedDrafter(spoilt, clock, draft=0.004), K, stopping=Stopping(40)).decode_seconds
    (row,) = climb(target(clock), {"fair": PacedDrafter(spoilt, clock, draft=0.004)}, {"a": PROMPT}, K, lambda: Stopping(40))
    assert row.run.speculative.decode_seconds == pytest.approx(alone)
    assert row.run.speedup == pytest.approx(40 * 0.040 / alone)


def test_a_pass_that_costs_more_inside_a_round_shows_as_efficiency_below_one(clock):
    """The bare passes are timed apart: what a round costs beyond one is not put into the prediction."""

    class Slower(PacedDrafter):
        def propose(self, context, k, params, rng):
            extra.append(0.020)
            return super().propose(context, k, params, rng)

    extra: list[float] = []
    model = target(clock, lambda n: v(n) + (extra.pop() if extra else 0.0))
    (row,) = climb(model, {"fair": Slower(spoilt, clock, draft=0.004)}, {"a": PROMPT}, K, lambda: Stopping(40))
    assert row.run.efficiency < 0.85 and row.run.verify < 1.3


def test_little_is_timed_beside_a_run(clock):
    """10 drafters on 4 texts would otherwise take three times as long."""
    model = target(clock)
    rows = list(climb(model, {"good": PacedDrafter(truth, clock, 0.0)}, {"a": PROMPT}, K, lambda: Stopping(60)))
    rounds = rows[0].run.metrics.rounds
    others = len(model.passes) - rounds - 60  # the plain text
    lengths = len({len(r.drafted) for r in rows[0].run.speculative.rounds})
    prefills, warm = 5, 2
    assert others <= PLAIN_STEPS + PASSES * lengths + prefills + warm


def test_the_price_of_a_round_is_the_sum_of_its_three_parts():
    rung = Rung("a", "b", comparison((0.01, 0.05, 0.07), plain=20.0))  # a pass of 50 ms, drafting 10 ms, bookkeeping 2 ms
    assert rung.drafting == pytest.approx(0.2) and rung.round_cost == pytest.approx(20 * 0.062)


def test_a_text_of_one_round_has_a_baseline_too(clock):
    (row,) = climb(target(clock), {"good": PacedDrafter(truth, clock, 0.004)}, {"a": PROMPT}, 8, lambda: Stopping(5))
    assert row.run.metrics.rounds == 1 and row.run.baseline_tokens_per_second == pytest.approx(25)


def test_real_models_chains_and_trees_all_write_the_targets_text():
    model = tiny_llama(0)
    drafters = {
        "ngram": NgramDrafter(),
        "model": ModelDrafter(tiny_llama(0, noise=0.02), 64),
        "exit": EarlyExitDrafter(model, untrained_exit(model, 1)),
        "medusa": medusa(model),
        "medusa tree": medusa(model, full(3, 2)),
    }
    rows = list(climb(model, drafters, {"a": ids(1, 2, 3, 4)}, K, lambda: Stopping(16)))
    assert [row.run.identical_to_baseline for row in rows] == [True] * 5
    assert [row.tree for row in rows] == [False, False, False, False, True]
    assert all(row.run.predicted_speedup > 0 and row.round_cost > 0 for row in rows)


def test_the_first_text_is_there_to_be_copied_and_the_kinds_are_four():
    assert list(TEXTS) == ["edit", "code", "chat", "story"] and len(set(TEXTS.values())) == 4
    assert "evry" in TEXTS["edit"]


# --- what is guessed at each place ---


def test_a_drafter_that_knows_the_text_is_right_everywhere_and_one_that_does_not_nowhere():
    model, clock = scripted_lm(TEXT, 10, start=len(PROMPT)), Clock()
    text = torch.cat([PROMPT, ids(*TEXT, *TEXT)])
    assert right_at_each_place(model, PacedDrafter(truth, clock, 0.0), text, len(PROMPT), 3) == [3] * 18
    nothing = PacedDrafter(lambda context, k: [], clock, 0.0)
    assert right_at_each_place(model, nothing, text, len(PROMPT), 3) == [0] * 18


def test_matches_behind_a_wrong_guess_do_not_count():
    text = torch.cat([PROMPT, ids(*TEXT)])
    found = right_at_each_place(scripted_lm(TEXT, 10, start=3), PacedDrafter(spoilt, Clock(), 0.0), text, 3, 3)
    right = [next((j for j in range(3) if (i + j) % 3 == 2), 3) for i in range(8)]  # places 2, 5, 8 are spoilt
    assert found == right


@pytest.mark.parametrize("name", ["model", "exit", "medusa"])
def test_each_place_is_drafted_for_as_in_a_run(name):
    """The same drafts as a new start at every place gives: forgetting from the end leaves the drafter nothing to trip over."""
    model = tiny_llama(0)
    drafter = {
        "model": lambda: ModelDrafter(tiny_llama(0, noise=0.02), 64),
        "exit": lambda: EarlyExitDrafter(model, untrained_exit(model, 1)),
        "medusa": lambda: medusa(model),
    }[name]
    prompt = ids(1, 2, 3, 4)
    plain = generate(model, prompt, stopping=Stopping(14)).tokens
    text = torch.cat([prompt, ids(*plain)])
    expected = []
    for end in range(4, 15):
        first = generate(model, text[:end], drafter(), 4, stopping=Stopping(5)).rounds[0]
        expected.append(first.accepted)
    assert right_at_each_place(model, drafter(), text, 4, 4) == expected
    assert max(expected) > 0 or name == "medusa", "something has to be there to be counted"


def test_conditional_shares():
    assert conditional([0, 1, 3, 3], 3) == [0.75, 2 / 3, 1.0]
    assert conditional([0, 0], 2) == [0.0, None]


def test_the_last_layer_says_what_the_target_says_and_an_exit_what_an_untrained_exit_does():
    model, prompt = HFModel(copy.deepcopy(tiny_llama(0).model), "tiny"), ids(1, 2, 3, 4)
    model.model.model.norm.weight.data = torch.linspace(0.1, 3, 32, dtype=torch.float64)  # a norm that matters
    text = torch.cat([prompt, ids(*generate(model, prompt, stopping=Stopping(14)).tokens)])
    first, last = agreement_by_layer(model, text, 4)
    assert last == 1.0
    drafted = right_at_each_place(model, EarlyExitDrafter(model, untrained_exit(model, 1)), text, 4, 1)
    assert first == pytest.approx(sum(drafted) / len(drafted)) and 0 < first < 1
