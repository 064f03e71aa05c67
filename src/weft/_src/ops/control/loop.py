"""`tf.while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src import nest
from weft._src.core.aliases import TensorLike, TensorNest
from weft._src.core.context import state
from weft._src.core.conversions import how_to_convert
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import ANY, BOOL, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.core.tracebacks import hides_own_frames
from weft._src.core.xla_rules import Lowered
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops.control import graph_forms as forms
from weft._src.ops.control.nested import NestedTrace, share_captures
from weft._src.ops.elementwise import casting
from weft._src.ops.registry import NO_NATIVE, NO_XLA, REGISTERED_LATER, STRUCTURED, define_op, each
from weft._src.ops.static import static_int, static_value


def _while_infer(
    *inputs: TensorSpec, cond: Any, body: Any, maximum_iterations: int | None
) -> tuple[TensorSpec, ...]:
    # Sizes the loop leaves open are new unknowns: what comes out need not be what went in.
    # Passes make plain inputs of captures, so only the first inputs are loop variables.
    return tuple([x.spec.with_fresh_dims() for x in cond.inputs[: len(body.outputs)]])


while_op = define_op(
    "While",
    each("*input", ANY),
    infer=_while_infer,
    kernel=STRUCTURED,
    native=Special("while"),
    xla=Lowered("while"),
    vjp=REGISTERED_LATER,
    outputs=None,
    graphdef=forms.while_form,
)


# A loop over a dataset: its condition asks an iterator for more, its body takes the next element.
reduce_dataset_op = define_op(
    "ReduceDataset",
    each("*input", ANY),
    infer=_while_infer,
    kernel=STRUCTURED,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=REGISTERED_LATER,
    outputs=None,
)

LOOPS = frozenset({while_op, reduce_dataset_op})
LOOP_NAMES = frozenset({op.name for op in LOOPS})


@hides_own_frames
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Applies `body` to the loop variables as long as `cond` of them holds.

    Args:
      cond: a function of the loop variables that returns a scalar bool.
      body: a function of them that returns their next values, in the same structure.
      loop_vars: a list or tuple of tensors or structures, passed by position, or a dict, passed by
        name.
      shape_invariants: shapes that the variables keep, with None for sizes that change, one for
        each; None means the shapes they start with. It matters only while tracing.
      parallel_iterations: accepted for compatibility, ignored.
      back_prop: accepted for compatibility, ignored.
      swap_memory: accepted for compatibility, ignored.
      maximum_iterations: how often `body` is applied at most, an integer or a scalar tensor; None
        means no limit.

    Returns:
      The last values of the loop variables, in their structure, as tensors.

    Raises:
      TypeError: if `cond` or `body` is no function, or `loop_vars` no structure.
      ValueError: if there are no loop variables, `body` returns another structure, or `cond` no
        scalar.
      ShapeError: if `body` changes a shape while tracing, and the invariants do not allow it.
      DTypeError: if it changes a dtype while tracing.

    >>> i, total = tf.while_loop(
    ...     lambda i, total: i < 4, lambda i, total: (i + 1, total + i), (tf.constant(0), 0)
    ... )
    >>> print(i.numpy(), total.numpy())
    4 6
    """
    for argument, fn in (("cond", cond), ("body", body)):
        if not callable(fn):
            raise TypeError(f"while_loop: {argument} must be callable, got {fn!r}.")
    if not nest.is_nested(loop_vars):
        raise TypeError(f"while_loop: loop_vars must be a list, tuple or dict, got {loop_vars!r}.")
    if not loop_vars:
        raise ValueError("while_loop: no loop variables were given.")
    try:
        tensors = nest.map_structure(convert_to_tensor, loop_vars, expand_composites=True)
    except RecursionError:
        raise ValueError("while_loop: loop_vars contains itself.") from None
    if state.graph is None:
        return _run_eagerly(cond, body, loop_vars, maximum_iterations)
    initial = nest.flatten(tensors, expand_composites=True)
    return _trace_loop(
        cond, body, loop_vars, initial, shape_invariants, maximum_iterations, name or "while"
    )


