"""A set-up as the command of llama.cpp's `llama-server`.

Older forms, `--draft-max`, `--draft-min` and `--spec-ngram-size-n`, are still recognised by today's server, which stops and names
the new ones. Models are GGUF files, or hub repositories of such files, whose name holds GGUF.
"""

from __future__ import annotations

from typing import Any

from specdec_lab.serving.setup import DraftModel, Eagle3, Ngram, NoDrafter, Setup
from specdec_lab.serving.text import Engine, command, options

README = "tools/server/README.md"
LLAMA_CPP = Engine(
    "llama.cpp",
    "commit 00dc8057ab28",
    {
        name: README
        for name in (
            *("--model", "--hf-repo", "--ctx-size", "--port", "--seed", "--metrics", "--device", "--split-mode"),
            *("--temperature", "--top-p", "--top-k", "--min-p", "--predict"),
            *(
                "--spec-type",
                "--spec-draft-model",
                "--spec-draft-hf",
                "--spec-draft-n-max",
                "--spec-draft-device",
                "--spec-draft-sampling",
                "--spec-synth-len",
            ),
            *("--spec-ngram-simple-size-n", "--spec-ngram-simple-size-m"),
        )
    },
)


def render(setup: Setup) -> dict[str, str]:
    """The server's command, by its file name."""
    return {"serve.sh": f"{LLAMA_CPP.header}\n{command(server_command(setup))}"}


def server_command(setup: Setup) -> list[str]:
    """The command. Raises UserError for what llama.cpp cannot do."""
    _refuse(setup)
    sampling = setup.sampling
    found = (
        _model(setup.target, "--model", "--hf-repo")
        | {"--port": setup.port, "--ctx-size": setup.max_model_len, "--seed": setup.seed, "--metrics": True}
        | _devices(setup)
        | speculation(setup)
        | {"--temperature": sampling.temperature, "--top-p": sampling.top_p, "--top-k": sampling.top_k, "--min-p": sampling.min_p}
        | {"--predict": sampling.max_tokens}
    )
    return ["llama-server", *options(found)]


def speculation(setup: Setup) -> dict[str, Any]:
    """The set-up's speculation under llama.cpp's options."""
    drafter, found = setup.drafter, dict[str, Any]()
    if isinstance(drafter, NoDrafter):
        return {"--spec-type": "none"}
    if isinstance(drafter, Ngram):
        one = f"looks up endings of one length, not of {drafter.lookup_min} to {drafter.lookup_max}"
        LLAMA_CPP.require(drafter.lookup_min == drafter.lookup_max, one, "set lookup_min and lookup_max to the same number")
        found = {"--spec-type": "ngram-simple", "--spec-ngram-simple-size-n": drafter.lookup_max, "--spec-ngram-simple-size-m": setup.k}
    elif isinstance(drafter, DraftModel | Eagle3):
        kind, name = ("draft-simple", drafter.model) if isinstance(drafter, DraftModel) else ("draft-eagle3", drafter.head)
        found = {"--spec-type": kind} | _model(name, "--spec-draft-model", "--spec-draft-hf") | {"--spec-draft-n-max": setup.k}
    else:
        way_out = "take DraftModel, Eagle3 or Ngram, or serve this one with vLLM"
        raise LLAMA_CPP.refuse(f"has no {type(drafter).__name__} drafter", way_out)
    return found | {"--spec-draft-sampling": setup.draft_sampling, "--spec-synth-len": setup.rejection.acceptance_length}


def _model(name: str, file_option: str, hub_option: str) -> dict[str, str]:
    if name.endswith(".gguf"):
        return {file_option: name}
    way_out = "convert it with llama.cpp's convert_hf_to_gguf.py and give the file, or name a hub repository of GGUF files"
    LLAMA_CPP.require("gguf" in name.lower(), f"reads GGUF files, and {name} is not one", way_out)
    return {hub_option: name}


def _devices(setup: Setup) -> dict[str, str]:
    """Layers (pipeline) or rows (tensor) over the first CUDA devices."""
    parallel = setup.parallel
    if parallel.gpus == 1:
        return {}
    devices = {"--device": ",".join(f"CUDA{i}" for i in range(parallel.gpus)), "--split-mode": "row" if parallel.tensor > 1 else "layer"}
    return devices | ({"--spec-draft-device": "CUDA0"} if parallel.draft_tensor == 1 else {})


def _refuse(setup: Setup) -> None:
    parallel = setup.parallel
    LLAMA_CPP.require(setup.dtype == "auto", f"takes the GGUF file's own types, not {setup.dtype}", 'set dtype="auto"')
    LLAMA_CPP.require(setup.gpu_memory is None, "fits itself to the free memory instead of a share of it", "leave gpu_memory None")
    LLAMA_CPP.require(not setup.enforce_eager, "has no eager mode", "leave enforce_eager False")
    LLAMA_CPP.require(parallel.nodes == 1, "is set up here for one machine", "set nodes=1, or serve with vLLM and Ray")
    both = parallel.tensor > 1 and parallel.pipeline > 1
    LLAMA_CPP.require(not both, "splits by rows or by layers, not both", "set tensor or pipeline to 1")
    same = parallel.gpus > 1 and parallel.draft_tensor == parallel.tensor and parallel.tensor > 1
    LLAMA_CPP.require(not same, "gives the draft one device or leaves it where it fits", "set draft_tensor to 1 or None")
    LLAMA_CPP.require(setup.rejection.method != "block", "has no block verification", 'take Rejection("standard"), or vLLM')
    LLAMA_CPP.require(
        setup.rejection.p is None, "is told a length of synthetic acceptance, not a p", "give acceptance_length, or take vLLM"
    )
