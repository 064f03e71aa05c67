"""Tables whose content changes: `MutableHashTable` and `DenseHashTable`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._src.core.aliases import DTypeLike, IntLike, TensorLike
from weft._src.core.dtypes import as_dtype
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.lookup.base import LookupTable
from weft._src.lookup.buckets import laid_out
from weft._src.lookup.initializers import known_now
from weft._src.lookup.ops import insert_op, remove_op
from weft._src.lookup.tables import DenseTable, MutableTable, unique_name
from weft._src.ops.static import static_int


class _Mutable(LookupTable):
    """A table that keys are inserted into and removed from."""

    _default_value: EagerTensor

    def __getitem__(self, keys: TensorLike) -> Any:
        return self._find(keys, self._default_value, None)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Sets the values of keys, new ones or not; of equal keys the last one counts.

        Args:
          keys: keys of any shape.
          values: their values: the shape of the keys, with that of one value behind it.
          name: the name of the node in a graph.

        Raises:
          DTypeError: if keys or values have another dtype than those of the table.
          ShapeError: if the shapes do not go together.
        """
        given = self._converted("insert", "values", values, self.value_dtype)
        insert_op(self._handle, self._keys("insert", keys), given, name=name, **self._shapes())

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        keys, values = self.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Holds just the keys that a checkpoint kept."""
        keys, values = restored_tensors["table-keys"], restored_tensors["table-values"]
        self.remove(self.export()[0])
        self.insert(*self._real(keys, values))

    def _real(self, keys: Any, values: Any) -> tuple[Any, Any]:
        """Keys and values as they are inserted."""
        return keys, values

    def remove(self, keys: TensorLike, name: str | None = None) -> None:
        """Removes keys; those that are not there do not matter.

        Args:
          keys: keys of any shape.
          name: the name of the node in a graph.

        Raises:
          DTypeError: if the keys have another dtype than those of the table.
        """
        found = self._keys("remove", keys)
        remove_op(self._handle, found, key_shape=self._table.key_shape, name=name)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys, and their values: what `insert` takes.

        Args:
          name: the name of the node in a graph.

        Returns:
          Two tensors with a row for each key, in the order in which keys were first inserted.
        """
        return self._export(name)


class MutableHashTable(_Mutable):
    """A table from keys to values, which are scalars, or vectors if the default value is one.

    Functions that insert keys run one at a time; lookups of other threads do not wait for them.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [10, 20])
    >>> table.lookup(["b", "c"]).numpy()
    array([20, -1])
    >>> table.remove(["b"])
    >>> table.size().numpy()
    np.int64(1)
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str | None = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        dtype = as_dtype(value_dtype)
        self._default_value = known_now("MutableHashTable: default_value", default_value, dtype)
        shape = self._default_value._value.shape
        table = MutableTable(
            unique_name(name, "MutableHashTable"), as_dtype(key_dtype), dtype, (), shape
        )
        self._handle = EagerTensor(table)

    def lookup(
        self,
        keys: TensorLike,
        dynamic_default_values: TensorLike | None = None,
        name: str | None = None,
    ) -> Any:
        """The values of keys, the default value where a key is not there.

        Args:
          keys: keys of any shape; a ragged or sparse tensor of them, too.
          dynamic_default_values: what is taken in place of the table's default value: one value, or
            one for each key.
          name: the name of the node in a graph.

        Returns:
          A tensor of the shape of `keys`, with that of one value behind it; ragged or sparse if the
          keys are.

        Raises:
          DTypeError: if keys or defaults have another dtype than the table.
          ShapeError: if the defaults have another shape, or values that are vectors are looked up
            by sparse keys.
        """
        default: Any = self._default_value
        if dynamic_default_values is not None:
            what = "dynamic_default_values"
            default = self._converted("lookup", what, dynamic_default_values, self.value_dtype)
        return self._find(keys, default, name)


class DenseHashTable(_Mutable):
    """A table from keys to values, with two keys that are never used.

    In TensorFlow these mark free places; here they are refused, and nothing else. Keys are vectors
    if these two are, and values if the default value is one.

    >>> table = tf.lookup.experimental.DenseHashTable(
    ...     tf.int64, tf.string, default_value="?", empty_key=-1, deleted_key=-2
    ... )
    >>> table.insert([3, 4], ["three", "four"])
    >>> table[[4, 5]].numpy()
    array([b'four', b'?'], dtype=object)
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: IntLike | None = None,
        name: str | None = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        keys, values = as_dtype(key_dtype), as_dtype(value_dtype)
        check_buckets("DenseHashTable", initial_num_buckets)

        def given(what: str, value: TensorLike, dtype: DTypeLike) -> EagerTensor:
            return known_now(f"DenseHashTable: {what}", value, dtype)

        self._default_value = given("default_value", default_value, values)
        empty: Array = given("empty_key", empty_key, keys)._value
        deleted: Array = given("deleted_key", deleted_key, keys)._value
        shape = self._default_value._value.shape
        table = DenseTable(unique_name(name, "DenseHashTable"), values, shape, empty, deleted, keys)
        self._handle = EagerTensor(table)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """The values of keys, the default value where a key is not there.

        Args:
          keys: keys of any shape; a ragged or sparse tensor of them, too.
          name: the name of the node in a graph.

        Returns:
          A tensor of the shape of `keys`, without that of one key and with that of one value
          behind it; ragged or sparse if the keys are.

        Raises:
          DTypeError: if the keys have another dtype than those of the table.
          tf.errors.InvalidArgumentError: if the empty or the deleted key is among them.
        """
        return self._find(keys, self._default_value, name)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint keeps of it: TensorFlow takes the buckets as they are."""
        keys, values = self.export()
        table: Any = self._table
        found = laid_out(keys.numpy(), values.numpy(), table._reserved["empty_key"])
        return dict(zip(("table-keys", "table-values"), found, strict=True))

    def _real(self, keys: Any, values: Any) -> tuple[Any, Any]:
        """All buckets are saved, those without a key among them."""
        table: Any = self._table
        found = keys.numpy().reshape(-1, *table.key_shape)
        held = values.numpy().reshape(-1, *table.value_shape)
        rows = found.reshape(len(found), -1)
        keep = np.ones(len(found), bool)
        for reserved in table._reserved.values():
            keep &= (rows != reserved.reshape(-1)).any(1)
        return found[keep], held[keep]

    def insert_or_assign(
        self, keys: TensorLike, values: TensorLike, name: str | None = None
    ) -> None:
        """The same as `insert`.

        Args:
          keys: keys of any shape.
          values: their values.
          name: the name of the node in a graph.

        Raises:
          DTypeError: if keys or values have another dtype than those of the table.
          ShapeError: if the shapes do not go together.
          tf.errors.InvalidArgumentError: if the empty or the deleted key is among them.
        """
        self.insert(keys, values, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> None:
        """The same as `remove`.

        Args:
          keys: keys of any shape.
          name: the name of the node in a graph.

        Raises:
          DTypeError: if the keys have another dtype than those of the table.
          tf.errors.InvalidArgumentError: if the empty or the deleted key is among them.
        """
        self.remove(keys, name)


def check_buckets(op: str, count: IntLike | None) -> None:
    """Refuses numbers of buckets that TensorFlow refuses; they have no effect here."""
    if count is None:
        return
    number = static_int(op, count, "initial_num_buckets")
    if number < 4 or number & (number - 1):
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: initial_num_buckets must be a power of 2 and at least 4, got {number}.",
        )
