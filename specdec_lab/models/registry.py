"""The course's pairs of target and draft, the memory each needs, and which of them suits a device."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from math import inf

from specdec_lab.errors import UserError

EMBEDDED = "SmolLM2-135M-Instruct"  # comes from the Python package index, see `models.embedded`
COURSE_DRAFT = "draft-smollm2-135m"  # comes with the course, see `training.draft`

BYTES = 2  # a parameter in bf16 or fp16
HEADROOM, CONTEXT_GIB = 1.1, 1.5  # activations and fragments; key-value caches of some thousand tokens and the CUDA context
LARGEST_GPU_GIB = 139  # an H200


@dataclass(frozen=True)
class Pair:
    """A target and a draft of one vocabulary, and their `billions` of parameters together.

    `licence_gate` names the licence that has to be accepted on the hub first.
    """

    name: str
    target: str
    draft: str
    billions: float
    licence_gate: str | None = None

    @property
    def memory_gib(self) -> float:
        """GPU memory for both in 16 bits: two bytes a parameter, a tenth more, and 1.5 GiB."""
        return self.billions * 1e9 * BYTES / 2**30 * HEADROOM + CONTEXT_GIB

    @property
    def multi_gpu(self) -> bool:
        """Whether it takes more than one GPU."""
        return self.memory_gib > LARGEST_GPU_GIB


# The two layers of the course's draft; the embedding is the target's.
DEFAULT = Pair("cpu-default", EMBEDDED, COURSE_DRAFT, 0.135 + 0.007)
GATE_31, GATE_32 = "Llama 3.1 Community License", "Llama 3.1 and 3.2 Community Licenses"
PAIRS = {
    pair.name: pair
    for pair in (
        DEFAULT,
        Pair("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct", "HuggingFaceTB/SmolLM2-135M-Instruct", 1.711 + 0.135),
        # Qwen pads its logits to 151,936 or 152,064 columns, by size (vllm#10913): ModelDrafter cuts or fills the draft's.
        Pair("qwen2.5-3b", "Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", 3.086 + 0.494),
        Pair("qwen2.5-7b", "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", 7.616 + 0.494),
        Pair("qwen2.5-14b", "Qwen/Qwen2.5-14B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", 14.770 + 0.494),
        Pair("qwen2.5-32b", "Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", 32.764 + 0.494),
        Pair("llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.2-1B-Instruct", 8.030 + 1.236, GATE_32),
        Pair("llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.2-1B-Instruct", 70.554 + 1.236, GATE_32),
        Pair("llama-3.1-70b-8b", "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", 70.554 + 8.030, GATE_31),
    )
}


def pick(free_gib: float, below: Pair | None = None) -> Pair:
    """The pair of `auto`: the largest without a licence gate that fits the free GiB of one GPU; without a GPU pass 0.

    Given `below`, the largest of those that need less than that pair.
    """
    limit = inf if below is None else below.memory_gib
    fitting = [p for p in PAIRS.values() if p.licence_gate is None and p.memory_gib <= free_gib and p.memory_gib < limit]
    return max(fitting, key=lambda pair: pair.memory_gib, default=DEFAULT)


def pick_below(model: str) -> Pair:
    """The next smaller pair for someone whose memory ran out with that target or draft."""
    holding = [pair for pair in PAIRS.values() if model in (pair.target, pair.draft)]
    return pick(inf, min(holding, key=lambda pair: pair.memory_gib)) if holding else DEFAULT


def find_pair(name: str) -> Pair:
    """The pair of that name. Raises UserError with the names there are."""
    if name in PAIRS:
        return PAIRS[name]
    close = get_close_matches(name, PAIRS, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise UserError(f"There is no pair {name!r}; {hint}The pairs are auto, {', '.join(PAIRS)}.")
