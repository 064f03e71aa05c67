"""Serialized `tf.train.SequenceExample`s as tensors.

Their context is stored where Examples have their features, so `parse_example` reads it. What is
here reads the lists: a column has one entry for each step of each example.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.dtypes import STRING, DType, int64, string
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Tensor
from weft._src.errors import InvalidArgumentError, ParseError, ShapeError
from weft._src.fileio import example_arrays as arrays
from weft._src.fileio.example_columns import MISSING, Column, column_of
from weft._src.fileio.examples import joined, parse_example, size_of_splits
from weft._src.fileio.features import Wanted, checked_lists
from weft._src.messages.wire import BYTES, contents, fields
from weft._src.ops.ragged.tensor import RaggedTensor
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sparse.tensor import SparseTensor
from weft._src.ops.strings.elements import as_array, string_tensor

Array = np.ndarray[Any, Any]
_OP = "parse_sequence_example"


def _infer(serialized: TensorSpec, *, wanted: tuple[Wanted, ...]) -> tuple[TensorSpec, ...]:
    if serialized.rank not in (None, 0, 1):
        raise ShapeError(
            f"{_OP}: serialized must be a string or a vector of strings, got shape "
            f"{serialized.shape}."
        )
    return tuple([spec for item in wanted for spec in _specs(item, serialized.dims)])


def _specs(item: Wanted, known: Any) -> list[TensorSpec]:
    if item.form == "sparse":
        axes, count = Dim() if known is None else len(known) + 2, Dim()
        indices, shape = TensorSpec.of(int64, (count, axes)), TensorSpec.of(int64, (axes,))
        return [indices, TensorSpec.of(item.dtype, (count,)), shape]
    if item.form == "ragged":
        sizes = [*(Dim() for _ in range(item.split_count + 1)), size_of_splits(known)]
        splits = [TensorSpec.of(item.splits_dtype, (size,)) for size in sizes]
        return [TensorSpec.of(item.dtype, (Dim(),)), *splits]
    steps = None if known is None else (*known, Dim(), *item.shape)
    return [TensorSpec.of(item.dtype, steps), TensorSpec.of(int64, known)]


def _kernel(xp: ArrayNamespace, serialized: Any, *, wanted: tuple[Wanted, ...]) -> Any:
    serialized = as_array(serialized)
    found = [_lists(data, i) for i, data in enumerate(serialized.reshape(-1).tolist())]
    is_single = not serialized.ndim
    out: list[Array] = []
    for item in wanted:
        steps, column = _steps(found, item.key, item.dtype)
        if item.form == "sparse":
            out += _sparse(steps, column, is_single)
        elif item.form == "ragged":
            out += _ragged(item, steps, column, found)
        else:
            out += _dense(item, steps, column, is_single)
    return tuple(out)


def _lists(data: bytes, i: int) -> dict[bytes, list[bytes]]:
    """The serialized features of each step, by name."""
    out = {}
    try:
        for lists in contents(data, 2, "SequenceExample"):
            for entry in contents(lists, 1, "FeatureLists"):
                name, steps = b"", b""
                for number, stored, content in fields(entry, "FeatureLists"):
                    if number == 1 and stored == BYTES:
                        name = content
                    elif number == 2 and stored == BYTES:
                        steps = content
                out[name] = contents(steps, 1, "FeatureList")
    except ParseError as error:
        raise InvalidArgumentError(
            None, None, f"{_OP}: string {i} is no serialized SequenceExample: {error}"
        ) from error
    return out


def _steps(found: list[dict[bytes, list[bytes]]], key: str, dtype: DType) -> tuple[Array, Column]:
    """How many steps each example has (or MISSING), and what all of them hold."""
    name = key.encode()
    of_examples = [lists.get(name) for lists in found]
    counts = [MISSING if steps is None else len(steps) for steps in of_examples]
    features = [{name: step} for steps in of_examples if steps for step in steps]
    where = [i for i, steps in enumerate(of_examples) if steps for _ in steps]
    return np.array(counts, np.int64), column_of(key, dtype, features, where)


def _places(counts: Array) -> tuple[Array, Array]:
    """For counts of things: which of the counts each thing belongs to, and its number there."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)


