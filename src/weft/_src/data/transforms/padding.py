"""Elements of different sizes in one batch: `padded_batch`, `bucket_by_sequence_length`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._src import nest
from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, IntLike, SpecNest
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.data.core import structure
from weft._src.data.core.base import (
    INPUT,
    DatasetBase,
    dataset_op,
    int64_scalar,
    number,
    static_bool,
)
from weft._src.data.core.stage import Cursor, Run, Stage
from weft._src.data.core.structure import Values
from weft._src.data.transforms.batching import Batches, static_size
from weft._src.errors import DataLossError, InvalidArgumentError
from weft._src.ops.elementwise import casting
from weft._src.ops.host.asserting import Assert
from weft._src.ops.indexing import gathering
from weft._src.ops.reduce import sums
from weft._src.ops.registry import each

if TYPE_CHECKING:
    from weft._src.data.dataset import Dataset

Sizes = tuple[int, ...]


class PaddedBatchStage(Batches):
    """Consecutive elements made equally large and stacked."""

    __slots__ = ("paddings", "shapes")

    def __init__(
        self, source: Stage, size: int, shapes: Sequence[Sizes], paddings: Values, drop: bool
    ) -> None:
        super().__init__("padded_batch", source, size, drop)
        self.shapes, self.paddings = shapes, paddings

    def cursor(self, run: Run) -> Cursor:
        return _PaddedBatchCursor(self, run)


class _PaddedBatchCursor(Cursor):
    inputs = ("_source",)

    def __init__(self, stage: PaddedBatchStage, run: Run) -> None:
        self._stage = stage
        self._source = stage.source.cursor(run)

    def __next__(self) -> Values:
        stage = self._stage
        columns = list(zip(*stage.elements(self._source), strict=True))
        return tuple([
            _padded(i, column, stage.shapes[i], stage.paddings[i])
            for i, column in enumerate(columns)
        ])  # fmt: skip


def _padded(component: int, column: Sequence[Any], wanted: Sizes, padding: Any) -> Any:
    """One component of several elements as one array; -1 is the size of the largest."""
    rank = len(wanted)
    for i, value in enumerate(column):
        if value.ndim != rank:
            raise InvalidArgumentError(
                None,
                None,
                f"Dataset.padded_batch: component {component} of element {i} has shape "
                f"{value.shape}, expected rank {rank}.",
            )
    largest = [max(sizes) for sizes in zip(*[v.shape for v in column], strict=True)]
    shape = [big if size < 0 else size for big, size in zip(largest, wanted, strict=True)]
    for i, value in enumerate(column):
        if any(n > size for n, size in zip(value.shape, shape, strict=True)):
            raise DataLossError(
                None,
                None,
                f"Dataset.padded_batch: component {component} of element {i} has shape "
                f"{value.shape}, which is larger than the padded shape {tuple(shape)}.",
            )
    memory.check("padded_batch", (len(column), *shape), column[0].dtype)
    out = np.full((len(column), *shape), padding[()], column[0].dtype)
    for i, value in enumerate(column):
        place: Any = (i, *[slice(n) for n in value.shape])
        out[place] = value
    return out


def _padded_kernel(
    xp: ArrayNamespace, source: Stage, size: Any, *inputs: Any, drop_remainder: bool
) -> Stage:
    n = len(inputs) // 2
    shapes = [tuple(shape.tolist()) for shape in inputs[:n]]
    return PaddedBatchStage(source, int(size), shapes, inputs[n:], drop_remainder)


padded_batch_op = dataset_op(
    "PaddedBatchDatasetV2",
    INPUT + number("batch_size") + each("*padded_shapes_and_values", DATA),
    _padded_kernel,
)


class PaddingMethods(DatasetBase):
    """Batches of elements of different sizes."""

    def padded_batch(
        self,
        batch_size: IntLike,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Consecutive elements filled up to one shape and stacked.

        `padded_shapes` gives the shape; a size of None (or -1) is that of the largest element of
        the batch. Zeros and empty strings are filled in, or `padding_values`.

        Args:
          batch_size: how many elements a batch has.
          padded_shapes: a shape for each component, in a structure like that of the elements; None
            leaves those sizes open that are not known statically.
          padding_values: one scalar for all components, or a structure of scalars; None is 0 or "".
          drop_remainder: whether a smaller last batch is left out.

        Returns:
          A dataset; its tensors have one more axis, the first.

        Raises:
          tf.errors.InvalidArgumentError: if `batch_size` is less than 1.
          ValueError: if shapes or values do not fit the elements, or a rank is unknown and no
            shapes are given.
          TypeError: if elements are ragged or sparse, or a value has another dtype.
          tf.errors.DataLossError: when iterating, if an element is larger than its padded shape.

        >>> rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        >>> for batch in rows.padded_batch(3):
        ...     print(batch.numpy())
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        wanted = _shapes(self.element_spec, padded_shapes)
        inputs = [convert_to_tensor(np.array(sizes, np.int64)) for sizes in wanted]
        return self._padded(batch_size, wanted, inputs, padding_values, drop_remainder, name)

    def _padded(
        self, batch_size: IntLike, wanted: Sequence[Sizes], inputs: Sequence[Tensor],
        padding_values: Any, drop_remainder: Any, name: str | None,
    ) -> Dataset:  # fmt: skip
        """Shapes as far as they are known, and as tensors."""
        size = int64_scalar("padded_batch", "batch_size", batch_size)
        drop = static_bool("padded_batch", "drop_remainder", drop_remainder)
        specs = structure.flat_specs(self.element_spec)
        paddings = _paddings(self.element_spec, specs, padding_values)
        known = static_size(size) if drop else None
        flat = [
            TensorSpec([known, *[None if d < 0 else d for d in sizes]], spec.dtype)
            for spec, sizes in zip(specs, wanted, strict=True)
        ]
        spec = nest.pack_sequence_as(self.element_spec, flat)
        return self._derived(
            padded_batch_op, size, *inputs, *paddings, spec=spec, name=name, drop_remainder=drop
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of similar length, which need little padding.

        Args:
          element_length_func: a function of an element that returns its length.
          bucket_boundaries: the lengths at which the next bucket begins, rising.
          bucket_batch_sizes: the batch size of each bucket; one more than there are boundaries.
          padded_shapes: as in `padded_batch`.
          padding_values: as in `padded_batch`.
          pad_to_bucket_boundary: whether open sizes become the greatest length of the bucket, not
            that of the batch.
          no_padding: whether elements are stacked as they are.
          drop_remainder: whether smaller last batches are left out.

        Returns:
          A dataset of batches.

        Raises:
          ValueError: if there is not one batch size more than boundaries.
          TypeError: if `element_length_func` is no function, or boundaries or sizes are no
            integers.
          tf.errors.InvalidArgumentError: when iterating, with `pad_to_bucket_boundary`, if an
            element is as long as the last boundary or longer.

        >>> rows = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
        >>> for batch in rows.bucket_by_sequence_length(
        ...     lambda x: tf.shape(x)[0], bucket_boundaries=[3], bucket_batch_sizes=[2, 2]
        ... ):
        ...     print(batch.numpy())
        [[1 0]
         [2 2]]
        [[3 3 3 0]
         [4 4 4 4]]
        """
        method = "bucket_by_sequence_length"
        boundaries, batch_sizes = _buckets(method, bucket_boundaries, bucket_batch_sizes)
        sizes = np.array(batch_sizes, np.int64)
        if not callable(element_length_func):
            raise TypeError(
                f"Dataset.{method}: element_length_func must be a function, got "
                f"{element_length_func!r}."
            )
        unpadded = static_bool(method, "no_padding", no_padding)
        to_boundary = static_bool(method, "pad_to_bucket_boundary", pad_to_bucket_boundary)

        def bucket(*element: Any) -> Tensor:
            length = casting.cast(convert_to_tensor(element_length_func(*element)), int64)
            return sums.reduce_sum(casting.cast(length >= boundaries, int64))

        def size_of(key: Any) -> Tensor:
            return gathering.gather(sizes, key)

        def batches(key: Any, rows: Any) -> Any:
            size = size_of(key)
            if unpadded:
                return rows.batch(size, drop_remainder=drop_remainder)
            if not to_boundary:
                return rows.padded_batch(size, padded_shapes, padding_values, drop_remainder)
            wanted = _shapes(rows.element_spec, padded_shapes)
            inputs = [_up_to_boundary(sizes, key, boundaries) for sizes in wanted]
            return rows._padded(size, wanted, inputs, padding_values, drop_remainder, None)

        return self.group_by_window(  # type: ignore[attr-defined]
            bucket, batches, window_size_func=size_of, name=name
        )


