"""What the roofline asks of a model and of a machine, and passes over several texts."""

from __future__ import annotations

import copy

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.errors import UserError
from specdec_lab.measure import cost_curve, roofline, timer
from specdec_lab.models.hf import HFModel
from specdec_lab.models.toy import scripted_lm
from tests.measure.clock import Clock, PacedModel
from tests.support import tiny_llama

SMALL = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}


def small(**options) -> HFModel:
    return HFModel(LlamaForCausalLM(LlamaConfig(**{**SMALL, **options})), "small")


# --- counted of a model ---


def test_cache_bytes_are_those_the_cache_holds():
    for options in ({"num_key_value_heads": 2}, {"num_key_value_heads": 4}, {"num_key_value_heads": 1, "head_dim": 16}):
        model = small(**options)
        cache = model.new_cache()
        model(torch.arange(7)[None], cache)
        held = sum(part.numel() * part.element_size() for layer in cache.kv.layers for part in (layer.keys, layer.values))
        assert roofline.kv_bytes_per_token(model.model.config, 4) * 7 == held


def test_cache_bytes_of_the_courses_target():
    config = LlamaConfig(hidden_size=576, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3)
    assert roofline.kv_shape(config) == (30, 3, 64)
    assert roofline.kv_bytes_per_token(config, 2) == 23_040


def test_a_table_that_is_only_looked_up_is_not_read():
    shared, apart = small(tie_word_embeddings=True), small(tie_word_embeddings=False)
    assert roofline.parameters_read(shared) == shared.model.num_parameters()
    assert roofline.parameters_read(apart) == apart.model.num_parameters() - 64 * 32
    assert roofline.parameters_read(apart) == roofline.parameters_read(shared)


# --- measured of a machine ---


@pytest.fixture
def durations(monkeypatch):
    """Seconds that the next calls take; the last goes on for ever. The calls are really made."""
    left, made = [0.25], []

    def seconds_of(call, device):
        made.append(call())
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(roofline, "seconds_of", seconds_of)
    monkeypatch.setattr(roofline, "READ_BYTES", 2**20)
    return left, made


def test_bandwidth_is_bytes_read_over_the_seconds_of_the_fastest_call(durations):
    left, made = durations
    left[:] = [0.5, 0.25, 0.5]
    assert roofline.measure_bandwidth() == pytest.approx(2**20 / 0.25)
    assert len(made) == 3 and float(made[0]) == 2**20 / 4, "the whole array is read, and it holds ones"


def test_a_gpu_reads_some_gigabytes_if_they_are_free(monkeypatch):
    for free, read in ((60.0, 2**32), (2.0, 2**29)):
        monkeypatch.setattr(roofline, "free_gib", lambda device, free=free: free)
        assert roofline._bytes_to_read(torch.device("cuda")) == read
    assert roofline._bytes_to_read(torch.device("cpu")) == roofline.READ_BYTES


def test_flop_rate_counts_two_flop_a_term(durations):
    _, made = durations
    assert roofline.measure_flop_rate(torch.bfloat16) == pytest.approx(2 * 1024**3 / 0.25)
    assert made[0].shape == (1024, 1024) and made[0].dtype == torch.bfloat16 and float(made[0][0, 0]) == 1024


def test_matrices_grow_until_a_product_takes_a_while_and_the_best_rate_counts(monkeypatch):
    seconds, tried = {32: 0.001, 64: 0.004, 128: 0.08, 256: 0.1}, []

    def fastest(product, device):
        tried.append(len(product()))
        return seconds[tried[-1]]

    monkeypatch.setattr(roofline, "SIDES", tuple(seconds))
    monkeypatch.setattr(roofline, "_fastest", fastest)
    assert roofline.measure_flop_rate() == pytest.approx(2 * 64**3 / 0.004)
    assert tried == [32, 64, 128]


def test_matrices_grow_no_further_than_the_largest(monkeypatch):
    monkeypatch.setattr(roofline, "SIDES", (32, 64))
    monkeypatch.setattr(roofline, "_fastest", lambda product, device: 0.001)
    assert roofline.measure_flop_rate() == pytest.approx(2 * 64**3 / 0.001)


def test_quick_calls_are_repeated_until_half_a_second_is_full(durations):
    left, made = durations
    left[:] = [0.01]
    roofline.measure_bandwidth()
    assert len(made) in (50, 51)


def test_this_machine_has_rates_that_a_machine_can_have():
    assert 2e8 < roofline.measure_bandwidth() < 1e14
    assert 1e8 < roofline.measure_flop_rate() < 1e16


def test_products_are_those_of_every_weight_matrix_over_n_tokens(monkeypatch):
    model, fed, clock = small(num_key_value_heads=2), [], Clock()
    monkeypatch.setattr(timer, "perf_counter", clock)
    for layer in model.model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_hook(lambda layer, given, out: (fed.append((layer, given[0].shape)), clock.work(0.001)))
    assert roofline.time_products(model, 5, repeats=2) == pytest.approx(0.001 * (3 * 7 + 1))  # seven a layer, and the head
    assert len(fed) == 3 * (3 * 7 + 1), "once untimed, twice timed"
    assert {shape[:2] for _, shape in fed} == {(1, 5)}


def test_no_tokens_and_no_repeats_are_named():
    with pytest.raises(UserError, match="n is 0"):
        roofline.time_products(tiny_llama(0), 0)
    with pytest.raises(UserError, match="repeats is 0"):
        roofline.time_products(tiny_llama(0), 1, repeats=0)


# --- several texts in one pass ---


class Recording(PacedModel):
    """Notes the shapes it is fed, and computes them."""

    def __init__(self, model) -> None:
        super().__init__(model, Clock(), lambda n: 0.0)
        self.shapes: list[tuple[int, int]] = []

    def __call__(self, input_ids, cache, logits_to_keep=0, mask=None):
        self.shapes.append(tuple(input_ids.shape))
        return super().__call__(input_ids, cache, logits_to_keep, mask)


def test_a_batch_of_texts_is_fed_at_once_each_with_its_context():
    model = Recording(tiny_llama(0))
    curve = cost_curve(model, lengths=(3,), context=7, repeats=1, batch=4)
    assert model.shapes == [(4, 7)] + [(4, 1), (4, 3)] * 2
    assert model.passes == [(0, 7)] + [(7, 1), (7, 3)] * 2, "rolled back after every pass"
    assert list(curve.timings) == [1, 3]


def test_a_real_model_reads_a_batch_as_it_reads_each_text():
    """What the timing of batches rests on."""
    model = tiny_llama(0)
    texts = torch.tensor([[1, 2, 3, 4], [9, 8, 7, 6]])
    cache = model.new_cache()
    model(texts[:, :3], cache)
    together = model(texts[:, 3:], copy.deepcopy(cache))
    for text, logits in zip(texts, together, strict=True):
        assert torch.allclose(model(text[None], model.new_cache())[0, -1], logits[-1])


def test_a_batch_of_nothing_is_named():
    with pytest.raises(UserError, match="batch is 0"):
        cost_curve(scripted_lm([1, 2], 5, start=0), batch=0)