def _sparse(steps: Array, column: Column, is_single: bool) -> list[Array]:
    steps, counts = np.maximum(steps, 0), np.maximum(column.counts, 0)
    example, step = _places(steps)
    of_step, place = _places(counts)
    indices = np.stack([example[of_step], step[of_step], place], 1)
    sizes = [len(steps), steps.max(initial=0), counts.max(initial=0)]
    first = int(is_single)
    return [indices[:, first:], column.values, np.array(sizes[first:], np.int64)]


def _dense(item: Wanted, steps: Array, column: Column, is_single: bool) -> list[Array]:
    size = math.prod(item.shape)
    if not item.may_be_missing and (steps == MISSING).any():
        i = int(np.argmax(steps == MISSING))
        raise InvalidArgumentError(
            None,
            None,
            f"{_OP}: the list {item.name!r} ({item.dtype.name}) is missing in example {i}. Give "
            "allow_missing=True if it may be.",
        )
    steps = np.maximum(steps, 0)
    is_wrong = column.counts != size
    if is_wrong.any():
        at = int(np.argmax(is_wrong))
        example, step = (places[at] for places in _places(steps))
        raise InvalidArgumentError(
            None,
            None,
            f"{_OP}: step {step} of the list {item.name!r} of example {example} has "
            f"{max(column.counts[at], 0)} values, expected {size} for shape {item.shape}.",
        )
    rows = column.values.reshape(-1, *item.shape)
    longest = int(steps.max(initial=0))
    shape = (len(steps), longest, *item.shape)
    memory.check(_OP, shape, item.dtype.numpy_dtype)
    out = np.full(shape, b"" if item.dtype is string else 0, item.dtype.numpy_dtype)
    out[np.arange(longest) < steps[:, None]] = rows
    return [out[0, ...], steps[0, ...]] if is_single else [out, steps]


def _ragged(
    item: Wanted, steps: Array, column: Column, found: list[dict[bytes, list[bytes]]]
) -> list[Array]:
    parts: list[Column | None] = []
    for part in item.partitions:
        if part.key is None:
            parts.append(None)
            continue
        others, values = _steps(found, part.key, int64)
        if (np.maximum(others, 0) != np.maximum(steps, 0)).any():
            raise InvalidArgumentError(
                None,
                None,
                f"{_OP}: the lists {item.name!r} and {part.key!r}, by which it is partitioned, "
                "have different numbers of steps.",
            )
        parts.append(values)
    return [*arrays.ragged(item, column, parts), arrays.splits(np.maximum(steps, 0), item)]


parse_lists_op = define_op(
    "ParseFeatureLists",
    args("serialized", STRING),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    vjp=NOT_DIFFERENTIABLE,
    outputs=None,
    fresh=True,
)


