"""The options of vLLM's server: which take how many values, and which are gone."""

from __future__ import annotations

from specdec_lab.serving.legacy_config import DROPPED, MOVED, names

# Source: the server's parser of 0.32 (vllm/entrypoints/launchers/cli_args.py), which a test asks; what is gone, from that of 0.10.
SINGLE = names("""
    model tokenizer tokenizer-mode dtype seed hf-config-path allowed-local-media-path revision code-revision tokenizer-revision
    max-model-len quantization max-logprobs logprobs-mode config-format hf-token hf-overrides generation-config
    override-generation-config model-impl load-format download-dir model-loader-extra-config pt-load-map-location reasoning-parser
    runner convert distributed-executor-backend pipeline-parallel-size tensor-parallel-size data-parallel-size data-parallel-rank
    data-parallel-start-rank data-parallel-size-local data-parallel-address data-parallel-rpc-port data-parallel-backend nnodes
    node-rank master-addr master-port decode-context-parallel-size prefill-context-parallel-size eplb-config
    max-parallel-loading-workers worker-cls worker-extension-cls block-size gpu-memory-utilization kv-cache-dtype
    kv-cache-memory-bytes num-gpu-blocks-override prefix-caching-hash-algo cpu-offload-gb limit-mm-per-prompt media-io-kwargs
    mm-processor-kwargs mm-processor-cache-gb max-loras max-lora-rank lora-dtype max-cpu-loras speculative-config spec-method
    spec-model spec-tokens show-hidden-metrics-for-version otlp-traces-endpoint max-num-batched-tokens max-num-seqs
    long-prefill-token-threshold scheduling-policy scheduler-cls kv-transfer-config kv-events-config ec-transfer-config
    compilation-config attention-config attention-backend additional-config structured-outputs-config profiler-config
    optimization-level performance-mode reasoning-config kernel-config config host port uds uvicorn-log-level allowed-origins
    allowed-methods allowed-headers chat-template chat-template-content-format response-role ssl-keyfile ssl-certfile ssl-ca-certs
    ssl-cert-reqs root-path tool-call-parser tool-parser-plugin log-config-file max-log-len api-server-count tool-server
    h11-max-incomplete-event-size h11-max-header-count moe-backend linear-backend weight-transfer-config stream-interval
    default-chat-template-kwargs shutdown-timeout all2all-backend anthropic-disabled-thinking-effort aux-output-config cohere-format
    cp-kv-cache-interleave-size cpu-distributed-timeout-seconds custom-histogram-buckets data-parallel-supervisor-port
    dbo-decode-token-threshold dbo-prefill-token-threshold dcp-comm-backend dcp-kv-cache-interleave-size default-mm-loras device-ids
    device-memory-utilization diffusion-config disable-access-log-for-endpoints distributed-timeout-seconds
    dp-supervisor-probe-failure-threshold dp-supervisor-probe-interval-s dp-supervisor-probe-timeout-s dp-sync-interval
    ec-manager-config elastic-ep-max-dp-size engram-config expert-placement-strategy fault-tolerance-config fingerprint-mode
    fingerprint-value gdn-prefill-backend grpc-port io-processor-plugin ir-op-priority jit-monitor-mode kda-decode-backend
    kda-prefill-backend kv-cache-metrics-sample kv-offloading-backend kv-offloading-size log-level logging-config mamba-backend
    mamba-block-size mamba-cache-dtype mamba-cache-mode mamba-cache-philox-rounds mamba-ssm-cache-dtype mamba-ssu-algorithm
    max-cudagraph-capture-size max-lora-cls-labels max-num-active-seqs max-num-queued-reqs max-num-queued-tokens
    max-num-scheduled-tokens mm-encoder-attn-backend mm-encoder-attn-dtype mm-encoder-fp8-scale-path
    mm-encoder-fp8-scale-save-margin mm-encoder-fp8-scale-save-path mm-encoder-tp-mode mm-hasher-algorithm mm-ipc-gpu-memory-gb
    mm-processor-cache-type mm-processor-device mm-shm-cache-max-object-size-mb mm-tensor-ipc model-class-overrides offload-backend
    offload-group-size offload-num-in-group offload-prefetch-step per-request-spec-decode-metrics pooler-config
    prefill-schedule-interval prefix-cache-retention-interval prefix-match-unit quantization-config reasoning-parser-plugin
    renderer-num-workers replayssm-buffer-len safetensors-load-strategy safetensors-prefetch-block-size
    safetensors-prefetch-num-threads sparse-indexer-topk-backend sse-keep-alive-interval ssl-ciphers tool-strict-level ubatch-size
    video-pruning-method video-pruning-rate watermark watermark-config middleware
""")
SEVERAL = names("""
    served-model-name lora-modules ignore-patterns collect-detailed-traces cudagraph-capture-sizes api-key logits-processors
    allowed-media-domains cpu-offload-params kv-cache-dtype-skip-layers lora-target-modules numa-bind-cpus numa-bind-nodes
    offload-params sleep-preserve-parameter-names
""")
ALONE = names("""
    trust-remote-code enforce-eager disable-sliding-window disable-cascade-attn skip-tokenizer-init enable-prompt-embeds
    enable-sleep-mode use-tqdm-on-load enable-expert-parallel enable-eplb ray-workers-use-nsight disable-custom-all-reduce
    enable-prefix-caching enable-lora fully-sharded-loras enable-chunked-prefill disable-log-stats enable-log-requests
    disable-uvicorn-access-log allow-credentials enable-ssl-refresh return-tokens-as-token-ids enable-request-id-headers
    enable-auto-tool-choice headless disable-fastapi-docs enable-prompt-tokens-details enable-server-load-tracking
    enable-force-include-usage async-scheduling enable-tokenizer-info-endpoint data-parallel-hybrid-lb data-parallel-external-lb
    enable-dbo disable-hybrid-kv-cache-manager language-model-only interleave-mm-strings enable-log-outputs aggregate-engine-logging
    disable-chunked-mm-input allow-deprecated-quantization cohere-is-reasoning-model cudagraph-metrics
    data-parallel-multi-port-external-lb dcp-q-replicate disable-nccl-for-dp-synchronization enable-batch-sharded-sampling
    enable-cumem-allocator enable-elastic-ep enable-ep-weight-filter enable-fault-tolerance enable-flash-late-interaction
    enable-flashinfer-autotune enable-hc-sp enable-layerwise-nvtx-tracing enable-log-deltas enable-logging-iteration-details
    enable-mamba-cache-stochastic-rounding enable-mamba-shared-prefix-checkpoint enable-mfu-metrics enable-mixed-moe-lora-format
    enable-mm-embeds enable-moe-shared-loras enable-nccl-comm-suspend enable-offline-docs enable-per-request-metrics
    enable-return-routed-experts enable-scale-out enable-shm-tensor-arena enable-tower-connector-lora enable-trace-replay
    exclude-tools-when-tool-choice-none fail-on-environ-validation grpc jit-monitor-verbose kv-cache-metrics kv-sharing-fast-prefill
    log-error-stack long-prefill-token-threshold-adaptive mm-device-do-normalize mm-encoder-only numa-bind return-sampling-mask
    scheduler-reserve-full-isl skip-mm-profiling sleep-mode-offload-cudagraph specialize-active-lora swa-bounded-replay tokens-only
    trust-request-chat-template trust-request-mm-kwargs use-fp64-gumbel use-replayssm
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
    "disable-async-output-proc": OLD_ENGINE,
    "disable-frontend-multiprocessing": "is dropped: the engine always has a process of its own",
    "calculate-kv-scales": "is dropped: scales of the key-value cache come with the checkpoint",
    "enable-lora-bias": "is dropped: adapters with biases are no longer supported",
}
GONE_SINGLE = {
    "num-lookahead-slots": "is dropped: the engine derives it from the number of drafted tokens",
    "num-scheduler-steps": OLD_ENGINE,
    "scheduler-delay-factor": OLD_ENGINE,
    "preemption-mode": OLD_ENGINE,
    "swap-space": OLD_ENGINE,
    "device": "is dropped: the installed build decides on the device",
    "max-seq-len-to-capture": "is dropped: CUDA graphs are captured by the size of a batch, see --max-cudagraph-capture-size",
    "max-num-partial-prefills": OLD_ENGINE,
    "max-long-partial-prefills": OLD_ENGINE,
    "logits-processor-pattern": "is dropped: requests no longer name logits processors, --logits-processors loads them at the start",
    "guided-decoding-backend": 'is dropped: it is a key of --structured-outputs-config now, as in {"backend": "xgrammar"}',
    "lora-extra-vocab-size": "is dropped: adapters no longer bring words of their own",
    "num-redundant-experts": 'is dropped: it is a key of --eplb-config now, as in {"num_redundant_experts": 2}',
    "override-neuron-config": "is dropped: vLLM for Neuron is a package of its own now",
    "rope-scaling": 'is dropped: it stands in --hf-overrides now, as in {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}',
    "rope-theta": 'is dropped: it stands in --hf-overrides now, as in {"rope_parameters": {"rope_theta": 500000.0}}',
    "task": "is dropped: the model's own kind decides, and --runner and --convert where it may be two things",
}
GONE_SEVERAL = {
    "prompt-adapters": "is dropped: prompt adapters are no longer supported",
    "long-lora-scaling-factors": "is dropped: long-context adapters are no longer supported",
}
RENAMED = {"cuda-graph-sizes": "cudagraph-capture-sizes", "override-pooler-config": "pooler-config"}
OPTIONAL = {"hf-token"}  # may stand without its value
ALIASES = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-q": "--quantization",
    "-sc": "--speculative-config",
    "-n": "--nnodes",
    "-r": "--node-rank",
    "-ep": "--enable-expert-parallel",
    "-cc": "--compilation-config",
    "-ac": "--attention-config",
    "-asc": "--api-server-count",
    "-dc": "--diffusion-config",
    "-dcp": "--decode-context-parallel-size",
    "-pcp": "--prefill-context-parallel-size",
    "-dpn": "--data-parallel-rank",
    "-dpr": "--data-parallel-start-rank",
    "-dpl": "--data-parallel-size-local",
    "-dpa": "--data-parallel-address",
    "-dpp": "--data-parallel-rpc-port",
    "-dpb": "--data-parallel-backend",
    "-dph": "--data-parallel-hybrid-lb",
    "-dpe": "--data-parallel-external-lb",
    "-dpm": "--data-parallel-multi-port-external-lb",
    "-spec-draft-tp": "--speculative-draft-tensor-parallel-size",
}
SPECULATIVE = {name.replace("_", "-") for name in (*MOVED, *DROPPED)}
NEW_SPECULATIVE = {"speculative-config", "spec-method", "spec-model", "spec-tokens"}
WITH_ONE = {*SINGLE, *GONE_SINGLE, *SPECULATIVE, "override-pooler-config"} - set(GONE_ALONE)
WITHOUT = {*ALONE, *GONE_ALONE}
WITH_SEVERAL = {*SEVERAL, *GONE_SEVERAL, "cuda-graph-sizes"}
ALL = sorted({*WITH_ONE, *WITHOUT, *WITH_SEVERAL})
GONE = GONE_ALONE | GONE_SINGLE | GONE_SEVERAL


def name_of(word: str) -> str:
    """An option's name without dashes: `--Some_Option=3` and `-tp` alike."""
    start = word.split("=", 1)[0]
    return ALIASES.get(start, start).lstrip("-").replace("_", "-")


def is_speculative(word: str) -> bool:
    """Whether a word is an option of speculation, old or new."""
    return word.startswith("-") and name_of(word).split(".")[0] in SPECULATIVE | NEW_SPECULATIVE
