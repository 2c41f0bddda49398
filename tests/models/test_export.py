"""The exported draft is the course's draft: the same logits where ours has any, as good at drafting, and readable by transformers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from specdec_lab.assets import asset
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine import Stopping
from specdec_lab.engine.loop import Generation, generate
from specdec_lab.errors import UserError
from specdec_lab.models import export
from specdec_lab.models.hf import HFModel
from specdec_lab.models.loading import LoadedPair
from tests.serving.support import one_sentence


@pytest.fixture(scope="module")
def folder(embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export.export_draft(tmp_path_factory.mktemp("draft") / "made")


@pytest.fixture(scope="module")
def random_folder(embedded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export.export_random_draft(tmp_path_factory.mktemp("random"))


def loaded(folder: Path) -> HFModel:
    return HFModel(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), folder.name)


@pytest.fixture(scope="module")
def exported(folder: Path) -> HFModel:
    return loaded(folder)


def speculative(pair: LoadedPair, model: HFModel | None, prompt: str, tokens: int = 32) -> Generation:
    drafter = ModelDrafter(model, pair.target.vocab_size) if model else None
    return generate(pair.target, pair.encode(prompt), drafter, k=5, stopping=Stopping(tokens, pair.eos))


def test_it_is_a_whole_llama_with_the_targets_vocabulary(exported, folder, cpu_pair_fp32):
    config = exported.model.config
    assert (type(exported.model).__name__, config.num_hidden_layers, config.tie_word_embeddings) == ("LlamaForCausalLM", 2, True)
    assert exported.vocab_size == cpu_pair_fp32.target.vocab_size
    assert config.dtype == torch.float32 and json.loads((folder / "config.json").read_text())["dtype"] == "bfloat16"
    tokenizer, generation = AutoTokenizer.from_pretrained(folder), GenerationConfig.from_pretrained(folder)
    assert tokenizer("def f(x): 123").input_ids == cpu_pair_fp32.tokenizer("def f(x): 123").input_ids
    assert tokenizer.chat_template == cpu_pair_fp32.tokenizer.chat_template
    assert generation.eos_token_id == 2


def test_it_says_what_ours_says_of_our_tokens(exported, cpu_pair_fp32):
    ours = cpu_pair_fp32.draft
    ids = cpu_pair_fp32.encode("Write a haiku about the sea.")[None]
    mine, theirs = (model(ids, model.new_cache())[0] for model in (ours, exported))
    known = ours.model.lm_head.ids
    assert len(known) < theirs.shape[-1]
    assert theirs.isfinite().all() and mine[:, known].isfinite().all()
    torch.testing.assert_close(theirs[:, known], mine[:, known], rtol=1e-4, atol=1e-4)
    others = torch.ones(theirs.shape[-1], dtype=torch.bool).index_fill(0, known, False)
    assert (theirs[:, others].max(-1).values < theirs[:, known].max(-1).values).float().mean() > 0.9, "the other rows win too often"


def test_it_drafts_as_well_and_the_text_is_the_same(exported, cpu_pair_fp32):
    prompt = "List three colours as a JSON array."
    plain, ours, theirs = (speculative(cpu_pair_fp32, model, prompt) for model in (None, cpu_pair_fp32.draft, exported))
    assert plain.tokens == ours.tokens == theirs.tokens
    assert ours.metrics.accepted > 5
    assert abs(ours.metrics.accepted - theirs.metrics.accepted) <= 2


def test_a_draft_of_random_weights_costs_time_alone(random_folder, cpu_pair_fp32):
    prompt = "List three colours as a JSON array."
    plain, drafted = speculative(cpu_pair_fp32, None, prompt, 16), speculative(cpu_pair_fp32, loaded(random_folder), prompt, 16)
    assert plain.tokens == drafted.tokens
    assert drafted.metrics.acceptance_rate < 0.1


def test_the_cached_draft_is_made_once_and_again_when_it_was_retrained(embedded, tmp_path, monkeypatch):
    draft, cache = tmp_path / "assets", tmp_path / "cache"
    shutil.copytree(asset(export.DRAFT), draft)
    monkeypatch.setattr(export, "asset", lambda name: draft)
    monkeypatch.setattr(export, "cache_folder", lambda: cache)
    monkeypatch.setattr(export, "embedded_model", lambda: embedded)
    folder = export.exported_draft()
    made = (folder / "model.safetensors").stat().st_mtime_ns
    assert export.exported_draft() == folder and (folder / "model.safetensors").stat().st_mtime_ns == made
    (draft / "draft.safetensors").write_bytes((asset("exit-smollm2-135m") / "head.safetensors").read_bytes())  # another training
    export.exported_draft()
    assert (folder / "model.safetensors").stat().st_mtime_ns != made
    assert not list(cache.glob("*.partial"))


def test_a_missing_draft_and_a_folder_that_cannot_be(embedded, tmp_path, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    with pytest.raises(UserError, match=r"cannot be written to .*; name a folder") as refused:
        export.export_draft(in_the_way / "draft")
    assert one_sentence(refused.value)
    monkeypatch.setattr(export, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(export, "embedded_model", lambda: embedded)
    monkeypatch.setattr(export, "asset", lambda name: tmp_path / "nowhere")
    for call in (export.exported_draft, lambda: export.export_draft(tmp_path / "draft")):
        with pytest.raises(UserError, match=r"missing or damaged.*git checkout") as refused:
            call()
        assert one_sentence(refused.value)
    assert not (tmp_path / "cache" / export.DRAFT).exists()
