"""Permutations, places in a flattened tensor, sequences turned around."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, INDEX, int32
from weft._src.core.native_rules import Special
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.core.xla_rules import Lowered
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import batching, graph_forms, rules
from weft._src.ops.arrays import joining
from weft._src.ops.registry import NOT_DIFFERENTIABLE, Op, args, define_op

# --- inverse permutation -----------------------------------------------------------------------


def _invert_infer(x: TensorSpec) -> TensorSpec:
    rules.check_rank("invert_permutation", x, 1)
    return x


def _invert_kernel(xp: ArrayNamespace, x: Array) -> Array:
    n = len(x)
    out = xp.full(n, -1, x.dtype)
    if not n or (x.min() >= 0 and x.max() < n):
        out[x] = xp.arange(n, dtype=x.dtype)
        if not n or out.min() >= 0:
            return out
    raise InvalidArgumentError(
        None,
        None,
        f"invert_permutation: x must hold each of 0 to {n - 1} once, got {x.tolist()[:20]}.",
    )


invert_op = define_op(
    "InvertPermutation",
    args("x", INDEX),
    infer=_invert_infer,
    kernel=_invert_kernel,
    native=Special("invert_permutation"),
    xla=Lowered("invert_permutation"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes another one.

    Args:
      x: an int32 or int64 vector with each of the numbers from 0 to its length - 1 once.

    Returns:
      A vector like `x`, so that `result[x[i]]` is i.

    Raises:
      InvalidArgumentError: if `x` is no permutation.
      ShapeError: if `x` is no vector.

    >>> tf.math.invert_permutation([2, 0, 1]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    return invert_op(convert_to_tensor(x, dtype_hint=int32), name=name)


# --- places in a flattened tensor --------------------------------------------------------------


def _unravel_infer(indices: TensorSpec, dims: TensorSpec) -> TensorSpec:
    rules.check_rank("unravel_index", dims, 1, name="dims")
    if indices.rank is not None and indices.rank > 1:
        raise ShapeError(
            f"unravel_index: indices must be a scalar or a vector, got shape {indices.shape}."
        )
    if indices.dims is None:
        return indices
    return indices.with_dims((Dim() if dims.dims is None else dims.dims[0], *indices.dims))


def _unravel_kernel(xp: ArrayNamespace, indices: Array, dims: Array) -> Array:
    sizes = tuple(dims.tolist())
    if any(size <= 0 for size in sizes):
        raise InvalidArgumentError(
            None, None, f"unravel_index: dims must be positive, got {list(sizes)}."
        )
    try:
        places = xp.unravel_index(indices, sizes)
    except ValueError:
        raise InvalidArgumentError(
            None, None, f"unravel_index: an index lies outside of a tensor of shape {list(sizes)}."
        ) from None
    return xp.reshape(xp.array(places, indices.dtype), (len(sizes), *indices.shape))


unravel_op = define_op(
    "UnravelIndex",
    args("indices dims", INDEX),
    infer=_unravel_infer,
    kernel=_unravel_kernel,
    native=Special("unravel_index"),
    xla=Lowered("unravel_index"),
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def unravel_index(indices: TensorLike, dims: Any, name: str | None = None) -> Tensor:
    """The indices along each axis of elements given by their number in row-major order.

    Args:
      indices: an int32 or int64 scalar or vector.
      dims: the shape of the tensor that is indexed, a vector of the same dtype.

    Returns:
      A tensor of shape [rank of the indexed tensor, *shape of indices], a column for each index.

    Raises:
      InvalidArgumentError: if an index is out of range, or a size is not positive.
      ShapeError: if `indices` has a rank above 1, or `dims` is no vector.

    >>> tf.unravel_index([2, 5, 7], [3, 3]).numpy()
    array([[0, 1, 2],
           [2, 2, 1]], dtype=int32)
    """
    places, sizes = joining.matching_tensors([indices, dims])
    return unravel_op(places, sizes, name=name)


# --- sequences turned around -------------------------------------------------------------------


def _reverse_infer(
    x: TensorSpec, lengths: TensorSpec, *, seq_axis: int, batch_axis: int
) -> TensorSpec:
    op = "reverse_sequence"
    rules.check_rank(op, lengths, 1, name="seq_lengths")
    if x.dims is None:
        return x
    seq = rules.normalize_axis(op, seq_axis, len(x.dims), name="seq_axis")
    batch = rules.normalize_axis(op, batch_axis, len(x.dims), name="batch_axis")
    if seq == batch:
        raise ShapeError(f"{op}: seq_axis and batch_axis must differ, both are {seq}.")
    if lengths.dims is not None:
        what = "the size of batch_axis and the number of seq_lengths"
        rules.unify(op, x.dims[batch], lengths.dims[0], what)
    return x


def _reverse_kernel(
    xp: ArrayNamespace, x: Array, lengths: Array, *, seq_axis: int, batch_axis: int
) -> Array:
    rows = xp.moveaxis(x, (batch_axis, seq_axis), (0, 1))
    size = rows.shape[1]
    if lengths.size and (lengths.min() < 0 or lengths.max() > size):
        raise InvalidArgumentError(
            None,
            None,
            f"reverse_sequence: seq_lengths must be between 0 and the size of seq_axis, {size}, "
            f"got {lengths.tolist()[:20]}.",
        )
    place, ends = xp.arange(size), lengths[:, None]
    source = xp.where(place < ends, ends - 1 - place, place)
    out = rows[xp.arange(len(rows))[:, None], source]
    return xp.moveaxis(out, (0, 1), (batch_axis, seq_axis))


reverse_sequence_op: Op = define_op(
    "ReverseSequence",
    args("input", DATA) + args("seq_lengths", INDEX),
    infer=_reverse_infer,
    kernel=_reverse_kernel,
    native=Special("reverse_sequence"),
    xla=Lowered("reverse_sequence"),
    vjp=lambda ctx, g: (reverse_sequence_op(g, ctx.inputs[1], **ctx.attrs), None),
    fresh=True,
    graphdef=graph_forms.as_op("ReverseSequence", seq_axis="seq_dim", batch_axis="batch_dim"),
    batch=batching.turned_sequences,
)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:
    """The first `seq_lengths[i]` elements along seq_axis turned around, for each i of batch_axis.

    Args:
      input: a tensor of rank 2 or more.
      seq_lengths: an int32 or int64 vector, as long as `batch_axis` and with numbers from 0 to the
        size of `seq_axis`.
      seq_axis: the axis that is turned around; it must be given.
      batch_axis: the axis along which the lengths apply; None means 0.

    Returns:
      A tensor of the shape and dtype of `input`.

    Raises:
      ValueError: if `seq_axis` is left out.
      InvalidArgumentError: if a length is negative or larger than the axis.
      ShapeError: if the axes are the same or out of range, or the number of lengths does not fit.

    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    if seq_axis is None:
        raise ValueError(
            "reverse_sequence: seq_axis must be given: the axis that is turned around."
        )
    return reverse_sequence_op(
        convert_to_tensor(input),
        convert_to_tensor(seq_lengths, dtype_hint=int32),
        seq_axis=joining.single_axis("reverse_sequence", seq_axis, "seq_axis"),
        batch_axis=joining.single_axis(
            "reverse_sequence", 0 if batch_axis is None else batch_axis, "batch_axis"
        ),
        name=name,
    )
