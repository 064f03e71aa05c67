"""Infinities, NaN, zeros and numbers that do not fit: the same as on NumPy.

But for subnormal numbers, which XLA takes for zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core.xla_rules import XlaRule
from weft._src.ops.registry import Op, all_ops

NUMBERS = np.array(
    [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 1e30, -1e30, 3e9, -3e9, np.inf, -np.inf, np.nan]
    + [700, -700, 100.0, 1e10, 2e19],
    np.float32,
)
ATTRS = {"LeakyRelu": {"alpha": 0.2}}
NOT_OF_NUMBERS = {"Cast", "CheckNumerics"}


def functions_of_one_number() -> list[Op]:
    return [
        op
        for op in all_ops()
        if op.elementwise and isinstance(op.xla, XlaRule) and len(op.args) == 1
        if tf.float32 in op.args[0].allowed and op.name not in NOT_OF_NUMBERS
    ]


def compare(body: Callable[..., Any], *arrays: Any) -> None:
    """A dictionary of results, on both tiers."""
    tensors = [tf.constant(x) for x in arrays]
    tf.config.execution = "numpy"
    wanted = tf.function(body)(*tensors)
    tf.config.execution = "xla"
    got = tf.function(body)(*tensors)
    for name, value in wanted.items():
        a, b = got[name].numpy(), value.numpy()
        same = a == b
        if b.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                same |= np.abs(a - b) <= 2e-5 * np.abs(b) + 1e-6
            same |= np.isnan(a) & np.isnan(b)
        assert same.all(), f"{name}: {[x[~same] for x in (*arrays, b, a)]}"


def test_functions_of_one_number() -> None:
    ops = functions_of_one_number()
    assert len(ops) > 50
    compare(lambda x: {op.name: op(x, **ATTRS.get(op.name, {})) for op in ops}, NUMBERS)


@pytest.mark.parametrize("source", [tf.float16, tf.float32, tf.float64])
def test_casts_to_integers(source: tf.DType) -> None:
    kinds = [tf.int8, tf.uint8, tf.int16, tf.int32, tf.uint32, tf.int64, tf.uint64, tf.bool]
    with np.errstate(over="ignore"):
        numbers = NUMBERS.astype(source.as_numpy_dtype)
    compare(lambda x: {kind.name: tf.cast(x, kind) for kind in kinds}, numbers)


def test_functions_of_two_numbers() -> None:
    functions = [
        tf.maximum, tf.minimum, tf.pow, tf.math.floormod, tf.math.floordiv, tf.atan2, tf.equal,
        tf.math.divide_no_nan, tf.math.xlogy, tf.math.multiply_no_nan, tf.truncatediv, tf.less,
    ]  # fmt: skip
    x, y = [part.ravel() for part in np.meshgrid(NUMBERS, NUMBERS)]
    compare(lambda x, y: {f.__name__: f(x, y) for f in functions}, x, y)


def test_integers() -> None:
    numbers = np.array([0, 1, -1, 2, -7, 2**31 - 1, -(2**31)], np.int32)
    x, y = [part.ravel() for part in np.meshgrid(numbers, numbers)]
    functions = [
        tf.math.floordiv, tf.math.floormod, tf.truncatediv, tf.truncatemod, tf.bitwise.left_shift,
        tf.bitwise.right_shift, tf.add, tf.multiply,
    ]  # fmt: skip
    kept = y != 0
    compare(lambda x, y: {f.__name__: f(x, y) for f in functions}, x[kept], y[kept])


def test_reductions_and_orders() -> None:
    def body(x: Any) -> dict[str, Any]:
        return {
            "max": tf.reduce_max(x), "min": tf.reduce_min(x), "argmax": tf.argmax(x),
            "argmin": tf.argmin(x), "sort": tf.sort(x), "softmax": tf.nn.softmax(x[:8]),
            "argsort": tf.argsort(x, direction="DESCENDING"), "top_k": tf.math.top_k(x, 5)[1],
            "no max": tf.reduce_max(x[:0]), "no sum": tf.reduce_sum(x[:0]),
            "no mean": tf.reduce_mean(x[:0]), "logsumexp": tf.reduce_logsumexp(x[:9]),
        }  # fmt: skip

    compare(body, NUMBERS)
    compare(body, NUMBERS[:12])
