"""The bug zoo of chapter 10: each bug has the wrong law, its repair has the right one, and each wrong repair gets its own reason."""

from __future__ import annotations

import inspect
import types

import pytest
import torch

from specdec_lab.checks import check_repair
from specdec_lab.checks.zoo import bugs, picture, repaired, specimen
from specdec_lab.checks.zoo.scene import outcomes, stood
from specdec_lab.checks.zoo.specimens import ZOO
from specdec_lab.errors import UserError
from specdec_lab.theory.enumeration import total_variation
from specdec_lab.verify import residual, verify_sampling
from specdec_lab.verify.block import verify_block
from specdec_lab.verify.tree import verify_tree_sampling

REGRESSIONS = {name: bug.report for name, bug in ZOO.items() if "#" in bug.report}
every_bug = pytest.mark.parametrize("name", ZOO)
SAME_LAW = {"propose_drawn"}  # what it loses is acceptance


def named(name: str):
    """Give a wrong repair the name of the bug that it is meant for."""

    def give(function):
        function.__name__ = name
        return function

    return give


def told(function, capsys) -> str:
    capsys.readouterr()
    check_repair(function)
    return " ".join(capsys.readouterr().out.split())


# --- the zoo itself ---


def test_ten_real_reports_at_least():
    assert len(set(REGRESSIONS.values())) >= 10


@every_bug
def test_the_bug_and_its_repair(name: str):
    """In the first scene, the one that is drawn, the bug shows; in every scene the repair has the target's law."""
    bug = ZOO[name]
    shipped = bug.scenes[0].joint(bug.bug)
    wrong = total_variation(outcomes(shipped), bug.scenes[0].target)
    if name in SAME_LAW:
        assert wrong < 1e-12 and stood(shipped) < stood(bug.scenes[0].joint(bug.repaired)) - 0.1
    else:
        assert wrong > 0.05
    for scene in bug.scenes:
        assert sum(scene.target.values()) == pytest.approx(1)
        assert total_variation(outcomes(scene.joint(bug.repaired)), scene.target) < 1e-12


@every_bug
def test_every_outcome_that_occurs_has_a_name(name: str):
    bug = ZOO[name]
    for scene in bug.scenes:
        for law in (outcomes(scene.joint(bug.repaired)), scene.target):
            assert set(law) <= set(scene.names)
    shown = picture(bug.repaired)
    for law in (shown.target, shown.shipped, shown.now):
        assert sum(law.values()) == pytest.approx(1), "a part of the law is not drawn"


@every_bug
def test_bug_and_repair_are_called_alike(name: str):
    bug = ZOO[name]
    assert inspect.getdoc(bug.bug)
    assert list(inspect.signature(bug.bug).parameters) == list(inspect.signature(bug.repaired).parameters)
    lines = inspect.getsource(bug.bug).splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) <= 95


def test_nothing_is_left_out():
    for module, prefix in ((bugs, "buggy_"), (repaired, "")):
        found = {n.removeprefix(prefix) for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__}
        assert found == set(ZOO)


def test_the_reports_own_numbers():
    """transformers#32867: q = (.8, .2), p = (.6, .4), greedy draft tested against its softmax gives (.75, .25)."""
    bug = ZOO["propose_likeliest"]
    law = outcomes(bug.scenes[1].joint(bug.bug))
    assert [law[0], law[1]] == pytest.approx([0.75, 0.25])


def test_the_packages_own_verifiers_do_what_the_repairs_do():
    """So that the zoo's miniatures are no algorithms of their own."""
    scene = ZOO["verify_run"].scenes[2]
    assert scene.joint(verify_sampling) == pytest.approx(scene.joint(repaired.verify_run))

    def as_a_tree(p, q, children, rng):
        one_hot = torch.eye(len(p), dtype=p.dtype)[children]
        path, token = verify_tree_sampling(p.expand(len(children) + 1, -1), one_hot, children, (-1,) * len(children), rng)
        return (True, int(children[path[0]])) if path else (False, token)

    scene = ZOO["verify_children"].scenes[0]
    assert scene.joint(as_a_tree) == pytest.approx(scene.joint(repaired.verify_children))


