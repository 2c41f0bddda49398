"""Chapter 8's servers, by a vLLM that is none: asked what was recorded, and gone afterwards, however that came about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec_lab.errors import UserError
from specdec_lab.measure.serving import Serving
from specdec_lab.serving import environment
from specdec_lab.serving.setup import Ngram, NoDrafter, Setup
from tests.served import recording

SETUP = Setup("/the/target", Ngram(1, 4), k=5)


def test_live_it_asks_what_was_recorded(fake):
    source, said = Serving(recording(), fake("whole")), list[str]()
    runs = list(source.runs("n-gram", SETUP, (1, 4), 12, said.append))
    assert source.where == "measured here and now, vLLM 0.32.0 for a CPU"
    assert [run.concurrency for run in runs] == [1, 4] and {run.name for run in runs} == {"n-gram"}
    for run in runs:
        assert [(answer.workload, answer.prompt) for answer in run.answers] == list(source.prompts)
        assert all(len(answer.tokens) <= 12 for answer in run.answers)
        assert run.acceptance.rounds > 0
    assert said[-1] == "stopping the server" and "4 at a time: 16 of 16 answers" in said
    assert len(fake.started) == 1
    fake.wait_gone()


def test_live_without_a_drafter_there_are_no_counters(fake):
    (run,) = Serving(recording(), fake("plain")).runs("plain", Setup("/the/target", NoDrafter(), k=0), (2,), 8)
    assert run.acceptance is None
    fake.wait_gone()


def test_no_server_is_left_when_it_breaks_or_is_interrupted(fake):
    with pytest.raises(UserError):
        list(Serving(recording(), fake("broken")).runs("n-gram", SETUP, (1,), 8))
    fake.wait_gone()

    def interrupt(line: str) -> None:
        if "of 16" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Serving(recording(), fake("whole")).runs("n-gram", SETUP, (1,), 8, interrupt))
    fake.wait_gone()
    runs = Serving(recording(), fake("whole")).runs("n-gram", SETUP, (1, 2), 8)
    next(runs)
    assert fake.running
    runs.close()
    fake.wait_gone()


@pytest.mark.parametrize("capability, dtype", [((7, 5), "float16"), ((9, 0), "bfloat16")])
def test_a_gpu_without_bfloat16_is_given_float16(fake, monkeypatch, capability, dtype):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda: capability)
    list(Serving(recording(), replace(fake("whole"), device="cuda")).runs("n-gram", SETUP, (2,), 3))
    (server,) = fake.started
    assert server["arguments"][server["arguments"].index("--dtype") + 1] == dtype


def test_none_is_as_if_there_were_no_vllm(fake, monkeypatch):
    """So that the chapters can be tested where one is installed, as they run where it is not."""
    assert environment.find() is not None
    monkeypatch.setenv(environment.VARIABLE, "none")
    assert environment.find() is None
