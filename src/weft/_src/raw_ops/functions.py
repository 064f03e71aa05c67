"""Raw ops whose results or arguments have another form than those of the public function."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import INDEX
from weft._src.errors import UnsupportedError
from weft._src.ops import rules
from weft._src.ops.indexing import slicing
from weft._src.ops.reduce.searching import Unique, UniqueWithCounts, unique_op
from weft._src.ops.static import static_int, static_ints, static_value
from weft._src.raw_ops.sparse import weights_of


def approximately_equal(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-5, name: str | None = None
) -> tf.Tensor:
    return tf.abs(tf.convert_to_tensor(x) - y) < tolerance


def bincount(
    arr: TensorLike, size: TensorLike, weights: TensorLike, name: str | None = None
) -> tf.Tensor:
    amounts, numbers = tf.convert_to_tensor(weights), tf.convert_to_tensor(arr)
    given = weights_of(amounts, numbers)
    return tf.math.bincount(
        numbers, given, minlength=size, maxlength=size, dtype=amounts.dtype, name=name
    )


def bucketize(input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> tf.Tensor:
    x = tf.convert_to_tensor(input)
    limits = tf.cast(tf.constant(boundaries, tf.float32, [len(boundaries)]), tf.float64)
    flat = tf.reshape(tf.cast(x, tf.float64), [-1])
    return tf.reshape(tf.searchsorted(limits, flat, side="right"), tf.shape(x))


def decode_csv(
    records: TensorLike,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] = (),
    name: str | None = None,
) -> Any:
    columns = list(select_cols) or None  # none named: all of them
    return tf.io.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, na_value, columns, name
    )


def eig(input: TensorLike, Tout: Any, compute_v: bool = True, name: str | None = None) -> Any:
    if not compute_v:
        return tf.cast(tf.linalg.eigvals(input), Tout), tf.zeros([], Tout)
    values, vectors = tf.linalg.eig(input)
    return tf.cast(values, Tout), tf.cast(vectors, Tout)


def eigh(input: TensorLike, compute_v: bool = True, name: str | None = None) -> Any:
    if not compute_v:
        values = tf.linalg.eigvalsh(input)
        return values, tf.zeros([], values.dtype)
    return tf.linalg.eigh(input)


def einsum(inputs: Any, equation: str, name: str | None = None) -> tf.Tensor:
    return tf.einsum(equation, *inputs)


def tridiagonal_matmul(
    superdiag: TensorLike,
    maindiag: TensorLike,
    subdiag: TensorLike,
    rhs: TensorLike,
    name: str | None = None,
) -> tf.Tensor:
    parts = [tf.squeeze(tf.convert_to_tensor(x), -2) for x in (superdiag, maindiag, subdiag)]
    return tf.linalg.tridiagonal_matmul(tf.stack(parts, -2), rhs)


def cross_entropy(features: TensorLike, labels: TensorLike, name: str | None = None) -> Any:
    """The losses, and their gradients by the features."""
    logits = tf.convert_to_tensor(features)
    target = tf.convert_to_tensor(labels, dtype_hint=logits.dtype)
    loss = tf.nn.softmax_cross_entropy_with_logits(target, logits)
    return loss, tf.nn.softmax(logits) - target


def sparse_cross_entropy(features: TensorLike, labels: TensorLike, name: str | None = None) -> Any:
    """The losses, and their gradients by the features."""
    logits = tf.convert_to_tensor(features)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    target = tf.one_hot(labels, tf.shape(logits)[-1], dtype=logits.dtype)
    return loss, tf.nn.softmax(logits) - target


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> tf.Tensor:
    x = tf.convert_to_tensor(x)
    whole = x.dtype.is_integer
    return tf.truncatediv(x, y, name=name) if whole else tf.divide(x, y, name=name)


def select(
    condition: TensorLike, x: TensorLike, y: TensorLike, name: str | None = None
) -> tf.Tensor:
    """A vector of conditions chooses rows."""
    condition, x = tf.convert_to_tensor(condition), tf.convert_to_tensor(x)
    ranks = (condition.shape.rank, x.shape.rank)
    if None in ranks or ranks[0] not in (0, ranks[1]):
        ones = tf.ones([tf.rank(x) - tf.rank(condition)], tf.int32)
        condition = tf.reshape(condition, tf.concat([tf.shape(condition), ones], 0))
    return tf.where(condition, x, y, name=name)


def unique(x: TensorLike, axis: Any, out_idx: Any, name: str | None = None) -> Any:
    return Unique(*_unique(x, axis, out_idx, name)[:2])


def unique_with_counts(x: TensorLike, axis: Any, out_idx: Any, name: str | None = None) -> Any:
    return UniqueWithCounts(*_unique(x, axis, out_idx, name))


def _unique(x: TensorLike, axis: Any, out_idx: Any, name: str | None) -> Any:
    """The axis is a vector of one number, or of none for a vector."""
    found = static_ints("UniqueV2", tf.cast(axis, tf.int64), "axis")
    numbers = (found,) if isinstance(found, int) else found
    if numbers is None or len(numbers) > 1:
        raise ValueError(f"UniqueV2: axis must hold one number at most, got {numbers}.")
    chosen = numbers[0] if numbers else None
    return unique_op(tf.convert_to_tensor(x), out_idx=tf.as_dtype(out_idx), axis=chosen, name=name)


# --- comparing -----------------------------------------------------------------------------------


def equal(
    x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None
) -> tf.Tensor:
    return _compared(tf.equal, x, y, incompatible_shape_error, name)


def not_equal(
    x: TensorLike, y: TensorLike, incompatible_shape_error: bool = True, name: str | None = None
) -> tf.Tensor:
    return _compared(tf.not_equal, x, y, incompatible_shape_error, name)


def _compared(function: Any, x: Any, y: Any, refuses: bool, name: str | None) -> tf.Tensor:
    """Tensors that cannot be broadcast are an error, or differ as a whole if that is wanted."""
    x = tf.convert_to_tensor(x, dtype_hint=getattr(y, "dtype", None))
    y = tf.convert_to_tensor(y, dtype_hint=x.dtype)
    if refuses:
        return function(x, y, name=name)
    try:
        tf.broadcast_static_shape(x.shape, y.shape)
    except tf.errors.ShapeError:
        return tf.constant(function is tf.not_equal)
    return function(x, y, name=name)


def set_difference(
    x: TensorLike, y: TensorLike, out_idx: Any = tf.int32, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """What is in one vector and not in another, and where."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y, dtype_hint=getattr(x, "dtype", None))
    known = [tf.get_static_value(x), tf.get_static_value(y)]
    are_axes = x.dtype in INDEX and x.dtype is y.dtype
    if are_axes and known[0] is not None and known[1] is not None:
        there = set(known[1].tolist())
        kept = [i for i, value in enumerate(known[0].tolist()) if value not in there]
        return tf.constant(known[0][kept], x.dtype), tf.constant(kept, out_idx, [len(kept)])
    values, numbers = tf.unique(tf.concat([y, x], 0))
    count = tf.size(y)
    given = tf.ones([count], tf.int32)
    hits = tf.scatter_nd(numbers[:count, tf.newaxis], given, tf.size(values)[tf.newaxis])
    places = tf.where(tf.equal(tf.gather(hits, numbers[count:]), 0))[:, 0]
    return tf.gather(x, places), tf.cast(places, out_idx)


