"""What a chapter shows: pictures over the package's results, with no mathematics of their own."""

from specdec_lab.widgets.acceptance import acceptance_explorer, alpha_cells
from specdec_lab.widgets.curves import best_k_figure, curves_figure, estimates_figure, log_view
from specdec_lab.widgets.engines import decision_table, engines_explorer, translation_view
from specdec_lab.widgets.figures import passes_figure
from specdec_lab.widgets.ladder import ladder_figure, ladder_table, price_figure
from specdec_lab.widgets.laws import alpha_figure, frequencies_figure
from specdec_lab.widgets.lesson import reveal, self_check
from specdec_lab.widgets.rejection import rejection_explorer
from specdec_lab.widgets.roofline import pass_figure, roofline_explorer
from specdec_lab.widgets.rounds import round_player, round_view
from specdec_lab.widgets.runs import prediction_figure, runs_table, time_figure, watch_run
from specdec_lab.widgets.serving import dial_figure, served_table, serving_explorer, watch_serving
from specdec_lab.widgets.speedup import speedup_explorer
from specdec_lab.widgets.tokens import token_view
from specdec_lab.widgets.training import cards_table, compared_figure, humps_figure, training_figure, watch_training
from specdec_lab.widgets.tree import tree_explorer, tree_view
from specdec_lab.widgets.verdict import signature_table, verdict_explorer
from specdec_lab.widgets.zoo import lossy_figure, repair_figure

__all__ = [
    "acceptance_explorer",
    "alpha_cells",
    "alpha_figure",
    "best_k_figure",
    "cards_table",
    "compared_figure",
    "curves_figure",
    "decision_table",
    "dial_figure",
    "engines_explorer",
    "estimates_figure",
    "frequencies_figure",
    "humps_figure",
    "ladder_figure",
    "ladder_table",
    "log_view",
    "lossy_figure",
    "pass_figure",
    "passes_figure",
    "prediction_figure",
    "price_figure",
    "rejection_explorer",
    "repair_figure",
    "reveal",
    "roofline_explorer",
    "round_player",
    "round_view",
    "runs_table",
    "self_check",
    "served_table",
    "serving_explorer",
    "signature_table",
    "speedup_explorer",
    "time_figure",
    "token_view",
    "training_figure",
    "translation_view",
    "tree_explorer",
    "tree_view",
    "verdict_explorer",
    "watch_run",
    "watch_serving",
    "watch_training",
]
