"""Rows dealt out to several tensors, and put together again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor, items_of, of_dtype
from weft._src.core.dtypes import DATA, INDEX, int32
from weft._src.core.machine_jobs import Function, MachineJob
from weft._src.core.shapes import Dim, Dims, Size
from weft._src.core.specs import TensorSpec, ValueSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import DTypeError, InvalidArgumentError, ShapeError
from weft._src.ops import rules, shape_graph_forms, static
from weft._src.ops.arrays import joining, ranges, shape as shapes
from weft._src.ops.contexts import VjpContext
from weft._src.ops.indexing import gathering
from weft._src.ops.registry import DATA_SHAPED, NO_NATIVE, Op, define_op, each

# --- dynamic_partition -------------------------------------------------------------------------


def _inner(op: str, data: TensorSpec, index: TensorSpec, what: str) -> Dims | None:
    """The axes of data behind those its index has; ShapeError unless it begins with them."""
    if data.dims is None or index.dims is None:
        return None
    n = len(index.dims)
    rules.merge_dims(op, index.dims, data.dims[:n], what)
    return data.dims[n:]


def _partition_infer(
    data: TensorSpec, partitions: TensorSpec, *, num_partitions: int
) -> tuple[TensorSpec, ...]:
    what = "partitions and the leading axes of data"
    inner = _inner("dynamic_partition", data, partitions, what)
    return tuple(
        [data.with_dims(None if inner is None else (Dim(), *inner)) for _ in range(num_partitions)]
    )


_WORTH_SORTING = 1000  # rows


# By the bits of an id and the bytes of an element.
_JOBS = {
    (bits, size): MachineJob(f"partition_{bits}_{size}", ("x", "out", "ids", "next"))
    for bits in (32, 64)
    for size in (1, 2, 4, 8)
}
_NUMPY_TAKES = 1e-8  # seconds for an element


def _by_machine(run: Function, x: Array, ids: Array, parts: int) -> tuple[Array, ...]:
    x, ids = np.ascontiguousarray(x), np.ascontiguousarray(ids)
    counts = np.bincount(ids, minlength=parts)
    ends = np.cumsum(counts)
    out = np.empty(x.shape, x.dtype)
    run((x, out, ids, ends - counts), ids.size, ids.size)
    return tuple([part.copy() for part in np.split(out, ends[:-1])])


def _partition_kernel(
    xp: ArrayNamespace, data: Array, partitions: Array, *, num_partitions: int
) -> tuple[Array, ...]:
    ids = xp.reshape(partitions, (-1,))
    if ids.size and (ids.min() < 0 or ids.max() >= num_partitions):
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise InvalidArgumentError(
            None,
            None,
            f"dynamic_partition: partitions must be in [0, {num_partitions}), got {wrong}.",
        )
    rows = xp.reshape(data, (ids.size, *data.shape[partitions.ndim :]))
    if ids.size < _WORTH_SORTING or num_partitions > 2**16:
        return tuple([rows[ids == i] for i in range(num_partitions)])
    if rows.ndim == 1 and not rows.dtype.hasobject:
        job = _JOBS.get((8 * ids.itemsize, rows.itemsize))
        run = None if job is None else job.after(ids.size * _NUMPY_TAKES)
        if run is not None:
            return _by_machine(run, rows, ids, num_partitions)
    # Numbers of one or two bytes are sorted by counting them.
    short = ids.astype(xp.uint8 if num_partitions <= 2**8 else xp.uint16)
    ends = xp.cumsum(xp.bincount(short, minlength=num_partitions))
    parts = xp.split(rows[xp.argsort(short, kind="stable")], ends[:-1])
    return tuple([xp.array(part) for part in parts])


def _partition_vjp(ctx: VjpContext, *gs: Tensor | None) -> tuple[Tensor, None]:
    data, partitions = ctx.inputs
    numbers = shapes.reshape(
        ranges.range(shapes.size(partitions)), shapes.shape_op(partitions, out_type=int32)
    )
    places = partition_op(numbers, partitions, **ctx.attrs)
    parts = [ctx.zeros_like_output(i) if g is None else g for i, g in enumerate(gs)]
    return shapes.reshape_like(stitch_op(*places, *parts, num=len(parts)), data), None


partition_op: Op = define_op(
    "DynamicPartition",
    each("data", DATA) + each("partitions", INDEX),
    infer=_partition_infer,
    kernel=_partition_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=_partition_vjp,
    outputs=None,
    fresh=True,
    ragged="partition",
)


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> list[Tensor]:
    """The rows of data dealt out to `num_partitions` tensors, as `partitions` says.

    Args:
      data: a tensor whose shape begins with that of `partitions`.
      partitions: int32, the number of the tensor that a row goes to.
      num_partitions: how many tensors there are, an integer known while tracing, at least 1.

    Returns:
      A list of `num_partitions` tensors of shape [number of its rows, the rest of the shape of
      data]. Rows keep their order.

    Raises:
      InvalidArgumentError: if a number in `partitions` is not in [0, num_partitions).
      ShapeError: if the shape of `data` does not begin with that of `partitions`.

    >>> parts = tf.dynamic_partition([10, 20, 30, 40], [0, 1, 0, 0], 2)
    >>> [part.numpy().tolist() for part in parts]
    [[10, 30, 40], [20]]
    """
    count = static.static_int("dynamic_partition", num_partitions, "num_partitions")
    if not 1 <= count <= 2**20:
        raise ShapeError(f"dynamic_partition: num_partitions must be at least 1, got {count}.")
    ids = of_dtype("dynamic_partition", partitions, int32, "partitions")
    return list(partition_op(convert_to_tensor(data), ids, num_partitions=count, name=name))


# --- dynamic_stitch ----------------------------------------------------------------------------


def _stitch_infer(*inputs: TensorSpec, num: int) -> TensorSpec:
    inner: Dims | None = None
    for i, (index, data) in enumerate(zip(inputs[:num], inputs[num:], strict=True)):
        if index.dtype not in INDEX or data.dtype is not inputs[num].dtype:
            raise DTypeError(
                f"dynamic_stitch: indices[{i}] has dtype {index.dtype.name} and data[{i}] "
                f"{data.dtype.name}, expected int32 or int64 and {inputs[num].dtype.name}."
            )
        found = _inner(
            "dynamic_stitch", data, index, f"indices[{i}] and the leading axes of data[{i}]"
        )
        if found is not None:
            inner = rules.merge_dims("dynamic_stitch", inner, found, "the rows of all data")
    return inputs[num].with_dims(None if inner is None else (_rows_of(inputs[:num]), *inner))


def _rows_of(indices: Sequence[TensorSpec]) -> Size:
    """One more than the largest index, if all of them are known."""
    largest = -1
    for index in indices:
        value = index.value if isinstance(index, ValueSpec) else None
        if value is None or any(isinstance(n, Dim) for n in value.flat):
            return Dim()
        largest = max([largest, *[int(n) for n in value.flat]])
    return largest + 1


def _stitch_kernel(xp: ArrayNamespace, *inputs: Array, num: int) -> Array:
    indices, parts = inputs[:num], inputs[num:]
    if any(index.size and index.min() < 0 for index in indices):
        raise InvalidArgumentError(None, None, "dynamic_stitch: indices must not be negative.")
    size = max([int(index.max()) + 1 for index in indices if index.size], default=0)
    shape = (size, *parts[0].shape[indices[0].ndim :])
    # Objects are text, or sizes while tracing.
    is_text = any(isinstance(x, bytes) for part in parts if part.dtype == object for x in part.flat)
    out = xp.full(shape, b"" if is_text else 0, parts[0].dtype)
    for index, part in zip(indices, parts, strict=True):
        places = xp.reshape(index, (-1,)).astype(xp.int64)
        out[places] = xp.reshape(part, (index.size, *shape[1:]))
    return out


def _stitch_vjp(ctx: VjpContext, g: Tensor) -> tuple[Tensor | None, ...]:
    indices = ctx.inputs[: ctx.attrs["num"]]
    # As in TensorFlow, rows that later ones replaced get a gradient, too.
    return *[None for _ in indices], *[gathering.gather(g, index) for index in indices]


stitch_op: Op = define_op(
    "DynamicStitch",
    each("*indices_and_data", DATA, is_shape=True),
    infer=_stitch_infer,
    kernel=_stitch_kernel,
    native=NO_NATIVE,
    xla=DATA_SHAPED,
    vjp=_stitch_vjp,
    fresh=True,
    shape_arithmetic=True,
    graphdef=shape_graph_forms.stitch,
)


def dynamic_stitch(indices: TensorLike, data: TensorLike, name: str | None = None) -> Tensor:
    """One tensor whose row `indices[m][i]` is `data[m][i]`; later rows replace earlier ones.

    Args:
      indices: a list of int32 tensors.
      data: a list of as many tensors of one dtype; the shape of each begins with that of its
        indices, the rest is the same for all.

    Returns:
      A tensor with as many rows as the largest index says. Rows that no index names are 0 (or "").

    Raises:
      ValueError: if the lists are empty or of different lengths.
      InvalidArgumentError: if an index is negative.
      ShapeError: if shapes do not fit.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy()
    array([10, 20, 30], dtype=int32)
    """
    items = items_of("dynamic_stitch", indices, "indices")
    places = [of_dtype("dynamic_stitch", item, int32, "indices") for item in items]
    parts = joining.matching_tensors(items_of("dynamic_stitch", data, "data"))
    if not parts or len(places) != len(parts):
        raise ValueError(
            f"dynamic_stitch: indices and data must be lists of one length, at least 1, got "
            f"{len(places)} and {len(parts)}."
        )
    return stitch_op(*places, *parts, num=len(parts), name=name)
