"""Variables created while a function is traced.

They may be created on the first call only; anything else would mean a new variable per call eagerly
and one for ever in a graph. The first trace may create variables. Their initial values, which may
depend on arguments and on other new variables, are computed by a graph of their own, cut out of the
first trace and run once. Then the function is traced again, and must not create any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.location import user_location
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.execution.numpy.plan import NumpyPlan
from weft._src.graph.captured import CapturedArgument
from weft._src.graph.ir import Graph, Node
from weft._src.graph.rewrite import Rewriter
from weft._src.ops.state import variables as ops


class FirstCall:
    """The policy of the first trace: variables are welcome, and kept alive by the function."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.created: list[Any] = []
        self._initialisers: list[Node] = []

    def allow(self, variable: Any) -> None:
        """Notes a variable that is being created."""
        self.created.append(variable)

    def initialise_later(self, variable: Any, value: Tensor) -> None:
        """Notes an initial value that depends on the traced tensors."""
        graph: Graph = value.graph
        if not graph.is_function:
            raise ShapeError(
                f"{self._name}: a variable is created inside of a branch or loop, with an initial "
                "value that depends on it. Create it before the branch or loop."
            )
        ops.assign_op(variable.handle, value, shape=variable.shape.dims_or_none)
        self._initialisers.append(graph.nodes[-1])

    def check_restartable(self, argument: Any) -> None:
        """Tracing begins anew: no initial value may depend on what has been traced so far."""
        if self._initialisers:
            raise ValueError(
                f"{self._name} uses the variable {argument.name!r} as an argument and by itself, "
                "in the call that creates other variables with values that depend on arguments. "
                "Give these a value that does not, or create them before."
            )

    def initialise(self, graph: Graph, values: Sequence[Any] | None) -> None:
        """Computes the initial values that depend on the arguments."""
        if not self._initialisers:
            return
        needed = _cut_out(graph, self._initialisers)
        if values is None:
            used = {id(x) for node in needed.nodes for x in node.inputs}
            if any(id(x) in used for x in needed.inputs):
                raise ValueError(
                    f"{self._name}: the initial value of a tf.Variable depends on the arguments, "
                    "which have no values yet. Call the function once before it is traced here "
                    "(by get_concrete_function, or for the elements of a dataset)."
                )
            values = [None] * len(needed.inputs)
        captured = [outer._value for outer, _ in needed.captures]  # type: ignore[attr-defined]
        NumpyPlan(needed)(*values, *captured)


class LaterCalls:
    """The policy of every other trace: no variables."""

    def __init__(self, name: str) -> None:
        self._name = name

    def allow(self, variable: Any) -> None:
        """Refuses."""
        where = user_location()
        raise ValueError(
            f"{self._name} creates a tf.Variable in a call that is not its first, at {where}:\n"
            f"    {where.text}\n"
            "Eagerly that would be a new variable for each call. Create it outside of the "
            "function, or only once: `if self.v is None: self.v = tf.Variable(...)`."
        )

    def initialise_later(self, variable: Any, value: Tensor) -> None:
        """Never reached: `allow` comes first."""
        raise AssertionError


def first_trace(
    name: str, run: Callable[[Any], Graph], values: Sequence[Any] | None
) -> tuple[Graph, list[Any]]:
    """The graph of a function that may create variables, and those that it has created.

    `run` traces it under a policy; `values` are those of its inputs, None if it is not called yet.
    """
    first = FirstCall(name)
    try:
        graph = run(first)
    except CapturedArgument as e:
        first.check_restartable(e.variable)
        raise
    if first.created:
        first.initialise(graph, values)
        graph = run(LaterCalls(name))
    return graph, first.created


def _cut_out(graph: Graph, roots: Sequence[Node]) -> Graph:
    """The graph of just these nodes and what they depend on."""
    needed = {id(node) for node in roots}
    tensors = {id(x) for node in roots for x in node.inputs}
    for node in reversed(graph.nodes):
        if any(id(out) in tensors for out in node.outputs):
            needed.add(id(node))
            tensors.update([id(x) for x in node.inputs])
    rewriter = Rewriter(graph)
    for node in graph.body:
        if id(node) in needed:
            rewriter.copy(node)
    return rewriter.new
