"""Datasets of files: `TextLineDataset`, `TFRecordDataset`, `FixedLengthRecordDataset`, names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from os import PathLike
from typing import Any, ClassVar, TypeAlias

import numpy as np

from weft._src.core.aliases import ArrayNamespace, IntLike, SpecNest, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import STRING, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.data.core.base import DatasetBase, dataset_op, make_dataset
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.dataset import Dataset
from weft._src.data.transforms.mapping import checked_parallel
from weft._src.errors import InvalidArgumentError
from weft._src.fileio.records import RecordReader
from weft._src.fileio.streams import CHUNK, InputStream, compression_name
from weft._src.ops.registry import Op, args

_SPEC = TensorSpec([], string)
Open = Callable[[str, int], Any]  # (path, position) -> something with read(), position, close()


class ReaderStage(Stage):
    """The records of files, one file after the other."""

    __slots__ = ("open", "paths")

    def __init__(self, paths: list[str], opener: Open) -> None:
        self.paths, self.open = paths, opener

    def cursor(self, run: Run) -> Cursor:
        return _ReaderCursor(self)


class _ReaderCursor(Cursor):
    def __init__(self, stage: ReaderStage) -> None:
        self._stage = stage
        self._file = 0
        self._reader: Any = None

    def __next__(self) -> Values:
        record = self._read()
        if record is None:
            raise StopIteration
        return (_string(record),)

    def rows(self, n: int) -> Values:
        found = list(islice(iter(self._read, None), n))
        if not found:
            raise StopIteration
        out = np.empty(len(found), object)
        out[:] = found
        return (out,)

    def _read(self) -> bytes | None:
        """The next record, None at the end of all files."""
        stage = self._stage
        while self._file < len(stage.paths):
            if self._reader is None:
                try:
                    self._reader = stage.open(stage.paths[self._file], 0)
                except Exception:
                    self._file += 1  # what comes next is the next file
                    raise
            try:
                record: bytes | None = self._reader.read()
            except Exception:
                self._next_file()  # nothing behind a broken record can be trusted
                raise
            if record is not None:
                return record
            self._next_file()
        return None

    def _next_file(self) -> None:
        self.close()
        self._file += 1

    def save(self) -> dict[str, Any]:
        return {"file": self._file, "position": self._reader.position if self._reader else None}

    def restore(self, state: dict[str, Any]) -> None:
        self.close()
        self._file = state["file"]
        if state["position"] is not None:
            self._reader = self._stage.open(self._stage.paths[self._file], state["position"])

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _string(record: bytes) -> Any:
    out = np.empty((), object)
    out[()] = record
    return out


# --- readers -------------------------------------------------------------------------------------


class LineReader:
    """The lines of a file without their ends."""

    def __init__(self, path: str, compression: str, position: int = 0) -> None:
        self._stream = InputStream(path, compression, "TextLineDataset")
        self._lines: list[bytes] = []
        self._at = 0
        self._rest = b""
        self._ended = False
        self.position = position
        if position:
            self._stream.skip(position)

    def read(self) -> bytes | None:
        """The next line, None at the end of the file."""
        while self._at >= len(self._lines):
            if self._ended:
                return None
            self._fill()
        line = self._lines[self._at]
        self._at += 1
        self.position += len(line) + 1
        return line.removesuffix(b"\r")

    def _fill(self) -> None:
        chunk = self._stream.read(CHUNK)
        if not chunk:
            self._ended = True
            self._lines, self._at = [self._rest] if self._rest else [], 0
            return
        *self._lines, self._rest = (self._rest + chunk).split(b"\n")
        self._at = 0

    def read_block(self) -> bytes | None:
        """Many lines at once, with an end behind each; None at the end of the file."""
        while self._at >= len(self._lines):
            if self._ended:
                return None
            self._fill()
        block = b"\n".join(self._lines[self._at :]) + b"\n"
        self._lines, self._at = [], 0
        self.position += len(block)
        return block

    def put_back(self, block: bytes) -> None:
        """A block is read once more, line by line."""
        self._lines, self._at = block.split(b"\n")[:-1], 0
        self.position -= len(block)

    @property
    def has_lines(self) -> bool:
        """Whether lines are there that were put back, or come from where another was read."""
        return self._at < len(self._lines)

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()


class FixedReader:
    """Pieces of one length, between a header and a footer."""

    def __init__(
        self, path: str, compression: str, size: int, header: int, footer: int, position: int
    ) -> None:
        self._stream = InputStream(path, compression, "FixedLengthRecordDataset")
        self._path, self._size, self._footer = path, size, footer
        self._buffer = b""
        self._ended = False
        self.position = max(position, header)
        self._stream.skip(self.position)
        if not compression:
            self._check(os.path.getsize(path) - header - footer)

    def _check(self, body: int) -> None:
        if body < 0 or body % self._size:
            raise InvalidArgumentError(
                None,
                None,
                f"FixedLengthRecordDataset: {self._path} has {max(body, 0)} bytes between its "
                f"header and footer, which is no multiple of record_bytes {self._size}.",
            )

    def read(self) -> bytes | None:
        """The next record, None at the end of the file."""
        needed = self._size + self._footer
        while len(self._buffer) < needed and not self._ended:
            chunk = self._stream.read(max(CHUNK, needed))
            self._ended = not chunk
            self._buffer += chunk
        if len(self._buffer) < needed:
            self._check(len(self._buffer) - self._footer)
            return None
        record, self._buffer = self._buffer[: self._size], self._buffer[self._size :]
        self.position += self._size
        return record

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()


# --- ops -----------------------------------------------------------------------------------------


def _paths(filenames: Array) -> list[str]:
    return [os.fsdecode(name) for name in np.asarray(filenames).reshape(-1).tolist()]


def _records_kernel(xp: ArrayNamespace, filenames: Array, *, compression: str) -> Stage:
    return ReaderStage(_paths(filenames), lambda path, at: RecordReader(path, compression, at))


def _lines_kernel(xp: ArrayNamespace, filenames: Array, *, compression: str) -> Stage:
    return ReaderStage(_paths(filenames), lambda path, at: LineReader(path, compression, at))


def _fixed_kernel(
    xp: ArrayNamespace,
    filenames: Array,
    *,
    compression: str,
    size: int,
    header: int,
    footer: int,
) -> Stage:
    return ReaderStage(
        _paths(filenames), lambda path, at: FixedReader(path, compression, size, header, footer, at)
    )


_FILENAMES = args("filenames", STRING)
tf_record_op = dataset_op("TFRecordDataset", _FILENAMES, _records_kernel)
text_line_op = dataset_op("TextLineDataset", _FILENAMES, _lines_kernel)
fixed_length_op = dataset_op("FixedLengthRecordDatasetV2", _FILENAMES, _fixed_kernel)


# One file, several, or a dataset of them.
FileNames: TypeAlias = TensorLike | PathLike[str] | Sequence[PathLike[str]] | Dataset


# --- datasets ------------------------------------------------------------------------------------


def file_names(what: str, filenames: FileNames) -> Any:
    """File names as a string tensor, or a dataset of them."""
    if isinstance(filenames, DatasetBase):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not string:
            raise TypeError(f"{what}: filenames must be a dataset of strings, got {spec!r}.")
        return filenames
    names: Any = filenames
    if isinstance(names, PathLike):
        names = names.__fspath__()
    elif isinstance(names, (list, tuple)):
        names = [f.__fspath__() if isinstance(f, PathLike) else f for f in names]
        if not names:
            return convert_to_tensor(np.empty(0, object))
    try:
        tensor = convert_to_tensor(names)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype is not string:
        raise TypeError(
            f"{what}: filenames must be a string, a list of strings, or a dataset of them, got "
            f"{filenames!r}."
        )
    return tensor


def read_files(
    what: str, filenames: FileNames, num_parallel_reads: Any, make: Callable[[Tensor], Tensor]
) -> Tensor:
    """The variant of a dataset that reads files, one after the other or several in turn."""
    names = file_names(what, filenames)
    parallel = checked_parallel(what, num_parallel_reads)
    if not isinstance(names, DatasetBase) and parallel is None:
        return make(names)
    if not isinstance(names, DatasetBase):
        names = Dataset.from_tensor_slices(names) if names.shape.rank else Dataset.from_tensors(
            names
        )  # fmt: skip

    def of_file(name: Tensor) -> Any:
        return make_dataset(make(name), _SPEC)

    if parallel is None:
        made = names.flat_map(of_file)
    else:
        made = names.interleave(of_file, cycle_length=parallel, num_parallel_calls=parallel)
    variant: Tensor = made._variant
    return variant


class _FileDataset(Dataset):
    """A dataset that is made by its constructor."""

    def _set(self, variant: Tensor, spec: SpecNest = _SPEC) -> None:
        made = make_dataset(variant, spec)
        self._variant, self._element_spec, self._options = variant, spec, made._options


class _CompressibleDataset(_FileDataset):
    """What TFRecords and lines have in common: the arguments."""

    _op: ClassVar[Op]

    def __init__(
        self,
        filenames: FileNames,
        compression_type: TensorLike | None = None,
        buffer_size: IntLike | None = None,
        num_parallel_reads: IntLike | None = None,
        name: str | None = None,
    ) -> None:
        method = type(self).__name__
        kind = compression_name(method, compression_type)

        def make(names: Tensor) -> Tensor:
            return self._op(names, compression=kind, name=name)

        self._set(read_files(method, filenames, num_parallel_reads, make))


class TFRecordDataset(_CompressibleDataset):
    """The records of TFRecord files; a corrupt or cut record is a DataLossError.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as file:
    ...     file.write(b"one")
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'one']
    """

    _op = tf_record_op


class TextLineDataset(_CompressibleDataset):
    r"""The lines of text files, without their ends.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> tf.io.write_file(path, "one\ntwo")
    >>> list(tf.data.TextLineDataset(path).as_numpy_iterator())
    [b'one', b'two']
    """

    _op = text_line_op


class FixedLengthRecordDataset(_FileDataset):
    """Pieces of one length of binary files.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> tf.io.write_file(path, b"HEAD" + b"abcdef")
    >>> dataset = tf.data.FixedLengthRecordDataset(path, record_bytes=3, header_bytes=4)
    >>> list(dataset.as_numpy_iterator())
    [b'abc', b'def']
    """

    def __init__(
        self,
        filenames: FileNames,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: IntLike | None = None,
        compression_type: TensorLike | None = None,
        num_parallel_reads: IntLike | None = None,
        name: str | None = None,
    ) -> None:
        what = "FixedLengthRecordDataset"
        kind = compression_name(what, compression_type)
        size = _count(what, "record_bytes", record_bytes, 1)
        header = _count(what, "header_bytes", 0 if header_bytes is None else header_bytes, 0)
        footer = _count(what, "footer_bytes", 0 if footer_bytes is None else footer_bytes, 0)

        def make(names: Tensor) -> Tensor:
            return fixed_length_op(
                names, compression=kind, size=size, header=header, footer=footer, name=name
            )

        self._set(read_files(what, filenames, num_parallel_reads, make))


def _count(what: str, name: str, value: Any, least: int) -> int:
    try:
        if isinstance(value, (float, bool, str, bytes)):
            raise TypeError
        number = int(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: {name} must be an integer, got {value!r}.") from None
    if number < least:
        raise InvalidArgumentError(
            None, None, f"{what}: {name} must be at least {least}, got {number}."
        )
    return number
