"""Run by vLLM's own Python: python parse_configs.py CASES.json ANSWERS.json. It has nothing of the course's packages.

A case is [kind, value]. `server`: the server's words through its own parser into a whole engine configuration; `words`: through the
parser alone; `options`: every option of the server with its number of values and its names; `python`: the keyword arguments of
vllm.LLM into a whole configuration; `sampling`, `request`: the sampling of an offline script, the body of a request. The answer is
what was understood, or {"error": ...}. Models are folders below the current one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1"}

from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs, EngineArgs
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.entrypoints.openai.completion.protocol import CompletionRequest
from vllm.utils.argparse_utils import FlexibleArgumentParser

PARSER = make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))
SPECULATION = (
    "method",
    "model",
    "num_speculative_tokens",
    "prompt_lookup_max",
    "prompt_lookup_min",
    "suffix_decoding_max_tree_depth",
    "draft_sample_method",
    "rejection_sample_method",
    "synthetic_acceptance_rates",
)


def understood(arguments: EngineArgs) -> dict[str, Any]:
    """The whole configuration, as far as a set-up speaks of it."""
    config = arguments.create_engine_config()
    speculative = config.speculative_config
    found = {name: getattr(speculative, name) for name in SPECULATION} if speculative else None
    if found and speculative.draft_parallel_config is not None:
        found["draft_tensor_parallel_size"] = speculative.draft_parallel_config.tensor_parallel_size
    return {
        "speculative": found,
        "model": config.model_config.model,
        "dtype": str(config.model_config.dtype),
        "max_model_len": config.model_config.max_model_len,
        "seed": config.model_config.seed,
        "enforce_eager": config.model_config.enforce_eager,
        "sampling": config.model_config.override_generation_config,
        "tensor": config.parallel_config.tensor_parallel_size,
        "pipeline": config.parallel_config.pipeline_parallel_size,
        "executor": config.parallel_config.distributed_executor_backend,
        "gpu_memory": config.cache_config.gpu_memory_utilization,
    }


def parsed(words: list[str]) -> Any:
    """The server's words by its parser, as `vllm serve` and the module both take them."""
    arguments = PARSER.parse_args(words)
    if getattr(arguments, "model_tag", None):
        arguments.model = arguments.model_tag
    return arguments


def answer(kind: str, value: Any) -> Any:
    if kind == "server":
        arguments = parsed(value)
        return understood(AsyncEngineArgs.from_cli_args(arguments)) | {"port": arguments.port}
    if kind == "words":
        arguments = parsed(value)
        return {"model": arguments.model, "speculative": arguments.speculative_config}
    if kind == "options":
        return {word: [action.nargs, action.option_strings] for word, action in PARSER._option_string_actions.items()}
    if kind == "python":
        return understood(EngineArgs(**value))
    if kind == "sampling":
        made = SamplingParams(**value)
        return {name: getattr(made, name) for name in value}
    made = CompletionRequest(**value)
    return {"extra": sorted(made.model_extra or {}), **{name: getattr(made, name) for name in value}}


def safely(kind: str, value: Any) -> Any:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return answer(kind, value)
    except SystemExit:
        return {"error": said.getvalue().strip().splitlines()[-1]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    cases = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps({name: safely(*case) for name, case in cases.items()}, default=str))
