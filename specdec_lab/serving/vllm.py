"""A set-up as vLLM's configuration: offline Python, server, container, Kubernetes, and several machines through Ray.

Two things that vLLM does not do with a drafter are refused here rather than by its start-up an hour later: pipeline stages, and a
draft model split over fewer GPUs than its target.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specdec_lab.serving.setup import Custom, DraftModel, Eagle3, Medusa, Ngram, NoDrafter, Setup, Suffix
from specdec_lab.serving.text import PROMPT, Engine, call, command, dump, guarded, options, request

CONFIG = "vllm/config/speculative.py, class SpeculativeConfig"
DOCS = "docs/features/speculative_decoding/README.md, --speculative-config schema"
ENGINE_ARGUMENTS = "docs/configuration/engine_args.md"
SCALING = "docs/serving/parallelism_scaling.md"
VLLM = Engine(
    "vLLM",
    "0.32",
    {
        "--speculative-config": DOCS,
        "method": DOCS,
        "model": DOCS,
        "num_speculative_tokens": DOCS,
        "prompt_lookup_max": DOCS,
        "prompt_lookup_min": DOCS,
        "suffix_decoding_max_tree_depth": DOCS,
        "draft_tensor_parallel_size": CONFIG,
        "draft_sample_method": CONFIG,
        "rejection_sample_method": CONFIG,
        "synthetic_acceptance_length": CONFIG,
        "synthetic_acceptance_rates": CONFIG,
        "--dtype": ENGINE_ARGUMENTS,
        "--max-model-len": ENGINE_ARGUMENTS,
        "--gpu-memory-utilization": ENGINE_ARGUMENTS,
        "--enforce-eager": ENGINE_ARGUMENTS,
        "--seed": ENGINE_ARGUMENTS,
        "--override-generation-config": ENGINE_ARGUMENTS,
        "--port": "docs/cli/serve.md",
        "--model": "docs/cli/serve.md",
        "--tensor-parallel-size": SCALING,
        "--pipeline-parallel-size": SCALING,
        "--distributed-executor-backend": SCALING,
        "--gpus": "docs/deployment/docker.md",
        "--ipc": "docs/deployment/docker.md",
        "--head": "examples/online_serving/run_cluster.sh",
        "--address": "examples/online_serving/run_cluster.sh",
    },
)
IMAGE = "vllm/vllm-openai:v0.32.0"
PORT, RAY_PORT = 8000, 6379


def render(setup: Setup) -> dict[str, str]:
    """Every form by file name. On one machine the container and the manifest are among them, on several the Ray cluster."""
    files = {"offline.py": render_python(setup), "serve.sh": render_server(setup), "request.json": request(setup)}
    if setup.parallel.nodes > 1:
        return files | {"ray_cluster.sh": render_ray(setup)}
    return files | {"docker.sh": render_docker(setup), "deployment.yaml": render_kubernetes(setup)}


def speculative_config(setup: Setup) -> dict[str, Any] | None:
    """The set-up's speculation under vLLM's keys, None without a drafter. Raises UserError for what vLLM refuses."""
    refuse_pipeline(setup)
    drafter = setup.drafter
    if isinstance(drafter, NoDrafter):
        return None
    found: dict[str, Any]
    if isinstance(drafter, DraftModel):
        found = {"method": "draft_model", "model": drafter.model}
    elif isinstance(drafter, Ngram):  # both bounds: one alone sets the other to the same number
        found = {"method": "ngram", "prompt_lookup_max": drafter.lookup_max, "prompt_lookup_min": drafter.lookup_min}
    elif isinstance(drafter, Suffix):
        found = {"method": "suffix", "suffix_decoding_max_tree_depth": drafter.tree_depth}
    elif isinstance(drafter, Custom):
        found = {"method": "custom_class", "model": drafter.proposer}
    else:
        found = {"method": "eagle3" if isinstance(drafter, Eagle3) else "medusa", "model": drafter.head}
    return found | {"num_speculative_tokens": setup.k} | _draft_split(setup) | _verification(setup)


def refuse_pipeline(setup: Setup) -> None:
    """Source: vllm#57755, which lists how speculation over pipeline stages fails in 0.28 and 0.29; no later release claims it."""
    fine = isinstance(setup.drafter, NoDrafter) or setup.parallel.pipeline == 1
    way_out = "set pipeline=1 and spread tensor parallelism over all GPUs, those of other nodes included"
    VLLM.require(fine, f"does not speculate over {setup.parallel.pipeline} pipeline stages (vllm#57755)", way_out)


