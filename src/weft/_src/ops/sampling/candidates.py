"""Candidate sampling: a few classes drawn for all rows of a batch, and how often to expect them.

Numbers are drawn by Philox from the state of a stream; they are not those of TensorFlow.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._src.core import memory
from weft._src.core.aliases import ArrayNamespace, PathLike, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32, int32, int64
from weft._src.core.shapes import Dim
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules, static
from weft._src.ops.registry import NO_NATIVE, NO_XLA, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sampling import graph_forms
from weft._src.ops.sampling.draws import STATE
from weft._src.ops.sampling.streams import next_state

_INT64 = frozenset({int64})
_ALL, _UNIFORM, _LOG_UNIFORM, _WEIGHTED = "all", "uniform", "log_uniform", "weighted"


class Candidates(NamedTuple):
    """What was drawn, and how often the true classes and those drawn are expected."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


def _infer(
    true: TensorSpec,
    state: TensorSpec,
    weights: TensorSpec,
    *,
    op: str,
    kind: str,
    num_true: int,
    count: int,
    unique: bool,
    range_max: int,
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    rules.check_rank(op, true, 2, name="true_classes")
    rows: Any = Dim()
    if true.dims is not None:
        rows = true.dims[0]
        rules.unify(op, true.dims[1], num_true, "the columns of true_classes and num_true")
    return (
        TensorSpec.of(int64, (count,)),
        TensorSpec.of(float32, (rows, num_true)),
        TensorSpec.of(float32, (count,)),
    )


def _probabilities(kind: str, classes: Array, range_max: int, weights: Array) -> Array:
    """How likely one draw gives these classes."""
    if kind == _UNIFORM:
        return np.full(classes.shape, 1 / range_max)
    if kind == _LOG_UNIFORM:
        return np.log((classes + 2.0) / (classes + 1.0)) / np.log1p(range_max)
    total: float = weights.sum(dtype=np.float64)
    return weights[classes].astype(np.float64) / total


def _drawn(
    kind: str, generator: np.random.Generator, size: int, range_max: int, weights: Array
) -> Array:
    if kind == _UNIFORM:
        return generator.integers(0, range_max, size)
    numbers = generator.random(size)
    if kind == _LOG_UNIFORM:
        found = np.exp(numbers * np.log1p(range_max)).astype(np.int64) - 1
        return np.minimum(found, range_max - 1)
    ends = np.cumsum(weights, dtype=np.float64)
    return np.minimum(np.searchsorted(ends, numbers * ends[-1], "right"), range_max - 1)


def _different(
    kind: str, generator: np.random.Generator, count: int, range_max: int, weights: Array
) -> Any:
    """As many different classes, in the order in which they came, and how many draws it took."""
    if kind == _WEIGHTED or count > range_max // 4:
        return _race(kind, generator, count, range_max, weights)
    found: dict[int, None] = {}
    tries = 0
    while len(found) < count:
        for drawn in _drawn(kind, generator, count, range_max, weights).tolist():
            tries += 1
            found.setdefault(drawn)
            if len(found) == count:
                break
    return np.array(list(found), np.int64), tries


def _race(
    kind: str, generator: np.random.Generator, count: int, range_max: int, weights: Array
) -> Any:
    """The same without drawing again and again, which could take for ever.

    If draws come at random times, one per unit of time, then each class comes first after a time
    that is exponential, and as often afterwards as a Poisson number says.
    """
    memory.check("candidate_sampler", (range_max,), np.dtype(np.float64))
    likely = _probabilities(kind, np.arange(range_max), range_max, weights)
    with np.errstate(divide="ignore"):
        first = generator.standard_exponential(range_max) / likely
    order = np.argsort(first)[:count]
    since = first[order[-1]] - first[order]
    again = generator.poisson(np.minimum(likely[order] * since, 1e18))
    return order, count + sum(again.tolist())


def check_classes(op: str, true: Array, range_max: int) -> None:
    """InvalidArgumentError unless all classes are there."""
    outside = (true < 0) | (true >= range_max)
    if outside.any():
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: true_classes must be at least 0 and less than {range_max}, got "
            f"{true[outside][0]}.",
        )


def _kernel(
    xp: ArrayNamespace,
    true: Array,
    state: Array,
    weights: Array,
    *,
    op: str,
    kind: str,
    num_true: int,
    count: int,
    unique: bool,
    range_max: int,
) -> tuple[Array, Array, Array]:
    check_classes(op, true, range_max)
    memory.check(op, (count,), np.dtype(np.int64))
    if kind == _ALL:
        ones = np.ones(true.shape, np.float32)
        return np.arange(count, dtype=np.int64), ones, np.ones(count, np.float32)
    key = [int(word) & (2**64 - 1) for word in state]
    generator = np.random.Generator(np.random.Philox(key=key[2], counter=[*key[:2], 0, 0]))
    if unique:
        sampled, tries = _different(kind, generator, count, range_max, weights)
    else:
        sampled, tries = _drawn(kind, generator, count, range_max, weights), count

    def expected(classes: Array) -> Array:
        likely = _probabilities(kind, classes, range_max, weights)
        if not unique or tries == count:
            return (likely * count).astype(np.float32)
        return (-np.expm1(tries * np.log1p(-likely))).astype(np.float32)

    return sampled.astype(np.int64), expected(true), expected(sampled)


