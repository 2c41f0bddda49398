"""Proposers behind one protocol: whatever guesses, the target decides."""

from specdec_lab.drafters.adaptive import AdaptiveDrafter
from specdec_lab.drafters.cascade import CascadeDrafter
from specdec_lab.drafters.interface import Draft, Drafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.ngram import NgramDrafter
from specdec_lab.drafters.suffix import SuffixDrafter
from specdec_lab.drafters.synthetic import SyntheticDrafter

__all__ = ["AdaptiveDrafter", "CascadeDrafter", "Draft", "Drafter", "ModelDrafter", "NgramDrafter", "SuffixDrafter", "SyntheticDrafter"]
