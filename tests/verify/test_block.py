"""Block verification: the paper's example exactly, and on random pairs the target's law, with never fewer accepted than token-wise."""

import itertools
import math
import random

import pytest
import torch

from specdec_lab.theory.enumeration import exact_law
from specdec_lab.verify import residual, verify_block, verify_sampling
from tests.support import ScriptedRng, assert_same_law, ids

P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
Q = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
ONE_HOT = torch.eye(3, dtype=torch.float64)


class Pair:
    """A target and a draft: laws for every context of at most k drafted tokens."""

    def __init__(self, k: int, vocab: int, law_of) -> None:
        self.k, self.vocab = k, vocab
        contexts = [c for n in range(k + 1) for c in itertools.product(range(vocab), repeat=n)]
        self.p, self.q = {c: law_of("p", c) for c in contexts}, {c: law_of("q", c) for c in contexts}

    @classmethod
    def random(cls, seed: int) -> "Pair":
        """Every third pair knows no context; about every fourth probability is 0."""
        rng = random.Random(seed)
        k, vocab = rng.randint(1, 3), rng.randint(2, 3)

        def law() -> torch.Tensor:
            weights = [rng.choice([0, 1, rng.random(), 3 * rng.random()]) for _ in range(vocab)]
            weights[rng.randrange(vocab)] += 0.1
            return torch.tensor(weights, dtype=torch.float64) / sum(weights)

        fixed = {"p": law(), "q": law()}
        return cls(k, vocab, lambda who, context: fixed[who] if seed % 3 == 0 else law())

    def drafts(self):
        return itertools.product(range(self.vocab), repeat=self.k)

    def law_of_text(self) -> dict:
        """The target's law of k + 1 tokens."""
        texts = itertools.product(range(self.vocab), repeat=self.k + 1)
        return {x: math.prod(float(self.p[x[:i]][x[i]]) for i in range(self.k + 1)) for x in texts}

    def chance_drafted(self, x: tuple[int, ...]) -> float:
        return math.prod(float(self.q[x[:i]][x[i]]) for i in range(len(x)))


def round_law(verify, pair: Pair) -> tuple[dict, float]:
    """The exact law of k + 1 tokens, those of one round and the target's own behind them, and the accepted tokens expected."""

    def run(rng):
        draft = []
        for _ in range(pair.k):
            draft.append(rng.draw(pair.q[tuple(draft)]))
        p = torch.stack([pair.p[tuple(draft[:i])] for i in range(pair.k + 1)])
        q = torch.stack([pair.q[tuple(draft[:i])] for i in range(pair.k)])
        accepted, next_token = verify(p, q, ids(*draft), rng)
        return (*draft[:accepted], next_token)

    emitted = exact_law(run)
    law = {
        x: sum(
            emitted.get(x[: n + 1], 0.0) * math.prod(float(pair.p[x[:i]][x[i]]) for i in range(n + 1, pair.k + 1))
            for n in range(pair.k + 1)
        )
        for x in pair.law_of_text()
    }
    return law, sum((len(tokens) - 1) * weight for tokens, weight in emitted.items())


def test_the_example_of_the_paper():
    """Token-wise 10/9 drafted tokens stand on average, block-wise 11/9."""
    p, q = torch.tensor([1 / 3, 2 / 3], dtype=torch.float64), torch.tensor([2 / 3, 1 / 3], dtype=torch.float64)
    pair = Pair(2, 2, lambda who, context: p if who == "p" else q)
    for verify, accepted in ((verify_sampling, 10 / 9), (verify_block, 11 / 9)):
        law, mean = round_law(verify, pair)
        assert mean == pytest.approx(accepted, abs=1e-12)
        assert_same_law(law, pair.law_of_text())


@pytest.mark.parametrize("seeds", [range(first, first + 50) for first in range(0, 300, 50)], ids=str)
def test_random_pairs_keep_the_law_and_never_accept_fewer(seeds):
    gains = []
    for seed in seeds:
        pair = Pair.random(seed)
        law, accepted = round_law(verify_block, pair)
        assert_same_law(law, pair.law_of_text())
        gains.append(accepted - round_law(verify_sampling, pair)[1])
    assert min(gains) >= -1e-12 and max(gains) > 0.01


@pytest.mark.parametrize("seed", range(12))
def test_the_accepted_tokens_are_what_the_paper_says(seed):
    """At least i tokens stand with probability E[p_i], on average over drafts; here summed over all of them."""
    pair = Pair.random(seed)
    wanted = 0.0
    for i in range(1, pair.k + 1):
        for x in itertools.product(range(pair.vocab), repeat=i):
            if pair.chance_drafted(x):
                weight = 1.0
                for j in range(i):
                    weight = min(1.0, weight * float(pair.p[x[:j]][x[j]]) / float(pair.q[x[:j]][x[j]]))
                wanted += pair.chance_drafted(x) * weight
    assert round_law(verify_block, pair)[1] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_one_drafted_token_is_the_rule_that_everybody_uses(seed):
    pair = Pair.random(seed)
    pair.k = 1
    (block, accepted), (tokenwise, same) = round_law(verify_block, pair), round_law(verify_sampling, pair)
    assert_same_law(block, tokenwise)
    assert accepted == pytest.approx(same, abs=1e-12)


# --- what goes wrong if a piece is left out ---


