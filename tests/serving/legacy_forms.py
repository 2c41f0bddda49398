"""Old vLLM forms by table: the form, what is speculated today, what else the server is told, and the explanations that must occur.

`DRAFT` and `NGRAM` are what most of them come to. Options are given as `support.arguments` reads them.
"""

from __future__ import annotations

from typing import Any

M, D = "meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"
DRAFT = {"method": "draft_model", "model": D, "num_speculative_tokens": 5}
NGRAM = {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4, "prompt_lookup_min": 1}
SCHEDULE = "num_speculative_tokens_per_batch_size"
UP_TO_7 = {SCHEDULE: [[1, 7, 5], [8, 8, 0]]}
MODULE = "python -m vllm.entrypoints.openai.api_server"
D5 = f"--speculative-model {D} --num-speculative-tokens 5"
N5 = "--speculative-model [ngram] --num-speculative-tokens 5 --ngram-prompt-lookup-max 4"
TYPICAL = "typical acceptance, which changed the text, went with the old engine"
THE_DRAFT = '--speculative-model moves into the speculative config, renamed model, with the method "draft_model" written out'
TOKENS = "--num-speculative-tokens moves into the speculative config"

# form, speculative config, other options, parts of the notes
Form = tuple[str, dict[str, Any] | None, dict[str, Any], list[str]]
COMMANDS: list[Form] = [
    # The seed's two servers, comments after the backslash included.
    (
        f"{MODULE} \\\n  --model {M} \\\n  --speculative-model {D} \\  # small, fast draft\n  --num-speculative-tokens 5     # k\n",
        DRAFT,
        {},
        ["comments and blanks after a line's backslash are gone", "becomes vllm serve; it still runs, deprecated", THE_DRAFT, TOKENS],
    ),
    (
        f'{MODULE} \\\n  --model {M} \\\n  --speculative-model "[ngram]"'
        " \\\n  --num-speculative-tokens 5 \\\n  --ngram-prompt-lookup-max 4\n",
        NGRAM,
        {},
        ['--speculative-model becomes method "ngram"', "prompt_lookup_min 1 is written out, its default is the maximum now", TOKENS],
    ),
    (f"vllm serve {M} {D5}", DRAFT, {}, [THE_DRAFT, TOKENS]),
    (f"vllm serve --model {M} {D5}", DRAFT, {}, ["--model becomes the first argument"]),
    (f"python3 -m vllm.entrypoints.openai.api_server --model={M} --speculative-model={D} --num-speculative-tokens=5", DRAFT, {}, []),
    (
        f"vllm serve {M} --speculative_model {D} --num_speculative_tokens 5",
        DRAFT,
        {},
        ["--speculative_model moves", "--num_speculative_tokens"],
    ),
    (
        f"vllm serve {M} {N5} --ngram-prompt-lookup-min 2",
        NGRAM | {"prompt_lookup_min": 2},
        {},
        ["-min moves into the speculative config, renamed"],
    ),
    (
        f"vllm serve {M} --ngram-prompt-lookup-max 4 --num-speculative-tokens 5 --speculative-model ngram",
        NGRAM,
        {},
        ['becomes method "ngram"'],
    ),
    (
        f"vllm serve {M} -tp 4 {D5} --speculative-draft-tensor-parallel-size 4",
        DRAFT | {"draft_tensor_parallel_size": 4},
        {"-tp": "4"},
        ["--speculative-draft-tensor-parallel-size moves into the speculative config, renamed draft_tensor_parallel_size"],
    ),
    (
        f"vllm serve {M} --tensor-parallel-size 4 {D5} --speculative-draft-tensor-parallel-size 1",
        DRAFT,
        {"--tensor-parallel-size": "4"},
        ["is dropped: a draft model is split over as many GPUs as its target now, here 4"],
    ),
    (
        f"vllm serve {M} -tp 4 --speculative-model yuhuili/EAGLE-LLaMA3-Instruct-70B --num-speculative-tokens 4 -spec-draft-tp 1",
        {"method": "eagle", "model": "yuhuili/EAGLE-LLaMA3-Instruct-70B", "num_speculative_tokens": 4, "draft_tensor_parallel_size": 1},
        {"-tp": "4"},
        ['with the method "eagle" written out', "-spec-draft-tp moves into"],
    ),
    (
        f"vllm serve {M} --speculative-model Org/EAGLE3-head --num-speculative-tokens 3",
        {"method": "eagle3", "model": "Org/EAGLE3-head", "num_speculative_tokens": 3},
        {},
        ['with the method "eagle3" written out'],
    ),
    (
        f"vllm serve {M} --speculative-model Org/medusa-70b --num-speculative-tokens 3",
        {"method": "medusa", "model": "Org/medusa-70b", "num_speculative_tokens": 3},
        {},
        ['with the method "medusa" written out'],
    ),
    (
        f"vllm serve {M} --speculative-model ibm-fms/llama3-70b-accelerator --num-speculative-tokens 3",
        {"method": "mlp_speculator", "model": "ibm-fms/llama3-70b-accelerator", "num_speculative_tokens": 3},
        {},
        ['with the method "mlp_speculator" written out'],
    ),
    (f"vllm serve {M} {D5} --use-v2-block-manager", DRAFT, {}, ["--use-v2-block-manager is dropped: it is the only block manager now"]),
    (f"vllm serve {M} {D5} --speculative-max-model-len 2048", DRAFT | {"max_model_len": 2048}, {}, ["renamed max_model_len"]),
    (f"vllm serve {M} {D5} --speculative-model-quantization awq", DRAFT | {"quantization": "awq"}, {}, ["renamed quantization"]),
    (f"vllm serve {M} {D5} --speculative-model-quantization None", DRAFT, {}, ["is dropped: None is the default"]),
    (f"vllm serve {M} {D5} --spec-decoding-acceptance-method rejection_sampler", DRAFT, {}, ["rejection sampling is the default now"]),
    (
        f"vllm serve {M} {D5} --spec-decoding-acceptance-method typical_acceptance_sampler "
        "--typical-acceptance-sampler-posterior-threshold 0.09 --typical-acceptance-sampler-posterior-alpha 0.3",
        DRAFT,
        {},
        [f"method is dropped: {TYPICAL}", f"posterior-threshold is dropped: {TYPICAL}", f"posterior-alpha is dropped: {TYPICAL}"],
    ),
    (f"vllm serve {M} {D5} --disable-logprobs-during-spec-decoding", DRAFT, {}, ["the default now is to return log probabilities"]),
    (
        f"vllm serve {M} {D5} --disable-logprobs-during-spec-decoding False --port 81",
        DRAFT,
        {"--port": "81"},
        ["to return log probabilities"],
    ),
    (
        f"vllm serve {M} {D5} --speculative-disable-by-batch-size 8",
        DRAFT | UP_TO_7,
        {},
        ["becomes num_speculative_tokens_per_batch_size in the speculative config: 5 for up to 7 requests at once, 0 beyond"],
    ),
    (f"vllm serve {M} {D5} --speculative-disable-by-batch-size None", DRAFT, {}, ["is dropped: None is the default"]),
    (f"vllm serve {M} {D5} --speculative-disable-mqa-scorer", DRAFT, {}, ["verification is one pass of the target"]),
    (f"vllm serve {M} {D5} --ngram-prompt-lookup-max 4", DRAFT, {}, ["is dropped: it belongs to [ngram], and a draft model is named"]),
    (f"vllm serve {M} {N5} --speculative-draft-tensor-parallel-size 1", NGRAM, {}, ["is dropped: n-grams come from no model"]),
    (f"vllm serve {M} --use-v2-block-manager --port 80", None, {"--port": "80"}, ["the only block manager now"]),
    (f"vllm serve {M} --disable-logprobs-during-spec-decoding", None, {}, ["to return log probabilities"]),
    (f"vllm serve {M} --speculative-model None", None, {}, ["is dropped: None is the default"]),
    (
        f"{MODULE} --host 0.0.0.0 --port 8000 --model facebook/opt-6.7b --seed 42 -tp 1 --speculative_model facebook/opt-125m "
        "--use-v2-block-manager --num_speculative_tokens 5 --gpu_memory_utilization 0.8",
        {"method": "draft_model", "model": "facebook/opt-125m", "num_speculative_tokens": 5},
        {"--host": "0.0.0.0", "--port": "8000", "--seed": "42", "-tp": "1", "--gpu_memory_utilization": "0.8"},
        ["--speculative_model moves", "only block manager", "deprecated"],
    ),
    (
        f"vllm serve {M} {D5} --num-lookahead-slots 5 --swap-space 4 --disable-log-requests --worker-use-ray --num-scheduler-steps 1",
        DRAFT,
        {"--distributed-executor-backend": "ray"},
        [
            "derives it from the number of drafted tokens",
            "--swap-space is dropped",
            "not logged by default",
            "becomes --distributed-executor",
            "V0",
        ],
    ),
    (
        f"vllm serve {M} {D5} --enable-chunked-prefill False",
        DRAFT,
        {"--no-enable-chunked-prefill": True},
        ["takes no value now: False is --no-"],
    ),
    (f"CUDA_VISIBLE_DEVICES=0 nohup vllm serve {M} {D5} > log.txt 2>&1 &", DRAFT, {}, [TOKENS]),
    (f'vllm serve "$MODEL" {D5} --served-model-name big small -O3', DRAFT, {"--served-model-name": "big", "-O3": True}, [TOKENS]),
    (f"--model {M} {D5}", DRAFT, {}, ["--model becomes the first argument"]),
    (
        f"vllm serve {M} {D5} --task generate --max-seq-len-to-capture 4096 --rope-theta 500000 --guided-decoding-backend xgrammar "
        "--prompt-adapters a=b c=d --disable-frontend-multiprocessing --hf-token --numa-bind -asc 2",
        DRAFT,
        {"--hf-token": True, "--numa-bind": True, "-asc": "2"},
        [
            "--task is dropped: the model's own kind",
            "see --max-cudagraph-capture-size",
            "it stands in --hf-overrides",
            "prompt adapters are no",
        ],
    ),
    (
        f"vllm serve {M} {D5} --cuda-graph-sizes 1 8 --override-pooler-config '{{}}'",
        DRAFT,
        {"--cudagraph-capture-sizes": "1", "--pooler-config": {}},
        ["--cuda-graph-sizes is renamed --cudagraph-capture-sizes", "is renamed --pooler-config"],
    ),
    (
        "docker run --runtime nvidia --gpus all --ipc=host -v ~/.cache:/root/.cache -p 8000:8000 --rm vllm/vllm-openai:v0.6.5 "
        f"--model {M} --speculative-model '[ngram]' --ngram-prompt-lookup-max 4 --ngram-prompt-lookup-min 1 --num-speculative-tokens 5",
        NGRAM,
        {},
        ["vllm/vllm-openai:v0.6.5 becomes vllm/vllm-openai:v0.32.0", "--model becomes the first argument", 'becomes method "ngram"'],
    ),
    (f"docker run --gpus all vllm/vllm-openai:latest serve {M} {D5}", DRAFT, {}, [THE_DRAFT]),
    # The mapping itself, as 0.8 to 0.10 had it.
    (
        f"""vllm serve {M} --speculative-config '{{"model": "[ngram]", "num_speculative_tokens": 5, "prompt_lookup_max": 4,"""
        """ "prompt_lookup_min": 1, "disable_by_batch_size": 8}'""",
        NGRAM | UP_TO_7,
        {},
        ['model [ngram] becomes method "ngram"', "disable_by_batch_size becomes num_speculative_tokens_per_batch_size in the"],
    ),
    (
        f"""vllm serve {M} --speculative-config '{{"method": "draft_model", "model": "{D}", "num_speculative_tokens": 5,"""
        """ "tensor_parallel_size": 2, "acceptance_method": "rejection_sampler", "disable_logprobs": true,"""
        """ "disable_mqa_scorer": true}' -tp 2""",
        DRAFT | {"draft_tensor_parallel_size": 2},
        {"-tp": "2"},
        ["tensor_parallel_size is renamed draft_tensor_parallel_size", "acceptance_method is dropped", "disable_logprobs is dropped"],
    ),
]

