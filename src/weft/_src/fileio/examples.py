"""Serialized `tf.train.Example`s as tensors: `parse_example`, `parse_single_example`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import DATA, STRING, DType, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import ShapeError
from weft._src.fileio import example_arrays as arrays
from weft._src.fileio.example_columns import columns_of
from weft._src.fileio.features import Wanted, checked
from weft._src.ops import batching
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.contexts import RowBatch, RowNode
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op, each
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings.elements import as_array, string_tensor

Array = np.ndarray[Any, Any]


def _parse_infer(
    serialized: TensorSpec, *defaults: TensorSpec, wanted: tuple[Wanted, ...]
) -> tuple[TensorSpec, ...]:
    if serialized.rank not in (None, 0, 1):
        raise ShapeError(
            "parse_example: serialized must be a string or a vector of strings, got shape "
            f"{serialized.shape}."
        )
    known = serialized.dims
    return tuple([spec for item in wanted for spec in _specs(item, known)])


def _specs(item: Wanted, known: Any) -> list[TensorSpec]:
    """What becomes of one feature; `known` are the sizes of the vector of strings."""
    if item.form in ("sparse", "indexed"):
        inner = len(item.shape) if item.form == "indexed" else 1
        axes = Dim() if known is None else len(known) + inner
        count = Dim()
        indices, shape = TensorSpec.of(int64, (count, axes)), TensorSpec.of(int64, (axes,))
        return [indices, TensorSpec.of(item.dtype, (count,)), shape]
    if item.form == "ragged":
        # Each has a size of its own; those of the rows of all examples are one more than these.
        sizes = [*(Dim() for _ in range(item.split_count)), size_of_splits(known)]
        splits = [TensorSpec.of(item.splits_dtype, (size,)) for size in sizes]
        return [TensorSpec.of(item.dtype, (Dim(),)), *splits]
    rows = (Dim(),) if item.form == "sequence" else ()
    dims = None if known is None else (*known, *rows, *item.shape)
    return [TensorSpec.of(item.dtype, dims)]


def size_of_splits(known: Any) -> Any:
    """How many numbers tell where the rows of a vector with these sizes begin and end."""
    if known is None:
        return Dim()
    return known[0] + 1 if known else 2


def _parse_kernel(
    xp: ArrayNamespace, serialized: TensorLike, *defaults: Any, wanted: tuple[Wanted, ...]
) -> tuple[Array, ...]:
    serialized = as_array(serialized)
    places = _places(wanted)
    columns = columns_of(serialized.reshape(-1), tuple(places))
    remaining = iter(defaults)
    out: list[Array] = []
    for item in wanted:
        column = columns[places[item.key, item.dtype]]
        if item.form == "sparse":
            out += arrays.sparse(column, is_single=not serialized.ndim)
        elif item.form == "indexed":
            index = [columns[places[key, int64]] for key in item.index_keys]
            out += arrays.indexed(item, column, index, is_single=not serialized.ndim)
        elif item.form == "ragged":
            keys = [part.key for part in item.partitions]
            out += arrays.ragged(
                item, column, [None if k is None else columns[places[k, int64]] for k in keys]
            )
        else:
            default = as_array(next(remaining)) if item.has_default else None
            parsed = (arrays.sequences if item.form == "sequence" else arrays.fixed)(
                item, column, default
            )
            # The ellipsis keeps an array: the only element of a string array would be bytes.
            out.append(parsed if serialized.ndim else parsed[0, ...])
    return tuple(out)


def _places(wanted: tuple[Wanted, ...]) -> dict[tuple[str, DType], int]:
    """The columns that are needed, each once, and where they are."""
    out: dict[tuple[str, DType], int] = {}
    for item in wanted:
        out.setdefault((item.key, item.dtype), len(out))
        for key in (*item.index_keys, *[part.key for part in item.partitions]):
            if key is not None:
                out.setdefault((key, int64), len(out))
    return out


def _parse_rows(b: RowBatch, node: RowNode, inputs: list[Any], stacked: list[bool]) -> Any:
    """Single examples are parsed together if their features have shapes that are known."""
    wanted: tuple[Wanted, ...] = node.attrs["wanted"]
    is_single = batching.rank_of(node.inputs[0]) == 0
    if not is_single or any(stacked[1:]) or any(item.form != "fixed" for item in wanted):
        raise batching.NotBatched
    return node.op(*inputs, **node.attrs)


parse_example_op = define_op(
    "ParseExampleV2",
    args("serialized", STRING) + each("*dense_defaults", DATA),
    infer=_parse_infer,
    kernel=_parse_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
    batch=_parse_rows,
)


def parse_example(
    serialized: TensorLike,
    features: Any,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Features of serialized Examples (a vector of strings, or one), as a dict of tensors.

    Args:
      serialized: a vector of strings, or one string.
      features: a dict, not empty, from names to `tf.io.FixedLenFeature`, `tf.io.VarLenFeature`,
        `tf.io.RaggedFeature`, `tf.io.SparseFeature` or `tf.io.FixedLenSequenceFeature`; their
        dtypes are int64, float32 and string.
      example_names: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      A dict with the keys of `features`: sparse tensors for `VarLenFeature` and `SparseFeature`,
      ragged ones for `RaggedFeature`, else tensors. Their first axis is that of `serialized` if
      this is a vector.

    Raises:
      tf.errors.InvalidArgumentError: if a string is no serialized Example, a feature has another
        dtype or number of values, or one without default is missing.
      ValueError: if `features` is no such dict.
      ShapeError: if `serialized` has more than one axis, or a default does not have the feature's
        shape.

    >>> numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": numbers}))
    >>> rows = [example.SerializeToString()] * 2
    >>> tf.io.parse_example(rows, {"x": tf.io.FixedLenFeature([2], tf.int64)})["x"].numpy()
    array([[1, 2],
           [1, 2]])
    """
    wanted, defaults = checked("parse_example", features)
    inputs = string_tensor(serialized)
    flat = parse_example_op(inputs, *defaults, wanted=wanted, name=name)
    parts = iter(flat)
    found = {item.name: joined(item, parts, inputs.shape.rank) for item in wanted}
    return {key: found[key] for key in features}


