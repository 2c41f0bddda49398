"""Checks of a learner's function, in stages: its shape, then the mechanism alone, then against the package's."""

from specdec_lab.checks.advice import check_route, check_rule_of_thumb
from specdec_lab.checks.cache import check_rollback
from specdec_lab.checks.choice import check_choose_setup
from specdec_lab.checks.distillation import check_distillation_loss, check_total_variation_loss
from specdec_lab.checks.greedy import check_verify_greedy
from specdec_lab.checks.lookup import check_lookup
from specdec_lab.checks.loop import check_speculative_round
from specdec_lab.checks.recommend import check_recommend
from specdec_lab.checks.residual import check_residual
from specdec_lab.checks.roofline import check_arithmetic_intensity, check_pass_time
from specdec_lab.checks.sampling import check_verify_sampling
from specdec_lab.checks.speedup import check_expected_tokens, check_optimal_k, check_speedup
from specdec_lab.checks.start import check_tokens_emitted
from specdec_lab.checks.tree import check_tree_mask
from specdec_lab.checks.zoo import check_repair

__all__ = [
    "check_arithmetic_intensity",
    "check_choose_setup",
    "check_distillation_loss",
    "check_expected_tokens",
    "check_lookup",
    "check_optimal_k",
    "check_pass_time",
    "check_recommend",
    "check_repair",
    "check_residual",
    "check_rollback",
    "check_route",
    "check_rule_of_thumb",
    "check_speculative_round",
    "check_speedup",
    "check_tokens_emitted",
    "check_total_variation_loss",
    "check_tree_mask",
    "check_verify_greedy",
    "check_verify_sampling",
]
