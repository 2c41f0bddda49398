"""Laws and draws, against an independent statement of each filter."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from specdec_lab.errors import UserError
from specdec_lab.sampling import SamplingParams, SeededRng, choices, laws
from tests.support import SAMPLED, ids, reference_law

EVERY_COMBINATION = [SamplingParams(*values) for values in itertools.product((0.0, 0.6, 2.0), (0, 3), (1.0, 0.7), (0.0, 0.3), (1.0, 1.7))]
EXTREMES = [
    SamplingParams(1e-5),
    SamplingParams(100.0),
    SamplingParams(1.0, top_k=1),
    SamplingParams(1.0, top_k=99),
    SamplingParams(1.0, top_p=1e-9),
    SamplingParams(1.0, top_p=1 - 1e-9),
    SamplingParams(1.0, min_p=0.999),
    SamplingParams(1.0, repetition_penalty=0.5),
]


def random_logits(seed: int, rows: int = 1, vocab: int = 8, scale: float = 2.0) -> torch.Tensor:
    return torch.randn(rows, vocab, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * scale


@pytest.mark.parametrize("params", EVERY_COMBINATION + EXTREMES, ids=str)
def test_laws_follow_the_reference(params):
    logits, context = random_logits(3, rows=3), ids(1, 4, 4, 6, 2)
    reference = [reference_law(logits[i].tolist(), params, context[: 3 + i].tolist()) for i in range(3)]
    np.testing.assert_allclose(laws(logits, params, context), reference, atol=1e-13)


@given(
    logits=st.lists(st.floats(-30, 30), min_size=2, max_size=12),
    temperature=st.floats(0.05, 5),
    top_k=st.integers(0, 12),
    top_p=st.floats(0.01, 1),
    min_p=st.floats(0, 0.99),
)
@settings(max_examples=200, deadline=None)
def test_what_is_left_is_a_law_that_keeps_the_most_likely_token(logits, temperature, top_k, top_p, min_p):
    law = laws(torch.tensor([logits]), SamplingParams(temperature, top_k, top_p, min_p), ids(0))[0]
    assert law.dtype == torch.float32 and abs(float(law.sum()) - 1) < 1e-5
    assert (law >= 0).all() and law[int(torch.tensor(logits).argmax())] == law.max() > 0


def test_one_filter_at_a_time_by_hand():
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]], dtype=torch.float64).log()

    def law(**filters) -> list[float]:
        return laws(logits, SamplingParams(1.0, **filters), ids(3))[0].tolist()

    assert law(top_k=2) == pytest.approx([4 / 7, 3 / 7, 0, 0])
    assert law(top_p=0.5) == pytest.approx([4 / 7, 3 / 7, 0, 0])  # 0.4 does not reach 0.5 yet, so the next token stays
    assert law(top_p=0.4 - 1e-9) == pytest.approx([1, 0, 0, 0])
    assert law(min_p=0.6) == pytest.approx([4 / 7, 3 / 7, 0, 0])  # at least 0.6 * 0.4
    assert law(repetition_penalty=2.0) == pytest.approx([0.4 / 0.91, 0.3 / 0.91, 0.2 / 0.91, 0.01 / 0.91])  # log 0.1 twice


def test_the_filters_apply_one_after_the_other():
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]], dtype=torch.float64).log()
    # After top-k 2 the first token weighs 4/7 > 0.5: top-p then keeps it alone. The other way round it would keep two.
    assert laws(logits, SamplingParams(1.0, top_k=2, top_p=0.5), ids(0))[0].tolist() == [1, 0, 0, 0]
    # The temperature comes before them: at 0.5 the second token weighs 9/16 of the first, no longer 3/4.
    assert laws(logits, SamplingParams(0.5, min_p=0.6), ids(0))[0].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("filters", [{"top_k": 2}, {"top_p": 0.5}, {"min_p": 0.9}])
def test_equally_likely_tokens_at_the_edge_are_kept_together(filters):
    logits = torch.tensor([[1.0, 2.0, 1.0, 2.0, 2.0]])
    assert laws(logits, SamplingParams(1.0, **filters), ids(0))[0].tolist() == pytest.approx([0, 1 / 3, 0, 1 / 3, 1 / 3])


def test_greedy_takes_the_first_of_equals_and_choices_agrees():
    logits = torch.tensor([[1.0, 3.0, 3.0], [5.0, 5.0, 5.0]])
    assert choices(logits, SamplingParams(), ids(0)).tolist() == [1, 0]
    assert laws(logits, SamplingParams(), ids(0)).argmax(-1).tolist() == [1, 0]


@pytest.mark.parametrize("penalty", [1.0, 1.8, 0.5])
def test_choices_are_the_argmax_of_the_greedy_law(penalty):
    params, logits, context = SamplingParams(repetition_penalty=penalty), random_logits(5, rows=4), ids(1, 2, 3, 4, 5, 6)
    assert choices(logits, params, context).tolist() == laws(logits, params, context).argmax(-1).tolist()


def test_the_repetition_penalty_sees_drafted_tokens_position_by_position():
    logits = torch.ones(3, 4, dtype=torch.float64)
    law = laws(logits, SamplingParams(1.0, repetition_penalty=2.0), ids(0, 1, 2))  # prompt 0, draft 1 2
    penalised = [[i for i in range(4) if row[i] < row.max()] for row in law]
    assert penalised == [[0], [0, 1], [0, 1, 2]]


def test_the_logits_are_left_as_they_were():
    logits = random_logits(0)
    before = logits.clone()
    laws(logits, SamplingParams(0.5, 2, 0.9, 0.1, 1.5), ids(0, 1))
    assert torch.equal(logits, before)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_logits_give_a_float32_law(dtype):
    logits = random_logits(1).to(dtype)
    law = laws(logits, SAMPLED, ids(0))
    assert law.dtype == torch.float32
    torch.testing.assert_close(law, logits.float().softmax(-1))


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED, SamplingParams(1.0, 2, 0.5, 0.1, 1.2)])
@pytest.mark.parametrize("row", [[0.0, math.nan], [0.0, math.inf], [-math.inf, -math.inf]])
def test_logits_that_make_no_law_are_refused(params, row):
    for function in (laws, choices):
        with pytest.raises(UserError, match=r"NaN or infinite logits; try --dtype fp32"):
            function(torch.tensor([[0.0, 0.0], row]), params, ids(0, 1))


def test_a_token_ruled_out_by_the_model_is_never_likely():
    assert laws(torch.tensor([[-math.inf, 0.0]]), SamplingParams(1e-5, top_p=0.5), ids(0)).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    "name, values, wanted",
    [
        ("temperature", (-0.1, 1e-6, math.inf, math.nan), "0 (greedy) or at least 0.00001"),
        ("top_k", (-1,), "0 (off) or more"),
        ("top_p", (0.0, -0.5, 1.1, math.nan), "in (0, 1]; 1 is off"),
        ("min_p", (-0.1, 1.0, math.nan), "in [0, 1); 0 is off"),
        ("repetition_penalty", (0.0, -1.0, math.inf, math.nan), "above 0; 1 is off"),
    ],
)
def test_bad_parameters_are_named_with_their_value_and_their_range(name, values, wanted):
    for value in values:
        with pytest.raises(UserError) as error:
            SamplingParams(**{name: value})
        assert str(error.value) == f"{name} is {value}, but has to be {wanted}."


class Fixed(SeededRng):
    """A draw at a uniform of one's choice."""

    def __init__(self, u: float) -> None:
        self._u = u

    def uniform(self) -> float:
        return self._u


