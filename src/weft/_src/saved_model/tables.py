"""Tables in a SavedModel: functions that make them anew, fill, save and restore them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import weft as tf
from weft._src.core.dtypes import int32, resource, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor
from weft._src.errors import UnsupportedError
from weft._src.graph.ir import Graph
from weft._src.lookup.initializers import TextFileInitializer
from weft._src.lookup.tables import DenseTable, MutableTable, StaticTable, Table
from weft._src.saved_model.exporting import Body, Functions, Written

_NUMBER = TensorSpec.of(int32, ())
_TEXT = TensorSpec.of(string, ())
_HANDLE = TensorSpec.of(resource, ())


def handle_of(value: Any) -> EagerTensor | None:
    """The handle of an object that is a table."""
    handle = getattr(value, "resource_handle", None)
    is_table = isinstance(handle, EagerTensor) and isinstance(handle._value, Table)
    return handle if is_table else None


@dataclass(frozen=True)
class Creation:
    """The op of TensorFlow's that makes a table."""

    op: str
    attrs: dict[str, Any]
    inputs: list[tuple[Array, Any]] = field(default_factory=list)  # arrays and their dtypes


def creation_of(table: Table, shared_name: str) -> Creation:
    """What makes a table of the same kind, empty."""
    attrs = {
        "shared_name": shared_name,
        "key_dtype": table.key_dtype,
        "value_dtype": table.value_dtype,
    }
    if isinstance(table, StaticTable):
        return Creation("HashTableV2", attrs)
    attrs["value_shape"] = list(table.value_shape)
    if isinstance(table, DenseTable):
        keys = [table._reserved[name] for name in ("empty_key", "deleted_key")]
        inputs = [(key, table.key_dtype) for key in keys]
        return Creation("MutableDenseHashTableV2", attrs, inputs)
    if not isinstance(table, MutableTable):
        raise UnsupportedError(f"tf.saved_model.save: {table!r} cannot be saved.")
    if table.value_shape:
        return Creation("MutableHashTableOfTensorsV2", attrs)
    del attrs["value_shape"]
    return Creation("MutableHashTableV2", attrs)


@dataclass(frozen=True)
class TableFunction:
    """A function that belongs to a table: its name, what it takes and gives, what it captures."""

    name: str
    takes: tuple[TensorSpec, ...]
    gives: Any
    captures: list[Any]


class TableFunctions:
    """Writes the functions of one table."""

    def __init__(self, functions: Functions, handle: EagerTensor, initializer: Any) -> None:
        self._functions, self._handle = functions, handle
        self.table: Table = handle._value
        # Old versions have no offset: such a table is filled with what the file holds now.
        file = isinstance(initializer, TextFileInitializer) and not initializer.form["offset"]
        self.initializer: TextFileInitializer | None = initializer if file else None
        self.creation = creation_of(self.table, functions.unique("table").strip("_"))

    def creator(self) -> TableFunction:
        """Makes the table."""
        body = self._body()
        inputs = [body.const(array, dtype) for array, dtype in self.creation.inputs]
        made = body.add(self.creation.op, *inputs, **self.creation.attrs)
        return self._finished(body, "creator", [made], _HANDLE, last=[body.nodes[-1].name])

    def initializer_function(self) -> TableFunction:
        """Fills it: a static one with its content, or from its file."""
        body = self._body()
        captures: list[Any] = []
        if not isinstance(self.table, StaticTable):
            return self._finished(body, "initializer", [body.const(0)], _NUMBER)
        if self.initializer is not None:
            path = body.argument("asset", _TEXT)
            table = body.argument("table_handle", _HANDLE)
            captures = [self.initializer.asset.asset_path, self._handle]
            op = "InitializeTableFromTextFileV2"
            form = {key: n for key, n in self.initializer.form.items() if key != "offset"}
            body.add(op, table, path, **form)
        else:
            table = body.argument("table_handle", _HANDLE)
            captures = [self._handle]
            keys, values = self.table.export()
            body.add(
                "LookupTableImportV2",
                table,
                body.const(keys, self.table.key_dtype),
                body.const(values, self.table.value_dtype),
            )
        last = [body.nodes[-1].name]
        return self._finished(
            body, "initializer", [body.const(1)], _NUMBER, captures=captures, last=last
        )

    def destroyer(self) -> TableFunction:
        """Nothing: a table goes with its handle."""
        body = self._body()
        return self._finished(body, "destroyer", [body.const(1)], _NUMBER)

    def save(self) -> TableFunction:
        """Gives keys and values, with the names they have in a checkpoint."""
        body = self._body()
        begin = body.argument("checkpoint_key", _TEXT)
        table = body.argument("table_handle", _HANDLE)
        kinds = {"Tkeys": self.table.key_dtype, "Tvalues": self.table.value_dtype}
        parts = body.add("LookupTableExportV2", table, **kinds)
        last = [body.nodes[-1].name]
        results: list[Written] = []
        gives: list[Any] = []
        for suffix, part in zip(("-keys", "-values"), parts, strict=True):
            name = body.add("StringJoin", [begin, body.const(suffix, string)])
            results += [name, body.const("", string), part]
            kind = TensorSpec.of(part.dtype, None)
            gives.append({"name": _TEXT, "slice_spec": _TEXT, "tensor": kind})
        takes = (tf.TensorSpec([], string, "checkpoint_key"),)
        return self._finished(
            body, "save_table", results, gives, takes=takes, captures=[self._handle], last=last
        )

    def restore(self) -> TableFunction:
        """Takes keys and values."""
        body = self._body()
        types = (self.table.key_dtype, self.table.value_dtype)
        takes = tuple(
            [tf.TensorSpec(None, dtype, f"restored_tensors_{i}") for i, dtype in enumerate(types)]
        )
        given = [body.argument(str(spec.name), TensorSpec.of(spec.dtype, None)) for spec in takes]
        table = body.argument("table_handle", _HANDLE)
        body.add("LookupTableImportV2", table, *given)
        last = [body.nodes[-1].name]
        return self._finished(
            body,
            "restore_table",
            [body.const(1)],
            _NUMBER,
            takes=takes,
            captures=[self._handle],
            last=last,
        )

    def _body(self) -> Body:
        return Body(self._functions, Graph("table"))

    def _finished(
        self,
        body: Body,
        name: str,
        results: Sequence[Written],
        gives: Any,
        *,
        takes: tuple[TensorSpec, ...] = (),
        captures: Sequence[Any] = (),
        last: Sequence[str] = (),
    ) -> TableFunction:
        unique = self._functions.unique(f"{name}_{self.table.name}")
        made = [body.add("Identity", x) for x in results]
        self._functions.definitions.append(body.finished(unique, made, lasting=last))
        return TableFunction(unique, takes, gives, list(captures))