CURRENT = [
    f"""vllm serve {M} --speculative-config '{{"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4}}' --port 80""",
    f"vllm serve {M} --speculative-config.method ngram --speculative-config.num_speculative_tokens 5",
    f"vllm serve {M} --spec-method draft_model --spec-model {D} --spec-tokens 5",
    f"vllm serve {M}",
    f"from vllm import LLM\nllm = LLM({M!r}, speculative_config={NGRAM!r})  # as it is\n",
    f"""["{M}", "--max-model-len", "2048"]""",
]

# code, arguments of the call, parts of the notes
PYTHON: list[tuple[str, dict[str, Any], list[str]]] = [
    (  # The seed's.
        f"from vllm import LLM, SamplingParams\n\nllm = LLM(\n    model={M!r},\n    speculative_model={D!r},  # small draft\n"
        "    num_speculative_tokens=5,    # guess 5 ahead\n)\nout = llm.generate(['Hi'], SamplingParams(max_tokens=128))\n",
        {"model": M, "speculative_config": DRAFT},
        ["speculative_model moves into the speculative config, renamed model", "num_speculative_tokens moves into the speculative config"],
    ),
    (
        f"llm = LLM({M!r}, tensor_parallel_size=4, speculative_model='[ngram]', num_speculative_tokens=5,\n"
        "          ngram_prompt_lookup_max=4, use_v2_block_manager=True)",
        {"0": M, "tensor_parallel_size": 4, "speculative_config": NGRAM},
        ['speculative_model becomes method "ngram"', "prompt_lookup_min 1 is written out", "the only block manager"],
    ),
    (
        f"import vllm\ndef build(path):\n    return vllm.LLM(model=path, dtype=DTYPE, speculative_model={D!r}, num_speculative_tokens=5,"
        " speculative_draft_tensor_parallel_size=1, speculative_max_model_len=512)",
        {"model": "path", "dtype": "DTYPE", "speculative_config": DRAFT | {"draft_tensor_parallel_size": 1, "max_model_len": 512}},
        ["renamed draft_tensor_parallel_size", "renamed max_model_len"],
    ),
    (
        f"args = AsyncEngineArgs(model={M!r}, speculative_model={D!r}, num_speculative_tokens=5, swap_space=4,"
        " speculative_disable_by_batch_size=4, disable_log_stats=False)",
        {"model": M, "speculative_config": DRAFT | {SCHEDULE: [[1, 3, 5], [4, 4, 0]]}, "disable_log_stats": False},
        ["swap_space is dropped", "5 for up to 3 requests at once, 0 beyond"],
    ),
    (
        f"llm = LLM({M!r}, tensor_parallel_size=8, speculative_model={D!r}, num_speculative_tokens=5,"
        " speculative_draft_tensor_parallel_size=1)",
        {"0": M, "tensor_parallel_size": 8, "speculative_config": DRAFT},
        ["as many GPUs as its target now, here 8"],
    ),
    (
        f"llm = LLM({M!r}, speculative_config={{'model': '[ngram]', 'num_speculative_tokens': 5, 'prompt_lookup_max': 4,"
        " 'prompt_lookup_min': 1})",
        {"0": M, "speculative_config": NGRAM},
        ['becomes method "ngram"'],
    ),
    (
        f"llm = LLM(model={M!r}, speculative_model={D!r}, num_speculative_tokens=5, task='generate', cuda_graph_sizes=[1, 8])",
        {"model": M, "speculative_config": DRAFT, "cudagraph_capture_sizes": [1, 8]},
        ["task is dropped: the model's own kind", "cuda_graph_sizes is renamed cudagraph_capture_sizes"],
    ),
    (
        f"llm = EngineArgs(model={M!r}, speculative_model=None, worker_use_ray=True)",
        {"model": M, "distributed_executor_backend": "ray"},
        ["None is the default", "becomes --distributed-executor-backend ray"],
    ),
]

