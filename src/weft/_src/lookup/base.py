"""What all tables have in common for users."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import TensorLike
from weft._src.core.composite import CompositeTensor
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.errors import DTypeError, ShapeError
from weft._src.lookup.ops import export_op, find_op, size_op
from weft._src.lookup.tables import Table
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.state.tracking import Trackable


class TrackableResource(Trackable):
    """An object that stands for state with a handle, such as a table.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    >>> isinstance(table, tf.saved_model.experimental.TrackableResource)
    True
    """


class LookupTable(TrackableResource):
    """Base of tables: a resource, which functions capture, with the dtypes of keys and values."""

    # Python would take `table[0]`, `table[1]` and so on for the items of a sequence.
    __iter__ = None

    _handle: EagerTensor

    @property
    def _table(self) -> Table:
        table: Table = self._handle._value
        return table

    @property
    def resource_handle(self) -> EagerTensor:
        """The table as a tensor of dtype `tf.resource`, for `tf.raw_ops`."""
        return self._handle

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._table.key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._table.value_dtype

    @property
    def name(self) -> str:
        """The name given to it, or one that no other table has."""
        return self._table.name

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys.

        Args:
          name: the name of the node in a graph.

        Returns:
          An int64 scalar.
        """
        return size_op(self._handle, name=name)

    def _shapes(self) -> dict[str, Any]:
        """The attributes of ops that take keys and values."""
        return {"key_shape": self._table.key_shape, "value_shape": self._table.value_shape}

    def _export(self, name: str | None) -> tuple[Tensor, Tensor]:
        keys, values = export_op(
            self._handle, key_dtype=self.key_dtype, value_dtype=self.value_dtype, name=name,
            **self._shapes(),
        )  # fmt: skip
        return keys, values

    def _keys(self, method: str, keys: TensorLike) -> Any:
        """Keys as a tensor, or as a ragged or sparse one, of the right dtype."""
        return self._converted(method, "keys", keys, self.key_dtype)

    def _converted(self, method: str, what: str, value: TensorLike, dtype: DType) -> Any:
        found = value if isinstance(value, CompositeTensor) else convert_to_tensor(
            value, None if isinstance(value, Tensor) else dtype
        )  # fmt: skip
        if found.dtype is not dtype:
            raise DTypeError(
                f"{type(self).__name__}.{method}: {what} must be {dtype.name} like those of the "
                f"table, got {found.dtype.name}."
            )
        return found

    def _find(self, keys: TensorLike, default: Tensor, name: str | None) -> Any:
        """The values of keys that may be ragged or sparse."""
        found = self._keys("lookup", keys)
        if isinstance(found, SparseTensor) and self._table.value_shape:
            raise ShapeError(
                f"{type(self).__name__}.lookup: values that are vectors cannot be elements of a "
                "sparse tensor. Look up `keys.values` instead."
            )
        return on_values(
            found, lambda flat: find_op(self._handle, flat, default, name=name, **self._shapes())
        )

    def __repr__(self) -> str:
        table = self._table
        return (
            f"<{type(self).__name__} {table.name!r} {table.key_dtype.name} -> "
            f"{table.value_dtype.name}, {len(table.content)} keys>"
        )


def on_values(keys: Any, look: Any) -> Any:
    """What is found for the elements of a tensor, a ragged or a sparse one, in their places."""
    if isinstance(keys, CompositeTensor):
        return keys.with_all_values(look(keys.all_values))
    return look(keys)
