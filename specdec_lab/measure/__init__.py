"""What this machine does: timers, the cost curve t(n), and predicted against measured speedup."""

from specdec_lab.measure.compare import Comparison, compare
from specdec_lab.measure.cost import CostCurve, Pass, cost_curve, time_passes
from specdec_lab.measure.device import DeviceFacts, device_facts
from specdec_lab.measure.timer import Timing, time_calls

__all__ = ["Comparison", "CostCurve", "DeviceFacts", "Pass", "Timing", "compare", "cost_curve", "device_facts", "time_calls", "time_passes"]
