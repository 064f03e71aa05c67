"""What happens when an op is called: run it now, or add it to a graph; tell the tapes.

Hot path. An eager pointwise op costs the ufunc plus about 1.3 us: the dtype check is one set
lookup, shapes are checked by the kernel itself, and only a failure looks for the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._src.core import conversions, dtypes, memory, xp
from weft._src.core.composite import CompositeInput, not_a_tensor
from weft._src.core.context import DEVICE, GRAPH, quiet_context, recording_repeatedly, state
from weft._src.core.dtypes import DType
from weft._src.core.location import called_arguments
from weft._src.core.placed import MeshInput
from weft._src.core.specs import TensorSpec, ValueSpec
from weft._src.core.tensor import EagerTensor, SymbolicTensor
from weft._src.errors import DTypeError, InvalidArgumentError, OpError, ResourceExhaustedError
from weft._src.ops.registry import HOST_ONLY, STRUCTURED, Op

_ndarray = np.ndarray

# How an op treats values made of several tensors, by their class: (op, inputs, attrs, name) -> out.
composite_rules: dict[type, Callable[..., Any]] = {}


def _call(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    try:
        if state.mode:
            return _call_recorded(op, inputs, attrs, name)
        return run_eagerly(op, inputs, attrs)
    except CompositeInput as found:  # not looked for beforehand, so ordinary calls pay nothing
        rule = composite_rules[type(found.value)]
    except MeshInput:
        return run_on_mesh(op, inputs, attrs)
    return rule(op, inputs, attrs, name)


def _call_recorded(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    count = None
    if state.mode & GRAPH:
        if state.graph.overrides:
            op = state.graph.overridden(op)
        if op.kernel is STRUCTURED and state.tapes and op.name != "PartitionedCall":
            repeatedly = recording_repeatedly()
            inputs, attrs, count = prepare_structured(op, inputs, attrs, repeatedly)
        inputs, out = state.graph.add_op(op, inputs, attrs, name)
    else:
        out = _run_where_asked(op, inputs, attrs)
    for tape in state.tapes:
        tape.record(op, inputs, attrs, out)
    if state.checker is not None:
        state.checker(op, out)
    return out if count is None else out[:count]


def _run_where_asked(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Runs an op on the device of the scope that is open, or on those that have its inputs."""
    try:
        if state.mode & DEVICE and all(isinstance(x, EagerTensor) for x in inputs):
            return run_placed(op, inputs, attrs)
        return run_eagerly(op, inputs, attrs)
    except MeshInput:
        return run_on_mesh(op, inputs, attrs)


def run_eagerly(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Runs an op on the host; its tensors."""
    try:
        values = [x._array for x in inputs]
    except AttributeError:
        raise _leaked(op, inputs) from None
    if values and values[0].size + values[-1].size >= op.worth_compiling_from:
        out = run_large(op, values, attrs)
    else:
        out = run_kernel(op, values, attrs)
    if op.outputs == 1:
        return EagerTensor(out)
    return tuple([EagerTensor(value) for value in out])


def run_kernel(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """Runs an op on arrays, after checking their types; errors speak of the op's arguments."""
    key = tuple([value.dtype for value in values])
    if key not in op.accepted:
        check_dtypes(op, [dtypes.from_numpy(dtype) for dtype in key], values)
        if op.ufunc is not None and not op.ufunc_except.isdisjoint(key):
            return as_value(quiet_context().run(op.kernel, xp, *values, **attrs))
        op.accepted.add(key)
    if not op.trusts_kernel:
        _check_types(op, key, values, attrs)
    if op.kernel is STRUCTURED:
        return run_structured(op, values, attrs)
    try:
        if op.ufunc is not None:
            # `out=...` makes the ufunc return an array also for rank 0, and is faster than not.
            return quiet_context().run(op.ufunc, *values, out=...)
        out = quiet_context().run(op.kernel, xp, *values, **attrs)
    except Exception as error:
        raise explain_failure(op, values, attrs, error) from error
    if op.outputs == 1:
        return out if type(out) is _ndarray else as_value(out)
    return tuple([value if type(value) is _ndarray else as_value(value) for value in out])


_MOST_PASSED = 64  # of an op


def _check_types(op: Op, dtypes_of: tuple[Any, ...], values: list[Any], attrs: Any) -> None:
    """Applies the type rule, and asks for memory; what has passed once is remembered."""
    passed = op.passed
    kind: Any = None
    if passed is not None:
        kind = dtypes_of, *[value.shape for value in values], *attrs.items()
        if attrs:  # 1 is no True
            kind = *kind, *[type(value) for value in attrs.values()]
        try:
            if kind in passed:
                return
        except TypeError:  # an attribute that cannot be a key
            passed = None
    specs = infer_from_values(op, values, attrs)
    check_memory(op, specs)
    outputs = (specs,) if op.outputs == 1 else specs
    if passed is None or any(known_bytes(x) > memory.limits.asked_above for x in outputs):
        return
    if len(passed) >= _MOST_PASSED:
        passed.clear()
    passed.add(kind)


# Set by the execution layer: how to run the nested graphs of an op eagerly.
run_structured: Callable[[Op, list[Any], dict[str, Any]], Any]


# Set by the execution layer: how to run an op on large arrays eagerly.
run_large: Callable[[Op, list[Any], dict[str, Any]], Any]


# Set by the execution layer: how to run an op where other devices are concerned.
run_placed: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]