# --- wrong repairs ---


@named("propose_likeliest")
def keeps_its_softmax(q):
    law = torch.where(q == q.max(), q, torch.zeros_like(q))
    return q.argmax(), law


@named("propose_likeliest")
def says_all_alike(q):
    return int(q.argmax()), torch.ones_like(q) / len(q)


@named("propose_likeliest")
def ones_everywhere(q):
    return int(q.argmax()), torch.ones(len(q))


@named("propose_likeliest")
def right_in_the_scenes_only(q):
    token = int(q.argmax())
    return token, torch.eye(len(q), dtype=q.dtype)[token] if q[token] >= 0.5 else q


@named("propose_likeliest")
def forgets_the_law(q):
    return int(q.argmax())


@named("propose_likeliest")
def one_number_for_a_law(q):
    return int(q.argmax()), 1.0


@named("propose_drawn")
def chooses(q, rng):
    return q.argmax().item(), q


@named("propose_drawn")
def draws_evenly(q, rng):
    return rng.draw(torch.ones_like(q)), q


@named("propose_drawn")
def states_the_drawn_entry(q, rng):
    token = rng.draw(q)
    return token, q * (torch.arange(len(q)) == token)


@named("propose_drawn")
def chooses_honestly(q, rng):
    return int(q.argmax()), torch.nn.functional.one_hot(q.argmax(), len(q)).double()


@named("propose_top_k")
def kept_but_not_scaled(q, k, rng):
    kept = torch.where(q >= q.sort(descending=True).values[k - 1], q, torch.zeros_like(q))
    return rng.draw(kept / kept.sum()), kept


@named("propose_top_k")
def not_cut_at_all(q, k, rng):
    return rng.draw(q), q


@named("propose_top_k")
def a_sure_thing(q, k, rng):
    kept = q * (q >= q.topk(k).values[-1])
    token = rng.draw(kept / kept.sum())
    return token, torch.eye(len(q), dtype=q.dtype)[token]


@named("propose_top_k")
def cut_in_the_statement_only(q, k, rng):
    kept = q * (q >= q.topk(k).values[-1])
    return rng.draw(q), kept / kept.sum()


@named("both_laws")
def neither_side(target_logits, draft_logits, temperature):
    return target_logits.softmax(-1), draft_logits.softmax(-1)


@named("both_laws")
def the_other_side(target_logits, draft_logits, temperature):
    return (target_logits / temperature).softmax(-1), draft_logits.softmax(-1)


@named("both_laws")
def times_temperature(target_logits, draft_logits, temperature):
    return (target_logits * temperature).softmax(-1), (draft_logits * temperature).softmax(-1)


@named("both_laws")
def divides_probabilities(target_logits, draft_logits, temperature):
    return target_logits.softmax(-1) / temperature, draft_logits.softmax(-1) / temperature


@named("both_laws")
def swaps(target_logits, draft_logits, temperature):
    return (draft_logits / temperature).softmax(-1), (target_logits / temperature).softmax(-1)


@named("both_laws")
def drafts_for_itself(target_logits, draft_logits, temperature):
    p = (target_logits / temperature).softmax(-1)
    return p, p


@named("draft_law")
def cuts_only(logits, vocab):
    return logits[:vocab].softmax(-1)


@named("draft_law")
def fills_with_a_score_of_zero(logits, vocab):
    scores = logits.new_zeros(vocab)
    scores[: len(logits)] = logits[:vocab]
    return scores.softmax(-1)


@named("draft_law")
def right_length_only(logits, vocab):
    law = logits.new_zeros(vocab)
    law[: len(logits)] = logits.softmax(-1)[:vocab]
    return law


@named("draft_law")
def evenly(logits, vocab):
    return torch.ones(vocab) / vocab


