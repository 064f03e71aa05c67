"""Which features of Examples are parsed, and as what: `FixedLenFeature`, `VarLenFeature`, ..."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from weft._src.core import dtypes
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import DType, int32, int64
from weft._src.core.shapes import TensorShape
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.fileio.example_columns import KINDS
from weft._src.ops.arrays import shape as shapes


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


class SparseFeature(NamedTuple):
    """A sparse tensor whose indices are one feature and whose values are another.

    `index_key` and `size` are a name and a number, or lists of them, one for each axis.

    >>> example = tf.train.Example()
    >>> example.features.feature["at"].int64_list.value.extend([3, 1])
    >>> example.features.feature["x"].float_list.value.extend([0.5, 2.0])
    >>> wanted = {"x": tf.io.SparseFeature("at", "x", tf.float32, size=4)}
    >>> parsed = tf.io.parse_example([example.SerializeToString()], wanted)
    >>> tf.sparse.to_dense(parsed["x"]).numpy()
    array([[0. , 2. , 0. , 0.5]], dtype=float32)
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class _RowSplits(NamedTuple):
    key: str


class _RowLengths(NamedTuple):
    key: str


class _RowStarts(NamedTuple):
    key: str


class _RowLimits(NamedTuple):
    key: str


class _ValueRowIds(NamedTuple):
    key: str


class _UniformRowLength(NamedTuple):
    length: int


_KEYED = (_RowSplits, _RowLengths, _RowStarts, _RowLimits, _ValueRowIds)


class RaggedFeature(NamedTuple):
    """A feature with any number of values, to be parsed as a ragged tensor.

    `partitions` divide the values of an example further, the outermost first, by what other
    features hold: `RaggedFeature.RowLengths("key")`, `RowSplits`, `RowStarts`, `RowLimits`,
    `ValueRowIds`, or `UniformRowLength(2)`.

    >>> numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"x": numbers}))
    >>> rows = [example.SerializeToString(), b""]
    >>> tf.io.parse_example(rows, {"x": tf.io.RaggedFeature(tf.int64)})["x"]
    <tf.RaggedTensor [[1, 2], []]>
    """

    dtype: Any
    value_key: Any = None
    partitions: Any = ()
    row_splits_dtype: Any = int32
    validate: bool = False

    RowSplits = _RowSplits  # type: ignore[misc]
    RowLengths = _RowLengths  # type: ignore[misc]
    RowStarts = _RowStarts  # type: ignore[misc]
    RowLimits = _RowLimits  # type: ignore[misc]
    ValueRowIds = _ValueRowIds  # type: ignore[misc]
    UniformRowLength = _UniformRowLength  # type: ignore[misc]


# --- as plain data -------------------------------------------------------------------------------


class Partition(NamedTuple):
    """How values are divided: by the numbers of a feature, or into rows of one length."""

    kind: str
    key: str | None
    length: int = 0

    @property
    def words(self) -> str:
        """For errors."""
        return f"{self.kind}({self.key or self.length!r})"


class Wanted(NamedTuple):
    """One feature to be parsed: its name in the result, and in examples, and what becomes of it."""

    name: str
    key: str
    dtype: DType
    form: str  # "fixed", "sequence", "sparse", "indexed" or "ragged"
    shape: tuple[int, ...] = ()
    has_default: bool = False
    partitions: tuple[Partition, ...] = ()
    splits_dtype: DType = int64
    index_keys: tuple[str, ...] = ()  # of an indexed one, whose sizes are `shape`
    is_sorted: bool = False
    may_be_missing: bool = False  # a list of features

    @property
    def split_count(self) -> int:
        """How many partitions have splits, without that into examples."""
        return sum(part.key is not None for part in self.partitions)


def checked(op: str, features: Any) -> tuple[tuple[Wanted, ...], list[Tensor]]:
    if not isinstance(features, Mapping) or not features:
        raise ValueError(
            f"{op}: features must be a dict that is not empty, from names to FixedLenFeature, got "
            f"{features!r}."
        )
    wanted: list[Wanted] = []
    defaults: list[Tensor] = []
    for name in sorted(features):
        item = features[name]
        if isinstance(item, VarLenFeature):
            found = Wanted(str(name), str(name), _dtype(op, str(name), item), "sparse")
        elif isinstance(item, RaggedFeature):
            found = _ragged(op, str(name), item)
        elif isinstance(item, SparseFeature):
            found = _indexed(op, str(name), item)
        elif isinstance(item, (FixedLenFeature, FixedLenSequenceFeature)):
            found = _dense(op, str(name), item)
            if item.default_value is not None:
                defaults.append(_default(op, found, item.default_value))
        else:
            raise ValueError(
                f"{op}: the feature {name!r} must be a FixedLenFeature, a VarLenFeature, a "
                "RaggedFeature, a SparseFeature or a FixedLenSequenceFeature, got "
                f"{item!r}."
            )
        wanted.append(found)
    return tuple(wanted), defaults


