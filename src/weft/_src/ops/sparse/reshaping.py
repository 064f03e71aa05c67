"""Other shapes and other selections of the elements of sparse tensors."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import AxisLike, ShapeLike, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import bool_, int64
from weft._src.core.tensor import Tensor
from weft._src.errors import ArgumentError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.arrays import fill, joining, ranges, selection, shape as shapes
from weft._src.ops.elementwise import arithmetic, casting, comparison
from weft._src.ops.host.requiring import require
from weft._src.ops.indexing import gathering, masks
from weft._src.ops.reduce import extrema, logic, order, products, unsorted_segments as segments
from weft._src.ops.sparse import dense, places
from weft._src.ops.sparse.tensor import SparseTensor, sparse


def _rank(op: str, sp: SparseTensor) -> int:
    rank = sp.shape.rank
    if rank is None:
        raise ValueError(f"{op}: the rank of sp_input must be known while tracing.")
    return rank


def _axis(op: str, sp: SparseTensor, axis: Any) -> int:
    return rules.normalize_axis(op, static.static_int(op, axis, "axis"), _rank(op, sp))


def _sizes(op: str, value: Any, name: str) -> Tensor:
    sizes = shapes.shape_argument(value)
    if not sizes.dtype.is_integer or sizes.shape.rank not in (None, 1):
        raise ShapeError(f"{op}: {name} must be a vector of integers, got {sizes}.")
    return casting.cast(sizes, int64)


def reshape(sp_input: Any, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """The elements at the places they have in another shape; one size may be -1.

    Args:
      sp_input: a `tf.SparseTensor`.
      shape: the sizes, a list or an integer vector; one may be -1 and is worked out.

    Returns:
      A `tf.SparseTensor` of this shape, with the same values in the same order.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if `shape` is no vector of integers.
      InvalidArgumentError: if the number of elements does not fit, or -1 stands beside a 0.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> tf.sparse.reshape(sp, [2, -1]).indices.numpy()
    array([[0, 1],
           [1, 1]])
    """
    sp = sparse("sparse.reshape", sp_input, "sp_input")
    sizes = _sizes("sparse.reshape", shape, "shape")
    total = products.reduce_prod(sp.dense_shape)
    known = static.static_value(sizes)
    if known is None or (known < 0).any():
        is_open = sizes < 0
        given = products.reduce_prod(selection.where(is_open, 1, sizes))
        text = "sparse.reshape: a size of -1 cannot be worked out beside a size of 0"
        require(
            lambda m: (
                (products.reduce_prod(selection.where(m < 0, 1, m)) > 0) | logic.reduce_all(m >= 0)
            ),
            [sizes],
            text,
            ("shape",),
        )
        sizes = selection.where(is_open, total // arithmetic.maximum(given, 1), sizes)
    text = "sparse.reshape: shape must have as many elements as sp_input"
    require(
        lambda n, m: comparison.equal(n, products.reduce_prod(m)),
        [total, sizes],
        text,
        ("elements", "shape"),
    )
    found = places.from_indices(sp.indices, sp.dense_shape)
    return SparseTensor._of(places.to_indices(found, sizes), sp.values, sizes)


def transpose(
    sp_input: SparseTensor, perm: TensorLike | None = None, name: str | None = None
) -> SparseTensor:
    """The tensor with its axes permuted, by default reversed.

    Args:
      sp_input: a `tf.SparseTensor`.
      perm: for each axis of the result the axis of `sp_input` it is; None reverses the axes.

    Returns:
      A `tf.SparseTensor` in row-major order.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if `perm` does not name each axis once; negative numbers name none.
      ValueError: if the rank is not known while tracing.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> tf.sparse.transpose(sp).indices.numpy()
    array([[0, 2],
           [1, 0]])
    """
    sp = sparse("sparse.transpose", sp_input, "sp_input")
    rank = _rank("sparse.transpose", sp)
    axes = static.static_ints("sparse.transpose", perm, "perm")
    if axes is None:
        axes = tuple(range(rank))[::-1]
    if not isinstance(axes, tuple) or sorted(axes) != list(range(rank)):
        raise ShapeError(f"sparse.transpose: perm must order {rank} axes, got {perm!r}.")
    order = convert_to_tensor(list(axes), dtype=int64)
    indices = gathering.gather(sp.indices, order, axis=1)
    moved = SparseTensor._of(indices, sp.values, gathering.gather(sp.dense_shape, order))
    return dense.reorder(moved)


def expand_dims(
    sp_input: SparseTensor, axis: AxisLike | None = None, name: str | None = None
) -> SparseTensor:
    """The tensor with a new axis of size one, by default the last.

    Args:
      sp_input: a `tf.SparseTensor`.
      axis: where the new axis is in the result; None means the last one.

    Returns:
      A `tf.SparseTensor` of a rank one higher.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if there is no such axis.
      ValueError: if the rank is not known while tracing.

    >>> tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [3]), 0).indices.numpy()
    array([[0, 1]])
    """
    sp = sparse("sparse.expand_dims", sp_input, "sp_input")
    rank = _rank("sparse.expand_dims", sp)
    number = -1 if axis is None else static.static_int("sparse.expand_dims", axis, "axis")
    at = rules.normalize_axis("sparse.expand_dims", number, rank + 1)
    column = fill.zeros(joining.stack([shapes.size(sp.values), 1]), int64)
    indices = joining.concat([sp.indices[:, :at], column, sp.indices[:, at:]], 1)
    one = convert_to_tensor([1], dtype=int64)
    shape = joining.concat([sp.dense_shape[:at], one, sp.dense_shape[at:]], 0)
    return SparseTensor._of(indices, sp.values, shape)


def slice(
    sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None
) -> SparseTensor:
    """A block of the tensor that begins at `start`; sizes beyond its end are cut.

    Args:
      sp_input: a `tf.SparseTensor`.
      start: the first index along each axis, an integer vector.
      size: how many elements along each axis, an integer vector.

    Returns:
      A `tf.SparseTensor` of the same rank and dtype; indices are counted from `start`.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if the vectors are not as long as the rank.
      InvalidArgumentError: if a size is negative.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> tf.sparse.slice(sp, [1, 0], [2, 2]).indices.numpy()
    array([[1, 0]])
    """
    sp = sparse("sparse.slice", sp_input, "sp_input")
    first, wanted = _sizes("sparse.slice", start, "start"), _sizes("sparse.slice", size, "size")
    for argument, value in (("start", first), ("size", wanted)):
        what = f"the shape of the tensor and {argument}"
        rules.merge_dims("sparse.slice", sp.dense_shape.spec.dims, value.spec.dims, what)
    require(lambda n: n >= 0, [wanted], "sparse.slice: size must not be negative", ("size",))
    sizes = arithmetic.maximum(arithmetic.minimum(wanted, sp.dense_shape - first), 0)
    moved = sp.indices - first
    inside = logic.reduce_all(comparison.logical_and(moved >= 0, moved < sizes), axis=1)
    return _kept(SparseTensor._of(moved, sp.values, sizes), inside)


def _kept(sp: SparseTensor, wanted: Tensor) -> SparseTensor:
    indices, values = masks.boolean_mask(sp.indices, wanted), masks.boolean_mask(sp.values, wanted)
    return SparseTensor._of(indices, values, sp.dense_shape)


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Only the elements for which `to_retain` holds.

    Args:
      sp_input: a `tf.SparseTensor`.
      to_retain: a bool vector as long as the values.

    Returns:
      A `tf.SparseTensor` of the same shape and dtype.

    Raises:
      TypeError: if `sp_input` is not sparse, or `to_retain` not bool.
      ShapeError: if `to_retain` has another length.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> tf.sparse.retain(sp, [False, True]).values.numpy()
    array([6], dtype=int32)
    """
    sp = sparse("sparse.retain", sp_input, "sp_input")
    wanted = convert_to_tensor(to_retain, dtype=bool_)
    if not wanted.shape.is_compatible_with(sp.values.shape):
        raise ShapeError(
            f"sparse.retain: to_retain must have the shape of the values, {sp.values.shape}, got "
            f"{wanted.shape}."
        )
    return _kept(sp, wanted)


