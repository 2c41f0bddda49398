"""Checks of a learner's function, in stages: its shape, then the mechanism alone, then against the package's."""

from specdec_lab.checks.greedy import check_verify_greedy
from specdec_lab.checks.start import check_tokens_emitted

__all__ = ["check_tokens_emitted", "check_verify_greedy"]
