"""What a chapter shows: pictures over the package's results, with no mathematics of their own."""

from specdec_lab.widgets.figures import passes_figure
from specdec_lab.widgets.lesson import reveal, self_check
from specdec_lab.widgets.rounds import round_player, round_view
from specdec_lab.widgets.tokens import token_view

__all__ = ["passes_figure", "reveal", "round_player", "round_view", "self_check", "token_view"]
