"""A graph compiled to a Python function over NumPy arrays.

Hot path: a call is one `Context.run` around the generated function. What tracing could check is
not checked again; if something fails, the line of the traceback tells the node, and the node tells
the user's line.
"""

from __future__ import annotations

import itertools
import linecache
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, cast

from weft._src.core import memory
from weft._src.core.context import quiet_context
from weft._src.errors import OpError
from weft._src.execution.numpy.codegen import GeneratedPlan, generate
from weft._src.graph.ir import Graph, Node
from weft._src.ops.dispatch import explain_failure, known_bytes
from weft._src.ops.registry import HOST_ONLY

_numbers = itertools.count(1)
# Files of plans that are gone. Forgotten when the main thread makes the next plan, not by the
# collector itself, nor beside: linecache.checkcache does not expect entries to vanish while it
# looks at them.
_gone: list[str] = []
# The plans by the file names of their code, for profilers that see frames.
plans_by_file: weakref.WeakValueDictionary[str, NumpyPlan] = weakref.WeakValueDictionary()


class _Lines(Sequence[str]):
    """The lines of a plan for `linecache`, made when somebody asks; none when the plan is gone."""

    def __init__(self, plan: NumpyPlan) -> None:
        self._plan = weakref.ref(plan)

    @property
    def _lines(self) -> list[str]:
        plan = self._plan()
        return [] if plan is None else plan.source.splitlines(keepends=True)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, at: Any) -> Any:
        return self._lines[at]


def _makes_large_arrays(graph: Graph) -> bool:
    """Whether results are so large that their memory is given back to the system."""
    results = (out for node in graph.nodes if node.op.fresh for out in node.outputs)
    return any(known_bytes(out.spec) >= memory.MAPPED_FROM for out in results)


class NumpyPlan:
    """Callable with the values of the graph's inputs and captures; returns a tuple of outputs."""

    def __init__(self, graph: Graph) -> None:
        if _makes_large_arrays(graph):
            memory.keep_what_is_freed()
        self._generated: GeneratedPlan = generate(graph, NumpyPlan)
        self.calls = 0
        self.file = f"<weft numpy plan {next(_numbers)} of {graph.name}>"
        namespace: dict[str, Any] = {}
        exec(compile(self._generated.code, self.file, "exec"), namespace)
        self._function = namespace["make_plan"](**self._generated.bindings)
        # Tracebacks and debuggers show generated code as any other, as long as the plan lives.
        lines = cast(list[str], _Lines(self))
        linecache.cache[self.file] = (len(self._generated.code), None, lines, self.file)
        while _gone and threading.current_thread() is threading.main_thread():
            linecache.cache.pop(_gone.pop(), None)
        plans_by_file[self.file] = self
        weakref.finalize(self, _gone.append, self.file)

    @property
    def source(self) -> str:
        """The generated Python code."""
        return self._generated.source

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        self.calls += 1
        try:
            return quiet_context().run(self._function, *values)
        except Exception as error:
            explained = self._explain(error)
            if explained is error:
                raise
            raise explained from error

    def node_of_line(self, line: int) -> Node | None:
        """The node that a line of the generated code computes; None for lines between nodes."""
        return self._generated.node_of_line.get(line)

    def for_each(self, calls: Iterable[Sequence[Any]], take: Callable[[Any], None]) -> None:
        """Hands the outputs of many calls on; those before an error have been taken then.

        The context is entered once, instead of once for each call: 0.4 us less.
        """
        function = self._function

        def loop() -> None:
            for values in calls:
                take(function(*values))

        try:
            quiet_context().run(loop)
        except Exception as error:
            explained = self._explain(error)
            if explained is error:
                raise
            raise explained from error

    def _explain(self, error: Exception) -> Exception:
        where = self._failing_node(error.__traceback__)
        if where is None:
            return error
        node, variables = where
        names = self._generated.names
        values = [variables.get(names[id(x)]) for x in node.inputs]
        if all(v is not None for v in values) and callable(node.op.kernel):
            error = explain_failure(node.op, values, node.attrs, error)
        if isinstance(error, OpError) and error.location is None:
            error.location = node.location
        elif node.op.native is HOST_ONLY and not isinstance(error, OpError):
            _note_callback(error, node)
        return error

    def _failing_node(self, traceback: TracebackType | None) -> tuple[Node, dict[str, Any]] | None:
        while traceback is not None:
            frame = traceback.tb_frame
            if frame.f_code.co_filename == self.file:
                node = self._generated.node_of_line.get(traceback.tb_lineno)
                known = {**self._generated.bindings, **frame.f_locals}
                return None if node is None else (node, known)
            traceback = traceback.tb_next
        return None


def _note_callback(error: Exception, node: Node) -> None:
    """What a callback raises shows its own line; this adds the one that called it."""
    where = node.location
    note = f"It was raised in a callback, which was traced here:\n  {where}\n    {where.text}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
