"""Raw ops on lists of tensors: TensorArrays, and what loops save for their gradients.

A list does not keep the shape that its elements were promised to have. Who reads elements that
nobody has written says it again, as TensorFlow's own graphs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import DTypeLike, ShapeLike, TensorLike
from weft._src.core.shapes import Dim, Dims, TensorShape, UnknownNumber
from weft._src.ops import static
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.control import stack as stacks, stack_pieces
from weft._src.ops.control.tensor_array import TensorArray, TensorArraySpec


class _Element:
    """The shape of elements: what is known of it while tracing, and a tensor if it is computed."""

    def __init__(self, shape: Any) -> None:
        self.sizes: tf.Tensor | None = None
        if isinstance(shape, TensorShape):
            self.dims: Dims | None = shape.dims_or_none
            return
        x = tf.convert_to_tensor(shape, dtype_hint=tf.int32)
        known = static.known_value(x)
        if known is None or known.ndim == 0:  # -1: nothing is known, not even the rank
            self.dims = None
            self.sizes = x if known is None and x.shape.rank == 1 else None
            return
        self.dims = tuple([self._size(n) for n in known.tolist()])
        computed = [isinstance(n, Dim) and not isinstance(n, UnknownNumber) for n in known.tolist()]
        whole = [c or d == n for c, d, n in zip(computed, self.dims, known.tolist(), strict=True)]
        if any(computed) and all(whole):
            self.sizes = x

    @staticmethod
    def _size(n: Any) -> Any:
        if isinstance(n, Dim):
            return Dim() if isinstance(n, UnknownNumber) else n
        return n if n >= 0 else Dim()


def _index(index: TensorLike) -> tf.Tensor:
    return tf.convert_to_tensor(index, dtype_hint=tf.int32)


# --- tensors, and lists of them -------------------------------------------------------------------


def added(inputs: Sequence[TensorLike], name: str | None = None) -> tf.Tensor:
    # A list that grows in a loop cannot be gone through here.
    is_list = isinstance(inputs, (list, tuple))
    if not is_list or not any(isinstance(x, tf.Tensor) and x.dtype == tf.variant for x in inputs):
        return tf.add_n(inputs, name=name)
    total: Any = inputs[0]
    for x in inputs[1:]:
        total = stacks.add_stacks_op(total, x, name=name)
    return total


def zeros_like(x: TensorLike, name: str | None = None) -> tf.Tensor:
    if isinstance(x, tf.Tensor) and x.dtype == tf.variant:
        return stacks.zeros_like_op(x, name=name)
    return tf.zeros_like(x, name=name)


# --- making --------------------------------------------------------------------------------------


def reserve(
    element_shape: ShapeLike,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    return stacks.reserve_op(_index(num_elements), dtype=tf.as_dtype(element_dtype), name=name)


def empty(
    element_shape: ShapeLike,
    max_num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    return reserve(element_shape, 0, element_dtype, name)


def from_tensor(tensor: TensorLike, element_shape: ShapeLike, name: str | None = None) -> tf.Tensor:
    return stacks.from_tensor_op(tf.convert_to_tensor(tensor), name=name)


def split(
    tensor: TensorLike, element_shape: ShapeLike, lengths: TensorLike, name: str | None = None
) -> tf.Tensor:
    pieces = tf.convert_to_tensor(lengths, dtype_hint=tf.int64)
    return stack_pieces.split_op(tf.convert_to_tensor(tensor), pieces, axis=0, name=name)


def scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: ShapeLike,
    num_elements: TensorLike = -1,
    name: str | None = None,
) -> tf.Tensor:
    """A list as long as is needed, or longer if so many elements are wanted."""
    rows, places = tf.convert_to_tensor(tensor), _index(indices)
    needed = tf.maximum(tf.reduce_max(tf.concat([places, [-1]], 0)) + 1, _index(num_elements))
    made = stacks.reserve_op(needed, dtype=rows.dtype, name=name)
    return scatter_into(made, rows, places)


def scatter_into(
    input_handle: tf.Tensor, tensor: TensorLike, indices: TensorLike, name: str | None = None
) -> tf.Tensor:
    """The list grows, if a place is beyond its end."""
    rows = tf.convert_to_tensor(tensor)
    spec = TensorArraySpec(None, rows.dtype, dynamic_size=True, infer_shape=False)
    return TensorArray._of(spec, input_handle).scatter(_index(indices), rows, name).handle


# --- changing ------------------------------------------------------------------------------------


def set_item(
    input_handle: tf.Tensor,
    index: TensorLike,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    value, grow = tf.convert_to_tensor(item), bool(resize_if_index_out_of_bounds)
    return stacks.set_item_op(input_handle, _index(index), value, grow=grow, name=name)


def push(input_handle: tf.Tensor, tensor: TensorLike, name: str | None = None) -> tf.Tensor:
    return stacks.push_op(input_handle, tf.convert_to_tensor(tensor), name=name)


def pop(
    input_handle: tf.Tensor,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    element, dtype = _Element(element_shape), tf.as_dtype(element_dtype)
    if element.sizes is not None:
        return stacks.pop_shaped_op(input_handle, element.sizes, dtype=dtype, name=name)
    return stacks.pop_op(input_handle, dtype=dtype, shape=element.dims, name=name)


def resize(input_handle: tf.Tensor, size: TensorLike, name: str | None = None) -> tf.Tensor:
    return stack_pieces.resize_op(input_handle, _index(size), name=name)


def joined(
    input_a: tf.Tensor, input_b: tf.Tensor, element_dtype: DTypeLike, name: str | None = None
) -> tf.Tensor:
    """The elements of one list, then those of another."""
    dtype = tf.as_dtype(element_dtype)

    def step(i: tf.Tensor, out: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        item = stacks.get_item_op(input_b, i, dtype=dtype, shape=None)
        return i + 1, stacks.push_op(out, item)

    count = stacks.length_op(input_b)
    return tf.while_loop(lambda i, _: i < count, step, (tf.constant(0), input_a), name=name)[1]


# --- reading -------------------------------------------------------------------------------------


def item(
    input_handle: tf.Tensor,
    index: TensorLike,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    element, dtype = _Element(element_shape), tf.as_dtype(element_dtype)
    if element.sizes is not None:
        op = stacks.get_shaped_item_op
        return op(input_handle, _index(index), element.sizes, dtype=dtype, name=name)
    op = stacks.get_item_op
    return op(input_handle, _index(index), dtype=dtype, shape=element.dims, name=name)


def stack(
    input_handle: tf.Tensor,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    name: str | None = None,
) -> tf.Tensor:
    element, dtype = _Element(element_shape), tf.as_dtype(element_dtype)
    if element.sizes is None:
        out = stacks.to_tensor_op(input_handle, dtype=dtype, shape=element.dims, name=name)
    else:
        sizes = tf.concat([[stacks.length_op(input_handle)], element.sizes], 0)
        out = stacks.to_shape_op(input_handle, shapes.shape_argument(sizes), dtype=dtype, name=name)
    if num_elements < 0:
        return out
    if out.shape.rank is None:
        tf.debugging.assert_equal(stacks.length_op(input_handle), num_elements)
        return out
    return tf.ensure_shape(out, [num_elements, *out.shape[1:]])


def gather(
    input_handle: tf.Tensor,
    indices: TensorLike,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tf.Tensor:
    dims, dtype = _Element(element_shape).dims, tf.as_dtype(element_dtype)
    return stacks.read_rows_op(input_handle, _index(indices), dtype=dtype, shape=dims, name=name)


def concat(
    input_handle: tf.Tensor,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The elements in one tensor, and how long each of them is."""
    dims, dtype = _Element(tf.TensorShape(element_shape)).dims, tf.as_dtype(element_dtype)
    out = stack_pieces.concat_op(
        input_handle, input_handle, dtype=dtype, shape=dims, axis=0, name=name
    )
    return out, stack_pieces.row_lengths_op(input_handle, axis=0)


def concat_computed(
    input_handle: tf.Tensor,
    element_shape: TensorLike,
    leading_dims: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """As `concat`; elements that nobody has written are refused, whatever their length may be."""
    return concat(input_handle, element_dtype, TensorShape.of(_Element(element_shape).dims), name)


def element_shape(input_handle: tf.Tensor, shape_type: DTypeLike, name: str | None = None) -> Any:
    out = stack_pieces.element_shape_op(input_handle, name=name)
    return tf.cast(out, tf.as_dtype(shape_type))
