import copy

import pytest
import torch
from safetensors.torch import load_file, save_file

from specdec_lab.errors import UserError
from specdec_lab.models.hf import HFModel
from specdec_lab.models.reduced import load_reduced
from specdec_lab.training.draft import WEIGHTS, new_draft, save
from tests.support import tiny_llama

WORDS = torch.tensor([3, 5, 8, 13, 21, 34, 55])
IDS = torch.tensor([[5, 9, 2, 7]])


@pytest.fixture
def target() -> HFModel:
    """Weights that bfloat16 can hold, so that what is saved is what was made."""
    model = copy.deepcopy(tiny_llama(0).model)
    for w in model.parameters():
        w.data = w.data.bfloat16().double()
    return HFModel(model, "tiny")


def saved(target, layers, folder):
    save({n: w for n, w in new_draft(target.model, layers).model.state_dict().items() if "embed" not in n}, WORDS, {}, folder / WEIGHTS)


@pytest.fixture
def folder(tmp_path, target):
    saved(target, (1, 0), tmp_path / "draft-tiny")
    return tmp_path / "draft-tiny"


def rewrite(folder, **changes):
    """Save the draft again with some tensors replaced, or left out where the change is None."""
    weights = load_file(folder / "draft.safetensors") | changes
    save_file({name: w for name, w in weights.items() if w is not None}, folder / "draft.safetensors")


def test_logits_are_those_of_the_full_draft_on_its_words_and_minus_infinity_elsewhere(target, folder):
    draft = load_reduced(folder, target)
    with torch.inference_mode():
        states = new_draft(target.model, (1, 0)).double().model(IDS).last_hidden_state
        full = states @ target.model.model.embed_tokens.weight.T
    logits = draft(IDS, draft.new_cache())
    assert logits.shape == (1, 4, target.vocab_size)
    assert float((logits[..., WORDS] - full[..., WORDS]).abs().max()) < 1e-12
    others = torch.ones(64, dtype=torch.bool).index_fill(0, WORDS, False)
    assert (logits[..., others] == -torch.inf).all()
    assert torch.equal(draft(IDS, draft.new_cache(), logits_to_keep=1), logits[:, -1:])


def test_its_cache_rolls_back(target, folder):
    draft = load_reduced(folder, target)
    cache, fresh = draft.new_cache(), draft.new_cache()
    draft(IDS, cache)
    cache.truncate(2)
    draft(IDS[:, :2], fresh)
    assert torch.allclose(draft(IDS, cache), draft(IDS, fresh), atol=1e-12)
    assert len(cache) == 6


def test_the_embedding_is_the_targets_own(target, folder):
    draft = load_reduced(folder, target)
    assert draft.model.model.embed_tokens.weight.data_ptr() == target.model.model.embed_tokens.weight.data_ptr()
    assert (draft.name, draft.vocab_size, draft.device) == ("draft-tiny", 64, target.device)
    assert {w.dtype for w in draft.model.parameters()} == {torch.float64}


def test_a_draft_of_fewer_layers_leaves_the_target_as_it_was(target, tmp_path):
    saved(target, (0,), tmp_path / "one")
    before = target(IDS, target.new_cache())
    assert len(load_reduced(tmp_path / "one", target).model.model.layers) == 1
    assert torch.equal(target(IDS, target.new_cache()), before)
    assert target.model.config.num_hidden_layers == 2


def test_a_missing_draft(target, tmp_path):
    with pytest.raises(UserError, match=r"is missing or damaged.*git checkout"):
        load_reduced(tmp_path, target)


@pytest.mark.parametrize("kept", [0, 100, -1])
def test_a_truncated_file(target, folder, kept):
    file = folder / "draft.safetensors"
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(UserError, match="is missing or damaged"):
        load_reduced(folder, target)


@pytest.mark.parametrize(
    "changes",
    [
        {"vocab_ids": None},
        {"vocab_ids": torch.tensor([3, 64], dtype=torch.int32)},
        {"vocab_ids": torch.tensor([-1, 3], dtype=torch.int32)},
        {"vocab_ids": torch.tensor([], dtype=torch.int32)},
        {"norm.weight": None},
        {"norm.weight": torch.ones(16)},
        {"layers.1.mlp.up_proj.weight": None},
        {"layers.1.mlp.up_proj.weight": torch.ones(32, 64)},
        {"surplus": torch.ones(1)},
    ],
    ids=lambda changes: f"{next(iter(changes))}",
)
def test_a_file_of_another_shape(target, folder, changes):
    rewrite(folder, **changes)
    with pytest.raises(UserError, match="does not fit tiny; use it with the model it was trained on"):
        load_reduced(folder, target)


def test_another_target(folder):
    other = copy.deepcopy(tiny_llama(0).model.config)
    other.hidden_size, other.intermediate_size = 48, 64
    with pytest.raises(UserError, match="does not fit wider"):
        load_reduced(folder, HFModel(type(tiny_llama(0).model)(other), "wider"))
