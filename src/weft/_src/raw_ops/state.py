"""Raw ops on variables (by their handles), lists of tensors, and the screen."""

from __future__ import annotations

from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.shapes import TensorShape
from weft._src.ops.control import stack as stacks
from weft._src.ops.state import gathering, variables


def gather(
    resource: tf.Tensor,
    indices: TensorLike,
    dtype: DTypeLike,
    batch_dims: int = 0,
    name: str | None = None,
) -> tf.Tensor:
    wanted = tf.as_dtype(dtype)
    if batch_dims:
        whole = variables.read_op(resource, dtype=wanted, shape=None)
        return tf.gather(whole, indices, batch_dims=batch_dims)
    found = tf.convert_to_tensor(indices, dtype_hint=tf.int32)
    return gathering.gather_op(resource, found, dtype=wanted, shape=None, name=name)


# --- lists -------------------------------------------------------------------------------------


def _dims(element_shape: Any) -> Any:
    """A static shape; -1 (for all of it, or one size) is not known."""
    if isinstance(element_shape, TensorShape):
        return element_shape.dims_or_none
    known = tf.get_static_value(tf.convert_to_tensor(element_shape, dtype_hint=tf.int32))
    if known is None or known.ndim == 0:
        return None
    return TensorShape([None if n < 0 else n for n in known.tolist()]).dims_or_none


def list_reserve(
    element_shape: ShapeLike,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    count = tf.convert_to_tensor(num_elements, dtype_hint=tf.int32)
    return stacks.reserve_op(count, dtype=tf.as_dtype(element_dtype), name=name)


def empty_list(
    element_shape: ShapeLike,
    max_num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    return list_reserve(element_shape, 0, element_dtype, name)


def list_of(tensor: TensorLike, element_shape: ShapeLike, name: str | None = None) -> tf.Tensor:
    return stacks.from_tensor_op(tf.convert_to_tensor(tensor), name=name)


def list_item(
    input_handle: tf.Tensor,
    index: TensorLike,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    place = tf.convert_to_tensor(index, dtype_hint=tf.int32)
    dtype, shape = tf.as_dtype(element_dtype), _dims(element_shape)
    return stacks.get_item_op(input_handle, place, dtype=dtype, shape=shape, name=name)


def list_stack(
    input_handle: tf.Tensor,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    name: str | None = None,
) -> tf.Tensor:
    dtype, shape = tf.as_dtype(element_dtype), _dims(element_shape)
    out = stacks.to_tensor_op(input_handle, dtype=dtype, shape=shape, name=name)
    if num_elements < 0:
        return out
    return tf.ensure_shape(out, [num_elements, *out.shape[1:]])


def list_push(input_handle: tf.Tensor, tensor: TensorLike, name: str | None = None) -> tf.Tensor:
    return stacks.push_op(input_handle, tf.convert_to_tensor(tensor), name=name)


def list_pop(
    input_handle: tf.Tensor,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Any:
    dtype, shape = tf.as_dtype(element_dtype), _dims(element_shape)
    return stacks.pop_op(input_handle, dtype=dtype, shape=shape, name=name)


def print_text(
    input: TensorLike, output_stream: str = "stderr", end: str = "\n", name: str | None = None
) -> None:
    tf.print(tf.convert_to_tensor(input, tf.string), output_stream=output_stream, end=end)
