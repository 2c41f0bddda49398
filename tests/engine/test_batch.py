"""Every row of a batch is its single run: the same tokens, the same rounds, whatever stands beside it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from specdec_lab.drafters import (
    AdaptiveDrafter,
    CascadeDrafter,
    ModelDrafter,
    NgramDrafter,
    SuffixDrafter,
    SyntheticDrafter,
)
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.engine import Stopping, generate
from specdec_lab.engine.batch import Pool, throughput
from specdec_lab.errors import UserError
from specdec_lab.models import batched
from specdec_lab.models.hf import HFModel
from specdec_lab.models.toy import markov_lm
from specdec_lab.sampling import SamplingParams, SeededRng
from tests.support import (
    SAMPLED,
    Moody,
    ids,
    one_thread,  # noqa: F401
    tiny_heads,
    tiny_llama,
)

VOCAB, NEW = 24, 25
TARGET, DRAFT = tiny_llama(3, vocab=VOCAB), HFModel(tiny_llama(3, noise=0.02, vocab=VOCAB).model, "draft")
TREE = (-1, -1, 0, 0, 1, 2)
PROMPTS = [ids(1, 2, 3, 1, 2), ids(7), ids(4, 4, 4, 9, 11, 4, 4, 4), ids(*range(20)), ids(1, 2, 3, 1, 2), ids(5, 6)]
DRAFTERS = {
    "none": lambda draft: None,
    "model": lambda draft: ModelDrafter(draft, VOCAB),
    "ngram": lambda draft: NgramDrafter(1, 3),
    "suffix": lambda draft: SuffixDrafter([[1, 2, 3, 4, 1, 2]]),
    "cascade": lambda draft: CascadeDrafter(NgramDrafter(2, 3), ModelDrafter(draft, VOCAB)),
    "adaptive": lambda draft: AdaptiveDrafter(ModelDrafter(draft, VOCAB), lambda alpha: 5 * alpha),
    "sometimes nothing": lambda draft: Moody(ModelDrafter(draft, VOCAB), upto=lambda length: length % 4),
    "early exit": lambda draft: EarlyExitDrafter(TARGET, tiny_heads(3, VOCAB)["exit"]),
    "medusa": lambda draft: MedusaDrafter(tiny_heads(3, VOCAB)["medusa"]),
    "medusa tree": lambda draft: MedusaDrafter(tiny_heads(3, VOCAB)["medusa"], TREE),
    "eagle": lambda draft: EagleDrafter(tiny_heads(3, VOCAB)["eagle"]),
    "eagle tree": lambda draft: EagleDrafter(tiny_heads(3, VOCAB)["eagle"], TREE),
}
WAYS = [SamplingParams(), SAMPLED, SamplingParams(0.7, 12, 0.9, repetition_penalty=1.2)]


def row(target, draft, name, i, params, new=NEW):
    """Row i: its own prompt, seed, draft length and end."""
    stopping = Stopping(new - 3 * (i % 3), eos=frozenset({VOCAB - 1}) if i % 2 else frozenset())
    return generate(target, PROMPTS[i], DRAFTERS[name](draft), 2 + i % 4, params, stopping, SeededRng(i))


def what_happened(run):
    """A run without its times."""
    return run.tokens, run.reason, [replace(r, draft_seconds=0, verify_seconds=0, seconds=0) for r in run.rounds]


def in_a_batch(name, params, rows, target=TARGET, draft=DRAFT):
    pool = Pool()
    shared, shared_draft = pool.share(target), pool.share(draft)
    return pool, pool.run([partial(row, shared, shared_draft, name, i, params) for i in rows])


@pytest.mark.parametrize("params", WAYS, ids=["greedy", "sampled", "filtered"])
@pytest.mark.parametrize("name", DRAFTERS)
def test_rows_are_their_single_runs(name, params):
    _, runs = in_a_batch(name, params, range(len(PROMPTS)))
    for i, run in enumerate(runs):
        assert what_happened(run) == what_happened(row(TARGET, DRAFT, name, i, params)), f"row {i}"


def test_rows_with_coin_flip_acceptance_are_their_single_runs():
    texts = [generate(TARGET, prompt, stopping=Stopping(NEW)).tokens for prompt in PROMPTS]

    def flips(target, draft, i):
        return generate(target, PROMPTS[i], SyntheticDrafter(texts[i], 0.6, VOCAB, ModelDrafter(draft, VOCAB)), 4, stopping=Stopping(NEW))

    pool = Pool()
    target, draft = pool.share(TARGET), pool.share(DRAFT)
    runs = pool.run([partial(flips, target, draft, i) for i in range(len(PROMPTS))])
    assert [what_happened(run) for run in runs] == [what_happened(flips(TARGET, DRAFT, i)) for i in range(len(PROMPTS))]


@pytest.mark.parametrize("name", ["model", "ngram"])
def test_toys_are_batched_one_after_another(name):
    toy, draft = markov_lm(0, VOCAB, order=2), markov_lm(1, VOCAB)
    _, runs = in_a_batch(name, SAMPLED, range(len(PROMPTS)), toy, draft)
    assert [what_happened(run) for run in runs] == [what_happened(row(toy, draft, name, i, SAMPLED)) for i in range(len(PROMPTS))]


def test_a_batch_of_one():
    pool, (run,) = in_a_batch("model", SAMPLED, [3])
    assert what_happened(run) == what_happened(row(TARGET, DRAFT, "model", 3, SAMPLED))
    assert {p.rows for p in pool.passes} == {1}


def test_all_rows_share_each_target_pass_until_they_end():
    pool, runs = in_a_batch("model", SAMPLED, [0, 2, 3, 4, 5])
    rows = [p.rows for p in pool.passes if p.model == TARGET.name]
    assert rows[:2] == [5, 5]  # all prompts are read, and all rows have their first round
    assert rows == sorted(rows, reverse=True), "a row waited while others went on"
    assert len(rows) - 1 == max(len(run.rounds) for run in runs)
    assert sum(rows[1:]) == sum(len(run.rounds) for run in runs)
    drafted = [p for p in pool.passes if p.model == DRAFT.name]
    assert max(p.rows for p in drafted) == 5
    assert all(p.seconds > 0 for p in pool.passes)
    assert sum(p.seconds for p in pool.passes) < pool.seconds


def test_throughput_counts_all_rows():
    _, runs = in_a_batch("none", SAMPLED, range(3))
    assert throughput(runs) == sum(len(run.tokens) for run in runs) / max(sum(r.seconds for r in run.rounds) for run in runs)


def test_a_cache_after_a_hundred_rounds_in_company_is_fresh():
    """A batch keeps its books over many rounds (mlxcel#994): the draft that is the target stands whole in every round."""
    pool = Pool()
    target, draft = pool.share(TARGET), pool.share(TARGET)
    runs = pool.run([partial(generate, target, p, ModelDrafter(draft, VOCAB), 3, SAMPLED, Stopping(400)) for p in PROMPTS[:3]])
    assert all(run.metrics.alpha == 1 for run in runs)
    assert min(len(run.rounds) for run in runs) >= 100


def test_row_caches_keep_the_contract_of_a_cache():
    """Two texts on one shelf, cut or thinned out, and gone on with: as with a cache of one's own."""

    def text(model, tokens, length, rows):
        cache = model.new_cache()
        model(tokens[None], cache)
        cache.select(length, rows)
        return model(ids(3)[None], cache)[0, -1], len(cache), cache.states.shape[0], cache.layer(1)[0].clone()

    texts = [(ids(*range(12)), 6, [1, 3]), (ids(5, 6, 7, 8), 2, []), (ids(5, 6, 7, 8), 4, []), (ids(9, 8, 7, 6, 5), 0, [0, 1])]
    pool = Pool()
    shared = pool.share(TARGET)
    for ours, of_its_own in zip(pool.run([partial(text, shared, *t) for t in texts]), [text(TARGET, *t) for t in texts], strict=True):
        assert ours[1:3] == of_its_own[1:3]
        assert all(float((a - b).abs().max()) < 1e-9 for a, b in zip(ours[::3], of_its_own[::3], strict=True))
    with pytest.raises(AssertionError, match="cannot keep 5 of 4 tokens"):
        pool.run([partial(text, shared, ids(5, 6, 7, 8), 5, [])])


def test_a_row_that_fails_ends_the_others_and_says_why():
    pool, before = Pool(), threading.active_count()
    target = pool.share(TARGET)

    def fails():
        target(ids(1, 2)[None], target.new_cache())
        raise UserError("this row cannot go on.")

    with pytest.raises(UserError, match="this row cannot go on"):
        pool.run([partial(generate, target, PROMPTS[0]), fails, partial(generate, target, PROMPTS[2])])
    assert threading.active_count() == before
    (run,) = pool.run([partial(generate, target, PROMPTS[0])])  # and the pool can be used again
    assert what_happened(run) == what_happened(generate(TARGET, PROMPTS[0]))


def test_an_interrupt_ends_all_rows(monkeypatch):
    pool, before = Pool(), threading.active_count()
    target = pool.share(TARGET)
    monkeypatch.setattr(target.batched, "feed", lambda calls: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        pool.run([partial(generate, target, prompt) for prompt in PROMPTS])
    assert threading.active_count() == before


def test_a_shared_model_is_for_rows():
    target = Pool().share(TARGET)
    with pytest.raises(UserError, match="was called outside them; use the model itself"):
        target(ids(1)[None], target.new_cache())


def test_no_rows_no_runs():
    assert Pool().run([]) == []


@pytest.mark.parametrize(
    "bug",
    ["all rows stand where the longest does", "padding is seen", "a rollback leaves its tokens in sight"],
)
def test_known_bugs_of_batches_are_caught(monkeypatch, bug):
    """gpt-fast#209, transformers#46936: rows of a batch that are not their single runs."""
    if bug == "all rows stand where the longest does":
        longest = SimpleNamespace(**vars(torch) | {"tensor": lambda lengths: torch.tensor([max(lengths)] * len(lengths))})
        monkeypatch.setattr(batched, "torch", longest)
    elif bug == "padding is seen":
        monkeypatch.setattr(batched.Batched, "feed", _sees_padding)
    else:
        monkeypatch.setattr(batched.RowCache, "_crop", lambda self, length: None)
    with pytest.raises((AssertionError, RuntimeError)):
        test_rows_are_their_single_runs("model", SamplingParams())


def _sees_padding(self, calls, feed=batched.Batched.feed):
    forward = self._model.forward
    try:
        self._model.forward = lambda ids_, kv, keep, seen: forward(ids_, kv, keep, seen | seen[:, -1:])
        return feed(self, calls)
    finally:
        del self._model.forward


def test_rows_compute_in_one_thread_and_leave_the_passes_theirs():
    """A row's second thread would go on spinning in the way of the next pass: a step of 8 texts took 100 ms, not 63."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        pool = Pool()
        target = pool.share(TARGET)

        def row():
            generate(target, PROMPTS[0], None, 1, SAMPLED, Stopping(2))
            return torch.get_num_threads()

        assert pool.run([row, row]) == [1, 1]
        assert torch.get_num_threads() == 2
        assert ThreadPoolExecutor(1).submit(torch.get_num_threads).result() == 2
    finally:
        torch.set_num_threads(before)


def test_a_shelf_forgets_finished_rows():
    """The last row takes the free place, with all that it holds."""
    pool = Pool()
    target = pool.share(TARGET)
    shelf = target.batched._shelf
    seen = []

    def text(prompt, new):
        run = generate(target, prompt, None, 1, SAMPLED, Stopping(new))
        seen.append(len(shelf.rows))
        return run

    runs = pool.run([partial(text, PROMPTS[0], 4), partial(text, PROMPTS[2], 30), partial(text, PROMPTS[3], 12)])
    assert seen == [3, 2, 1]
    assert shelf.rows == []
    assert what_happened(runs[1]) == what_happened(generate(TARGET, PROMPTS[2], None, 1, SAMPLED, Stopping(30)))
