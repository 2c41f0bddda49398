"""The translator, by the tables of `legacy_forms`: today's form as a parsed structure, and a reason for every argument that changed."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import yaml

from specdec_lab.errors import UserError
from specdec_lab.serving.legacy import translate
from specdec_lab.serving.legacy_config import DROPPED, MOVED, Translation
from specdec_lab.serving.legacy_flags import GONE, SPECULATIVE
from tests.serving.legacy_forms import BROKEN, COMMANDS, CURRENT, DRAFT, NGRAM, PYTHON, YAML, M
from tests.serving.support import arguments, call_arguments, commands, one_sentence


def shown(translation: Translation) -> list[str]:
    return [str(note) for note in translation.notes]


def assert_explained(translation: Translation, parts: list[str]) -> None:
    text = "\n".join(shown(translation))
    assert [part for part in parts if part not in text] == []


def old_options(text: str) -> set[str]:
    """The old options that a form names, as it writes them."""
    words = re.findall(r"--?[\w-]+", text)
    return {word for word in words if word.lstrip("-").replace("_", "-") in SPECULATIVE | set(GONE) or word == "-spec-draft-tp"}


def test_the_tables_are_long_enough():
    assert len(COMMANDS) + len(PYTHON) + len(YAML) >= 30 and len(BROKEN) >= 10
    forms = " ".join(form.replace("_", "-") for form, *_ in COMMANDS)
    assert not [name for name in (*MOVED, *DROPPED) if f"--{name.replace('_', '-')}" not in forms]


@pytest.mark.parametrize("form, config, others, notes", COMMANDS, ids=[form[-60:] for form, *_ in COMMANDS])
def test_a_command_becomes_todays(form, config, others, notes):
    translation = translate(form)
    (words,) = commands(translation.current)
    rest = words[words.index("serve") + 1 :] if "serve" in words else words
    options = arguments(rest)
    assert options.pop("--speculative-config", None) == config
    for name, value in others.items():
        assert options.get(name) == value, name
    assert_explained(translation, notes)
    assert not old_options(translation.current)
    assert {note.argument for note in translation.notes} >= old_options(form)


def test_what_stands_around_the_command_stays():
    current = translate(COMMANDS[[form.startswith("CUDA") for form, *_ in COMMANDS].index(True)][0]).current
    assert current.startswith("CUDA_VISIBLE_DEVICES=0 nohup vllm serve ") and current.endswith("> log.txt 2>&1 &\n")
    assert '"$MODEL"' in translate(f'vllm serve "$MODEL" {COMMANDS[2][0].split(maxsplit=3)[3]}').current


@pytest.mark.parametrize("form", CURRENT)
def test_what_is_current_passes_unchanged(form):
    translation = translate(form)
    assert translation.current == form
    assert shown(translation) == ["is today's form already: nothing to change"]


@pytest.mark.parametrize("form", [form for form, *_ in (*COMMANDS, *PYTHON, *YAML)], ids=lambda form: form[-40:])
def test_a_translation_is_current(form):
    once = translate(form)
    assert translate(once.current).current == once.current


@pytest.mark.parametrize("code, expected, notes", PYTHON, ids=[code[-50:] for code, *_ in PYTHON])
def test_a_python_call_becomes_todays(code, expected, notes):
    translation = translate(code)
    name = next(name for name in ("AsyncEngineArgs", "EngineArgs", "LLM") if f"{name}(" in code)
    assert call_arguments(translation.current, name) == expected
    assert_explained(translation, notes)


def test_the_rest_of_the_code_stays_as_it_is():
    lines = translate(PYTHON[0][0]).current.splitlines()
    assert lines[0] == "from vllm import LLM, SamplingParams"
    assert lines[-1] == "out = llm.generate(['Hi'], SamplingParams(max_tokens=128))"
    umlaut = "ä = 'größer'; llm = LLM('M', speculative_model='D', num_speculative_tokens=2); print(ä)"
    current = translate(umlaut).current
    assert current.startswith("ä = 'größer'; llm = LLM(\n") and current.endswith("); print(ä)")
    assert call_arguments(current)["speculative_config"]["model"] == "D"


def test_two_calls_in_one_file_are_both_translated():
    code = "a = LLM('A', speculative_model='D', num_speculative_tokens=2)\nb = LLM('B', speculative_model='E', num_speculative_tokens=3)\n"
    translation = translate(code)
    assert translation.current.count("speculative_config=") == 2
    assert len(translation.notes) == 4
    pair = translate(code.replace("\nb =", "; b =")).current
    assert [line for line in pair.splitlines() if "LLM(" in line] == ["a = LLM(", "); b = LLM("]


def container(node: Any) -> list[str] | None:
    """The first container's command and arguments as words, a shell's script taken apart."""
    if isinstance(node, list):
        if all(isinstance(item, str) for item in node):
            return node
        return next(filter(None, map(container, node)), None)
    if not isinstance(node, dict):
        return None
    if "args" in node or "command" in node:
        parts = [node.get(key, []) for key in ("command", "args")]
        words = [word for part in parts for word in (shlex.split(part) if isinstance(part, str) else part)]
        return commands(words[-1])[0] if words[:1] == ["/bin/sh"] else words
    return next(filter(None, map(container, (v for v in node.values() if isinstance(v, list | dict)))), None)


@pytest.mark.parametrize("text, start, notes", YAML, ids=[text[:50] for text, *_ in YAML])
def test_a_list_or_manifest_becomes_todays(text, start, notes):
    translation = translate(text)
    words = container(yaml.safe_load(translation.current))
    assert words is not None and words[: len(start)] == start
    assert arguments(words[len(start) :])["--speculative-config"] == DRAFT
    assert_explained(translation, notes)


def test_a_config_file_becomes_todays():
    old = f"model: {M}\nport: 80\nspeculative-model: '[ngram]'\nnum-speculative-tokens: 5\nngram_prompt_lookup_max: 4\nswap-space: 4\n"
    translation = translate(old)
    assert yaml.safe_load(translation.current) == {"model": M, "port": 80, "speculative-config": NGRAM}
    assert_explained(translation, ['speculative-model becomes method "ngram"', "ngram_prompt_lookup_max moves", "swap-space is dropped"])
    assert translate(translation.current).current == translation.current
    with pytest.raises(UserError, match="no option speculative-modl: did you mean --speculative-model"):
        translate(old.replace("port", "speculative-modl"))


def test_other_containers_of_a_manifest_stay():
    loaded = yaml.safe_load(translate(YAML[4][0]).current)
    first, other = loaded["spec"]["template"]["spec"]["containers"]
    assert other == {"name": "other", "args": ["--fast"]}
    assert first["command"] == ["vllm", "serve"] and first["image"] == "vllm/vllm-openai:v0.32.0"


@pytest.mark.parametrize("form, part", BROKEN, ids=[part for _, part in BROKEN])
def test_a_broken_form_gets_a_cause_and_a_way_out(form, part):
    with pytest.raises(UserError) as refused:
        translate(form)
    assert part in str(refused.value)
    assert one_sentence(refused.value)
