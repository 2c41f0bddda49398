"""Every kind of drafter the course has for a pair, ready to run, from the cheapest up."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from specdec_lab.errors import UserError
from specdec_lab.models.heads import EAGLE, MEDUSA, load_eagle, load_exit, load_medusa, untrained_exit
from specdec_lab.models.loading import LoadedPair
from specdec_lab.models.registry import DEFAULT, Pair

TREE_NODES = 7  # with the context's last token a pass of 8, as cheap on the CPUs measured as any of 2 and more


def tree_of(folder: Path, nodes: int = TREE_NODES) -> Shape:
    """The best tree of so many nodes for the heads in `folder`, by the accuracy of each depth and rank on their card."""
    return best(json.loads((folder / "card.json").read_text())["rank_accuracy"], nodes)


def _model(pair: LoadedPair) -> ModelDrafter:
    return ModelDrafter(pair.draft, pair.target.vocab_size)


def _untrained(pair: LoadedPair) -> EarlyExitDrafter:
    return EarlyExitDrafter(pair.target, untrained_exit(pair.target, load_exit(pair.target).layers))


FOR_EVERY_PAIR: dict[str, Callable[[LoadedPair], Drafter]] = {
    "ngram": lambda pair: NgramDrafter(),
    "suffix": lambda pair: SuffixDrafter(),
    "model": _model,
    "cascade": lambda pair: CascadeDrafter(NgramDrafter(), _model(pair)),
}
WITH_TRAINED_PARTS: dict[str, Callable[[LoadedPair], Drafter]] = {
    "untrained exit": _untrained,
    "early exit": lambda pair: EarlyExitDrafter(pair.target, load_exit(pair.target)),
    "medusa": lambda pair: MedusaDrafter(load_medusa(pair.target)),
    "medusa tree": lambda pair: MedusaDrafter(load_medusa(pair.target), tree_of(MEDUSA)),
    "eagle": lambda pair: EagleDrafter(load_eagle(pair.target)),
    "eagle tree": lambda pair: EagleDrafter(load_eagle(pair.target), tree_of(EAGLE)),
}


def names(pair: Pair) -> list[str]:
    """The drafters there are for a pair: those with trained parts for the course's own alone."""
    return [*FOR_EVERY_PAIR, *(WITH_TRAINED_PARTS if pair == DEFAULT else ())]


def drafter(name: str, pair: LoadedPair) -> Drafter:
    """One drafter by its name. Raises UserError if the pair has none of that name."""
    if name not in names(pair.pair):
        way_out = f"take one of {', '.join(names(pair.pair))}"
        if name in WITH_TRAINED_PARTS:
            way_out += f", or the pair {DEFAULT.name}, whose heads come with the course"
        raise UserError(f"There is no drafter {name!r} for {pair.pair.name}; {way_out}.")
    return (FOR_EVERY_PAIR | WITH_TRAINED_PARTS)[name](pair)


def ladder(pair: LoadedPair) -> dict[str, Drafter]:
    """All drafters there are for a pair, by name."""
    return {name: drafter(name, pair) for name in names(pair.pair)}
