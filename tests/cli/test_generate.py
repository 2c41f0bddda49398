"""The command line: what it prints, and that a user's mistake is one sentence and exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest
from rich.console import Console

from specdec_lab import cli

PROMPT = ["generate", "--prompt", "Write a Python function that adds two numbers."]


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process, as the installed command does."""

    def call(*arguments: str, **environment: str) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["specdec-lab", *arguments])
        monkeypatch.setattr(cli, "console", Console(width=200))
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return Done(stopped.value.code or 0, out.out, out.err)

    return call


@pytest.mark.parametrize("drafter", ["model", "ngram"])
def test_generate_prints_one_json_object(run, embedded, drafter: str):
    done = run(*PROMPT, "--drafter", drafter, "--k", "4", "--dtype", "fp32", "--max-new-tokens", "24", "--json")
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["identical_to_baseline"] is True
    assert "def" in out["text"] and out["tokens"] == 24
    assert out["drafted"] >= out["accepted"] >= 0 and out["rounds"] <= 24
    assert out["speedup"] == pytest.approx(out["tokens_per_second"] / out["baseline_tokens_per_second"])
    assert out["efficiency"] == pytest.approx(out["speedup"] / out["predicted_speedup"])
    assert {"acceptance_rate", "alpha", "mean_acceptance_length"} <= set(out)


def test_the_same_seed_gives_the_same_text(run, embedded):
    sampled = [*PROMPT, "--temperature", "1", "--max-new-tokens", "12", "--json", "--seed"]
    texts = [json.loads(run(*sampled, seed).stdout)["text"] for seed in ("3", "3", "4")]
    assert texts[0] == texts[1] != texts[2]


def test_a_page_for_whoever_has_no_terminal(run, embedded, tmp_path):
    page = tmp_path / "text.html"
    done = run(*PROMPT, "--max-new-tokens", "12", "--dtype", "fp32", "--html", str(page))
    assert done.returncode == 0, done.stderr
    said = page.read_text(encoding="utf-8")
    assert said.startswith("<!doctype html>") and said.count("<span title=") == 12 and "the target&#x27;s first choice; q " in said


BAD = {
    "empty prompt": (["generate", "--prompt", " "], "empty"),
    "k = 0": ([*PROMPT, "--k", "0"], "at least 1"),
    "negative k": ([*PROMPT, "--k", "-2"], "at least 1"),
    "negative temperature": ([*PROMPT, "--temperature", "-1"], "temperature"),
    "top_p of 0": ([*PROMPT, "--top-p", "0"], "top_p"),
    "top_p above 1": ([*PROMPT, "--top-p", "1.5"], "top_p"),
    "no new tokens": ([*PROMPT, "--max-new-tokens", "0"], "max_new_tokens"),
    "a seed too large": ([*PROMPT, "--seed", "9" * 30], "less than or equal"),
    "a prompt too long": (["generate", "--prompt", "one two " * 5000], "shorten the prompt"),
    "a pair too large": ([*PROMPT, "--pair", "llama-3.1-70b-8b"], "GiB"),
    "too many new tokens": ([*PROMPT, "--max-new-tokens", "100000"], "do not fit"),
    "unknown drafter": ([*PROMPT, "--drafter", "crystal-ball"], "model"),
    "unknown pair": ([*PROMPT, "--pair", "cpu-defualt"], "cpu-default"),
    "a page nowhere": ([*PROMPT, "--max-new-tokens", "2", "--html", "/no/such/folder/text.html"], "No such file"),
    "unknown dtype": ([*PROMPT, "--dtype", "int3"], "fp32"),
    "empty stop string": ([*PROMPT, "--stop", ""], "stop string"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_sentence_and_exit_code_2(run, embedded, name: str):
    arguments, word = BAD[name]
    done = run(*arguments)
    assert done.returncode == 2, done
    assert word in done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


def test_nan_logits_are_one_sentence(run, embedded, monkeypatch):
    from specdec_lab.models.hf import HFModel

    call = HFModel.__call__
    monkeypatch.setattr(HFModel, "__call__", lambda *a, **k: call(*a, **k) * float("nan"))
    done = run(*PROMPT)
    assert done.returncode == 2 and "NaN" in done.stderr


def test_memory_that_runs_out_is_one_sentence(run, embedded, monkeypatch):
    import torch

    def full(*arguments, **options):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("specdec_lab.models.loading.load_pair", full)
    done = run(*PROMPT)
    assert done.returncode == 2 and "smaller pair" in done.stderr


def test_the_installed_command_prints_no_traceback():
    done = subprocess.run([sys.executable, "-m", "specdec_lab.cli", *PROMPT, "--k", "0"], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "at least 1" in done.stderr


def test_plain_decoding_does_not_mind_k(run, embedded):
    assert run(*PROMPT, "--drafter", "none", "--k", "0", "--max-new-tokens", "4").returncode == 0


def test_no_hub_is_one_sentence(run, embedded):
    done = run(*PROMPT, "--pair", "qwen2.5-3b", HF_HUB_OFFLINE="1")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "cpu-default" in done.stderr


def test_doctor_finds_this_machine_able(run, embedded):
    done = run("doctor")
    assert done.returncode == 0, done.stdout
    assert "cpu-default" in done.stdout and "✗" not in done.stdout


def test_doctor_names_what_is_missing_and_the_way_out(run, tmp_path):
    done = run("doctor", SPECDEC_LAB_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert "models fetch" in done.stdout


def test_models_list_names_the_seven_pairs(run):
    done = run("models", "list")
    assert done.returncode == 0
    assert done.stdout.count("Instruct") >= 7 and "llama-3.1-70b" in done.stdout


def test_export_writes_the_draft_as_a_model_of_its_own(run, tmp_path):
    from transformers import AutoConfig

    done = run("models", "export", str(tmp_path / "draft"))
    assert done.returncode == 0 and str(tmp_path / "draft") in done.stdout, done.stderr
    assert AutoConfig.from_pretrained(tmp_path / "draft").num_hidden_layers == 2