# --- arrays --------------------------------------------------------------------------------------


def concat_offsets(
    concat_dim: TensorLike, shape: Sequence[TensorLike], name: str | None = None
) -> list[tf.Tensor]:
    """Where tensors of these shapes begin in what they are joined to."""
    axis = static_int("ConcatOffset", concat_dim, "concat_dim")
    shapes = [tf.convert_to_tensor(sizes, dtype_hint=tf.int32) for sizes in shape]
    out, start = [], tf.zeros([1], shapes[0].dtype)
    for sizes in shapes:
        zeros = tf.zeros_like(sizes)
        at = axis % sizes.shape[0] if axis < 0 else axis
        out.append(tf.concat([zeros[:at], start, zeros[at + 1 :]], 0))
        start += sizes[at : at + 1]
    return out


def updated_slice(
    input: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: Any,
    value: TensorLike,
    name: str | None = None,
    **masks: Any,
) -> tf.Tensor:
    x = tf.convert_to_tensor(input)
    index, dynamic = slicing.slice_entries(begin, end, strides, **masks)
    v = tf.convert_to_tensor(value, dtype_hint=x.dtype)
    sizes = tf.shape(x)
    wide = tf.broadcast_to(v, tf.shape(slicing.strided_slice_op(x, *dynamic, index=index)))
    put = slicing.strided_slice_grad_op(sizes, wide, *dynamic, index=index)
    ones = tf.ones(tf.shape(wide), tf.int32)
    there = slicing.strided_slice_grad_op(sizes, ones, *dynamic, index=index)
    return tf.where(there > 0, put, x, name=name)


