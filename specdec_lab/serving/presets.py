"""The course's set-ups: the large pairs on one machine and on several, and the embedded model on this one.

Head counts are those of the models' own config.json.
"""

from __future__ import annotations

from specdec_lab.serving.setup import DraftModel, Heads, Ngram, Parallel, Setup

LLAMA_70B, LLAMA_70B_HEADS = "meta-llama/Llama-3.1-70B-Instruct", Heads(64, 8)
LLAMA_8B = DraftModel("meta-llama/Llama-3.1-8B-Instruct", Heads(32, 8))
LLAMA_1B = DraftModel("meta-llama/Llama-3.2-1B-Instruct", Heads(32, 8))
EMBEDDED_HEADS = Heads(9, 3)


def llama_70b_1b(gpus: int = 8, nodes: int = 1) -> Setup:
    """Llama-3.1-70B with Llama-3.2-1B as its draft on so many GPUs in all; with several nodes, through Ray."""
    return _llama_70b(LLAMA_1B, gpus, nodes)


def llama_70b_8b(gpus: int = 8, nodes: int = 1) -> Setup:
    """Llama-3.1-70B with Llama-3.1-8B as its draft on so many GPUs in all; with several nodes, through Ray."""
    return _llama_70b(LLAMA_8B, gpus, nodes)


def _llama_70b(drafter: DraftModel, gpus: int, nodes: int) -> Setup:
    """Tensor parallel over all GPUs: engines do not speculate over pipeline stages (see `vllm.refuse_pipeline`)."""
    parallel = Parallel(tensor=gpus, nodes=nodes)
    return Setup(LLAMA_70B, drafter, max_model_len=8192, parallel=parallel, gpu_memory=0.9, target_heads=LLAMA_70B_HEADS)


def embedded_ngram(target: str, k: int = 5) -> Setup:
    """The embedded model, at this path, with prompt lookup."""
    return Setup(target, Ngram(1, 4), k=k, max_model_len=2048, target_heads=EMBEDDED_HEADS)


def embedded_draft(target: str, draft: str, k: int = 5) -> Setup:
    """The embedded model with the course's draft, each at its path; the draft exported with the target's full vocabulary."""
    return Setup(target, DraftModel(draft), k=k, max_model_len=2048, target_heads=EMBEDDED_HEADS)