# Set by the execution layer: how to run an op on what several devices have together.
run_on_mesh: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]


# Set by the autodiff layer: how ops that hold graphs are made to save what their gradients need.
prepare_structured: Callable[[Op, Any, dict[str, Any], bool], tuple[Any, dict[str, Any], int]]


def install_structured_preparation(prepare: Callable[..., Any]) -> None:
    """The autodiff layer says how ops that hold graphs are prepared while a tape records."""
    global prepare_structured  # noqa: PLW0603 - a hook, set once at import
    prepare_structured = prepare


def install_large_runner(run: Callable[[Op, list[Any], dict[str, Any]], Any]) -> None:
    """The execution layer says how ops are run on large arrays."""
    global run_large  # noqa: PLW0603 - a hook, set once at import
    run_large = run


def install_placed_runner(run: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """The execution layer says how ops are run on other devices."""
    global run_placed  # noqa: PLW0603 - a hook, set once at import
    run_placed = run


def install_mesh_runner(run: Callable[[Op, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """The execution layer says how ops are run on meshes of devices."""
    global run_on_mesh  # noqa: PLW0603 - a hook, set once at import
    run_on_mesh = run


def install_structured_runner(run: Callable[[Op, list[Any], dict[str, Any]], Any]) -> None:
    """The execution layer says how ops that hold graphs are run."""
    global run_structured  # noqa: PLW0603 - a hook, set once at import
    run_structured = run


def as_value(out: Any) -> Any:
    """What an `EagerTensor` may hold: NumPy scalars become arrays, bytes a string array."""
    if isinstance(out, np.generic):
        return np.asarray(out)
    if isinstance(out, bytes):
        return np.array(out, object)
    return out


def infer_from_values(op: Op, values: list[Any], attrs: dict[str, Any]) -> Any:
    """The type rule of an op applied to actual values."""
    specs: list[TensorSpec] = []
    for i, value in enumerate(values):
        spec = TensorSpec.of(dtypes.from_numpy(value.dtype), value.shape)
        specs.append(ValueSpec.make(spec, value) if op.arg(i).is_shape else spec)
    return op.infer(*specs, **attrs)


def check_memory(op: Op, specs: Any) -> None:
    """ResourceExhaustedError if a result of such a type is new and does not fit into memory."""
    if op.fresh:
        for spec in (specs,) if op.outputs == 1 else specs:
            size = known_bytes(spec)
            if size > memory.limits.asked_above:
                memory.check(op.name, spec.dims, spec.dtype.numpy_dtype)


def known_bytes(spec: TensorSpec) -> int:
    """How many bytes a tensor takes, as far as that is known: 0 if it is not."""
    size = spec.dtype.size
    for n in spec.dims or (0,):
        if type(n) is not int:
            return 0
        size *= n
    return size


@functools.cache
def checked_kernel(op: Op) -> Callable[..., Any]:
    """The kernel of an op behind its type rule, for what was not known while tracing."""

    def run(namespace: Any, *values: Any, **attrs: Any) -> Any:
        check_memory(op, infer_from_values(op, [as_value(value) for value in values], attrs))
        return op.kernel(namespace, *values, **attrs)

    return run


def check_dtypes(op: Op, found: list[DType], inputs: Sequence[Any]) -> None:
    """Raises DTypeError unless the dtypes are allowed and equal where they must be.

    `inputs` are the tensors or arrays themselves, to call them what the user's function calls them.
    """
    group_first: dict[int, int] = {}
    for i, dtype in enumerate(found):
        arg = op.arg(i)
        if dtype not in arg.allowed:
            allowed = ", ".join(sorted(d.name for d in arg.allowed))
            name = _users_name(op, i, inputs)
            raise DTypeError(
                f"{op.name}: {name} has dtype {dtype.name}, expected one of {allowed}. "
                f"{conversions.how_to_be_one_of(name, dtype, arg.allowed)}"
            )
        first = group_first.setdefault(arg.group, i) if arg.group >= 0 else i
        if found[first] is not dtype:
            x, y = _users_name(op, first, inputs), _users_name(op, i, inputs)
            raise DTypeError(
                f"{op.name}: {x} has dtype {found[first].name}, but {y} has dtype {dtype.name}. "
                f"Both must be the same. {conversions.how_to_agree(x, found[first], y, dtype)}"
            )


def _users_name(op: Op, index: int, inputs: Sequence[Any]) -> str:
    """What the public function that was called says to an input of the op."""
    wanted = inputs[index]
    for name, value in called_arguments().items():
        if value is wanted or getattr(value, "_value", None) is wanted:
            return name
        if isinstance(value, (list, tuple)):
            for k, item in enumerate(value):
                if item is wanted or getattr(item, "_value", None) is wanted:
                    return f"{name}[{k}]"
    return _arg_name(op, index)


def _arg_name(op: Op, index: int) -> str:
    arg = op.arg(index)
    return f"{arg.name}[{index - len(op.args) + 1}]" if arg.variadic else arg.name


def explain_failure(
    op: Op, values: list[Any], attrs: dict[str, Any], error: Exception
) -> Exception:
    """Turns what went wrong in a kernel into an error of Weft that names op and arguments."""
    if isinstance(error, OpError) or op.native is HOST_ONLY:  # what a callback raises is its own
        return error
    shapes = ", ".join(
        [f"{_arg_name(op, i)}: {_dtype_name(v.dtype)}{v.shape}" for i, v in enumerate(values)]
    )
    if isinstance(error, memory.TooLargeError):
        return ResourceExhaustedError(None, None, f"{op.name}: {error}")
    if isinstance(error, MemoryError):
        return ResourceExhaustedError(
            None, None, f"{op.name}: not enough memory for the result ({shapes}; {attrs}). {error}"
        )
    if isinstance(error, (ValueError, IndexError, TypeError, OverflowError, ArithmeticError)):
        try:
            infer_from_values(op, values, attrs)
        except OpError as precise:
            return precise
        return InvalidArgumentError(None, None, f"{op.name} on ({shapes}) failed: {error}")
    return error


def _dtype_name(dtype: Any) -> str:
    fields = getattr(dtype, "names", None)
    return fields[0] if fields else dtype.name  # the field of a quantized dtype has its name


def _leaked(op: Op, inputs: tuple[Any, ...]) -> Exception:
    for i, x in enumerate(inputs):
        if isinstance(x, SymbolicTensor):
            return x.leaked(f"{op.name}: {_arg_name(op, i)}")
    wrong = next(x for x in inputs if not isinstance(x, EagerTensor))
    return not_a_tensor(op.name, wrong)


Op.call = staticmethod(_call)