def reset_shape(sp_input: SparseTensor, new_shape: ShapeLike | None = None) -> SparseTensor:
    """The same elements in a larger shape, or in the smallest that holds them.

    Args:
      sp_input: a `tf.SparseTensor`.
      new_shape: the sizes, none of them smaller than before; None means the smallest that will do.

    Returns:
      A `tf.SparseTensor` of this shape.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if `new_shape` has another number of sizes.
      InvalidArgumentError: if a size is smaller than before.

    >>> tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [5], [3, 4])).dense_shape.numpy()
    array([1, 2])
    """
    sp = sparse("sparse.reset_shape", sp_input, "sp_input")
    if new_shape is None:
        none = -(sp.dense_shape * 0 + 1)  # without elements every size is 0
        tight = extrema.reduce_max(joining.concat([[none], sp.indices], 0), axis=0) + 1
        return SparseTensor._of(sp.indices, sp.values, tight)
    sizes = _sizes("sparse.reset_shape", new_shape, "new_shape")
    if not sizes.shape.is_compatible_with(sp.dense_shape.shape):
        raise ShapeError(
            f"sparse.reset_shape: new_shape must have {sp.dense_shape.shape[0]} sizes, got "
            f"{sizes.shape[0]}."
        )
    text = "sparse.reset_shape: no size may become smaller"
    known = [static.static_value(part) for part in (sizes, sp.dense_shape)]
    if known[0] is not None and known[1] is not None and (known[0] < known[1]).any():
        raise ArgumentError(f"{text}: new_shape = {known[0]} dense_shape = {known[1]}")
    names = ("new_shape", "dense_shape")
    require(comparison.greater_equal, [sizes, sp.dense_shape], text, names)
    return SparseTensor._of(sp.indices, sp.values, sizes)