def test_a_draw_never_takes_an_impossible_token_even_at_the_ends():
    last = math.nextafter(1.0, 0.0)
    law = torch.tensor([0.0, 0.0, 0.25, 0.0, 0.75, 0.0])
    assert [Fixed(u).draw(law) for u in (0.0, 0.2499, 0.25, last)] == [2, 2, 4, 4]
    assert Fixed(last).draw(torch.tensor([0.1] * 10 + [0.0] * 3)) == 9  # 0.1 ten times does not sum to 1 exactly


@given(weights=st.lists(st.sampled_from([0.0, 1e-30, 0.1, 1 / 3, 1.0]), min_size=1, max_size=9), u=st.floats(0, 1, exclude_max=True))
@settings(deadline=None)
def test_every_draw_is_possible(weights, u):
    if sum(weights) > 0:
        assert weights[Fixed(u).draw(torch.tensor(weights))] > 0


@pytest.mark.parametrize("law", [[0.0, 0.0], [math.nan, 0.5], [math.inf, 0.5]])
def test_nothing_is_drawn_from_what_is_no_law(law):
    with pytest.raises(UserError, match="nothing to draw from"):
        SeededRng().draw(torch.tensor(law))


def test_draws_follow_their_law():
    law, rng, n = torch.tensor([0.5, 0.0, 0.3, 0.15, 0.05]), SeededRng(7), 8000
    counts = np.bincount([rng.draw(law) for _ in range(n)], minlength=5)
    assert counts[1] == 0
    assert chisquare(np.delete(counts, 1), np.delete(law.numpy() * n, 1).astype(float)).pvalue > 0.01


def test_uniforms_are_float64_and_follow_the_seed():
    first, again, other = ([rng.uniform() for _ in range(50)] for rng in (SeededRng(), SeededRng(0), SeededRng(1)))
    assert first == again != other
    assert all(0 <= u < 1 for u in first) and any(u != float(np.float32(u)) for u in first)