def block_with(stands, weigh_residual: bool):
    """The algorithm with another chance that exactly i tokens stand, or with the residual of token-wise verification."""

    def verify(p, q, draft, rng):
        k, weight = len(draft), [1.0]
        for i, token in enumerate(draft.tolist()):
            weight.append(min(weight[i] * float(p[i, token] / q[i, token]), 1.0))
        for i in range(k, 0, -1):
            owed = float((weight[i] * p[i] - q[i]).clamp(min=0).sum()) if i < k else weight[i]
            if rng.uniform() < stands(weight[i], owed, i == k):
                break
        else:
            i = 0
        return i, rng.draw(p[k] if i == k else residual(weight[i] * p[i] if weigh_residual else p[i], q[i]))

    return verify


def h(weight: float, owed: float, last: bool) -> float:
    return weight if last else owed / (owed + 1 - weight) if owed else 0.0


BUGS = {
    "the residual forgets the weight": block_with(h, weigh_residual=False),
    "a block stands with its weight, whatever follows": block_with(lambda weight, owed, last: weight, weigh_residual=True),
    "nothing shorter stands": block_with(lambda weight, owed, last: weight if last else 0.0, weigh_residual=True),
    "the rest is not normalised": block_with(lambda weight, owed, last: weight if last else owed, weigh_residual=True),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_piece_left_out_changes_the_law(bug):
    apart = []
    for seed in range(60):
        pair = Pair.random(seed)
        law, true = round_law(BUGS[bug], pair)[0], pair.law_of_text()
        apart.append(max(abs(law[x] - true[x]) for x in true))
    assert max(apart) > 0.005


def test_otherwise_that_copy_is_right():
    for seed in range(20):
        pair = Pair.random(seed)
        assert_same_law(round_law(block_with(h, weigh_residual=True), pair)[0], pair.law_of_text())


# --- each rule alone ---


def test_equal_laws_accept_whatever_the_uniform():
    for dtype in (torch.float32, torch.float64):
        p = torch.stack([P, Q, P]).to(dtype)
        assert verify_block(p, p[:2], ids(2, 2), ScriptedRng(1 - 2**-53))[0] == 2


def test_a_token_that_the_target_likes_carries_the_one_before_it():
    """Weights 0.6 and then 1: token 1 alone would stand with 0.6, but p likes token 0 behind it 2.5 times as well as q does."""
    p, q = torch.stack([P, P, P]), torch.stack([Q, Q])
    assert verify_block(p, q, ids(1, 0), ScriptedRng(1 - 2**-53))[0] == 2
    assert verify_sampling(p, q, ids(1, 0), ScriptedRng(0.61))[0] == 0


def test_the_product_is_held_at_one():
    """2.5 x 0.6 would be 1.5; token 0 has no credit to leave."""
    p, q = torch.stack([P, P, P]), torch.stack([Q, Q])
    assert verify_block(p, q, ids(0, 1), ScriptedRng(0.599))[0] == 2
    assert verify_block(p, q, ids(0, 1), ScriptedRng(0.601, 0.999))[0] == 1  # weight 1, and p still owes 0.3: one token stands for sure


def test_the_correction_is_drawn_from_what_the_weighted_law_has_above_the_drafts():
    p, q = torch.stack([P, ONE_HOT[1], P]), torch.stack([Q, Q])
    rng = ScriptedRng(0.9, 0.0)  # weight of token 1: 0.6; of both: 0, as p gives token 2 nothing there
    assert verify_block(p, q, ids(1, 2), rng) == (1, 1)
    assert rng.drawn[0].tolist() == pytest.approx([0, 1, 0])  # (0.6 p - q)+ is 0.1 at token 1
    rng = ScriptedRng(0.9, 0.9)
    assert verify_block(p, q, ids(1, 2), rng) == (0, 0) and rng.drawn[0].tolist() == pytest.approx([1, 0, 0])


def test_a_uniform_of_exactly_zero_does_not_accept_the_impossible():
    assert verify_block(torch.stack([ONE_HOT[1], P]), ONE_HOT[:1], ids(0), ScriptedRng(0.0)) == (0, 1)


def test_the_bonus_is_drawn_from_the_law_behind_the_whole_draft():
    rng = ScriptedRng(0.0)
    assert verify_block(torch.stack([P, Q, ONE_HOT[2]]), torch.stack([Q, P]), ids(0, 0), rng) == (2, 2)
    assert rng.drawn[0].tolist() == [0, 0, 1]


def test_an_empty_draft_draws_from_the_target():
    rng = ScriptedRng()
    assert verify_block(P[None], torch.empty(0, 3, dtype=torch.float64), ids(), rng) == (0, 0)
    assert rng.drawn[0].tolist() == pytest.approx(P.tolist())


def test_a_deterministic_draft_is_accepted_with_the_targets_probability_of_the_whole():
    pair = Pair(2, 3, lambda who, context: (P if len(context) % 2 else Q) if who == "p" else ONE_HOT[1])
    law, accepted = round_law(verify_block, pair)
    assert_same_law(law, pair.law_of_text())
    assert accepted == pytest.approx(0.5 + 0.5 * 0.3)


def test_float32_laws_keep_the_law_to_float32():
    torch.manual_seed(0)
    rows = torch.randn(8, 4).softmax(-1)
    pair = Pair(2, 4, lambda who, context: rows[sum(context) % 4 + 4 * (who == "q")])
    assert_same_law(round_law(verify_block, pair)[0], pair.law_of_text(), tolerance=1e-6)
