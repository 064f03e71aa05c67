"""Raw ops that call functions: calls, branches, loops.

A function is given as a concrete function, a `tf.function`, a graph, or anything that takes tensors
and returns them. Where it is a concrete function or a graph, the tensors may be its arguments alone
or be followed by what it captures, as in TensorFlow's graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft._src.autodiff.calls import call_graph
from weft._src.core.aliases import ShapeLike, TensorLike
from weft._src.core.context import state
from weft._src.core.tensor import EagerTensor, SymbolicTensor
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.polymorphic import PolymorphicFunction
from weft._src.graph.ir import Graph
from weft._src.ops.control.nested import NestedTrace

Flat = Callable[..., list[tf.Tensor]]


def _tensors(values: Sequence[TensorLike]) -> list[tf.Tensor]:
    return [tf.convert_to_tensor(value) for value in values]


def _concrete(function: Any, tensors: Sequence[tf.Tensor]) -> Any:
    """A `tf.function` as the concrete function for these tensors; all else as it is."""
    if isinstance(function, PolymorphicFunction):
        return function.get_concrete_function(*[tf.TensorSpec.from_tensor(x) for x in tensors])
    return function


def _called(op: str, function: Any, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The results of a function, one after the other."""
    function = _concrete(function, tensors)
    graph = function.graph if isinstance(function, ConcreteFunction) else function
    if isinstance(graph, Graph):
        wanted, captured = len(graph.inputs), [outer for outer, _ in graph.captures]
        if len(tensors) not in (wanted, wanted + len(captured)):
            raise ValueError(
                f"{op}: {graph.name} takes {wanted} tensors, or {wanted + len(captured)} with "
                f"those that it captures, got {len(tensors)}."
            )
        given = [*tensors, *captured[len(tensors) - wanted :]]
        return list(call_graph(graph, given, name=graph.name))
    if not callable(function):
        raise TypeError(f"{op}: a function is expected, got {function!r}.")
    result = tf.nest.flatten(function(*tensors), expand_composites=True)
    return _tensors([leaf for leaf in result if leaf is not None])


def _checked(op: str, results: list[tf.Tensor], types: Sequence[Any]) -> list[tf.Tensor]:
    wanted = [tf.as_dtype(dtype).name for dtype in types]
    found = [x.dtype.name for x in results]
    if found != wanted:
        raise TypeError(f"{op}: the function must return {wanted}, as Tout says; got {found}.")
    return results


def _narrowed(op: str, results: list[tf.Tensor], shapes: Sequence[Any]) -> list[tf.Tensor]:
    """With what the attribute `output_shapes` tells besides; results are checked against it."""
    if len(shapes) != len(results):  # none are given
        return results
    out = []
    for i, (x, given) in enumerate(zip(results, shapes, strict=True)):
        shape = tf.TensorShape(given)
        if not x.shape.is_compatible_with(shape):
            raise tf.errors.ShapeError(
                f"{op}: result {i} has shape {x.shape}, where {shape} is expected."
            )
        out.append(x if x.shape.is_subtype_of(shape) else tf.ensure_shape(x, shape))
    return out


def _truth(op: str, value: Any) -> tf.Tensor:
    """A condition: a number holds if it is not 0, a string if it is not empty."""
    x = tf.convert_to_tensor(value)
    if x.shape.rank not in (None, 0):
        raise tf.errors.ShapeError(f"{op}: the condition must be a scalar, got shape {x.shape}.")
    if x.dtype is tf.bool:
        return x
    if x.dtype is tf.string:
        return tf.strings.length(x) > 0
    return tf.not_equal(x, tf.zeros([], x.dtype))


def call(args: Any, Tout: Any, f: Any, name: str | None = None) -> list[tf.Tensor]:
    return _checked("PartitionedCall", _called("PartitionedCall", f, _tensors(args)), Tout)


def branch(
    cond: TensorLike,
    input: Any,
    Tout: Any,
    then_branch: Any,
    else_branch: Any,
    output_shapes: Sequence[ShapeLike] = (),
    name: str | None = None,
) -> list[tf.Tensor]:
    tensors = _tensors(input)

    def run(function: Any) -> Callable[[], list[tf.Tensor]]:
        return lambda: _checked("If", _called("If", function, tensors), Tout)

    taken = tf.cond(_truth("If", cond), run(then_branch), run(else_branch), name=name)
    return _narrowed("If", taken, output_shapes)


def case(
    branch_index: TensorLike,
    input: Any,
    Tout: Any,
    branches: Any,
    output_shapes: Sequence[ShapeLike] = (),
    name: str | None = None,
) -> list[tf.Tensor]:
    """Any other number takes the last branch."""
    tensors = _tensors(input)

    def run(function: Any) -> Callable[[], list[tf.Tensor]]:
        return lambda: _checked("Case", _called("Case", function, tensors), Tout)

    functions = [run(function) for function in branches]
    taken = tf.switch_case(branch_index, functions, name=name or "case")
    return _narrowed("Case", taken, output_shapes)


