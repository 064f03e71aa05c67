"""`tf.data.experimental`: rows of databases, batches of parsed files, records from datasets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft._src.core import dtypes
from weft._src.core.aliases import IntLike, PathLike
from weft._src.core.dtypes import string
from weft._src.core.specs import TensorSpec
from weft._src.data.core.base import AUTOTUNE, check_dataset
from weft._src.data.dataset import Dataset
from weft._src.data.sources.listing import listed
from weft._src.data.sources.readers import TFRecordDataset
from weft._src.errors import DTypeError, InvalidArgumentError, UnsupportedError
from weft._src.fileio import records
from weft._src.fileio.examples import parse_example
from weft._src.fileio.paths import path_text


def SqlDataset(  # noqa: N802 - a class in TensorFlow
    driver_name: str, data_source_name: PathLike, query: str, output_types: Any
) -> Dataset:
    """The rows that a query of an SQLite database gives.

    Args:
      driver_name: only "sqlite".
      data_source_name: the file of the database.
      query: a query in SQL; the database is opened for reading only.
      output_types: a tuple of dtypes, one for each column: integers, float64, bool or string.

    Returns:
      A dataset of tuples of scalars. The query runs each time the dataset is gone through.

    Raises:
      UnsupportedError: if it is another driver.
      DTypeError: if there is another dtype.
      InvalidArgumentError: while the dataset is gone through, if the query fails, or a row has
        other values.

    >>> import os, sqlite3, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.db")
    >>> database = sqlite3.connect(path)
    >>> _ = database.execute("create table t (name text, age integer)")
    >>> _ = database.execute("insert into t values ('ann', 31), ('bob', 45)")
    >>> database.commit()
    >>> database.close()
    >>> rows = tf.data.experimental.SqlDataset(
    ...     "sqlite", path, "select name, age from t", (tf.string, tf.int32)
    ... )
    >>> [(name.numpy(), age.numpy()) for name, age in rows]
    [(b'ann', np.int32(31)), (b'bob', np.int32(45))]
    """
    op = "SqlDataset"
    if driver_name != "sqlite":
        raise UnsupportedError(f"{op}: driver_name must be 'sqlite', got {driver_name!r}.")
    if not isinstance(query, str):
        raise TypeError(f"{op}: query must be text, got {query!r}.")
    path = path_text(op, data_source_name)
    given = output_types if isinstance(output_types, (list, tuple)) else [output_types]
    kinds = [dtypes.as_dtype(kind) for kind in given]
    for kind in kinds:
        if not (kind.is_integer or kind.is_floating or kind.is_bool or kind is string):
            raise DTypeError(f"{op}: output_types must be of numbers or string, got {kind.name}.")

    def rows() -> Iterator[tuple[Any, ...]]:
        try:
            base = sqlite3.connect(f"{_uri(path)}?mode=ro", uri=True)
            try:
                for number, row in enumerate(base.execute(query)):
                    yield _converted(row, number, kinds)
            finally:
                base.close()
        except sqlite3.Error as error:
            raise InvalidArgumentError(None, None, f"{op}: {path!r}: {error}.") from error

    signature = tuple([TensorSpec([], kind) for kind in kinds])
    return Dataset.from_generator(rows, output_signature=signature)


def _uri(path: str) -> str:
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _converted(row: Sequence[Any], number: int, kinds: Sequence[Any]) -> tuple[Any, ...]:
    if len(row) != len(kinds):
        raise InvalidArgumentError(
            None,
            None,
            f"SqlDataset: the query gives {len(row)} columns, output_types are {len(kinds)}.",
        )
    out = []
    for i, (value, kind) in enumerate(zip(row, kinds, strict=True)):
        if value is None:  # as TensorFlow has it
            value = "" if kind is string else 0
        if kind is string:
            value = value if isinstance(value, (str, bytes)) else str(value)
        elif isinstance(value, (str, bytes)):
            raise InvalidArgumentError(
                None,
                None,
                f"SqlDataset: column {i} of row {number} holds {value!r}, expected {kind.name}.",
            )
        elif kind.is_bool:
            value = bool(value)
        elif kind.is_integer:
            value = int(value)
        out.append(value)
    return tuple(out)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> strings = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> tf.data.experimental.TFRecordWriter(path).write(strings)
    >>> [record.numpy() for record in tf.data.TFRecordDataset(path)]
    [b'a', b'b']
    """

    def __init__(self, filename: PathLike, compression_type: str | None = None) -> None:
        self._path = path_text("TFRecordWriter", filename)
        self._compression = compression_type

    def write(self, dataset: Any) -> None:
        """Writes all elements, one record each.

        Args:
          dataset: a dataset of string scalars.

        Raises:
          TypeError: if it is no dataset of them.
        """
        found = check_dataset("TFRecordWriter.write", "dataset", dataset)
        spec = found.element_spec
        is_text = isinstance(spec, TensorSpec) and spec.dtype is string
        if not is_text or spec.rank not in (0, None):
            raise TypeError(
                f"TFRecordWriter.write: dataset must hold string scalars, it holds {spec!r}."
            )
        with records.TFRecordWriter(self._path, self._compression) as file:
            for element in found:
                file.write(element)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: IntLike,
    features: dict[str, Any],
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed Examples from files.

    Args:
      file_pattern: a glob pattern, or a list of them.
      batch_size: how many Examples a batch has.
      features: what is parsed, as for `tf.io.parse_example`.
      reader: what makes a dataset of serialized Examples of a file name; None means
        `tf.data.TFRecordDataset`.
      label_key: the feature that becomes the second component of elements; None means none.
      reader_args: more arguments for the reader.
      num_epochs: how often the files are gone through; None means for ever.
      shuffle: whether files and Examples are shuffled.
      shuffle_buffer_size: among how many Examples.
      shuffle_seed: the seed of that.
      prefetch_buffer_size: how many batches are made ahead; None means as it is best.
      reader_num_threads: how many files are read at a time; None means one.
      parser_num_threads: accepted for compatibility.
      sloppy_ordering: whether files need not be read in a fixed order.
      drop_final_batch: whether a last batch that is not full is left out.

    Returns:
      A dataset of dicts from names to tensors, or of pairs of such a dict and the label.

    Raises:
      InvalidArgumentError: if no file matches.
      ValueError: if `label_key` is no feature.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> number = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": number}))
    >>> with tf.io.TFRecordWriter(path) as file:
    ...     file.write(example.SerializeToString())
    >>> wanted = {"x": tf.io.FixedLenFeature([], tf.int64)}
    >>> batches = tf.data.experimental.make_batched_features_dataset(path, 1, wanted, num_epochs=1)
    >>> next(iter(batches))["x"].numpy()
    array([7])
    """
    op = "make_batched_features_dataset"
    if label_key is not None and label_key not in features:
        raise ValueError(f"{op}: label_key must be one of {sorted(features)}, got {label_key!r}.")
    names = Dataset.from_tensor_slices(listed(op, file_pattern))
    if shuffle:
        names = names.shuffle(names.cardinality(), shuffle_seed)
    more = tuple(reader_args or ())
    make = TFRecordDataset if reader is None else reader
    rows = names.interleave(
        lambda name: make(name, *more),
        cycle_length=reader_num_threads or 1,
        deterministic=not sloppy_ordering,
    )
    if shuffle:
        rows = rows.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        rows = rows.repeat(num_epochs)
    rows = rows.batch(batch_size, drop_remainder=bool(drop_final_batch) or num_epochs is None)

    def parsed(serialized: Any) -> Any:
        found = parse_example(serialized, features)
        if label_key is None:
            return found
        label = found.pop(label_key)
        return found, label

    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return rows.map(parsed).prefetch(ahead)
