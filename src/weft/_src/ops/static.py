"""What tracing knows of a tensor's value: enough for shapes that are computed in the graph.

`tf.reshape(x, [tf.shape(y)[0], -1])` should keep the size of y. The value of a small integer
tensor is therefore followed through shape arithmetic, as an object array of ints and Dims. Other
ops are run if all they take is small and known: an axis may be computed from constants.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from weft._src import nest
from weft._src.core import xp
from weft._src.core.composite import CompositeTensor
from weft._src.core.context import quiet_context
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import BOOL, FLOATING, INTEGER, plain
from weft._src.core.shapes import Dim, UnknownNumber
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import NOT_COMPUTED, EagerTensor, SymbolicTensor, Tensor, is_tensor
from weft._src.ops.registry import HOST_ONLY, Op

Array = np.ndarray[Any, Any]

_MAX_ELEMENTS = 64
_NUMBERS = INTEGER | FLOATING | BOOL


def known_value(tensor: Any) -> Array | None:
    """The value of a small tensor, of integers with Dims for what is unknown; None for others."""
    if isinstance(tensor, EagerTensor):
        return tensor._value
    if tensor.known_value is NOT_COMPUTED:
        for needed in _in_order(tensor):
            needed.known_value = _compute(needed)
    return tensor.known_value


def learn(tensor: Tensor, value: list[int | None]) -> None:
    """Notes elements of a vector that are known for another reason than how it is computed."""
    if isinstance(tensor, SymbolicTensor) and len(value) <= _MAX_ELEMENTS:
        known = known_value(tensor)
        found = _unknown((len(value),)) if known is None else known
        pairs = zip(found, value, strict=True)
        tensor.known_value = _object_array([old if new is None else new for old, new in pairs])


def _in_order(tensor: SymbolicTensor) -> list[SymbolicTensor]:
    """What has to be computed for a tensor, and the tensor: no recursion, chains may be long."""
    order: list[SymbolicTensor] = []
    expanded: set[int] = set()
    pending: list[tuple[Any, bool]] = [(tensor, False)]
    while pending:
        x, inputs_are_done = pending.pop()
        if inputs_are_done:
            order.append(x)
        elif (
            isinstance(x, SymbolicTensor)
            and x.known_value is NOT_COMPUTED
            and id(x) not in expanded
        ):
            expanded.add(id(x))
            pending.append((x, True))
            pending += [(y, False) for y in _needed_for(x)]
    return order


def _needed_for(tensor: SymbolicTensor) -> tuple[Any, ...]:
    node = tensor.node
    outer = node.graph.outer_of(tensor)
    if outer is not None:
        return (outer,)
    op = node.op
    if not (op.shape_arithmetic or is_pure(op)) or not _is_small(tensor.spec):
        return ()
    return node.inputs if op.shape_arithmetic or _is_foldable(node) else ()


@functools.cache
def is_pure(op: Op) -> bool:
    """Whether an op is a function of its inputs, and nothing else."""
    if not callable(op.kernel) or op.native is HOST_ONLY or not op.args:
        return False
    return not (op.has_resources or op.host_io or op.advances_stream or op.guards)


def _is_foldable(node: Any) -> bool:
    """Whether a node computes something, of small tensors alone."""
    return is_pure(node.op) and all(
        x.spec.dtype in _NUMBERS and _is_small(x.spec) for x in node.inputs
    )


def _is_small(spec: TensorSpec) -> bool:
    return spec.is_static and math.prod(spec.dims) <= _MAX_ELEMENTS  # type: ignore[arg-type]


def _compute(tensor: SymbolicTensor) -> Array | None:
    spec = tensor.spec
    if spec.dtype not in _NUMBERS or not _is_small(spec):
        return None
    node = tensor.node
    if node.is_const:
        return node.attrs["value"].astype(object)
    if node.op.measures is not None and node.inputs[0].spec.dims is not None:
        measured = node.op.measures(node.inputs[0].spec.dims)
        return _object_array(measured) if spec.rank else np.array(measured, object)
    outer = node.graph.outer_of(tensor)
    if outer is not None:
        value = known_value(outer)
        return None if value is None else value.astype(object)
    if spec.dtype.is_integer and node.op.shape_arithmetic:
        found = _run(tensor, [known_value(x) for x in node.inputs], _as_objects)
    elif _is_foldable(node):
        found = _folded(tensor)
    else:
        found = None
    return _unknown(spec.dims) if found is None and spec.dtype.is_integer else found


def _folded(tensor: SymbolicTensor) -> Array | None:
    """What an op gives for inputs that are known altogether."""
    inputs = tensor.node.inputs
    values = [known_value(x) for x in inputs]
    if any(value is None or any(isinstance(n, Dim) for n in value.flat) for value in values):
        return None
    dtypes = iter([x.dtype.numpy_dtype for x in inputs])
    return _run(tensor, values, lambda value: value.astype(next(dtypes)))


def _run(tensor: SymbolicTensor, values: list[Any], prepared: Any) -> Array | None:
    """What the kernel gives, None if an input is not known or it fails."""
    if any(value is None for value in values):
        return None
    op, attrs = tensor.node.op, tensor.node.attrs
    try:
        out = quiet_context().run(op.kernel, xp, *[prepared(value) for value in values], **attrs)
    except Exception:  # noqa: BLE001 - it needs the number of a Dim, or fails when it runs
        return None
    return _as_objects(out[tensor.index] if op.outputs != 1 else out)


def _as_objects(value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return value.astype(object)
    return np.array(value, object)


def _object_array(items: list[Any]) -> Array:
    out = np.empty(len(items), object)
    out[:] = items
    return out


def _unknown(dims: Any) -> Array:
    """One new symbol per element: later uses of the same tensor find the same symbols."""
    flat = _object_array([UnknownNumber() for _ in range(int(np.prod(dims, dtype=np.int64)))])
    return flat.reshape(dims)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if it is known without running anything, else None.

    Args:
      tensor: a tensor, or a list in which there are tensors. Anything else is given back.
      partial: whether elements that are not known may be None, if others are.

    Returns:
      An array, which is a copy, or a scalar of NumPy; None if the value is not known, and for
      sparse and ragged tensors. With `partial` it may be an array of objects, of the shape of the
      tensor.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if is_tensor(tensor):
        pass
    elif not isinstance(tensor, (list, tuple)) or not any(map(is_tensor, nest.flatten(tensor))):
        return tensor
    value = static_value(tensor, partial)
    return value if value is None else value[()]


def static_value(tensor: Any, partial: bool = False) -> Array | None:
    """The same as an array, of whatever can become a tensor."""
    if not isinstance(tensor, (EagerTensor, SymbolicTensor)):
        tensor = convert_to_tensor(tensor)
    if isinstance(tensor, CompositeTensor):
        return None
    if isinstance(tensor, EagerTensor):
        return np.array(plain(tensor._value))
    node = tensor.node
    if node.is_const:
        return np.array(plain(node.attrs["value"]))
    value = known_value(tensor)
    if value is None:
        return None
    if any(isinstance(v, Dim) for v in value.flat):
        return _without_dims(value) if partial and value.ndim else None
    return value.astype(tensor.dtype.numpy_dtype)


def _without_dims(value: Array) -> Array:
    known = [None if isinstance(v, Dim) else v for v in value.flat]
    return _object_array(known).reshape(value.shape)


class UnknownWhileTracingError(TypeError):
    """A setting of an op is a tensor that is computed when the graph runs."""

    # What functions do then: filled by `ops/dynamic_axes.py`, which is made of them.
    forms: ClassVar[dict[str, Callable[..., Any]]] = {}

    def instead(self, form: str, *arguments: Any, **options: Any) -> Any:
        """What a function does for an axis that is an input of the graph."""
        try:
            return self.forms[form](*arguments, **options)
        except Exception as error:
            error.__suppress_context__ = True  # of this one, which is no error then
            raise


def static_ints(op: str, value: Any, name: str) -> tuple[int, ...] | int | None:
    """An attribute such as an axis: an int, ints, or a tensor whose value is known."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, (list, tuple, range)):
        return tuple([static_int(op, item, name) for item in value])
    if isinstance(value, Tensor) and value.shape.rank == 1:
        found = static_value(value)
        value = value if found is None else found
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple([static_int(op, item, name) for item in value])
    return static_int(op, value, name)


def static_int(op: str, value: Any, name: str) -> int:
    """An attribute that is one integer, or a scalar tensor whose value is known."""
    if isinstance(value, SymbolicTensor):
        found = static_value(value)
        if found is None:
            raise UnknownWhileTracingError(
                f"{op}: {name} must be known while tracing, got {value!r}. Compute it in Python, "
                "or pass it to the traced function as a Python number."
            )
        value = found
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{op}: {name} must be an integer, got {value!r}.") from None


def as_float(value: Any) -> float:
    """`float(value)`, but no number of an array with axes: NumPy before 2.4 takes one of size 1."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"An array of shape {value.shape} is no number.")
    return float(value)
