"""`save`, `load` and `snapshot`: datasets in folders."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft._src.core.aliases import PathLike, SpecNest
from weft._src.core.dtypes import int64
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor
from weft._src.data.core import structure, traced
from weft._src.data.core.base import DatasetBase, DatasetSpec, make_dataset
from weft._src.data.core.iterators import run_of
from weft._src.data.core.stage import UNKNOWN, Stage
from weft._src.data.core.traced import Call
from weft._src.data.sources import saved_elements
from weft._src.data.sources.in_memory import ListStage
from weft._src.data.sources.saved_elements import SavedStage
from weft._src.data.sources.storage import ElementWriter, FileStage, spec_from_json
from weft._src.data.transforms.caching import kept
from weft._src.errors import ArgumentError, DataLossError, NotFoundError, UnsupportedError
from weft._src.fileio.paths import file_errors, path_text
from weft._src.fileio.structured_values import message_of

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

_SPEC = "dataset_spec.json"


class SavingMethods(DatasetBase):
    """Datasets in folders."""

    def save(
        self,
        path: PathLike,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes all elements to a folder, from which `Dataset.load` reads them, TensorFlow's, too.

        `shard_func` says, as an int64, which file an element goes to; there is one if it is left
        out.

        Args:
          path: the folder; it is made if needed, and an older dataset in it is replaced.
          compression: "GZIP", or None (also "AUTO", "NONE" and "") for plain files.
          shard_func: a function of an element that returns the number of its file as one int64.
          checkpoint_args: not supported; None.

        Raises:
          UnsupportedError: if `checkpoint_args` is given.
          RuntimeError: if it is called in a `tf.function`.
          ValueError: if the compression is another, or `shard_func` does not return one int64.
          TypeError: if the elements hold what cannot be saved, such as datasets.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.data.Dataset.range(3).save(folder)
        >>> list(tf.data.Dataset.load(folder).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        if checkpoint_args is not None:
            raise UnsupportedError("Dataset.save: checkpoint_args is not supported; leave it out.")
        if not isinstance(self._variant, EagerTensor):
            raise RuntimeError("Dataset.save works eagerly only, not in a function.")
        folder = path_text("Dataset.save", path)
        kind = _compression(compression)
        form = saved_elements.ElementForm(self.element_spec)
        message_of(self.element_spec)  # refuses what cannot be saved before anything is written
        started = time.time_ns()
        run = str(started)
        count = 0
        shard = None if shard_func is None else _shard_call(shard_func, self.element_spec)
        writers: dict[int, ElementWriter] = {}
        cursor = self._stage.cursor(run_of(self._options))
        try:
            for values in cursor:
                number = 0 if shard is None else int(shard(values)[0])
                if number not in writers:
                    file = saved_elements.shard_file(os.path.join(folder, run), number)
                    writers[number] = ElementWriter(file, kind, form.records)
                writers[number].write(values)
                count += 1
        except BaseException:
            for writer in writers.values():
                writer.abandon()
            shutil.rmtree(os.path.join(folder, run), ignore_errors=True)
            raise
        finally:
            cursor.close()
        for writer in writers.values():
            writer.finish()
        with file_errors("Dataset.save", folder):
            os.makedirs(folder, exist_ok=True)
            old = _files_of_older(folder)
            saved_elements.describe(folder, run, self.element_spec, count, started // 1000)
            for left in old:
                shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)

    @staticmethod
    def load(
        path: PathLike,
        element_spec: SpecNest = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,  # noqa: ARG004 - accepted: save has written everything when it returns
    ) -> Dataset:
        """The dataset that `save`, here or in TensorFlow, wrote to a folder.

        `reader_func` makes the dataset out of a dataset of the files' datasets; one after the
        other if it is left out.

        Args:
          path: the folder.
          element_spec: the specs of the elements, which must fit the saved ones; None takes those.
          compression: checked only; the files say how they are compressed. "SNAPPY" is read, too.
          reader_func: a function from a dataset of datasets to a dataset; None is one after the
            other.
          wait: accepted for compatibility; `save` has written everything when it returns.

        Returns:
          The dataset.

        Raises:
          tf.errors.NotFoundError: if there is no saved dataset in the folder.
          ValueError: if `element_spec` does not fit, or the compression is none of None, "AUTO",
            "GZIP" and "SNAPPY".
          TypeError: if `reader_func` does not return a dataset.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.data.Dataset.from_tensors({"a": 1}).save(folder)
        >>> tf.data.Dataset.load(folder).element_spec
        {'a': TensorSpec(shape=(), dtype=tf.int32, name=None)}
        """
        folder = path_text("Dataset.load", path)
        run = ""
        if os.path.exists(os.path.join(folder, saved_elements.METADATA)):
            spec, run, count = saved_elements.described(folder, element_spec)
        elif os.path.exists(path := os.path.join(folder, _SPEC)):
            with file_errors("Dataset.load", path), open(path, "rb") as file:
                spec, count = spec_from_json(file.read(), path)
        else:
            raise NotFoundError(None, None, f"Dataset.load: there is no saved dataset in {folder}.")
        if element_spec is not None:
            if not structure.is_compatible(element_spec, spec):
                raise ValueError(
                    f"Dataset.load: element_spec is {element_spec!r}, the dataset in {folder} has "
                    f"{spec!r}."
                )
            spec = element_spec
        if compression != "SNAPPY":
            _compression(compression)
        files = saved_elements.shards(run) if run else [[path] for path in _shards(folder)]
        if reader_func is None:
            every = [path for shard in files for path in shard]
            return make_dataset(EagerTensor(_stage(every, spec, bool(run), count)), spec)
        shards = [(_stage(paths, spec, bool(run)),) for paths in files]
        made = reader_func(make_dataset(EagerTensor(ListStage(shards)), DatasetSpec(spec)))
        if not isinstance(made, DatasetBase.dataset_class):
            raise TypeError(f"Dataset.load: reader_func must return a dataset, got {made!r}.")
        return made

    def snapshot(
        self,
        path: PathLike,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Keeps the elements of the first complete iteration in a folder, and reads them later.

        Args:
          path: the folder; it is made if needed.
          compression: "GZIP", or None (also "AUTO", "NONE" and "") for plain files. What is there
            already is read, however it is compressed.
          reader_func: not supported; None.
          shard_func: not supported; None.

        Returns:
          A dataset of the elements that were kept first.

        Raises:
          UnsupportedError: if `reader_func` or `shard_func` is given.
          ValueError: if the compression is another.

        >>> import tempfile
        >>> dataset = tf.data.Dataset.range(3).shuffle(3).snapshot(tempfile.mkdtemp())
        >>> list(dataset.as_numpy_iterator()) == list(dataset.as_numpy_iterator())
        True
        """
        if reader_func is not None or shard_func is not None:
            raise UnsupportedError(
                "Dataset.snapshot: reader_func and shard_func are not supported; use "
                "Dataset.save(path, shard_func=...) and Dataset.load(path, reader_func=...)."
            )
        kind = _compression(compression)
        file = os.path.join(path_text("Dataset.snapshot", path), "snapshot")
        return kept(self, file, kind, name)


