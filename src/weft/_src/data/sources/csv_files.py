"""CSV files: `experimental.CsvDataset` and `experimental.make_csv_dataset`."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, IntLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, float32, float64, int32, int64, string
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, EagerTensor, Tensor
from weft._src.data.core.base import AUTOTUNE, dataset_op, make_dataset
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.dataset import Dataset
from weft._src.data.sources.listing import listed
from weft._src.data.sources.readers import FileNames, LineReader, _FileDataset, file_names
from weft._src.errors import ArgumentError, InvalidArgumentError
from weft._src.fileio import csv_lines
from weft._src.fileio.csv_lines import COLUMN_DTYPES, Column, Format
from weft._src.fileio.streams import compression_name
from weft._src.ops import static
from weft._src.ops.registry import args, each
from weft._src.ops.strings import packed


class CsvStage(Stage):
    """The lines of CSV files as values."""

    __slots__ = ("columns", "compression", "defaults", "excluded", "form", "header", "paths")

    def __init__(
        self, paths: Sequence[str], defaults: Sequence[Any], columns: tuple[Column, ...],
        form: Format, header: bool, compression: str, excluded: tuple[int, ...] | None,
    ) -> None:  # fmt: skip
        self.paths, self.defaults, self.columns = paths, defaults, columns
        self.form, self.header, self.compression = form, header, compression
        self.excluded = excluded  # None if other fields than those of the columns may be there

    def cursor(self, run: Run) -> Cursor:
        return _CsvCursor(self)

    def allows(self, fields: int) -> bool:
        """Whether a line may have so many fields: no others than columns, and excluded ones."""
        width = self.columns[-1].place + 1 if self.columns else 0
        return self.excluded is None or set(range(width, fields)) <= {*self.excluded}


class _CsvCursor(Cursor):
    def __init__(self, stage: CsvStage) -> None:
        self._stage = stage
        self._file = 0
        self._record = 0
        self._reader: LineReader | None = None
        arrays = [np.asarray(default) for default in stage.defaults]
        self._fallback = [array.reshape(-1)[0] if array.size else None for array in arrays]
        self._block: _Block | None = None  # lines that were read together
        self._by_line = False  # what comes next was put back

    def __next__(self) -> Values:
        block = self._next_block()
        if block is None:
            return self._one_by_one()
        self._record += 1
        block.at += 1
        return tuple([_element(array, block.at - 1) for array in block.columns])

    def rows(self, n: int) -> Values:
        found: list[list[Array]] = []
        missing = n
        while missing:
            try:
                block = self._next_block()
                part = super().rows(missing) if block is None else block.take(missing)
            except StopIteration:
                break
            found.append(list(part))
            if block is not None:
                self._record += len(part[0])
            missing -= len(part[0])
        if not found:
            raise StopIteration
        return tuple([np.concatenate(parts) for parts in zip(*found, strict=True)])

    def _next_block(self) -> _Block | None:
        """Lines that are left of a block; None if the next ones have to be read one by one."""
        if self._block is not None and self._block.at < self._block.count:
            return self._block
        self._block = None
        stage = self._stage
        while self._open():
            assert self._reader is not None
            if self._by_line and self._reader.has_lines:
                return None
            self._by_line = False
            position = self._reader.position
            text = self._reader.read_block()
            if text is None:
                self._next_file()
                continue
            found = _in_bulk(text, stage, self._fallback)
            if found is None:
                self._reader.put_back(text)
                self._by_line = True
                return None
            self._block = _Block(position, *found)
            return self._block
        raise StopIteration

    def _one_by_one(self) -> Values:
        stage = self._stage
        line = self._line()
        number = self._record
        self._record += 1
        where = f"{stage.paths[self._file]}, record {number}"
        try:
            found = csv_lines.split_line(line, stage.form)
            width = stage.columns[-1].place + 1 if stage.columns else 0
            if len(found) < width:
                raise InvalidArgumentError(
                    None, None, f"CSV: {width} fields are expected, there are {len(found)}."
                )
            if not stage.allows(len(found)):
                raise InvalidArgumentError(
                    None, None,
                    f"CSV: {width} fields are expected, there are {len(found)}. Give a default for "
                    "each, or name those that are wanted by select_cols.",
                )  # fmt: skip
            return tuple([
                _scalar(
                    csv_lines.column_value(column, found, default, stage.form, number), column.dtype
                )
                for column, default in zip(stage.columns, self._fallback, strict=True)
            ])  # fmt: skip
        except InvalidArgumentError as error:
            raise InvalidArgumentError(None, None, f"{where}: {error.message}") from None

    def _open(self) -> bool:
        """Opens the file that comes next; False if there is none."""
        stage = self._stage
        if self._file == len(stage.paths):
            return False
        if self._reader is None:
            self._reader = LineReader(stage.paths[self._file], stage.compression)
            self._record = 0
            if stage.header and self._reader.read() is None:
                path = stage.paths[self._file]
                raise InvalidArgumentError(
                    None, None, f"CsvDataset: {path} is empty, and has no header to skip."
                )
        return True

    def _line(self) -> bytes:
        """The next record."""
        while self._open():
            assert self._reader is not None
            line = _record(self._reader, self._stage.form)
            if line is not None:
                return line
            self._next_file()
        raise StopIteration

    def _next_file(self) -> None:
        self.close()
        self._file += 1

    def save(self) -> dict[str, Any]:
        position = self._reader.position if self._reader else None
        if self._block is not None:
            position = self._block.position
        return {"file": self._file, "record": self._record, "position": position}

    def restore(self, state: dict[str, Any]) -> None:
        self.close()
        self._file, self._record = state["file"], state["record"]
        if state["position"] is not None:
            path = self._stage.paths[self._file]
            self._reader = LineReader(path, self._stage.compression, state["position"])

    def close(self) -> None:
        self._block, self._by_line = None, False
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class _Block:
    """Lines whose columns were read together, and how many of them were taken."""

    def __init__(self, position: int, ends: Array, columns: list[Array]) -> None:
        self._position, self._ends, self.columns = position, ends, columns
        self.count, self.at = len(ends), 0

    @property
    def position(self) -> int:
        """Where the line that comes next begins in the file."""
        return self._position + (int(self._ends[self.at - 1]) + 1 if self.at else 0)

    def take(self, n: int) -> list[Array]:
        """Up to n of the lines that are left."""
        part = slice(self.at, self.at + n)
        self.at = min(self.at + n, self.count)
        return [column[part] for column in self.columns]


def _in_bulk(
    text: bytes, stage: CsvStage, defaults: Sequence[Any]
) -> tuple[Array, list[Array]] | None:
    """Where lines end, and their columns; None if they have to be read one by one."""
    data = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if not stage.columns or not packed.pays(len(ends) * len(stage.columns)):
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    sizes = ends - starts
    sizes -= (sizes > 0) & (data[ends - 1] == ord("\r"))
    fields = text.count(stage.form.delimiter, 0, int(ends[0])) + 1
    if not stage.allows(fields):
        return None
    lines = packed.Packed(data, starts, sizes)
    found = csv_lines.columns_in_bulk(lines, stage.columns, defaults, None, stage.form)
    return None if found is None else (ends, found)


def _element(column: Array, i: int) -> Any:
    """One value of a column, a string as an array."""
    return column[i, ...] if column.dtype == object else column[i]


def _record(reader: LineReader, form: Format) -> bytes | None:
    """A line, or several if a quoted field goes on; None at the end of the file."""
    line = reader.read()
    while line is not None and form.quotes and line.count(b'"') % 2:
        more = reader.read()
        if more is None:
            break
        line = line + b"\n" + more
    return line


def _scalar(value: Any, dtype: DType) -> Any:
    if dtype is string:
        out = np.empty((), object)
        out[()] = value
        return out
    return dtype.numpy_dtype.type(value)


def _csv_kernel(
    xp: ArrayNamespace, filenames: Array, *defaults: Any, columns: tuple[Column, ...], form: Format,
    header: bool, compression: str, excluded: tuple[int, ...] | None,
) -> Stage:  # fmt: skip
    paths = [os.fsdecode(name) for name in np.asarray(filenames).reshape(-1).tolist()]
    return CsvStage(paths, defaults, columns, form, header, compression, excluded)


csv_op = dataset_op(
    "CSVDatasetV2",
    args("filenames", {string}) + each("*record_defaults", COLUMN_DTYPES),
    _csv_kernel,
)


class CsvDataset(_FileDataset):
    r"""The lines of CSV files as tuples of scalars.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> tf.io.write_file(path, "x,name\n1,a\n2,b\n")
    >>> dataset = tf.data.experimental.CsvDataset(path, [tf.int32, tf.string], header=True)
    >>> list(dataset.as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """

    def __init__(
        self,
        filenames: FileNames,
        record_defaults: Any,
        compression_type: TensorLike | None = None,
        buffer_size: IntLike | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        what = "CsvDataset"
        names: Any = file_names(what, filenames)
        if isinstance(names, Dataset):
            names = convert_to_tensor(np.array(list(names.as_numpy_iterator()), object))
        if select_cols is not None and exclude_cols is not None:
            raise ArgumentError(f"{what}: give select_cols or exclude_cols, not both.")
        if buffer_size is not None and static.static_int(what, buffer_size, "buffer_size") < 1:
            raise ArgumentError(f"{what}: buffer_size must be positive, got {buffer_size!r}.")
        form = csv_lines.checked_format(what, field_delim, use_quote_delim, na_value)
        excluded: tuple[int, ...] | None = None if select_cols is not None else ()
        if exclude_cols is not None:
            excluded = tuple(csv_lines.column_numbers(what, exclude_cols, "exclude_cols"))
            select_cols = _all_but(excluded, len(record_defaults))
        columns, defaults = csv_lines.checked_columns(what, record_defaults, select_cols)
        variant = csv_op(
            names, *defaults, columns=columns, form=form, header=bool(header),
            compression=compression_name(what, compression_type), excluded=excluded,
        )  # fmt: skip
        self._set(variant, tuple([TensorSpec([], column.dtype) for column in columns]))


def _all_but(excluded: Sequence[int], count: int) -> list[int]:
    """The first columns that are not excluded."""
    return list(itertools.islice((i for i in itertools.count() if i not in excluded), count))


# --- make_csv_dataset ----------------------------------------------------------------------------


def make_csv_dataset(
    file_pattern: TensorLike,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: TensorLike | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    r"""Batches of CSV files: dicts from column names to vectors, with the label beside if named.

    Args:
      file_pattern: a file name or glob pattern, or a list of them.
      batch_size: how many lines a batch has.
      column_names: the names of all columns; None takes them from the first line of the files.
      column_defaults: for each column, a dtype if it must have a value, or the value that stands
        for an empty field. None infers the dtypes from the first lines, with zero or "" as default.
      label_name: the column that becomes the label beside the dict; None is none.
      select_columns: the names or numbers of the columns that are read, in the order of the files;
        None is all.
      field_delim: the character between fields.
      use_quote_delim: whether fields may stand in double quotes.
      na_value: a text that counts as an empty field.
      header: whether the first line of each file holds the names.
      num_epochs: how many times the files are gone through; None is without end, and leaves out a
        last batch that is not full.
      shuffle: whether files and lines are shuffled.
      shuffle_buffer_size: from how many lines the next one is drawn.
      shuffle_seed: what the order depends on; None lets `tf.random.set_seed` or chance decide.
      prefetch_buffer_size: how many batches are made ahead; None is `tf.data.AUTOTUNE`.
      num_parallel_reads: of how many files lines are taken in turn; None is 1.
      sloppy: accepted for compatibility.
      num_rows_for_inference: how many lines dtypes are inferred from; None is all.
      compression_type: None or "", "GZIP" or "ZLIB".
      ignore_errors: whether lines that cannot be parsed are left out.
      encoding: the encoding of the column names in the first line.

    Returns:
      A dataset of dicts from names to vectors, or of pairs of such a dict and the label's vector.

    Raises:
      tf.errors.InvalidArgumentError: if no file matches, or the compression is another one.
      ValueError: if names are missing, unknown or not unique, if there are more or fewer defaults
        than columns, or if the files have different headers.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> tf.io.write_file(path, "x,y\n1,0.5\n2,1.5\n")
    >>> batches = tf.data.experimental.make_csv_dataset(
    ...     path, 2, label_name="y", num_epochs=1, shuffle=False
    ... )
    >>> for features, label in batches:
    ...     print(features["x"].numpy(), label.numpy())
    [1 2] [0.5 1.5]
    """
    what = "make_csv_dataset"
    form = csv_lines.checked_format(what, field_delim, use_quote_delim, na_value)
    kind = compression_name(what, compression_type)
    paths = listed(what, file_pattern)
    if column_names is None:
        if not header:
            raise ValueError(f"{what}: without a header column_names must be given.")
        column_names = _header(paths, form, kind, encoding)
    names = list(column_names)
    if len(set(names)) != len(names):
        raise ValueError(f"{what}: column names must differ, got {names}.")
    chosen = _chosen(what, names, select_columns)
    if column_defaults is None:
        defaults = _inferred(paths, chosen, len(names), form, kind, header, num_rows_for_inference)
    else:
        defaults = list(column_defaults)
        if len(defaults) == len(names) and len(chosen) < len(names):
            defaults = [defaults[i] for i in chosen]
    if len(defaults) != len(chosen):
        raise ArgumentError(
            f"{what}: there are {len(defaults)} column_defaults for {len(chosen)} columns."
        )
    labels = [names[i] for i in chosen]
    if label_name is not None and label_name not in labels:
        raise ValueError(f"{what}: there is no column {label_name!r}, only {', '.join(labels)}.")

    def of_file(name: Tensor) -> Any:
        columns, tensors = csv_lines.checked_columns(what, defaults, chosen)
        variant = csv_op(
            name, *tensors, columns=columns, form=form, header=header, compression=kind,
            excluded=None if select_columns is not None else (),
        )  # fmt: skip
        return make_dataset(variant, tuple([TensorSpec([], c.dtype) for c in columns]))

    def to_features(*columns: Tensor) -> Any:
        features = OrderedDict(zip(labels, columns, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    files = Dataset.from_tensor_slices(paths)
    if shuffle:
        files = files.shuffle(len(paths), shuffle_seed)
    dataset = files.interleave(of_file, cycle_length=num_parallel_reads or 1)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(to_features)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _records(path: str, form: Format, kind: str) -> Any:
    reader = LineReader(path, kind)
    try:
        while (line := _record(reader, form)) is not None:
            yield line
    finally:
        reader.close()


def _header(paths: Sequence[bytes], form: Format, kind: str, encoding: str) -> list[str]:
    found: list[str] | None = None
    for path in paths:
        line = next(_records(os.fsdecode(path), form, kind), b"")
        names = [field.decode(encoding) for field in csv_lines.split_line(line, form)]
        if found is not None and names != found:
            raise ValueError(
                f"make_csv_dataset: the files have different headers, {found} and {names}."
            )
        found = names
    return found or []


def _chosen(what: str, names: list[str], select_columns: Any) -> list[int]:
    if select_columns is None:
        return list(range(len(names)))
    out = []
    for column in select_columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"{what}: there is no column {column!r} among {names}.")
            out.append(names.index(column))
        else:
            out.append(int(column))
    return sorted(out)


def _inferred(
    paths: Sequence[bytes], chosen: Sequence[int], width: int, form: Format, kind: str,
    header: bool, limit: int | None,
) -> list[Any]:  # fmt: skip
    """The narrowest dtype that holds all values of a column, and its zero as the default."""
    kinds = [0] * len(chosen)
    count = 0
    for path in paths:
        lines = _records(os.fsdecode(path), form, kind)
        if header:
            next(lines, None)
        for line in lines:
            if limit is not None and count >= limit:
                break
            count += 1
            found = csv_lines.split_line(line, form)
            if len(found) != width:
                raise ValueError(
                    f"make_csv_dataset: {os.fsdecode(path)} has {width} columns, but "
                    f"{len(found)} fields in line {line!r}."
                )
            for k, i in enumerate(chosen):
                if found[i] not in (b"", form.na_value):
                    kinds[k] = _wider(kinds[k], found[i])
    return [EagerTensor(_default_of(_DTYPES[k])) for k in kinds]


_DTYPES = (int32, int64, float32, float64, string)


def _wider(kind: int, field: bytes) -> int:
    while kind < len(_DTYPES) - 1:
        dtype = _DTYPES[kind]
        try:
            value = csv_lines.converted(field, dtype, "a field")
        except InvalidArgumentError:
            kind += 1
            continue
        if dtype is float32 and abs(value) > np.finfo(np.float32).max and np.isfinite(value):
            kind += 1
            continue
        return kind
    return kind


def _default_of(dtype: DType) -> Any:
    out = np.zeros(1, dtype.numpy_dtype)
    if dtype is string:
        out[0] = b""
    return out
