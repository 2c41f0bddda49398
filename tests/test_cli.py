"""The command line: what it prints, and that a user's mistake is one sentence and exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "specdec_lab.cli"]
PROMPT = ["generate", "--prompt", "Write a Python function that adds two numbers."]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    import os

    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.parametrize("drafter", ["model", "ngram"])
def test_generate_prints_one_json_object(embedded, drafter: str):
    done = run(*PROMPT, "--drafter", drafter, "--k", "4", "--dtype", "fp32", "--max-new-tokens", "24", "--json")
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["identical_to_baseline"] is True
    assert "def" in out["text"] and out["tokens"] == 24
    assert out["drafted"] >= out["accepted"] >= 0 and out["rounds"] <= 24
    assert out["speedup"] == pytest.approx(out["tokens_per_second"] / out["baseline_tokens_per_second"])
    assert out["efficiency"] == pytest.approx(out["speedup"] / out["predicted_speedup"])
    assert {"acceptance_rate", "alpha", "mean_acceptance_length"} <= set(out)


def test_the_same_seed_gives_the_same_text(embedded):
    sampled = [*PROMPT, "--temperature", "1", "--max-new-tokens", "12", "--json", "--seed"]
    texts = [json.loads(run(*sampled, seed).stdout)["text"] for seed in ("3", "3", "4")]
    assert texts[0] == texts[1] != texts[2]


BAD = {
    "empty prompt": (["generate", "--prompt", " "], "empty"),
    "k = 0": ([*PROMPT, "--k", "0"], "at least 1"),
    "negative k": ([*PROMPT, "--k", "-2"], "at least 1"),
    "negative temperature": ([*PROMPT, "--temperature", "-1"], "temperature"),
    "top_p of 0": ([*PROMPT, "--top-p", "0"], "top_p"),
    "top_p above 1": ([*PROMPT, "--top-p", "1.5"], "top_p"),
    "no new tokens": ([*PROMPT, "--max-new-tokens", "0"], "max_new_tokens"),
    "too many new tokens": ([*PROMPT, "--max-new-tokens", "100000"], "do not fit"),
    "unknown drafter": ([*PROMPT, "--drafter", "crystal-ball"], "model"),
    "unknown pair": ([*PROMPT, "--pair", "cpu-defualt"], "cpu-default"),
    "unknown dtype": ([*PROMPT, "--dtype", "int3"], "fp32"),
    "empty stop string": ([*PROMPT, "--stop", ""], "stop string"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_sentence_and_exit_code_2(embedded, name: str):
    arguments, word = BAD[name]
    done = run(*arguments)
    assert done.returncode == 2, done
    assert word in done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


def test_no_hub_is_one_sentence(embedded):
    done = run(*PROMPT, "--pair", "qwen2.5-3b", HF_HUB_OFFLINE="1", HF_HOME="/nonexistent")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "cpu-default" in done.stderr


def test_doctor_finds_this_machine_able(embedded):
    done = run("doctor", COLUMNS="200")
    assert done.returncode == 0, done.stdout
    assert "cpu-default" in done.stdout and "✗" not in done.stdout


def test_doctor_names_what_is_missing_and_the_way_out(tmp_path):
    done = run("doctor", COLUMNS="200", SPECDEC_LAB_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert "specdec-lab models fetch" in done.stdout


def test_models_list_names_the_seven_pairs():
    done = run("models", "list", COLUMNS="200")
    assert done.returncode == 0
    assert done.stdout.count("Instruct") >= 7 and "llama-3.1-70b" in done.stdout
