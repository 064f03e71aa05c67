"""Elements stacked, and rows taken apart: `batch`, `unbatch`, `rebatch`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src import nest
from weft._src.core.aliases import ArrayNamespace, DTypeLike, IntLike, ShapeLike, SpecNest
from weft._src.core.dtypes import int64
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import EagerTensor, Tensor
from weft._src.data.core import columns
from weft._src.data.core.base import (
    INPUT,
    DatasetBase,
    dataset_op,
    int64_scalar,
    number,
    refuse_unless,
    static_bool,
)
from weft._src.data.core.column_rows import column_rows_op
from weft._src.data.core.columns import (
    Column,
    all_tensors,
    batched,
    columns_of,
    from_plain,
    map_leaves,
    plain,
    row_of,
)
from weft._src.data.core.encoded_parts import need_encoding, through_encodings
from weft._src.data.core.stage import UNKNOWN, Cursor, Run, Stage, join, row, scaled
from weft._src.data.core.structure import Values, flat_specs
from weft._src.errors import ShapeError
from weft._src.ops.ragged.rows import splits_dtype
from weft._src.ops.ragged.spec import RaggedTensorSpec
from weft._src.ops.registry import args
from weft._src.ops.sparse.tensor import SparseTensorSpec
from weft._src.ops.static import static_value

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

# --- batch ---------------------------------------------------------------------------------------


class Batches(Stage):
    """What all kinds of batches have in common."""

    __slots__ = ("batch_size", "drop", "source")

    def __init__(self, method: str, source: Stage, size: int, drop: bool) -> None:
        refuse_unless(size > 0, method, f"batch_size must be at least 1, got {size}.")
        self.source, self.batch_size, self.drop = source, size, drop

    def cardinality(self) -> int:
        def batches(n: int) -> int:
            size = self.batch_size
            return n // size if self.drop else -(-n // size)

        return scaled(self.source.cardinality(), batches)

    def elements(self, source: Cursor) -> list[Values]:
        """The elements of the next batch; StopIteration if there are none, or too few."""
        found = list(islice(source, self.batch_size))
        if not found or (self.drop and len(found) < self.batch_size):
            raise StopIteration
        return found


class BatchStage(Batches):
    """Consecutive elements stacked along a new axis."""

    __slots__ = ()

    def cursor(self, run: Run) -> Cursor:
        return _BatchCursor(self.source.cursor(run), self.batch_size, self.drop)


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
        "batch", source, int(batch_size), drop_remainder
    ),
)


class ColumnBatchStage(Batches):
    """Consecutive elements stacked part by part: ragged and sparse tensors are among them."""

    __slots__ = ("columns",)

    def __init__(
        self, method: str, source: Stage, size: int, drop: bool, layout: Sequence[Column]
    ) -> None:
        super().__init__(method, source, size, drop)
        self.columns = layout

    def cursor(self, run: Run) -> Cursor:
        return _ColumnBatchCursor(self, self.source.cursor(run))


class _ColumnBatchCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, stage: ColumnBatchStage, source: Cursor) -> None:
        self._stage, self._source = stage, source

    def __next__(self) -> Values:
        return columns.stacked(self._stage.columns, self._stage.elements(self._source))


column_batch_op = dataset_op(
    "ColumnBatchDataset",
    INPUT + number("batch_size"),
    lambda xp, source, batch_size, *, method, drop_remainder, layout: ColumnBatchStage(
        method, source, int(batch_size), drop_remainder, from_plain(layout)
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


def _rebatch_kernel(
    xp: ArrayNamespace, source: Stage, sizes: Any, *, drop_remainder: bool
) -> Stage:
    return RebatchStage(source, sizes.reshape(-1).tolist(), drop_remainder)


rebatch_op = dataset_op("RebatchDatasetV2", INPUT + args("batch_sizes", {int64}), _rebatch_kernel)


class BatchingMethods(DatasetBase):
    """Batches."""

    def batch(
        self,
        batch_size: IntLike,
        drop_remainder: bool = False,
        num_parallel_calls: IntLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Consecutive elements stacked, `batch_size` at a time; the last batch may be smaller.

        Args:
          batch_size: how many elements a batch has.
          drop_remainder: whether a smaller last batch is left out; the size is known statically
            then.
          num_parallel_calls: accepted for compatibility; batches are made one after the other.
          deterministic: accepted for compatibility, together with `num_parallel_calls`.

        Returns:
          A dataset; its tensors have one more axis, the first.

        Raises:
          tf.errors.InvalidArgumentError: if `batch_size` is less than 1; when iterating, if shapes
            within a batch differ.
          ValueError: if `deterministic` is given without `num_parallel_calls`.

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
        if need_encoding(self.element_spec):
            return through_encodings(
                self, lambda d: d.batch(size, drop, name=name), lambda s: batched(s, known)
            )
        layout = columns_of(self.element_spec)
        spec = map_leaves(lambda s: batched(s, known), self.element_spec, "batch")
        if all_tensors(layout):
            return self._derived(batch_op, size, spec=spec, name=name, drop_remainder=drop)
        return self._in_columns("batch", size, layout, spec, drop, name)

    def _in_columns(
        self, method: str, size: IntLike, layout: Any, spec: SpecNest, drop: bool, name: str | None
    ) -> Dataset:
        return self._derived(
            column_batch_op,
            size,
            spec=spec,
            name=name,
            method=method,
            drop_remainder=drop,
            layout=plain(layout),
        )

    def ragged_batch(
        self,
        batch_size: IntLike,
        drop_remainder: bool = False,
        row_splits_dtype: DTypeLike = int64,
        name: str | None = None,
    ) -> Dataset:
        """Batches of tensors whose sizes may differ: ragged ones where sizes are not known.

        Args:
          batch_size: how many elements a batch has.
          drop_remainder: whether a smaller last batch is left out.
          row_splits_dtype: int64 or int32, the dtype of the row splits.

        Returns:
          A dataset of ragged tensors; of tensors, where the static shape of a component is known.

        Raises:
          tf.errors.InvalidArgumentError: if `batch_size` is less than 1.

        >>> rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> for batch in rows.ragged_batch(2):
        ...     print(batch)
        <tf.RaggedTensor [[1], [2, 2]]>
        <tf.RaggedTensor [[3, 3, 3]]>
        """
        size = int64_scalar("ragged_batch", "batch_size", batch_size)
        drop = static_bool("ragged_batch", "drop_remainder", drop_remainder)
        known = static_size(size) if drop else None
        dtype = splits_dtype(row_splits_dtype)
        inner = map_leaves(lambda s: _as_ragged_spec(s, dtype), self.element_spec, "ragged_batch")
        pairs = zip(nest.flatten(self.element_spec), columns_of(inner), strict=True)
        layout = tuple([
            Column("to ragged", 1, (column.detail, column.width - 1))
            if column.kind == "ragged" and isinstance(given, TensorSpec) else column
            for given, column in pairs
        ])  # fmt: skip
        spec = nest.map_structure(lambda s: batched(s, known), inner)
        return self._in_columns("ragged_batch", size, layout, spec, drop, name)

    def sparse_batch(
        self, batch_size: IntLike, row_shape: ShapeLike, name: str | None = None
    ) -> Dataset:
        """Batches of tensors as sparse ones; a size of None in `row_shape` is that of the largest.

        Args:
          batch_size: how many elements a batch has; the last one may have fewer.
          row_shape: the shape of a row, with a size for each axis of an element.

        Returns:
          A dataset of `tf.SparseTensor`s.

        Raises:
          TypeError: if the elements are not single tensors.
          ValueError: if `row_shape` has not the rank of the elements.
          tf.errors.DataLossError: when iterating, if an element is larger than `row_shape`.

        >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
        >>> next(iter(rows.sparse_batch(2, [4]))).dense_shape.numpy()
        array([2, 4])
        """
        size = int64_scalar("sparse_batch", "batch_size", batch_size)
        given = self.element_spec
        if not isinstance(given, TensorSpec):
            raise TypeError(f"Dataset.sparse_batch: elements must be tensors, got {given!r}.")
        try:
            shape = TensorShape(row_shape)
        except (TypeError, ValueError) as e:
            raise type(e)(f"Dataset.sparse_batch: row_shape must be a shape. {e}") from None
        if shape.rank is None or given.rank not in (None, shape.rank):
            raise ValueError(
                f"Dataset.sparse_batch: row_shape must have a size for each axis of {given!r}, "
                f"got {row_shape!r}."
            )
        sizes = tuple([-1 if n is None else n for n in shape.as_list()])
        spec = SparseTensorSpec([None, *shape], given.dtype)
        layout = (Column("to sparse", 1, sizes),)
        return self._in_columns("sparse_batch", size, layout, spec, False, name)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of every element, one by one.

        Returns:
          A dataset; its tensors have one axis less.

        Raises:
          ShapeError: if a component is a scalar.
          ValueError: if the elements hold no tensors.

        >>> rows = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch()
        >>> [int(x) for x in rows]
        [1, 2, 3, 4]
        """
        if need_encoding(self.element_spec):
            return through_encodings(
                self, lambda d: d.unbatch(name=name), lambda s: row_of(s, "unbatch")
            )
        layout = columns_of(self.element_spec)
        spec = map_leaves(lambda s: row_of(s, "unbatch"), self.element_spec, "unbatch")
        if not layout:
            raise ValueError("Dataset.unbatch: there are no tensors to take apart.")
        if all_tensors(layout):
            return self._derived(unbatch_op, spec=spec, name=name)
        return self._derived(
            column_rows_op, spec=spec, name=name, method="unbatch", layout=plain(layout)
        )

    def rebatch(
        self, batch_size: IntLike, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Batches of another size, or of several sizes in turn.

        Args:
          batch_size: how many rows a batch has, or a list of such sizes.
          drop_remainder: whether a last batch that has not its size is left out.

        Returns:
          A dataset of the same rows.

        Raises:
          ShapeError: if a component is a scalar.
          tf.errors.InvalidArgumentError: if a size is less than 1.
          TypeError: if there are several sizes, and elements that are ragged or sparse.

        >>> batches = tf.data.Dataset.range(6).batch(2).rebatch([1, 3])
        >>> [batch.numpy().tolist() for batch in batches]
        [[0], [1, 2, 3], [4], [5]]
        """
        several = isinstance(batch_size, (list, tuple)) or (
            isinstance(batch_size, Tensor) and batch_size.shape.rank == 1
        )
        drop = static_bool("rebatch", "drop_remainder", drop_remainder)
        special = need_encoding(self.element_spec)
        if special or not all_tensors(columns_of(self.element_spec)):
            if several:
                raise TypeError(
                    "Dataset.rebatch: several batch sizes in turn are for tensors only, the "
                    f"elements are {self.element_spec!r}. Pass one batch_size."
                )
            return self.unbatch().batch(batch_size, drop, name=name)
        if several:
            sizes = EagerTensor(_sizes_vector(batch_size))
            found = sizes._value.tolist()
            fits = drop or _fills(self.element_spec, sum(found))
            known = found[0] if found and len(set(found)) == 1 and fits else None
        else:
            sizes = int64_scalar("rebatch", "batch_size", batch_size)  # type: ignore[assignment]
            known = static_size(sizes)
            known = known if drop or _fills(self.element_spec, known) else None

        def leaf(spec: SpecNest) -> Any:
            return batched(row_of(spec, "rebatch"), known)

        spec = map_leaves(leaf, self.element_spec, "rebatch")
        return self._derived(rebatch_op, sizes, spec=spec, name=name, drop_remainder=drop)


def _fills(spec: SpecNest, size: int | None) -> bool:
    """Whether each element has rows for whole batches of a size, so that none is cut short."""
    rows = [leaf.shape[0] if leaf.shape.rank else None for leaf in flat_specs(spec)]
    return bool(size and size > 0) and all(n is not None and n % size == 0 for n in rows)


def _sizes_vector(sizes: Any) -> Any:
    made = [int64_scalar("rebatch", "each of batch_size", size) for size in sizes]
    return np.array([int(size) for size in made], np.int64)


def static_size(size: Tensor) -> int | None:
    """A batch size for the static shape of batches, if it is known while tracing."""
    value = static_value(size)
    return None if value is None or int(value) <= 0 else int(value)


def _as_ragged_spec(spec: SpecNest, dtype: Any) -> Any:
    """What a tensor is in a ragged batch: ragged up to the last axis whose size is not known."""
    if not isinstance(spec, TensorSpec):
        return spec
    if spec.shape.rank is None:
        raise ValueError(
            f"Dataset.ragged_batch: the rank of a component is unknown; elements are {spec!r}."
        )
    unknown = [i for i, size in enumerate(spec.shape) if size is None]
    return RaggedTensorSpec(spec.shape, spec.dtype, unknown[-1], dtype) if unknown else spec