def _buckets(method: str, boundaries: Any, batch_sizes: Any) -> tuple[list[int], list[int]]:
    try:
        boundaries, batch_sizes = [int(b) for b in boundaries], [int(b) for b in batch_sizes]
    except (TypeError, ValueError):
        raise TypeError(
            f"Dataset.{method}: bucket_boundaries and bucket_batch_sizes must be lists of "
            f"integers, got {boundaries!r} and {batch_sizes!r}."
        ) from None
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            f"Dataset.{method}: {len(boundaries)} bucket_boundaries make {len(boundaries) + 1} "
            f"buckets, but there are {len(batch_sizes)} bucket_batch_sizes."
        )
    return boundaries, batch_sizes


def _up_to_boundary(sizes: Sizes, key: Tensor, boundaries: Sequence[int]) -> Tensor:
    """A shape with sizes that are left open replaced by the largest that the bucket holds."""
    last = boundaries[-1] if boundaries else 0
    text = "bucket_by_sequence_length: with pad_to_bucket_boundary elements must be shorter than"
    Assert(key < len(boundaries), [f"{text} the last boundary, {last}."])
    largest = gathering.gather(np.array(boundaries, np.int64), key) - 1
    return convert_to_tensor(
        [largest if size < 0 else np.int64(size) for size in sizes], dtype=int64
    )


