"""Sparse tensors as strings: their indices, values and shape, each a serialized tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import ArrayNamespace, DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, STRING, DType, int64, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError, ParseError, ShapeError, UnsupportedError
from weft._src.fileio.tensors import serialize_tensor, to_message
from weft._src.graph.tensor_proto import array_of
from weft._src.messages.tensors import TensorProto
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings.elements import as_array, string_tensor

Array = np.ndarray[Any, Any]
_INDEX = frozenset({int64})


def _sparse(op: str, sp_input: Any, out_type: DTypeLike) -> SparseTensor:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"{op}: sp_input must be a tf.SparseTensor, got {sp_input!r}.")
    found = dtypes.as_dtype(out_type)
    if found is not string:
        raise UnsupportedError(f"{op}: out_type must be tf.string, got {found.name}.")
    return sp_input


def serialize_sparse(
    sp_input: SparseTensor, out_type: DTypeLike = string, name: str | None = None
) -> Tensor:
    """A sparse tensor as three strings: its indices, values and shape.

    Args:
      sp_input: a `tf.SparseTensor`.
      out_type: only `tf.string`.
      name: the name of the node in a graph.

    Returns:
      A vector of three strings.

    Raises:
      TypeError: if `sp_input` is no sparse tensor.
      UnsupportedError: if `out_type` is another dtype.

    >>> strings = tf.io.serialize_sparse(tf.sparse.from_dense([[0, 5], [6, 0]]))
    >>> tf.io.parse_tensor(strings[1], tf.int32).numpy()
    array([5, 6], dtype=int32)
    """
    sp = _sparse("serialize_sparse", sp_input, out_type)
    parts = [serialize_tensor(part) for part in (sp.indices, sp.values, sp.dense_shape)]
    return joining.stack(parts, name=name or "stack")


def _string_of(array: Array) -> bytes:
    return to_message(array).SerializeToString()


def _many_infer(indices: TensorSpec, values: TensorSpec, shape: TensorSpec) -> TensorSpec:
    return TensorSpec.of(string, (Dim(), 3))


def _many_kernel(xp: ArrayNamespace, indices: Array, values: Array, shape: Array) -> Array:
    values = as_array(values)
    if len(shape) < 2:
        raise InvalidArgumentError(
            None,
            None,
            "serialize_many_sparse: sp_input must have at least two axes, got shape "
            f"{shape.tolist()}. For one sparse tensor use serialize_sparse.",
        )
    rows = indices[:, 0]
    if (rows[1:] < rows[:-1]).any():
        raise InvalidArgumentError(
            None,
            None,
            "serialize_many_sparse: the indices of sp_input must be in order. Use "
            "tf.sparse.reorder before.",
        )
    if len(rows) and (rows[0] < 0 or rows[-1] >= shape[0]):
        raise InvalidArgumentError(
            None, None, f"serialize_many_sparse: sp_input has indices beyond {shape.tolist()}."
        )
    ends = np.searchsorted(rows, np.arange(int(shape[0]) + 1))
    inner = _string_of(np.ascontiguousarray(shape[1:]))
    out = np.empty((len(ends) - 1, 3), object)
    for i, (begin, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        out[i, 0] = _string_of(np.ascontiguousarray(indices[begin:end, 1:]))
        out[i, 1] = _string_of(values[begin:end])
        out[i, 2] = inner
    return out


serialize_many_op = define_op(
    "SerializeManySparse",
    args("sparse_indices", _INDEX) + args("sparse_values", DATA) + args("sparse_shape", _INDEX),
    infer=_many_infer,
    kernel=_many_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def serialize_many_sparse(
    sp_input: SparseTensor, out_type: DTypeLike = string, name: str | None = None
) -> Tensor:
    """The rows of a sparse tensor, each as three strings: its indices, values and shape.

    Args:
      sp_input: a `tf.SparseTensor` of two axes or more, whose indices are in order.
      out_type: only `tf.string`.
      name: the name of the node in a graph.

    Returns:
      A matrix of strings, [rows, 3].

    Raises:
      TypeError: if `sp_input` is no sparse tensor.
      InvalidArgumentError: if it has less than two axes, or its indices are not in order.
      UnsupportedError: if `out_type` is another dtype.

    >>> strings = tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 5], [6, 0]]))
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(strings, tf.int32)).numpy()
    array([[0, 5],
           [6, 0]], dtype=int32)
    """
    sp = _sparse("serialize_many_sparse", sp_input, out_type)
    return serialize_many_op(sp.indices, sp.values, sp.dense_shape, name=name)


# --- back ----------------------------------------------------------------------------------------


def _back_infer(
    serialized: TensorSpec, *, dtype: DType, rank: int | None
) -> tuple[TensorSpec, ...]:
    rules.check_rank("deserialize_many_sparse", serialized, 2, name="serialized_sparse")
    if serialized.dims is not None:
        what = "the columns of serialized_sparse and the parts of a sparse tensor"
        rules.unify("deserialize_many_sparse", serialized.dims[1], 3, what)
    count, axes = Dim(), Dim() if rank is None else rank
    return (
        TensorSpec.of(int64, (count, axes)),
        TensorSpec.of(dtype, (count,)),
        TensorSpec.of(int64, (axes,)),
    )


def _wrong(i: int, text: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"deserialize_many_sparse: row {i} of serialized_sparse {text}"
    )


def _row(strings: list[bytes], i: int, dtype: DType) -> tuple[Array, Array, Array]:
    try:
        indices, values, shape = (array_of(TensorProto.FromString(text)) for text in strings)
    except ParseError as error:
        raise _wrong(i, f"is no sparse tensor: {error}") from error
    found = dtypes.from_numpy(values.dtype)
    if found is not dtype:
        raise _wrong(i, f"has dtype {found.name}, dtype is {dtype.name}.")
    if (
        indices.dtype != np.int64
        or shape.dtype != np.int64
        or (indices.ndim, values.ndim, shape.ndim) != (2, 1, 1)
        or indices.shape != (len(values), len(shape))
    ):
        sizes = [part.shape for part in (indices, values, shape)]
        raise _wrong(i, f"has indices, values and a shape that do not fit: {sizes}.")
    return indices, values, shape


def _back_kernel(
    xp: ArrayNamespace, serialized: TensorLike, *, dtype: DType, rank: int | None
) -> tuple[Array, ...]:
    rows = [_row(strings, i, dtype) for i, strings in enumerate(as_array(serialized).tolist())]
    if not rows:
        if rank is None:
            raise InvalidArgumentError(
                None,
                None,
                "deserialize_many_sparse: without rows in serialized_sparse the rank must be "
                "given.",
            )
        nothing = np.zeros((0, rank), np.int64)
        return nothing, np.zeros(0, dtype.numpy_dtype), np.zeros(rank, np.int64)
    axes = len(rows[0][2]) + 1
    for i, (_, _, shape) in enumerate(rows):
        if len(shape) + 1 != (axes if rank is None else rank):
            wanted = f"expected {(axes if rank is None else rank) - 1}"
            raise _wrong(i, f"has {len(shape)} axes, {wanted}.")
    numbers = np.repeat(np.arange(len(rows)), [len(values) for _, values, _ in rows])
    indices = np.concatenate([indices for indices, _, _ in rows])
    longest = np.max([shape for _, _, shape in rows], axis=0)
    return (
        np.concatenate([numbers[:, None], indices], 1),
        np.concatenate([values for _, values, _ in rows]),
        np.concatenate([[len(rows)], longest]).astype(np.int64),
    )


deserialize_many_op = define_op(
    "DeserializeManySparse",
    args("serialized_sparse", STRING),
    infer=_back_infer,
    kernel=_back_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
)


def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """One sparse tensor of rows that `serialize_many_sparse` or `serialize_sparse` made strings of.

    Args:
      serialized_sparse: a matrix of strings, [rows, 3].
      dtype: the dtype of the values.
      rank: the number of axes of the result, if it shall be known while tracing.
      name: the name of the node in a graph.

    Returns:
      A `tf.SparseTensor` with a first axis for the rows; its other sizes are those of the largest.

    Raises:
      InvalidArgumentError: if the strings are no sparse tensors, or have other dtypes or ranks.
      ShapeError: if `serialized_sparse` does not have three columns.

    >>> row = tf.io.serialize_sparse(tf.sparse.from_dense([0, 5, 0]))
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse([row, row], tf.int32)).numpy()
    array([[0, 5, 0],
           [0, 5, 0]], dtype=int32)
    """
    op = "deserialize_many_sparse"
    axes = None if rank is None else static.static_int(op, rank, "rank")
    if axes is not None and axes < 1:
        raise ShapeError(f"{op}: rank must be positive, got {axes}.")
    if not isinstance(serialized_sparse, Tensor):
        items = serialized_sparse
        is_rows = isinstance(items, (list, tuple)) and any(isinstance(x, Tensor) for x in items)
        serialized_sparse = convert_to_tensor(items) if is_rows else string_tensor(items)
    parts = deserialize_many_op(
        serialized_sparse, dtype=dtypes.as_dtype(dtype), rank=axes, name=name
    )
    return SparseTensor(*parts)
