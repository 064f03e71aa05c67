"""Raw ops whose results or arguments have another form than those of the public function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as tf
from weft._src.core.aliases import TensorLike
from weft._src.ops.reduce.searching import Unique, UniqueWithCounts, unique_op
from weft._src.ops.static import static_ints


def approximately_equal(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-5, name: str | None = None
) -> tf.Tensor:
    return tf.abs(tf.convert_to_tensor(x) - y) < tolerance


def bincount(
    arr: TensorLike, size: TensorLike, weights: TensorLike, name: str | None = None
) -> tf.Tensor:
    amounts = tf.convert_to_tensor(weights)
    given = None if amounts.shape == (0,) else amounts
    return tf.math.bincount(
        arr, given, minlength=size, maxlength=size, dtype=amounts.dtype, name=name
    )


def bucketize(input: TensorLike, boundaries: TensorLike, name: str | None = None) -> tf.Tensor:
    x = tf.convert_to_tensor(input)
    limits = tf.constant(boundaries, tf.float32)
    flat = tf.reshape(tf.cast(x, tf.float32), [-1])
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
    for _ in range(x.ndim - 1 if condition.ndim == 1 else 0):
        condition = condition[..., tf.newaxis]
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
