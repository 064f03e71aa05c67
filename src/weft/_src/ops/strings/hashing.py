"""Strings to numbers of buckets: equal to TensorFlow's, and the same everywhere and always."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.aliases import TensorLike
from weft._src.core.dtypes import STRING, int64
from weft._src.core.tensor import Array, Tensor
from weft._src.ops import batching, rules, static
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, Absent, Op, args, define_op
from weft._src.ops.strings import packed
from weft._src.ops.strings.elements import as_array, string_tensor


def _buckets(x: Any, hashes: Callable[[Array], Array], num_buckets: int) -> Array:
    return (hashes(as_array(x)) % np.uint64(num_buckets)).astype(np.int64)


def _bucket_op(name: str, kernel: Callable[..., Any] | Absent) -> Op:
    return define_op(
        name,
        args("input", STRING),
        batch=batching.first_only,
        infer=rules.same_as(int64),
        kernel=kernel,
        native=NO_NATIVE,
        vjp=NOT_DIFFERENTIABLE,
        trusts_kernel=True,
        fresh=True,
        elementwise=True,
    )


def _count(op: str, num_buckets: TensorLike) -> int:
    count = static.static_int(op, num_buckets, "num_buckets")
    if not 1 <= count < 2**63:
        raise ValueError(f"{op}: num_buckets must be at least 1 and fit int64, got {count}.")
    return count


fast_op = _bucket_op(
    "StringToHashBucketFast",
    lambda xp, x, *, num_buckets: _buckets(x, packed.fingerprints, num_buckets),
)


def to_hash_bucket_fast(
    input: TensorLike, num_buckets: TensorLike, name: str | None = None
) -> Tensor:
    """The number of the bucket each string belongs to, by its FarmHash fingerprint.

    Args:
      input: a tensor of strings.
      num_buckets: the number of buckets, a Python integer of at least 1.

    Returns:
      An int64 tensor of the shape of `input`, with numbers from 0 to num_buckets - 1.

    Raises:
      ValueError: if `num_buckets` is out of range.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([0, 2, 2])
    """
    count = _count("to_hash_bucket_fast", num_buckets)
    return fast_op(string_tensor(input), num_buckets=count, name=name)


plain_op = _bucket_op(
    "StringToHashBucket",
    lambda xp, x, *, num_buckets: _buckets(x, packed.murmur, num_buckets),
)


def to_hash_bucket(input: TensorLike, num_buckets: TensorLike, name: str | None = None) -> Tensor:
    """The number of the bucket each string belongs to, by its MurmurHash.

    Args:
      input: a tensor of strings.
      num_buckets: the number of buckets, a Python integer of at least 1.

    Returns:
      An int64 tensor of the shape of `input`, with numbers from 0 to num_buckets - 1.

    Raises:
      ValueError: if `num_buckets` is out of range.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.to_hash_bucket(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([2, 0, 1])
    """
    count = _count("to_hash_bucket", num_buckets)
    return plain_op(string_tensor(input), num_buckets=count, name=name)


strong_op = _bucket_op(
    "StringToHashBucketStrong",
    lambda xp, x, *, num_buckets, key: _buckets(
        x, lambda strings: packed.siphash(strings, key), num_buckets
    ),
)


def to_hash_bucket_strong(
    input: TensorLike, num_buckets: TensorLike, key: TensorLike, name: str | None = None
) -> Tensor:
    """The number of the bucket each string belongs to, by its SipHash under a key of two ints.

    Without the key nobody can find strings that all fall into one bucket.

    Args:
      input: a tensor of strings.
      num_buckets: the number of buckets, a Python integer of at least 1.
      key: two integers, which are known while tracing.

    Returns:
      An int64 tensor of the shape of `input`, with numbers from 0 to num_buckets - 1.

    Raises:
      ValueError: if `num_buckets` is out of range, or the key is not two numbers.
      DTypeError: if `input` does not hold strings.

    >>> tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy()
    array([2, 0])
    """
    count = _count("to_hash_bucket_strong", num_buckets)
    pair = static.static_ints("to_hash_bucket_strong", key, "key")
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ValueError(f"to_hash_bucket_strong: key must be two integers, got {key!r}.")
    return strong_op(string_tensor(input), num_buckets=count, key=pair, name=name)