def _shard_call(function: Callable[..., Any], element_spec: SpecNest) -> Call:
    f = traced.of_element(function, element_spec, "save")
    spec = f.output_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not int64 or spec.rank not in (None, 0):
        raise ArgumentError(f"Dataset.save: shard_func must return one int64, got {spec!r}.")
    return Call(f, [t._value for t in f.captures if isinstance(t, EagerTensor)])


def _compression(value: Any) -> str:
    if value in (None, "AUTO", "NONE", ""):
        return ""
    if value != "GZIP":
        raise ValueError(f"Dataset: compression must be None, 'AUTO' or 'GZIP', got {value!r}.")
    return "GZIP"


def _stage(paths: list[str], spec: SpecNest, of_run: bool, count: int = UNKNOWN) -> Stage:
    """The elements in files: in TensorFlow's form, or that of Weft 0.1."""
    if of_run:
        return SavedStage(paths, saved_elements.ElementForm(spec), count)
    kind = "GZIP" if paths and paths[0].endswith(".gz") else ""
    return FileStage(paths, structure.flat_specs(spec), kind, count)


def _files_of_older(folder: str) -> list[str]:
    """What a dataset that is replaced leaves behind."""
    found = [*_shards(folder), os.path.join(folder, _SPEC)]
    if os.path.exists(os.path.join(folder, saved_elements.METADATA)):
        # One that cannot be read is replaced, too; what belonged to it is not known.
        with contextlib.suppress(DataLossError, UnsupportedError):
            found.append(saved_elements.run_of(folder))
    return [path for path in found if os.path.exists(path)]


def _shards(folder: str) -> list[str]:
    if not os.path.isdir(folder):
        return []
    names = sorted(
        n for n in os.listdir(folder)
        if n.startswith("shard_") and n.endswith((".tfrecord", ".tfrecord.gz"))
    )  # fmt: skip
    return [os.path.join(folder, name) for name in names]
