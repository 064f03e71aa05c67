"""Tables with a fixed content: `StaticHashTable` and `StaticVocabularyTable`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import DTypeLike, IntLike, TensorLike
from weft._src.core.context import init_scope
from weft._src.core.dtypes import DType, as_dtype, int64, string
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.lookup.base import LookupTable, on_values
from weft._src.lookup.initializers import known_now
from weft._src.lookup.ops import vocabulary_op
from weft._src.lookup.tables import StaticTable, unique_name
from weft._src.ops.elementwise.casting import cast
from weft._src.ops.static import static_int
from weft._src.state.tracking import Trackable


class _Static(LookupTable):
    """A table that an initializer has given its content."""

    _initializer: Any

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What reads a file leads to that file."""
        return {"_initializer": self._initializer}

    def _make(self, initializer: Any, name: str) -> None:
        for what in ("key_dtype", "value_dtype", "initialize"):
            if not hasattr(initializer, what):
                raise TypeError(
                    f"{type(self).__name__}: initializer must be one of tf.lookup, such as "
                    f"KeyValueTensorInitializer, got {initializer!r}."
                )
        table = StaticTable(
            name, as_dtype(initializer.key_dtype), as_dtype(initializer.value_dtype)
        )
        with init_scope():
            self._handle = EagerTensor(table)
            initializer.initialize(self)
        self._initializer = initializer if isinstance(initializer, Trackable) else None


class StaticHashTable(_Static):
    """A table from keys to values whose content does not change.

    It can be used in functions, branches, loops and `Dataset.map`.

    >>> table = tf.lookup.StaticHashTable(
    ...     tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [7, 8, 9]), default_value=-1
    ... )
    >>> table.lookup(tf.constant([["a", "q"], ["c", "c"]])).numpy()
    array([[ 7, -1],
           [ 9,  9]], dtype=int32)
    """

    def __init__(
        self,
        initializer: Any,
        default_value: TensorLike,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self._make(initializer, unique_name(name, "hash_table"))
        what = "StaticHashTable: default_value"
        self._default_value = known_now(what, default_value, self.value_dtype)
        if self._default_value.shape.rank != 0:
            raise ShapeError(f"{what} must be a scalar, got shape {self._default_value.shape}.")

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not there, a scalar."""
        return self._default_value

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """The values of keys, the default value where a key is not there.

        Args:
          keys: keys of any shape; a ragged or sparse tensor of them, too.
          name: the name of the node in a graph.

        Returns:
          A tensor of the shape of `keys`, ragged or sparse if they are.

        Raises:
          DTypeError: if the keys have another dtype than those of the table.
        """
        return self._find(keys, self._default_value, name)

    def __getitem__(self, keys: TensorLike) -> Any:
        return self.lookup(keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and their values.

        Args:
          name: the name of the node in a graph.

        Returns:
          Two vectors, in the order in which the keys were given.
        """
        return self._export(name)


class _Nothing:
    """What initializes a table without keys."""

    value_dtype = int64

    def __init__(self, key_dtype: DType) -> None:
        self.key_dtype = key_dtype

    def initialize(self, table: StaticVocabularyTable) -> None:
        """Nothing is there, which is a content too."""
        nothing = np.empty(0, self.key_dtype.numpy_dtype), np.empty(0, np.int64)
        table.resource_handle._value.initialize(*nothing)


class StaticVocabularyTable(_Static):
    """A table from words to ids, in which each other word belongs to one of some buckets.

    Buckets have the ids behind the number of words of the vocabulary; that of a word is its
    `tf.strings.to_hash_bucket_fast`, that of a number the one of its digits.

    >>> init = tf.lookup.KeyValueTensorInitializer(
    ...     ["emerson", "lake"], tf.constant([0, 1], tf.int64)
    ... )
    >>> table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=3)
    >>> table.lookup(tf.constant(["lake", "palmer", "king"])).numpy()
    array([1, 2, 3])
    """

    _lookup_key_dtype: DType | None = None

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: IntLike,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        op = "StaticVocabularyTable"
        self._buckets = static_int(op, num_oov_buckets, "num_oov_buckets")
        if not 1 <= self._buckets < 2**63:
            raise ValueError(
                f"{op}: num_oov_buckets must be at least 1, got {self._buckets}. Without buckets "
                "use tf.lookup.StaticHashTable."
            )
        wanted = None if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        if initializer is None:
            is_integer = wanted is not None and wanted.is_integer
            initializer = _Nothing(int64 if is_integer else string)
        self._make(initializer, unique_name(name, "vocabulary"))
        own, ids = self._table.key_dtype, self._table.value_dtype
        if ids is not int64:
            raise DTypeError(f"{op}: ids must be int64, got {ids.name}.")
        if own not in (int64, string):
            raise DTypeError(f"{op}: keys must be int64 or string, got {own.name}.")
        if wanted not in (None, own) and not (own is int64 and wanted.is_integer):
            raise DTypeError(
                f"{op}: lookup_key_dtype {wanted.name} does not go with a table of {own.name} keys."
            )
        self._lookup_key_dtype = wanted

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys that are looked up."""
        return self._lookup_key_dtype or self._table.key_dtype

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """The ids of words, that of a bucket for words that are not in the vocabulary.

        Args:
          keys: words of any shape; a ragged or sparse tensor of them, too.
          name: the name of the node in a graph.

        Returns:
          An int64 tensor of the shape of `keys`, ragged or sparse if they are.

        Raises:
          DTypeError: if the keys are not of `key_dtype`.
        """
        found, own = self._keys("lookup", keys), self._table.key_dtype
        return on_values(
            found,
            lambda flat: vocabulary_op(
                self._handle, cast(flat, own), num_oov_buckets=self._buckets, name=name
            ),
        )

    def __getitem__(self, keys: TensorLike) -> Any:
        return self.lookup(keys)

    def size(self, name: str | None = None) -> Tensor:
        """The number of words and buckets.

        Args:
          name: the name of the node in a graph.

        Returns:
          An int64 scalar.
        """
        return super().size(name) + self._buckets
