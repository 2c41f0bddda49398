"""The algorithms: given a draft and what the target says about it, how many tokens stand, and what comes next.

Glossary, as in vLLM. *accepted*: drafted tokens that stand. *correction*: the target's own token in place of
the first rejected one (vLLM says recovered). *bonus*: the target's own token after a draft that stands whole.
Every round emits accepted + 1 tokens. `p` is the target's law and `q` the draft's, everywhere.
"""

from specdec_lab.verify.block import verify_block
from specdec_lab.verify.greedy import verify_greedy
from specdec_lab.verify.sampling import residual, verify_sampling
from specdec_lab.verify.tree import tree_mask, verify_tree_greedy, verify_tree_sampling

__all__ = ["residual", "tree_mask", "verify_block", "verify_greedy", "verify_sampling", "verify_tree_greedy", "verify_tree_sampling"]