def checked_lists(op: str, features: Mapping[str, Any]) -> tuple[Wanted, ...]:
    """The same for features that have many steps."""
    wanted: list[Wanted] = []
    for name in sorted(features):
        item = features[name]
        if isinstance(item, VarLenFeature):
            found = Wanted(str(name), str(name), _dtype(op, str(name), item), "sparse")
        elif isinstance(item, RaggedFeature):
            found = _ragged(op, str(name), item)
        elif isinstance(item, FixedLenSequenceFeature):
            if item.default_value is not None:
                raise ValueError(
                    f"{op}: the list {name!r} cannot have a default_value, as shorter lists are "
                    f"filled up with zeros, got {item.default_value!r}."
                )
            found = _dense(op, str(name), item._replace(allow_missing=True))
            found = found._replace(may_be_missing=bool(item.allow_missing))
        else:
            raise ValueError(
                f"{op}: the list {name!r} must be a FixedLenSequenceFeature, a VarLenFeature or a "
                f"RaggedFeature, got {item!r}."
            )
        wanted.append(found)
    return tuple(wanted)


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


def _dense(op: str, key: str, item: Any) -> Wanted:
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
    form = "sequence" if is_sequence else "fixed"
    return Wanted(key, key, dtype, form, dims, item.default_value is not None)


def _indexed(op: str, name: str, item: SparseFeature) -> Wanted:
    dtype = _dtype(op, name, item)
    keys = item.index_key if isinstance(item.index_key, (list, tuple)) else [item.index_key]
    sizes = item.size if isinstance(item.size, (list, tuple)) else [item.size]
    texts = [*keys, item.value_key]
    if not keys or len(keys) != len(sizes) or not all(isinstance(key, str) for key in texts):
        raise ValueError(
            f"{op}: the SparseFeature {name!r} must have one index_key and one size for each axis, "
            f"and a value_key, got {item!r}."
        )
    dims = TensorShape(sizes)
    if not dims.is_fully_defined():
        raise ValueError(
            f"{op}: the sizes of the SparseFeature {name!r} must be known, got {dims}."
        )
    shape: Any = tuple(dims.as_list())
    return Wanted(
        name,
        item.value_key,
        dtype,
        "indexed",
        shape,
        index_keys=tuple(keys),
        is_sorted=bool(item.already_sorted),
    )


def _ragged(op: str, name: str, item: RaggedFeature) -> Wanted:
    dtype, splits = _dtype(op, name, item), dtypes.as_dtype(item.row_splits_dtype)
    if splits not in (int32, int64):
        raise ValueError(
            f"{op}: the row_splits_dtype of the feature {name!r} must be int32 or int64, got "
            f"{splits.name}."
        )
    key = name if item.value_key is None else item.value_key
    if not isinstance(key, str) or not isinstance(item.partitions, (tuple, list)):
        raise TypeError(
            f"{op}: the feature {name!r} must have text as value_key and a list of partitions, got "
            f"{item!r}."
        )
    parts = [_partition(op, name, part) for part in item.partitions]
    return Wanted(name, key, dtype, "ragged", partitions=tuple(parts), splits_dtype=splits)


def _partition(op: str, name: str, part: Any) -> Partition:
    if isinstance(part, _UniformRowLength):
        if isinstance(part.length, int) and part.length > 0:
            return Partition("UniformRowLength", None, part.length)
    elif isinstance(part, _KEYED) and isinstance(part.key, str):
        return Partition(type(part).__name__.lstrip("_"), part.key)
    raise ValueError(
        f"{op}: a partition of the feature {name!r} must be one of RaggedFeature.RowSplits, "
        "RowLengths, RowStarts, RowLimits, ValueRowIds (with a key), and UniformRowLength (with a "
        f"positive length), got {part!r}."
    )


def _default(op: str, item: Wanted, value: Any) -> Tensor:
    try:
        tensor = convert_to_tensor(value, dtype=item.dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{op}: the default_value of {item.name!r}: {error}") from None
    if item.form == "sequence":
        if tensor.shape.num_elements() != 1:
            raise ShapeError(
                f"{op}: the default_value of the sequence {item.name!r} must be one value, got "
                f"shape {tensor.shape}."
            )
        return tensor
    if tensor.shape.is_fully_defined() and tuple(tensor.shape.as_list()) != item.shape:
        if tensor.shape.num_elements() != math.prod(item.shape):
            raise ShapeError(
                f"{op}: the default_value of {item.name!r} has shape {tensor.shape}, the feature "
                f"has {item.shape}."
            )
        tensor = shapes.reshape(tensor, item.shape)
    return tensor