def prefix(p, q, draft, rng) -> int:
    accepted = 0
    for i, x in enumerate(draft.tolist()):
        if not rng.uniform() < p[i, x] / q[i, x]:
            break
        accepted += 1
    return accepted


@named("verify_run")
def rolls_the_full_die(p, q, draft, rng):
    accepted = prefix(p, q, draft, rng)
    return accepted, rng.draw(p[accepted])


@named("verify_run")
def residual_of_the_first_place(p, q, draft, rng):
    accepted = prefix(p, q, draft, rng)
    return accepted, rng.draw(residual(p[0], q[0]) if accepted < len(draft) else p[-1])


@named("verify_run")
def bonus_one_early(p, q, draft, rng):
    accepted = prefix(p, q, draft, rng)
    return accepted, rng.draw(residual(p[accepted], q[accepted]) if accepted < len(draft) else p[-2])


@named("verify_run")
def one_uniform_for_all(p, q, draft, rng):
    u, accepted = rng.uniform(), 0
    while accepted < len(draft) and u < p[accepted, draft[accepted]] / q[accepted, draft[accepted]]:
        accepted += 1
    return accepted, rng.draw(residual(p[accepted], q[accepted]) if accepted < len(draft) else p[accepted])


@named("verify_run")
def never_accepts(p, q, draft, rng):
    return 0, rng.draw(p[0])


@named("verify_run")
def counts_itself(p, q, draft, rng):
    accepted, token = verify_sampling(p, q, draft, rng)
    return accepted + 1, token


def less(logits, penalty, held):
    rows = logits.clone()
    for i in range(len(rows)):
        for token in held(i):
            rows[i, token] -= penalty
    return rows


@named("presence_penalised")
def for_the_whole_draft(logits, context, draft, penalty):
    return less(logits, penalty, lambda i: set(context.tolist()) | set(draft.tolist()))


@named("presence_penalised")
def one_too_many(logits, context, draft, penalty):
    return less(logits, penalty, lambda i: set(torch.cat([context, draft[: i + 1]]).tolist()))


@named("presence_penalised")
def forgets_the_context(logits, context, draft, penalty):
    return less(logits, penalty, lambda i: set(draft[:i].tolist()))


@named("presence_penalised")
def by_frequency(logits, context, draft, penalty):
    return less(logits, penalty, lambda i: torch.cat([context, draft[:i]]).tolist())


@named("presence_penalised")
def rewards(logits, context, draft, penalty):
    return less(logits, -penalty, lambda i: set(torch.cat([context, draft[:i]]).tolist()))


@named("presence_penalised")
def no_penalty(logits, context, draft, penalty):
    return logits


@named("presence_penalised")
def in_place(logits, context, draft, penalty):
    for i in range(len(logits)):
        logits[i, list({*context.tolist(), *draft[:i].tolist()})] -= penalty
    return logits


def over_children(p, children, rng, test, rest):
    for child in children.tolist():
        if rng.uniform() < test(p, child):
            return True, child
        p = rest(p, child)
    return False, rng.draw(p)


def take_out(p, child):
    p = p * (torch.arange(len(p)) != child)
    return p / p.sum()


@named("verify_children")
def not_scaled(p, q, children, rng):
    return over_children(p, children, rng, lambda p, c: p[c], lambda p, c: p * (torch.arange(len(p)) != c))


@named("verify_children")
def not_taken_out(p, q, children, rng):
    return over_children(p, children, rng, lambda p, c: p[c], lambda p, c: p)


@named("verify_children")
def still_divides_by_q(p, q, children, rng):
    for child in children:
        if rng.uniform() < p[child] / q[child]:
            return True, child
        p, q = take_out(p, child), take_out(q, child)
    return False, rng.draw(p)


@named("verify_children")
def still_subtracts_q(p, q, children, rng):
    return over_children(p, children, rng, lambda p, c: p[c], lambda p, c: residual(p, q))


@named("verify_children")
def the_first_child_only(p, q, children, rng):
    return over_children(p, children[:1], rng, lambda p, c: p[c], take_out)