def reversed_axes(tensor: TensorLike, dims: TensorLike, name: str | None = None) -> tf.Tensor:
    """The older form: a bool for each axis."""
    known = static_value(dims)
    if known is None:
        raise TypeError("Reverse: dims must be known while tracing.")
    return tf.reverse(tensor, [i for i, turned in enumerate(known.tolist()) if turned], name=name)


def volume_patches(
    input: TensorLike,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> tf.Tensor:
    """All elements of each window as channels: what windows have at each place, joined."""
    x = tf.convert_to_tensor(input)
    rules.check_rank("ExtractVolumePatches", x.spec, 5, name="input")
    if padding not in ("SAME", "VALID"):
        raise ValueError(
            f"ExtractVolumePatches: padding must be 'SAME' or 'VALID', got {padding!r}."
        )
    window, steps = [[int(n) for n in sizes[1:4]] for sizes in (ksizes, strides)]
    sizes = tf.shape(x)[1:4]
    if padding == "SAME":
        counts = -(-sizes // steps)
        missing = tf.maximum((counts - 1) * steps + window - sizes, 0)
        borders = tf.stack([missing // 2, missing - missing // 2], 1)
        none = tf.zeros([1, 2], tf.int32)
        x = tf.pad(x, tf.concat([none, borders, none], 0))
    else:
        counts = tf.maximum((sizes - window) // steps + 1, 0)
    ends = (counts - 1) * steps + 1
    parts = []
    for place in itertools.product(*[range(n) for n in window]):
        planes, rows, columns = [
            slice(at, at + ends[i], step)
            for i, (at, step) in enumerate(zip(place, steps, strict=True))
        ]
        parts.append(x[:, planes, rows, columns])
    return tf.concat(parts, -1, name=name or "concat")


def nth_element(
    input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None
) -> tf.Tensor:
    ordered = tf.sort(input, -1, "DESCENDING" if reverse else "ASCENDING")
    return tf.gather(ordered, n, axis=-1, name=name)


def approximate_top_k(
    input: TensorLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    name: str | None = None,
) -> Any:
    """The exact ones."""
    best = tf.math.approx_max_k if is_max_k else tf.math.approx_min_k
    return best(input, k, reduction_dimension, recall_target)


def singular_values(
    input: TensorLike, compute_uv: bool = True, full_matrices: bool = False, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    if compute_uv:
        s, u, v = tf.linalg.svd(input, full_matrices)
        return s, u, v
    s = tf.linalg.svd(input, compute_uv=False)
    return s, tf.zeros([0], s.dtype), tf.zeros([0], s.dtype)


def printed(
    input: TensorLike,
    data: Sequence[TensorLike],
    message: str = "",
    first_n: int = -1,
    summarize: int = 3,
    name: str | None = None,
) -> tf.Tensor:
    """The input; data is printed to the standard error stream."""
    if first_n >= 0:
        raise UnsupportedError(f"Print: first_n must be -1, every time; got {first_n}.")
    tf.print(message, *data, summarize=summarize, sep="")
    return tf.identity(input, name=name)
