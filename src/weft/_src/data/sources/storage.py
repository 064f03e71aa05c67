"""Elements in files: TFRecord files in which each record is an element, as serialized tensors."""

from __future__ import annotations

import json
import os
import weakref
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.specs import NoneTensorSpec, TensorSpec
from weft._src.data.core.stage import UNKNOWN, Cursor, Run, Stage
from weft._src.data.core.structure import Values, eager_tensor
from weft._src.errors import DataLossError, InvalidArgumentError, ParseError
from weft._src.fileio.paths import file_errors
from weft._src.fileio.records import RecordReader, TFRecordOptions, TFRecordWriter
from weft._src.fileio.tensors import to_message
from weft._src.graph.tensor_proto import array_of
from weft._src.messages.tensors import Element


def exists(path: str) -> bool:
    """Whether there is such a file."""
    return os.path.exists(path)


def serialized(values: Values) -> bytes:
    """An element as bytes."""
    arrays = [eager_tensor(value)._value for value in values]
    return Element(tensor=[to_message(array) for array in arrays]).SerializeToString()


def parsed(data: bytes, specs: Sequence[TensorSpec], path: str) -> Values:
    """The element that bytes hold; DataLossError if it is not of the type expected."""
    try:
        values = tuple([array_of(tensor) for tensor in Element.FromString(data).tensor])
    except ParseError as error:
        raise DataLossError(None, None, f"{path} holds something else: {error}") from error
    if len(values) != len(specs):
        raise InvalidArgumentError(
            None,
            None,
            f"{path}: elements of {len(specs)} tensors are expected, one has {len(values)}.",
        )
    for value, spec in zip(values, specs, strict=True):
        check_fits(value, spec, path)
    return values


def check_fits(value: Any, spec: TensorSpec, path: str) -> None:
    """InvalidArgumentError if an array of a file is not of the type expected."""
    found = dtypes.from_numpy(value.dtype)
    if found is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"{path}: {spec.words} is expected, {found.name} of shape {value.shape} is there.",
        )


class ElementWriter:
    """Writes elements to a file beside, which takes its name when it is complete."""

    def __init__(
        self,
        path: str,
        compression: str = "",
        records: Callable[[Values], Sequence[bytes]] = lambda values: [serialized(values)],
    ) -> None:
        self._path = path
        self._records = records
        self._unfinished = f"{path}.{os.getpid()}.{id(self):x}.unfinished"
        with file_errors("Dataset", path):
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        options = TFRecordOptions(compression_type=compression)
        self._writer = TFRecordWriter(self._unfinished, options)
        self._finalizer = weakref.finalize(self, _remove, self._writer, self._unfinished)

    def write(self, values: Values) -> None:
        """Adds an element."""
        for record in self._records(values):
            self._writer.write(record)

    def finish(self) -> None:
        """The file is complete."""
        self._writer.close()
        with file_errors("Dataset", self._path):
            os.replace(self._unfinished, self._path)
        self._finalizer.detach()

    def abandon(self) -> None:
        """The file is given up."""
        self._finalizer()


def _remove(writer: TFRecordWriter, path: str) -> None:
    writer.close()
    if os.path.exists(path):
        os.remove(path)


class FileStage(Stage):
    """The elements in files."""

    __slots__ = ("compression", "count", "paths", "specs")

    def __init__(
        self, paths: Sequence[str], specs: Sequence[TensorSpec], compression: str = "",
        count: int = UNKNOWN,
    ) -> None:  # fmt: skip
        self.paths, self.specs, self.compression = tuple(paths), tuple(specs), compression
        self.count = count

    def cursor(self, run: Run) -> Cursor:
        return FileCursor(self.paths, self.specs, self.compression)

    def cardinality(self) -> int:
        return self.count


class FileCursor(Cursor):
    """A walk through the elements in files."""

    def __init__(
        self, paths: Sequence[str], specs: Sequence[TensorSpec], compression: str = ""
    ) -> None:
        self._paths, self._specs, self._compression = paths, specs, compression
        self._file = 0
        self._reader: RecordReader | None = None

    def __next__(self) -> Values:
        while self._file < len(self._paths):
            path = self._paths[self._file]
            if self._reader is None:
                self._reader = RecordReader(path, self._compression)
            element = self._element(self._reader, path)
            if element is not None:
                return element
            self._reader.close()
            self._reader = None
            self._file += 1
        raise StopIteration

    def _element(self, reader: RecordReader, path: str) -> Values | None:
        """The next element of a file; None at its end."""
        record = reader.read()
        return None if record is None else parsed(record, self._specs, path)

    def save(self) -> dict[str, Any]:
        return {"file": self._file, "position": self._reader.position if self._reader else 0}

    def restore(self, state: dict[str, Any]) -> None:
        if "file" not in state:  # saved while the elements were made
            for _ in range(state["_at"]):
                next(self)
            return
        self.close()
        self._file = state["file"]
        if state["position"]:
            path = self._paths[self._file]
            self._reader = RecordReader(path, self._compression, state["position"])

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


# --- the type of elements as text, as Weft 0.1 saved datasets ------------------------------------


def spec_from_json(data: bytes, path: str) -> tuple[Any, int]:
    """The nest of tensor specs that a file describes, and the number of elements.

    DataLossError if it describes something else.
    """
    try:
        found = json.loads(data)
        spec, count = _built(found["element_spec"]), found["count"]
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"the number of elements is {count!r}")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise DataLossError(
            None, None, f"{path} does not describe a saved dataset: {type(error).__name__}: {error}"
        ) from error
    return spec, count


def _built(described: Any) -> Any:
    ((kind, content),) = described.items()
    if kind == "tensor":
        dtype, shape = content
        return TensorSpec(shape, dtype)
    if kind == "none":
        return NoneTensorSpec()
    if kind == "dict":
        return {key: _built(value) for key, value in content}
    if kind == "namedtuple":
        name, names, parts = content
        made: Any = namedtuple(name, names)  # type: ignore[misc]  # noqa: PYI024
        return made(*[_built(part) for part in parts])
    if kind == "tuple":
        return tuple([_built(part) for part in content])
    raise ValueError(f"{kind!r} is no kind of structure")
