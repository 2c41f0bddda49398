"""The ladder of the real pair: every rung drafts, and a pair without trained parts says so."""

from dataclasses import replace

import pytest

from specdec_lab.cli import DrafterName
from specdec_lab.drafters import ladder as module
from specdec_lab.drafters.ladder import FOR_EVERY_PAIR, WITH_TRAINED_PARTS, drafter, ladder, names, tree_of
from specdec_lab.drafters.shapes import depths
from specdec_lab.engine import Stopping, generate
from specdec_lab.errors import UserError
from specdec_lab.models.heads import EAGLE, MEDUSA
from specdec_lab.models.registry import DEFAULT, PAIRS

ALL = [*FOR_EVERY_PAIR, *WITH_TRAINED_PARTS]


def test_the_command_line_knows_every_drafter():
    assert {each.value.replace("-", " ") for each in DrafterName} == {*ALL, "none"}


def test_other_pairs_have_no_heads(cpu_pair_fp32):
    other = replace(cpu_pair_fp32, pair=PAIRS["qwen2.5-3b"])
    assert names(DEFAULT) == ALL and list(ladder(other)) == list(FOR_EVERY_PAIR)
    with pytest.raises(UserError, match=r"no drafter 'eagle' for qwen2.5-3b; take one of ngram.*or the pair cpu-default"):
        drafter("eagle", other)
    with pytest.raises(UserError, match="no drafter 'elephant' for cpu-default; take one of ngram"):
        drafter("elephant", cpu_pair_fp32)


@pytest.mark.parametrize("folder", [MEDUSA, EAGLE], ids=["medusa", "eagle"])
def test_the_trees_branch(folder):
    shape = tree_of(folder)
    assert len(shape) == module.TREE_NODES and shape.count(-1) > 1 and max(depths(shape)) > 1


@pytest.mark.parametrize("name", ALL)
def test_every_rung_writes_the_plain_text_and_is_accepted_now_and_then(cpu_pair_fp32, name):
    pair = cpu_pair_fp32
    prompt = pair.encode("Repeat this sentence three times: The quick brown fox jumps over the lazy dog.")
    plain = generate(pair.target, prompt, stopping=Stopping(24, pair.eos))
    run = generate(pair.target, prompt, drafter(name, pair), 4, stopping=Stopping(24, pair.eos))
    assert run.tokens == plain.tokens
    if name != "untrained exit":
        assert run.metrics.accepted > 0