def concat(
    axis: AxisLike, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors joined along an axis.

    With `expand_nonconcat_dims` the other sizes may differ, and become the largest.

    Args:
      axis: the axis, counted from the end if negative.
      sp_inputs: a list of sparse tensors of one rank and dtype.
      expand_nonconcat_dims: whether the sizes of other axes may differ.

    Returns:
      A `tf.SparseTensor` in row-major order.

    Raises:
      ValueError: if the list is empty, or a rank is not known while tracing.
      TypeError: if one of them is not sparse.
      ShapeError: if the ranks differ, or there is no such axis.
      InvalidArgumentError: if sizes of other axes differ.

    >>> sp = tf.SparseTensor([[0, 1]], [5], [1, 2])
    >>> tf.sparse.concat(1, [sp, sp]).indices.numpy()
    array([[0, 1],
           [0, 3]])
    """
    parts = [
        sparse("sparse.concat", x, "sp_inputs")
        for x in items_of("sparse.concat", sp_inputs, "sp_inputs")
    ]
    if not parts:
        raise ValueError("sparse.concat: sp_inputs must hold at least one sparse tensor, got none.")
    at = _axis("sparse.concat", parts[0], axis)
    rank = _rank("sparse.concat", parts[0])
    along = convert_to_tensor([int(i == at) for i in range(rank)], dtype=int64)
    shape = parts[0].dense_shape
    indices = [parts[0].indices]
    for part in parts[1:]:
        if _rank("sparse.concat", part) != rank:
            raise ShapeError("sparse.concat: all sp_inputs must have the same rank.")
        indices.append(part.indices + shape * along)
        if not expand_nonconcat_dims:
            text = "sparse.concat: sizes of the other axes must be equal"
            names = ("dense_shape", "dense_shape")
            others = [size * (1 - along) for size in (shape, part.dense_shape)]
            require(comparison.equal, others, text, names)
        larger = arithmetic.maximum(shape, part.dense_shape)
        shape = larger * (1 - along) + (shape + part.dense_shape) * along
    values = joining.concat([part.values for part in parts], 0)
    return dense.reorder(SparseTensor._of(joining.concat(indices, 0), values, shape))


def split(
    sp_input: SparseTensor | None = None,
    num_split: Any = None,
    axis: AxisLike | None = None,
    name: str | None = None,
) -> list[SparseTensor]:
    """The tensor cut into blocks along an axis; the first ones are longer if sizes differ.

    Args:
      sp_input: a `tf.SparseTensor`; it must be given.
      num_split: the number of blocks, a Python integer; it must be given.
      axis: the axis, counted from the end if negative; it must be given.

    Returns:
      A list of `num_split` sparse tensors.

    Raises:
      TypeError: if an argument is left out, or `sp_input` is not sparse.
      ValueError: if `num_split` is below 1.
      InvalidArgumentError: if `num_split` is larger than the axis.
      ShapeError: if there is no such axis.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> [part.values.numpy().tolist() for part in tf.sparse.split(sp, 2, axis=0)]
    [[5], [6]]
    """
    sp = sparse("sparse.split", sp_input, "sp_input")
    count = static.static_int("sparse.split", num_split, "num_split")
    at = _axis("sparse.split", sp, axis)
    if count < 1:
        raise ValueError(f"sparse.split: num_split must be at least 1, got {count}.")
    rank = _rank("sparse.split", sp)
    along = convert_to_tensor([int(i == at) for i in range(rank)], dtype=int64)
    size = sp.dense_shape[at]
    text = "sparse.split: num_split must not be larger than the axis"
    limit = convert_to_tensor(count, dtype=int64)
    require(comparison.less_equal, [limit, size], text, ("num_split", "size"))
    out, start = [], size * 0
    for i in range(count):
        length = (size - i + count - 1) // count
        sizes = sp.dense_shape * (1 - along) + along * length
        out.append(slice(sp, along * start, sizes))
        start = start + length
    return out


def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Rows without elements get the default value in their first place; and which rows these are.

    Args:
      sp_input: a `tf.SparseTensor`.
      default_value: a scalar of its dtype.

    Returns:
      A `tf.SparseTensor` with its rows in order (within a row elements stay in theirs), and a
      bool vector with an element for each row.

    Raises:
      TypeError: if `sp_input` is not sparse.
      ShapeError: if `default_value` is no scalar.

    >>> sp = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    >>> filled, empty = tf.sparse.fill_empty_rows(sp, 9)
    >>> filled.values.numpy(), empty.numpy()
    (array([5, 9, 6], dtype=int32), array([False,  True, False]))
    """
    sp = sparse("sparse.fill_empty_rows", sp_input, "sp_input")
    default = convert_to_tensor(default_value, dtype=sp.dtype)
    if default.shape.rank not in (None, 0):
        raise ShapeError(
            f"sparse.fill_empty_rows: default_value must be a scalar, got {default.shape}."
        )
    count = sp.dense_shape[0]
    row_of_each = sp.indices[:, 0]
    held = segments.unsorted_segment_sum(fill.ones_like(row_of_each), row_of_each, count)
    is_empty = comparison.equal(held, 0)
    rows = masks.boolean_mask(ranges.range(count, dtype=int64), is_empty)
    rank = _rank("sparse.fill_empty_rows", sp)
    first = shapes.expand_dims(rows, 1) * [1, *[0] * (rank - 1)]
    added = shapes.broadcast_to(default, shapes.shape(rows))
    by_row = order.argsort(joining.concat([row_of_each, rows], 0), stable=True)
    filled = SparseTensor._of(
        gathering.gather(joining.concat([sp.indices, first], 0), by_row),
        gathering.gather(joining.concat([sp.values, added], 0), by_row),
        sp.dense_shape,
    )
    return filled, is_empty
