"""`cache`: elements are made once, and kept in memory or in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import ArrayNamespace, PathLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import STRING
from weft._src.data.core import structure
from weft._src.data.core.base import INPUT, DatasetBase, dataset_op
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.sources import storage
from weft._src.data.sources.in_memory import ListCursor
from weft._src.ops.registry import args

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


_ENDINGS = {"": ".weft_cache", "GZIP": ".weft_cache.gz"}  # of files, by their compression


class MemoryCacheStage(Stage):
    """Elements that are kept once they all have been made, as long as the dataset lives."""

    __slots__ = ("_lock", "elements", "source")

    def __init__(self, source: Stage) -> None:
        self.source = source
        self.elements: list[Values] | None = None
        self._lock = threading.Lock()

    def cursor(self, run: Run) -> Cursor:
        if self.elements is not None:
            return ListCursor(self.elements)
        return _MemoryCursor(self, run)

    def cardinality(self) -> int:
        return self.source.cardinality()

    def keep(self, elements: list[Values]) -> None:
        """The elements of an iteration that has come to its end; those of the first one count."""
        with self._lock:
            if self.elements is None:
                self.elements = elements


class _MemoryCursor(Cursor):
    own = ("_made", "_at")
    inputs = ("_source",)

    def __init__(self, stage: MemoryCacheStage, run: Run) -> None:
        self._stage = stage
        self._source = stage.source.cursor(run)
        self._made: list[Values] = []
        self._at = 0

    def __next__(self) -> Values:
        try:
            values = next(self._source)
        except StopIteration:
            self._stage.keep(self._made)
            raise
        self._made.append(values)
        self._at += 1
        return values

    def restore(self, state: dict[str, Any]) -> None:
        if "_made" in state:
            super().restore(state)
            return
        # The position was saved by an iterator that read the cache, which is not there any more.
        for _ in range(state["_at"]):
            next(self)


class FileCacheStage(Stage):
    """Elements that are kept in a file, whose name says whether it is compressed."""

    __slots__ = ("compression", "file", "source", "specs")

    def __init__(self, source: Stage, file: str, specs: Sequence[Any], compression: str) -> None:
        self.source, self.file, self.specs = source, file, specs
        self.compression = compression

    def cursor(self, run: Run) -> Cursor:
        for compression in _ENDINGS:
            if storage.exists(self.path(compression)):
                return storage.FileCursor([self.path(compression)], self.specs, compression)
        return _FileWritingCursor(self, run)

    def path(self, compression: str) -> str:
        """Where the elements are kept if they are compressed so."""
        return f"{self.file}{_ENDINGS[compression]}"

    def cardinality(self) -> int:
        return self.source.cardinality()


class _FileWritingCursor(Cursor):
    """Writes to a file beside, which takes the name of the cache when it is complete."""

    def __init__(self, stage: FileCacheStage, run: Run) -> None:
        kind = stage.compression
        self._source = stage.source.cursor(run)
        self._writer: storage.ElementWriter | None = storage.ElementWriter(stage.path(kind), kind)
        self._at = 0

    def __next__(self) -> Values:
        try:
            values = next(self._source)
        except StopIteration:
            if self._writer is not None:
                self._writer.finish()
                self._writer = None
            raise
        if self._writer is not None:
            self._writer.write(values)
        self._at += 1
        return values

    def save(self) -> dict[str, Any]:
        return {"_at": self._at}

    def restore(self, state: dict[str, Any]) -> None:
        for _ in range(state["_at"]):
            next(self)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None
        self._source.close()


def _cache_kernel(
    xp: ArrayNamespace, source: Stage, filename: Any, *, specs: Sequence[Any], compression: str
) -> Stage:
    name = os.fsdecode(filename[()])
    if not name:
        return MemoryCacheStage(source)
    return FileCacheStage(source, name, specs, compression)


cache_op = dataset_op("CacheDatasetV2", INPUT + args("filename", STRING), _cache_kernel)


class CachingMethods(DatasetBase):
    """Elements made once."""

    def cache(self, filename: PathLike = "", name: str | None = None) -> Dataset:
        """Keeps the elements of the first complete iteration, in memory or in a file.

        Args:
          filename: the beginning of the name of the file; "" keeps the elements in memory, as long
            as the dataset lives.

        Returns:
          A dataset of the same elements. An iteration that ends early keeps nothing.

        Raises:
          TypeError: if `filename` is no text.

        >>> calls = []
        >>> dataset = (
        ...     tf.data.Dataset.range(2)
        ...     .map(lambda x: tf.py_function(lambda v: calls.append(1) or v, [x], tf.int64))
        ...     .cache()
        ... )
        >>> for _ in range(3):
        ...     values = [int(x) for x in dataset]
        >>> values, len(calls)
        ([0, 1], 2)
        """
        return kept(self, _path("cache", filename), "", name)


def kept(dataset: DatasetBase, path: TensorLike, compression: str, name: str | None) -> Dataset:
    """The elements of the first iteration in a file, or in memory if the path is empty."""
    specs = tuple(structure.flat_specs(dataset.element_spec))
    file = convert_to_tensor(path)
    return dataset._derived(cache_op, file, name=name, specs=specs, compression=compression)


def _path(method: str, value: Any) -> Any:
    """A file name: text, bytes, a path object or a string tensor."""
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype not in STRING or tensor.shape.rank not in (None, 0):
        raise TypeError(f"Dataset.{method}: a file name is expected, got {value!r}.")
    return tensor
