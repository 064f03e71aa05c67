"""Norms, scaling to length one, and limiting the length of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import AxisLike, TensorLike
from weft._src.core.convert import adopt, convert_to_tensor
from weft._src.core.growing import GrowingList
from weft._src.core.tensor import Tensor
from weft._src.errors import UnsupportedError
from weft._src.ops import static
from weft._src.ops.arrays import fill, selection
from weft._src.ops.elementwise import arithmetic, casting, complex_parts, unary
from weft._src.ops.elementwise.operands import conj
from weft._src.ops.indexing.indexed_slices import IndexedSlices
from weft._src.ops.linalg import spectrum
from weft._src.ops.nn import losses
from weft._src.ops.reduce import extrema, sums

_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def _check_order(ord: Any, is_matrix: bool) -> None:
    if isinstance(ord, Tensor):
        raise UnsupportedError("norm: ord must be a Python number or a name, got a tensor.")
    if is_matrix:
        if ord not in _MATRIX_NORMS:
            allowed = ", ".join(map(str, _MATRIX_NORMS))
            raise ValueError(f"norm: ord of a matrix norm must be one of {allowed}, got {ord!r}.")
    elif ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
        raise ValueError(
            f"norm: ord of a vector norm must be 'euclidean' or a positive number, got {ord!r}. "
            "Other norms are for matrices: name their two axes with axis=(rows, columns)."
        )


def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of all elements, of vectors along an axis, or of matrices along two axes.

    Args:
      tensor: a tensor of floating or complex numbers.
      ord: "euclidean", or a positive number for vectors: 1, 2, np.inf or another; for matrices also
        "fro" (the same as "euclidean"), and only 1, 2 and np.inf of the numbers.
      axis: None for all elements as one vector, an axis for vectors, two different ones (rows,
        columns) for matrices.
      keepdims: whether the axes stay, with size 1; None means no.

    Returns:
      A tensor without these axes. Euclidean norms keep the dtype of `tensor`, complex ones too;
      others of complex numbers are real.

    Raises:
      ValueError: if there is no such norm, or `axis` names more than two.
      UnsupportedError: if `ord` is a tensor.

    >>> tf.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    >>> tf.norm([[3.0, -4.0], [1.0, 2.0]], ord=np.inf, axis=1).numpy()
    array([4., 2.], dtype=float32)
    """
    keepdims = bool(keepdims)
    try:
        along = static.static_ints("norm", axis, "axis")
    except static.UnknownWhileTracingError as unknown:
        return unknown.instead(
            "reduction", norm, convert_to_tensor(tensor), axis, keepdims, ord=ord
        )
    is_matrix = isinstance(along, tuple)
    if isinstance(along, tuple) and (len(along) != 2 or along[0] == along[1]):
        raise ValueError(f"norm: axis must be None, a number or two different ones, got {axis!r}.")
    _check_order(ord, is_matrix)
    x = convert_to_tensor(tensor)
    axes = sums.reduction_axes("norm", along)
    if ord in ("fro", "euclidean") or (ord == 2 and not is_matrix):
        squares = x * conj(x)
        return unary.sqrt_op(sums.sum_op(squares, axis=axes, keepdims=keepdims), name=name)
    if is_matrix and ord == 2:
        return spectrum.spectral_norm(x, axes, keepdims)
    size = unary.abs_op(x)
    if is_matrix:
        # The largest sum over columns (1), or over rows (inf).
        inner, outer = (axes or ())[:: 1 if ord == 1 else -1]
        size = sums.sum_op(size, axis=(inner,), keepdims=True)
        size = extrema.reduce_max(size, axis=outer, keepdims=True)
        return size if keepdims else _drop(size, axes)
    if ord == 1:
        return sums.sum_op(size, axis=axes, keepdims=keepdims, name=name)
    if ord == np.inf:
        return extrema.reduce_max(size, axis=along, keepdims=keepdims, name=name)
    total = sums.sum_op(arithmetic.pow(size, ord), axis=axes, keepdims=keepdims)
    return arithmetic.pow(total, 1.0 / ord, name=name)


def _drop(x: Tensor, axes: Any) -> Tensor:
    return sums.sum_op(x, axis=axes, keepdims=False)  # axes of size one: nothing is added


