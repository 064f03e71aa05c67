"""`trace_on` and `trace_export`: the graphs of functions that ran, and where their time went."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.context import inside_function
from weft._src.core.flags import flags
from weft._src.fileio.paths import path_text
from weft._src.graph.ir import Graph
from weft._src.messages.events import FunctionGraphs, RunMetadata
from weft._src.summary import events, recording
from weft._src.summary.profiling import Profile
from weft._src.summary.writing import emit, text_of

_log = logging.getLogger("weft")


class _Trace:
    """What has been called since `trace_on`."""

    def __init__(self, graph: bool, profiler: bool, outdir: Any) -> None:
        self.graph = graph
        self.outdir = outdir
        self.profile = Profile() if profiler else None
        self.graphs: dict[int, Graph] = {}

    def __call__(self, concrete: Any, call: Callable[[], Any]) -> Any:
        self.graphs.setdefault(id(concrete.graph), concrete.graph)
        if self.profile is None:
            return call()
        return self.profile.watch(concrete.graph.name, call)

    def run_metadata(self) -> bytes:
        """A serialized RunMetadata message."""
        stats = None if self.profile is None else self.profile.step_stats()
        graphs = []
        for graph in self.graphs.values():
            found = graph.as_graph_def()
            graphs.append(FunctionGraphs(partition_graphs=[found], pre_optimization_graph=found))
        return RunMetadata(step_stats=stats, function_graphs=graphs).SerializeToString()


def _current() -> _Trace | None:
    watcher = flags.call_watcher
    return watcher if isinstance(watcher, _Trace) else None


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """From now on, notes the graphs of functions that are called, and how long their nodes take.

    Ends with `trace_export`, which writes what was found, or with `trace_off`.

    Args:
      graph: whether the graphs of functions are kept.
      profiler: whether it is measured how long nodes take.
      profiler_outdir: the folder for the profile, which `trace_export` may name instead.

    >>> tf.summary.trace_on(graph=True)
    >>> tf.summary.trace_off()
    """
    if inside_function():
        _log.warning("tf.summary.trace_on has no effect in a tf.function: call it outside.")
        return
    if _current() is not None:
        _log.warning("tf.summary.trace_on: a trace is on already; it goes on as it is.")
        return
    if profiler_outdir is not None:
        profiler_outdir = path_text("trace_on", profiler_outdir)
    flags.watch_calls(_Trace(bool(graph), bool(profiler), profiler_outdir))


def trace_off() -> None:
    """Ends a trace, forgetting what was found.

    >>> tf.summary.trace_off()
    """
    if _current() is not None:
        flags.watch_calls(None)


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: Any = None) -> None:
    """Ends a trace and writes it: the graphs for TensorBoard's graph page, and the profile.

    The profile goes with the graphs, as run metadata, and into `profiler_outdir` (here, or of
    `trace_on`) as a trace for trace viewers.

    Args:
      name: the tag that the graphs are written under.
      step: an integer; None is the default step.
      profiler_outdir: the folder for the profile; None is that of `trace_on`.

    Raises:
      ValueError: if there is no trace, or graphs are to be written and there is no step.
      TypeError: if `name` is no string.

    >>> import tempfile
    >>> tf.summary.trace_on(graph=True)
    >>> tf.function(lambda x: x + 1)(tf.constant(1)).numpy()
    np.int32(2)
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     tf.summary.trace_export("add one", step=0)
    """
    if inside_function():
        _log.warning("tf.summary.trace_export has no effect in a tf.function: call it outside.")
        return
    trace = _current()
    if trace is None:
        raise ValueError("trace_export: there is no trace. Begin one with tf.summary.trace_on().")
    tag = text_of("trace_export", "name", name)
    outdir = trace.outdir if profiler_outdir is None else profiler_outdir
    if outdir is not None:
        outdir = path_text("trace_export", outdir)
    if trace.graph or trace.profile is not None:
        plugin = "graph_run_metadata" if trace.profile is not None else "graph_run_metadata_graph"
        content = np.array(trace.run_metadata(), object)
        emit("trace_export", tag, content, step, events.plugin_metadata(plugin, b"1"))
    if trace.profile is not None and outdir is not None:
        trace.profile.save(outdir)
    trace_off()


def graph(graph_data: Any) -> Any:
    """Writes a graph as the graph of the whole run.

    Args:
      graph_data: a `tf.Graph` or a `GraphDef`.

    Returns:
      A bool: whether it was written, which needs a default writer.

    Raises:
      TypeError: if it is something else.
      RuntimeError: if it is called while a function is traced.

    >>> import tempfile
    >>> f = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([]))
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     tf.summary.graph(f.graph)
    True
    """
    definition = graph_data.as_graph_def() if isinstance(graph_data, Graph) else graph_data
    if not hasattr(definition, "SerializeToString"):
        raise TypeError(f"graph: a tf.Graph or a GraphDef is expected, got {graph_data!r}.")
    if inside_function():
        raise RuntimeError("tf.summary.graph is no op: call it outside of functions.")
    writer = recording.state.writer
    if writer is None or not bool(recording.should_record_summaries()):
        return False
    writer._file.append(events.graph_event(bytes(definition.SerializeToString())))
    return True