@named("verify_children")
def no_child(p, q, children, rng):
    return False, rng.draw(p)


@named("keep_until_end")
def in_front_of_the_end(run, end):
    return (run[: run.index(end)], True) if end in run else (run, False)


@named("keep_until_end")
def goes_on(run, end):
    return (run[: run.index(end) + 1] if end in run else run), False


@named("keep_until_end")
def notices_and_keeps_all(run, end):
    return run, end in run


@named("keep_until_end")
def at_the_last_end(run, end):
    places = [i for i, token in enumerate(run) if token == end]
    return (run[: places[-1] + 1], True) if places else (run, False)


@named("keep_until_end")
def one_token_a_round(run, end):
    return run[:1], run[0] == end


@named("keep_until_end")
def only_the_tokens(run, end):
    return run[: run.index(end) + 1] if end in run else run


def by_hand(weights, rng, off_the_end):
    u, reached = rng.uniform(), 0.0
    for token in range(len(weights)):
        reached += float(weights[token])
        if u < reached:
            return token
    return off_the_end


@named("draw_by_hand")
def the_last_token(weights, rng):
    return by_hand(weights, rng, len(weights) - 1)


@named("draw_by_hand")
def scaled_and_the_last_token(weights, rng):
    return by_hand(weights / weights.sum(), rng, len(weights) - 1)


@named("draw_by_hand")
def scaled(weights, rng):
    return by_hand(weights / weights.sum(), rng, len(weights))


@named("draw_by_hand")
def nan_is_nothing(weights, rng):
    weights = weights.nan_to_num(0.0)
    return by_hand(weights / weights.sum().clamp(min=1e-9), rng, len(weights) - 1)


@named("draw_by_hand")
def the_largest(weights, rng):
    return int(weights.nan_to_num(0.0).argmax())


@named("draw_by_hand")
def converts_the_uniform(weights, rng):
    return int(torch.searchsorted(weights.cumsum(0), float(rng.uniform())))


@named("tokens_to_draft")
def fills_the_text(k, written, wanted):
    return min(k, wanted - written)


@named("tokens_to_draft")
def never(k, written, wanted):
    return 0


@named("tokens_to_draft")
def whole_drafts_only(k, written, wanted):
    return k if k < wanted - written else 0


@named("tokens_to_draft")
def too_careful(k, written, wanted):
    return max(0, min(k, wanted - written - 2))


@named("tokens_to_draft")
def from_the_start(k, written, wanted):
    return min(k, wanted - 1)


@named("tokens_to_draft")
def below_nothing(k, written, wanted):
    return min(k, wanted - written - 2)


@named("propose_if_sure")
def decides_and_chooses(q, least, rng):
    return None if q.max() < least else (int(q.argmax()), q)


@named("propose_if_sure")
def never_sure(q, least, rng):
    return None


@named("propose_if_sure")
def always_sure(q, least, rng):
    return rng.draw(q), q


@named("propose_if_sure")
def one_hot_after_the_fact(q, least, rng):
    token = rng.draw(q)
    return (token, torch.eye(len(q), dtype=q.dtype)[token]) if q[token] >= least else None


@named("propose_if_sure")
def true_of_what_is_kept(q, least, rng):
    token = rng.draw(q)
    kept = q * (q >= least)
    return (token, kept / kept.sum()) if q[token] >= least else None


