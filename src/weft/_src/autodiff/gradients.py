"""`tf.gradients` and `tf.hessians`: sweeps over the nodes of the graph that is being built.

Nobody knew of the gradient when branches, loops and calls were added, so the nodes are given more
outputs afterwards: what their gradients need. The tensors that they had stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft._src import nest
from weft._src.autodiff.calls import saving_body
from weft._src.autodiff.control import prepare
from weft._src.autodiff.jacobians import Pull, jacobian
from weft._src.autodiff.partial import Gradient, dense
from weft._src.autodiff.sweep import Record, backward, backward_dense, takes_gradient
from weft._src.core.aliases import TensorNest
from weft._src.core.context import building, state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.tensor import SymbolicTensor, Tensor
from weft._src.graph.ir import Graph, Node, replace_node
from weft._src.graph.origins import outermost
from weft._src.ops.arrays import fill
from weft._src.ops.arrays.source import identity_op
from weft._src.ops.control.call import call_op
from weft._src.ops.registry import STRUCTURED, Absent


class AggregationMethod:
    """How gradients that meet are added up. Accepted everywhere, and all the same here."""

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: TensorNest,
    xs: Any,
    grad_ys: TensorNest = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: str = "none",
) -> list[Gradient | None]:
    """The derivatives of the sum of `ys` with respect to each of `xs`, in a graph.

    What is in `stop_gradients` counts as constant. Eagerly use `tf.GradientTape`.

    Args:
      ys: a tensor or a nest of them. Those that are neither floating nor complex are left out.
      xs: a tensor or variable, or a nest of them.
      grad_ys: the gradients that the `ys` start from, one for each; None is ones.
      gate_gradients: accepted for compatibility.
      aggregation_method: accepted for compatibility.
      stop_gradients: tensors or variables through which no gradient goes; None is none.
      unconnected_gradients: "none" or "zero", what stands for the gradient of an x on which no y
        depends.
      name: accepted for compatibility.

    Returns:
      A list with a gradient for each of the flat `xs`: a tensor of its shape, `tf.IndexedSlices` if
      only rows were picked of it, or None.

    Raises:
      RuntimeError: if no graph is being built.
      ValueError: if `unconnected_gradients` is something else, or `grad_ys` is not as long as `ys`.
      TypeError: if `xs` or `stop_gradients` hold something that is neither tensor nor variable.

    >>> @tf.function
    ... def slope(x):
    ...     return tf.gradients(x * x, x)[0]
    >>> slope(tf.constant(3.0)).numpy()
    np.float32(6.0)
    """
    graph = _graph("gradients")
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(
            f"unconnected_gradients must be 'none' or 'zero', got {unconnected_gradients!r}."
        )
    targets = [graph.capture(convert_to_tensor(y)) for y in nest.flatten(ys)]
    flat_xs = nest.flatten(xs)
    sources = [_key(graph, x) for x in flat_xs]
    stopped = [] if stop_gradients is None else nest.flatten(stop_gradients)
    stops = frozenset([id(_key(graph, x)) for x in stopped])
    pairs = _seeded(targets, grad_ys)
    found = backward(
        _records(graph, sources), [t for t, _ in pairs], [s for _, s in pairs], sources, stops
    )
    if unconnected_gradients == "zero":
        return [fill.zeros_like(x) if g is None else g for g, x in zip(found, flat_xs, strict=True)]
    return found


def hessians(
    ys: TensorNest,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    name: str = "hessians",
) -> list[Tensor | None]:
    """The second derivatives of the sum of `ys` for each of `xs`, in a graph.

    Args:
      ys: a tensor or a nest of them.
      xs: a tensor or variable, or a nest of them.
      gate_gradients: accepted for compatibility.
      aggregation_method: accepted for compatibility.
      name: accepted for compatibility.

    Returns:
      A list with a tensor of shape `x.shape + x.shape` for each of the flat `xs`, None for one on
      which no y, or no gradient, depends.

    Raises:
      RuntimeError: if no graph is being built.
      TypeError: if `xs` holds something that is neither tensor nor variable.

    >>> @tf.function
    ... def curvature(x):
    ...     return tf.hessians(tf.reduce_sum(x**3), x)[0]
    >>> curvature(tf.constant([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    graph = _graph("hessians")
    out: list[Tensor | None] = []
    for x, first in zip(nest.flatten(xs), gradients(ys, xs), strict=True):
        if first is None:
            out.append(None)
            continue
        key, target = _key(graph, x), graph.capture(dense(first))
        out += jacobian(target, [x], _pull(_records(graph, [key]), target, key))
    return out


def _pull(records: list[Record], target: Tensor, source: Tensor) -> Pull:
    return lambda seed: backward_dense(records, [target], [seed], [source])


def _graph(function: str) -> Graph:
    graph = state.graph
    if graph is None:
        raise RuntimeError(
            f"tf.{function} works on graphs, inside a tf.function. Eagerly use tf.GradientTape."
        )
    return graph


def _key(graph: Graph, x: Any) -> Tensor:
    """The tensor itself, or a variable's handle, in the outermost graph that knows it."""
    tensor = getattr(x, "handle", x)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"gradients: expected tensors and variables, got {x!r}.")
    tensor = graph.capture(tensor)
    return outermost(tensor)


def _seeded(
    targets: Sequence[SymbolicTensor], grad_ys: TensorNest
) -> list[tuple[SymbolicTensor, Tensor]]:
    """The targets that can have a gradient, each with the one it starts from."""
    given = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    if len(given) != len(targets):
        raise ValueError(
            f"gradients: grad_ys must have one item for each of ys, got {len(given)} for "
            f"{len(targets)}."
        )
    return [
        (t, fill.ones_like(t) if g is None else convert_to_tensor(g, dtype=t.dtype))
        for t, g in zip(targets, given, strict=True)
        if takes_gradient(t)
    ]


# --- the nodes of a graph as records -------------------------------------------------------------


def _records(graph: Graph, sources: Sequence[Tensor]) -> list[Record]:
    """The nodes of the graphs around this one and of itself, tied together by the captures."""
    levels = [graph]
    while levels[0].outer is not None:
        levels.insert(0, levels[0].outer)
    reached = {id(source) for source in sources}
    records: list[Record] = []
    for level in levels:
        for outer, inner in [*level.captures, *level.copied_constants]:
            records.append((identity_op, (outer,), {}, (inner,)))
            if id(outer) in reached:
                reached.add(id(inner))
        for node in level.body:
            if any(id(x) in reached for x in node.inputs) and not isinstance(node.op.vjp, Absent):
                if node.op.kernel is STRUCTURED:
                    _make_saving(level, node)
                reached.update([id(out) for out in node.outputs if takes_gradient(out)])
            records.append((node.op, node.inputs, node.attrs, node.outputs))
    return records


def _make_saving(graph: Graph, node: Node) -> None:
    """Gives a node of a graph that is being built the outputs that its gradient needs."""
    if node.op is call_op:
        body = saving_body(node.attrs["body"])
        if body is not node.attrs["body"]:
            replace_node(node, node.inputs, {**node.attrs, "body": body})
        return
    before = len(graph.nodes)
    with building(graph):
        inputs, attrs, _ = prepare(node.op, node.inputs, node.attrs, True)
    if attrs is node.attrs:
        return
    # What the new inputs come from has to stand before the node.
    made = graph.nodes[before:]
    del graph.nodes[before:]
    at = graph.nodes.index(node)
    graph.nodes[at:at] = made
    replace_node(node, tuple([graph.capture(x) for x in inputs]), attrs)
