"""A bench: workload x temperature x drafter x k x dtype against plain decoding on this machine, and batches for the throughput."""

from specdec_lab.measure.bench.plan import BatchTask, Plan, Task, TextTask
from specdec_lab.measure.bench.run import Done, bench
from specdec_lab.measure.bench.store import Store
from specdec_lab.measure.bench.summary import BatchSummary, CellSummary, Results, summarise

__all__ = ["BatchSummary", "BatchTask", "CellSummary", "Done", "Plan", "Results", "Store", "Task", "TextTask", "bench", "summarise"]
