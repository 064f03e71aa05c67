"""Steps of random programs that only the native tier is checked with, all of one float tensor.

Kernels compute these in other ways on other tiers, so that results only agree roughly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as tf

Table = dict[str, Callable[[Any], Any]]


def tables(rng: np.random.Generator, axis: int) -> list[Table]:
    """What a step may be, by family; `axis` is one of the axes of its input."""
    alpha = round(float(rng.uniform(0.1, 0.5)), 2)
    size, step = (int(n) for n in rng.integers(1, 4, 2))
    padding = str(rng.choice(["SAME", "VALID"]))
    return [
        _functions(alpha),
        _reductions(axis),
        _places(axis),
        _diagonals(size - 2, align=str(rng.choice(["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT"]))),
        _rearranged(axis, size),
        _windows(size, step, padding),
        _random(size),
    ]


def slope(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The gradient of a function, with different weights for the elements of its result."""

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        weights = tf.cast(tf.reshape(tf.range(tf.size(y)), tf.shape(y)) % 5, y.dtype) - 2
        return tape.gradient(y, x, output_gradients=weights)

    return gradient


def _functions(alpha: float) -> Table:
    return {
        "log": lambda x: tf.math.log(tf.abs(x) + 0.1), "cos": tf.cos, "erf": tf.math.erf,
        "gelu": tf.nn.gelu, "elu": tf.nn.elu, "selu": tf.nn.selu, "relu6": tf.nn.relu6,
        "expm1": tf.math.expm1, "cosh": tf.cosh, "atan": tf.atan, "ceil": tf.math.ceil,
        "softsign": tf.nn.softsign, "is_finite": tf.math.is_finite, "asinh": tf.asinh,
        f"leaky {alpha}": lambda x: tf.nn.leaky_relu(x, alpha),
        "pow": lambda x: tf.pow(tf.abs(x) + 0.5, x), "cube": lambda x: x**3,
        "floor_mod": lambda x: x % 3.0, "floor_div": lambda x: x // 2.0,
        "xlogy": lambda x: tf.math.xlogy(x, tf.abs(x)),
        "digamma": lambda x: tf.math.digamma(tf.abs(x) + 0.5), "lgamma": tf.math.lgamma,
        "erfinv": lambda x: tf.math.erfinv(tf.tanh(x) * 0.9),
        "igamma": lambda x: tf.math.igamma(tf.abs(x) + 0.5, tf.abs(x)),
        "div_no_nan": lambda x: tf.math.divide_no_nan(x, tf.round(x)),
        "to int": lambda x: tf.cast(tf.clip_by_value(x, -9.0, 9.0), tf.int32),
    }  # fmt: skip


def _reductions(axis: int) -> Table:
    return {
        "softmax": tf.nn.softmax, "log_softmax": lambda x: tf.nn.log_softmax(x, axis),
        "logsumexp": lambda x: tf.reduce_logsumexp(x, axis, keepdims=True),
        "l2": tf.nn.l2_loss, "norm": lambda x: tf.norm(x, axis=axis),
        f"cumsum {axis}": lambda x: tf.cumsum(x, axis, reverse=True),
        f"exclusive cumsum {axis}": lambda x: tf.cumsum(x, axis, exclusive=True),
        f"cumprod {axis}": lambda x: tf.math.cumprod(x, axis),
        f"cumulative_logsumexp {axis}": lambda x: tf.math.cumulative_logsumexp(x, axis),
        f"argmax {axis}": lambda x: tf.argmax(x, axis),
        f"argmin {axis}": lambda x: tf.argmin(x, axis),
        f"argsort {axis}": lambda x: tf.argsort(x, axis),
        f"sort {axis}": lambda x: tf.sort(x, axis, direction="DESCENDING"),
        f"slope of sort {axis}": slope(lambda x: tf.sort(x, axis)),
        "slope of top_k": slope(lambda x: tf.math.top_k(x, 2)[0]),
        "moments": lambda x: tf.nn.moments(x, [axis]),
    }  # fmt: skip


def _places(axis: int) -> Table:
    return {
        "band": lambda x: tf.linalg.band_part(x, 1, 0),
        "scatter add": lambda x: tf.tensor_scatter_nd_add(x, [[0], [0]], x[:1] + x[:2] * 0.0),
        "scatter": lambda x: tf.scatter_nd([[1], [1]], tf.stack([x, x]), [3, *x.shape]),
        "gather": lambda x: tf.gather(x, [0, 0], axis=axis),
        "one_hot": lambda x: tf.one_hot(tf.argmax(x, axis), 3),
    }


