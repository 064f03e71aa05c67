"""Only some rows, only some elements: masked slices, and products at given places."""

from __future__ import annotations

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, of_dtype
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import joining, shape as shapes
from weft._src.ops.elementwise import casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.linalg import products
from weft._src.ops.reduce import logic, sums


def mask(a: TensorLike, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Slices without those at the indices that are masked.

    Args:
      a: `tf.IndexedSlices`.
      mask_indices: a vector of integers.

    Returns:
      `tf.IndexedSlices` with the same dense shape.

    Raises:
      TypeError: if `a` is something else.
      ShapeError: if `mask_indices` is no vector.

    >>> slices = tf.IndexedSlices(tf.constant([[1], [2], [3]]), tf.constant([5, 7, 9]))
    >>> tf.sparse.mask(slices, [7]).indices.numpy()
    array([5, 9], dtype=int32)
    """
    if not isinstance(a, IndexedSlices):
        raise TypeError(f"sparse.mask: a must be tf.IndexedSlices, got {type(a).__name__}.")
    a = a.with_values(convert_to_tensor(a.values))
    places = convert_to_tensor(a.indices)
    masked = convert_to_tensor(mask_indices, dtype_hint=places.dtype)
    if masked.shape.rank != 1:
        raise ShapeError(f"sparse.mask: mask_indices must be a vector, got shape {masked.shape}.")
    found = comparison.equal(shapes.expand_dims(places, 1), casting.cast(masked, places.dtype))
    kept = comparison.logical_not(logic.reduce_any(found, axis=1))
    return IndexedSlices(
        masks.boolean_mask(a.values, kept), masks.boolean_mask(places, kept), a.dense_shape
    )


def sampled_addmm(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    mat1: TensorLike,
    mat2: TensorLike,
    beta: float = 1.0,
    alpha: float = 1.0,
    output_type: DTypeLike = dtypes.float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """`beta * values + alpha * (mat1 @ mat2)` at the places that indices name, and only there.

    Args:
      indices: int32 or int64 [..., count, 2], rows and columns.
      values: numbers [..., count], of dtype `output_type`.
      dense_shape: the shape of the whole, int32; it is returned as it is.
      mat1: numbers [..., m, k].
      mat2: numbers [..., k, n] of the same dtype.
      beta: the factor of the values.
      alpha: the factor of the product.
      output_type: the dtype of the result.

    Returns:
      A tuple (indices, values, dense_shape) of tensors.

    Raises:
      ShapeError: if the ranks of indices and matrices differ, are below 2, or unknown while
        tracing.
      TypeError: if `output_type` is no dtype.

    >>> mat = [[1.0, 2.0], [3.0, 4.0]]
    >>> out = tf.sparse.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], mat, mat)
    >>> out[1].numpy()
    array([11., 17.], dtype=float32)
    """
    op = "sparse.sampled_addmm"
    try:
        dtype = dtypes.as_dtype(output_type)
    except TypeError as e:
        raise TypeError(f"{op}: output_type must be a dtype. {e}") from None
    places = convert_to_tensor(indices, dtype_hint=dtypes.int32)
    shape = of_dtype(op, dense_shape, dtypes.int32, "dense_shape")
    before = of_dtype(op, values, dtype, "values")
    left, right = of_dtype(op, mat1, dtype, "mat1"), of_dtype(op, mat2, dtype, "mat2")
    rank = places.shape.rank
    for name, x in (("indices", places), ("mat1", left), ("mat2", right)):
        if x.shape.rank is None or x.shape.rank < 2 or x.shape.rank != rank:
            raise ShapeError(
                f"{op}: indices, mat1 and mat2 must have the same known rank, at least 2; {name} "
                f"has shape {x.shape}."
            )
    rules.check_rank(op, shape.spec, 1, name="dense_shape")
    known = static.static_value(shape)
    outer = left.shape[-2:-1].concatenate(right.shape[-1:])
    text = f"{op}: dense_shape must be the shape of products of mat1 and mat2"
    if known is not None and not outer.is_compatible_with(known.tolist()):
        raise ShapeError(f"{text}, {outer}, got {known.tolist()}.")
    sizes = joining.stack([shapes.shape(left)[-2], shapes.shape(right)[-1]])
    require(comparison.equal, [shape, sizes], text, ["dense_shape", "shape of products"])
    batch = rank - 2  # type: ignore[operator]
    rows = gathering.gather(left, places[..., 0], axis=batch, batch_dims=batch)
    turned = products.matrix_transpose(right)
    columns = gathering.gather(turned, places[..., 1], axis=batch, batch_dims=batch)
    product = sums.reduce_sum(rows * columns, axis=-1)
    return places, before * beta + product * alpha, shape
