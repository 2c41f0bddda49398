"""Every rendered form is valid, says the whole set-up or refuses it, and names only options with a source."""

from __future__ import annotations

import ast
import re
from dataclasses import fields, replace
from typing import Any

import pytest
import yaml
from transformers import GenerationConfig

from specdec_lab.errors import UserError
from specdec_lab.serving import llama_cpp, presets, sglang, tensorrt_llm, transformers, vllm
from specdec_lab.serving.setup import Custom, DraftModel, Eagle3, Medusa, Ngram, NoDrafter, Parallel, Rejection, Sampling, Setup, Suffix
from tests.serving.support import arguments, call_arguments, commands, one_sentence, parse

ENGINES = {
    "vllm": (vllm.render, vllm.VLLM),
    "sglang": (sglang.render, sglang.SGLANG),
    "llama_cpp": (llama_cpp.render, llama_cpp.LLAMA_CPP),
    "tensorrt_llm": (tensorrt_llm.render, tensorrt_llm.TENSORRT_LLM),
    "transformers": (transformers.render, transformers.TRANSFORMERS),
}
NAMES = {"llama_cpp": ("target.gguf", "draft.gguf", "head.gguf", "auto")}
# What each engine drafts with; every other drafter it refuses.
ABLE = {
    "vllm": {"NoDrafter", "DraftModel", "Ngram", "Suffix", "Eagle3", "Medusa", "Custom"},
    "sglang": {"NoDrafter", "DraftModel", "Ngram", "Eagle3"},
    "llama_cpp": {"NoDrafter", "DraftModel", "Eagle3"},  # and n-grams of one length
    "tensorrt_llm": {"NoDrafter", "DraftModel", "Ngram", "Eagle3"},
    "transformers": {"NoDrafter", "DraftModel", "Ngram"},
}


def setups(engine: str) -> list[Setup]:
    """A set-up of every drafter, in names that the engine can read."""
    target, draft, head, dtype = NAMES.get(engine, ("Org/Target", "Org/Draft", "Org/Head", "bfloat16"))
    drafters = (NoDrafter(), DraftModel(draft), Ngram(1, 4), Ngram(3, 3), Suffix(), Eagle3(head), Medusa(head), Custom("mine.Mine"))
    greedy = [Setup(target, d, k=0 if isinstance(d, NoDrafter) else 5, dtype=dtype) for d in drafters]  # type: ignore[arg-type]
    return [*greedy, replace(greedy[1], sampling=Sampling(temperature=0.9, top_p=0.95))]


def changed(setup: Setup) -> list[tuple[str, Setup]]:
    """The set-up with one thing different, for each thing that can be."""
    drafter, found = setup.drafter, list[tuple[str, dict[str, Any]]]()
    found += [("target", {"target": setup.target.replace("arget", "arget2")}), ("dtype", {"dtype": "float16"}), ("seed", {"seed": 7})]
    found += [("max_model_len", {"max_model_len": 999}), ("port", {"port": 8123}), ("gpu_memory", {"gpu_memory": 0.55})]
    found += [("enforce_eager", {"enforce_eager": True})]
    for name, value in (("temperature", 0.7), ("top_p", 0.8), ("top_k", 17), ("min_p", 0.05), ("max_tokens", 77)):
        found.append((name, {"sampling": replace(setup.sampling, **{name: value})}))
    for parallel in (Parallel(tensor=4), Parallel(pipeline=4), Parallel(tensor=4, nodes=2)):
        found.append((str(parallel), {"parallel": parallel}))
    if isinstance(drafter, DraftModel | Eagle3 | Medusa):
        if not isinstance(drafter, Medusa):
            found += [(how, {"draft_sampling": how}) for how in ("greedy", "probabilistic")]
        found += [(f"draft_tensor={n}", {"parallel": Parallel(tensor=4, draft_tensor=n)}) for n in (1, 4)]
    if not isinstance(drafter, NoDrafter):
        found += [("k", {"k": 3}), ("block", {"rejection": Rejection("block")}), ("synthetic", {"rejection": Rejection("synthetic", 2.5)})]
        found += [("p", {"rejection": Rejection("synthetic", p=0.5)})]
    for field in fields(drafter):
        if field.name != "heads":  # checked against the parallelism, and then of no use
            value = getattr(drafter, field.name)
            new = value + 2 if isinstance(value, int) else value.replace(".gguf", "2.gguf") if value.endswith("gguf") else value + "2"
            if field.name == "lookup_min":
                new = 2 if drafter == Ngram(1, 4) else 1
            found.append((field.name, {"drafter": replace(drafter, **{field.name: new})}))
    return [(name, replace(setup, **difference)) for name, difference in found]


CASES = [(engine, setup) for engine in ENGINES for setup in setups(engine)]
IDS = [f"{engine}-{setup.drafter}-{setup.sampling.temperature}" for engine, setup in CASES]


