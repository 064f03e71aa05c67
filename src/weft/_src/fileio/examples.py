"""Serialized `tf.train.Example`s as tensors: `parse_example`, `parse_single_example`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import dtypes, memory
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DATA, STRING, DType, int64, string
from weft._src.core.shapes import Dim, TensorShape
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.fileio.example_columns import KINDS, MISSING, Column, columns_of
from weft._src.ops.arrays import shape as shapes
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op, each
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings.elements import as_array, string_tensor

Array = np.ndarray[Any, Any]
Dims = tuple[int, ...]


class FixedLenFeature(NamedTuple):
    """A feature with a known number of values: its shape, dtype, and default.

    >>> tf.io.FixedLenFeature([2], tf.float32)
    FixedLenFeature(shape=[2], dtype=tf.float32, default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of rows of a known shape; shorter ones are filled up.

    >>> tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True).dtype
    tf.int64
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values, to be parsed as a sparse tensor.

    >>> tf.io.VarLenFeature(tf.string)
    VarLenFeature(dtype=tf.string)
    """

    dtype: Any


class Wanted(NamedTuple):
    """One feature to be parsed, as plain data."""

    key: str
    dtype: DType
    shape: Dims
    is_sequence: bool
    has_default: bool
    is_sparse: bool = False


def _parse_infer(
    serialized: TensorSpec, *defaults: TensorSpec, wanted: tuple[Wanted, ...]
) -> tuple[TensorSpec, ...]:
    if serialized.rank not in (None, 0, 1):
        raise ShapeError(
            "parse_example: serialized must be a string or a vector of strings, got shape "
            f"{serialized.shape}."
        )
    out = []
    known = serialized.dims
    for item in wanted:
        if item.is_sparse:
            axes = None if known is None else len(known) + 1
            count = Dim()
            out += [
                TensorSpec.of(int64, (count, Dim() if axes is None else axes)),
                TensorSpec.of(item.dtype, (count,)),
                TensorSpec.of(int64, (Dim() if axes is None else axes,)),
            ]
            continue
        rows = (Dim(),) if item.is_sequence else ()
        dims = None if known is None else (*known, *rows, *item.shape)
        out.append(TensorSpec.of(item.dtype, dims))
    return tuple(out)


def _parse_kernel(
    xp: ArrayNamespace, serialized: TensorLike, *defaults: Any, wanted: tuple[Wanted, ...]
) -> tuple[Array, ...]:
    serialized = as_array(serialized)
    strings = serialized.reshape(-1)
    columns = columns_of(strings, tuple([(item.key, item.dtype) for item in wanted]))
    remaining = iter(defaults)
    out: list[Array] = []
    for item, column in zip(wanted, columns, strict=True):
        if item.is_sparse:
            out += _sparse(column, is_single=not serialized.ndim)
            continue
        default = as_array(next(remaining)) if item.has_default else None
        parsed = (_sequences if item.is_sequence else _fixed)(item, column, default)
        # The ellipsis keeps an array: the only element of a string array would be bytes.
        out.append(parsed if serialized.ndim else parsed[0, ...])
    return tuple(out)


def _sparse(column: Column, is_single: bool) -> list[Array]:
    """The parts of a sparse tensor: a row for each example, or a vector for a single one."""
    counts, values = np.maximum(column.counts, 0), column.values
    ends = np.cumsum(counts)
    places = np.arange(len(values))
    if is_single:
        return [places[:, None], values, counts]
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = places - np.repeat(ends - counts, counts)
    return [indices, values, np.array([len(counts), counts.max(initial=0)], np.int64)]


def _fixed(item: Wanted, column: Column, default: Array | None) -> Array:
    """All examples have as many values as the shape; those without any have the default."""
    counts, values = column
    size = math.prod(item.shape)
    shape = (len(counts), *item.shape)
    if (counts == size).all():
        return values.reshape(shape)
    is_missing = counts == MISSING
    for i in np.flatnonzero(counts != size).tolist():
        if not is_missing[i]:
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the feature {item.key!r} of example {i} has {counts[i]} values, "
                f"expected {size} for shape {item.shape}.",
            )
        if default is None:
            raise InvalidArgumentError(
                None,
                None,
                f"parse_example: the feature {item.key!r} ({item.dtype.name}) is missing in "
                f"example {i}. Give it a default_value if it may be.",
            )
    assert default is not None
    out = np.empty(shape, item.dtype.numpy_dtype)
    out[~is_missing] = values.reshape(-1, *item.shape)
    out[is_missing] = default
    return out


def _sequences(item: Wanted, column: Column, default: Array | None) -> Array:
    """Rows of the shape, in examples with fewer than others filled up."""
    counts, values = np.maximum(column.counts, 0), column.values
    size = math.prod(item.shape)
    wrong = np.flatnonzero(counts % size if size else counts >= 0)
    if len(wrong):
        i = int(wrong[0])
        raise InvalidArgumentError(
            None,
            None,
            f"parse_example: the feature {item.key!r} of example {i} has {counts[i]} values, "
            f"which is no multiple of the {size} of shape {item.shape}.",
        )
    longest = int(counts.max(initial=0))
    fill = b"" if item.dtype is string else 0
    padding = fill if default is None else default.reshape(-1)[0]
    memory.check("parse_example", (len(counts), longest), item.dtype.numpy_dtype)
    out = np.full((len(counts), longest), padding, item.dtype.numpy_dtype)
    out[np.arange(longest) < counts[:, None]] = values
    rows = longest // size if size else 0
    return out.reshape(len(counts), rows, *item.shape)


parse_example_op = define_op(
    "ParseExampleV2",
    args("serialized", STRING) + each("*dense_defaults", DATA),
    infer=_parse_infer,
    kernel=_parse_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
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
      features: a dict, not empty, from names to `tf.io.FixedLenFeature`, `tf.io.VarLenFeature` or
        `tf.io.FixedLenSequenceFeature`; their dtypes are int64, float32 and string.
      example_names: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      A dict with the keys of `features`: sparse tensors for `VarLenFeature`, else tensors, whose
      first axis is that of `serialized` if this is a vector.

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
    wanted, defaults = _checked("parse_example", features)
    flat = parse_example_op(string_tensor(serialized), *defaults, wanted=wanted, name=name)
    remaining = iter(flat)
    found = {
        item.key: SparseTensor(next(remaining), next(remaining), next(remaining))
        if item.is_sparse
        else next(remaining)
        for item in wanted
    }
    return {key: found[key] for key in features}


def parse_single_example(
    serialized: TensorLike,
    features: TensorLike,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Features of one serialized Example, as a dict of tensors.

    Args:
      serialized: one string.
      features: a dict, not empty, from names to `tf.io.FixedLenFeature`, `tf.io.VarLenFeature` or
        `tf.io.FixedLenSequenceFeature`; their dtypes are int64, float32 and string.
      example_names: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      A dict with the keys of `features`: sparse vectors for `VarLenFeature`, else tensors of the
      feature's shape.

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


def _checked(op: str, features: Any) -> tuple[tuple[Wanted, ...], list[Tensor]]:
    if not isinstance(features, Mapping) or not features:
        raise ValueError(
            f"{op}: features must be a dict that is not empty, from names to FixedLenFeature, got "
            f"{features!r}."
        )
    wanted: list[Wanted] = []
    defaults: list[Tensor] = []
    for key in sorted(features):
        item = features[key]
        if isinstance(item, VarLenFeature):
            wanted.append(Wanted(str(key), _dtype(op, str(key), item), (), False, False, True))
            continue
        if not isinstance(item, (FixedLenFeature, FixedLenSequenceFeature)):
            raise ValueError(
                f"{op}: the feature {key!r} must be a FixedLenFeature, a VarLenFeature or a "
                f"FixedLenSequenceFeature, got {item!r}."
            )
        wanted.append(_wanted(op, str(key), item))
        if item.default_value is not None:
            defaults.append(_default(op, wanted[-1], item.default_value))
    return tuple(wanted), defaults


def _dtype(op: str, key: str, item: Any) -> DType:
    dtype = dtypes.as_dtype(item.dtype)
    if dtype not in KINDS.values():
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: the feature {key!r} has dtype {dtype.name}; Examples hold int64, float32 and "
            "string. Convert it afterwards with tf.cast.",
        )
    return dtype


def _wanted(op: str, key: str, item: Any) -> Wanted:
    dtype = _dtype(op, key, item)
    shape = TensorShape(item.shape)
    if not shape.is_fully_defined():
        raise ValueError(f"{op}: the shape of the feature {key!r} must be known, got {shape}.")
    is_sequence = isinstance(item, FixedLenSequenceFeature)
    if is_sequence and not item.allow_missing:
        raise ValueError(
            f"{op}: the FixedLenSequenceFeature {key!r} must have allow_missing=True, because "
            "shorter sequences are filled up."
        )
    dims: Any = tuple(shape.as_list())
    return Wanted(key, dtype, dims, is_sequence, item.default_value is not None)


def _default(op: str, item: Wanted, value: Any) -> Tensor:
    try:
        tensor = convert_to_tensor(value, dtype=item.dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{op}: the default_value of {item.key!r}: {error}") from None
    if item.is_sequence:
        if tensor.shape.num_elements() != 1:
            raise ShapeError(
                f"{op}: the default_value of the sequence {item.key!r} must be one value, got "
                f"shape {tensor.shape}."
            )
        return tensor
    if tensor.shape.is_fully_defined() and tuple(tensor.shape.as_list()) != item.shape:
        if tensor.shape.num_elements() != int(np.prod(item.shape, dtype=np.int64)):
            raise ShapeError(
                f"{op}: the default_value of {item.key!r} has shape {tensor.shape}, the feature "
                f"has {item.shape}."
            )
        tensor = shapes.reshape(tensor, item.shape)
    return tensor
