"""A set-up as a script around Hugging Face's `generate`: one prompt at a time, in this process, no server and no counters.

Two settings make its k the same k as everywhere else: `assistant_confidence_threshold` 0, or the draft stops where it is unsure, and a
constant schedule, or k moves with every round.
"""

from __future__ import annotations

from specdec_lab.serving.setup import DraftModel, Ngram, NoDrafter, Setup
from specdec_lab.serving.text import PROMPT, Engine

GENERATION = "transformers/generation/configuration_utils.py"
LOADING = "transformers/modeling_utils.py, from_pretrained"
TRANSFORMERS = Engine(
    "transformers",
    "5.24",
    {
        "num_assistant_tokens": GENERATION,
        "num_assistant_tokens_schedule": GENERATION,
        "assistant_confidence_threshold": GENERATION,
        "prompt_lookup_num_tokens": GENERATION,
        "max_matching_ngram_size": GENERATION,
        "assistant_model": "transformers/generation/utils.py, generate",
        "do_sample": GENERATION,
        "temperature": GENERATION,
        "top_p": GENERATION,
        "top_k": GENERATION,
        "min_p": GENERATION,
        "max_new_tokens": GENERATION,
        "disable_compile": GENERATION,
        "dtype": LOADING,
        "device_map": LOADING,
    },
)


def render(setup: Setup) -> dict[str, str]:
    """The script, by its file name. Raises UserError for what `generate` cannot do."""
    _refuse(setup)
    draft = setup.drafter if isinstance(setup.drafter, DraftModel) else None
    lines = [
        TRANSFORMERS.header,
        "from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed",
        "",
        f"set_seed({setup.seed})",
        f"tokenizer = AutoTokenizer.from_pretrained({setup.target!r})",
        _load("target", setup.target, setup.dtype),
    ]
    if draft is not None:
        lines += [
            _load("draft", draft.model, setup.dtype),
            f"draft.generation_config.num_assistant_tokens = {setup.k}",
            "draft.generation_config.num_assistant_tokens_schedule = 'constant'",
            "draft.generation_config.assistant_confidence_threshold = 0.0",
        ]
    lines += [f"prompt = tokenizer({PROMPT!r}, return_tensors='pt'{_truncation(setup)}).to(target.device)", "output = target.generate("]
    lines += ["    **prompt,", *(f"    {name}={value}," for name, value in _arguments(setup).items()), ")"]
    lines += ["print(tokenizer.decode(output[0], skip_special_tokens=True))", ""]
    return {"generate.py": "\n".join(lines)}


def _load(name: str, model: str, dtype: str) -> str:
    return f"{name} = AutoModelForCausalLM.from_pretrained({model!r}, dtype={dtype!r}, device_map='auto')"


def _truncation(setup: Setup) -> str:
    """A longer prompt is cut so that it fits with its answer."""
    if setup.max_model_len is None:
        return ""
    room = setup.max_model_len - setup.sampling.max_tokens
    answer = f"has no room for a prompt in {setup.max_model_len} tokens with an answer of {setup.sampling.max_tokens}"
    TRANSFORMERS.require(room >= 1, answer, "lower max_tokens or raise max_model_len")
    return f", truncation=True, max_length={room}"


def _arguments(setup: Setup) -> dict[str, str]:
    """The arguments of `generate` as source text."""
    sampling, drafter = setup.sampling, setup.drafter
    found = {"max_new_tokens": str(sampling.max_tokens), "do_sample": str(sampling.temperature > 0)}
    if sampling.temperature > 0:
        found |= {"temperature": str(sampling.temperature), "top_p": str(sampling.top_p), "top_k": str(sampling.top_k)}
        found |= {"min_p": str(sampling.min_p)} if sampling.min_p else {}
    if isinstance(drafter, DraftModel):
        found["assistant_model"] = "draft"
    if isinstance(drafter, Ngram):
        found |= {"prompt_lookup_num_tokens": str(setup.k), "max_matching_ngram_size": str(drafter.lookup_max)}
    return found | ({"disable_compile": "True"} if setup.enforce_eager else {})


def _refuse(setup: Setup) -> None:
    drafter, parallel, sampling = setup.drafter, setup.parallel, setup.sampling
    known = isinstance(drafter, NoDrafter | DraftModel | Ngram)
    TRANSFORMERS.require(known, f"has no {type(drafter).__name__} drafter", "take DraftModel or Ngram, or serve this one with vLLM")
    if isinstance(drafter, Ngram):
        minimum = f"matches from one token up and knows no lookup_min of {drafter.lookup_min}"
        TRANSFORMERS.require(drafter.lookup_min == 1, minimum, "set lookup_min=1")
    one = parallel.gpus == parallel.nodes == 1 and parallel.draft_tensor is None
    TRANSFORMERS.require(one, "is set up here for one GPU", "take Parallel(), or serve with vLLM")
    method = setup.rejection.method
    TRANSFORMERS.require(method == "standard", f"has no {method} verification", 'take Rejection("standard"), or vLLM')
    TRANSFORMERS.require(setup.draft_sampling is None, "takes no word on how the draft is sampled", "leave draft_sampling None")
    TRANSFORMERS.require(setup.port is None, "serves no port", "leave port None, or serve with vLLM")
    TRANSFORMERS.require(setup.gpu_memory is None, "reserves no share of the memory", "leave gpu_memory None")
    shaped = sampling.top_p < 1 or sampling.top_k or sampling.min_p
    greedy = "is greedy at temperature 0, where top_p, top_k and min_p change nothing"
    TRANSFORMERS.require(sampling.temperature > 0 or not shaped, greedy, "leave them off, or raise the temperature")
