"""The options of vLLM's server: which take how many values, and which are gone."""

from __future__ import annotations

from specdec_lab.serving.legacy_config import DROPPED, MOVED, names

# Source: `vllm serve --help` of 0.10 and the engine arguments of later releases.
SINGLE = names("""
    model tokenizer tokenizer-mode dtype seed hf-config-path allowed-local-media-path revision code-revision rope-scaling rope-theta
    tokenizer-revision max-model-len quantization max-seq-len-to-capture max-logprobs logprobs-mode config-format hf-token
    hf-overrides override-neuron-config override-pooler-config logits-processor-pattern generation-config override-generation-config
    model-impl load-format download-dir model-loader-extra-config pt-load-map-location guided-decoding-backend reasoning-parser task
    runner convert distributed-executor-backend pipeline-parallel-size tensor-parallel-size data-parallel-size data-parallel-rank
    data-parallel-start-rank data-parallel-size-local data-parallel-address data-parallel-rpc-port data-parallel-backend nnodes
    node-rank master-addr master-port decode-context-parallel-size prefill-context-parallel-size num-redundant-experts eplb-config
    max-parallel-loading-workers worker-cls worker-extension-cls block-size gpu-memory-utilization kv-cache-dtype
    kv-cache-memory-bytes num-gpu-blocks-override prefix-caching-hash-algo cpu-offload-gb limit-mm-per-prompt media-io-kwargs
    mm-processor-kwargs mm-processor-cache-gb max-loras max-lora-rank lora-extra-vocab-size lora-dtype max-cpu-loras
    speculative-config spec-method spec-model spec-tokens show-hidden-metrics-for-version otlp-traces-endpoint
    max-num-batched-tokens max-num-seqs max-num-partial-prefills max-long-partial-prefills long-prefill-token-threshold
    scheduling-policy scheduler-cls kv-transfer-config kv-events-config ec-transfer-config compilation-config attention-config
    attention-backend additional-config structured-outputs-config profiler-config optimization-level performance-mode
    reasoning-config kernel-config config host port uds uvicorn-log-level allowed-origins allowed-methods allowed-headers
    chat-template chat-template-content-format response-role ssl-keyfile ssl-certfile ssl-ca-certs ssl-cert-reqs root-path
    tool-call-parser tool-parser-plugin log-config-file max-log-len api-server-count served-model tool-server
    h11-max-incomplete-event-size h11-max-header-count moe-backend linear-backend weight-transfer-config stream-interval
    default-chat-template-kwargs shutdown-timeout
""")
SEVERAL = names("""
    served-model-name lora-modules ignore-patterns collect-detailed-traces cuda-graph-sizes cudagraph-capture-sizes middleware
    api-key long-lora-scaling-factors prompt-adapters logits-processors
""")
ALONE = names("""
    trust-remote-code enforce-eager disable-sliding-window disable-cascade-attn skip-tokenizer-init enable-prompt-embeds
    disable-async-output-proc enable-sleep-mode use-tqdm-on-load enable-expert-parallel enable-eplb ray-workers-use-nsight
    disable-custom-all-reduce enable-prefix-caching calculate-kv-scales enable-lora enable-lora-bias fully-sharded-loras
    enable-chunked-prefill disable-log-stats enable-log-requests disable-uvicorn-access-log allow-credentials enable-ssl-refresh
    return-tokens-as-token-ids disable-frontend-multiprocessing enable-request-id-headers enable-auto-tool-choice headless
    disable-fastapi-docs enable-prompt-tokens-details enable-server-load-tracking enable-force-include-usage async-scheduling
    enable-tokenizer-info-endpoint data-parallel-hybrid-lb data-parallel-external-lb enable-dbo disable-hybrid-kv-cache-manager
    language-model-only interleave-mm-strings enable-log-outputs aggregate-engine-logging disable-chunked-mm-input
""")
OLD_ENGINE = "is dropped: it steered the old engine (V0), which is gone"
GONE_ALONE = {
    "use-v2-block-manager": "is dropped: it is the only block manager now",
    "multi-step-stream-outputs": OLD_ENGINE,
    "worker-use-ray": "becomes --distributed-executor-backend ray",
    "engine-use-ray": OLD_ENGINE,
    "disable-log-requests": "is dropped: requests are not logged by default now",
    "enable-reasoning": "is dropped: --reasoning-parser alone switches it on",
    "speculative-disable-mqa-scorer": DROPPED["speculative_disable_mqa_scorer"],
    "disable-logprobs-during-spec-decoding": DROPPED["disable_logprobs_during_spec_decoding"],
}
GONE_SINGLE = {
    "num-lookahead-slots": "is dropped: the engine derives it from the number of drafted tokens",
    "num-scheduler-steps": OLD_ENGINE,
    "scheduler-delay-factor": OLD_ENGINE,
    "preemption-mode": OLD_ENGINE,
    "swap-space": OLD_ENGINE,
    "device": "is dropped: the installed build decides on the device",
}
ALIASES = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-q": "--quantization",
    "-sc": "--speculative-config",
    "-n": "--nnodes",
    "-spec-draft-tp": "--speculative-draft-tensor-parallel-size",
}
SPECULATIVE = {name.replace("_", "-") for name in (*MOVED, *DROPPED)}
NEW_SPECULATIVE = {"speculative-config", "spec-method", "spec-model", "spec-tokens"}
WITH_ONE = {*SINGLE, *GONE_SINGLE, *SPECULATIVE} - set(GONE_ALONE)
WITHOUT = {*ALONE, *GONE_ALONE}
ALL = sorted({*WITH_ONE, *WITHOUT, *SEVERAL})
GONE = GONE_ALONE | GONE_SINGLE


def name_of(word: str) -> str:
    """An option's name without dashes: `--Some_Option=3` and `-tp` alike."""
    start = word.split("=", 1)[0]
    return ALIASES.get(start, start).lstrip("-").replace("_", "-")


def is_speculative(word: str) -> bool:
    """Whether a word is an option of speculation, old or new."""
    return word.startswith("-") and name_of(word).split(".")[0] in SPECULATIVE | NEW_SPECULATIVE
