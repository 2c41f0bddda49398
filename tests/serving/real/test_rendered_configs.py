"""What we render and translate is read by vLLM's own parser and configuration classes, and means what the set-up says.

All cases go to vLLM's Python in one go: it takes about a minute to import itself and to look at every kind of model.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_lab.serving import environment, presets, vllm
from specdec_lab.serving.legacy import translate
from specdec_lab.serving.legacy_flags import ALIASES, ALL, ALONE, GONE, OPTIONAL, RENAMED, SEVERAL, SINGLE, SPECULATIVE
from specdec_lab.serving.setup import Custom, DraftModel, Eagle3, Medusa, Ngram, NoDrafter, Parallel, Rejection, Sampling, Setup, Suffix
from specdec_lab.serving.text import request
from tests.serving.legacy_forms import COMMANDS, CURRENT, PYTHON, D, M
from tests.serving.real import shapes
from tests.serving.support import call_arguments

pytestmark = pytest.mark.vllm

LARGE = presets.llama_70b_1b()
SAMPLED = Sampling(0.6, 0.9, 20, 0.02, 64)
SETUPS: dict[str, Setup] = {
    "preset 70B + 1B": LARGE,
    "preset 70B + 8B": presets.llama_70b_8b(),
    "preset 70B + 1B on 4": presets.llama_70b_1b(4),
    "preset 70B + 1B on two machines": presets.llama_70b_1b(16, nodes=2),
    "preset 70B + 8B on two machines": presets.llama_70b_8b(16, nodes=2),
    "preset n-gram": presets.embedded_ngram(shapes.EMBEDDED),
    "preset draft": presets.embedded_draft(shapes.EMBEDDED, shapes.TWO_LAYERS),
    "preset draft on 3": replace(presets.embedded_draft(shapes.EMBEDDED, shapes.TWO_LAYERS), parallel=Parallel(tensor=3)),
    "plain": Setup(shapes.TARGET, NoDrafter(), k=0, max_model_len=4096),
    "plain in stages": Setup(shapes.TARGET, NoDrafter(), k=0, max_model_len=4096, parallel=Parallel(tensor=4, pipeline=2)),
    "n-gram": Setup(shapes.TARGET, Ngram(2, 6), k=7, dtype="float16", seed=3, port=8123, enforce_eager=True, gpu_memory=0.55),
    "eagle3": Setup(shapes.TARGET, Eagle3(shapes.EAGLE3), k=3, max_model_len=4096, parallel=Parallel(tensor=4)),
    "eagle3, head on one": Setup(shapes.TARGET, Eagle3(shapes.EAGLE3), k=3, parallel=Parallel(tensor=4, draft_tensor=1)),
    "medusa": Setup(shapes.TARGET, Medusa(shapes.MEDUSA), k=3, max_model_len=4096, parallel=Parallel(tensor=4, draft_tensor=1)),
    "suffix": Setup(shapes.TARGET, Suffix(16), max_model_len=4096),
    "custom": Setup(shapes.TARGET, Custom("specdec_lab.serving.coin_flip.CoinFlip"), k=4),
    "block": replace(LARGE, rejection=Rejection("block")),
    "synthetic length": replace(LARGE, rejection=Rejection("synthetic", 2.5)),
    "synthetic p": replace(LARGE, rejection=Rejection("synthetic", p=0.8)),
    "drawn": replace(LARGE, draft_sampling="probabilistic", sampling=SAMPLED),
    "draft of the target's split": replace(LARGE, parallel=Parallel(tensor=8, draft_tensor=8)),
}
METHODS = {Ngram: "ngram", Suffix: "suffix", DraftModel: "draft_model", Eagle3: "eagle3", Medusa: "medusa", Custom: "custom_class"}
LENGTH = [1.0, 0.5, 0.0, 0.0, 0.0]  # of 2.5 tokens a pass: one always stands, a second in half of the passes


def server_words(command: str) -> list[str]:
    """What follows `vllm serve` or the image, or all of a list of arguments; what a shell does with the rest aside."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    words = words[: next((i for i, word in enumerate(words) if word.startswith((">", "2>", "&"))), len(words))]
    if "serve" in words:
        return words[words.index("serve") + 1 :]
    image = next((i for i, word in enumerate(words) if "vllm-openai" in word), -1)
    return words[image + 1 :]


