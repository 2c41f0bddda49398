"""From the old arguments of vLLM's speculation to its one mapping, with a note for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from specdec_lab.errors import UserError


def names(text: str) -> tuple[str, ...]:
    """The words of a text: a long list that can be read."""
    return tuple(text.split())


KEYS = names("""
    method model num_speculative_tokens enforce_eager draft_tensor_parallel_size quantization moe_backend attention_backend
    kv_cache_dtype max_model_len revision code_revision disable_padded_drafter_batch use_local_argmax_reduction
    use_heterogeneous_vocab prompt_lookup_max prompt_lookup_min parallel_drafting num_speculative_tokens_per_batch_size
    suffix_decoding_max_tree_depth suffix_decoding_max_cached_requests suffix_decoding_max_spec_factor
    suffix_decoding_min_token_prob draft_load_config rejection_sample_method synthetic_acceptance_rates synthetic_acceptance_length
    synthetic_acceptance_rate draft_sample_method speculative_token_tree
""")
MOVED = {
    "speculative_model": "model",
    "num_speculative_tokens": "num_speculative_tokens",
    "ngram_prompt_lookup_max": "prompt_lookup_max",
    "ngram_prompt_lookup_min": "prompt_lookup_min",
    "speculative_draft_tensor_parallel_size": "draft_tensor_parallel_size",
    "speculative_max_model_len": "max_model_len",
    "speculative_model_quantization": "quantization",
    "speculative_disable_by_batch_size": "num_speculative_tokens_per_batch_size",
}
TYPICAL = "is dropped: typical acceptance, which changed the text, went with the old engine; tokens are tested by rejection sampling"
DROPPED = {
    "spec_decoding_acceptance_method": "is dropped: rejection sampling is the default now (rejection_sample_method: standard)",
    "typical_acceptance_sampler_posterior_threshold": TYPICAL,
    "typical_acceptance_sampler_posterior_alpha": TYPICAL,
    "disable_logprobs_during_spec_decoding": "is dropped: the default now is to return log probabilities to the requests that ask for them",
    "speculative_disable_mqa_scorer": "is dropped: the scorer went with the old engine, verification is one pass of the target",
}
OLD_KEYS = {
    "acceptance_method": DROPPED["spec_decoding_acceptance_method"],
    "posterior_threshold": TYPICAL,
    "posterior_alpha": TYPICAL,
    "disable_logprobs": DROPPED["disable_logprobs_during_spec_decoding"],
    "disable_mqa_scorer": DROPPED["speculative_disable_mqa_scorer"],
    "disable_log_stats": "is dropped: the server's own --disable-log-stats decides",
}
SCHEDULE = MOVED["speculative_disable_by_batch_size"]
HEADS = {"eagle3": "eagle3", "eagle-3": "eagle3", "eagle": "eagle", "medusa": "medusa", "accelerator": "mlp_speculator"}
NGRAM = ("[ngram]", "ngram")


@dataclass(frozen=True)
class Note:
    """What became of an argument, and why; `argument` as it was written."""

    argument: str
    text: str

    def __str__(self) -> str:
        return f"{self.argument} {self.text}".strip()


@dataclass(frozen=True)
class Translation:
    """The current form, what kind of form it is (command, list, manifest, config file or python), and a note per changed argument."""

    kind: str
    current: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Old:
    """Old arguments by their Python names, each as it was written, and the target's tensor parallelism."""

    values: dict[str, Any]
    show: Callable[[str], str]
    tensor: int = 1

    def whole(self, name: str, least: int = 1) -> int | None:
        """The argument as a whole number, None where it was not given or is None."""
        value = self.values.get(name)
        if value is None or value == "None":
            return None
        try:
            if isinstance(value, bool | float):
                raise ValueError
            number = int(value)
        except ValueError as error:
            raise UserError(f"{self.show(name)} is {value!r}: give a whole number.") from error
        if number < least:
            raise UserError(f"{self.show(name)} is {number}: give {least} or more.")
        return number


def convert(old: Old) -> tuple[dict[str, Any] | None, list[Note]]:
    """The mapping, None if the old arguments ask for no speculation, and the notes in the order of the arguments."""
    model = old.values.get("speculative_model")
    config = None if model in (None, "None") else _speculation(old, str(model))
    if config is None:
        _require_no_orphans(old)
    return config, [Note(old.show(name), _fate(name, old, config)) for name in old.values]


def _require_no_orphans(old: Old) -> None:
    for name in ("num_speculative_tokens", "ngram_prompt_lookup_max", "ngram_prompt_lookup_min", "speculative_draft_tensor_parallel_size"):
        if old.values.get(name) not in (None, "None"):
            way_out = "name a draft or [ngram]; a target with MTP heads of its own takes the method mtp in the speculative config"
            raise UserError(f"{old.show(name)} is given without {old.show('speculative_model')}: {way_out}.")