# text, the container's words (command and args together), parts of the notes
YAML: list[tuple[str, list[str], list[str]]] = [
    (f'["--model", "{M}", "--speculative-model", "{D}", "--num-speculative-tokens", "5"]', [M], [THE_DRAFT]),
    (f'["vllm", "serve", "{M}", "--speculative-model", "{D}", "--num-speculative-tokens", "5"]', ["vllm", "serve", M], [THE_DRAFT]),
    (f"- --model={M}\n- --speculative-model={D}\n- --num-speculative-tokens=5\n", [M], [THE_DRAFT]),
    (f"args:\n- --model\n- {M}\n- --speculative-model\n- {D}\n- --num-speculative-tokens\n- 5\n", [M], [THE_DRAFT, TOKENS]),
    (
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: vllm\n"
        "        image: vllm/vllm-openai:v0.6.4\n        command: [python3, -m, vllm.entrypoints.openai.api_server]\n"
        f"        args: [--model, {M}, --speculative-model, {D}, --num-speculative-tokens, '5']\n"
        "      - name: other\n        args: [--fast]\n",
        ["vllm", "serve", M],
        ["vllm/vllm-openai:v0.6.4 becomes vllm/vllm-openai:v0.32.0", "becomes vllm serve", THE_DRAFT],
    ),
    (
        f"services:\n  vllm:\n    image: vllm/vllm-openai:latest\n"
        f"    command: --model {M} --speculative-model {D} --num-speculative-tokens 5\n",
        [M],
        ["--model becomes the first argument", THE_DRAFT],
    ),
    (
        f'containers:\n- command: ["/bin/sh", "-c"]\n  args: ["vllm serve {M} --speculative-model {D} --num-speculative-tokens 5"]\n',
        ["vllm", "serve", M],
        [THE_DRAFT],
    ),
]

