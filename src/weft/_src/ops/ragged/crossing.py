"""All combinations of the values in the same row of several tensors, as text or as hashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.convert import convert_to_tensor, items_of
from weft._src.core.dtypes import int32, int64, string, uint64
from weft._src.core.tensor import Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.ops import static
from weft._src.ops.arrays import bits
from weft._src.ops.elementwise import bitwise, casting
from weft._src.ops.indexing import gathering
from weft._src.ops.ragged import dense, rows
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings import joining as text_joining, number_text

_HASH_KEY = 0xDECAFCAFFE
_MULTIPLIER = 0xC6A4A7935BD1E995
_LARGEST = (1 << 63) - 1


def columns(op: str, inputs: Sequence[Any]) -> list[RaggedTensor]:
    """The arguments as ragged matrices of strings or int64, with equally many rows."""
    out = [_column(op, x, i) for i, x in enumerate(items_of(op, inputs, "inputs"))]
    for other in out[1:]:
        rows.check_count(out[0].row_splits, other.row_splits, op)
    return out


def _column(op: str, value: TensorLike, number: int) -> RaggedTensor:
    what = f"{op}: inputs[{number}]"
    x = value if isinstance(value, (RaggedTensor, SparseTensor)) else convert_to_tensor(value)
    if x.dtype not in (string, int32, int64):
        raise DTypeError(f"{what} must hold strings, int32 or int64, got {x.dtype.name}.")
    if x.shape.rank != 2:
        raise ShapeError(f"{what} must be a matrix, got shape {x.shape}.")
    if isinstance(x, SparseTensor):
        ids, count = x.indices[:, 0], x.dense_shape[0]
        x = RaggedTensor.from_value_rowids(x.values, ids, nrows=count)
    elif not isinstance(x, RaggedTensor):
        x = dense.from_tensor(x, None, None, 1, int64)
    elif x.flat_values.shape.rank != 1:
        raise ShapeError(f"{what} must be ragged along its last axis, got shape {x.shape}.")
    x = x.with_row_splits_dtype(int64)
    return x if x.dtype is string else x.with_values(casting.cast(x.values, int64))


def combinations(parts: Sequence[RaggedTensor]) -> tuple[Tensor, list[Tensor]]:
    """The splits of the results, and the values of each part that go together."""
    lengths = [rows.lengths(part.row_splits) for part in parts]
    count = lengths[0]
    for more in lengths[1:]:
        count = count * more
    splits = rows.from_lengths(count)
    ids = rows.rowids(splits)
    left = rows.columns(splits, ids)
    found: list[Tensor] = []
    for part, length in zip(reversed(parts), reversed(lengths), strict=True):
        size = gathering.gather(length, ids)
        places = gathering.gather(part.row_splits, ids) + left % size
        found.append(gathering.gather(part.values, places))
        left = left // size  # the last part changes fastest
    return splits, found[::-1]


def joined(parts: Sequence[RaggedTensor], separator: str) -> RaggedTensor:
    """Each combination as one text."""
    splits, found = combinations(parts)
    texts = [x if x.dtype is string else number_text.as_string(x) for x in found]
    return RaggedTensor._of(text_joining.join(texts, separator), splits)


def hashed(
    op: str, parts: Sequence[RaggedTensor], num_buckets: TensorLike, key: Any
) -> RaggedTensor:
    """Each combination as the number of a bucket (of all of int64 if there are 0)."""
    buckets = static.static_int(op, num_buckets, "num_buckets")
    if buckets < 0:
        raise ValueError(f"{op}: num_buckets must not be negative, got {buckets}.")
    start = _HASH_KEY if key is None else static.static_int(op, key, "hash_key")
    splits, found = combinations(parts)
    out: Any = _unsigned(start % (1 << 64))
    for x in found:
        hashes = bits.fingerprint(x) if x.dtype is string else x
        out = _mixed(out, bits.bitcast(hashes, uint64))
    out = out % _unsigned(buckets or _LARGEST)
    return RaggedTensor._of(casting.cast(out, int64), splits)


def _unsigned(number: int) -> Tensor:
    return convert_to_tensor(number, dtype=uint64)


def _mixed(a: Tensor, b: Tensor) -> Tensor:
    """Two 64-bit hashes made one, as TensorFlow does it."""
    multiplier = _unsigned(_MULTIPLIER)
    out = bitwise.bitwise_xor(a, multiplier)
    out = bitwise.bitwise_xor(out, _shifted(b * multiplier) * multiplier) * multiplier
    return _shifted(_shifted(out) * multiplier)


def _shifted(x: Tensor) -> Tensor:
    return bitwise.bitwise_xor(x, bitwise.right_shift(x, _unsigned(47)))


def cross(inputs: Sequence[Any], name: str | None = None) -> RaggedTensor:
    """All combinations of values in the same row of matrices, joined with `_X_`.

    Args:
      inputs: a list of matrices with equally many rows: ragged tensors, sparse tensors or tensors,
        of strings, int32 or int64. Integers become texts.

    Returns:
      A `tf.RaggedTensor` of strings, with int64 row splits; the last matrix changes fastest in a
      row.

    Raises:
      ValueError: if there are no inputs.
      DTypeError: if an input has another dtype.
      ShapeError: if an input is no matrix.
      InvalidArgumentError: if the numbers of rows differ.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]]).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    return crossed("ragged.cross", inputs, lambda parts: joined(parts, "_X_"))


def cross_hashed(
    inputs: Sequence[Any],
    num_buckets: TensorLike = 0,
    hash_key: TensorLike | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """All combinations of values in the same row of matrices, as hashes below `num_buckets`.

    Args:
      inputs: a list of matrices with equally many rows: ragged tensors, sparse tensors or tensors,
        of strings, int32 or int64.
      num_buckets: a Python integer; 0 means all hashes that int64 can hold.
      hash_key: an integer that the hashes start with; None means the same number as in TensorFlow.

    Returns:
      A `tf.RaggedTensor` of int64, with int64 row splits; the last matrix changes fastest in a row.

    Raises:
      ValueError: if there are no inputs, or `num_buckets` is negative.
      DTypeError: if an input has another dtype.
      ShapeError: if an input is no matrix.
      InvalidArgumentError: if the numbers of rows differ.

    >>> parts = [tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])]
    >>> tf.ragged.cross_hashed(parts, num_buckets=100).to_list()
    [[82], [61, 41]]
    """
    op = "ragged.cross_hashed"
    return crossed(op, inputs, lambda parts: hashed(op, parts, num_buckets, hash_key))


def crossed(op: str, inputs: Sequence[Any], combine: Callable[..., Any]) -> Any:
    """What `combine` makes of the arguments of one of the functions."""
    parts = columns(op, inputs)
    if not parts:
        raise ValueError(f"{op}: inputs must hold at least one tensor, got none.")
    return combine(parts)
