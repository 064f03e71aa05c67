"""Where the time of traced functions goes, node by node.

The generated NumPy code of a graph has a line for each node, so Python's own tracing hook tells
when each one begins. Machine code has no such lines: a call of it is one piece.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from weft._src.execution.numpy.plan import NumpyPlan, plans_by_file
from weft._src.fileio.paths import file_errors
from weft._src.messages.events import DeviceStepStats, NodeExecStats, StepStats

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Span(NamedTuple):
    """Something that ran: its name, what it is, when it began and ended, and on which thread."""

    name: str
    kind: str
    start_ns: int
    end_ns: int
    thread: int


class Profile:
    """The spans of all functions called while it watches."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def watch(self, name: str, call: Callable[[], Any]) -> Any:
        """Runs a call of a function, noting it and the nodes that run."""
        thread = threading.get_ident()
        outer = sys.gettrace()
        began = time.perf_counter_ns()
        sys.settrace(lambda frame, event, arg: self._enter(frame))
        try:
            return call()
        finally:
            sys.settrace(outer)
            self.spans.append(Span(name, "function", began, time.perf_counter_ns(), thread))

    def _enter(self, frame: FrameType) -> Any:
        plan = plans_by_file.get(frame.f_code.co_filename)
        return None if plan is None else _LineClock(plan, self.spans)

    def step_stats(self) -> StepStats:
        """The spans of nodes."""
        nodes = [_node_stats(span) for span in self.spans if span.kind != "function"]
        return StepStats(dev_stats=[DeviceStepStats(device=_DEVICE, node_stats=nodes)])

    def save(self, folder: str) -> None:
        """Writes the spans as a trace that trace viewers (Perfetto, chrome://tracing) show."""
        origin = min([span.start_ns for span in self.spans], default=0)
        found = [
            {
                "name": span.name,
                "cat": span.kind,
                "ph": "X",
                "ts": (span.start_ns - origin) / 1e3,
                "dur": (span.end_ns - span.start_ns) / 1e3,
                "pid": os.getpid(),
                "tid": span.thread,
            }
            for span in self.spans
        ]
        inner = os.path.join(folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        path = os.path.join(inner, f"{socket.gethostname()}.trace.json.gz")
        with file_errors("trace_export", path):
            os.makedirs(inner, exist_ok=True)
            with gzip.open(path, "wt", encoding="utf-8") as file:
                json.dump({"displayTimeUnit": "ns", "traceEvents": found}, file)


class _LineClock:
    """Told of each line of one run of a plan."""

    def __init__(self, plan: NumpyPlan, spans: list[Span]) -> None:
        self._plan, self._spans = plan, spans
        self._thread = threading.get_ident()
        self._node: Any = None
        self._since = 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        now = time.perf_counter_ns()
        if self._node is not None:
            node = self._node
            self._spans.append(Span(node.name, node.op.name, self._since, now, self._thread))
        self._node = self._plan.node_of_line(frame.f_lineno) if event == "line" else None
        self._since = time.perf_counter_ns()
        return self


def _node_stats(span: Span) -> NodeExecStats:
    took = span.end_ns - span.start_ns
    micros = max(1, round(took / 1e3))  # TensorBoard takes 0 for "did not run"
    return NodeExecStats(
        node_name=span.name,
        all_start_micros=span.start_ns // 1000,
        op_end_rel_micros=micros,
        all_end_rel_micros=micros,
        timeline_label=f"{span.name} = {span.kind}",
        all_start_nanos=span.start_ns,
        op_end_rel_nanos=took,
        all_end_rel_nanos=took,
    )