WRONG = {
    keeps_its_softmax: "still has its softmax",
    says_all_alike: "No die was rolled",
    ones_everywhere: "nothing, above 1",
    right_in_the_scenes_only: "Which law was the token drawn from",
    forgets_the_law: "but a pair is wanted: token, law",
    one_number_for_a_law: "has to be a tensor [vocab]",
    chooses: "the bug before this one",
    draws_evenly: "Draw from the law that you state",
    states_the_drawn_entry: "zeros at the tokens that were not drawn",
    chooses_honestly: "not drawn any more. Draw from q",
    kept_but_not_scaled: "Divide by the sum",
    not_cut_at_all: "taken from the target",
    a_sure_thing: "safe and wasteful",
    cut_in_the_statement_only: "the draw has not",
    neither_side: "agree now, but on temperature 1",
    the_other_side: "accepted less",
    times_temperature: "a low one sharpens",
    divides_probabilities: "before the softmax",
    swaps: "changed places",
    drafts_for_itself: "one and the same law",
    cuts_only: "has to be a tensor [vocab] = [3]",
    fills_with_a_score_of_zero: "a real score",
    right_length_only: "it no longer sums to 1",
    evenly: "not the draft's",
    rolls_the_full_die: "has had its turn",
    residual_of_the_first_place: "always drawn at the first place",
    bonus_one_early: "one place too early",
    one_uniform_for_all: "no longer uniform for the second",
    never_accepts: "the draft is paid for",
    counts_itself: "It accepts 3 of 2",
    for_the_whole_draft: "penalised for the whole draft",
    one_too_many: "before it has been said",
    forgets_the_context: "Both stand in the text",
    by_frequency: "once for each token",
    rewards: "repetition is rewarded",
    no_penalty: "nothing is penalised at all",
    in_place: "It changes its input",
    not_scaled: "sum to 1 again before the next",
    not_taken_out: "another chance at the end",
    still_divides_by_q: "still divides by q",
    still_subtracts_q: "the rest still subtracts q",
    the_first_child_only: "Only the first child is tested",
    no_child: "because nothing is accepted",
    in_front_of_the_end: "The end token itself belongs",
    goes_on: "reports that the text goes on",
    notices_and_keeps_all: "still keeps the tokens behind it",
    at_the_last_end: "cut at the last end",
    one_token_a_round: "one token of a run",
    only_the_tokens: "the tokens kept, whether the text has ended",
    the_last_token: "a law that is wrong in silence",
    scaled_and_the_last_token: "always gives the last token",
    scaled: "still runs off the end",
    nan_is_nothing: "a broken model goes on talking",
    the_largest: "the largest weight always wins",
    converts_the_uniform: "can be compared here, not computed with",
    fills_the_text: "One too many",
    never: "as many passes as tokens",
    whole_drafts_only: "Draft what does fit",
    too_careful: "A draft of n tokens can bring n + 1",
    from_the_start: "How many tokens can a round bring",
    below_nothing: "asks for -1 tokens",
    decides_and_chooses: "the first bug of the zoo",
    never_sure: "and not used",
    always_sure: "return None there",
    one_hot_after_the_fact: "after looking at them",
    true_of_what_is_kept: "True for those that are kept",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__code__.co_name)
def test_a_wrong_repair_gets_its_reason(wrong, capsys):
    printed = told(wrong, capsys)
    assert WRONG[wrong] in printed and "✗" in printed and "★" not in printed
    assert f"package's own {wrong.__name__}" in printed


@every_bug
def test_each_bug_has_wrong_repairs_enough(name: str):
    assert sum(wrong.__name__ == name for wrong in WRONG) >= 4


@every_bug
def test_the_bug_written_otherwise_is_known_as_the_bug(name: str, capsys):
    """Not by its source: the same bug behind another call is still found, by its law."""
    bug = ZOO[name].bug

    @named(name)
    def again(*arguments):
        return bug(*arguments)

    printed = told(again, capsys)
    assert "✗" in printed and "not attempted" not in printed


@every_bug
def test_the_untouched_stub_is_not_attempted(name: str, capsys):
    untouched = types.FunctionType(ZOO[name].bug.__code__, {}, name)
    assert check_repair(untouched) is ZOO[name].repaired
    assert "not attempted yet" in capsys.readouterr().out


def in_a_cell(name: str, *changes: tuple[str, str]):
    """The stub as a notebook has it: under its own name, compiled without the module's imports beside it."""
    source = inspect.getsource(ZOO[name].bug).replace("buggy_", "")
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    names: dict = {"residual": residual, "torch": torch}
    exec(compile(source, "cell", "exec", dont_inherit=True), names)
    return names[name]