BROKEN: list[tuple[str, str]] = [
    ("  ", "There is nothing to translate"),
    (f"vllm serve {M} --speculative-model '[ngram] --num-speculative-tokens 5", "quotes do not pair up"),
    (f"vllm serve {D5}", "names no model: write it after vllm serve"),
    (f"vllm serve {M} --num-speculative-tokens 5", "--num-speculative-tokens is given without --speculative-model"),
    (f"vllm serve {M} --ngram-prompt-lookup-max 4", "--ngram-prompt-lookup-max is given without --speculative-model"),
    (f"vllm serve {M} --speculative-model {D}", "--speculative-model is given without --num-speculative-tokens"),
    (f"vllm serve {M} --speculative-model [ngram] --num-speculative-tokens 5", "[ngram] is given without --ngram-prompt-lookup-max"),
    (f"vllm serve {M} {N5} --ngram-prompt-lookup-min 6", "--ngram-prompt-lookup-min is 6, above the maximum of 4"),
    (f"vllm serve {M} --speculative-model {D} --num-speculative-tokens five", "is 'five': give a whole number"),
    (f"vllm serve {M} --speculative-model {D} --num-speculative-tokens 0", "is 0: give 1 or more"),
    (f"vllm serve {M} {D5} --speculative-disable-by-batch-size 1", "--speculative-disable-by-batch-size is 1: give 2 or more"),
    (
        f"""vllm serve {M} --speculative-config '{{"model": "[ngram]", "disable_by_batch_size": 8}}'""",
        "disable_by_batch_size is given without num_speculative_tokens",
    ),
    (
        f"vllm serve {M} --speculativ-model {D} --num-speculative-tokens 5",
        "no option --speculativ-model: did you mean --speculative-model?",
    ),
    (f"vllm serve {M} {D5} --frobnicate", "no option --frobnicate: look for it in vllm serve --help"),
    (f"vllm serve {M} --speculative-model {D} --num-speculative-tokens", "--num-speculative-tokens is given without a value"),
    (f"vllm serve {M} other {D5}", "'other' belongs to no option"),
    (f"vllm serve {M} --model {D} {D5}", "names two models"),
    (f"""vllm serve {M} {D5} --speculative-config '{{"method": "ngram"}}'""", "say the same twice, in the old form and the new"),
    (f"vllm serve {M} {D5} --spec-method ngram", "say the same twice, in the old form and the new"),
    (f"vllm serve {M} --speculative-config '{{method: ngram}}'", "holds no JSON"),
    (f"vllm serve {M} --speculative-config '[1]'", "holds no mapping"),
    (
        f"""vllm serve {M} --speculative-config '{{"num_spec_tokens": 5}}'""",
        "has no key 'num_spec_tokens': did you mean num_speculative_tokens?",
    ),
    (f"cd /srv && vllm serve {M} {D5}", "more than one command"),
    ("llama-server -m model.gguf", "llama-server does not start vLLM's server"),
    ("docker ps -a", "No image is named in this docker command"),
    (f"vllm.entrypoints.openai.api_server --model {M}", "is a module: start it by python -m"),
    (f"llm = LLM({M!r}, speculative_model={D!r}, num_speculative_tokens=K)", "num_speculative_tokens is K, which only a run could tell"),
    (f"llm = LLM({M!r}, **options)", "gets its arguments through **"),
    (f"llm = LLM(speculative_model={D!r}, num_speculative_tokens=5)", "LLM is called without a model"),
    (f"llm = LLM({M!r}, speculative_modell={D!r})", "LLM has no argument speculative_modell: did you mean speculative_model?"),
    (f"llm = LLM({M!r}, speculative_model={D!r}, speculative_config={{}})", "speculative_model and speculative_config say the same twice"),
    (f"llm = LLM({M!r}, num_speculative_tokens=5)", "num_speculative_tokens is given without speculative_model"),
    (f"llm = LLM({M!r},\n  speculative_model={D!r}", "is not valid Python"),
    ("# LLM( is in a comment alone\nx = 1", "No call of LLM, AsyncEngineArgs, EngineArgs"),
    ('["--model", "M"', "is not valid YAML in line"),
    ("args: [--fast]\n", "No container of this manifest starts vLLM"),
    ("- --model\n- {a: b}\n", "An element of the list is no word"),
]
