"""`list_files`: the names of files that match patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src.core.aliases import IntLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import string
from weft._src.core.tensor import EagerTensor
from weft._src.data.core.base import DatasetBase, static_bool
from weft._src.data.sources.in_memory import SourceMethods
from weft._src.errors import InvalidArgumentError
from weft._src.fileio.files import matches, matching_files_op
from weft._src.ops.host.asserting import Assert
from weft._src.ops.reduce import sums

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset


class ListingMethods(DatasetBase):
    """Names of files."""

    @staticmethod
    def list_files(
        file_pattern: TensorLike,
        shuffle: bool | None = None,
        seed: IntLike | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of the files that match a pattern, or any of several; shuffled if not said.

        Args:
          file_pattern: a pattern, or a list or tensor of them; `*`, `?` and `[...]` stand for other
            characters.
          shuffle: whether the names are shuffled, anew in each iteration; None is True.
          seed: the seed of the shuffle; None lets `tf.random.set_seed` or chance decide.

        Returns:
          A dataset of strings; sorted names if they are not shuffled.

        Raises:
          tf.errors.InvalidArgumentError: if no file matches; in a function, when it runs.
          TypeError: if a pattern is no string.

        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for letter in "ab":
        ...     tf.io.write_file(os.path.join(folder, f"{letter}.txt"), letter)
        >>> names = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
        >>> [os.path.basename(name) for name in names.as_numpy_iterator()]
        [b'a.txt', b'b.txt']
        """
        patterns = _patterns("list_files", file_pattern)
        if isinstance(patterns, EagerTensor):
            found = np.array(listed("list_files", patterns), object)
            names: Any = convert_to_tensor(found)
        else:
            names = matching_files_op(patterns)
            Assert(sums.reduce_sum(names != "") > 0, ["Dataset.list_files: no file matches."])
        dataset = SourceMethods.from_tensor_slices(names, name=name)
        if shuffle is None or static_bool("list_files", "shuffle", shuffle):
            size = max(1, names.shape[0]) if names.shape[0] is not None else 1 << 20
            dataset = dataset.shuffle(size, seed)
        return dataset


def listed(what: str, file_pattern: TensorLike) -> list[bytes]:
    """The files that match; InvalidArgumentError if there is none."""
    patterns = _patterns(what, file_pattern)
    texts = np.asarray(patterns).reshape(-1).tolist()
    found = matches(texts)
    if not found:
        shown = ", ".join(repr(text.decode(errors="replace")) for text in texts)
        raise InvalidArgumentError(None, None, f"{what}: no file matches {shown}.")
    return found


def _patterns(what: str, value: Any) -> Any:
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or tensor.dtype is not string:
        raise TypeError(f"{what}: file_pattern must be a string or a list of them, got {value!r}.")
    return tensor
