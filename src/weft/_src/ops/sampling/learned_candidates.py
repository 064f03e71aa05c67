"""Candidates drawn as often as their classes were true before: a sampler that learns."""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np

from weft._src.core.aliases import ArrayNamespace, TensorLike
from weft._src.core.context import state
from weft._src.core.convert import convert_to_tensor
from weft._src.core.dtypes import float32, int64
from weft._src.core.specs import TensorSpec
from weft._src.core.tensor import Array
from weft._src.errors import ShapeError
from weft._src.ops import static
from weft._src.ops.registry import HOST_ONLY, NOT_DIFFERENTIABLE, args, define_op
from weft._src.ops.sampling import candidates
from weft._src.ops.sampling.candidates import Candidates

_OP = "learned_unigram_candidate_sampler"


class _Counts:
    """How often each class was true, and once more. Belongs to one sampler."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self._lock = threading.Lock()
        self._weights = np.ones(classes, np.float32)

    def before(self, true: Array) -> Array:
        """The weights as they were before these classes, which are counted now."""
        candidates.check_classes(_OP, true, self.classes)
        with self._lock:
            found = self._weights.copy()
            np.add.at(self._weights, true.reshape(-1), 1)
        return found

    def __repr__(self) -> str:
        return f"<counts of {self.classes} classes>"


def _infer(true: TensorSpec, *, counts: _Counts) -> TensorSpec:
    return TensorSpec.of(float32, (counts.classes,))


def _kernel(xp: ArrayNamespace, true: Array, *, counts: _Counts) -> Array:
    return counts.before(true)


learned_op = define_op(
    "LearnedUnigrams",
    args("true_classes", frozenset({int64})),
    infer=_infer,
    kernel=_kernel,
    native=HOST_ONLY,
    vjp=NOT_DIFFERENTIABLE,
    host_io=True,
    self_contained=True,
    fresh=True,
)


@functools.lru_cache(maxsize=64)
def _of_eager_calls(classes: int, *_: Any) -> _Counts:
    """Calls with the same settings are one sampler, as in TensorFlow."""
    return _Counts(classes)


def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Candidates that are as likely as the true classes of earlier calls were.

    At first all classes are equally likely; each true class then counts once more. A traced call is
    a sampler of its own; so are all eager calls with the same settings.

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
      ShapeError: if `true_classes` has another shape, or a number is not positive.

    >>> sample = tf.random.learned_unigram_candidate_sampler
    >>> [sample([[0], [0]], 1, 3, False, 4, seed=8)[1].numpy()[0, 0] for _ in range(2)]
    [np.float32(0.75), np.float32(1.5)]
    """
    true = convert_to_tensor(true_classes, dtype_hint=int64)
    numbers = {"range_max": range_max, "num_true": num_true, "num_sampled": num_sampled}
    if seed is not None:
        numbers["seed"] = seed
    settings = [static.static_int(_OP, number, what) for what, number in numbers.items()]
    classes = settings[0]
    if not 1 <= classes < 2**31:
        raise ShapeError(f"{_OP}: range_max must be positive and less than 2**31, got {classes}.")
    if state.graph is None:
        counts = _of_eager_calls(*settings, bool(unique))
    else:
        counts = _Counts(classes)
    weights = learned_op(true, counts=counts)
    return candidates.by_weights(
        _OP, true, num_true, num_sampled, unique, classes, seed, name, weights
    )
