"""Products and convolutions in tiles, for every width of vector registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, compile_native
from weft._src.execution.native.machine import llvm

rng = np.random.default_rng(3)


@pytest.fixture(params=[16, 32, 64], ids=lambda n: f"{n} bytes")
def _vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "vector_bytes", lambda: request.param)


def used_tiles(function: Any, *arrays: Any) -> bool:
    loops = tf.function(function).experimental_get_compiler_ir(*map(tf.constant, arrays))
    return "tiles(" in loops(stage="loops")


F32, F64 = np.float32, np.float64
PRODUCTS: list[tuple[Any, Any, int, int, int, str, Any]] = [
    # batch of a, batch of b, rows, depth, columns, which are transposed, dtype
    ((), (), 16, 40, 48, "", F32),
    ((), (), 97, 33, 41, "ab", F32),
    ((), (), 97, 33, 41, "", F64),
    ((), (), 150, 17, 100, "b", F32),
    ((), (), 145, 64, 32, "a", F64),
    ((3,), (3,), 50, 20, 33, "a", F32),
    ((3,), (), 30, 31, 35, "b", F64),
    ((), (5,), 30, 31, 35, "", F32),
    ((2, 1), (1, 3), 20, 30, 37, "ab", F32),
]


@pytest.mark.parametrize(("batch_a", "batch_b", "m", "k", "n", "turned", "dtype"), PRODUCTS)
@pytest.mark.usefixtures("_vectors")
def test_products(
    batch_a: Any, batch_b: Any, m: int, k: int, n: int, turned: str, dtype: Any
) -> None:
    ta, tb = "a" in turned, "b" in turned
    a = rng.normal(size=(*batch_a, *((k, m) if ta else (m, k)))).astype(dtype)
    b = rng.normal(size=(*batch_b, *((n, k) if tb else (k, n)))).astype(dtype)

    def function(a: Any, b: Any) -> Any:
        return tf.matmul(a, b, transpose_a=ta, transpose_b=tb)

    assert used_tiles(function, a, b)
    tolerance = 1e-5 if dtype is F32 else 1e-13
    check(function, a, b, rtol=tolerance, atol=10 * tolerance)


def test_narrow_floats_are_multiplied_as_float32() -> None:
    a, b = [rng.normal(size=shape).astype(np.float16) for shape in ((40, 30), (30, 50))]
    assert used_tiles(tf.matmul, a, b)
    check(tf.matmul, a, b, rtol=1e-3, atol=1e-3)


def test_nan_and_infinity_stay_in_their_rows_and_columns() -> None:
    a, b = [rng.normal(size=shape).astype(np.float32) for shape in ((40, 30), (30, 41))]
    a[3, 4], b[5, 40] = np.nan, np.inf
    check(tf.matmul, a, b, rtol=1e-5, atol=1e-4)


IMAGES: list[tuple[Any, Any, Any, Any, Any]] = [
    # image, filters, strides, padding, dilations
    ((2, 17, 13, 5), (3, 2, 5, 9), 1, "VALID", 1),
    ((2, 17, 13, 5), (3, 2, 5, 9), 1, "SAME", 1),
    ((3, 16, 14, 5), (3, 4, 5, 33), (2, 3), "SAME", 1),
    ((1, 17, 19, 4), (3, 3, 4, 20), 1, "SAME", (2, 3)),
    ((1, 17, 19, 4), (3, 3, 4, 20), 1, "VALID", (2, 1)),
    ((2, 9, 11, 3), (5, 5, 3, 18), 1, [[0, 0], [4, 1], [0, 3], [0, 0]], 1),
    ((2, 9, 11, 3), (3, 2, 3, 18), 1, [[0, 0], [7, 1], [0, 3], [0, 0]], 1),
    ((2, 12, 10, 16), (1, 1, 16, 24), 1, "VALID", 1),
]


@pytest.mark.parametrize(("image", "filters", "strides", "padding", "dilations"), IMAGES)
@pytest.mark.usefixtures("_vectors")
def test_convolutions_and_their_gradients(
    image: Any, filters: Any, strides: Any, padding: Any, dilations: Any
) -> None:
    x, w = [rng.normal(size=shape).astype(np.float32) for shape in (image, filters)]

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, strides, padding, dilations=dilations)

    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = convolve(x, w)
        return y, tape.gradient(y, [x, w], output_gradients=tf.cos(y))

    assert used_tiles(convolve, x, w)
    check(gradients, x, w, rtol=1e-4, atol=1e-3)


def test_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = [rng.normal(size=s).astype(np.float32) for s in ((6, 30, 31, 8), (3, 3, 8, 40))]

    def convolve(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, 1, "SAME")

    compiled, values = compile_native(convolve, x, w)
    assert compiled.translation.program.uses_pool
    (shared,) = compiled(*values)
    monkeypatch.setattr("weft._src.execution.native.machine.pool.SHARED_FROM", 10**12)
    alone, values = compile_native(convolve, x, w)
    assert not alone.translation.program.uses_pool
    np.testing.assert_array_equal(alone(*values)[0], shared)


@pytest.mark.parametrize("axis", [0, 1])
def test_threads_share_large_joins(axis: int) -> None:
    x, y = [rng.normal(size=(600, 500)).astype(np.float32) for _ in range(2)]

    def join(x: Any, y: Any) -> Any:
        return tf.concat([x, y], axis), tf.pad(x, [[2, 3], [1, 0]])

    compiled, _ = compile_native(join, x, y)
    assert compiled.translation.program.uses_pool
    check(join, x, y)


def _steps_of_blocks(function: Any, *arrays: Any) -> dict[str, list[str]]:
    """The steps of every block: of loops first, of the program last."""
    ir = tf.function(function).experimental_get_compiler_ir(*map(tf.constant, arrays))
    blocks: dict[str, list[str]] = {}
    for line in ir(stage="loops").splitlines():
        if not line.startswith(" "):
            blocks[line] = []
        else:
            blocks[list(blocks)[-1]].append(line)
    return blocks


def _powers(x: Any, w: Any) -> Any:
    for _ in tf.range(3):
        x = tf.tanh(tf.matmul(x, w, transpose_b=True))
    return x


def _nested(x: Any, w: Any) -> Any:
    for _ in tf.range(2):
        for _ in tf.range(3):
            x = tf.tanh(tf.matmul(x, w, transpose_b=True))
    return x


def _changed_in_the_outer_loop(x: Any, w: Any) -> Any:
    for _ in tf.range(2):
        for _ in tf.range(3):
            x = tf.tanh(tf.matmul(x, w, transpose_b=True))
        w = w * 0.5
    return x


def _in_a_branch(x: Any, w: Any) -> Any:
    for i in tf.range(3):
        if i > 0:
            x = tf.tanh(tf.matmul(x, w, transpose_b=True))
        else:
            x = x + 1
    return x


@pytest.mark.parametrize("loops", [_powers, _nested, _changed_in_the_outer_loop, _in_a_branch])
def test_the_right_side_is_rearranged_before_the_loop(loops: Any) -> None:
    x, w = rng.normal(size=(33, 47)).astype(F32), rng.normal(size=(47, 47)).astype(F32) / 7
    blocks = _steps_of_blocks(loops, x, w)
    assert any("tiles(" in step for steps in blocks.values() for step in steps)
    where = [name for name, steps in blocks.items() if any("stripes: " in s for s in steps)]
    if loops in (_powers, _nested):
        assert where == ["main:"]
    elif loops is _changed_in_the_outer_loop:  # once for each of its iterations
        assert len(where) == 1
        assert where != ["main:"]
    check(tf.autograph.to_graph(loops), x, w, rtol=1e-5, atol=1e-5)