def _speculation(old: Old, model: str) -> dict[str, Any]:
    k = old.whole("num_speculative_tokens")
    if k is None:
        raise UserError(f"{old.show('speculative_model')} is given without {old.show('num_speculative_tokens')}: say how many, 5 is fair.")
    off = old.whole("speculative_disable_by_batch_size", least=2)
    limits = {} if off is None else {SCHEDULE: _schedule(k, off)}
    if model in NGRAM:
        return {"method": "ngram", "num_speculative_tokens": k} | _lookup(old) | limits
    config: dict[str, Any] = {"method": _method(model), "model": model, "num_speculative_tokens": k} | limits
    split, longest = old.whole("speculative_draft_tensor_parallel_size"), old.whole("speculative_max_model_len")
    if split is not None and not _split_is_dropped(split, old, config):
        config["draft_tensor_parallel_size"] = split
    if longest is not None:
        config["max_model_len"] = longest
    quantization = old.values.get("speculative_model_quantization")
    return config if quantization in (None, "None") else config | {"quantization": quantization}


def _method(model: str) -> str:
    """By the name, as far as it tells; vLLM looks at the checkpoint's own type as well."""
    return next((method for part, method in HEADS.items() if part in model.lower()), "draft_model")


def _lookup(old: Old) -> dict[str, int]:
    most, least = old.whole("ngram_prompt_lookup_max"), old.whole("ngram_prompt_lookup_min")
    if most is None:
        raise UserError(f"[ngram] is given without {old.show('ngram_prompt_lookup_max')}: say how long a match may be, 4 is fair.")
    if least is not None and least > most:
        raise UserError(f"{old.show('ngram_prompt_lookup_min')} is {least}, above the maximum of {most}: lower it, 1 is fair.")
    return {"prompt_lookup_max": most, "prompt_lookup_min": 1 if least is None else least}


def _schedule(k: int, off: int) -> list[list[int]]:
    """vLLM's ranges of batch sizes, first and last, each with its k; the last one goes on. With `off` requests or more, k is 0."""
    return [[1, off - 1, k], [off, off, 0]]


def _said(schedule: list[list[int]]) -> str:
    (_, last, k), _ = schedule
    return f"becomes {SCHEDULE} in the speculative config: {k} for up to {last} requests at once, 0 beyond"


def _split_is_dropped(split: int, old: Old, config: dict[str, Any]) -> bool:
    return config["method"] == "draft_model" and split != old.tensor


def _fate(name: str, old: Old, config: dict[str, Any] | None) -> str:
    """What to say of one old argument."""
    if old.values[name] in ("None", None) and name in MOVED:
        return "is dropped: None is the default"
    if name == "spec_decoding_acceptance_method" and old.values[name] == "typical_acceptance_sampler":
        return TYPICAL
    if name in DROPPED:
        return DROPPED[name]
    if config is None:
        return "is dropped: nothing is speculated, as no draft is named"
    ngram, key = config["method"] == "ngram", MOVED[name]
    if key == "model":
        return 'becomes method "ngram" in the speculative config' if ngram else _model_fate(config)
    if key not in config:
        return _lost(key, ngram, old)
    if key == SCHEDULE:
        return _said(config[key])
    if key == "prompt_lookup_max" and "ngram_prompt_lookup_min" not in old.values:
        return f"moves into the speculative config as {key}; prompt_lookup_min 1 is written out, its default is the maximum now"
    return "moves into the speculative config" + ("" if key == name else f", renamed {key}")


def _model_fate(config: dict[str, Any]) -> str:
    return f'moves into the speculative config, renamed model, with the method "{config["method"]}" written out'


def _lost(key: str, ngram: bool, old: Old) -> str:
    if key == "draft_tensor_parallel_size" and not ngram:
        return f"is dropped: a draft model is split over as many GPUs as its target now, here {old.tensor}"
    return "is dropped: n-grams come from no model" if ngram else "is dropped: it belongs to [ngram], and a draft model is named"


def _limits(key: str, config: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What is left of a threshold in an old mapping, and what to say of it."""
    old = Old(config, str)
    off, k = old.whole(key, least=2), old.whole("num_speculative_tokens")
    if off is None:
        return {}, "is dropped: None is the default"
    if k is None:
        raise UserError(f"{key} is given without num_speculative_tokens: say how many, 5 is fair.")
    return {SCHEDULE: _schedule(k, off)}, _said(_schedule(k, off))


def modernise(config: dict[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """A speculative config whose keys are those of 0.8 to 0.10, or current already. Raises UserError for a key that never was."""
    found, notes = dict[str, Any](), []
    for key, value in config.items():
        if key in OLD_KEYS:
            notes.append(Note(key, OLD_KEYS[key]))
        elif key == "disable_by_batch_size":
            limits, fate = _limits(key, config)
            found |= limits
            notes.append(Note(key, fate))
        elif key == "tensor_parallel_size":
            found["draft_tensor_parallel_size"] = value
            notes.append(Note(key, "is renamed draft_tensor_parallel_size"))
        elif key == "model" and value in NGRAM:
            found["method"] = "ngram"
            notes.append(Note(key, f'{value} becomes method "ngram"'))
        elif key in KEYS:
            found[key] = value
        else:
            close = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {close[0]}?" if close else "see the schema in vLLM's docs/features/speculative_decoding."
            raise UserError(f"The speculative config has no key {key!r}: {hint}")
    return found, notes