def _diagonals(k: int, align: str) -> Table:
    def part(x: Any) -> Any:
        return tf.linalg.diag_part(x, k=(k - 1, k), padding_value=3.0, align=align)

    def new(x: Any) -> Any:
        return tf.linalg.diag(x, k=k, padding_value=-1.0)

    def replaced(x: Any) -> Any:
        return tf.linalg.set_diag(x, tf.linalg.diag_part(x) * 2.0)

    what = f"{k} {align}"
    return {
        f"diag_part {what}": part, f"slope of diag_part {what}": slope(part),
        f"diag {k}": new, f"slope of diag {k}": slope(new),
        "set_diag": replaced, "slope of set_diag": slope(replaced),
        "tensor_diag": tf.linalg.tensor_diag, "trace": tf.linalg.trace,
    }  # fmt: skip


def _rearranged(axis: int, n: int) -> Table:
    def mirrored(mode: str) -> Callable[[Any], Any]:
        return lambda x: tf.pad(x, [[1, 1]] * x.shape.rank, mode=mode)

    def rows(x: Any) -> Any:
        return tf.range(tf.shape(x)[0]) % n - 1

    def segments(name: str) -> Callable[[Any], Any]:
        segment = getattr(tf.math, f"unsorted_segment_{name}")
        return lambda x: segment(x, rows(x), n)

    def in_batches(x: Any) -> Any:
        return tf.gather(x, tf.zeros([tf.shape(x)[0], n], tf.int32), batch_dims=1, axis=axis)

    def sequences(x: Any) -> Any:
        return tf.reverse_sequence(x, tf.minimum(rows(x) + 1, tf.shape(x)[1]), seq_axis=1)

    return {
        "reflect": mirrored("REFLECT"), "slope of reflect": slope(mirrored("REFLECT")),
        "symmetric": mirrored("SYMMETRIC"), "slope of symmetric": slope(mirrored("SYMMETRIC")),
        f"slope of tile {n}": slope(lambda x: tf.tile(x, [n] * x.shape.rank)),
        f"slope of prod {axis}": slope(lambda x: tf.reduce_prod(x, axis)),
        **{f"segment {name} {n}": segments(name) for name in ("sum", "prod", "max", "min")},
        **{f"slope of segment {name}": slope(segments(name)) for name in ("sum", "max")},
        f"gather in batches {axis} {n}": in_batches,
        f"slope of gather in batches {axis} {n}": slope(in_batches),
        "reverse_sequence": sequences,
        "searchsorted": lambda x: tf.searchsorted(tf.sort(x), x, side="right"),
        "bincount": lambda x: tf.math.bincount(rows(x) + 1, minlength=n, maxlength=n),
        "roll": lambda x: tf.roll(x, tf.argmax(tf.reshape(x, [-1])), axis),
        "slice": lambda x: tf.slice(x, tf.shape(x) // 2, (tf.shape(x) + 1) // 2),
    }  # fmt: skip


def _windows(size: int, step: int, padding: str) -> Table:
    """Over the rows of what is made a batch of one image."""

    def image(x: Any) -> Any:
        return tf.reshape(x, [1, tf.shape(x)[0], -1, 1])

    def max_pool(x: Any) -> Any:
        return tf.nn.max_pool(image(x), [size, 2], [step, 1], padding)

    def avg_pool(x: Any) -> Any:
        return tf.nn.avg_pool(image(x), [2, size], [1, step], padding)

    def depthwise(x: Any) -> Any:
        filters = tf.reshape(tf.cast(tf.range(4 * size), x.dtype), [size, 2, 1, 2])
        return tf.nn.depthwise_conv2d(image(x), filters, [1, step, step, 1], padding)

    what = f"{size} {step} {padding}"
    return {
        f"max_pool {what}": max_pool, f"slope of max_pool {what}": slope(max_pool),
        f"avg_pool {what}": avg_pool, f"slope of avg_pool {what}": slope(avg_pool),
        f"depthwise {what}": depthwise, f"slope of depthwise {what}": slope(depthwise),
    }  # fmt: skip


def _random(n: int) -> Table:
    """Draws whose seed depends on data, so that nobody draws them ahead."""

    def seed(x: Any) -> Any:
        return tf.stack([tf.cast(tf.argmax(tf.reshape(x, [-1])), tf.int32), n])

    def added(draw: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda x: x + draw(tf.shape(x), seed(x), dtype=x.dtype)

    def integers(x: Any) -> Any:
        return tf.random.stateless_uniform([n, 3], seed(x), -n, 2 * n, tf.int32)

    return {
        "uniform": added(tf.random.stateless_uniform),
        "normal": added(tf.random.stateless_normal),
        "truncated_normal": added(tf.random.stateless_truncated_normal),
        f"integers {n}": integers,
        f"split {n}": lambda x: tf.random.split(seed(x), n),
        "shuffle": lambda x: tf.random.experimental.stateless_shuffle(x, seed(x)),
        f"categorical {n}": lambda x: tf.random.stateless_categorical(x, n, seed(x), tf.int32),
    }