candidates_op = define_op(
    "SampleCandidates",
    args("true_classes", _INT64) + STATE + args("weights", frozenset({float32})),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=NO_XLA,
    vjp=NOT_DIFFERENTIABLE,
    outputs=3,
    fresh=True,
    graphdef=graph_forms.candidates,
)


def _sampled(
    op: str,
    kind: str,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None,
    name: str | None,
    weights: Sequence[float] | Tensor = (),
) -> Candidates:
    true = convert_to_tensor(true_classes, dtype_hint=int64)
    columns = static.static_int(op, num_true, "num_true")
    count = static.static_int(op, num_sampled, "num_sampled")
    most = static.static_int(op, range_max, "range_max")
    for number, what in ((columns, "num_true"), (count, "num_sampled"), (most, "range_max")):
        if not 1 <= number < 2**31:
            raise ShapeError(f"{op}: {what} must be positive and less than 2**31, got {number}.")
    if unique and kind != _ALL and count > most:
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: there are no {count} different candidates (num_sampled) among {most} "
            "(range_max).",
        )
    given = weights if isinstance(weights, Tensor) else np.array(weights, np.float32)
    is_known = kind == _WEIGHTED and isinstance(given, np.ndarray)
    if unique and is_known and count > np.count_nonzero(np.asarray(given)):
        raise InvalidArgumentError(
            None,
            None,
            f"{op}: there are no {count} different candidates (num_sampled) with a weight above 0.",
        )
    delta = convert_to_tensor([count], dtype=int32)
    state = next_state(op, (op, kind), seed, delta)
    return Candidates(
        *candidates_op(
            true,
            state,
            convert_to_tensor(given),
            op=op,
            kind=kind,
            num_true=columns,
            count=count,
            unique=bool(unique),
            range_max=most,
            name=name,
        )
    )


def by_weights(
    op: str,
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None,
    name: str | None,
    weights: Tensor,
) -> Candidates:
    """Candidates by weights that are computed, all of them above 0."""
    return _sampled(
        op, _WEIGHTED, true_classes, num_true, num_sampled, unique, range_max, seed, name, weights
    )


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """All classes as candidates, for tests of what samples them.

    Args:
      true_classes: an int64 tensor [batch, num_true] with the classes of each row.
      num_true: how many true classes a row has.
      num_sampled: how many classes there are.
      unique: accepted for compatibility: they are always different.
      seed: accepted for compatibility.

    Returns:
      A named tuple: `sampled_candidates`, all classes; `true_expected_count` and
      `sampled_expected_count`, ones.

    Raises:
      InvalidArgumentError: if a true class is not among them.
      ShapeError: if `true_classes` has another shape.

    >>> tf.random.all_candidate_sampler([[1]], 1, 3, True).sampled_candidates.numpy()
    array([0, 1, 2])
    """
    op = "all_candidate_sampler"
    return _sampled(op, _ALL, true_classes, num_true, num_sampled, unique, num_sampled, seed, name)


def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Candidates that are equally likely.

    Args:
      true_classes: an int64 tensor [batch, num_true] with the classes of each row.
      num_true: how many true classes a row has.
      num_sampled: how many candidates are drawn.
      unique: whether all of them are different.
      range_max: how many classes there are.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A named tuple: `sampled_candidates`, an int64 vector; `true_expected_count`, how often each
      true class is expected among so many, and `sampled_expected_count`, the same for those drawn.

    Raises:
      InvalidArgumentError: if a true class is out of range, or there are too few different ones.
      ShapeError: if `true_classes` has another shape.

    >>> found = tf.random.uniform_candidate_sampler([[1, 5]], 2, 4, False, 8)
    >>> found.true_expected_count.numpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    op = "uniform_candidate_sampler"
    return _sampled(
        op, _UNIFORM, true_classes, num_true, num_sampled, unique, range_max, seed, name
    )