def normalize(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: AxisLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The tensor divided by its norm, and that norm.

    Args:
      tensor: a tensor of floating or complex numbers.
      ord: which norm, as for `tf.norm`.
      axis: None for all elements, an axis for vectors, two for matrices.

    Returns:
      A tensor of the shape and dtype of `tensor`, and the norm in this dtype, with size 1 along the
      axes.

    Raises:
      ValueError: if there is no such norm, or `axis` names more than two.

    >>> [t.numpy() for t in tf.linalg.normalize([3.0, 4.0])]
    [array([0.6, 0.8], dtype=float32), array([5.], dtype=float32)]
    """
    x = convert_to_tensor(tensor)
    length = casting.cast(norm(x, ord, axis, keepdims=True), x.dtype)
    return arithmetic.truediv(x, length, name=name), length


def l2_normalize(
    x: TensorLike,
    axis: AxisLike | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """x divided by its Euclidean norm along the axes; what is shorter than sqrt(epsilon) less.

    Args:
      x: a tensor of floating or complex numbers.
      axis: an axis or a list of axes; None means all.
      epsilon: the least square of the norm that is divided by.
      dim: the older name of `axis`; it counts if that is None.

    Returns:
      A tensor of the shape and dtype of `x`.

    >>> tf.math.l2_normalize([3.0, 4.0]).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    x = convert_to_tensor(x)
    axis = dim if axis is None else axis
    squares = unary.square_op(x)
    if x.dtype.is_complex:
        squares = unary.square_op(complex_parts.real(x)) + unary.square_op(complex_parts.imag(x))
    total = sums.reduce_sum(squares, axis, keepdims=True)
    scale = unary.rsqrt_op(arithmetic.maximum(total, epsilon))
    return arithmetic.multiply(x, casting.cast(scale, x.dtype), name=name)


# --- limiting length ---------------------------------------------------------------------------


def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None
) -> Any:
    """t, scaled down where its Euclidean norm (along the axes) is above `clip_norm`.

    Args:
      t: a tensor of floating numbers, or `tf.IndexedSlices`, of which the values are scaled.
      clip_norm: the largest norm, a positive scalar or what broadcasts with `t`.
      axes: an axis or a list of axes of which each vector is scaled on its own; None means all.

    Returns:
      A tensor (or `tf.IndexedSlices`) of the shape and dtype of `t`.

    >>> tf.clip_by_norm([3.0, 4.0], 2.5).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    if isinstance(t, IndexedSlices):
        return t.with_values(clip_by_norm(t.values, clip_norm, axes, name))
    t = convert_to_tensor(t)
    clip_norm = adopt(clip_norm, t.dtype)
    total = sums.reduce_sum(unary.square_op(t), axes, keepdims=True)
    # The gradient of a square root at 0 is infinite, so it is taken of 1 there.
    positive = total > 0
    root = unary.sqrt_op(selection.where(positive, total, fill.ones_like(total)))
    length = selection.where(positive, root, total)
    return arithmetic.truediv(t * clip_norm, arithmetic.maximum(length, clip_norm), name=name)


def _gradients(op: str, t_list: Sequence[Any]) -> list[Any]:
    """Tensors, IndexedSlices and None."""
    if isinstance(t_list, GrowingList):
        raise t_list.refusal(op)
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, Tensor)):
        raise TypeError(f"{op}: t_list must be a list of tensors, got {t_list!r}.")
    kept = (type(None), IndexedSlices)
    return [t if isinstance(t, kept) else convert_to_tensor(t) for t in t_list]


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all elements of several tensors; None is left out.

    Of `tf.IndexedSlices` the values count, also where rows occur twice.

    Args:
      t_list: a list of floating tensors of one dtype, `tf.IndexedSlices` and None.

    Returns:
      A scalar of this dtype; 0 in float32 if there are no tensors.

    Raises:
      TypeError: if `t_list` is no list.

    >>> tf.linalg.global_norm([tf.constant([3.0]), tf.constant([[4.0]])]).numpy()
    np.float32(5.0)
    """
    given = [t for t in _gradients("global_norm", t_list) if t is not None]
    halves = [losses.l2_loss(t.values if isinstance(t, IndexedSlices) else t) for t in given]
    if not halves:
        return convert_to_tensor(0.0)
    total = halves[0]
    for half in halves[1:]:
        total = total + half
    return unary.sqrt_op(total * 2, name=name or "global_norm")


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """The tensors, all scaled by one factor so that their joint norm is at most `clip_norm`.

    Args:
      t_list: a list of floating tensors, `tf.IndexedSlices` and None, such as gradients.
      clip_norm: the largest joint norm, a positive scalar.
      use_norm: the joint norm if it is known already; None means `tf.linalg.global_norm(t_list)`.

    Returns:
      The scaled tensors, a list in which None stays None, and the joint norm before that. If it is
      not finite, the tensors are NaN.

    Raises:
      TypeError: if `t_list` is no list.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 2.5)
    >>> [t.numpy() for t in clipped], norm.numpy()
    ([array([1.5], dtype=float32), array([2.], dtype=float32)], np.float32(5.0))
    """
    tensors = _gradients("clip_by_global_norm", t_list)
    length = convert_to_tensor(global_norm(tensors) if use_norm is None else use_norm)
    limit = adopt(clip_norm, length.dtype)
    scale = limit * arithmetic.minimum(1.0 / length, 1.0 / limit)
    # If a norm is infinite or NaN everything becomes NaN, so that the mistake is seen.
    scale = scale + (length - length)

    def scaled(t: Any) -> Any:
        if isinstance(t, IndexedSlices):
            return t.with_values(scaled(t.values))
        return None if t is None else t * casting.cast(scale, t.dtype)

    return [scaled(t) for t in tensors], length