def rendered(engine: str, setup: Setup) -> dict[str, str] | None:
    """The files, or None if the engine refuses, which it has to do in one sentence that names it."""
    render, about = ENGINES[engine]
    try:
        return render(setup)
    except UserError as error:
        assert one_sentence(error) and str(error).startswith(about.name) and ": " in str(error)
        return None


@pytest.mark.parametrize("engine, setup", CASES, ids=IDS)
def test_a_drafter_is_rendered_or_refused(engine, setup):
    files = rendered(engine, setup)
    kind = type(setup.drafter).__name__
    able = kind in ABLE[engine] if kind != "Ngram" else engine == "vllm" or (setup.drafter.lookup_min == 3) == (engine == "llama_cpp")
    assert (files is not None) == able
    for name, text in (files or {}).items():
        assert parse(name, text)
        assert name.endswith(".json") or text.startswith(ENGINES[engine][1].header)


@pytest.mark.parametrize("engine, setup", CASES, ids=IDS)
def test_no_part_of_a_setup_is_dropped_silently(engine, setup):
    before = rendered(engine, setup)
    if before is None:
        return
    for name, other in changed(setup):
        after = rendered(engine, other)
        assert after != before, f"{name} leaves no trace"
        for file, text in (after or {}).items():
            assert parse(file, text), name


def options_of(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) | set(re.findall(r"SGLANG_\w+", text))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_option_has_a_source(engine):
    sources, seen = ENGINES[engine][1].sources, set()
    for setup in setups(engine):
        for _, other in [("", setup), *changed(setup)]:
            for name, text in (rendered(engine, other) or {}).items():
                seen |= options_of(text) if name.endswith(".sh") else set()
    assert seen - {"--rm", "--entrypoint"} <= set(sources)
    assert {option for option in sources if option.startswith("--")} <= seen | {"--model", "--hf-repo", "--spec-draft-hf"}


def test_the_seeds_examples_in_todays_form():
    config = {"method": "draft_model", "model": "meta-llama/Llama-3.2-1B-Instruct", "num_speculative_tokens": 5}
    assert vllm.speculative_config(presets.llama_70b_1b()) == config
    assert vllm.speculative_config(presets.llama_70b_8b()) == config | {"model": "meta-llama/Llama-3.1-8B-Instruct"}
    lookup = {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4, "prompt_lookup_min": 1}
    assert vllm.speculative_config(presets.embedded_ngram("/model")) == lookup


def test_vllm_is_told_how_to_verify_and_how_to_split_the_draft():
    setup = presets.llama_70b_1b(4)
    timed = vllm.speculative_config(replace(setup, rejection=Rejection("synthetic", 2.5)))
    assert timed is not None and (timed["rejection_sample_method"], timed["synthetic_acceptance_length"]) == ("synthetic", 2.5)
    flipped = vllm.speculative_config(replace(setup, k=3, rejection=Rejection("synthetic", p=0.8)))
    assert flipped is not None and flipped["synthetic_acceptance_rates"] == [0.8, 0.64, 0.512]
    block = replace(setup, rejection=Rejection("block"))
    assert "verifies token by token all the same" in vllm.render_server(block)
    drawn = vllm.speculative_config(replace(setup, draft_sampling="probabilistic"))
    assert drawn is not None and drawn["draft_sample_method"] == "probabilistic"
    head = vllm.speculative_config(Setup("T", Eagle3("H"), parallel=Parallel(tensor=4, draft_tensor=1)))
    assert head is not None and head["draft_tensor_parallel_size"] == 1
    with pytest.raises(UserError, match="as many GPUs as its target, 4 and not 1: leave draft_tensor None"):
        vllm.speculative_config(replace(setup, parallel=Parallel(tensor=4, draft_tensor=1)))


def test_every_vllm_form_says_the_same():
    """Python, server, container and manifest are four ways to write one thing."""
    setup = replace(presets.llama_70b_8b(4), sampling=Sampling(0.6, 0.9, 20, 0.02, 64), seed=3, enforce_eager=True)
    files = vllm.render(setup)
    python, config = call_arguments(files["offline.py"]), vllm.speculative_config(setup)
    assert python["speculative_config"] == config and python["disable_log_stats"] is False and python["tensor_parallel_size"] == 4
    (served,), (docker,) = commands(files["serve.sh"]), commands(files["docker.sh"])
    container = next(yaml.safe_load_all(files["deployment.yaml"]))["spec"]["template"]["spec"]["containers"][0]
    assert served == ["vllm", "serve", *container["args"]] == ["vllm", *docker[docker.index(vllm.IMAGE) + 1 :]]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"
    options = arguments(served[2:])
    assert options["--speculative-config"] == config and options["--enforce-eager"] is True and options["--seed"] == "3"
    assert options["--override-generation-config"] == {"temperature": 0.6, "top_p": 0.9, "top_k": 20, "min_p": 0.02}
    assert call_arguments(files["offline.py"], "SamplingParams")["max_tokens"] == 64
    assert vllm.server_command(setup, "python")[:5] == ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", setup.target]


