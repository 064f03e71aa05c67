"""Lookup tables whose content is that of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core import dtypes
from weft._src.core.aliases import DTypeLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32, int64, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.data.core.base import DatasetBase, check_dataset
from weft._src.lookup.initializers import KeyValueTensorInitializer
from weft._src.lookup.static import StaticHashTable, StaticVocabularyTable


def _elements(op: str, dataset: Any, most: int | None) -> list[Any]:
    """The elements of a dataset, at most so many."""
    found: list[Any] = []
    for element in check_dataset(op, "dataset", dataset):
        if most is not None and len(found) >= most:
            break
        found.append(element)
    return found


def _checked(op: str, num_oov_buckets: int, vocab_size: int | None, key_dtype: DTypeLike) -> DType:
    if not isinstance(num_oov_buckets, int) or num_oov_buckets < 0:
        raise ValueError(f"{op}: num_oov_buckets must not be negative, got {num_oov_buckets!r}.")
    if vocab_size is not None and (not isinstance(vocab_size, int) or vocab_size < 1):
        raise ValueError(f"{op}: vocab_size must be positive, got {vocab_size!r}.")
    found = dtypes.as_dtype(key_dtype)
    if found not in (string, int32, int64):
        raise TypeError(f"{op}: key_dtype must be string, int32 or int64, got {found.name}.")
    return found


def _column(values: list[Any], dtype: DType) -> Tensor:
    array = np.array([value.numpy() for value in values], object if dtype is string else None)
    return convert_to_tensor(array, dtype=dtype)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: Any = None,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> Any:
    """A table from the elements of a dataset to their numbers.

    Args:
      dataset: a dataset of keys, scalars.
      num_oov_buckets: how many buckets there are for other keys.
      vocab_size: how many elements are taken at most; None means all.
      default_value: what other keys give if there are no buckets.
      hasher_spec: accepted for compatibility: other keys belong to buckets by the fast hash.
      key_dtype: the dtype of keys: string, int32 or int64.
      name: the name of the table.

    Returns:
      A `tf.lookup.StaticHashTable`, or a `tf.lookup.StaticVocabularyTable` if there are buckets.

    Raises:
      ValueError: if a number is out of range.
      TypeError: if the keys have another dtype.

    >>> words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([ 1, -1])
    """
    op = "index_table_from_dataset"
    kind = _checked(op, num_oov_buckets, vocab_size, key_dtype)
    spec = check_dataset(op, "dataset", dataset).element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not kind:
        raise TypeError(f"{op}: dataset must hold keys of {kind.name}, it holds {spec!r}.")
    keys = _elements(op, dataset, vocab_size)
    numbers = convert_to_tensor(np.arange(len(keys), dtype=np.int64))
    return _table(_column(keys, kind), numbers, num_oov_buckets, default_value, name)


class DatasetInitializer(KeyValueTensorInitializer):
    """Keys and values out of a dataset of pairs, for static tables.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    >>> init = tf.data.experimental.DatasetInitializer(pairs)
    >>> tf.lookup.StaticHashTable(init, default_value=-1)[["b", "c"]].numpy()
    array([ 2, -1], dtype=int32)
    """

    def __init__(self, dataset: DatasetBase) -> None:
        op = "DatasetInitializer"
        spec = check_dataset(op, "dataset", dataset).element_spec
        if not isinstance(spec, tuple) or len(spec) != 2:
            raise ValueError(f"{op}: dataset must hold pairs of a key and a value, got {spec!r}.")
        self.dataset = dataset
        pairs = _elements(op, dataset, None)
        columns = zip(*pairs, strict=True) if pairs else ((), ())
        keys, values = [
            _column(list(column), part.dtype) for column, part in zip(columns, spec, strict=True)
        ]
        super().__init__(keys, values)


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike | None = None,
    hasher_spec: Any = None,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> Any:
    """A table with the pairs of a dataset.

    Args:
      dataset: a dataset of pairs (key, value), scalars.
      num_oov_buckets: how many buckets there are for other keys; values must be int64 then.
      vocab_size: how many pairs are taken at most; None means all.
      default_value: what other keys give if there are no buckets.
      hasher_spec: accepted for compatibility: other keys belong to buckets by the fast hash.
      key_dtype: the dtype of keys: string, int32 or int64.
      name: the name of the table.

    Returns:
      A `tf.lookup.StaticHashTable`, or a `tf.lookup.StaticVocabularyTable` if there are buckets.

    Raises:
      ValueError: if a number is out of range, or neither buckets nor a default are given.
      TypeError: if the dataset holds something else.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [1.5, 2.5]))
    >>> table = tf.data.experimental.table_from_dataset(pairs, default_value=0.0)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([2.5, 0. ], dtype=float32)
    """
    op = "table_from_dataset"
    kind = _checked(op, num_oov_buckets, vocab_size, key_dtype)
    spec = check_dataset(op, "dataset", dataset).element_spec
    parts = spec if isinstance(spec, tuple) else ()
    is_pair = len(parts) == 2 and all(isinstance(part, TensorSpec) for part in parts)
    if not is_pair or parts[0].dtype is not kind:
        raise TypeError(
            f"{op}: dataset must hold pairs of a key of {kind.name} and a value, it holds {spec!r}."
        )
    if default_value is None and not num_oov_buckets:
        raise ValueError(f"{op}: num_oov_buckets or default_value must be given.")
    pairs = _elements(op, dataset, vocab_size)
    keys = _column([key for key, _ in pairs], kind)
    values = _column([value for _, value in pairs], parts[1].dtype)
    return _table(keys, values, num_oov_buckets, default_value, name)


def _table(
    keys: Tensor, values: Tensor, buckets: int, default: TensorLike | None, name: str | None
) -> Any:
    initializer = KeyValueTensorInitializer(keys, values)
    if buckets:
        return StaticVocabularyTable(initializer, buckets, name=name)
    assert default is not None, "without buckets a default was asked for"
    return StaticHashTable(initializer, default, name=name)
