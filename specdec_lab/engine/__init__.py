"""The decoding loop, its stop conditions, and what it records."""

from specdec_lab.engine.loop import Generation, generate, speculative_round, stream
from specdec_lab.engine.metrics import Metrics
from specdec_lab.engine.rounds import Round
from specdec_lab.engine.stopping import Stopping

__all__ = ["Generation", "Metrics", "Round", "Stopping", "generate", "speculative_round", "stream"]