def old_words(command: str) -> list[str]:
    """The same of an old form, which may start a module."""
    lines = [line.split(" #")[0].rstrip().removesuffix("\\") for line in command.splitlines()]
    words = shlex.split(" ".join(lines))
    return server_words(command) if "-m" not in words else words[words.index("-m") + 2 :]


SHELL = [form for form, *_ in COMMANDS]
PARSED = [form for form in CURRENT if form.startswith("vllm")]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What vLLM says to every case, by its name."""
    cases: dict[str, Any] = {}
    for name, setup in SETUPS.items():
        script = vllm.render_python(setup)
        cases[f"server {name}"] = ["server", ["--model", setup.target, *vllm.server_arguments(setup)]]
        cases[f"python {name}"] = ["python", call_arguments(script)]
        cases[f"sampling {name}"] = ["sampling", call_arguments(script, "SamplingParams")]
        cases[f"request {name}"] = ["request", json.loads(request(setup))]
    cases |= {f"old {form}": ["server" if "--speculative-config" in form else "words", old_words(form)] for form in SHELL}
    cases |= {f"new {form}": ["words", server_words(translate(form).current)] for form in SHELL}
    cases |= {f"current {form}": ["words", server_words(form)] for form in PARSED}
    whole = [form for form in SHELL if M in form and D in form and "EAGLE" not in form and "quantization awq" not in form]
    cases |= {f"whole {form}": ["server", server_words(translate(form).current)] for form in whole}
    for code, _, _ in PYTHON:
        name = next(name for name in ("AsyncEngineArgs", "EngineArgs", "LLM") if f"{name}(" in code)
        cases[f"old {code}"] = ["python", keywords(code, name)]
        cases[f"new {code}"] = ["python", keywords(translate(code).current, name)]
    cases["options"] = ["options", None]
    return ask(cases, tmp_path_factory.mktemp("models"))


def keywords(code: str, name: str) -> dict[str, Any]:
    """A call's arguments as keywords, with a model and a type where the code has variables."""
    found = call_arguments(code, name)
    found["model"] = M if found.get("model", "path") == "path" else found["model"]
    return {key: value for key, value in found.items() if key != "0" and value != "DTYPE"}


def ask(cases: dict[str, Any], folder: Path) -> dict[str, Any]:
    shapes.write(folder)
    # Suffix decoding is in a package of its own, which vLLM only looks for at this point, and which takes a compiler to install.
    (folder / "arctic_inference").mkdir()
    (folder / "arctic_inference" / "__init__.py").touch()
    asked, answered = folder / "cases.json", folder / "answers.json"
    asked.write_text(json.dumps(cases))
    script = Path(__file__).with_name("parse_configs.py")
    words = [environment.require().python, script, asked, answered]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder)}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=variables, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(answered.read_text())


@pytest.mark.parametrize("form", ["server", "python"])
@pytest.mark.parametrize("name", SETUPS)
def test_a_setup_is_understood_as_it_was_meant(answers, name, form):
    found, setup = answers[f"{form} {name}"], SETUPS[name]
    assert "error" not in found, found
    assert (found["model"], found["seed"], found["enforce_eager"]) == (setup.target, setup.seed, setup.enforce_eager)
    assert found["dtype"] == f"torch.{setup.dtype}"
    assert found["max_model_len"] == (setup.max_model_len or 131072)
    assert (found["tensor"], found["pipeline"]) == (setup.parallel.tensor, setup.parallel.pipeline)
    assert (found["executor"] == "ray") == (setup.parallel.nodes > 1)
    assert setup.gpu_memory is None or found["gpu_memory"] == setup.gpu_memory
    assert_speculation(found["speculative"], setup)
    if form == "server":
        assert found["port"] == (setup.port or vllm.PORT)
        sampling = setup.sampling
        given = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k, "min_p": sampling.min_p}
        assert found["sampling"] == given