def _arguments(loop_vars: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Loop variables are passed positionally, those in a dict by name."""
    return ((), loop_vars) if isinstance(loop_vars, dict) else (tuple(loop_vars), {})


def _run_eagerly(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: TensorNest,
    maximum_iterations: TensorLike,
) -> Any:
    """As Python would: numbers stay numbers, until the loop ends."""
    limit = _static_limit(maximum_iterations)
    count = 0
    while limit is None or count < limit:
        positional, named = _arguments(loop_vars)
        if not _scalar_bool(cond(*positional, **named)):
            break
        result = _as_structure(body(*positional, **named), loop_vars)
        _check_structure(loop_vars, result)
        loop_vars = nest.pack_sequence_as(
            loop_vars, nest.flatten(result, expand_composites=True), expand_composites=True
        )
        count += 1
    return nest.map_structure(convert_to_tensor, loop_vars, expand_composites=True)


def _scalar_bool(value: Any) -> bool:
    if isinstance(value, Tensor) and value.shape.rank not in (None, 0):
        raise ValueError(f"while_loop: cond must return a scalar bool, got shape {value.shape}.")
    return bool(value)


def _as_structure(result: Any, loop_vars: Any) -> Any:
    """A body with one loop variable may return it bare; lists and tuples are interchangeable."""
    if (
        len(loop_vars) == 1
        and not isinstance(loop_vars, dict)
        and not (isinstance(result, (list, tuple)) and len(result) == 1)
    ):
        result = [result]
    if isinstance(result, (list, tuple)) and isinstance(loop_vars, (list, tuple)):
        kind = type(loop_vars)
        return kind(*result) if hasattr(kind, "_fields") else kind(result)
    return result


def _check_structure(before: Any, after: Any) -> None:
    try:
        nest.assert_same_structure(before, after, expand_composites=True, check_types=False)
    except (TypeError, ValueError) as e:
        raise ValueError(
            f"while_loop: body must return the structure of the loop variables. {e}"
        ) from None


def _trace_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: TensorNest,
    initial: list[Tensor],
    shape_invariants: Any,
    maximum_iterations: TensorLike,
    name: str,
) -> Any:
    """`loop_vars` is looked at again after tracing: an optional may learn what it holds."""
    specs = _invariants(initial, shape_invariants)
    limit = _static_limit(maximum_iterations)
    if maximum_iterations is not None and limit is None:
        return _with_counter(cond, body, loop_vars, shape_invariants, maximum_iterations, name)

    def call(fn: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*flat: Any) -> Any:
            packed = nest.pack_sequence_as(loop_vars, flat, expand_composites=True)
            positional, named = _arguments(packed)
            return fn(*positional, **named)

        return traced

    def structured_body(*flat: Any) -> Any:
        result = _as_structure(call(body)(*flat), loop_vars)
        _check_structure(loop_vars, result)
        return result

    structure = tuple(initial)
    condition = NestedTrace(call(cond), f"{name}_cond", specs, structure, scope=name)
    _check_condition(condition)
    dtypes = [spec.dtype for spec in specs]
    step = NestedTrace(structured_body, f"{name}_body", specs, structure, dtypes, scope=name)
    for i, (before, after) in enumerate(zip(specs, step.specs, strict=True)):
        _check_invariant(i, before, after)
    captured = share_captures([condition, step])
    out = while_op(
        *initial,
        *captured,
        cond=condition.graph,
        body=step.graph,
        maximum_iterations=limit,
        name=name,
    )
    return nest.pack_sequence_as(loop_vars, out, expand_composites=True)


def _static_limit(maximum_iterations: TensorLike) -> int | None:
    if maximum_iterations is None:
        return None
    if isinstance(maximum_iterations, Tensor) and static_value(maximum_iterations) is None:
        return None
    return static_int("while_loop", maximum_iterations, "maximum_iterations")


def _with_counter(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: TensorNest,
    shape_invariants: Any,
    limit: TensorLike,
    name: str,
) -> Any:
    """A limit that is only known at run time is one more loop variable."""
    limit = casting.computable(convert_to_tensor(limit))

    def counted(fn: Callable[..., Any], packed: Any) -> Any:
        positional, named = _arguments(packed)
        return fn(*positional, **named)

    _, result = while_loop(
        lambda i, packed: (i < limit) & counted(cond, packed),
        lambda i, packed: (i + 1, _as_structure(counted(body, packed), packed)),
        (convert_to_tensor(0, dtype=limit.dtype if limit.dtype.is_integer else int32), loop_vars),
        None if shape_invariants is None else (TensorShape([]), shape_invariants),
        name=name,
    )
    return result


def _invariants(initial: Sequence[Tensor], shape_invariants: Any) -> list[TensorSpec]:
    """The types the loop variables keep: those they start with, or the ones given."""
    specs = [x.spec for x in initial]
    if shape_invariants is None:
        return specs
    try:
        given = _flatten_shapes(shape_invariants)
    except RecursionError:
        raise ValueError("while_loop: shape_invariants contains itself.") from None
    if len(given) != len(specs):
        raise ValueError(
            f"while_loop: shape_invariants has {len(given)} shapes for {len(specs)} loop variables."
        )
    out = []
    for spec, shape in zip(specs, given, strict=True):
        shape = shape.shape if isinstance(shape, TensorSpec) else TensorShape(shape)
        if not spec.shape.is_subtype_of(shape):
            raise ShapeError(
                f"while_loop: a loop variable of shape {spec.shape} does not fit its shape "
                f"invariant {shape}."
            )
        out.append(TensorSpec.of(spec.dtype, shape.dims_or_none))
    return out


def _flatten_shapes(invariants: Any) -> list[Any]:
    """The leaves of a nest of shapes; a TensorShape is one, although it can be iterated over."""
    if isinstance(invariants, (TensorShape, TensorSpec)):
        return [invariants]
    if not isinstance(invariants, (list, tuple, dict)):
        raise TypeError(
            "while_loop: shape_invariants must hold a tf.TensorShape for each loop variable, got "
            f"{invariants!r}."
        )
    values = invariants.values() if isinstance(invariants, dict) else invariants
    return [shape for item in values for shape in _flatten_shapes(item)]


def _check_condition(condition: NestedTrace) -> None:
    if len(condition.specs) != 1 or condition.specs[0].dtype not in BOOL:
        got = ", ".join([spec.words for spec in condition.specs]) or "nothing"
        raise TypeError(f"while_loop: cond must return one scalar bool, got {got}.")
    if condition.specs[0].rank not in (None, 0):
        raise ValueError(
            f"while_loop: cond must return a scalar bool, got shape {condition.specs[0].shape}."
        )


def _check_invariant(i: int, before: TensorSpec, after: TensorSpec) -> None:
    if before.dtype is not after.dtype:
        raise DTypeError(
            f"while_loop: loop variable {i} has dtype {before.dtype.name} before the body and "
            f"{after.dtype.name} after it. {how_to_convert('x', after.dtype, before.dtype)}"
        )
    if not after.shape.is_subtype_of(before.shape):
        raise ShapeError(
            f"while_loop: loop variable {i} has shape {before.shape} before the body and "
            f"{after.shape} after it. Give the sizes that change as None in shape_invariants."
        )