@every_bug
def test_a_stub_that_was_compiled_elsewhere_is_the_bug_too(name: str, capsys):
    assert check_repair(in_a_cell(name, ('"""', '"""  '))) is ZOO[name].repaired
    assert "not attempted yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("verify_run", "sum(stands)", "len(stands)"),
        ("verify_run", "< p[i, x]", "> p[i, x]"),
        ("propose_drawn", "law[token] = 1.0", "law[token] = 0.5"),
        ("propose_likeliest", "argmax", "argmin"),
        ("both_laws", "/ temperature", "* temperature"),
    ],
)
def test_a_small_change_is_an_attempt(name, old, new, capsys):
    assert "✗" in told(in_a_cell(name, (old, new)), capsys)


# --- right repairs ---


@named("propose_likeliest")
def with_one_hot(q):
    token = q.argmax()
    return token, torch.nn.functional.one_hot(token, len(q))


@named("propose_likeliest")
def in_32_bits(q):
    law = [1.0 if x == q.argmax() else 0.0 for x in range(len(q))]
    return law.index(1.0), torch.tensor(law)


@named("verify_run")
def with_the_engines_own(p, q, draft, rng):
    return verify_sampling(p, q, draft, rng)


@named("verify_run")
def with_a_block(p, q, draft, rng):
    return verify_block(p, q, draft, rng)


@named("draw_by_hand")
def with_the_rng(weights, rng):
    if not weights.sum() > 0:
        raise RuntimeError("nothing to draw from")
    return rng.draw(weights)


@named("draw_by_hand")
def with_a_scaled_uniform(weights, rng):
    total = weights.sum()
    assert total > 0, "no law"
    u, reached, last = rng.uniform() * total, 0.0, 0
    for token, weight in enumerate(weights):
        reached = reached + weight
        last = token if weight > 0 else last
        if u < reached:
            return token
    return last


@named("keep_until_end")
def with_a_loop(run, end):
    kept = []
    for token in run:
        kept.append(token)
        if token == end:
            return tuple(kept), True
    return kept, False


@named("draft_law")
def with_infinite_scores(logits, vocab):
    scores = torch.full((vocab,), -torch.inf, dtype=logits.dtype)
    scores[: len(logits)] = logits[:vocab]
    return scores.softmax(-1)


@named("presence_penalised")
def with_a_mask(logits, context, draft, penalty):
    rows = []
    for i, row in enumerate(logits):
        seen = torch.zeros_like(row)
        seen[torch.cat([context, draft[:i]])] = penalty
        rows.append(row - seen)
    return torch.stack(rows)


@named("propose_if_sure")
def with_any(q, least, rng):
    return (rng.draw(q), q.clone()) if any(x >= least for x in q.tolist()) else None


@pytest.mark.parametrize(
    "right",
    [
        with_one_hot,
        in_32_bits,
        with_the_engines_own,
        with_a_block,
        with_the_rng,
        with_a_scaled_uniform,
        with_a_loop,
        with_infinite_scores,
        with_a_mask,
        with_any,
    ],
    ids=lambda right: right.__code__.co_name,
)
def test_any_right_repair_is_the_one_that_runs(right, capsys):
    assert check_repair(right) is right
    assert capsys.readouterr().out.count("✓") == 3


@every_bug
def test_the_course_s_own_repair_passes(name: str, capsys):
    copy = types.FunctionType(ZOO[name].repaired.__code__, vars(repaired), name)
    assert check_repair(copy) is copy
    assert check_repair(check_repair(copy)) is copy
    check_repair(ZOO[name].repaired)
    assert "the package's own function" in capsys.readouterr().out


def test_another_name_is_an_error_that_says_which_there_are():
    with pytest.raises(UserError, match=r"lambda.* is none of the zoo's bugs.*propose_likeliest"):
        specimen(lambda q: q)
