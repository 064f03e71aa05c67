"""Which file of a checkpoint each tensor, or part of one, goes to."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, string
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError
from weft._src.saving.slice_keys import ALL

Array = np.ndarray[Any, Any]
# The tensors of one file: by key, and by the part of the tensor they are ("" is all of it).
Shard = Mapping[str, Mapping[str, Any]]
Extents = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ShardableTensor:
    """A tensor that a sharding callback gives a place.

    >>> seen = []
    >>> class Noting(tf.train.experimental.ShardingCallback):
    ...     description = "notes what there is"
    ...
    ...     def __call__(self, shardable_tensors):
    ...         seen.extend([(t.checkpoint_key, t.shape.as_list()) for t in shardable_tensors])
    ...         return [{t.checkpoint_key: {"": t.tensor} for t in shardable_tensors}]
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=Noting())
    >>> tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write("noted", options)
    'noted'
    >>> seen[0]
    ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])
    """

    _tensor_save_spec: Any
    tensor: Tensor
    dtype: DType
    device: Any
    name: str
    shape: TensorShape
    slice_spec: str
    checkpoint_key: str
    trackable: Any


class ShardingCallback(ABC):
    """What divides a checkpoint among files: `experimental_sharding_callback` of options.

    A subclass has a `description`, and is called with a list of `ShardableTensor`. It returns a
    list with a dict for each file: from the key of a tensor to a dict from the part it holds to
    that part. A part is "" for the whole tensor, else the sizes of the whole and where it begins
    and how long it is along each axis: "4 3 0,2:0,3" are the first two of four rows.

    >>> policy = tf.train.experimental.MaxShardSizePolicy(2**30)
    >>> isinstance(policy, tf.train.experimental.ShardingCallback)
    True
    """

    @property
    @abstractmethod
    def description(self) -> str:
        """What it does, in words."""

    @abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """The files, and what each holds."""


class ShardByTaskPolicy(ShardingCallback):
    """One file for each process that has tensors: one, since a process saves what is its own.

    >>> policy = tf.train.experimental.ShardByTaskPolicy()
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    >>> tf.train.Checkpoint(v=tf.Variable(1.0)).write("in_one_file", options)
    'in_one_file'
    """

    @property
    def description(self) -> str:
        """What it does, in words."""
        return "One file for each process."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """All tensors in one file.

        Args:
          shardable_tensors: the tensors.

        Returns:
          A list of one dict.
        """
        return [{t.checkpoint_key: {t.slice_spec: t.tensor} for t in shardable_tensors}]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most so many bytes; larger tensors are cut along an axis.

    Args:
      max_shard_size: the number of bytes. A tensor of strings, and one number, are never cut.

    >>> policy = tf.train.experimental.MaxShardSizePolicy(2**20)
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    >>> tf.train.Checkpoint(v=tf.Variable(tf.zeros([2**19]))).write("in_two_files", options)
    'in_two_files'
    """

    def __init__(self, max_shard_size: int) -> None:
        if max_shard_size <= 0:
            raise ValueError(
                f"MaxShardSizePolicy: a file has at least one byte, got {max_shard_size}."
            )
        self._limit = max_shard_size

    @property
    def description(self) -> str:
        """What it does, in words."""
        return f"Files of at most {self._limit} bytes."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """The tensors in files that are filled one after the other.

        Args:
          shardable_tensors: the tensors.

        Returns:
          A dict for each file.
        """
        files: list[dict[str, dict[str, Tensor]]] = [{}]
        left = self._limit
        for one in shardable_tensors:
            for part, tensor, size in self._parts(one):
                if size > left and files[-1]:
                    files.append({})
                    left = self._limit
                files[-1].setdefault(one.checkpoint_key, {})[part] = tensor
                left -= size
        return files

    def _parts(self, one: ShardableTensor) -> Iterable[tuple[str, Tensor, int]]:
        sizes = [int(size or 0) for size in one.shape.as_list()]
        if one.dtype is string:
            texts = np.asarray(one.tensor.numpy(), object)
            yield one.slice_spec, one.tensor, sum(map(len, texts.flat))
            return
        total = math.prod(sizes) * one.dtype.size
        # Along the first axis of which one step is small enough.
        steps = [total // n if n else 0 for n in np.cumprod(sizes, dtype=np.int64).tolist()]
        axis = next((i for i, step in enumerate(steps) if step <= self._limit), len(sizes) - 1)
        if total <= self._limit or one.slice_spec or not sizes:
            yield one.slice_spec, one.tensor, total
            return
        yield from self._runs(one, sizes, axis, steps[axis])

    def _runs(
        self, one: ShardableTensor, sizes: list[int], axis: int, step: int
    ) -> Iterable[tuple[str, Tensor, int]]:
        """Runs along an axis, for each place along the axes before it."""
        run = max(self._limit // max(step, 1), 1)
        for before in np.ndindex(*sizes[:axis]):
            for start in range(0, sizes[axis], run):
                length = min(run, sizes[axis] - start)
                extents = (*[(i, 1) for i in before], (start, length))
                extents += tuple([(0, n) for n in sizes[axis + 1 :]])
                key = tuple([slice(begin, begin + size) for begin, size in extents])
                yield spec_text(sizes, extents), one.tensor[key], length * step


def checked_callback(callback: ShardingCallback | None) -> ShardingCallback | None:
    """What options were given as a callback.

    Args:
      callback: a `ShardingCallback`, or None.

    Returns:
      The same.

    Raises:
      ValueError: if it is something else.
    """
    if callback is not None and not isinstance(callback, ShardingCallback):
        raise ValueError(
            "experimental_sharding_callback must be a tf.train.experimental.ShardingCallback, got "
            f"{callback!r}."
        )
    return callback


def spec_text(sizes: Iterable[int], extents: Extents) -> str:
    """A part of a tensor in words: the sizes of the whole, and where it lies along each axis."""
    places = ":".join([f"{start},{length}" for start, length in extents])
    return f"{' '.join(map(str, sizes))} {places}"


_EXTENT = re.compile(r"-|\d+,\d+")


def extents_of(key: str, text: str) -> tuple[tuple[int, ...], Extents]:
    """The sizes of a whole tensor, and where a part lies.

    Args:
      key: the tensor.
      text: what a callback said.

    Returns:
      The shape, and a pair for each axis.

    Raises:
      InvalidArgumentError: if the text says nothing of the kind.
    """
    *sizes, places = text.split(" ")
    found = places.split(":")
    if len(found) != len(sizes) or not all(map(_EXTENT.fullmatch, found)):
        raise InvalidArgumentError(
            None, None, f"{key!r} has the part {text!r}; a part looks like '4 3 0,2:0,3'."
        )
    shape = tuple([int(size) for size in sizes])
    pairs = [(0, ALL) if one == "-" else one.split(",") for one in found]
    return shape, tuple([(int(start), int(length)) for start, length in pairs])


def sharded(
    callback: ShardingCallback, arrays: Sequence[tuple[str, Array]], owners: Mapping[str, Any]
) -> list[list[tuple[str, Array, str]]]:
    """What each file holds, as a callback says.

    Args:
      callback: the callback.
      arrays: the tensors, by key.
      owners: the objects they belong to, by key.

    Returns:
      For each file, keys with arrays and parts.

    Raises:
      InvalidArgumentError: if the callback leaves a tensor out, or makes one up.
    """
    given = []
    for key, array in arrays:
        tensor = convert_to_tensor(array)
        given.append(
            ShardableTensor(
                None, tensor, tensor.dtype, tensor.device, key, tensor.shape, "", key,
                owners.get(key),
            )
        )  # fmt: skip
    files = [
        [
            (key, np.asarray(part), text)
            for key, parts in file.items()
            for text, part in parts.items()
        ]
        for file in callback(given)
    ]
    _check_complete(dict(arrays), [piece for file in files for piece in file])
    return files


def _check_complete(wanted: Mapping[str, Array], pieces: list[tuple[str, Array, str]]) -> None:
    """Each element of each tensor must be in one file, once."""
    covered: dict[str, Any] = {}
    for key, array, text in pieces:
        if key not in wanted:
            raise InvalidArgumentError(None, None, f"A sharding callback made up {key!r}.")
        shape, extents = extents_of(key, text) if text else (array.shape, ())
        here = tuple([slice(a, None if n == ALL else a + n) for a, n in extents])
        seen = covered.setdefault(key, np.zeros(wanted[key].shape, np.bool_))
        fits = shape == seen.shape and array.dtype == wanted[key].dtype
        if not fits or seen[here].shape != array.shape:
            raise InvalidArgumentError(
                None,
                None,
                f"A sharding callback gave {key!r} the shape {list(shape)} and dtype "
                f"{array.dtype}, in a part {list(array.shape)}; it has {list(seen.shape)} and "
                f"{wanted[key].dtype}.",
            )
        if seen[here].any():
            raise InvalidArgumentError(
                None, None, f"A sharding callback gave a part of {key!r} to two files."
            )
        seen[here] = True
    missing = [key for key in wanted if key not in covered or not covered[key].all()]
    if missing:
        raise InvalidArgumentError(
            None, None, f"A sharding callback left out parts of {sorted(missing)}."
        )
