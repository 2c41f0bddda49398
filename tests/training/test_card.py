"""The draft that comes with the course says what it is worth, and is worth it."""

import json

import pytest

from specdec_lab.assets import asset
from specdec_lab.models.registry import COURSE_DRAFT

CARD = json.loads((asset(COURSE_DRAFT) / "card.json").read_text())


def test_the_card_says_how_the_draft_was_made():
    assert {"target", "seed", "steps", "trained_on", "held_out", "trained", "measured"} <= set(CARD)


def test_the_draft_meets_the_goals_it_was_made_for():
    alpha = CARD["held_out_greedy_alpha"]
    assert alpha["all"]["alpha"] >= 0.40 and len(alpha) >= 5
    assert alpha["all"]["tokens"] == sum(a["tokens"] for name, a in alpha.items() if name != "all")
    assert max(CARD["cost_ratio_c"].values()) <= 0.10


def test_the_file_is_small_enough_to_commit():
    assert sum(file.stat().st_size for file in asset(COURSE_DRAFT).iterdir()) <= 16_000_000


@pytest.mark.long
def test_the_stated_alpha_is_near_what_the_course_prompts_give(cpu_pair_fp32):
    """Other prompts than those of the card, decoded for real: the draft is as good as it says, or better."""
    from specdec_lab.drafters import ModelDrafter
    from specdec_lab.engine import Stopping, generate
    from tests.real.prompts import PROMPTS

    pair = cpu_pair_fp32
    drafter = ModelDrafter(pair.draft, pair.target.vocab_size)
    runs = [generate(pair.target, pair.encode(text), drafter, 4, stopping=Stopping(48, pair.eos)).metrics for text in PROMPTS]
    accepted, rejections = sum(m.accepted for m in runs), sum(m.rejections for m in runs)
    assert accepted / (accepted + rejections) >= 0.8 * CARD["held_out_greedy_alpha"]["all"]["alpha"]
