"""Every kind of drafter the course has for a pair, ready to run, from the cheapest up."""

from __future__ import annotations

import json
from pathlib import Path

from specdec_lab.drafters.cascade import CascadeDrafter
from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.early_exit import EarlyExitDrafter
from specdec_lab.drafters.interface import Drafter
from specdec_lab.drafters.medusa import MedusaDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.ngram import NgramDrafter
from specdec_lab.drafters.shapes import Shape, best
from specdec_lab.drafters.suffix import SuffixDrafter
from specdec_lab.models.heads import EAGLE, MEDUSA, load_eagle, load_exit, load_medusa, untrained_exit
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.registry import DEFAULT

TREE_NODES = 7  # with the context's last token a pass of 8, as cheap on the CPUs measured as any of 2 and more


def ladder(pair: LoadedPair) -> dict[str, Drafter]:
    """Drafters by name. Those with trained parts are there for the course's own pair alone."""
    vocab = pair.target.vocab_size
    rungs: dict[str, Drafter] = {
        "ngram": NgramDrafter(),
        "suffix": SuffixDrafter(),
        "model": ModelDrafter(pair.draft, vocab),
        "cascade": CascadeDrafter(NgramDrafter(), ModelDrafter(pair.draft, vocab)),
    }
    if pair.pair != DEFAULT:
        return rungs
    exit_, medusa, eagle = load_exit(pair.target), load_medusa(pair.target), load_eagle(pair.target)
    return rungs | {
        "untrained exit": EarlyExitDrafter(pair.target, untrained_exit(pair.target, exit_.layers)),
        "early exit": EarlyExitDrafter(pair.target, exit_),
        "medusa": MedusaDrafter(medusa),
        "medusa tree": MedusaDrafter(medusa, tree_of(MEDUSA)),
        "eagle": EagleDrafter(eagle),
        "eagle tree": EagleDrafter(eagle, tree_of(EAGLE)),
    }


def tree_of(folder: Path, nodes: int = TREE_NODES) -> Shape:
    """The best tree of so many nodes for the heads in `folder`, by the accuracy of each depth and rank on their card."""
    return best(json.loads((folder / "card.json").read_text())["rank_accuracy"], nodes)
