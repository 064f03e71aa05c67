"""The number of a diagonal may be a tensor: as with a Python number, on every tier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.flags import flags

L = tf.linalg
X = tf.reshape(tf.range(30.0), [2, 3, 5])
LINES = tf.constant([[1, 2], [3, 4]])


def gradient(x: Any, k: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = L.diag_part(x, k=k) ** 2
    return tape.gradient(y, x)


def replaced(x: Any, k: Any) -> Any:
    length = tf.minimum(3 + tf.minimum(k, 0), 5 - tf.maximum(k, 0))
    return L.set_diag(x, -tf.ones([2, length]), k=k)


CASES: dict[str, tuple[Callable[..., Any], Any, range]] = {
    "diag_part": (lambda x, k: L.diag_part(x, k=k), X, range(-2, 5)),
    "diag_part, gradient": (gradient, X, range(-2, 5)),
    "set_diag": (replaced, X, range(-2, 5)),
    "diag": (lambda x, k: L.diag(x, k=k, padding_value=9), LINES, range(-3, 4)),
    "diag, rows": (lambda x, k: L.diag(x, k=k, num_rows=4), LINES, range(-2, 4)),
    "diag, columns": (lambda x, k: L.diag(x, k=k, num_cols=6), LINES, range(-2, 4)),
}


@pytest.mark.parametrize("execution", ["numpy", "native", "verify"])
@pytest.mark.parametrize("case", CASES)
def test_as_with_a_number(case: str, execution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "execution", execution)
    fn, x, numbers = CASES[case]
    spec = tf.TensorSpec([2, None, None][: len(x.shape)], x.dtype)
    modes = [
        tf.function(fn),
        tf.function(fn, input_signature=[spec, tf.TensorSpec([], tf.int32)]),
        tf.function(lambda x, k: tf.cond(k > 9, lambda: fn(x, k), lambda: fn(x, k))),
    ]
    for k in numbers:
        for run in modes:
            np.testing.assert_array_equal(run(x, tf.constant(k)), fn(x, k))


@pytest.mark.parametrize(
    ("fn", "match"),
    [
        (lambda k: L.diag_part(X, k=k), "diag_part: k must lie in the matrix"),
        (lambda k: L.set_diag(X, X[:, :, 0], k=k), "set_diag: k must lie in the matrix"),
        (lambda k: L.set_diag(X, X[:, :, 0], k=k - 7), "set_diag: diagonal must be as long"),
        (lambda k: L.diag([1, 2], k=k, num_rows=4, num_cols=9), "diag: the diagonal must be as"),
    ],
)
def test_what_does_not_fit(fn: Callable[[Any], Any], match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        tf.function(fn)(tf.constant(6))


def test_bands_are_known_while_tracing() -> None:
    with pytest.raises(TypeError, match="k must be known while tracing"):
        tf.function(lambda k: L.diag_part(X, k=k))(tf.constant([-1, 1]))
