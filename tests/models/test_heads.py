"""Trained parts: what a file gives back, and what is said about a file that is not right."""

import copy

import pytest
import torch
from safetensors.torch import load_file, save_file

from specdec_lab.errors import UserError
from specdec_lab.models.heads import SAMPLE, WEIGHTS, ExitHead, load_eagle, load_exit, load_medusa, untrained_exit
from specdec_lab.models.hf import HFModel, attention
from specdec_lab.training.draft import save
from tests.support import ids, tiny_heads, tiny_llama

LOAD = {"medusa": load_medusa, "eagle": load_eagle, "exit": load_exit}
WORDS = torch.tensor([3, 5, 8, 13, 21, 34, 55])
STATES = torch.randn(5, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def target() -> HFModel:
    return HFModel(copy.deepcopy(tiny_llama(0).model), "tiny")


@pytest.fixture(params=LOAD)
def name(request):
    return request.param


@pytest.fixture
def folder(name, tmp_path, target):
    part = tiny_heads(0)[name]
    weights = {n: w for n, w in part.state_dict().items() if "embed_tokens" not in n}
    weights["table_sample"] = target.model.model.embed_tokens.weight.detach()[WORDS][:SAMPLE]
    if isinstance(part, ExitHead):
        weights["layers"] = torch.tensor(part.layers)
    save(weights, WORDS, {}, tmp_path / name / WEIGHTS)
    return tmp_path / name


def outputs(name, part):
    if name == "eagle":
        cache = HFModel(copy.deepcopy(tiny_llama(0).model), "tiny").new_cache().kv
        return part(STATES[None], ids(1, 2, 3, 4, 5)[None], cache, **attention(torch.ones(1, 5, 5).tril().bool(), torch.float64))[0]
    return part(STATES)


def test_what_was_saved_is_loaded(name, folder, target):
    part = LOAD[name](target, folder)
    guessed = outputs(name, part)
    assert torch.allclose(guessed, outputs(name, tiny_heads(0)[name]), atol=0.05), "bfloat16 lies between"
    logits = part.output(guessed)
    rows = target.model.model.embed_tokens.weight[WORDS]
    assert torch.allclose(logits[..., WORDS], guessed @ rows.T) and (logits.isinf().sum(-1) == 64 - len(WORDS)).all()
    assert not any(w.requires_grad for n, w in part.named_parameters() if "embed_tokens" not in n)


def test_an_exit_knows_its_layer(tmp_path, target):
    assert untrained_exit(target, 1).layers == 1
    hidden = torch.randn(3, 32, dtype=torch.float64)
    part = untrained_exit(target, 1)
    assert torch.allclose(part.output(part(hidden)), target.model.lm_head(target.model.model.norm(hidden)))


def test_loading_leaves_the_targets_table_alone(name, folder, target):
    table = target.model.model.embed_tokens.weight
    before, pointer = table.detach().clone(), table.data_ptr()
    LOAD[name](target, folder)
    assert torch.equal(table, before) and target.model.model.embed_tokens.weight.data_ptr() == pointer and table.requires_grad


@pytest.mark.parametrize("kept", [0, 100, -1])
def test_a_truncated_file(name, folder, target, kept):
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(UserError, match=r"is missing or damaged.*git checkout"):
        LOAD[name](target, folder)


def test_a_missing_file(name, tmp_path, target):
    with pytest.raises(UserError, match=r"is missing or damaged.*git checkout"):
        LOAD[name](target, tmp_path)


CHANGED = {"medusa": "fall.1.weight", "eagle": "fuse.weight", "exit": "block.up_proj.weight"}


@pytest.mark.parametrize("change", ["missing", "another shape", "surplus", "ids beyond the vocabulary", "no sample"])
def test_a_file_of_another_shape(name, folder, target, change):
    weights = load_file(folder / WEIGHTS)
    if change == "missing":
        del weights[CHANGED[name]]
    elif change == "another shape":
        weights[CHANGED[name]] = torch.ones(7, 7)
    elif change == "surplus":
        weights["surplus"] = torch.ones(1)
    elif change == "no sample":
        del weights["table_sample"]
    else:
        weights["vocab_ids"] = torch.tensor([3, 64], dtype=torch.int32)
    save_file(weights, folder / WEIGHTS)
    with pytest.raises(UserError, match="does not fit tiny; use it with the model it was trained on"):
        LOAD[name](target, folder)


def test_another_target_of_the_same_shape(name, folder):
    with pytest.raises(UserError, match="does not fit other"):
        LOAD[name](HFModel(copy.deepcopy(tiny_llama(1).model), "other"), folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_its_own_target_in_another_dtype(name, folder, dtype):
    target = HFModel(copy.deepcopy(tiny_llama(0).model).to(dtype), "tiny")
    part = LOAD[name](target, folder)
    assert {w.dtype for w in part.parameters()} == {dtype}
