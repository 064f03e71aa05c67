"""How many insertions, deletions and substitutions lead from one sequence to another."""

from __future__ import annotations

from typing import Any

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import PLAIN, float32, int64
from weft._src.core.shapes import Dim, Dims
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array, Tensor
from weft._src.errors import InvalidArgumentError, ShapeError
from weft._src.ops import rules
from weft._src.ops.registry import NO_NATIVE, NOT_DIFFERENTIABLE, STRINGS, args, define_op

_INT64 = frozenset({int64})


def _infer(*inputs: TensorSpec, normalize: bool) -> TensorSpec:
    sizes: Dims | None = None
    for name, (indices, values, shape) in (("hypothesis", inputs[:3]), ("truth", inputs[3:])):
        rules.check_rank("edit_distance", indices, 2, name=f"{name}.indices")
        rules.check_rank("edit_distance", values, 1, name=f"{name}.values")
        dims = rules.dims_from_value("edit_distance", shape, name=f"{name}.dense_shape")
        if dims is None:
            return TensorSpec.of(float32, None)
        if len(dims) < 2 or (sizes is not None and len(sizes) != len(dims)):
            raise ShapeError(
                "edit_distance: hypothesis and truth must have one rank, at least 2, got "
                f"{name} of shape {list(dims)}."
            )
        sizes = dims if sizes is None else tuple(map(_larger, sizes, dims))
    return TensorSpec.of(float32, sizes[:-1])  # type: ignore[index]


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else Dim()


def _sequences(indices: Array, values: Array, shape: tuple[int, ...]) -> dict[Any, list[Any]]:
    """The sequences of a sparse tensor by the place they belong to."""
    out: dict[Any, list[Any]] = {}
    for place, value in zip(indices.tolist(), values.tolist(), strict=True):
        if any(not 0 <= i < n for i, n in zip(place, shape, strict=True)):
            raise InvalidArgumentError(
                None, None, f"edit_distance: index {place} lies outside of shape {list(shape)}."
            )
        out.setdefault(tuple(place[:-1]), []).append(value)
    return out


def _distance(a: list[Any], b: list[Any]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _kernel(xp: ArrayNamespace, *inputs: Array, normalize: bool) -> Array:
    shapes = [tuple(inputs[i].tolist()) for i in (2, 5)]
    hypotheses = _sequences(inputs[0], inputs[1], shapes[0])
    truths = _sequences(inputs[3], inputs[4], shapes[1])
    out = xp.zeros(tuple(map(max, *[shape[:-1] for shape in shapes])), xp.float32)
    for place in hypotheses.keys() | truths.keys():
        truth = truths.get(place, [])
        distance = _distance(hypotheses.get(place, []), truth)
        if normalize:
            out[place] = distance / len(truth) if truth else xp.inf
        else:
            out[place] = distance
    return out


_hypothesis_values, _truth_values = args("hypothesis_values truth_values", PLAIN)

edit_distance_op = define_op(
    "EditDistance",
    (
        *args("hypothesis_indices", _INT64),
        _hypothesis_values,
        *args("hypothesis_shape", _INT64, is_shape=True),
        *args("truth_indices", _INT64),
        _truth_values,
        *args("truth_shape", _INT64, is_shape=True),
    ),
    infer=_infer,
    kernel=_kernel,
    native=NO_NATIVE,
    xla=STRINGS,
    vjp=NOT_DIFFERENTIABLE,
    fresh=True,
)


def _components(name: str, value: Any) -> list[Tensor]:
    try:
        parts = value.indices, value.values, value.dense_shape
    except AttributeError:
        raise TypeError(
            f"edit_distance: {name} must be a sparse tensor (with indices, values and "
            f"dense_shape), got {type(value).__name__}."
        ) from None
    indices, values, shape = parts
    return [
        convert_to_tensor(indices, dtype=int64),
        convert_to_tensor(values),
        convert_to_tensor(shape, dtype=int64),
    ]


def edit_distance(
    hypothesis: TensorLike, truth: TensorLike, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The Levenshtein distance between the sequences of two sparse tensors.

    Sequences lie along the last axis. Normalised distances are divided by the length of the truth
    (infinite if that is 0 and the hypothesis is not empty).

    Args:
      hypothesis: a `tf.SparseTensor` of rank 2 or more.
      truth: another one, of the same rank and dtype.
      normalize: whether to divide by the length of the truth.

    Returns:
      A float32 tensor without the last axis; the other sizes are the larger ones of both.

    Raises:
      TypeError: if one is not sparse.
      ShapeError: if the ranks differ, or are below 2.
      InvalidArgumentError: if an index lies outside of its shape.

    >>> a = tf.SparseTensor([[0, 0], [0, 1]], ["k", "i"], [1, 2])
    >>> b = tf.SparseTensor([[0, 0], [0, 1]], ["s", "i"], [1, 2])
    >>> tf.edit_distance(a, b).numpy()
    array([0.5], dtype=float32)
    """
    parts = [*_components("hypothesis", hypothesis), *_components("truth", truth)]
    return edit_distance_op(*parts, normalize=bool(normalize), name=name)