def assert_speculation(found: dict[str, Any] | None, setup: Setup) -> None:
    drafter, rejection = setup.drafter, setup.rejection
    if isinstance(drafter, NoDrafter):
        assert found is None
        return
    assert found is not None
    assert (found["method"], found["num_speculative_tokens"]) == (METHODS[type(drafter)], setup.k)
    named = {DraftModel: "model", Eagle3: "head", Medusa: "head", Custom: "proposer"}
    if type(drafter) in named:
        assert found["model"] == getattr(drafter, named[type(drafter)])
    if isinstance(drafter, Ngram):
        assert (found["prompt_lookup_min"], found["prompt_lookup_max"]) == (drafter.lookup_min, drafter.lookup_max)
    if isinstance(drafter, Suffix):
        assert found["suffix_decoding_max_tree_depth"] == drafter.tree_depth
    if isinstance(drafter, DraftModel | Eagle3):
        assert found["draft_tensor_parallel_size"] == (setup.parallel.draft_tensor or setup.parallel.tensor)
    assert found["draft_sample_method"] == (setup.draft_sampling or "greedy")
    assert found["rejection_sample_method"] == rejection.method
    rates = LENGTH if rejection.acceptance_length else rejection.p and [0.8, 0.64, 0.512, 0.4096, 0.32768]
    assert found["synthetic_acceptance_rates"] == (pytest.approx(rates) if rates else None)


@pytest.mark.parametrize("name", SETUPS)
def test_sampling_is_taken_as_it_is(answers, name):
    sampling, asked = SETUPS[name].sampling, answers[f"request {name}"]
    assert answers[f"sampling {name}"] == vars(sampling) | {"top_k": sampling.top_k}
    assert asked["extra"] == [] and (asked["temperature"], asked["max_tokens"]) == (sampling.temperature, sampling.max_tokens)


@pytest.mark.parametrize("form", SHELL, ids=lambda form: form[-60:])
def test_an_old_command_is_refused_and_its_translation_taken(answers, form):
    found = answers[f"new {form}"]
    assert "error" not in found, found
    assert found["model"] in form
    config = next(config for other, config, *_ in COMMANDS if other == form)
    assert found["speculative"] == config
    assert "error" in answers[f"old {form}"], "vLLM takes the old form, so there is nothing to translate"


@pytest.mark.parametrize(
    "form", [form for form in SHELL if M in form and D in form and "quantization awq" not in form], ids=lambda f: f[-60:]
)
def test_a_translated_command_is_a_whole_configuration(answers, form):
    found = answers.get(f"whole {form}", {"error": "not asked"})
    assert "error" not in found, found


@pytest.mark.parametrize("form", PARSED, ids=lambda form: form[-60:])
def test_a_form_that_we_call_current_is_taken(answers, form):
    assert "error" not in answers[f"current {form}"], answers[f"current {form}"]


@pytest.mark.parametrize("code", [code for code, *_ in PYTHON], ids=lambda code: code[-50:])
def test_an_old_call_is_refused_and_its_translation_taken(answers, code):
    """But one: vLLM still reads [ngram] where the method stands today."""
    assert ("error" in answers[f"old {code}"]) == ("'model': '[ngram]'" not in code), answers[f"old {code}"]
    assert "error" not in answers[f"new {code}"], answers[f"new {code}"]


def test_our_lists_of_options_are_the_parsers(answers):
    """An option that we do not know would be refused by mistake; one that is gone would be passed on."""
    values = {word.removeprefix("--"): count for word, (count, _) in answers["options"].items() if word.startswith("--")}
    assert [name for name in SINGLE if values.get(name, "gone") is not None and name not in OPTIONAL] == []
    assert [name for name in ALONE if values.get(name) != 0] == []
    assert [name for name in SEVERAL if values.get(name) not in ("+", "*")] == []
    assert [name for name in OPTIONAL if values.get(name) != "?"] == []
    assert [name for name in (*GONE, *RENAMED, *SPECULATIVE) if name in values] == []
    assert [name for name in RENAMED.values() if name not in values] == []
    unknown = {name.replace("_", "-") for name in values} - set(ALL) - {"help"}
    assert {name for name in unknown if name.removeprefix("no-") not in ALL} == set()
    short = {word: names for word, (_, names) in answers["options"].items() if not word.startswith("--") and word != "-h"}
    assert set(short) <= set(ALIASES)
    assert [word for word, names in short.items() if ALIASES[word] not in names] == []


def test_the_seeds_three_forms_say_why(answers):
    """The errors that the chapter shows."""
    model, lookup = (answers[f"old {form}"]["error"] for form, *_ in COMMANDS[:2])
    assert "unrecognized arguments: --speculative-model" in model and "--num-speculative-tokens 5" in model
    # It takes "[ngram]" for the model's name, and so does not mention it.
    assert "unrecognized arguments: --speculative-model --num-speculative-tokens 5 --ngram-prompt-lookup-max 4" in lookup
    assert "unexpected keyword argument 'speculative_model'" in answers[f"old {PYTHON[0][0]}"]["error"]
