import pytest
import torch

from specdec_lab.models.toy import law_lm, markov_lm, scripted_lm, table_lm

WORDS = ("the", "cat", "sat", "END")
TABLE = {("the",): "cat", ("the", "cat"): "sat"}


def greedy(model, prompt, n):
    cache, ids = model.new_cache(), list(prompt)
    for _ in range(n):
        ids.append(int(model(torch.tensor([ids[len(cache) :]]), cache)[0, -1].argmax()))
    return ids[len(prompt) :]


def test_one_pass_says_what_many_say():
    model, ids = markov_lm(seed=3, vocab_size=5, order=2), torch.tensor([[1, 4, 0, 2]])
    whole = model(ids, model.new_cache())
    cache = model.new_cache()
    steps = torch.cat([model(ids[:, i : i + 1], cache) for i in range(4)], dim=1)
    assert whole.shape == (1, 4, 5)
    assert torch.equal(whole, steps)


def test_logits_to_keep_are_the_last_rows():
    model, ids = markov_lm(seed=3, vocab_size=5), torch.tensor([[1, 4, 0, 2]])
    whole = model(ids, model.new_cache())
    assert torch.equal(model(ids, model.new_cache(), logits_to_keep=2), whole[:, 2:])


def test_a_truncated_cache_forgets():
    model = markov_lm(seed=0, vocab_size=5, order=2)
    cache = model.new_cache()
    model(torch.tensor([[1, 2, 3]]), cache)
    cache.truncate(1)
    assert len(cache) == 1
    fresh = model.new_cache()
    model(torch.tensor([[1]]), fresh)
    assert torch.equal(model(torch.tensor([[4]]), cache), model(torch.tensor([[4]]), fresh))
    with pytest.raises(AssertionError, match="cannot keep 3 of 2"):
        cache.truncate(3)


def test_markov_looks_at_its_last_tokens_alone():
    model = markov_lm(seed=1, vocab_size=4, order=2)
    assert torch.equal(model._next_logits((0, 1, 2)), model._next_logits((3, 1, 2)))
    assert not torch.equal(model._next_logits((0, 1, 2)), model._next_logits((0, 3, 2)))
    assert not torch.equal(model._next_logits((0,)), markov_lm(seed=2, vocab_size=4)._next_logits((0,)))


def test_a_markov_draft_resembles_its_target():
    target = markov_lm(seed=1, vocab_size=50)
    apart = [
        float((markov_lm(2, 50, like=target, drift=d)._next_logits((7,)) - target._next_logits((7,))).abs().mean()) for d in (0, 0.1, 2)
    ]
    assert apart[0] == 0 < apart[1] < apart[2]


def test_table_says_its_values_then_the_end():
    model = table_lm(TABLE, WORDS)
    assert [WORDS[i] for i in greedy(model, [0], 3)] == ["cat", "sat", "END"]
    assert [WORDS[i] for i in greedy(model, [1], 1)] == ["END"]


def test_script_is_said_whatever_came_before():
    model = scripted_lm([4, 2, 3], vocab_size=5, start=2)
    assert greedy(model, [0, 0], 4) == [4, 2, 3, 4]
    assert greedy(model, [1, 1], 3) == [4, 2, 3]


def test_a_fixed_law_is_the_softmax_of_its_logits():
    model = law_lm([0.5, 0.3, 0.2, 0.0])
    law = model(torch.tensor([[0, 3]]), model.new_cache()).softmax(-1)
    assert torch.allclose(law, torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64).expand(1, 2, 4), atol=1e-15)