def _draft_split(setup: Setup) -> dict[str, int]:
    """Source: vllm/v1/spec_decode/draft_model.py: the ranks of a draft of another split would overwrite each other's compiled code."""
    size, tensor = setup.parallel.draft_tensor, setup.parallel.tensor
    if size is None:
        return {}
    fine = size == tensor or not isinstance(setup.drafter, DraftModel)
    VLLM.require(fine, f"splits a draft model over as many GPUs as its target, {tensor} and not {size}", "leave draft_tensor None")
    return {"draft_tensor_parallel_size": size}


def _verification(setup: Setup) -> dict[str, Any]:
    rejection = setup.rejection
    found: dict[str, Any] = {"draft_sample_method": setup.draft_sampling} if setup.draft_sampling else {}
    if rejection.method == "standard":
        return found
    found["rejection_sample_method"] = rejection.method
    if rejection.p is not None:  # vLLM wants the chance that the draft stands up to each position
        found["synthetic_acceptance_rates"] = [round(rejection.p**i, 6) for i in range(1, setup.k + 1)]
    if rejection.acceptance_length is not None:
        found["synthetic_acceptance_length"] = rejection.acceptance_length
    return found


def engine_arguments(setup: Setup) -> dict[str, Any]:
    """The arguments of `vllm.LLM` but for the logging of statistics; None where the engine's default holds."""
    parallel = setup.parallel
    return {
        "model": setup.target,
        "dtype": setup.dtype,
        "seed": setup.seed,
        "max_model_len": setup.max_model_len,
        "tensor_parallel_size": parallel.tensor if parallel.tensor > 1 else None,
        "pipeline_parallel_size": parallel.pipeline if parallel.pipeline > 1 else None,
        "distributed_executor_backend": "ray" if parallel.nodes > 1 else None,
        "gpu_memory_utilization": setup.gpu_memory,
        "enforce_eager": setup.enforce_eager or None,
        "speculative_config": speculative_config(setup),
    }


def server_arguments(setup: Setup) -> list[str]:
    """What follows the model on the server's command line."""
    named = {f"--{name.replace('_', '-')}": value for name, value in engine_arguments(setup).items() if name != "model"}
    sampling = setup.sampling
    defaults = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k, "min_p": sampling.min_p}
    return options({"--port": setup.port} | named | {"--override-generation-config": defaults})


def server_command(setup: Setup, python: str | None = None) -> list[str]:
    """The server's command. Given a `python`, its module form: the CPU wheel's own `vllm` command does not start."""
    if python is None:
        return ["vllm", "serve", setup.target, *server_arguments(setup)]
    return [python, "-m", "vllm.entrypoints.openai.api_server", "--model", setup.target, *server_arguments(setup)]


def _header(setup: Setup) -> str:
    """The opening comment, and what vLLM does not say itself."""
    lines = [VLLM.header]
    if isinstance(setup.drafter, Suffix):
        lines.append("# Suffix decoding is in a package of its own: pip install arctic-inference")
    if setup.rejection.method == "block":
        lines.append("# The CPU build of 0.32 takes this option and verifies token by token all the same.")
    if setup.rejection.method == "synthetic":
        lines.append(
            "# Tokens are accepted at random, for timing: the text is worthless. The CPU build of 0.32 stops at the first of them."
        )
    return "\n".join(lines) + "\n"