def test_several_machines_go_through_ray():
    files = vllm.render(presets.llama_70b_1b(16, nodes=2))
    assert {"docker.sh", "deployment.yaml"}.isdisjoint(files)
    (served,) = commands(files["serve.sh"])
    options = arguments(served)
    assert (options["--tensor-parallel-size"], options["--distributed-executor-backend"]) == ("16", "ray")
    assert [words[:2] for words in commands(files["ray_cluster.sh"])] == [["ray", "start"], ["ray", "start"]]
    with pytest.raises(UserError, match="one pod per machine"):
        vllm.render_kubernetes(presets.llama_70b_1b(16, nodes=2))
    with pytest.raises(UserError, match="does not speculate over 2 pipeline stages"):
        vllm.render(replace(presets.llama_70b_1b(8), parallel=Parallel(tensor=8, pipeline=2, nodes=2)))


def test_local_models_are_shown_to_the_container():
    files = vllm.render(presets.embedded_draft("/models/target", "/models/draft"))
    (docker,) = commands(files["docker.sh"])
    assert {"/models/target:/models/target:ro", "/models/draft:/models/draft:ro"} <= set(docker)
    spec = next(yaml.safe_load_all(files["deployment.yaml"]))["spec"]["template"]["spec"]
    assert [volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume] == ["/models/target", "/models/draft"]


def test_a_name_with_blanks_and_quotes_stays_one_word():
    (served,) = commands(vllm.render_server(Setup("/my models/it's", Ngram())))
    assert served[2] == "/my models/it's"


def test_sglang_counts_the_last_token_among_the_drafted():
    (served,) = commands(sglang.render(Setup("T", DraftModel("D"), k=4))["serve.sh"])
    options = arguments(served)
    assert options["--speculative-algorithm"] == "STANDALONE"
    assert [options[f"--speculative-{name}"] for name in ("num-steps", "eagle-topk", "num-draft-tokens")] == ["4", "1", "5"]
    nodes = sglang.render(presets.llama_70b_1b(16, nodes=2))
    assert [arguments(commands(nodes[f"serve_node_{i}.sh"])[0])["--node-rank"] for i in (0, 1)] == ["0", "1"]


def test_llama_cpp_does_not_write_what_its_server_refuses_now():
    files = llama_cpp.render(Setup("t.gguf", DraftModel("d.gguf"), k=4, dtype="auto", rejection=Rejection("synthetic", 2.5)))
    options = arguments(commands(files["serve.sh"])[0])
    assert (options["--spec-type"], options["--spec-draft-n-max"], options["--spec-synth-len"]) == ("draft-simple", "4", "2.5")
    assert not {"--draft", "--draft-max", "--draft-min"} & set(options)
    hub = llama_cpp.server_command(Setup("Org/T-GGUF:Q4_K_M", DraftModel("Org/D-GGUF"), dtype="auto"))
    assert {"--hf-repo", "--spec-draft-hf"} <= set(hub)
    with pytest.raises(UserError, match=r"convert it with llama.cpp's convert_hf_to_gguf.py"):
        llama_cpp.render(Setup("Org/Target", Ngram(3, 3), dtype="auto"))


def test_tensorrt_llm_says_the_same_in_yaml_and_python():
    for setup in (Setup("T", DraftModel("D"), k=3), Setup("T", Ngram(1, 6), k=3), Setup("T", Eagle3("H"), k=3)):
        files = tensorrt_llm.render(setup)
        (config,) = parse("config.yaml", files["config.yaml"])
        served = config["speculative_config"]
        name = tensorrt_llm.CLASSES[served.pop("decoding_type")]
        assert call_arguments(files["offline.py"], name) == served and served["max_draft_len"] == 3


def test_scripts_that_start_processes_may_be_read_by_them():
    for render in (vllm.render, tensorrt_llm.render):
        for drafter in (NoDrafter(), Ngram(1, 6), DraftModel("D")):
            *imports, guard = ast.parse(render(Setup("T", drafter, k=3 * (drafter != NoDrafter()), gpu_memory=0.5))["offline.py"]).body
            assert all(isinstance(each, ast.ImportFrom) for each in imports) and isinstance(guard, ast.If)
            assert ast.unparse(guard.test) == "__name__ == '__main__'"


def test_eager_mode_stands_in_both_of_tensorrt_llms_forms():
    files = tensorrt_llm.render(Setup("T", Ngram(), enforce_eager=True))
    (config,) = parse("config.yaml", files["config.yaml"])
    assert "cuda_graph_config" in config and config["cuda_graph_config"] is None
    assert call_arguments(files["offline.py"])["cuda_graph_config"] is None


def test_generates_arguments_are_those_of_the_installed_transformers():
    files = [transformers.render(Setup("T", d, sampling=Sampling(0.5, min_p=0.1), enforce_eager=True)) for d in (Ngram(), DraftModel("D"))]
    for text in (file["generate.py"] for file in files):
        given = set(call_arguments(text, "generate")) - {"**", "assistant_model"}
        given |= set(re.findall(r"draft\.generation_config\.(\w+)", text))
        assert given <= set(vars(GenerationConfig()))
