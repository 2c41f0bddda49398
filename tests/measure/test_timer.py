from types import SimpleNamespace

import pytest
import torch

from specdec_lab.errors import UserError
from specdec_lab.measure import Timing, time_calls, timer
from specdec_lab.measure.timer import seconds_of
from tests.measure.clock import Clock


def test_every_timed_call_is_reported_and_no_warm_up(monkeypatch):
    clock, durations = Clock(), iter([50.0, 40.0, 3.0, 1.0, 2.0])
    monkeypatch.setattr(timer, "perf_counter", clock)
    timing = time_calls(lambda: clock.work(next(durations)), repeats=3, warmup=2)
    assert timing.seconds == pytest.approx((3.0, 1.0, 2.0))
    assert timing.median == pytest.approx(2.0)


def test_one_call_held_up_does_not_move_the_median():
    assert Timing((1.0, 1.0, 1.0, 1.0, 90.0)).median == 1.0
    assert Timing((1.0, 2.0, 3.0, 4.0, 90.0)).quartiles == (2.0, 4.0)


def test_no_repeats_is_an_error():
    with pytest.raises(UserError, match="repeats is 0"):
        time_calls(lambda: None, repeats=0)


class FakeGPU:
    """A queue of work that takes its time after the call has returned; events note when the queue comes to them."""

    def __init__(self, monkeypatch):
        self.queue_time, self.log = 0.0, []
        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: self._stream(device))
        monkeypatch.setattr(torch.cuda, "Event", self._event)

    def _stream(self, device):
        return SimpleNamespace(device=device, synchronize=lambda: self.log.append(f"wait for {device}"))

    def _event(self, enable_timing):
        assert enable_timing
        event = SimpleNamespace(at=None, synced=False)

        def record(stream):
            event.at = self.queue_time
            self.log.append(f"event on {stream.device}")

        def synchronize():
            event.synced = True

        def elapsed_time(end):
            assert end.synced, "the end was read before the queue had come to it"
            return (end.at - event.at) * 1000

        event.record, event.synchronize, event.elapsed_time = record, synchronize, elapsed_time
        return event

    def launch(self, seconds):
        self.log.append("call")
        self.queue_time += seconds


def test_on_a_gpu_the_work_is_timed_and_not_the_call(monkeypatch):
    gpu, wall = FakeGPU(monkeypatch), Clock()
    monkeypatch.setattr(timer, "perf_counter", wall)  # the call returns at once: this clock never moves
    gpu.launch(5.0)
    gpu.log.clear()
    assert seconds_of(lambda: gpu.launch(0.25), torch.device("cuda:1")) == pytest.approx(0.25)
    assert gpu.log == ["wait for cuda:1", "event on cuda:1", "call", "event on cuda:1"]


def test_on_an_apple_gpu_the_queue_is_waited_for(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timer, "perf_counter", clock)
    monkeypatch.setattr(torch.mps, "synchronize", lambda: clock.work(0.5))
    assert seconds_of(lambda: None, torch.device("mps")) == pytest.approx(0.5)
