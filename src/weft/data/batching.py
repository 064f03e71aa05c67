"""Elements stacked, and rows taken apart: `batch`, `unbatch`, `rebatch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core.dtypes import int64
from weft.core.specs import TensorSpec
from weft.core.tensor import EagerTensor, Tensor
from weft.data import structure
from weft.data.base import (
    INPUT,
    DatasetBase,
    dataset_op,
    int64_scalar,
    number,
    refuse_unless,
    static_bool,
)
from weft.data.stage import UNKNOWN, Cursor, Run, Stage, join, row, scaled
from weft.data.structure import Values
from weft.errors import ShapeError
from weft.ops.registry import args
from weft.ops.static import get_static_value

# --- batch ---------------------------------------------------------------------------------------


class BatchStage(Stage):
    """Consecutive elements stacked along a new axis."""

    __slots__ = ("drop", "size", "source")

    def __init__(self, source: Stage, size: int, drop: bool) -> None:
        refuse_unless(size > 0, "batch", f"batch_size must be at least 1, got {size}.")
        self.source, self.size, self.drop = source, size, drop

    def cursor(self, run: Run) -> Cursor:
        return _BatchCursor(self.source.cursor(run), self.size, self.drop)

    def cardinality(self) -> int:
        def batches(n: int) -> int:
            return n // self.size if self.drop else -(-n // self.size)

        return scaled(self.source.cardinality(), batches)


class _BatchCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, source: Cursor, size: int, drop: bool) -> None:
        self._source = source
        self._size, self._drop = size, drop

    def __next__(self) -> Values:
        values = self._source.rows(self._size)
        if self._drop and len(values[0]) < self._size:
            raise StopIteration
        return values


batch_op = dataset_op(
    "BatchDatasetV2",
    INPUT + number("batch_size"),
    lambda xp, source, batch_size, *, drop_remainder: BatchStage(
        source, int(batch_size), drop_remainder
    ),
)


# --- unbatch -------------------------------------------------------------------------------------


class UnbatchStage(Stage):
    """The rows of every element, one by one."""

    __slots__ = ("source",)

    def __init__(self, source: Stage) -> None:
        self.source = source

    def cursor(self, run: Run) -> Cursor:
        return _UnbatchCursor(self.source.cursor(run))


class _UnbatchCursor(Cursor):
    own = ("_at", "_length", "_values")
    inputs = ("_source",)

    def __init__(self, source: Cursor) -> None:
        self._source = source
        self._values: Values = ()
        self._at = self._length = 0

    def _fill(self) -> None:
        while self._at >= self._length:
            values = next(self._source)
            lengths = {len(value) for value in values}
            if len(lengths) != 1:
                shapes = ", ".join(str(value.shape) for value in values)
                raise ShapeError(
                    "Dataset.unbatch: all components of an element must have the same first size, "
                    f"got shapes {shapes}."
                )
            self._values, self._at, self._length = values, 0, lengths.pop()

    def __next__(self) -> Values:
        self._fill()
        values = row(self._values, self._at)
        self._at += 1
        return values

    def rows(self, n: int) -> Values:
        parts: list[Values] = []
        left = n
        while left:
            try:
                self._fill()
            except StopIteration:
                if not parts:
                    raise
                break
            at, count = self._at, min(left, self._length - self._at)
            parts.append(tuple([value[at : at + count] for value in self._values]))
            self._at = at + count
            left -= count
        return join(parts)


unbatch_op = dataset_op("UnbatchDataset", INPUT, lambda xp, source: UnbatchStage(source))


# --- rebatch -------------------------------------------------------------------------------------


class RebatchStage(Stage):
    """Batches of other sizes, used in turn."""

    __slots__ = ("drop", "sizes", "source")

    def __init__(self, source: Stage, sizes: Sequence[int], drop: bool) -> None:
        refuse_unless(
            bool(sizes) and min(sizes) > 0,
            "rebatch",
            f"batch sizes must be at least 1, got {list(sizes)}.",
        )
        self.source, self.sizes, self.drop = source, tuple(sizes), drop

    def cursor(self, run: Run) -> Cursor:
        return _RebatchCursor(UnbatchStage(self.source).cursor(run), self.sizes, self.drop)

    def cardinality(self) -> int:
        return 0 if self.source.cardinality() == 0 else UNKNOWN


class _RebatchCursor(Cursor):
    own = ("_turn",)
    inputs = ("_source",)

    def __init__(self, source: Cursor, sizes: Sequence[int], drop: bool) -> None:
        self._source, self._sizes, self._drop = source, sizes, drop
        self._turn = 0

    def __next__(self) -> Values:
        size = self._sizes[self._turn]
        values = self._source.rows(size)
        if self._drop and len(values[0]) < size:
            raise StopIteration
        self._turn = (self._turn + 1) % len(self._sizes)
        return values


def _rebatch_kernel(xp: Any, source: Stage, sizes: Any, *, drop_remainder: bool) -> Stage:
    return RebatchStage(source, sizes.reshape(-1).tolist(), drop_remainder)


rebatch_op = dataset_op("RebatchDatasetV2", INPUT + args("batch_sizes", {int64}), _rebatch_kernel)


class BatchingMethods(DatasetBase):
    """Batches."""

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Consecutive elements stacked, `batch_size` at a time; the last batch may be smaller.

        >>> for batch in tf.data.Dataset.range(5).batch(2):
        ...     print(batch.numpy())
        [0 1]
        [2 3]
        [4]
        """
        size = int64_scalar("batch", "batch_size", batch_size)
        drop = static_bool("batch", "drop_remainder", drop_remainder)
        known = static_size(size) if drop else None
        if deterministic is not None and num_parallel_calls is None:
            raise ValueError("Dataset.batch: deterministic goes with num_parallel_calls.")
        spec = structure.map_specs(
            lambda s: structure.batched(s, known), self.element_spec, "batch"
        )
        return self._derived(batch_op, size, spec=spec, name=name, drop_remainder=drop)

    def unbatch(self, name: str | None = None) -> Any:
        """The rows of every element, one by one.

        >>> rows = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch()
        >>> [int(x) for x in rows]
        [1, 2, 3, 4]
        """
        spec = structure.map_specs(lambda s: _row(s, "unbatch"), self.element_spec, "unbatch")
        if not structure.flat_specs(spec):
            raise ValueError("Dataset.unbatch: there are no tensors to take apart.")
        return self._derived(unbatch_op, spec=spec, name=name)

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """Batches of another size, or of several sizes in turn.

        >>> batches = tf.data.Dataset.range(6).batch(2).rebatch([1, 3])
        >>> [batch.numpy().tolist() for batch in batches]
        [[0], [1, 2, 3], [4], [5]]
        """
        several = isinstance(batch_size, (list, tuple)) or (
            isinstance(batch_size, Tensor) and batch_size.shape.rank == 1
        )
        drop = static_bool("rebatch", "drop_remainder", drop_remainder)
        if several:
            sizes = EagerTensor(_sizes_vector(batch_size))
            found = set(sizes._value.tolist())
            known = found.pop() if len(found) == 1 and drop else None
        else:
            sizes = int64_scalar("rebatch", "batch_size", batch_size)  # type: ignore[assignment]
            known = static_size(sizes) if drop else None

        def leaf(spec: TensorSpec) -> TensorSpec:
            return structure.batched(_row(spec, "rebatch"), known)

        spec = structure.map_specs(leaf, self.element_spec, "rebatch")
        return self._derived(rebatch_op, sizes, spec=spec, name=name, drop_remainder=drop)


def _sizes_vector(sizes: Any) -> Any:
    made = [int64_scalar("rebatch", "each of batch_size", size) for size in sizes]
    return np.array([int(size) for size in made], np.int64)  # type: ignore[call-overload]


def static_size(size: Tensor) -> int | None:
    """A batch size for the static shape of batches, if it is known while tracing."""
    value = get_static_value(size)
    return None if value is None or int(value) <= 0 else int(value)


def _row(spec: TensorSpec, method: str) -> TensorSpec:
    dims = structure.sizes(spec)
    if dims == []:
        raise ShapeError(
            f"Dataset.{method}: each component needs a first axis, got scalars. Batch first."
        )
    return TensorSpec(None if dims is None else dims[1:], spec.dtype)
