"""Heads in the small: each part learns, an interrupted run goes on, and what is saved drafts as it was trained to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.models.heads import load_eagle, load_exit, load_medusa
from specdec_lab.models.hf import HFModel
from specdec_lab.training import heads
from specdec_lab.training import part as part_module
from specdec_lab.training.corpus import Corpus
from specdec_lab.training.draft import draft_part
from specdec_lab.training.heads import main, unroll, unrolled_mask
from specdec_lab.training.part import Labels, train

PARTS = {
    "medusa": partial(heads.medusa, inner=32),
    "eagle": partial(heads.eagle, unrolled=1),
    "exit": partial(heads.early_exit, layer=2),
}
WITH_DRAFT = PARTS | {"draft": partial(draft_part, layers=(0, 3))}


@pytest.fixture(autouse=True)
def small(target, monkeypatch):
    """The embedded model is the small one."""

    class Few:
        @staticmethod
        def from_pretrained(folder, dtype, num_hidden_layers=4):
            copy = LlamaForCausalLM(type(target.config)(**{**target.config.to_dict(), "num_hidden_layers": num_hidden_layers}))
            copy.load_state_dict(target.state_dict(), strict=False)
            return copy.to(dtype)

    monkeypatch.setattr(heads, "LlamaForCausalLM", Few)
    monkeypatch.setattr(heads, "AutoModelForCausalLM", Few)
    monkeypatch.setattr(heads, "embedded_model", lambda: None)


def fresh(target) -> LlamaForCausalLM:
    copy = LlamaForCausalLM(target.config)
    copy.load_state_dict(target.state_dict())
    return copy.eval()


def part_of(name: str, target, corpus: Corpus):
    torch.manual_seed(0)
    whole = fresh(target)
    return WITH_DRAFT[name](whole.float(), corpus, Labels(whole, torch.arange(50)))


@pytest.mark.parametrize("name", PARTS)
def test_each_part_learns_the_targets_text(name, target, corpus: Corpus):
    part, rows = part_of(name, target, corpus), corpus.training()[:60]
    before = part.loss_on(rows).item()
    list(train(part, corpus, 150, 0, 3e-3, None))
    assert part.loss_on(rows).item() < 0.85 * before
    after = part.alphas(rows)
    if name == "medusa":
        assert len(after) == 4 and after[0] > after[3], "the further a head looks, the less it sees"


def test_an_untrained_exit_behind_all_layers_is_the_target(target, corpus: Corpus):
    part = heads.early_exit(fresh(target), corpus, Labels(fresh(target), torch.arange(50)), layer=4)
    assert part.alphas(corpus.held_out_greedy())[0] > 0.97, "bfloat16 has the rest"


def test_unrolling_trains_the_steps_after_the_first(target, corpus: Corpus):
    part, rows = part_of("eagle", target, corpus), corpus.training()[:60]
    list(train(part, corpus, 150, 0, 3e-3, None))
    longer = unroll(part, fresh(target), 3)
    before = longer.alphas(rows)
    assert before[0] == pytest.approx(part.alphas(rows)[0])
    list(train(longer, corpus, 100, 1, 1e-3, None))
    after = longer.alphas(rows)
    assert len(after) == 3 and sum(after[1:]) > sum(before[1:])


def test_a_step_sees_its_own_guesses_and_the_truth_before_them():
    """The third token after position t = 3: its own pair, those guessed at 2 and 1 steps before, and true pairs up to 1."""
    seen = unrolled_mask(5, 2)[0, 0] == 0
    truth, first, second = seen[3].split(5)
    assert [t.nonzero().flatten().tolist() for t in (truth, first, second)] == [[0, 1], [2], [3]]
    assert torch.equal(unrolled_mask(5, 0)[0, 0] == 0, torch.ones(5, 5).tril().bool())


@pytest.mark.parametrize("name", WITH_DRAFT)
def test_an_interrupted_training_goes_on_where_it_stopped(name, target, corpus: Corpus, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(part_module, "fit", partial(part_module.fit, every=4))

    def trained(checkpoint, stop=None):
        part = part_of(name, target, corpus)
        for progress in train(part, corpus, 10, 0, 1e-3, checkpoint):
            if progress.step == stop:
                break
        return part.module.state_dict()

    through = trained(tmp_path / "through.ckpt")
    trained(tmp_path / "cut.ckpt", stop=8)  # dies before it has written what it just reported
    resumed = trained(tmp_path / "cut.ckpt")
    assert all(torch.equal(through[key], resumed[key]) for key in through)


@pytest.mark.parametrize("name", PARTS)
def test_the_command_saves_what_drafts(name, target, text: Path, corpus: Corpus, tmp_path: Path, monkeypatch):
    """From the file of text to a drafter, whose acceptance is what training promised."""
    monkeypatch.setattr(heads, "KEPT", 45)
    monkeypatch.setattr(heads, "EXIT_LAYER", 2)
    monkeypatch.setitem(heads.PARTS, "medusa", PARTS["medusa"])
    monkeypatch.setitem(heads.PARTS, "exit", PARTS["exit"])
    main(name, text, tmp_path / "work", tmp_path / name, steps=150, peak=3e-3)
    model = HFModel(fresh(target).float(), "tiny")
    drafter = {
        "medusa": lambda: MedusaDrafter(load_medusa(model, tmp_path / name)),
        "eagle": lambda: EagleDrafter(load_eagle(model, tmp_path / name)),
        "exit": lambda: EarlyExitDrafter(model, load_exit(model, tmp_path / name)),
    }[name]()
    rounds = []
    for row in corpus.training()[:20]:
        prompt = torch.from_numpy(corpus.tokens[row.start : row.start + row.answer].astype("int64"))
        run = generate(model, prompt, drafter, 3, stopping=Stopping(12))
        assert run.tokens == generate(model, prompt, stopping=Stopping(12)).tokens
        rounds += run.rounds
    tested = [r for r in rounds if r.drafted]
    assert sum(r.accepted > 0 for r in tested) / len(tested) > 0.08, "four times as much as by chance"