def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Candidates whose logarithm is uniform: words sorted by how frequent they are, say.

    The probability of class k is log((k + 2) / (k + 1)) / log(range_max + 1).

    Args:
      true_classes: an int64 tensor [batch, num_true] with the classes of each row.
      num_true: how many true classes a row has.
      num_sampled: how many candidates are drawn.
      unique: whether all of them are different.
      range_max: how many classes there are.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A named tuple: `sampled_candidates`, an int64 vector; `true_expected_count`, how often each
      true class is expected among so many, and `sampled_expected_count`, the same for those drawn.

    Raises:
      InvalidArgumentError: if a true class is out of range, or there are too few different ones.
      ShapeError: if `true_classes` has another shape.

    >>> found = tf.random.log_uniform_candidate_sampler([[0], [2]], 1, 4, False, 10)
    >>> found.true_expected_count.numpy().round(4)
    array([[1.1563],
           [0.4799]], dtype=float32)
    """
    op = "log_uniform_candidate_sampler"
    return _sampled(
        op, _LOG_UNIFORM, true_classes, num_true, num_sampled, unique, range_max, seed, name
    )


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: PathLike = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Candidates that are as likely as a list or a file says.

    Args:
      true_classes: an int64 tensor [batch, num_true] with the classes of each row.
      num_true: how many true classes a row has.
      num_sampled: how many candidates are drawn.
      unique: whether all of them are different.
      range_max: how many classes there are, with those that are reserved.
      vocab_file: a file with a line for each class, whose last column (after a comma) is its
        weight; read while tracing.
      distortion: the exponent of the weights; 0 makes all of them equal.
      num_reserved_ids: how many classes, before those of the list, are never drawn.
      num_shards: take one weight out of so many, for classes that are spread over several programs.
      shard: which of them, from 0 on.
      unigrams: the weights, instead of a file.
      seed: an integer, which goes with the global seed; None means numbers that nobody can foresee,
        unless a global seed is set.

    Returns:
      A named tuple: `sampled_candidates`, an int64 vector; `true_expected_count`, how often each
      true class is expected among so many, and `sampled_expected_count`, the same for those drawn.

    Raises:
      InvalidArgumentError: if there are not as many weights as classes, a true class is out of
        range, or there are too few different ones.
      ValueError: if both a file and weights are given, or neither.
      ShapeError: if `true_classes` has another shape.

    >>> found = tf.random.fixed_unigram_candidate_sampler(
    ...     [[0, 2]], 2, 4, False, 3, unigrams=[1.0, 2.0, 5.0]
    ... )
    >>> found.true_expected_count.numpy()
    array([[0.5, 2.5]], dtype=float32)
    """
    op = "fixed_unigram_candidate_sampler"
    if bool(vocab_file) == (len(_listed(op, unigrams)) > 0):
        raise ValueError(f"{op}: either vocab_file or unigrams must be given.")
    counts = _from_file(op, vocab_file) if vocab_file else _listed(op, unigrams)
    reserved = static.static_int(op, num_reserved_ids, "num_reserved_ids")
    shards, which = (
        static.static_int(op, n, what) for n, what in ((num_shards, "num_shards"), (shard, "shard"))
    )
    classes = static.static_int(op, range_max, "range_max")
    if reserved > classes:
        raise InvalidArgumentError(
            None, None, f"{op}: num_reserved_ids is {reserved}, range_max only {classes}."
        )
    if reserved < 0 or not 0 <= which < shards:
        raise ValueError(
            f"{op}: num_reserved_ids must not be negative and shard less than num_shards, got "
            f"{reserved}, {which} and {shards}."
        )
    exponent = float(distortion) if isinstance(distortion, (int, float)) else np.nan
    with np.errstate(all="ignore"):
        weights = np.array([0.0] * reserved + counts, np.float64)
        weights[reserved:] **= exponent
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"{op}: unigrams to the power of distortion must be numbers of 0 or more, not all 0, "
            f"got {weights[reserved:].tolist()[:5]}."
        )
    weights = weights[which::shards]
    if len(weights) != classes:
        raise InvalidArgumentError(
            None, None, f"{op}: there are {len(weights)} weights, range_max is {range_max}."
        )
    return _sampled(
        op,
        _WEIGHTED,
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        seed,
        name,
        weights.tolist(),
    )


def _listed(op: str, unigrams: Any) -> list[float]:
    if isinstance(unigrams, np.ndarray) and unigrams.ndim == 1:
        unigrams = unigrams.tolist()
    if not isinstance(unigrams, (list, tuple)) or not all(
        isinstance(n, (int, float)) for n in unigrams
    ):
        raise TypeError(f"{op}: unigrams must be a list of numbers, got {unigrams!r}.")
    return [float(n) for n in unigrams]


def _from_file(op: str, path: PathLike) -> list[float]:
    try:
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            return [float(row[-1]) for row in csv.reader(file) if row]
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise InvalidArgumentError(
            None, None, f"{op}: vocab_file={path!r} cannot be read as lines with weights: {error}"
        ) from error