# --- loops ---------------------------------------------------------------------------------------


def loop(
    input: Any,
    cond: Any,
    body: Any,
    output_shapes: Sequence[ShapeLike] = (),
    name: str | None = None,
) -> list[tf.Tensor]:
    """What the body returns as it got it is captured, so that what is known of it stays known."""
    initial = _tensors(input)
    if state.graph is None:
        return _run_loop(initial, cond, body)
    body = _concrete(body, initial)
    kept = _unchanged(body, initial)
    changing = [i for i in range(len(initial)) if i not in kept]
    if not changing:
        raise ValueError("While: the body changes nothing, so the loop would not end.")
    if any(initial[i].dtype is tf.resource for i in changing):
        raise ValueError("While: the body must return resources as it got them.")
    shapes = _invariants(initial, output_shapes)

    def filled(values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        whole = list(initial)
        for i, value in zip(changing, values, strict=True):
            whole[i] = value
        return whole

    def goes_on(*values: tf.Tensor) -> tf.Tensor:
        (result,) = _called("While", cond, filled(values))
        return _truth("While", result)

    def step(*values: tf.Tensor) -> list[tf.Tensor]:
        results = _narrowed("While", _body_results(body, filled(values)), shapes)
        return [results[i] for i in changing]

    out = tf.while_loop(
        goes_on,
        step,
        [initial[i] for i in changing],
        shape_invariants=[shapes[i] for i in changing],
        name=name,
    )
    return filled(list(out))


def _run_loop(values: list[tf.Tensor], cond: Any, body: Any) -> list[tf.Tensor]:
    while True:
        (goes_on,) = _called("While", cond, values)
        if not _truth("While", goes_on):
            return values
        values = _body_results(body, values)


def _body_results(body: Any, values: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    results = _called("While", body, values)
    before, after = [x.dtype.name for x in values], [x.dtype.name for x in results]
    if before != after:
        raise TypeError(f"While: the body must return what it takes: {before}, got {after}.")
    return results


def _invariants(initial: Sequence[tf.Tensor], output_shapes: Sequence[Any]) -> list[Any]:
    """The shapes that loop variables keep: those the attribute gives, else those they begin with.

    What the attribute claims of a variable that begins with another shape is not taken from it.
    """
    if len(output_shapes) != len(initial):
        return [x.shape for x in initial]
    shapes = [tf.TensorShape(shape) for shape in output_shapes]
    return [
        shape if x.shape.is_subtype_of(shape) else x.shape.most_specific_compatible_shape(shape)
        for x, shape in zip(initial, shapes, strict=True)
    ]


def _unchanged(body: Any, initial: Sequence[tf.Tensor]) -> frozenset[int]:
    """Which loop variables the body returns as they are.

    A function that knows tells it in its attribute `unchanged`; others are traced to find out.
    """
    told = getattr(body, "unchanged", None)
    if told is not None:
        return frozenset(told)
    if isinstance(body, ConcreteFunction):
        body = body.graph
    if isinstance(body, Graph):
        inputs, outputs = body.all_inputs, body.outputs
    else:
        specs = [x.spec for x in initial]
        traced = NestedTrace(lambda *xs: _called("While", body, xs), "body", specs, initial)
        inputs, outputs = traced.graph.inputs, traced.graph.outputs
    pairs = enumerate(zip(inputs, outputs, strict=False))
    return frozenset([i for i, (x, out) in pairs if _origin(out) is x])


def _origin(tensor: SymbolicTensor) -> SymbolicTensor:
    """What a tensor is, through ops that only hand it on."""
    while tensor.node.op.identity:
        tensor = tensor.node.inputs[tensor.index]
    return tensor


def counted_loop(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    input: Any,
    body: Any,
    name: str | None = None,
) -> list[tf.Tensor]:
    """As `range(start, limit, delta)`; the body takes the number first, and does not return it."""
    first, end, step = [tf.convert_to_tensor(x, tf.int32) for x in (start, limit, delta)]
    if isinstance(step, EagerTensor) and not int(step):
        raise tf.errors.InvalidArgumentError(None, None, "For: delta must not be 0.")
    rises = step > 0

    def goes_on(i: tf.Tensor, *values: tf.Tensor) -> tf.Tensor:
        return tf.where(rises, i < end, i > end)

    def counted(i: tf.Tensor, *values: tf.Tensor) -> list[tf.Tensor]:
        return [i + step, *_called("For", body, [i, *values])]

    return loop([first, *_tensors(input)], goes_on, counted, name=name)[1:]