def _shapes(element_spec: SpecNest, padded_shapes: Any) -> list[Sizes]:
    """The sizes wanted for each component: -1 for that of the largest."""
    for leaf in nest.flatten(element_spec):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                f"Dataset.padded_batch: elements that hold {leaf!r} cannot be padded. Use batch, "
                "which keeps ragged and sparse tensors, or make tensors of them in a map."
            )
    specs = structure.flat_specs(element_spec)
    if padded_shapes is None:
        for spec in specs:
            if spec.dims is None:
                raise ValueError(
                    "Dataset.padded_batch: the rank of a component is unknown, so padded_shapes "
                    f"must be given; the elements are {element_spec!r}."
                )
        given: list[Any] = [spec.shape for spec in specs]
    else:
        given = _along(element_spec, padded_shapes, "padded_shapes")
    out: list[Sizes] = []
    for spec, item in zip(specs, given, strict=True):
        try:
            sizes = _sizes_of(item)
        except (TypeError, ValueError):
            raise TypeError(
                f"Dataset.padded_batch: padded_shapes must be shapes, got {item!r}."
            ) from None
        fits = spec.dims is None or (
            len(sizes) == len(spec.dims)
            and all(s < 0 or type(d) is not int or s >= d for s, d in zip(sizes, spec.dims))
        )
        if not fits:
            raise ValueError(
                f"Dataset.padded_batch: the padded shape {item!r} does not fit a component of "
                f"shape {spec.shape}."
            )
        out.append(sizes)
    return out


def _sizes_of(shape: Any) -> Sizes:
    if isinstance(shape, Tensor):
        shape = np.asarray(shape).tolist()
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    sizes = shape.as_list() if isinstance(shape, TensorShape) else list(shape)
    return tuple([-1 if size is None or size < 0 else int(size) for size in sizes])


def _along(element_spec: Any, value: Any, name: str) -> list[Any]:
    """The parts of an argument that has the structure of the elements."""
    if isinstance(element_spec, TensorSpec):
        return [value]
    if isinstance(element_spec, dict):
        if not isinstance(value, dict) or set(value) != set(element_spec):
            raise _other_structure(element_spec, value, name)
        return [p for k in sorted(element_spec) for p in _along(element_spec[k], value[k], name)]
    if isinstance(value, (tuple, list)) and len(value) == len(element_spec):
        pairs = zip(element_spec, value, strict=True)
        return [p for spec, item in pairs for p in _along(spec, item, name)]
    raise _other_structure(element_spec, value, name)


def _other_structure(element_spec: SpecNest, value: Any, name: str) -> ValueError:
    return ValueError(
        f"Dataset.padded_batch: {name} must have the structure of the elements, {element_spec!r}, "
        f"got {value!r}."
    )


def _paddings(element_spec: SpecNest, specs: Sequence[TensorSpec], values: Any) -> list[Tensor]:
    if values is None:
        given: list[Any] = [None] * len(specs)
    elif nest.is_nested(values):
        given = _along(element_spec, values, "padding_values")
    else:
        given = [values] * len(specs)  # one number for all components
    return [_padding(spec, item) for spec, item in zip(specs, given, strict=True)]


def _padding(spec: TensorSpec, value: Any) -> Tensor:
    if value is None:
        value = b"" if spec.dtype.name == "string" else np.zeros((), spec.dtype.numpy_dtype)
    try:
        tensor = convert_to_tensor(value, dtype=spec.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            f"Dataset.padded_batch: the padding value {value!r} is not of the component's dtype "
            f"{spec.dtype.name}."
        ) from None
    if tensor.shape.rank not in (None, 0):
        raise ValueError(
            f"Dataset.padded_batch: padding_values must be scalars, got shape {tensor.shape}."
        )
    return tensor
