"""vLLM's log in a sentence. `logs/` holds what vLLM 0.32 wrote on 2026-11-30 when its start failed, the middle cut out."""

from pathlib import Path

import pytest

from specdec_lab.serving.log import cause, stage

LOGS = Path(__file__).parent / "logs"
CAUSES = {
    "nomodel": ("Repo id must be", "give a folder that is there"),
    "badflag": ("unrecognized arguments: --speculative-model", "takes other options"),
    "toolong": ("User-specified max_model_len (100000) is greater than", "lower the set-up's max_model_len"),
    "baddraft": ("Invalid repository ID or local directory specified: '/no/such'", "give a folder"),
    "badmethod": ("for SpeculativeConfig method Input should be 'ngram'", ""),
    "nomem": ("Available memory on node 0", "GiB that are free"),
    "port": ("Address already in use", "another port"),
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_cause_of_a_failed_start(name: str):
    said = cause(LOGS / f"{name}.log")
    message, remedy = CAUSES[name]
    assert message in said and remedy in said
    assert "Engine core initialization" not in said and "Traceback" not in said
    assert "\n" not in said and not said.endswith(".") and ". A" not in said and len(said) < 400


def test_every_log_has_its_cause():
    assert {file.stem for file in LOGS.iterdir()} == set(CAUSES)


def test_a_kill_from_outside_is_the_cause_whatever_else_is_there(tmp_path):
    log = tmp_path / "log"
    log.write_text("RuntimeError: something else\nsupervisor: the server ended by itself, killed by signal 9\nleaked\n")
    assert cause(log).startswith("it was killed by signal 9")


def test_without_an_error_the_last_word(tmp_path):
    log = tmp_path / "log"
    log.write_text("first\nSegmentation fault\nsupervisor: the server ended by itself, exit code 1\n")
    assert cause(log) == "Segmentation fault"
    log.write_text("")
    assert cause(log) == cause(tmp_path / "none") == "it left no word"


def test_a_stage_is_the_last_line_of_information(tmp_path):
    assert stage(tmp_path / "none") == "starting Python"
    assert stage(LOGS / "badflag.log") == "starting Python"
    assert stage(LOGS / "nomem.log") == "Resolved architecture: LlamaForCausalLM"
    log = tmp_path / "log"
    log.write_bytes(b"(Worker pid=7) INFO 11-30 11:12:29 [core.py:1] Loading weights took 0.09 seconds\n\xff\xfe broken bytes\n")
    assert stage(log) == "Loading weights took 0.09 seconds"
