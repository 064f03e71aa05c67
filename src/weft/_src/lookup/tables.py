"""Tables as resources: what their handles hold. Ops call these methods."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._src.core.dtypes import DType, bool_, float32, float64, int32, int64, string
from weft._src.core.holding import ResourceLock, wait_for
from weft._src.core.resources import Resource
from weft._src.core.shapes import format_dims
from weft._src.core.tensor import Array
from weft._src.errors import (
    DTypeError,
    FailedPreconditionError,
    InvalidArgumentError,
    ShapeError,
    UnimplementedError,
)
from weft._src.lookup.content import Content, Shape

KEYS = frozenset({string, int32, int64})
VALUES = KEYS | {float32, float64, bool_}

_numbers = itertools.count()


class Table(Resource):
    """Keys of one dtype and shape, and their values of one dtype and shape."""

    __slots__ = ("content", "key_dtype", "key_shape", "name", "value_dtype", "value_shape")
    has_reserved_keys = False

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        key_shape: Shape = (),
        value_shape: Shape = (),
    ) -> None:
        for what, dtype, allowed in (("key", key_dtype, KEYS), ("value", value_dtype, VALUES)):
            if dtype not in allowed:
                listed = ", ".join(sorted([d.name for d in allowed]))
                raise DTypeError(f"{name}: {what}_dtype must be one of {listed}, got {dtype.name}.")
        for what, shape in (("a key", key_shape), ("a value", value_shape)):
            if len(shape) > 1:
                raise ShapeError(
                    f"{name}: {what} must be a scalar or a vector, got shape {format_dims(shape)}."
                )
        self.name = name
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = key_shape, value_shape
        self.content = Content(key_dtype, value_dtype, key_shape, value_shape)

    def find(self, keys: Array, default: Array) -> Array:
        """The values of keys, the default where they are not there."""
        self._check_dtype("keys", keys, self.key_dtype)
        self._check_dtype("default_value", default, self.value_dtype)
        flat, batch = self._flat(keys)
        if default.shape != self.value_shape:
            if default.shape != (*batch, *self.value_shape):
                one = format_dims(self.value_shape)
                raise ShapeError(
                    f"{self.name}: the default value must have shape {one}, or be one for each of "
                    f"the keys of {format_dims(keys.shape)}, got {format_dims(default.shape)}."
                )
            default = default.reshape(-1, *self.value_shape)
        out, missing = self.content.find(flat, default, self.has_reserved_keys)
        if self.has_reserved_keys:  # they are never there, so they are among these
            self._check_new(flat[missing])
        return out.reshape((*batch, *self.value_shape))

    def export(self) -> tuple[Array, Array]:
        """All keys, and their values."""
        return self.content.export()

    def initialize(self, keys: Array, values: Array) -> None:
        """Gives a table its content once and for all."""
        raise InvalidArgumentError(
            None, None, f"{self.name} is not to be initialised: insert keys and values instead."
        )

    def insert(self, keys: Array, values: Array) -> None:
        """Sets the values of keys."""
        raise self._fixed("insert")

    def remove(self, keys: Array) -> None:
        """Forgets keys."""
        raise self._fixed("remove")

    def replace(self, keys: Array, values: Array) -> None:
        """Sets keys and values in place of all that is there."""
        raise self._fixed("replace")

    # --- checks ------------------------------------------------------------------------------

    def _fixed(self, method: str) -> UnimplementedError:
        return UnimplementedError(
            None,
            None,
            f"{self.name} cannot {method} keys: its content is fixed when it is made. Use "
            "tf.lookup.experimental.MutableHashTable.",
        )

    def _check_new(self, keys: Array) -> None:
        """Refuses keys that cannot be in the table."""

    def _check_dtype(self, what: str, array: Array, wanted: DType) -> None:
        if array.dtype != wanted.numpy_dtype:
            got = "string" if array.dtype == object else array.dtype.name
            raise DTypeError(
                f"{self.name}: {what} must be {wanted.name} like those of the table, got {got}."
            )

    def _flat(self, keys: Array) -> tuple[Array, Shape]:
        """Keys one after the other, and the shape they had."""
        batch = keys.shape[: keys.ndim - len(self.key_shape)]
        if keys.shape != (*batch, *self.key_shape):
            raise ShapeError(
                f"{self.name}: a key has shape {format_dims(self.key_shape)}, and keys of shape "
                f"{format_dims(keys.shape)} do not end with it."
            )
        return keys.reshape(-1, *self.key_shape), batch

    def _pairs(self, keys: Array, values: Array) -> tuple[Array, Array]:
        """Keys and their values, one after the other."""
        self._check_dtype("keys", keys, self.key_dtype)
        self._check_dtype("values", values, self.value_dtype)
        flat, batch = self._flat(keys)
        wanted = (*batch, *self.value_shape)
        if values.shape != wanted:
            raise ShapeError(
                f"{self.name}: keys of shape {format_dims(keys.shape)} need values of shape "
                f"{format_dims(wanted)}, got shape {format_dims(values.shape)}."
            )
        return flat, values.reshape(-1, *self.value_shape)

    def __repr__(self) -> str:
        return f"<Table {self.name!r} {self.key_dtype.name} -> {self.value_dtype.name}>"


class StaticTable(Table):
    """A table that gets its content once."""

    __slots__ = ("_initialized",)

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType) -> None:
        super().__init__(name, key_dtype, value_dtype)
        self._initialized = False

    def find(self, keys: Array, default: Array) -> Array:
        self._check_initialized()
        return super().find(keys, default)

    def export(self) -> tuple[Array, Array]:
        self._check_initialized()
        return super().export()

    def initialize(self, keys: Array, values: Array) -> None:
        content = Content(self.key_dtype, self.value_dtype, fixed=True)
        flat, flat_values = self._pairs(keys, values)
        content.insert(flat, flat_values)
        if len(content) < len(flat):
            self._check_repeated(flat, flat_values)
        if not self._initialized:
            self.content, self._initialized = content, True
        elif not _are_same(content, self.content):
            raise FailedPreconditionError(
                None, None, f"{self.name} was initialised before, with another content."
            )

    replace = initialize

    def _check_initialized(self) -> None:
        if not self._initialized:
            raise FailedPreconditionError(
                None, None, f"{self.name} is used before it was initialised."
            )

    def _check_repeated(self, keys: Array, values: Array) -> None:
        """A key may come twice if its value is the same."""
        first: dict[Any, Any] = {}
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            known = first.setdefault(key, value)
            if known is not value and known != value:
                raise FailedPreconditionError(
                    None,
                    None,
                    f"{self.name}: the key {key!r} is there with two values, {known!r} and "
                    f"{value!r}.",
                )


def _are_same(a: Content, b: Content) -> bool:
    keys, values = a.export()
    other_keys, other_values = b.export()
    return np.array_equal(keys, other_keys) and np.array_equal(values, other_values)


class MutableTable(Table):
    """A table whose content changes. Its lock is held for whole calls of functions that write it.

    Reads do not wait for that lock: each sees the content between two writes.
    """

    __slots__ = ("lock",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lock = ResourceLock(f"the table {self.name!r}")

    def insert(self, keys: Array, values: Array) -> None:
        pairs = self._pairs(keys, values)
        self._check_new(pairs[0])
        self._locked(self.content.insert, *pairs)

    def replace(self, keys: Array, values: Array) -> None:
        pairs = self._pairs(keys, values)
        self._check_new(pairs[0])
        self._locked(self.content.replace, *pairs)

    def remove(self, keys: Array) -> None:
        self._check_dtype("keys", keys, self.key_dtype)
        flat, _ = self._flat(keys)
        self._check_new(flat)
        self._locked(self.content.remove, flat)

    def _locked(self, write: Callable[..., None], *arrays: Array) -> None:
        lock = self.lock
        if not lock.acquire(False):
            wait_for(lock)
        try:
            write(*arrays)
        finally:
            lock.release()


class DenseTable(MutableTable):
    """A table with two keys that nobody may use."""

    __slots__ = ("_reserved",)
    has_reserved_keys = True

    def __init__(
        self,
        name: str,
        value_dtype: DType,
        value_shape: Shape,
        empty_key: Array,
        deleted_key: Array,
        key_dtype: DType,
    ) -> None:
        if empty_key.shape != deleted_key.shape:
            raise ShapeError(
                f"{name}: empty_key and deleted_key must have one shape, got "
                f"{format_dims(empty_key.shape)} and {format_dims(deleted_key.shape)}."
            )
        if np.array_equal(empty_key, deleted_key):
            raise InvalidArgumentError(
                None, None, f"{name}: empty_key and deleted_key must differ, both are {empty_key}."
            )
        super().__init__(name, key_dtype, value_dtype, empty_key.shape, value_shape)
        self._reserved = {"empty_key": empty_key, "deleted_key": deleted_key}

    def replace(self, keys: Array, values: Array) -> None:
        """What TensorFlow has exported holds its empty buckets, too: they are left out.

        There, keys and values are vectors also where they are scalars in the table.
        """
        if not self.key_shape and keys.ndim == 2 and keys.shape[1] == 1:
            keys = keys[:, 0]
        if not self.value_shape and values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        flat, flat_values = self._pairs(keys, values)
        reserved = [self._are(flat, key) for key in self._reserved.values()]
        kept = ~np.logical_or(*reserved)
        self._locked(self.content.replace, flat[kept], flat_values[kept])

    @staticmethod
    def _are(keys: Array, key: Array) -> Array:
        """Which of the keys are that one."""
        return np.asarray((keys == key).all(axis=tuple(range(1, keys.ndim))))

    def _check_new(self, keys: Array) -> None:
        for what, key in self._reserved.items():
            if self._are(keys, key).any():
                raise InvalidArgumentError(
                    None,
                    None,
                    f"{self.name}: the {what}, {key.tolist()!r}, must not be among the keys.",
                )


def unique_name(given: str | None, kind: str) -> str:
    """The name of a table: the one given, or one that no other table has."""
    return given if given is not None else f"{kind}_{next(_numbers)}"
