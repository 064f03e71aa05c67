"""Raw ops on variables, by their handles.

A handle tells which variable it belongs to, also where a function has captured it; so what is read
keeps the dtype and the static shape of the variable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.cells import VariableCell
from weft._src.core.shapes import Dims
from weft._src.core.tensor import EagerTensor
from weft._src.graph.origins import outermost, variable_behind
from weft._src.ops.indexing import slicing
from weft._src.ops.registry import Op
from weft._src.ops.state import gathering, scattering, slices, variables

# What TensorFlow calls a variable that shares its name with no other.
_ANONYMOUS = ("", "cd2c89b7-88b7-44c8-ad83-06c2a9158347")
_shared: dict[tuple[str, str], _DeclaredCell] = {}
_shared_lock = threading.Lock()


class _DeclaredCell(VariableCell):
    """The storage of a variable of which there is a handle, but no `tf.Variable`."""

    __slots__ = ("spec",)

    def __init__(self, spec: tf.TensorSpec, name: str) -> None:
        super().__init__(None, name)
        self.spec = spec


def declared(handle: tf.Tensor) -> tf.TensorSpec | None:
    """The dtype and static shape of the variable that a handle refers to; None if nobody knows."""
    variable = variable_behind(handle)
    if variable is not None:
        return tf.TensorSpec(variable.shape, variable.dtype)
    value = getattr(outermost(handle), "_value", None)
    return value.spec if isinstance(value, _DeclaredCell) else None


def _dims(handle: tf.Tensor) -> Dims | None:
    spec = declared(handle)
    return None if spec is None else spec.dims


def value_for(op: str, handle: tf.Tensor, value: TensorLike, name: str = "value") -> tf.Tensor:
    """What becomes part of a variable: it must have the dtype of the variable."""
    spec = declared(handle)
    x = tf.convert_to_tensor(value, dtype_hint=None if spec is None else spec.dtype)
    if spec is not None and x.dtype is not spec.dtype:
        raise tf.errors.DTypeError(
            f"{op}: the variable is {spec.dtype.name}, {name} is {x.dtype.name}. Convert it with "
            f"tf.cast(x, tf.{spec.dtype.name})."
        )
    return x


def read(resource: tf.Tensor, dtype: DTypeLike, name: str | None = None) -> tf.Tensor:
    wanted, spec = tf.as_dtype(dtype), declared(resource)
    if spec is not None and spec.dtype is not wanted:
        raise tf.errors.DTypeError(
            f"ReadVariableOp: the variable is {spec.dtype.name}, dtype says {wanted.name}."
        )
    return variables.read_op(resource, dtype=wanted, shape=_dims(resource), name=name)


def value_of(handle: tf.Tensor) -> tf.Tensor:
    """The value of a variable whose dtype is known."""
    spec = declared(handle)
    if spec is None:
        raise tf.errors.UnsupportedError(
            f"Nothing tells the dtype of the variable behind {handle!r}. Pass the variable to the "
            "function that is traced, or let it capture it."
        )
    return variables.read_op(handle, dtype=spec.dtype, shape=spec.dims)


def make_handle(
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str = "",
    shared_name: str = "",
    name: str | None = None,
) -> tf.Tensor:
    """The handle of a variable that has no value yet; the same name gives the same variable."""
    made = _DeclaredCell(tf.TensorSpec(shape, dtype), shared_name or name or "Variable")
    if shared_name in _ANONYMOUS:
        return EagerTensor(made)
    with _shared_lock:
        known = _shared.setdefault((container, shared_name), made)
    if known.spec != made.spec:
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"The variable {shared_name!r} is {known.spec.words} already, and cannot be "
            f"{made.spec.words} as well.",
        )
    return EagerTensor(known)


def destroy(resource: tf.Tensor, ignore_lookup_error: bool = True, name: str | None = None) -> None:
    """Whoever holds another handle finds a variable without a value."""
    variables.destroy_op(resource, name=name)


def shape_of(
    input: tf.Tensor, out_type: DTypeLike = tf.int32, name: str | None = None
) -> tf.Tensor:
    spec = declared(input)
    if spec is not None and spec.is_static:
        sizes: Any = spec.shape.as_list()
        return tf.constant(sizes, tf.as_dtype(out_type), [len(sizes)])
    return tf.shape(value_of(input), tf.as_dtype(out_type), name=name)


# --- assigning -----------------------------------------------------------------------------------


def _assigning(op: Op) -> Callable[..., None]:
    def assign(resource: tf.Tensor, value: TensorLike, name: str | None = None) -> None:
        x = value_for(op.name, resource, value)
        op(resource, x, shape=_dims(resource), name=name)

    return assign


assign = _assigning(variables.assign_op)
assign_add = _assigning(variables.assign_add_op)
assign_sub = _assigning(variables.assign_sub_op)


def assign_slice(
    ref: tf.Tensor,
    begin: TensorLike,
    end: TensorLike,
    strides: Any,
    value: TensorLike,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> None:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index, dynamic = slicing.slice_entries(begin, end, strides, *masks)
    x = value_for("ResourceStridedSliceAssign", ref, value)
    slices.assign_slice_op(ref, x, *dynamic, shape=_dims(ref), index=index, name=name)


def _rows(op: Op) -> Callable[..., None]:
    def scatter(
        resource: tf.Tensor, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> None:
        places = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
        x = value_for(op.name, resource, updates, "updates")
        op(resource, places, x, shape=_dims(resource), name=name)

    return scatter


scatter_add = _rows(scattering.scatter_add_op)
scatter_sub = _rows(scattering.scatter_sub_op)
scatter_mul = _rows(scattering.scatter_mul_op)
scatter_div = _rows(scattering.scatter_div_op)
scatter_min = _rows(scattering.scatter_min_op)
scatter_max = _rows(scattering.scatter_max_op)
scatter_update = _rows(scattering.scatter_update_op)


def _elements(op: Op) -> Callable[..., None]:
    def scatter(
        ref: tf.Tensor, indices: TensorLike, updates: TensorLike, name: str | None = None
    ) -> None:
        places = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
        x = value_for(op.name, ref, updates, "updates")
        op(ref, places, x, shape=_dims(ref), batch_dims=0, name=name)

    return scatter


scatter_nd_add = _elements(scattering.scatter_nd_add_op)
scatter_nd_sub = _elements(scattering.scatter_nd_sub_op)
scatter_nd_min = _elements(scattering.scatter_nd_min_op)
scatter_nd_max = _elements(scattering.scatter_nd_max_op)
scatter_nd_update = _elements(scattering.scatter_nd_update_op)


# --- parts ---------------------------------------------------------------------------------------


def gather(
    resource: tf.Tensor,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int = 0,
    name: str | None = None,
) -> tf.Tensor:
    if batch_dims:
        return tf.gather(read(resource, dtype), indices, batch_dims=batch_dims)
    places = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
    wanted, shape = tf.as_dtype(dtype), _dims(resource)
    return gathering.gather_op(resource, places, dtype=wanted, shape=shape, name=name)


def gather_nd(
    resource: tf.Tensor, indices: TensorLike, dtype: DTypeLike, name: str | None = None
) -> tf.Tensor:
    places = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
    wanted, shape = tf.as_dtype(dtype), _dims(resource)
    return gathering.gather_nd_op(resource, places, dtype=wanted, shape=shape, name=name)


def count_up_to(
    resource: tf.Tensor, limit: int, T: DTypeLike, name: str | None = None
) -> tf.Tensor:
    """The number that a variable holds, which is then one higher; an error at the limit."""
    before = read(resource, T)
    tf.debugging.assert_less(before, tf.cast(limit, before.dtype), "ResourceCountUpTo: the limit.")
    assign_add(resource, tf.ones_like(before))
    return before


def nothing(resource: tf.Tensor, name: str | None = None) -> None:
    """What TensorFlow is told of its copies has no meaning here."""


def print_text(
    input: TensorLike, output_stream: str = "stderr", end: str = "\n", name: str | None = None
) -> None:
    tf.print(tf.convert_to_tensor(input, tf.string), output_stream=output_stream, end=end)