def render_python(setup: Setup) -> str:
    """A script that generates offline and prints the counters of speculation."""
    sampling = setup.sampling
    given = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k, "min_p": sampling.min_p}
    params = call("params = SamplingParams", given | {"max_tokens": sampling.max_tokens})
    note = "" if setup.port is None else f"# Offline, so the server's port {setup.port} is not used.\n"
    body = (
        f"{call('llm = LLM', engine_arguments(setup) | {'disable_log_stats': False})}\n{params}\n"
        f"print(llm.generate([{PROMPT!r}], params)[0].outputs[0].text)\n"
        "for metric in llm.get_metrics():\n"
        '    if "spec_decode" in metric.name:\n'
        '        print(metric.name, getattr(metric, "value", None) or getattr(metric, "values", 0))\n'
    )
    return f"{_header(setup)}{note}from vllm import LLM, SamplingParams\n\n{guarded(body, 'vLLM')}"


def render_server(setup: Setup) -> str:
    """The command of the OpenAI-compatible server."""
    return f"{_header(setup)}{command(server_command(setup))}"


def render_ray(setup: Setup) -> str:
    """What to run on the machines before the server's command, which then runs on the first of them alone."""
    nodes, each = setup.parallel.nodes, setup.parallel.gpus_per_node
    return (
        f"{VLLM.header}\n"
        f"# {nodes} machines with {each} GPUs each, the same image and the same model paths on all of them.\n"
        f"# On the first, whose address is in HEAD:\n"
        f"ray start --head --port={RAY_PORT}\n"
        f"# On every other one:\n"
        f'ray start "--address=$HEAD:{RAY_PORT}"\n'
        f"# `ray status` should then count {setup.parallel.gpus} GPUs; run serve.sh on the first machine.\n"
    )


def _refuse_nodes(setup: Setup, form: str) -> None:
    VLLM.require(setup.parallel.nodes == 1, f"runs in one {form} per machine, and this set-up has {setup.parallel.nodes}", "use render_ray")


def _local(setup: Setup) -> list[str]:
    """The paths among the models, which a container has to be shown."""
    drafter = setup.drafter
    named = drafter.model if isinstance(drafter, DraftModel) else drafter.head if isinstance(drafter, Eagle3 | Medusa) else ""
    return [name for name in (setup.target, named) if Path(name).is_absolute()]


def render_docker(setup: Setup) -> str:
    """The official image on one machine; hub models through the user's own cache, local ones mounted read-only."""
    _refuse_nodes(setup, "container")
    port = setup.port or PORT
    words = ["docker", "run", "--rm", "--gpus", "all" if setup.parallel.gpus > 1 else "1", "--ipc=host", "-p", f"{port}:{port}"]
    words += ["-v", "$HOME/.cache/huggingface:/root/.cache/huggingface", "-e", "HF_TOKEN"]
    for path in _local(setup):
        words += ["-v", f"{path}:{path}:ro"]
    return f"{_header(setup)}{command([*words, '--entrypoint', 'vllm', IMAGE, 'serve', setup.target, *server_arguments(setup)])}"


def render_kubernetes(setup: Setup) -> str:
    """A Deployment of one pod and its Service. The token is read from a Secret `hf-token`, under the key `token`."""
    _refuse_nodes(setup, "pod")
    port, labels = setup.port or PORT, {"app": "vllm-speculative"}
    health = {"httpGet": {"path": "/health", "port": port}, "periodSeconds": 10, "failureThreshold": 180}
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}]
    volumes: list[dict[str, Any]] = [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    for i, path in enumerate(_local(setup)):
        mounts.append({"name": f"model-{i}", "mountPath": path})
        volumes.append({"name": f"model-{i}", "hostPath": {"path": path}})
    container = {
        "name": "vllm",
        "image": IMAGE,
        "command": ["vllm", "serve"],
        "args": [setup.target, *server_arguments(setup)],
        "env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token", "optional": True}}}],
        "ports": [{"containerPort": port}],
        "resources": {"limits": {"nvidia.com/gpu": str(setup.parallel.gpus)}},
        "startupProbe": health,
        "volumeMounts": mounts,
    }
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    name = {"name": "vllm-speculative"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": name, "spec": spec}
    ports = {"selector": labels, "ports": [{"port": port, "targetPort": port}]}
    return f"{_header(setup)}{dump(deployment, {'apiVersion': 'v1', 'kind': 'Service', 'metadata': name, 'spec': ports})}"