def _of_lists(wanted: tuple[Wanted, ...], parts: Iterator[Tensor], rank: int | None) -> Any:
    """The tensors of all lists, and the lengths of those that were filled up."""
    out: dict[str, Any] = {}
    lengths: dict[str, Tensor] = {}
    for item in wanted:
        if item.form == "sparse":
            out[item.name] = SparseTensor(next(parts), next(parts), next(parts))
        elif item.form == "ragged":
            if rank is None:
                raise ShapeError(
                    f"{_OP}: the RaggedFeature {item.name!r} needs to know while tracing whether "
                    "serialized is one string or a vector."
                )
            steps = joined(item, parts, 1)
            splits = next(parts)
            if rank:
                steps = RaggedTensor.from_row_splits(steps, splits, validate=False)
            out[item.name] = steps
        else:
            out[item.name], lengths[item.name] = next(parts), next(parts)
    return out, lengths


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """Features of serialized SequenceExamples (a vector of strings, or one).

    Args:
      serialized: a vector of strings, or one string.
      context_features: a dict from names to what `tf.io.parse_example` takes, for features that
        an example has once.
      sequence_features: a dict from names to `tf.io.FixedLenSequenceFeature`,
        `tf.io.VarLenFeature` or `tf.io.RaggedFeature`, for features that have many steps.
      example_names: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      Three dicts: the context; the lists, as tensors [batch, steps, ...] filled up with zeros,
      sparse or ragged ones; and how many steps those that were filled up have.

    Raises:
      tf.errors.InvalidArgumentError: if a string is no SequenceExample, something has another
        dtype or number of values, or is missing.
      ValueError: if both dicts are missing, or one has other things in it.

    >>> steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[i])) for i in (1, 2)]
    >>> lists = {"x": tf.train.FeatureList(feature=steps)}
    >>> example = tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=lists))
    >>> wanted = {"x": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    >>> _, lists, lengths = tf.io.parse_sequence_example(
    ...     [example.SerializeToString(), b""], sequence_features=wanted
    ... )
    >>> lists["x"].numpy(), lengths["x"].numpy()
    (array([[1, 2],
           [0, 0]]), array([2, 0]))
    """
    return _parsed(string_tensor(serialized), context_features, sequence_features, name)


def _parsed(
    serialized: Tensor,
    context_features: Mapping[str, Any] | None,
    sequence_features: Mapping[str, Any] | None,
    name: str | None,
) -> Any:
    given = {"context_features": context_features, "sequence_features": sequence_features}
    for argument, features in given.items():
        if features is not None and not isinstance(features, Mapping):
            raise ValueError(f"{_OP}: {argument} must be a dict or None, got {features!r}.")
    if not context_features and not sequence_features:
        raise ValueError(f"{_OP}: context_features or sequence_features must be given.")
    context: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    lengths: dict[str, Tensor] = {}
    if context_features:
        context = parse_example(serialized, context_features)
    if sequence_features:
        wanted = checked_lists(_OP, sequence_features)
        parts = iter(parse_lists_op(serialized, wanted=wanted, name=name))
        found, lengths = _of_lists(wanted, parts, serialized.shape.rank)
        lists = {key: found[key] for key in sequence_features}
    return context, lists, lengths


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Features of one serialized SequenceExample.

    Args:
      serialized: one string.
      context_features: a dict from names to what `tf.io.parse_single_example` takes, for features
        that the example has once.
      sequence_features: a dict from names to `tf.io.FixedLenSequenceFeature`,
        `tf.io.VarLenFeature` or `tf.io.RaggedFeature`, for features that have many steps.
      example_name: accepted for compatibility.
      name: the name of the node in a graph.

    Returns:
      Two dicts: the context, and the lists as tensors [steps, ...], sparse or ragged ones.

    Raises:
      tf.errors.InvalidArgumentError: if the string is no SequenceExample, something has another
        dtype or number of values, or is missing.
      ValueError: if both dicts are missing, or one has other things in it.
      ShapeError: if `serialized` is not one string.

    >>> steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[i, 7])) for i in (1, 2)]
    >>> lists = {"x": tf.train.FeatureList(feature=steps)}
    >>> example = tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=lists))
    >>> _, lists = tf.io.parse_single_sequence_example(
    ...     example.SerializeToString(), None, {"x": tf.io.FixedLenSequenceFeature([2], tf.int64)}
    ... )
    >>> lists["x"].numpy()
    array([[1, 7],
           [2, 7]])
    """
    one = string_tensor(serialized)
    if one.shape.rank not in (None, 0):
        raise ShapeError(
            f"parse_single_sequence_example: serialized must be one string, got shape {one.shape}. "
            "For several use parse_sequence_example."
        )
    context, lists, _ = _parsed(one, context_features, sequence_features, name)
    return context, lists
