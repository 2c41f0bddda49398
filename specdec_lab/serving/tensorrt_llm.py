"""A set-up as the configuration of TensorRT-LLM's PyTorch backend: `trtllm-serve` with a YAML file, and the LLM API.

A draft model's `decoding_type` is Draft_Target since 1.2, as its class says; the documentation's list has the older DraftTarget.
"""

from __future__ import annotations

from typing import Any

from specdec_lab.serving.setup import DraftModel, Eagle3, Ngram, NoDrafter, Setup
from specdec_lab.serving.text import PROMPT, Engine, call, command, dump, guarded, options, request

SPECULATION = "docs/source/features/speculative-decoding.md"
SERVE = "tensorrt_llm/commands/serve.py"
ARGUMENTS = "tensorrt_llm/llmapi/llm_args.py"
TENSORRT_LLM = Engine(
    "TensorRT-LLM",
    "1.2",
    {
        "decoding_type": SPECULATION,
        "max_draft_len": SPECULATION,
        "speculative_model": SPECULATION,
        "max_matching_ngram_size": SPECULATION,
        "is_public_pool": SPECULATION,
        "disable_overlap_scheduler": SPECULATION,
        "speculative_config": SPECULATION,
        "dtype": ARGUMENTS,
        "cuda_graph_config": ARGUMENTS,
        "--config": SERVE,
        "--port": SERVE,
        "--tp_size": SERVE,
        "--pp_size": SERVE,
        "--max_seq_len": SERVE,
        "--kv_cache_free_gpu_memory_fraction": SERVE,
    },
)
CLASSES = {"Draft_Target": "DraftTargetDecodingConfig", "NGram": "NGramDecodingConfig", "Eagle3": "Eagle3DecodingConfig"}


def render(setup: Setup) -> dict[str, str]:
    """The server's command and its YAML file, a request with the set-up's sampling, and the same offline."""
    _refuse(setup)
    parallel = setup.parallel
    found = options(
        {
            "--config": "config.yaml",
            "--port": setup.port,
            "--tp_size": parallel.tensor if parallel.tensor > 1 else None,
            "--pp_size": parallel.pipeline if parallel.pipeline > 1 else None,
            "--max_seq_len": setup.max_model_len,
            "--kv_cache_free_gpu_memory_fraction": setup.gpu_memory,
        }
    )
    served = f"{TENSORRT_LLM.header}\n{command(['trtllm-serve', setup.target, *found])}"
    config = f"{TENSORRT_LLM.header}\n{dump(configuration(setup))}"
    return {"serve.sh": served, "config.yaml": config, "request.json": request(setup), "offline.py": render_python(setup)}


def configuration(setup: Setup) -> dict[str, Any]:
    """The YAML file's content."""
    found: dict[str, Any] = {"dtype": setup.dtype}
    if setup.enforce_eager:
        found["cuda_graph_config"] = None
    speculation = speculative_config(setup)
    if speculation is None:
        return found
    if speculation["decoding_type"] != "Eagle3":
        found["disable_overlap_scheduler"] = True
    return found | {"speculative_config": speculation}


def speculative_config(setup: Setup) -> dict[str, Any] | None:
    """The set-up's speculation under TensorRT-LLM's keys, None without a drafter. Raises UserError for what it cannot do."""
    drafter = setup.drafter
    if isinstance(drafter, NoDrafter):
        return None
    if isinstance(drafter, DraftModel):
        return {"decoding_type": "Draft_Target", "max_draft_len": setup.k, "speculative_model": drafter.model}
    if isinstance(drafter, Eagle3):
        return {"decoding_type": "Eagle3", "max_draft_len": setup.k, "speculative_model": drafter.head}
    if isinstance(drafter, Ngram):
        minimum = f"matches from one token up and knows no lookup_min of {drafter.lookup_min}"
        TENSORRT_LLM.require(drafter.lookup_min == 1, minimum, "set lookup_min=1")
        lookup = {"max_matching_ngram_size": drafter.lookup_max, "is_public_pool": False}
        return {"decoding_type": "NGram", "max_draft_len": setup.k} | lookup
    way_out = "take DraftModel, Eagle3 or Ngram, or serve this one with vLLM"
    raise TENSORRT_LLM.refuse(f"has no {type(drafter).__name__} drafter in its PyTorch backend", way_out)


def render_python(setup: Setup) -> str:
    """The same through the LLM API; the engine's seed is the request's here."""
    _refuse(setup)
    speculation, sampling, parallel = speculative_config(setup), setup.sampling, setup.parallel
    kind = CLASSES[speculation.pop("decoding_type")] if speculation else None
    names = ", ".join(name for name in (kind, None if setup.gpu_memory is None else "KvCacheConfig") if name)
    arguments = {
        "model": setup.target,
        "dtype": setup.dtype,
        "tensor_parallel_size": parallel.tensor,
        "pipeline_parallel_size": parallel.pipeline,
        "max_seq_len": setup.max_model_len,
        "disable_overlap_scheduler": True if kind and kind != CLASSES["Eagle3"] else None,
    }
    lines = [f"    {key}={value!r}," for key, value in arguments.items() if value is not None]
    if setup.enforce_eager:
        lines.append("    cuda_graph_config=None,")
    if setup.gpu_memory is not None:
        lines.append(f"    kv_cache_config=KvCacheConfig(free_gpu_memory_fraction={setup.gpu_memory}),")
    if kind:
        lines.append("    speculative_config=speculation,")
    given = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k or None, "min_p": sampling.min_p or None}
    params = call("params = SamplingParams", given | {"max_tokens": sampling.max_tokens, "seed": setup.seed})
    body = (
        (f"{call(f'speculation = {kind}', speculation)}\n" if kind and speculation else "")
        + "llm = LLM(\n"
        + "\n".join(lines)
        + f"\n)\n{params}\nprint(llm.generate([{PROMPT!r}], params)[0].outputs[0].text)\n"
    )
    imports = "from tensorrt_llm import LLM, SamplingParams\n" + (f"from tensorrt_llm.llmapi import {names}\n" if names else "")
    return f"{TENSORRT_LLM.header}\n{imports}\n{guarded(body, 'TensorRT-LLM')}"


def _refuse(setup: Setup) -> None:
    parallel = setup.parallel
    TENSORRT_LLM.require(parallel.nodes == 1, "is set up here for one machine", "set nodes=1, or serve with vLLM and Ray")
    stages = isinstance(setup.drafter, NoDrafter) or parallel.pipeline == 1
    TENSORRT_LLM.require(stages, "does not speculate over pipeline stages (TensorRT-LLM#9009)", "set pipeline=1 and raise tensor")
    split = parallel.draft_tensor in (None, parallel.tensor)
    TENSORRT_LLM.require(setup.draft_sampling is None, "takes no word on how the draft is sampled", "leave draft_sampling None")
    TENSORRT_LLM.require(split, "splits the draft over the target's GPUs, all of them", "leave draft_tensor None")
    method = setup.rejection.method
    TENSORRT_LLM.require(method == "standard", f"has no {method} verification", 'take Rejection("standard"), or vLLM')