def joined(item: Wanted, parts: Iterator[Tensor], rank: int | None) -> Any:
    """The result of one feature, of the next parts."""
    if item.form in ("sparse", "indexed"):
        return SparseTensor(next(parts), next(parts), next(parts))
    if item.form != "ragged":
        return next(parts)
    out: Any = next(parts)
    for part in reversed(item.partitions):
        if part.key is not None:
            out = RaggedTensor.from_row_splits(out, next(parts), validate=False)
        elif isinstance(out, Tensor):
            out = shapes.reshape(out, [-1, part.length])
        else:
            out = RaggedTensor.from_uniform_row_length(out, part.length)
    splits = next(parts)
    if rank is None:
        raise ShapeError(
            f"parse_example: the RaggedFeature {item.name!r} needs to know while tracing whether "
            "serialized is one string or a vector."
        )
    return out if rank == 0 else RaggedTensor.from_row_splits(out, splits, validate=False)


def parse_single_example(
    serialized: TensorLike,
    features: TensorLike,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Features of one serialized Example, as a dict of tensors.

    Args:
      serialized: one string.
      features: a dict, not empty, from names to `tf.io.FixedLenFeature`, `tf.io.VarLenFeature`,
        `tf.io.RaggedFeature`, `tf.io.SparseFeature` or `tf.io.FixedLenSequenceFeature`; their
        dtypes are int64, float32 and string.
      example_names: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      A dict with the keys of `features`: sparse vectors for `VarLenFeature`, vectors or ragged
      tensors for `RaggedFeature`, else tensors of the feature's shape.

    Raises:
      tf.errors.InvalidArgumentError: if the string is no serialized Example, a feature has another
        dtype or number of values, or one without default is missing.
      ValueError: if `features` is no such dict.
      ShapeError: if `serialized` is not one string, or a default does not have the feature's shape.

    >>> numbers = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": numbers}))
    >>> parsed = tf.io.parse_single_example(
    ...     example.SerializeToString(), {"x": tf.io.FixedLenFeature([], tf.float32)}
    ... )
    >>> parsed["x"].numpy()
    np.float32(0.5)
    """
    one = string_tensor(serialized)
    if one.shape.rank not in (None, 0):
        raise ShapeError(
            f"parse_single_example: serialized must be one string, got shape {one.shape}. For "
            "several use parse_example."
        )
    return parse_example(one, features, example_names, name)
