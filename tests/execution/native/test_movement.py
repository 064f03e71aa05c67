"""Views, slices, joins, gathers and scatters as machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from support.native import check, compile_native
from weft._src.core.flags import flags

X = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
Y = np.arange(7 * 4, dtype=np.int32).reshape(7, 4)


def test_views() -> None:
    check(
        lambda x, y: {
            "reshape": tf.reshape(x, [5, 6]),
            "flat": tf.reshape(x, [-1]),
            "of transposed": tf.reshape(tf.transpose(x), [6, 5]),
            "transpose": tf.transpose(x),
            "perm": tf.transpose(x, [1, 2, 0]),
            "twice": tf.transpose(tf.transpose(x, [1, 2, 0]), [1, 0, 2]),
            "expand": tf.expand_dims(x, 1),
            "squeeze": tf.squeeze(tf.expand_dims(x, -1)),
            "broadcast": tf.broadcast_to(x[:, :1], [4, 2, 3, 5]),
            "reverse": tf.reverse(x, [0, 2]),
            "reverse nothing": tf.reverse(x, []),
            "tile": tf.tile(y, [2, 3]),
            "tile to nothing": tf.tile(y, [0, 1]),
            "roll": tf.roll(y, [1, -2], [0, 1]),
            "swapped sum": tf.transpose(y) + tf.reshape(y, [4, 7]),
        },
        X,
        Y,
    )


def test_slices() -> None:
    check(
        lambda x, y: {
            "one": x[1],
            "last": y[-1, -1],
            "range": y[2:5],
            "steps": y[::2, ::-1],
            "backwards": y[5:1:-2],
            "empty": y[3:3],
            "new axis": x[:, tf.newaxis, 1],
            "ellipsis": x[..., 2],
            "slice": tf.slice(x, [0, 1, 2], [2, -1, 2]),
            "of slice": y[1:6][::2][:, 1:],
            "split": tf.split(x, 3, axis=1),
            "sizes": tf.split(y, [3, 0, 4], axis=0),
            "unstack": tf.unstack(x, axis=1),
            "computed": y[2:5] * y[3:6] + tf.reverse(y[:3], [0]),
        },
        X,
        Y,
    )


def test_slices_at_places_computed_at_run_time() -> None:
    compiled, values = compile_native(lambda y, i: [y[i], y[:, i % 3], y[i, 1]], Y, np.int32(2))
    for i in (0, 2, 6, -1, -7):
        got = compiled(values[0], np.array(i, np.int32))
        for a, b in zip(got, [Y[i], Y[:, i % 3], Y[i, 1]], strict=True):
            np.testing.assert_array_equal(a, b)
    for i in (7, -8, 2**31 - 1):
        assert compiled(values[0], np.array(i, np.int32)) is None


def test_joins() -> None:
    check(
        lambda x, y: {
            "concat": tf.concat([x, x[:, :1], x * 2], axis=1),
            "first axis": tf.concat([y, y[:0], y + 1], axis=0),
            "stack": tf.stack([y, -y, y * y], axis=1),
            "stack of scalars": tf.stack([y[0, 1], y[1, 0]]),
            "pad": tf.pad(x, [[1, 0], [0, 2], [3, 1]]),
            "pad with": tf.pad(y, [[0, 1], [2, 0]], constant_values=9),
            "of reductions": tf.concat([tf.reduce_sum(y, 0), tf.reduce_max(y, 0)], 0),
            "nested": tf.concat([tf.concat([y, y], 1)[:, 1:3], y[:, :1]], 1),
            "band": tf.linalg.band_part(x, 1, 0),
            "upper": tf.linalg.band_part(x, 0, -1),
        },
        X,
        Y,
    )


def test_gathers() -> None:
    rows = np.array([[6, 0], [3, 3], [1, 5]], np.int64)
    check(
        lambda x, y, rows: {
            "rows": tf.gather(y, rows),
            "columns": tf.gather(y, rows[:, 0] % 4, axis=1),
            "of computed": tf.gather(y * 2 + 1, rows),
            "scalar": tf.gather(y, rows[0, 0]),
            "none": tf.gather(y, rows[:0]),
            "nd": tf.gather_nd(y, rows % 4),
            "nd rows": tf.gather_nd(y, rows[:, :1]),
            "one_hot": tf.one_hot(rows, 5, axis=1),
            "values": tf.one_hot(rows, 8, on_value=3, off_value=-1, dtype=tf.int32),
            "twice": tf.gather(tf.gather(x, [1, 0]), [2, 1, 0], axis=2),
        },
        X,
        Y,
        rows,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
def test_scatters(dtype: type) -> None:
    x = np.arange(12, dtype=dtype).reshape(4, 3)
    places = np.array([[3], [1], [3]], np.int32)
    updates = np.arange(1, 10, dtype=dtype).reshape(3, 3)

    def function(x: Any, places: Any, updates: Any) -> dict[str, Any]:
        return {
            "add": tf.tensor_scatter_nd_add(x, places, updates),
            "sub": tf.tensor_scatter_nd_sub(x, places, updates),
            "max": tf.tensor_scatter_nd_max(x, places, updates),
            "min": tf.tensor_scatter_nd_min(x, places, updates),
            "update": tf.tensor_scatter_nd_update(x, places, updates),
            "points": tf.tensor_scatter_nd_add(
                x, tf.concat([places, places % 3], 1), updates[:, 0]
            ),
            "scatter": tf.scatter_nd(places, updates, [6, 3]),
            "still there": x,
        }

    check(function, x, places, updates)


def test_gradients_of_movement() -> None:
    def function(x: Any, i: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = [x[1:3] * 2.0, tf.gather(x, [0, 0, 6]), x[i], x[:, ::-1], tf.transpose(x)]
            y = tf.add_n([tf.reduce_sum(p * p) for p in parts]) + tf.reduce_sum(
                tf.pad(x, [[1, 1]] * 2)
            )
        return tape.gradient(y, x)

    check(function, np.arange(28, dtype=np.float32).reshape(7, 4), np.int32(5))


def test_indices_out_of_range_are_refused() -> None:
    compiled, values = compile_native(
        lambda y, i: [tf.gather(y, i), tf.gather_nd(y, i[:, None]),
                      tf.tensor_scatter_nd_update(y, i[:, None], y[:2])],
        Y,
        np.array([1, 6], np.int32),
    )  # fmt: skip
    assert compiled(*values) is not None
    for bad in ([7, 0], [0, -1], [2**31 - 1, 0], [-(2**31), 0]):
        assert compiled(values[0], np.array(bad, np.int32)) is None


def test_bool_and_small_integers_move() -> None:
    for dtype in (np.bool_, np.int8, np.uint16, np.float16):
        x = np.arange(12).reshape(3, 4).astype(dtype)
        check(
            lambda x: [
                tf.transpose(x),
                tf.concat([x, x], 0),
                x[::-1, 1:],
                tf.pad(x, [[1, 1]] * 2) if x.dtype != tf.bool else x,
            ],
            x,
        )


def test_strided_and_readonly_arrays() -> None:
    compiled, _ = compile_native(lambda y: [y + 1], Y)
    column_major = np.asfortranarray(Y)
    (got,) = compiled(column_major)
    np.testing.assert_array_equal(got, Y + 1)
    reversed_ = Y[::-1, ::-1]
    (got,) = compiled(reversed_)
    np.testing.assert_array_equal(got, reversed_ + 1)
    frozen = Y.copy()
    frozen.flags.writeable = False
    (got,) = compiled(frozen)
    np.testing.assert_array_equal(got, Y + 1)
    assert compiled(Y.astype(np.int64)) is None
    assert compiled(Y[:3]) is None
    swapped = Y.astype(">i4")
    (got,) = compiled(swapped) or (Y + 1,)  # converted or refused, never read as it is
    np.testing.assert_array_equal(got, Y + 1)


def test_outputs_are_owned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else holds the memory of a result, also if it is an input or part of one."""
    monkeypatch.setattr(flags, "guard_pages", "")
    compiled, values = compile_native(lambda y: [y, y, tf.reshape(y, [28]), y[1:]], Y.copy())
    out = compiled(*values)
    for a in out:
        a[...] = -1
    assert compiled(*values)[0].sum() == Y.sum()
    assert all(a.flags.owndata and a.flags.writeable for a in out)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_ranges(dtype: str) -> None:
    t = tf.as_dtype(dtype)
    # Long ones are not held by the graph as constants.
    check(
        lambda x: [tf.range(1, 40_000, dtype=t), tf.range(9, 9 - 40_000, -1, dtype=t),
                   tf.linspace(x, x + 3, 7), tf.linspace(x, -x, 1)],
        np.array(2).astype(t.numpy_dtype),
        rtol=0 if dtype == "int32" else 1e-7,
    )  # fmt: skip
    if t.is_floating:
        check(lambda x: [tf.range(0.1, 9000.0, 0.2, dtype=t)], np.float32(1.0))


def test_bools_that_are_scattered_to_one_place_are_joined() -> None:
    def function(flags: Any) -> Any:
        return tf.scatter_nd([[0], [0], [2]], flags, [4])

    for marks in ([True, True, False], [False, True, True], [False, False, False]):
        check(function, np.array(marks))
