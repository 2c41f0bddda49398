"""A set-up as the command of SGLang's server, one line a machine.

SGLang counts the last known token among its draft tokens, so k drafted ones are `--speculative-num-draft-tokens` k + 1, in a chain:
`--speculative-eagle-topk` 1. Its n-gram trie has a depth instead of bounds of the lookup: k tokens after a match of `lookup_max`.
"""

from __future__ import annotations

from typing import Any

from specdec_lab.serving.setup import DraftModel, Eagle3, Ngram, NoDrafter, Setup
from specdec_lab.serving.text import Engine, command, options, request

SPECULATION = "docs/advanced_features/speculative_decoding, full parameter reference"
SERVER = "docs/advanced_features/server_arguments"
SGLANG = Engine(
    "SGLang",
    "docs commit 16974b80f378, October 2026",
    {
        "--speculative-algorithm": SPECULATION,
        "--speculative-draft-model-path": SPECULATION,
        "--speculative-num-steps": SPECULATION,
        "--speculative-eagle-topk": SPECULATION,
        "--speculative-num-draft-tokens": SPECULATION,
        "--speculative-ngram-max-bfs-breadth": SPECULATION,
        "--speculative-ngram-max-trie-depth": SPECULATION,
        "SGLANG_SIMULATE_ACC_LEN": "python/sglang/srt/environ.py",
        "--model-path": SERVER,
        "--port": SERVER,
        "--dtype": SERVER,
        "--random-seed": SERVER,
        "--context-length": SERVER,
        "--tp-size": SERVER,
        "--pp-size": SERVER,
        "--mem-fraction-static": SERVER,
        "--disable-cuda-graph": SERVER,
        "--enable-metrics": SERVER,
        "--nnodes": SERVER,
        "--node-rank": SERVER,
        "--dist-init-addr": SERVER,
    },
)


def render(setup: Setup) -> dict[str, str]:
    """The server's command, one for each machine, and a request with the set-up's sampling, which SGLang takes per request."""
    files = {"request.json": request(setup)}
    nodes = setup.parallel.nodes
    for rank in range(nodes):
        name = "serve.sh" if nodes == 1 else f"serve_node_{rank}.sh"
        files[name] = f"{SGLANG.header}\n{command(server_command(setup, rank))}"
    return files


def server_command(setup: Setup, rank: int = 0) -> list[str]:
    """The command on machine `rank`. The variable HEAD stands for the address of the first one."""
    several = setup.parallel.nodes > 1
    words = ["python", "-m", "sglang.launch_server"]
    if setup.rejection.method == "synthetic":
        words = ["env", f"SGLANG_SIMULATE_ACC_LEN={setup.rejection.acceptance_length}", *words]
    return words + options(
        {
            "--model-path": setup.target,
            "--port": setup.port,
            "--dtype": setup.dtype,
            "--random-seed": setup.seed,
            "--context-length": setup.max_model_len,
            "--tp-size": setup.parallel.tensor if setup.parallel.tensor > 1 else None,
            "--pp-size": setup.parallel.pipeline if setup.parallel.pipeline > 1 else None,
            "--mem-fraction-static": setup.gpu_memory,
            "--disable-cuda-graph": setup.enforce_eager,
            "--enable-metrics": True,
            "--nnodes": setup.parallel.nodes if several else None,
            "--node-rank": rank if several else None,
            "--dist-init-addr": "$HEAD:50000" if several else None,
        }
        | speculation(setup)
    )


def speculation(setup: Setup) -> dict[str, Any]:
    """The set-up's speculation under SGLang's options. Raises UserError for what it cannot do."""
    drafter = setup.drafter
    if isinstance(drafter, NoDrafter):
        return {}
    _refuse(setup)
    length = {"--speculative-num-draft-tokens": setup.k + 1}
    if isinstance(drafter, Ngram):
        chain = {"--speculative-ngram-max-bfs-breadth": 1, "--speculative-ngram-max-trie-depth": drafter.lookup_max + setup.k}
        return {"--speculative-algorithm": "NGRAM"} | length | chain
    steps = {"--speculative-num-steps": setup.k, "--speculative-eagle-topk": 1} | length
    if isinstance(drafter, DraftModel):
        return {"--speculative-algorithm": "STANDALONE", "--speculative-draft-model-path": drafter.model} | steps
    if isinstance(drafter, Eagle3):
        return {"--speculative-algorithm": "EAGLE3", "--speculative-draft-model-path": drafter.head} | steps
    raise SGLANG.refuse(f"has no {type(drafter).__name__} drafter", "take DraftModel, Eagle3 or Ngram, or serve this one with vLLM")


def _refuse(setup: Setup) -> None:
    parallel, drafter = setup.parallel, setup.drafter
    SGLANG.require(parallel.pipeline == 1, "does not speculate over pipeline stages", "set pipeline=1 and raise tensor")
    split = parallel.draft_tensor in (None, parallel.tensor)
    SGLANG.require(setup.draft_sampling is None, "takes no word on how the draft is sampled", "leave draft_sampling None")
    SGLANG.require(split, "splits the draft over the target's GPUs, all of them", "leave draft_tensor None")
    SGLANG.require(setup.rejection.method != "block", "has no block verification", 'take Rejection("standard"), or vLLM')
    SGLANG.require(setup.rejection.p is None, "is told a length of synthetic acceptance, not a p", "give acceptance_length, or take vLLM")
    if isinstance(drafter, Ngram):
        minimum = f"matches from one token up and knows no lookup_min of {drafter.lookup_min}"
        SGLANG.require(drafter.lookup_min == 1, minimum, "set lookup_min=1")
        SGLANG.require(setup.rejection.method == "standard", "simulates acceptance with a draft model only", "take a DraftModel")
