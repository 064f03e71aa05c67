"""Images of any size that are cast, scaled and resized at once: the bits of the ops one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft._src.core import xp as namespaces
from weft._src.core.flags import flags
from weft._src.execution.tiers import TieredPlan
from weft._src.graph.passes import optimize
from weft._src.graph.passes.resizing import fuse_resizing
from weft._src.ops.image import pixel_resizing

SHAPES = [(1, 1, 3), (5, 7, 3), (33, 20, 4), (2, 9, 8, 3), (3, 2, 30, 17, 1), (40, 50, 5)]
SHAPES += [(700, 900, 3), (0, 4, 4, 3), (4, 5, 0)]
FORMS = [("linear", False), ("lanczos3", True), ("nearest", False), ("cubic", False)]
SCALES = [None, ("divided", 255.0), ("multiplied", float(np.float32(1 / 255)))]
UNKNOWN = tf.TensorSpec([None, None, 3], tf.uint8)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16"])
@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("scale", SCALES)
def test_both_ways(
    dtype: str, kind: tuple[str, bool], scale: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    form = {"kind": kind[0], "antialias": kind[1], "align_corners": False}
    form["half_pixel_centers"] = True
    for shape in SHAPES:
        x = rng.integers(0, 256, shape).astype(dtype)
        for size in ((1, 1), (4, 9), (30, 31), (300, 200)):
            out = []
            for tier in ("native", "numpy"):
                monkeypatch.setattr(flags, "execution", tier)
                out.append(pixel_resizing._kernel(namespaces.np, x, *size, scale=scale, **form))
            assert out[0].dtype == out[1].dtype == np.float32
            np.testing.assert_array_equal(*out)


def ops_of(function: Any, spec: Any = UNKNOWN) -> list[str]:
    graph = fuse_resizing(optimize(tf.function(function).get_concrete_function(spec).graph))
    return [node.op.name for node in graph.body]


def divided(x: Any) -> Any:
    return tf.image.resize(tf.cast(x, tf.float32) / 255.0, [16, 12])


def multiplied(x: Any) -> Any:
    return tf.image.resize(0.25 * tf.cast(x, tf.float32), [16, 12], antialias=True)


def plain(x: Any) -> Any:
    return tf.image.resize(x, [16, 12], "bicubic")


def in_a_branch(x: Any) -> Any:
    return tf.cond(tf.shape(x)[0] > 10, lambda: divided(x), lambda: plain(x))


def looked_at(x: Any) -> Any:
    scaled = tf.cast(x, tf.float32) / 255.0
    return tf.image.resize(scaled, [16, 12]) + tf.reduce_sum(scaled)


def one_divided(x: Any) -> Any:
    return tf.image.resize(1.0 / (1.0 + tf.cast(x, tf.float32)), [16, 12])


FUNCTIONS = [divided, multiplied, plain, in_a_branch, looked_at, one_divided]


def test_what_becomes_one_op() -> None:
    for function in (divided, multiplied, plain):
        assert [name for name in ops_of(function) if name != "Const"] == ["ResizePixels"]
    assert "ResizePixels" in ops_of(looked_at)
    assert "RealDiv" in ops_of(looked_at)
    assert "ResizePixels" in ops_of(one_divided)
    assert "ResizePixels" not in ops_of(divided, tf.TensorSpec([20, 20, 3], tf.uint8))
    assert "ResizePixels" not in ops_of(divided, tf.TensorSpec(None, tf.uint8))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_tier(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tf.function(function).get_concrete_function(UNKNOWN).graph
    rng = np.random.default_rng(1)
    for height, width in ((3, 5), (20, 7), (31, 64)):
        x = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
        monkeypatch.setattr(flags, "execution", "numpy")
        expected = function(tf.constant(x)).numpy()
        np.testing.assert_array_equal(TieredPlan(graph)(x)[0], expected)
        # Machine code for these very sizes knows them, and has the ops one by one.
        monkeypatch.setattr(flags, "execution", "native")
        np.testing.assert_allclose(TieredPlan(graph)(x)[0], expected, rtol=1e-6, atol=3e-5)


def test_wrong_sizes_are_told() -> None:
    @tf.function(input_signature=[UNKNOWN, tf.TensorSpec([2], tf.int32)])
    def resized(x: Any, size: Any) -> Any:
        return tf.image.resize(x, size)

    with pytest.raises(ValueError, match="the new size must be positive, got 0"):
        resized(np.zeros((4, 4, 3), np.uint8), [0, 3])
    with pytest.raises(ValueError, match="the old size must be positive, got 0"):
        resized(np.zeros((0, 4, 3), np.uint8), [2, 3])


def test_gradients_are_those_of_the_ops() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.image.resize(x / 255.0, [3, 4]) ** 2)
        return tape.gradient(y, x)

    x = tf.constant(np.random.default_rng(2).random((5, 6, 3)).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.image.resize(x / 255.0, [3, 4]) ** 2)
    np.testing.assert_allclose(gradient(x), tape.gradient(y, x), rtol=1e-5)
